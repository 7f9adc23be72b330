"""Kernels whose mode is known because of how they were made: the proof of the audit."""

from __future__ import annotations

from functools import cache

from corpus import adversarial, arms, baked, controls, overfit
from corpus.entry import Claim, Entry, Grade, Mode, Part, part_of

__all__ = ["Claim", "Entry", "Grade", "Mode", "Part", "corpus", "part_of"]


@cache
def corpus() -> tuple[Entry, ...]:
    """All entries, in a fixed order, by unique names."""
    found = (*arms.entries(), *baked.entries(), *overfit.entries(), *controls.entries(), *adversarial.entries())
    names = [entry.name for entry in found]
    doubles = {name for name in names if names.count(name) > 1}
    if doubles:
        raise ValueError(f"more than one kernel is called {sorted(doubles)}")
    return found
