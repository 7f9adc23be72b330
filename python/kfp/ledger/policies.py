"""Who may learn how much of what is held out.

A policy is asked before a look and sees what the ledger says of all looks before. ``once`` and ``retro`` release
nothing to a search. ``ladder`` and ``thresholdout`` answer it, and bound what it can learn from their answers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

import numpy as np

from kfp.errors import UsageError
from kfp.ledger.entries import Entry

PolicyName: TypeAlias = Literal["once", "ladder", "thresholdout", "retro"]


@dataclass(frozen=True)
class Ask:
    """``after_search``: the run has ended. ``in_distribution`` is what the search measured itself, for policies that
    compare with it.
    """

    run: str
    candidate: str
    look: str
    after_search: bool
    in_distribution: float | None = None


@dataclass(frozen=True)
class Answer:
    """``released`` is what the asker may know; ``bits`` how much that says at most."""

    released: float | None
    bits: float


class Policy(Protocol):
    """``refusal`` is empty where the look may be made. ``answer`` turns what was found into what is released."""

    @property
    def name(self) -> PolicyName: ...

    def refusal(self, ask: Ask, looks: Sequence[Entry]) -> str: ...

    def answer(self, ask: Ask, looks: Sequence[Entry], found: float) -> Answer: ...


@dataclass(frozen=True)
class Once:
    """One look per run, after its search. The verdict is the end of the run, and nothing goes back into it."""

    name: PolicyName = "once"
    # One of four verdicts.
    verdict_bits: float = 2.0

    def refusal(self, ask: Ask, looks: Sequence[Entry]) -> str:
        if not ask.after_search:
            return "the search is not over: what is held out is looked at once, after it"
        others = [entry for entry in looks if entry.look != ask.look]
        if others:
            return f"the run has had its look, of {others[0].time}, for {others[0].purpose}"
        return ""

    def answer(self, ask: Ask, looks: Sequence[Entry], found: float) -> Answer:
        return Answer(found, self.verdict_bits)


@dataclass(frozen=True)
class Retro:
    """Every promoted kernel, once each, after the search: dates the onset of a fingerprint, and tells nobody."""

    name: PolicyName = "retro"

    def refusal(self, ask: Ask, looks: Sequence[Entry]) -> str:
        return "" if ask.after_search else "the search is not over: its kernels are looked at after it"

    def answer(self, ask: Ask, looks: Sequence[Entry], found: float) -> Answer:
        return Answer(None, 0.0)


@dataclass(frozen=True)
class Ladder:
    """Releases a value only where it improves on the best one released by more than ``step``, rounded to it.

    Blum & Hardt, The Ladder (ICML 2015), algorithm 1; here more is better and values lie in [0, ``most``]. Whatever
    asks, in ``asks`` asks the best released value differs from the best true one by more than ``bound(n, asks, error)``
    with a probability of ``error`` at most, if a look averages n independent values in [0, 1].
    """

    step: float = 0.05
    most: float = 1.0
    name: PolicyName = "ladder"

    def __post_init__(self) -> None:
        if not 0 < self.step < self.most:
            raise UsageError(f"ladder: expected a step above 0 and below {self.most:g}, got {self.step!r}")

    def refusal(self, ask: Ask, looks: Sequence[Entry]) -> str:
        return ""

    def answer(self, ask: Ask, looks: Sequence[Entry], found: float) -> Answer:
        released = [entry.released for entry in looks if entry.released is not None]
        best = max(released, default=-math.inf)
        if not found > best + self.step:
            # That there was no improvement is said, too.
            return Answer(best, 1.0)
        rounded = self.step * round(found / self.step)
        return Answer(rounded, 1.0 + math.log2(self.most / self.step + 1))

    def bound(self, samples: int, asks: int, error: float) -> float:
        """Theorem 3.1 with the union bound of its proof, solved for the deviation."""
        transcripts = (1 / self.step + 2) * math.log(4 * asks / self.step) + 1
        return self.step + math.sqrt((transcripts + math.log(1 / error)) / (2 * samples))


@dataclass
class Thresholdout:
    """Answers with the asker's own value, unless that is off by more than about ``threshold``; such answers cost.

    Dwork et al., The reusable holdout (Science 2015), algorithm Thresholdout: Laplace noise of scale ``2 noise`` on the
    threshold, ``4 noise`` on the difference, ``noise`` on an answer. ``budget`` answers from the held-out value are
    given, then every ask is refused. The noise comes from ``seed`` and the number of the look.
    """

    threshold: float = 0.04
    noise: float = 0.01
    budget: int = 50
    seed: int = 0
    name: PolicyName = field(default="thresholdout")

    def __post_init__(self) -> None:
        if not (self.threshold > 0 and self.noise > 0 and self.budget >= 1):
            raise UsageError("thresholdout: expected threshold and noise above 0, and a budget of at least 1")

    def refusal(self, ask: Ask, looks: Sequence[Entry]) -> str:
        if ask.in_distribution is None:
            return "it needs the value that the search measured itself"
        spent = sum(entry.bits > 1.0 for entry in looks)
        return f"its budget of {self.budget} answers is used up" if spent >= self.budget else ""

    def answer(self, ask: Ask, looks: Sequence[Entry], found: float) -> Answer:
        assert ask.in_distribution is not None
        # The noise of the threshold is renewed with each answer that costs.
        spent = sum(entry.bits > 1.0 for entry in looks)
        of_threshold = np.random.default_rng([self.seed, 0, spent])
        of_answer = np.random.default_rng([self.seed, 1, len(looks)])
        threshold = self.threshold + float(of_threshold.laplace(scale=2 * self.noise))
        if abs(ask.in_distribution - found) <= threshold + float(of_answer.laplace(scale=4 * self.noise)):
            return Answer(ask.in_distribution, 1.0)
        return Answer(found + float(of_answer.laplace(scale=self.noise)), 1.0 + math.log2(1 / self.noise))


def policy_named(name: str) -> Policy:
    """The policy with its defaults. Raises ``kfp.UsageError`` for another name."""
    policies: dict[str, Policy] = {
        "once": Once(), "ladder": Ladder(), "thresholdout": Thresholdout(), "retro": Retro(),
    }  # fmt: skip
    if name not in policies:
        raise UsageError(f"policy: expected one of {', '.join(map(repr, policies))}, got {name!r}")
    return policies[name]
