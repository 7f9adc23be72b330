"""ABBA blocks: the order in which two arms are sampled, and the pairs that come of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from kfp.timing.statistics import Floats, estimate, log_ratios

REFERENCE, CANDIDATE, SENTINEL = 0, 1, 2

# Whether a block begins with the candidate.
Firsts: TypeAlias = npt.NDArray[np.bool_]

# A block is left out when a sentinel beside it ran this much slower than usual: the device's clock had changed.
LOST_STATE = 1.25
# With more of the blocks lost than this the machine is never in one state, and dropping would only hide that.
MOST_LOST = 0.3


def first_arms(seed: int, blocks: int) -> Firsts:
    """Whether block i begins with the candidate: the first ``blocks`` of an endless fair sequence."""
    return np.random.default_rng(seed).random(blocks) < 0.5


def order_of(candidate_first: Firsts) -> npt.NDArray[np.uint32]:
    """Executions to sample: a sentinel, four samples, a sentinel, ...; the last is a sentinel."""
    order = np.full(5 * len(candidate_first) + 1, SENTINEL, dtype=np.uint32)
    blocks = order[:-1].reshape(-1, 5)
    blocks[:, 1:] = np.where(candidate_first[:, None], [CANDIDATE, REFERENCE, REFERENCE, CANDIDATE],
                             [REFERENCE, CANDIDATE, CANDIDATE, REFERENCE])  # fmt: skip
    return order


@dataclass
class Blocks:
    """What was sampled so far, in seconds of one run; a row of ``reference`` and ``candidate`` per block, in time."""

    reference: Floats = field(default_factory=lambda: np.empty((0, 2)))
    candidate: Floats = field(default_factory=lambda: np.empty((0, 2)))
    # Of each block the slower one of the sentinels before and after it.
    sentinel: Floats = field(default_factory=lambda: np.empty(0))
    # Every sentinel in time.
    sentinels: Floats = field(default_factory=lambda: np.empty(0))

    def add(self, candidate_first: Firsts, samples: Floats, repeats: int, sentinel_repeats: int) -> None:
        """``samples`` as ``order_of`` these blocks has them."""
        sentinels = samples[::5] / sentinel_repeats
        rows = samples[:-1].reshape(-1, 5)[:, 1:] / repeats
        outer, inner = rows[:, [0, 3]], rows[:, [1, 2]]
        first = candidate_first[:, None]
        self.reference = np.concatenate([self.reference, np.where(first, inner, outer)])
        self.candidate = np.concatenate([self.candidate, np.where(first, outer, inner)])
        self.sentinel = np.concatenate([self.sentinel, np.maximum(sentinels[:-1], sentinels[1:])])
        self.sentinels = np.concatenate([self.sentinels, sentinels])

    def __len__(self) -> int:
        return len(self.reference)

    def lost(self) -> npt.NDArray[np.bool_]:
        """Blocks beside which the sentinel was slow. It knows nothing of the arms, so dropping favours none."""
        if not len(self):
            return np.zeros(0, dtype=bool)
        quarter = len(self.sentinels) // 4
        usual = np.partition(self.sentinels, quarter)[quarter]
        return np.asarray(self.sentinel > LOST_STATE * usual)

    def kept(self) -> npt.NDArray[np.bool_]:
        """All blocks but the lost ones; all, where too many are lost."""
        lost = self.lost()
        return np.ones(len(self), dtype=bool) if lost.mean() > MOST_LOST else ~lost

    def log_ratios(self) -> Floats:
        """Of the kept blocks' pairs: each block's first reference with its first candidate, last with last."""
        kept = self.kept()
        return log_ratios(self.reference[kept].reshape(-1), self.candidate[kept].reshape(-1))

    def same_arm_ratio(self) -> float:
        """The reference against itself, a pair per kept block, every second one the other way round."""
        early, late = self.reference[self.kept()].T
        swapped = np.arange(len(early)) % 2 == 1
        return estimate(log_ratios(np.where(swapped, late, early), np.where(swapped, early, late)))
