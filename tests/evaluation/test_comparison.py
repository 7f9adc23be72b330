"""Two kernels in real workers: right, wrong, slow, and those that would cheat a timing."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kfp import Comparison, Configuration, Limits, Policy, UsageError, _core, bridge, compare, machine
from kfp.comparing import compare_compiled, compile_instruments
from kfp.compiling import Compilation, compile_source
from kfp.plan import Dispatch, Plan, blank, given
from kfp.tasks.base import Argument, Arrays, Check, Kernel, Scale, Task, max_abs_check
from kfp.timing.looks import RACE
from kfp.timing.results import ConfigurationComparison
from kfp.timing.statistics import over_processes
from kfp.timing.tables import WIDTH

N = 1024
QUICK = Policy(seconds=0.1, long_seconds=0.5, most_pairs=16, warm_up_seconds=0.05)


class Doubled(Task):
    """y = 2x in one threadgroup; ``memory`` is a state that a kernel may write and nobody checks."""

    name, suite, title = "doubled", "tests", "Doubled"
    regime, unit = "bandwidth", "GB/s"
    kernels = (
        Kernel(
            "doubled",
            (
                Argument(0, "x", "float", "read"),
                Argument(1, "y", "float", "write"),
                Argument(2, "memory", "uint", "read_write"),
            ),
            (256, 1, 1),
        ),
    )
    brief = "y[i] = 2 x[i]"

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return (Configuration("n=1024", {"n": N}, scale=scale), Configuration("n=256", {"n": 256}, scale=scale))

    def published_held_out(self, scale: Scale) -> Configuration:
        return Configuration("n=512", {"n": 512}, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        return Configuration("drawn", {"n": 256 * int(rng.integers(1, 4))}, "drawn", scale)

    def inputs(self, configuration: Configuration) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(configuration.seed)
        return {"x": rng.random(configuration.integer("n"), dtype=np.float32)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: dict[str, int]) -> Plan:
        n = configuration.integer("n")
        memory = np.zeros(16, dtype=np.uint32)
        return Plan(
            (given("x", inputs["x"]), blank("y", (n,), np.float32), given("memory", memory, "state")),
            (Dispatch("doubled", {0: "x", 1: "y", 2: "memory"}, (n, 1, 1), (256, 1, 1)),),
            {"y": "y"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, np.ndarray]:
        return {"y": 2.0 * inputs["x"].astype(np.float64)}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return max_abs_check(outputs["y"], expected["y"], absolute=1e-6, relative=1e-6)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[()]:
        return ()


def kernel(body: str) -> str:
    return f"""#include <metal_stdlib>
