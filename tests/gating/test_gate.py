"""Gates of planted kernels on a real device: what each must come out as, records that replay, kills, hidden draws."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import get_args

import pytest
from kfp import Gate, Policy, Progress, UsageError, evaluate, gate, machine
from kfp.errors import RunError
from kfp.gating.draws import draw_all, seed_text
from kfp.gating.trials import Bench, try_all
from kfp.limits import Limits
from kfp.progress import silent
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Task
from kfp.timing.looks import PairVerdict
from planted import KINDS, RECIPES, Kind, every_task, planted, reference

QUICK = Policy(seconds=0.06, long_seconds=0.4, half_width=0.05, most_pairs=16, warm_up_seconds=0.05)

RIGHT_VERDICTS: dict[Kind, tuple[str, ...]] = {
    # Undecided: where a machine is too noisy, or has no head-room.
    "honest": ("transfers", "undecided"),
    "tuned arm": ("does not transfer",),
    "unmeasured arm": ("wrong",),
    "baked constant": ("wrong",),
    "enumerating": ("wrong",),
}


def gated(task: Task, kind: Kind, seed: int, **others: object) -> Gate:
    return gate(
        task, planted(task, kind), reference=reference(task), device="cpu", scale="small", seed=seed, processes=3,
        policy=QUICK, **others,  # type: ignore[arg-type]
    )  # fmt: skip


def trials_of(task: Task, source: str, seed: int, count: int = 32) -> list[str]:
    """Verdicts of the untimed draws that count."""
    draws = draw_all(task, "small", seed, source, 3, count)
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    return [trial.verdict for trial in try_all(bench, task, source, draws.untimed, silent) if trial.counts]


def test_an_honest_gain_is_not_held_against_its_kernel() -> None:
    """One gate, looked at from all sides, since it takes long."""
    task = get_task("heat2d")
    honest = gated(task, "honest", 1, claimed=30.0)
    assert honest.verdict in RIGHT_VERDICTS["honest"], honest.reason
    assert not honest.wrong
    assert [row.origin for row in honest.held_out] == ["published_held_out", "drawn", "drawn", "drawn"]
    assert sum(trial.counts for trial in honest.trials) >= 32
    assert sum(trial.checked for trial in honest.trials) == 5
    record = Gate.from_json(json.loads(json.dumps(honest.to_json(), allow_nan=False)))
    assert record == honest
    require_replay(record, task)
    if honest.held_out_gain is not None:
        assert honest.overstatement == pytest.approx(30.0 / honest.held_out_gain)
    text = str(honest)
    assert max(map(len, text.splitlines())) <= 80
    assert "the search had said 30.0" in text
    assert honest.gate_seed in text


def require_replay(record: Gate, task: Task) -> None:
    """The record's seed and the source give the very same draws."""
    draws = draw_all(task, record.scale, int(record.gate_seed, 0), planted(task, "honest"), 3, 32)
    timed = [row for row in record.held_out if row.origin == "drawn"]
    assert [(row.label, row.seed, row.law) for row in timed] == [
        (drawn.configuration.label, drawn.configuration.seed, drawn.variation.law) for drawn in draws.timed
    ]
    untimed = [(trial.label, trial.seed, trial.padding) for trial in record.trials if not trial.checked]
    assert untimed == [(d.configuration.label, d.configuration.seed, d.variation.padding) for d in draws.untimed]


def test_a_tuned_arm_with_a_slow_rest_gains_nothing_where_it_is_held_out() -> None:
    found = gated(get_task("heat2d"), "tuned arm", 2)
    assert found.verdict not in ("transfers", "wrong"), found.reason
    assert all(row.standing in ("below", "unmeasured") for row in found.held_out)


def test_an_enumerating_kernel_passes_the_published_point_and_fails_the_draws() -> None:
    found = gated(get_task("saxpy"), "enumerating", 3)
    assert found.verdict == "wrong"
    assert found.phi == 0.0
    (published,) = found.held_out
    assert published.origin == "published_held_out"
    assert published.standing != "wrong"
    assert "expected" in found.reason
    assert len(found.wrong) > 30


@pytest.mark.parametrize(("name", "kind"), [("nbody", "baked constant"), ("gradshaf", "unmeasured arm")])
def test_wrong_arms_are_found_by_untimed_draws(name: str, kind: Kind) -> None:
    task = get_task(name)
    source = planted(task, kind)
    assert evaluate(task, source, device="cpu", scale="small", seed=4).correct
    verdicts = trials_of(task, source, 4)
    assert verdicts.count("wrong") > len(verdicts) / 2


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        # A column, a plane and an element by too few bits; a table for what full scale measures at most.
        ("lbm", "uint i = (gid.x + NX", "uchar i = (gid.x + NX"),
        ("wave3d", "gid.z * plane", "(gid.z & 255u) * plane"),
        ("saxpy", "if (i >= N) return;", "if (i >= N) return;\n    i &= 0x7FFFFu;"),
        ("adi3d", "MAX_LENGTH = 512;", "MAX_LENGTH = 128;"),
    ],
)
def test_what_is_wrong_far_beyond_the_measured_sizes_is_found(name: str, old: str, new: str) -> None:
    task = get_task(name)
    source = seed_source(task).replace(old, new)
    assert source != seed_source(task)
    verdicts = trials_of(task, source, 4)
    assert set(verdicts[:32]) == {"right"}
    assert set(verdicts[32:]) & {"wrong", "fault"}


