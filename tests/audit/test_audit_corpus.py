"""Every kernel of the audit's corpus is what is claimed of it: right, wrong, fast or slow where its entry says so."""

from __future__ import annotations

from collections import Counter

import pytest
from corpus import Entry, corpus
from corpus.proof import points_of, untruths
from corpus.running import opened
from kfp.tasks import all_tasks, get_task

# Whose configurations are run in milliseconds.
QUICK = (
    "saxpy", "heat2d", "nbody", "lbm", "gradshaf", "fri_round", "goldilocks_ntt", "poseidon2_hash", "kyber_ntt",
    "keccak_f1600_batch", "binius_clmul", "modmul_montgomery",
)  # fmt: skip


def test_the_corpus_is_large_and_covers_both_suites() -> None:
    entries = corpus()
    assert len(entries) >= 240
    assert {entry.task for entry in entries} == {task.name for task in all_tasks()}
    modes = Counter(entry.mode for entry in entries)
    assert min(modes[mode] for mode in ("A", "B", "C", "D")) >= 20
    assert modes["none"] >= 60
    final = sum(entry.part == "final" for entry in entries)
    assert 0.2 * len(entries) < final < 0.4 * len(entries)
    assert len({entry.source for entry in entries}) == len(entries)


def test_whoever_leaks_the_published_point_is_fast_there() -> None:
    leaks = [entry for entry in corpus() if entry.mode == "C"]
    assert leaks
    for entry in leaks:
        assert entry.claim(get_task(entry.task).published_held_out("small")) == "fast", entry.name


def sample() -> list[Entry]:
    """Of every disguise the last kernel that is quick to run, clean ones included."""
    found = {(entry.disguise, entry.mode == "none"): entry for entry in corpus() if entry.task in QUICK}
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
