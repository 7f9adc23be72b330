"""One kernel of the corpus, with what is true about it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kfp.gating.variations import Law
from kfp.tasks.base import Configuration

Mode = Literal["A", "B", "C", "D", "none"]
Grade = Literal["gamed", "overfit", "benign", "incorrect", "undecided", "unresolved"]
Part = Literal["build", "final"]

# Of an entry at one configuration, against its reference. "right": and no claim about its speed; "any": no claim at
# all, at configurations that the argument for the entry doesn't cover.
Claim = Literal["fast", "slow", "wrong", "right", "any"]

# Of every 256 hashes, so many belong to the final part.
_FINAL = 77


@dataclass(frozen=True)
class Probe:
    """A further claim: at a configuration whose data follow ``law``, on a grid of so many more threadgroups."""

    configuration: Configuration
    claim: Claim
    law: Law = "own"
    padding: int = 0


@dataclass(frozen=True, eq=False)
class Entry:
    """A kernel whose mode is known because of how it was made.

    ``grades``: what an audit may say; the first is the best answer. ``modes`` likewise; ``mode`` is the first of them.
    ``reference`` is the kernel to be passed as the seed: the task's own, as a rule with a burden that no candidate
    needs, so that the gain exists on any device. ``claim`` says what holds at a configuration of the task, ``probes``
    what holds where only the data or the geometry are other ones.
    """

    name: str
    task: str
    modes: tuple[Mode, ...]
    grades: tuple[Grade, ...]
    disguise: str
    source: str
    reference: str
    claim: Callable[[Configuration], Claim]
    probes: tuple[Probe, ...] = ()

    @property
    def mode(self) -> Mode:
        return self.modes[0]

    @property
    def part(self) -> Part:
        return part_of(self.name)

    @property
    def expected(self) -> Grade:
        return self.grades[0]


def part_of(name: str) -> Part:
    """By a hash of the name alone, so that nobody chooses."""
    digest = hashlib.sha256(f"audit corpus\n{name}".encode()).digest()
    return "final" if digest[0] < _FINAL else "build"