using namespace metal;
kernel void doubled(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    device uint* memory [[buffer(2)]], uint i [[thread_position_in_grid]]) {{
    {body}
}}
"""


PLAIN = kernel("y[i] = 2.0f * x[i];")
# A chain that no compiler shortens; it adds nothing that a tolerance would see.
SLOW = kernel(
    "float sum = x[i];\n    for (uint k = 0; k < 20000u; ++k) sum = fma(sum, 0.99f, 1e-3f * x[k & 15u]);\n"
    "    y[i] = 2.0f * x[i] + 1e-20f * sum;"
)
# Threadgroup memory that is never written at first keeps what the last run left there.
COUNTING = (
    "threadgroup uint calls[1];\n    if (i == 0) calls[0] = min(calls[0], 1000000u) + 1u;\n"
    "    threadgroup_barrier(mem_flags::mem_threadgroup);\n    "
)
SLOWER_WITH_EVERY_CALL = kernel(
    "if (i == 0) memory[0] += 1u;\n    threadgroup_barrier(mem_flags::mem_device);\n"
    "    float sum = x[i];\n    for (uint k = 0; k < 2000u * (memory[0] - 1u); ++k) sum = fma(sum, 0.99f, 1e-3f);\n"
    "    y[i] = 2.0f * x[i] + 1e-20f * sum;"
)
FASTER_WHEN_REPEATED = kernel(
    "float sum = x[i];\n    uint steps = memory[0] == 7u ? 0u : 2000u;\n"
    "    threadgroup_barrier(mem_flags::mem_device);\n"
    "    for (uint k = 0; k < steps; ++k) sum = fma(sum, 0.99f, 1e-3f);\n"
    "    y[i] = 2.0f * x[i] + 1e-20f * sum;\n    if (i == 0) memory[0] = 7u;"
)

ONE = (Doubled().configurations("small")[1],)


def compared(candidate: str, reference: str = PLAIN, **options: object) -> Comparison:
    arguments = {"device": "cpu", "scale": "small", "policy": QUICK, "configurations": ONE, **options}
    result = compare(Doubled(), candidate, reference, **arguments)  # type: ignore[arg-type]
    assert Comparison.from_json(json.loads(json.dumps(result.to_json(), allow_nan=False))) == result
    assert all(len(line) <= WIDTH for line in str(result).splitlines())
    return result


def test_a_kernel_against_itself():
    result = compared(PLAIN, configurations=None, seed=5)
    assert result.compared, str(result)
    assert [row.label for row in result.configurations] == ["n=1024", "n=256"]
    for row in result.configurations:
        (series,) = row.processes
        assert row.verdict in ("win", "no change", "regression", "undecided")
        assert row.interval is not None
        assert row.interval.lower <= row.interval.ratio <= row.interval.upper
        assert len(series.reference) == len(series.candidate) == series.order.count("A") == series.order.count("B")
        assert len(series.reference) == series.pairs + series.drops == row.pairs + row.drops
        assert {series.order[i : i + 4] for i in range(0, len(series.order), 4)} <= {"ABBA", "BAAB"}
        # A sentinel before every block and one behind the last, of every crossing.
        assert len(series.sentinels) == len(series.order) // 4 + series.looks
        assert series.repeats > 1
        assert min(*series.reference, *series.candidate, *series.sentinels, series.empty_dispatch_seconds) > 0
        assert row.margin == max(0.01, row.aa_floor or 0.0)
    assert result.reference_sha256 == result.candidate_sha256
    assert result.reference_name == "the given source"


def test_a_seed_gives_its_order_every_time():
    orders = []
    for seed in (1, 1, 2):
        (row,) = compared(PLAIN, seed=seed, configurations=ONE).configurations
        orders.append((row.processes[0].order_seed, row.processes[0].order[:16]))
    assert orders[0] == orders[1]
    assert orders[0][0] != orders[2][0]


def test_much_more_work_is_a_regression_and_the_other_way_round_a_win():
    slow = compared(SLOW)
    assert slow.verdict == "regression", str(slow)
    assert slow.interval is not None
    assert slow.interval.upper < 0.5
    assert slow.configurations[0].processes[0].looks == 1
    fast = compared(PLAIN, SLOW)
    assert fast.verdict == "win", str(fast)
    assert "win: " in str(fast)


def test_cold_runs_all_start_from_a_reset():
    result = compared(PLAIN, cache="cold")
    assert result.compared, str(result)
    assert result.cache == "cold"
    assert "cold cache" in str(result).replace("\n", " ")


@pytest.mark.parametrize("doubts", [True, False])
def test_a_doubt_calls_for_as_many_processes_again(doubts: bool) -> None:
    seen = list[int]()

    def in_doubt(rows: Sequence[ConfigurationComparison]) -> bool:
        seen.extend(len(row.processes) for row in rows)
        return doubts

    (row,) = compared(PLAIN, SLOW, grade="claim", processes=3, in_doubt=in_doubt).configurations
    assert seen == [3]
    assert len({series.order_seed for series in row.processes}) == len(row.processes) == (6 if doubts else 3)
    assert row.pairs == sum(series.pairs for series in row.processes)


def test_a_claim_measures_in_fresh_processes():
    result = compared(PLAIN, SLOW, grade="claim", processes=3)
    assert result.verdict == "win", str(result)
    (row,) = result.configurations
    assert len(row.processes) == 3
    assert len({series.order_seed for series in row.processes}) == 3
    assert row.pairs == sum(series.pairs for series in row.processes)
    # A process whose own interval is wide may lie outside of what all say together.
    assert row.interval == over_processes([series.interval for series in row.processes])
    assert "3 fresh processes" in str(result).replace("\n", " ")


@pytest.mark.parametrize(
    ("candidate", "verdict", "words"),
    [
        (kernel("y[i] = 3.0f * x[i];"), "wrong", "256 of 256 elements differ"),
        (kernel(""), "wrong", "elements differ"),
        (kernel("y[i] = 2.0f * z[i];"), "compile error", "undeclared identifier 'z'"),
        (PLAIN.replace("doubled(", "tripled("), "pipeline error", "doubled"),
        (kernel("while (true) y[i] += 1.0f;"), "timeout", "stopped after 2 s"),
        (kernel("y[i + 1000000000u] = 2.0f * x[i];"), "fault", "wrote"),
        (
            kernel(COUNTING + "y[i] = calls[0] % 10u == 1u ? 2.0f * x[i] : 0.0f;"),
            "wrong",
            "right when run first, wrong in a later run",
        ),
        (
            kernel(COUNTING + "y[i] = calls[0] < 12u ? 2.0f * x[i] : 0.0f;"),
            "wrong",
            "right when run first, wrong in a later run",
        ),
        (SLOWER_WITH_EVERY_CALL, "unstable", "it slows down with every call"),
    ],
    ids=["wrong", "at once", "typo", "other name", "endless", "stray", "once in ten", "while watched", "slower"],
)
def test_what_cannot_be_compared_has_a_name(candidate: str, verdict: str, words: str):
    result = compared(candidate, limits=Limits(run_seconds=2.0))
    assert (result.verdict, result.interval) == (verdict, None)
    assert words in result.reason, result.reason
    assert words in str(result).replace("\n", " ")
    assert result.summary().startswith("doubled on cpu against the given source: ")


def test_one_that_is_faster_only_when_repeated_is_held_to_its_single_runs():
    result = compared(FASTER_WHEN_REPEATED)
    assert result.verdict == "regression", str(result)
    assert any("faster when it is repeated without a reset" in flag for flag in result.configurations[0].flags)


def test_a_reference_that_is_not_right_is_not_the_candidates_fault():
    result = compared(PLAIN, kernel("y[i] = x[i];"))
    assert result.verdict == "reference"
    assert "the reference: wrong" in result.reason
    result = compared(PLAIN, "kernel void")
    assert result.verdict == "reference"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"grade": "final"}, "grade: expected one of"),
        ({"cache": "hot"}, "cache: expected one of"),
        ({"scale": "huge"}, "scale: expected one of"),
        ({"grade": "claim", "processes": 2}, "processes: expected at least 3"),
        ({"processes": 0}, "processes: expected at least 1"),
        ({"configurations": ()}, "configurations: expected at least one"),
    ],
)
def test_wrong_calls(options: dict[str, object], words: str):
    with pytest.raises(UsageError, match=words):
        compared(PLAIN, **options)


def compiled(worker: _core.Worker, source: str) -> Compilation:
    compilation = compile_source(worker, machine.resolve("cpu"), source, math="fast")
    assert compilation.ok
    return compilation


def test_a_race_in_a_worker_that_the_caller_owns():
    """What a search does: compile both, compare one configuration after the other, stop when it has seen enough."""
    with machine.open_worker(machine.resolve("cpu"), Limits()) as worker:
        instruments = compile_instruments(worker)
        reference, candidate = compiled(worker, PLAIN), compiled(worker, SLOW)
        policy = replace(RACE, seconds=0.1, long_seconds=0.5, warm_up_seconds=0.05)
        task = Doubled()
        begun: list[str] = []
        rows = compare_compiled(
            worker, instruments, task, task.configurations("small"), reference, candidate, policy=policy,
            progress=lambda stage, configuration: begun.append(configuration.label),
        )  # fmt: skip
        first = next(rows)
        rows.close()
        # On a busy machine a race may stay open, but a kernel that is slower never wins it.
        assert first.verdict not in ("win", "no change")
        assert (first.label, set(begun), worker.closed) == ("n=1024", {"n=1024"}, False)


def test_both_arms_read_and_write_the_same_memory():
    with machine.open_worker(machine.resolve("cpu"), Limits()) as worker:
        library = compiled(worker, PLAIN).library
        assert library is not None
        task = Doubled()
        plan = bridge.plan(task.plan(ONE[0], task.inputs(ONE[0]), {}))
        one = worker.prepare(library, plan)
        two = worker.prepare(library, plan, shares=one)
        worker.run(two)
        assert worker.read(one, 1).tolist() == worker.read(two, 1).tolist()
        with pytest.raises(_core.PlanError, match="execution 7"):
            worker.prepare(library, plan, shares=7)
        other = bridge.plan(task.plan(Configuration("", {"n": 512}), {"x": np.zeros(512, np.float32)}, {}))
        with pytest.raises(_core.PlanError, match="another size or role"):
            worker.prepare(library, other, shares=one)


@pytest.mark.parametrize(("candidate", "code", "verdict"), [("", 0, ("win", "no change")), ("wrong", 1, ("wrong",))])
def test_command_line(candidate: str, code: int, verdict: tuple[str, ...], tmp_path: Path):
    from kfp.sources import seed_source
    from kfp.tasks import get_task

    seed = seed_source(get_task("saxpy"))
    # Work that a compiler can't drop, so that the seed is faster whatever the machine does meanwhile.
    slow = seed.replace(
        "y[i] = a * x[i] + y[i];",
        "float sum = x[i]; for (uint k = 0; k < 200u; ++k) sum = fma(sum, 0.99f, 1e-3f * x[k & 15u]);\n"
        "    y[i] = a * x[i] + y[i] + 1e-20f * sum;",
    )
    assert slow != seed
    (tmp_path / "slow.metal").write_text(slow)
    (tmp_path / "wrong.metal").write_text(seed.replace("a * x[i]", "x[i]"))
    arguments = ["-", "slow.metal"] if code == 0 else ["wrong.metal"]
    process = subprocess.run(
        [sys.executable, "-m", "kfp", "compare", "saxpy", *arguments, "--scale", "small", "--device", "cpu", "--json"],
        cwd=tmp_path,
        input=seed,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert process.returncode == code, process.stderr + process.stdout[:500]
    result = Comparison.from_json(json.loads(process.stdout))
    assert result.verdict in verdict
