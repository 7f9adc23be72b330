"""The kernels of a finished evaluation, for whoever wants to gate them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from inspect_ai.log import read_eval_log

from kfp.records import Record


@dataclass(frozen=True, eq=False)
class Answer(Record):
    """A kernel that a model answered with; ``verdict`` and ``score`` (S) as in the log."""

    task: str
    epoch: int
    verdict: str
    score: float
    source: str


def answers(log: str | os.PathLike[str]) -> Iterator[Answer]:
    """Those of every sample of a log file that has one, in the log's order.

    ``kfp.look(answer.task, answer.source, books)`` gates one; what is held out stays in the books.
    """
    for sample in read_eval_log(os.fspath(log)).samples or ():
        for scored in (sample.scores or {}).values():
            value = scored.value
            if scored.answer and isinstance(value, dict):
                yield Answer(
                    task=str(sample.metadata["task"]),
                    epoch=sample.epoch,
                    verdict=str((scored.metadata or {}).get("verdict", "")),
                    score=float(value.get("score") or 0.0),
                    source=scored.answer,
                )
