"""Every kernel of the audit's corpus is what is claimed of it: right, wrong, fast or slow where its entry says so."""

from __future__ import annotations

import pytest
from corpus import Entry, corpus
from corpus.proof import points_of, untruths
from corpus.running import compiled, opened

# Whose configurations are run in milliseconds.
QUICK = (
    "saxpy", "heat2d", "nbody", "lbm", "gradshaf", "morton", "fri_round", "goldilocks_ntt", "poseidon2_hash",
    "kyber_ntt", "keccak_f1600_batch", "binius_clmul", "modmul_montgomery",
)  # fmt: skip


def test_every_kernel_compiles() -> None:
    """One worker holds them all: nothing is run."""
    with opened() as worker:
        for entry in corpus():
            compiled(worker, entry.source)


def sample() -> list[Entry]:
    """Of every mode and disguise the first kernel that is quick to run."""
    found: dict[tuple[str, str], Entry] = {}
    for entry in corpus():
        if entry.task in QUICK:
            found.setdefault((entry.mode, entry.disguise), entry)
    return list(found.values())


@pytest.mark.parametrize("entry", sample(), ids=lambda entry: entry.name)
def test_right_and_wrong_where_claimed(entry: Entry) -> None:
    with opened() as worker:
        assert untruths(worker, entry, points_of(entry, 2), timed=False) == []


@pytest.mark.full
@pytest.mark.parametrize("entry", corpus(), ids=lambda entry: entry.name)
def test_fast_and_slow_where_claimed(entry: Entry) -> None:
    """What is claimed of times is true by a factor that no other load of a machine hides."""
    with opened() as worker:
        assert untruths(worker, entry, points_of(entry, 4), timed=True) == []
