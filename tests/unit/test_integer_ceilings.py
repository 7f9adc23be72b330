"""What is made of the times of the probes; the machines here are models, with times that are exact."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from kfp.integer_ceilings import LINE_STEPS, LOOP_STEPS, OPERATIONS, RING, doubles, rates
from kfp.plan import Plan

SHADER = Path(__file__).parents[2] / "shaders" / "probes" / "u64.metal"


def updates(plan: Plan) -> int:
    """How often a thread updates an accumulator, from the text of the probe."""
    (dispatch,) = plan.dispatches
    if dispatch.kernel.endswith("_loop"):
        return RING * LOOP_STEPS * int(str(dispatch.arguments[2]))
    return RING * LINE_STEPS * (2 if dispatch.kernel.endswith("_twice") else 1)


def machine(seconds: Callable[[str, int, int], float]) -> Callable[[Sequence[Plan]], list[float]]:
    def best_seconds(plans: Sequence[Plan]) -> list[float]:
        found = []
        for plan in plans:
            (dispatch,) = plan.dispatches
            assert plan.buffers[0].shape == plan.buffers[1].shape == (dispatch.grid[0],)
            found.append(seconds(dispatch.kernel, updates(plan), dispatch.grid[0]))
        return found

    return best_seconds


def test_the_probe_is_as_long_as_the_figures_say() -> None:
    text = SHADER.read_text()
    for name, value in (("RING", RING), ("LOOP_STEPS", LOOP_STEPS), ("LINE_STEPS", LINE_STEPS)):
        assert re.search(rf"constexpr uint {name} = {value};", text)


def test_a_steady_machine_gets_its_rate() -> None:
    found = rates(machine(lambda kernel, count, threads: count * threads * 1e-9))
    assert [rate.resource for rate in found] == list(OPERATIONS)
    for rate in found:
        assert rate.per_second == pytest.approx(OPERATIONS[rate.resource] * 1e9)
        assert not rate.problem


def test_the_better_form_counts() -> None:
    slow_loops = machine(lambda kernel, count, threads: count * threads * (4e-9 if "loop" in kernel else 1e-9))
    assert [rate.per_second for rate in rates(slow_loops)] == pytest.approx([0.25e9, 3e9, 1e9])


def test_work_that_was_folded_away_is_no_ceiling() -> None:
    for rate in rates(machine(lambda kernel, count, threads: 1e-9 * threads)):
        assert rate.per_second == 0
        assert rate.problem.startswith(f"probe {rate.resource} is invalid: loop: twice the work took 1.00 times")


def test_one_folded_form_leaves_the_other() -> None:
    """A line that costs nothing would be the better one, if its length didn't tell."""
    folded = machine(lambda kernel, count, threads: 1e-3 if "line" in kernel else count * threads * 1e-9)
    assert [rate.per_second for rate in rates(folded)] == pytest.approx([1e9, 3e9, 1e9])


def test_a_disturbed_run_is_repeated() -> None:
    calls = iter(range(10**6))

    def seconds(kernel: str, count: int, threads: int) -> float:
        # Every other pair has its second member disturbed.
        return count * threads * 1e-9 * (3.0 if next(calls) % 4 == 1 else 1.0)

    assert [rate.per_second for rate in rates(machine(seconds))] == pytest.approx([1e9, 3e9, 1e9])


@pytest.mark.parametrize(("ratio", "sound"), [(2.0, True), (1.75, True), (1.6, False), (1.0, False), (3.0, False)])
def test_doubling(ratio: float, sound: bool) -> None:
    assert doubles([1.0, ratio]) == sound


def test_starts_are_not_all_alike() -> None:
    seen: list[Plan] = []

    def best_seconds(plans: Sequence[Plan]) -> list[float]:
        seen.extend(plans)
        return [1.0, 2.0]

    rates(best_seconds)
    for plan in seen:
        initial = plan.buffers[0].initial
        assert initial is not None
        assert np.unique(initial).size == initial.size
