"""The referee that measures: real kernels on the device, and what becomes of comparisons that are none."""

from __future__ import annotations

from kfp.search.judgement import Judgement
from kfp.search.referee import CompareReferee
from kfp.tasks import get_task
from kfp.tasks.base import Configuration
from search.scripted import KERNEL, UNCOMPILED, WRONG

TASK = get_task("saxpy")
POINTS = TASK.configurations("small")[:1]
# Far beyond every noise: thousands of operations for each element instead of one.
WORK = "float z = 0.0f; for (uint k = 0; k < 20000; ++k) z = fma(z, 0.5f, x[(i + k) % N]);"
SLOW = KERNEL.replace("if (i >= N)", f"{WORK}\n    if (i >= N || z >= 1e30f)")


def compared(candidate: str, incumbent: str, points: tuple[Configuration, ...] = POINTS) -> Judgement:
    referee = CompareReferee(TASK, "cpu", "small", "fast", 0, lambda progress: None)
    return referee.compare(candidate, incumbent, points, "search")


def test_a_thousandfold_difference_is_called_by_its_name() -> None:
    # On whatever machine: nothing that it does could turn this around.
    assert compared(KERNEL, SLOW).verdict in ("win", "undecided")
    assert compared(SLOW, KERNEL).verdict in ("regression", "undecided")


def test_a_wrong_candidate_is_wrong_with_its_reason() -> None:
    judgement = compared(WRONG, KERNEL)
    assert judgement.verdict == "wrong"
    assert judgement.ratio is None
    assert "differ" in judgement.reason


def test_the_incumbents_fault_is_not_the_candidates() -> None:
    for incumbent in (WRONG, UNCOMPILED):
        judgement = compared(KERNEL, incumbent)
        assert judgement.verdict == "undecided"
        assert "the reference" in judgement.reason
