"""The benchmarks still run, and compare the right things. PoCL isn't needed."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Argument, Task

BENCH = Path(__file__).resolve().parents[2] / "bench"

QUICK = {
    "throughput.py": ["--pairs", "2", "--task", "saxpy", "--scale", "small"],
    "overhead.py": ["--pairs", "2"],
    "compile.py": ["--pairs", "1", "--task", "saxpy", "--samples", "0"],
}
if sys.platform == "linux":
    QUICK["memory.py"] = ["--pairs", "1", "--task", "nbody"]


@pytest.fixture
def throughput(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("throughput")


@pytest.fixture
def peers(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("peers")


def run(name: str, *options: str) -> str:
    command = [
        sys.executable,
        str(BENCH / name),
        *QUICK[name],
        "--pairs",
        "2",
        "--cores",
        "1",
        "--without-pocl",
        *options,
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("name", QUICK)
def test_without_a_peer_the_figures_are_kfps_own(name: str) -> None:
    answer = json.loads(run(name, "--json"))
    assert answer["ratio"] is None
    assert answer["peer"] is None
    assert answer["why_no_peer"] == "as asked for"
    assert answer["rows"]
    for row in answer["rows"]:
        assert row["ours"]
        assert all(sample > 0 for sample in row["ours"])
        assert row["pocl"] == []


def test_first_compilations_are_told_from_those_beside_a_loaded_compiler() -> None:
    answer = json.loads(run("compile.py", "--json"))
    assert answer["ratio_of"] == "kfp's time over PoCL's, fresh processes"
    assert [row["name"] for row in answer["rows"]] == ["saxpy, first result"]
    loaded = answer["pocl_loaded"]
    assert loaded["ratio"] is None
    assert [row["name"] for row in loaded["rows"]] == ["saxpy, PoCL loaded"]
    assert all(sample > 0 for row in loaded["rows"] for sample in row["ours"])


def test_a_fresh_process_that_fails_ends_the_bench_in_its_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    first_result = importlib.import_module("first_result")
    with pytest.raises(SystemExit, match=r"^saxpy on kfp: expected 4096 cores, this process may use \d+$"):
        first_result.in_fresh_process("kfp", get_task("saxpy"), "auto", 4096)


def test_a_table_says_that_it_has_no_peer_within_80_columns() -> None:
    lines = run("throughput.py").splitlines()
    assert "kfp alone: as asked for" in lines
    assert max(map(len, lines)) <= 80


COMMANDS = sorted(file.name for file in BENCH.glob("*.py") if "__main__" in file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_refused_in_words(name: str) -> None:
    refused(name, "--nonsense")


@pytest.mark.parametrize("name", ["throughput.py", "compile.py", "noise.py", "audit.py"])
def test_an_unknown_device_is_refused_in_words(name: str) -> None:
    error = refused(name, "--device", "gpu")
    assert "error: argument --device: unknown device 'gpu'" in error


def refused(name: str, *options: str) -> str:
    done = subprocess.run([sys.executable, str(BENCH / name), *options], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2, done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("options", [("--task", "saxpi"), ("--pairs", "0"), ("--cores", "-1")], ids=" ".join)
def test_bad_options_are_refused_in_words(options: tuple[str, str]) -> None:
    error = refused("throughput.py", *options)
    assert f"error: argument {options[0]}: " in error


def test_a_missing_peer_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pyopencl.py").write_text("raise ImportError('not here')\n")
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in ("pyopencl", "pocl"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    for name in ("POCL_MAX_PTHREAD_COUNT", "POCL_CACHE_DIR", "PYOPENCL_NO_CACHE"):
        monkeypatch.setenv(name, "")
    pocl = importlib.import_module("pocl")
    with pytest.raises(pocl.Missing, match=r"no pyopencl \(not here\); bench/install_pocl.sh installs it"):
        pocl.Pocl(2)


def test_a_cost_is_ours_over_theirs_and_a_speed_theirs_over_ours(peers: ModuleType) -> None:
    cost = peers.cost("cost", lambda: 3.0, lambda: 2.0, 8).interval
    speed = peers.speed("speed", lambda: 3.0, lambda: 2.0, 8).interval
    assert (cost.ratio, cost.lower, cost.upper) == pytest.approx((1.5, 1.5, 1.5))
    assert (speed.ratio, speed.lower, speed.upper) == pytest.approx((2 / 3, 2 / 3, 2 / 3))


def test_arms_alternate_in_blocks_of_either_order(peers: ModuleType) -> None:
    calls: list[str] = []

    def arm(name: str, seconds: float) -> float:
        calls.append(name)
        return seconds

    ours, theirs = peers.in_pairs(lambda: arm("A", 1.0), lambda: arm("B", 2.0), 40)
    assert (list(ours), list(theirs)) == ([1.0] * 40, [2.0] * 40)
    blocks = {"".join(calls[start : start + 4]) for start in range(2, len(calls), 4)}
    assert blocks == {"ABBA", "BAAB"}


def test_what_the_task_calls_wrong_is_not_timed(throughput: ModuleType) -> None:
    task = get_task("saxpy")
    configuration = task.configurations("small")[0]
    inputs = task.inputs(configuration)
    expected = task.reference(configuration, inputs)
    throughput.require_right("PoCL", task, configuration, inputs, expected, expected)
    wrong = {"y": np.nextafter(expected["y"], np.float32(np.inf)) + np.float32(0.1)}
    with pytest.raises(SystemExit, match=r"^saxpy, N=1024, a=2\.5: wrong on PoCL: "):
        throughput.require_right("PoCL", task, configuration, inputs, wrong, expected)


def opencl_parameter(argument: Argument) -> str:
    if argument.access == "constant":
        return f"{argument.dtype} {argument.name}"
    return f"global {'const ' if argument.access == 'read' else ''}{argument.dtype}* {argument.name}"


@pytest.mark.parametrize("task", all_tasks("sci"), ids=lambda task: task.name)
def test_translations_have_the_kernels_and_arguments_of_the_contract(task: Task) -> None:
    source = (BENCH / "opencl" / f"{task.name}.cl").read_text(encoding="utf-8")
    declared = {
        name: [" ".join(parameter.split()) for parameter in parameters.split(",")]
        for name, parameters in re.findall(r"^kernel void (\w+)\(([^)]*)\)", source, flags=re.MULTILINE)
    }
    assert declared == {
        kernel.name: [opencl_parameter(argument) for argument in kernel.arguments] for kernel in task.kernels
    }
    assert [[argument.index for argument in kernel.arguments] for kernel in task.kernels] == [
        list(range(len(kernel.arguments))) for kernel in task.kernels
    ]


def test_memory_is_measured_on_linux_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCH))
    memory = importlib.import_module("memory")
    monkeypatch.setattr(sys, "argv", ["memory.py", "--without-pocl"])
    monkeypatch.setattr(sys, "platform", "darwin")
    with pytest.raises(SystemExit, match="/proc: Linux only"):
        memory.main()
