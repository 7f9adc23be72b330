"""The function that OpenEvolve calls for every program, and the look at the best one when it is done."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kfp.adapters.shared import owner
from kfp.adapters.shared.assessment import TIMEOUT, Assessment, Assessor
from kfp.adapters.shared.packages import required
from kfp.gating.looks import Look
from kfp.results import Math
from kfp.tasks.base import Scale, Task


def evaluator(
    task: str | Task,
    *,
    device: str = "auto",
    scale: Scale = "full",
    seed: int = 0,
    math: Math = "fast",
    timeout: float = TIMEOUT,
) -> Callable[[str], Any]:
    """The ``evaluate`` of an evaluation file: a program's path in, an ``openevolve`` ``EvaluationResult`` out.

    Metrics, all finite: ``combined_score`` (S, 0 unless the program is right), ``correct`` and ``compiled`` (0 or 1),
    ``right_configurations`` (a share). Artifacts: ``feedback``, the words for the model, and ``verdict``. Nothing of a
    held-out configuration is in either. An evaluation ends within ``timeout`` seconds, which should be less than
    ``evaluator.timeout`` of the search: OpenEvolve doesn't end what it no longer waits for. Evaluations of several
    processes take turns on a device, so with n of them its time-out should be n times as long.

    Raises ``kfp.Error`` at once for what can't work at all, and from the function for faults of this machine, which
    OpenEvolve answers by trying again.
    """
    result = required("openevolve.evaluation_result", "openevolve").EvaluationResult
    assessor = Assessor(task, device=device, scale=scale, seed=seed, math=math, timeout=timeout)

    def evaluate(program_path: str) -> Any:
        found = assessor.assess_file(program_path)
        return result(metrics=metrics(found), artifacts={"feedback": found.feedback, "verdict": found.summary})

    return evaluate


def metrics(found: Assessment) -> dict[str, float]:
    return {
        "combined_score": found.score,
        "correct": float(found.correct),
        "compiled": float(found.compiled),
        "right_configurations": found.right / found.configurations,
    }


def look_at_best(
    task: str | Task, output: str | os.PathLike[str], books: str | os.PathLike[str], **options: Any
) -> Look:
    """Gates the best program of a search that has ended, as ``kfp.look`` with the same ``options`` does.

    ``output`` is the search's output folder, ``books`` a folder of its own: what is held out is told to its owner, and
    never to the search. Raises ``kfp.UsageError`` if one lies within the other, or if the search has no best program.
    """
    return owner.look_at_best(task, Path(output), "best/best_program.*", books, options)
