"""Mutated kernels: no host crash, no hang, no verdict without a reason. ``bench/fuzz.py`` runs many more."""

from __future__ import annotations

import pytest
from hostile.cage import OUTCOMES, Cage, attempt
from hostile.fuzzer import mutant
from kfp import _core

BATCH = 20


@pytest.mark.parametrize("first", range(0, 100, BATCH))
def test_every_mutant_gets_a_verdict(first: int, toolchain: _core.Toolchain, cage: Cage) -> None:
    for number in range(first, first + BATCH):
        verdict = attempt(toolchain, mutant(number))
        assert verdict.outcome in OUTCOMES, (number, verdict)
        assert verdict.outcome == "ran" or verdict.text, (number, verdict)
    cage.assert_empty()


def test_mutants_are_the_same_every_time() -> None:
    assert [mutant(n) for n in range(50)] == [mutant(n) for n in range(50)]
    assert len({mutant(n) for n in range(200)}) > 150
