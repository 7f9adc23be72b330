"""Draws: a function of seed and source, within the contract, off the published points, over data and geometry."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.errors import UsageError
from kfp.gating.draws import (
    CHECKED,
    COMPARABLE,
    NARROWED,
    Drawn,
    commitment,
    demands_of,
    draw_all,
    new_seed,
    published_points,
    seed_text,
)
from kfp.gating.variations import PLAIN, laws_of, may_be_padded, varied
from kfp.sources import seed_source
from kfp.tasks import all_tasks
from kfp.tasks.base import Configuration, Task

ALL = {task.name: task for task in all_tasks()}
# Each of their draws searches a prime, or computes a reference to know the work.
SLOW_TO_DRAW = ("montgomery_msm", "pippenger_buckets", "lj")
EVERY_TASK = pytest.mark.parametrize("task", ALL.values(), ids=list(ALL))
QUICK = [task for name, task in ALL.items() if name not in SLOW_TO_DRAW]
EVERY_QUICK_TASK = pytest.mark.parametrize("task", QUICK, ids=[task.name for task in QUICK])


def untimed(task: Task, seed: int, count: int = 32) -> tuple[Drawn, ...]:
    return draw_all(task, "small", seed, "a source", 3, count).untimed


def require_contract(task: Task, configuration: Configuration) -> None:
    for entry in task.ranges:
        assert configuration.parameters[entry.name] in entry, (configuration.label, str(entry))


@EVERY_QUICK_TASK
def test_draws_are_a_function_of_seed_and_source(task: Task) -> None:
    first = draw_all(task, "small", 7, "one", 3, 32)
    assert first == draw_all(task, "small", 7, "one", 3, 32)
    for other in (draw_all(task, "small", 8, "one", 3, 32), draw_all(task, "small", 7, "two", 3, 32)):
        seen = {drawn.configuration for drawn in (*first.timed, *first.untimed)}
        assert not seen & {drawn.configuration for drawn in (*other.timed, *other.untimed)}


def test_a_commitment_fits_one_seed_and_hides_it() -> None:
    seed = new_seed()
    assert commitment(seed) == hashlib.sha256(f"kfp gate, commitment\n0x{seed:032x}".encode()).hexdigest()
    assert commitment(seed) != commitment(seed ^ 1)
    assert int(seed_text(seed), 0) == seed
    assert seed_text(seed)[2:] not in commitment(seed)
    assert len({new_seed() for _ in range(100)}) == 100


@EVERY_QUICK_TASK
def test_200_draws_keep_the_contract(task: Task) -> None:
    require_contracts(task, untimed(task, 3, 200))


@pytest.mark.full
@EVERY_TASK
def test_10_000_draws_keep_the_contract(task: Task) -> None:
    require_contracts(task, untimed(task, 4, 10_000))


def require_contracts(task: Task, draws: tuple[Drawn, ...]) -> None:
    published = published_points(task, "small")
    for drawn in draws:
        require_contract(task, drawn.configuration)
        assert tuple(drawn.configuration.parameters.items()) not in published
        assert drawn.configuration.origin == "drawn"
    labels = {drawn.configuration.label for drawn in draws}
    assert len(labels) == len(draws)


@EVERY_QUICK_TASK
def test_untimed_draws_spread_over_data_and_geometry(task: Task) -> None:
    draws = untimed(task, 5)
    plain, narrowed, far = draws[:32], draws[32 : 32 + NARROWED], draws[32 + NARROWED :]
    assert {drawn.variation.law for drawn in plain} == {"own", *laws_of(task)}
    assert any(drawn.variation.padding for drawn in plain) == may_be_padded(task)
    assert sum(drawn.checked for drawn in plain) == CHECKED
    assert [drawn.checked for drawn in far] == [True, False, False][: len(far)]
    assert [drawn.variation.narrowing for drawn in narrowed] == [1, 2]
    assert not any(drawn.checked or drawn.variation.padding for drawn in narrowed)


@EVERY_QUICK_TASK
def test_sizes_next_to_the_measured_ones_are_drawn(task: Task) -> None:
    draws = untimed(task, 6, 200)
    for name in task.free_sizes:
        entry = next(entry for entry in task.ranges if entry.name == name)
        measured = {c.integer(name) for c in task.configurations("small")}
        near = {value + side * entry.step for value in measured for side in (-1, 1)}
        if entry.powers_of_two:
            near = {value // 2 for value in measured} | {2 * value for value in measured}
        drawn = {d.configuration.integer(name) for d in draws}
        assert {value for value in near if value in entry} <= drawn
        assert entry.low in drawn


@pytest.mark.parametrize(
    ("name", "axes"),
    [
        ("saxpy", ["N"]),
        ("heat2d", ["NX", "NY"]),
        ("wave3d", ["NX", "NY", "NZ"]),
        ("lbm", ["NX", "NY"]),
        ("ising", ["NX", "NY"]),
        ("gradshaf", ["NZ"]),
        ("adi3d", ["NX", "NY", "NZ"]),
        ("merkle_build", ["leaves"]),
        ("modmul_montgomery", ["N", "rounds"]),
        # Quadratic, cubic, or with axes that depend on each other.
        ("fft3d", []),
        ("morton", []),
        ("hmc", []),
    ],
)
def test_every_axis_is_far_once(name: str, axes: list[str]) -> None:
    task = ALL[name]
    longest = {axis: max(c.integer(axis) for c in task.configurations("small")) for axis in axes}
    for seed in range(20):
        far = [drawn.configuration for drawn in untimed(task, seed)[32 + NARROWED :]]
        require_contracts(task, untimed(task, seed)[32 + NARROWED :])
        assert len(far) == len(axes)
        for axis, configuration in zip(axes, far, strict=True):
            assert configuration.integer(axis) >= 2 * longest[axis]
            assert all(configuration.integer(other) < longest[other] for other in axes if other != axis)
            inputs = task.inputs(configuration)
            assert sum(array.nbytes for array in inputs.values()) < 32e6


@pytest.mark.parametrize("name", sorted({"saxpy", "heat2d", "nbody", "adi3d", "keccak_f1600_batch"}))
def test_timed_draws_need_comparable_work(name: str) -> None:
    """At full scale, where the largest search configuration is many times the smallest."""
    task = ALL[name]

    def work(configuration: Configuration) -> float:
        return sum(demand.amount for demand in demands_of(task, configuration))

    searched = [work(configuration) for configuration in task.configurations("full")]
    for seed in range(3):
        for drawn in draw_all(task, "full", seed, "a source", 4, 32).timed:
            assert min(searched) / COMPARABLE <= work(drawn.configuration) <= max(searched) * COMPARABLE


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**128 - 1), name=st.sampled_from(["saxpy", "heat2d", "nbody", "morton", "goldilocks_ntt"]))
def test_other_laws_keep_to_the_range_of_the_input(seed: int, name: str) -> None:
    task = ALL[name]
    draws = [drawn for drawn in untimed(task, seed) if drawn.variation.law != "own"][:4]
    other = varied(task, {drawn.configuration: drawn.variation for drawn in draws})
    for drawn in draws:
        own, inputs = task.inputs(drawn.configuration), other.inputs(drawn.configuration)
        assert {key: (v.shape, v.dtype) for key, v in own.items()} == {k: (v.shape, v.dtype) for k, v in inputs.items()}
        if drawn.variation.law in ("shuffled", "reversed"):
            for key in task.exchangeable:
                assert np.array_equal(np.sort(own[key], axis=0), np.sort(inputs[key], axis=0))
            continue
        for free in task.free_inputs:
            values = inputs[free.name]
            assert values.dtype.type(free.low) <= values.min()
            assert values.max() <= values.dtype.type(free.high)


def test_what_is_not_varied_is_the_tasks_own() -> None:
    task = ALL["heat2d"]
    other = varied(task, {})
    configuration = task.configurations("small")[0]
    assert other.configurations("small") == task.configurations("small")
    assert np.array_equal(other.inputs(configuration)["u"], task.inputs(configuration)["u"])
    assert type(other) is not type(varied(task, {}))
    assert PLAIN.law == "own"


def test_padding_adds_whole_threadgroups_where_threads_may_idle() -> None:
    task = ALL["gradshaf"]
    (drawn,) = [d for d in untimed(task, 1) if d.variation.padding == 2][:1]
    other = varied(task, {drawn.configuration: drawn.variation})
    inputs = other.inputs(drawn.configuration)
    caps = {kernel.name: 1024 for kernel in task.kernels}
    for one, two in zip(
        task.plan(drawn.configuration, inputs, caps).dispatches,
        other.plan(drawn.configuration, inputs, caps).dispatches,
        strict=True,
    ):
        # The reduction is one threadgroup by its contract.
        extra = 2 if one.kernel == "gradshaf_step" else 0
        more = tuple(b - a for a, b in zip(one.grid, two.grid, strict=True))
        assert more == (extra * 16, extra * 16, 0)


@pytest.mark.parametrize("counts", [(2, 32), (3, 31)])
def test_too_few_draws_are_refused(counts: tuple[int, int]) -> None:
    with pytest.raises(UsageError, match="expected at least"):
        draw_all(ALL["saxpy"], "small", 0, seed_source(ALL["saxpy"]), *counts)
