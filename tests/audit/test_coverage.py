"""Counters in an instrumented build: what ran where, whatever the condition is made of."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from audit.planted_conditions import HEAD, MARK, PLANTED, SIGNATURE, Planted
from kfp import _core, bridge, machine
from kfp.auditing.coverage import coverage
from kfp.auditing.program.counters import with_counters
from kfp.auditing.program.module import read_module
from kfp.auditing.results import Coverage
from kfp.auditing.static import forced_fallbacks
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.tasks.base import Configuration

SAXPY = get_task("saxpy")
BENCH = Bench(machine.resolve("cpu"), "fast", Limits())


def at(n: int) -> Configuration:
    return replace(SAXPY.configurations("small")[0], label=f"N={n}", parameters={"N": n, "a": 2.5})


def covered(source: str, *numbers: int) -> Coverage:
    found = coverage(BENCH, SAXPY, source, [at(n) for n in numbers])
    assert not found.reason
    return found


def counts_at(found: Coverage, line: int, side: str) -> list[dict[str, int]]:
    arms = [arm for arm in found.arms if arm.location and arm.location.line == line and arm.side == side]
    return [dict(arm.counts or {}) for arm in arms]


@pytest.mark.parametrize(
    "name", ["equality", "two macros and a helper", "a template's argument", "arithmetic on truths", "switch"]
)
def test_every_thread_is_counted_once(name: str) -> None:
    planted = next(one for one in PLANTED if one.name == name)
    found = covered(planted.source, 1023, 1024)
    side = "case 1024" if name == "switch" else "true"
    assert {"N=1023": 0, "N=1024": 1024} in counts_at(found, planted.line, side)


def test_a_condition_that_nobody_can_evaluate_is_counted() -> None:
    mixed = "".join(
        f"    h = (h ^ ((words[{word}] >> {8 * byte}) & 255u)) * 16777619u;\n" for word in (0, 1) for byte in range(4)
    )
    helpers = (
        "static uint mixed(uint n, float a) {\n    uint h = 2166136261u;\n"
        f"    uint words[2] = {{n, as_type<uint>(a)}};\n{mixed}    return h;\n}}\n"
    )

    def fnv(n: int) -> int:
        h = 2166136261
        for byte in n.to_bytes(4, "little") + np.float32(2.5).tobytes():
            h = (h ^ byte) * 16777619 % 2**32
        return h

    planted = Planted(
        "", helpers, f"    if (mixed(N, a) == {fnv(1024)}u) {MARK}\n        r += 1e-30f;\n", lambda n, a: n == 1024
    )
    found = covered(planted.source, 1023, 1024, 1025)
    assert {"N=1023": 0, "N=1024": 1024, "N=1025": 0} in counts_at(found, planted.line, "true")


def test_a_counted_arm_can_be_closed() -> None:
    planted = next(one for one in PLANTED if one.name == "two macros and a helper")
    found = covered(planted.source, 1024)
    arm = next(arm for arm in found.arms if arm.side == "true" and dict(arm.counts or {}) == {"N=1024": 1024})
    edited = forced_fallbacks(planted.source, arm, bench=BENCH)
    assert edited
    left = covered(edited[0], 1024)
    assert not [
        one for one in left.arms if one.side == "true" and "1024" in one.condition and any((one.counts or {}).values())
    ]


@pytest.mark.parametrize(("name", "side"), [("switch", "case 1024"), ("the default of a switch", "default")])
def test_a_counted_side_of_a_switch_can_be_closed(name: str, side: str) -> None:
    planted = next(one for one in PLANTED if one.name == name)
    arm = next(arm for arm in covered(planted.source, 1024).arms if arm.side == side and (arm.counts or {})["N=1024"])
    (edited,) = forced_fallbacks(planted.source, arm, bench=BENCH)
    assert not any((one.counts or {})["N=1024"] for one in covered(edited, 1024).arms if one.side == side)


def test_a_counted_entry_of_a_table_gets_the_value_of_the_others() -> None:
    planted = next(one for one in PLANTED if one.name == "a table")
    arm = next(arm for arm in covered(planted.source, 1024).arms if arm.side == "entry 0" and not arm.in_seed)
    (edited,) = forced_fallbacks(planted.source, arm, bench=BENCH)
    assert "{(1 ? 2u : (MANY)), 2u, 2u, 2u, 2u}" in edited


def test_entries_of_a_table_are_told_apart() -> None:
    planted = Planted(
        "", "constant float table[8] = {0, 1e-30f, 0, 0, 2e-30f, 0, 0, 3e-30f};\n",
        f"    r += table[(N >> 10) & 7]; {MARK}\n", lambda n, a: True,
    )  # fmt: skip
    found = covered(planted.source, 1024, 4096)
    assert counts_at(found, planted.line, "entry 1") == [{"N=1024": 1024, "N=4096": 0}]
    assert counts_at(found, planted.line, "entry 4") == [{"N=1024": 0, "N=4096": 4096}]


def test_what_the_seed_asks_as_well_is_known() -> None:
    found = covered(seed_source(SAXPY), 1024)
    assert found.arms
    assert all(arm.in_seed for arm in found.arms)


def test_a_configuration_that_takes_the_process_down_costs_itself_alone() -> None:
    body = "    if (N == 1025) y[1 << 28] = 1;\n    y[i] = a * x[i] + y[i];\n}\n"
    found = covered(HEAD + SIGNATURE + body, 1024, 1025, 1026)
    assert found.arms
    assert all(set(arm.counts or ()) == {"N=1024", "N=1026"} for arm in found.arms)


def test_threads_that_meet_are_counted_as_well() -> None:
    body = (
        "    threadgroup float shared[256];\n    shared[i % 256] = x[i];\n"
        "    threadgroup_barrier(mem_flags::mem_threadgroup);\n"
        f"    if (i % 2 == 0) {MARK}\n        y[i] = a * shared[i % 256] + y[i];\n    else\n"
        "        y[i] = a * x[i] + y[i];\n}\n"
    )
    found = covered(HEAD + SIGNATURE + body, 1024)
    assert {"N=1024": 512} in counts_at(found, 11, "true")


@pytest.mark.parametrize(
    ("source", "reason"), [("kernel void", "doesn't compile"), ("", "the source defines no kernel")]
)
def test_what_can_not_be_counted_says_why(source: str, reason: str) -> None:
    found = coverage(BENCH, SAXPY, source, [at(1024)])
    assert found.arms == ()
    assert reason in found.reason


def test_counting_changes_no_output(toolchain: _core.Toolchain) -> None:
    source = PLANTED[0].source
    plan = SAXPY.plan(at(1024), SAXPY.inputs(at(1024)), {"saxpy": 1024})
    with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
        made = worker.intermediate(source)
        counting = with_counters(read_module(made.program))
        plain, _ = worker.compile(source, checked=True)
        counted, report = worker.compile(source, checked=True, counting=counting.text, counters=counting.counters)
        assert report.compile_ok
        outputs = []
        for library in (plain, counted):
            execution = worker.prepare(library, bridge.plan(plan), threads=1)
            worker.run(execution)
            outputs.append(bridge.read_outputs(worker, execution, plan)["y"])
        np.testing.assert_allclose(outputs[0], outputs[1], rtol=1e-5)
        first = worker.take_counts(counted)
        assert first.size == counting.counters
        assert first.sum() > 0
        assert worker.take_counts(counted).sum() == 0
        assert worker.take_counts(plain).size == 0