PLANTED = [
    pytest.param(task, kind, id=f"{task.name}-{kind}")
    for task in every_task()
    for kind in KINDS
    # A menu can be enumerated, as the task says of itself.
    if not (kind == "enumerating" and task.weak_axis)
]


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize(("task", "kind"), PLANTED)
def test_every_planted_kernel_gets_its_verdict(task: Task, kind: Kind, seed: int) -> None:
    found = gated(task, kind, seed)
    assert found.in_distribution.verdict in (*get_args(PairVerdict), "unstable"), found.reason
    assert found.verdict in RIGHT_VERDICTS[kind], found.reason


@pytest.mark.full
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", [name for name in RECIPES if not get_task(name).weak_axis])
def test_enumerating_kernels_fail_the_draws(name: str, seed: int) -> None:
    task = get_task(name)
    assert "wrong" in trials_of(task, planted(task, "enumerating"), seed)


def test_a_kernel_that_does_not_compile_is_wrong_and_the_reason_is_there() -> None:
    found = gate("saxpy", "kernel void saxpy() { nonsense }", device="cpu", scale="small", seed=0)
    assert (found.verdict, found.phi, found.held_out) == ("wrong", 0.0, ())
    assert "nonsense" in found.reason
    assert Gate.from_json(found.to_json()) == found


def test_a_kernel_that_crashes_ends_nothing_but_itself() -> None:
    source = planted(get_task("saxpy"), "honest").replace(
        "y[i] = a", "if (N == 1u) { for (;;) {} }\n    y[i + 1000000000u] = a"
    )
    found = gate("saxpy", source, device="cpu", scale="small", seed=0)
    assert found.verdict == "wrong"
    assert {trial.verdict for trial in found.trials if trial.counts} & {"crash", "fault", "timeout"}


# A thread group's shape that a kernel relies on, as its contract allows.
ASSUMES_256 = """
#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]], constant uint& N [[buffer(3)]],
                  uint group [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
    uint i = 256u * group + t;
    if (i < N) y[i] = a * x[i] + y[i];
}
"""


def test_relying_on_the_threadgroup_of_the_contract_is_told_not_punished() -> None:
    draws = draw_all(get_task("saxpy"), "small", 5, ASSUMES_256, 3, 32)
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    trials = try_all(bench, get_task("saxpy"), ASSUMES_256, draws.untimed, silent)
    assert {trial.verdict for trial in trials if trial.counts} == {"right"}
    assert {trial.verdict for trial in trials if trial.narrowing} == {"wrong"}


def test_threads_beyond_the_work_must_do_nothing() -> None:
    """Right wherever the grid is rounded up, and for no larger grid."""
    source = planted(get_task("saxpy"), "honest").replace(
        "if (i >= N) return;", "if (i >= ((N + 255u) & ~255u)) { y[0] = 1.0e6f; return; }\n    if (i >= N) return;"
    )
    draws = draw_all(get_task("saxpy"), "small", 6, source, 3, 32)
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    trials = try_all(bench, get_task("saxpy"), source, draws.untimed, silent)
    assert {bool(trial.padding) for trial in trials if trial.verdict == "wrong"} == {True}


RESUMED = """
import sys
sys.path.insert(0, sys.argv[2])
from test_gate import gated, get_task
print(gated(get_task("saxpy"), "enumerating", 7, out=sys.argv[1]).verdict)
"""


def test_a_gate_that_is_killed_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "gate"
    arguments = [sys.executable, "-c", RESUMED, str(folder), str(Path(__file__).parent)]
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 100
    while not (folder / "trials.json").is_file():
        assert process.poll() is None, process.stderr.read() if process.stderr else ""
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not (folder / "result.json").exists()
    before = (folder / "trials.json").stat().st_mtime_ns
    again = subprocess.run(arguments, capture_output=True, text=True, timeout=100, check=True)
    assert again.stdout.strip() == "wrong"
    assert (folder / "trials.json").stat().st_mtime_ns == before
    # Finished: the record is the answer, whatever the seed would be now.
    task = get_task("saxpy")
    known = Gate.from_json(json.loads((folder / "result.json").read_text()))
    assert gated(task, "enumerating", 7, out=folder) == known
    assert known.gate_seed == seed_text(7)
    with pytest.raises(RunError, match="another gate: its source_sha256"):
        gated(task, "honest", 7, out=folder)
    with pytest.raises(UsageError, match="another seed"):
        gated(task, "enumerating", 8, out=folder)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")
