"""The live part of ``kfp evolve``: a line for every finished iteration, and below it what is being done."""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path
from types import TracebackType

from kfp.cli.output import print_lines, wants_colour
from kfp.search.events import SearchProgress
from kfp.search.story import iteration_lines
from kfp.tables import clip, duration

# Where lines can't be written over, what is being done is told again only after this long.
SECONDS_BETWEEN_LINES = 20.0


class SearchLine:
    """On a terminal one line that is written over; elsewhere a line now and then. ``quiet``: nothing on stdout."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live = wants_colour(sys.stderr)
        self._shown = False
        self._last = time.monotonic()
        self._lock = threading.Lock()

    def __enter__(self) -> SearchLine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._clear()

    def __call__(self, progress: SearchProgress) -> None:
        with self._lock:
            if progress.finished is not None:
                self._clear()
                if not self._quiet:
                    print_lines(iteration_lines(progress.finished))
                    sys.stdout.flush()
                return
            text = clip(status(progress), 79)
            if self._live:
                self._write(f"\r\x1b[K\x1b[2m{text}\x1b[0m")
                self._shown = True
            elif time.monotonic() - self._last > SECONDS_BETWEEN_LINES:
                self._last = time.monotonic()
                self._write(f"{text}\n")

    def _clear(self) -> None:
        if self._live and self._shown:
            self._write("\r\x1b[K")
            self._shown = False

    @staticmethod
    def _write(text: str) -> None:
        if sys.stderr is None:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            return


def status(progress: SearchProgress) -> str:
    """Iteration, what it is doing, best so far, tokens and money, time left."""
    parts = [f"{progress.iteration}/{progress.iterations} {progress.doing}", f"best {progress.best:.2f}"]
    if progress.usage.total:
        money = f" ${progress.cost_usd:.2f}" if progress.cost_usd is not None else ""
        parts.append(f"{progress.usage.total} tokens{money}")
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} left")
    return ", ".join(parts)


def resume_hint(folder: Path, command: str) -> str:
    where = os.path.relpath(folder) if folder.is_relative_to(Path.cwd()) else str(folder)
    return f"kfp: stopped; what is complete is in {where}. To go on:\n  {command}"
