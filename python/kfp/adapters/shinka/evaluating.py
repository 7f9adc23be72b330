"""The process that ShinkaEvolve starts for every program, and the look at the best one when it is done."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from kfp.adapters.shared import owner
from kfp.adapters.shared.assessment import Assessment, Assessor
from kfp.errors import DeviceUnavailable, Error, ToolchainError
from kfp.gating.looks import Look
from kfp.runs.files import refusals, write_json
from kfp.tasks.base import Task

UNFINISHED = "the evaluation did not come to its end"


def evaluate(
    task: str | Task, program_path: str | os.PathLike[str], results_dir: str | os.PathLike[str], **options: Any
) -> Assessment:
    """Evaluates one program and leaves ``metrics.json`` and ``correct.json`` in ``results_dir``.

    ``combined_score`` is S, 0 unless the program is right; ``public`` are numbers that the prompts show, ``private``
    those that stay in the database, ``text_feedback`` the words for the model. All numbers are finite, and nothing of a
    held-out configuration is in any of it. ``options`` are those of ``kfp.adapters.openevolve.evaluator``.

    The files are there from the beginning, and say that the evaluation did not come to its end until it has: who kills
    it finds a reason. Raises ``kfp.Error`` for a wrong call, a folder that can't be written, faults of this machine.
    """
    folder = Path(results_dir)
    with refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
    _write(folder, _unfinished(), False, UNFINISHED)
    try:
        found = Assessor(task, **options).assess_file(program_path)
    except Error as error:
        _write(folder, _unfinished(), False, str(error))
        raise
    _write(folder, metrics(found), found.correct, None if found.correct else found.summary)
    return found


def metrics(found: Assessment) -> dict[str, Any]:
    return {
        "combined_score": found.score,
        # The prompts show two digits after the point.
        "public": {
            "score_percent": 100 * found.score,
            "right_configurations": found.right,
            "configurations": found.configurations,
        },
        "private": {"compiled": int(found.compiled), "evaluation_seconds": found.seconds},
        "text_feedback": found.feedback,
    }


def _unfinished() -> dict[str, Any]:
    return {"combined_score": 0.0, "public": {}, "private": {}, "text_feedback": f"{UNFINISHED}. Score: 0."}


def _write(folder: Path, values: dict[str, Any], correct: bool, error: str | None) -> None:
    write_json(folder / "metrics.json", values)
    write_json(folder / "correct.json", {"correct": correct, "error": error})


def main(task: str | Task, arguments: Sequence[str] | None = None, **options: Any) -> NoReturn:
    """The whole of an ``evaluate.py``: ``--program_path FILE --results_dir FOLDER`` on its command line.

    Prints the verdict in a line. The exit code is 0 whatever the program is worth, 2 for wrong usage, 3 where this
    machine can't evaluate.
    """
    parser = argparse.ArgumentParser(description="Evaluates a Metal kernel for ShinkaEvolve.", allow_abbrev=False)
    parser.add_argument("--program_path", required=True)
    parser.add_argument("--results_dir", required=True)
    given = parser.parse_args(arguments)
    try:
        found = evaluate(task, given.program_path, given.results_dir, **options)
    except Error as error:
        print(f"kfp: {error}", file=sys.stderr)
        sys.exit(3 if isinstance(error, DeviceUnavailable | ToolchainError) else 2)
    print(found.summary)
    sys.exit(0)


def look_at_best(
    task: str | Task, results: str | os.PathLike[str], books: str | os.PathLike[str], **options: Any
) -> Look:
    """Gates the best program of a search that has ended, as ``kfp.look`` with the same ``options`` does.

    ``results`` is the search's results folder, ``books`` a folder of its own: what is held out is told to its owner,
    and never to the search. Raises ``kfp.UsageError`` if one lies within the other, or if there is no best program.
    """
    return owner.look_at_best(task, Path(results), "best/main.*", books, options)