def test_the_candidates_process_knows_nothing_of_other_draws() -> None:
    """Its memory while it runs holds neither seed nor commitment, nor a value or label of a draw that is to come."""
    task = get_task("saxpy")
    source = planted(task, "honest")
    seed = 0x5EED_CA9A_41E5_0000_1234_5678_9ABC_DEF0
    draws = draw_all(task, "small", seed, source, 3, 32)
    secrets = [seed_text(seed)[2:].encode(), seed.to_bytes(16, "little"), seed.to_bytes(16, "big")]
    secrets += [drawn.configuration.label.encode() for drawn in (*draws.timed, *draws.untimed)]
    found: list[bytes] = []
    scanned: list[int] = []
    denied: list[int] = []

    def scan(progress: Progress) -> None:
        if progress.number not in (3, 20):
            return
        for pid in _children():
            try:
                memory = _memory(pid)
            except PermissionError:
                # Nobody but root looks into a confined process at all.
                assert os.geteuid() != 0
                denied.append(pid)
                continue
            scanned.append(len(memory))
            # What the scan itself would find if it looked at the right place.
            assert b"thread_position_in_grid" in memory or b"saxpy" in memory
            found.extend(secret for secret in secrets if secret in memory)

    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    try_all(bench, task, source, draws.untimed, scan)
    assert len(scanned) + len(denied) >= 2
    assert min(scanned, default=1 << 20) > 1 << 16
    assert not found


def _children() -> list[int]:
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] != "Z":
            parents[int(status.parent.name)] = int(fields[1])
    family = {os.getpid()}
    for _ in range(4):
        family |= {pid for pid, parent in parents.items() if parent in family}
    return sorted(family - {os.getpid()})


def _memory(pid: int) -> bytes:
    """Everything that the process can write, and so whatever anyone could have put there."""
    parts = []
    with Path(f"/proc/{pid}/mem").open("rb", buffering=0) as memory:
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            span, rights = line.split()[:2]
            start, end = (int(bound, 16) for bound in span.split("-"))
            if "rw" not in rights or end - start > 1 << 28:
                continue
            try:
                memory.seek(start)
                parts.append(memory.read(end - start))
            except OSError:
                continue
    parts += [Path(f"/proc/{pid}/{name}").read_bytes() for name in ("environ", "cmdline")]
    return b"".join(parts)


def test_wrong_calls_are_refused() -> None:
    for arguments, message in (
        ({"draws": 2}, "draws: expected at least 3"),
        ({"untimed": 8}, "untimed"),
        ({"seed": -1}, "seed"),
        ({"seed": 1 << 200}, "seed"),
        ({"threshold": 0.0}, "threshold"),
        ({"claimed": float("nan")}, "claimed"),
        ({"processes": 1}, "processes"),
        ({"scale": "tiny"}, "scale"),
    ):
        with pytest.raises(UsageError, match=message):
            gate("saxpy", "kernel void saxpy() {}", device="cpu", **arguments)  # type: ignore[arg-type]


def command(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    process = [sys.executable, "-m", "kfp", "gate", *arguments, "--device", "cpu", "--scale", "small"]
    return subprocess.run(process, cwd=cwd, capture_output=True, text=True, timeout=100, check=False)


def test_command_line(tmp_path: Path) -> None:
    (tmp_path / "bad.metal").write_text("kernel void saxpy() { nonsense }")
    told = command("saxpy", "bad.metal", "--json", "--seed", "0xff", cwd=tmp_path)
    assert told.returncode == 1, told.stderr
    record = Gate.from_json(json.loads(told.stdout))
    assert (record.verdict, int(record.gate_seed, 0)) == ("wrong", 255)
    for arguments in (("saxpy", "none.metal"), ("saxpy", "bad.metal", "--seed", "abc")):
        refused = command(*arguments, cwd=tmp_path)
        assert refused.returncode == 2
        assert "Traceback" not in refused.stderr
        assert refused.stderr.startswith("kfp: ")


SLOW_TASK = """
from kfp.tasks.sci.saxpy import Saxpy

class Slow(Saxpy):
    name = "slow"
"""


@pytest.mark.full
def test_only_a_transfer_exits_with_0(tmp_path: Path) -> None:
    """A task of one's own, whose seed has a burden."""
    (tmp_path / "slow.py").write_text(SLOW_TASK)
    (tmp_path / "slow.metal").write_text(reference(get_task("saxpy")))
    (tmp_path / "honest.metal").write_text(planted(get_task("saxpy"), "honest"))
    assert command("slow.py:Slow", "honest.metal", cwd=tmp_path).returncode == 0
    assert command("slow.py:Slow", "slow.metal", cwd=tmp_path).returncode == 1


@pytest.mark.parametrize("name", ["saxpy", "heat2d", "goldilocks_ntt"])
def test_seeds_are_right_on_every_untimed_draw(name: str) -> None:
    assert set(trials_of(get_task(name), seed_source(get_task(name)), 11)) == {"right"}


@pytest.mark.full
@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_seeds_are_right_on_very_many_untimed_draws(task: Task) -> None:
    for seed in range(2):
        assert set(trials_of(task, seed_source(task), seed, 1000)) == {"right"}
