"""Progress on stderr for whatever takes longer than two seconds, so that quick commands stay quiet."""

from __future__ import annotations

import sys
import threading
from types import TracebackType

from kfp.cli.output import wants_colour
from kfp.progress import Progress

PATIENCE_SECONDS = 2.0


class ProgressLine:
    """On a terminal one line that is written over; elsewhere a line for every configuration that is begun."""

    def __init__(self, patience: float = PATIENCE_SECONDS) -> None:
        self._live = wants_colour(sys.stderr)
        self._lock = threading.Lock()
        self._current: Progress | None = None
        self._shown = ""
        self._patient = True
        self._timer = threading.Timer(patience, self._lose_patience)
        self._timer.daemon = True

    def __enter__(self) -> ProgressLine:
        self._timer.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._timer.cancel()
        with self._lock:
            self._patient = True
            if self._live and self._shown:
                self._write("\r\x1b[K")

    def __call__(self, progress: Progress) -> None:
        with self._lock:
            self._current = progress
            self._show()

    def _lose_patience(self) -> None:
        with self._lock:
            self._patient = False
            self._show()

    def _show(self) -> None:
        if self._patient or self._current is None:
            return
        text = f"{self._current}…"
        if self._live:
            self._write(f"\r\x1b[K\x1b[2m{text[:79]}\x1b[0m")
        elif self._current.stage in ("ceilings", "run") and text != self._shown:
            self._write(f"{text}\n")
        self._shown = text

    @staticmethod
    def _write(text: str) -> None:
        if sys.stderr is None:
            return
        try:
            sys.stderr.write(text)
            sys.stderr.flush()
        except OSError:
            return
