"""What a search is doing right now, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from kfp.runs.records import IterationRecord
from kfp.search.models.base import Usage


@dataclass(frozen=True)
class SearchProgress:
    """``best`` is how many times as fast as the start the incumbent is, by the search's own comparisons.

    ``finished`` is the iteration that has just been completed, None between.
    """

    iteration: int
    iterations: int
    doing: str
    best: float
    usage: Usage
    cost_usd: float | None
    seconds_left: float | None
    finished: IterationRecord | None = None


OnSearchProgress: TypeAlias = Callable[[SearchProgress], None]


def silent(progress: SearchProgress) -> None:
    """Nobody waits."""
