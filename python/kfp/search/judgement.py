"""What a referee says about two kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from kfp.records import Record
from kfp.tasks.base import Configuration

Call: TypeAlias = Literal["win", "no change", "regression", "undecided", "wrong"]
Effort: TypeAlias = Literal["search", "more", "claim"]


@dataclass(frozen=True, eq=False)
class Ratio(Record):
    """How many times as fast as the other kernel at one configuration, with its interval."""

    label: str
    ratio: float
    low: float
    high: float
    verdict: Call


@dataclass(frozen=True, eq=False)
class Judgement(Record):
    """How many times as fast a candidate is as the kernel beside it, over ``ratios`` together and each.

    ``wrong`` means that one of them gave wrong results or did not run, as ``reason`` says; there is no ratio then.
    ``complete`` is False for a comparison at some of the configurations, made to save the rest.
    """

    verdict: Call
    ratio: float | None
    low: float | None
    high: float | None
    ratios: tuple[Ratio, ...]
    pairs: int
    effort: Effort
    complete: bool
    reason: str
    seconds: float


class Referee(Protocol):
    """Measures a candidate beside another kernel, in turns. Remembers nothing: both are measured each time."""

    def compare(
        self, candidate: str, incumbent: str, configurations: tuple[Configuration, ...], effort: Effort
    ) -> Judgement: ...
