"""An evaluation as a foreign loop may have it: a finite score, and words that hold nothing of what is held out."""

from __future__ import annotations

import hashlib
import math
import os
import time
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

from kfp import machine
from kfp.ceilings import ceilings
from kfp.errors import UsageError
from kfp.evaluation import evaluate, require_choice
from kfp.feedback import feedback_text
from kfp.limits import Limits
from kfp.progress import Progress
from kfp.records import Record
from kfp.results import Evaluation, Math, Verdict
from kfp.search.leaks import Guard, sanitised
from kfp.search.prompt import PromptWriter
from kfp.sources import MAX_SOURCE_BYTES, decode_source, seed_source, source_hash
from kfp.sweeping.turns import Turns
from kfp.tasks import get_task
from kfp.tasks.base import Scale, Task

# Below what the loops give an evaluation by default (OpenEvolve: 300 s), so that the reason is ours and is kept.
TIMEOUT = 270.0


@dataclass(frozen=True, eq=False)
class Assessment(Record):
    """What may be told of a program to whoever, or whatever, writes the next one.

    ``score`` is S, 0 unless the verdict is ``right``; ``right`` of ``configurations`` in-distribution ones were right.
    ``feedback`` is for a model. ``source_sha256`` is of the program's bytes as they were evaluated.
    """

    task: str
    scale: Scale
    device: str
    verdict: Verdict
    correct: bool
    compiled: bool
    score: float
    right: int
    configurations: int
    reason: str
    feedback: str
    source_sha256: str
    seconds: float

    @property
    def summary(self) -> str:
        """The verdict in one line."""
        return f"{self.verdict}, score {self.score:.4f}" + (f": {self.reason}" if self.reason else "")


class Assessor:
    """Evaluates programs for one task on one device, one at a time on a machine, each within ``timeout`` seconds.

    The program is taken as it is, to the byte: the verdict is that of ``kfp evaluate`` on the same file. Raises
    ``kfp.Error`` when made for something that can't work, before a loop spends anything: an unknown task, a missing
    device, a brief or seed kernel that would give away what is held out (``kfp.LeakError``).
    """

    def __init__(
        self,
        task: str | Task,
        *,
        device: str = "auto",
        scale: Scale = "full",
        seed: int = 0,
        math: Math = "fast",
        timeout: float = TIMEOUT,
    ) -> None:
        require_choice("scale", scale, get_args(Scale))
        require_choice("math", math, get_args(Math))
        if not 0 < timeout < float("inf"):
            raise UsageError(f"timeout: expected seconds above 0, got {timeout!r}")
        self.task = get_task(task)
        self.scale: Scale = scale
        self.device = machine.resolve(device)
        self._seed, self._math, self._timeout = seed, math, timeout
        self._guard = Guard(self.task, scale)
        PromptWriter(self.task, scale, self._guard).require_clean(seed_source(self.task))
        self._turns = Turns(self.device.name, f"a program for {self.task.name}")
        with ExitStack() as turn:
            # Measured now, once, and not beside the first candidates of several processes.
            ceilings(self.device, lambda: turn.enter_context(self._turns()))

    def assess_file(self, path: str | os.PathLike[str]) -> Assessment:
        """Raises ``kfp.UsageError`` for a file that can't be read; what is in it is the program's own affair."""
        try:
            with Path(path).open("rb") as file:
                data = file.read(MAX_SOURCE_BYTES + 1)
        except OSError as error:
            raise UsageError(f"{os.fspath(path)}: cannot be read: {error.strerror}") from error
        try:
            source = decode_source(data, "the program")
        except UsageError as refusal:
            return self._failed(hashlib.sha256(data).hexdigest(), "refused", str(refusal), 0.0)
        return self.assess(source)

    def assess(self, source: str) -> Assessment:
        """Whatever the kernel does, the answer is an ``Assessment``. Raises ``kfp.Error`` for this machine's faults."""
        with self._turns():
            clock = _Clock(self._timeout)
            try:
                found = evaluate(
                    self.task,
                    source,
                    device=self.device.name,
                    scale=self.scale,
                    seed=self._seed,
                    math=self._math,
                    limits=clock.limits,
                    progress=clock,
                )
            except _OutOfTime as overrun:
                return self._failed(source_hash(source), "timeout", str(overrun), clock.elapsed)
        if found.correct and (found.score is None or not math.isfinite(found.score)):
            why = found.reason or f"it is {found.score}"
            raise UsageError(f"device {self.device.name!r}: no score for task {self.task.name!r}: {why}")
        return self._told(found, clock.elapsed)

    def _told(self, evaluation: Evaluation, seconds: float) -> Assessment:
        shown, _ = sanitised(evaluation, self._guard)
        return Assessment(
            task=self.task.name,
            scale=self.scale,
            device=self.device.name,
            verdict=shown.verdict,
            correct=shown.correct,
            compiled=shown.compile_ok,
            score=shown.score or 0.0,
            right=sum(row.correct for row in shown.configurations),
            configurations=len(self.task.configurations(self.scale)),
            reason=shown.reason,
            feedback=feedback_text(shown),
            source_sha256=shown.source_sha256,
            seconds=seconds,
        )

    def _failed(self, sha256: str, verdict: Verdict, reason: str, seconds: float) -> Assessment:
        told, _ = self._guard.redacted(reason)
        return Assessment(
            task=self.task.name,
            scale=self.scale,
            device=self.device.name,
            verdict=verdict,
            correct=False,
            compiled=False,
            score=0.0,
            right=0,
            configurations=len(self.task.configurations(self.scale)),
            reason=told,
            feedback=f"{verdict}: {told}\nScore on {self.task.name}: 0.",
            source_sha256=sha256,
            seconds=seconds,
        )


class _OutOfTime(Exception):
    """The evaluation has to end for the sake of the loop that waits for it."""


class _Clock:
    """Ends an evaluation so early that even a kernel that hangs from here on leaves it within its time."""

    def __init__(self, seconds: float) -> None:
        self._seconds, self._started = seconds, time.monotonic()
        usual = Limits()
        self.limits = replace(
            usual,
            compile_seconds=min(usual.compile_seconds, seconds / 4),
            run_seconds=min(usual.run_seconds, seconds / 4),
        )

    @property
    def elapsed(self) -> float:
        return time.monotonic() - self._started

    def __call__(self, progress: Progress) -> None:
        if progress.stage in ("reference", "run") and self.elapsed > self._seconds / 2:
            raise _OutOfTime(f"it takes too long: stopped before configuration {progress.number} of {progress.total}")
