"""The Metal backend at work on the stand-in: right results, named refusals, nothing leaked, no sanitizer report."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kfp.plan import Dispatch, Plan, ThreadgroupMemory, blank, given
from kfp.tasks import all_tasks
from kfp.tasks.base import Configuration, Task
from standin import ROOT, Report, drive

pytestmark = pytest.mark.slow

TASKS = {task.name: task for task in all_tasks()}
CASES = [
    (task, configuration)
    for task in TASKS.values()
    # One of every zk task: their kernels differ in arithmetic, which is not the backend's, and take long.
    for configuration in (*task.configurations("small")[: task.suite == "sci"], task.published_held_out("small"))
]
COMPILED, REFUSED_SOURCE, REFUSED_PIPELINE, REFUSED_PLAN, FAILED_RUN, NO_DEVICE = 0, 2, 3, 4, 5, 6

SCALE = """#include <metal_stdlib>
using namespace metal;

kernel void scale(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
    y[i] = a * x[i];
}

kernel void add_one(device float* y [[buffer(1)]], uint i [[thread_position_in_grid]]) { y[i] += 1.0f; }
"""
N = 256
X = np.linspace(-1.0, 1.0, N, dtype=np.float32)
SCALE_BY_THREE = Dispatch("scale", {0: "x", 1: "y", 2: np.float32(3.0)}, (N, 1, 1), (64, 1, 1))
SCALED = Plan((given("x", X), blank("y", (N,), np.float32)), (SCALE_BY_THREE,), {"y": "y"})


def seed(task: Task) -> str:
    return (ROOT / "shaders" / task.suite / f"{task.name}.metal").read_text()


def expect_quiet(report: Report, status: int = 0) -> None:
    """A leak, a broken rule and a sanitizer's finding all speak on stderr, and end the program otherwise."""
    assert (report.errors, report.status) == ("", status)


def refusal(report: Report, status: int) -> str:
    expect_quiet(report, status)
    return report.only("refused")


@pytest.mark.parametrize(("task", "configuration"), CASES, ids=lambda value: getattr(value, "name", None))
def test_a_seed_is_right_on_the_metal_backend(task: Task, configuration: Configuration, tmp_path: Path):
    compiled = drive(tmp_path, seed(task))
    expect_quiet(compiled)
    words = [line.split() for line in compiled.lines["kernel"]]
    caps = {name: int(most) for name, most, *_ in words}
    inputs = task.inputs(configuration)
    report = drive(tmp_path, seed(task), task.plan(configuration, inputs, caps))
    expect_quiet(report)
    check = task.check(configuration, inputs, report.outputs, task.reference(configuration, inputs))
    assert check.correct, check.detail


@pytest.mark.parametrize("macos", ["14.0", "15.0", "26.1"])
def test_an_older_macos_is_asked_for_nothing_newer(macos: str, tmp_path: Path):
    report = drive(tmp_path, SCALE, SCALED, macos=macos)
    expect_quiet(report)
    np.testing.assert_array_equal(report.outputs["y"], np.float32(3.0) * X)


def test_times_come_from_the_command_buffer(tmp_path: Path):
    report = drive(tmp_path, SCALE, SCALED)
    for line in report.lines["run"]:
        seconds, start, end, running = line.split()
        assert float(seconds) > 0.0
        assert int(end) > int(start) > 0
        assert running == "0"


def test_repeats_share_one_command_buffer_and_no_reset(tmp_path: Path):
    add_one = Dispatch("add_one", {1: "y"}, (N, 1, 1), (64, 1, 1))
    plan = Plan((given("y", X, "state"),), (add_one, add_one), {"y": "y"})
    report = drive(tmp_path, SCALE, plan, repeats="5")
    expect_quiet(report)
    # Both rounds of the driver start from the initial content.
    np.testing.assert_allclose(report.outputs["y"], X + 10.0, rtol=1e-6)


def test_outputs_and_scratch_start_poisoned(tmp_path: Path):
    buffers = (given("x", X), blank("y", (2 * N,), np.float32))
    report = drive(tmp_path, SCALE, Plan(buffers, (SCALE_BY_THREE,), {"y": "y"}))
    expect_quiet(report)
    assert np.isnan(report.outputs["y"][N:]).all()


def test_buffers_whose_length_is_no_multiple_of_a_word(tmp_path: Path):
    source = (
        "kernel void copy(device const char* a [[buffer(0)]], device char* b [[buffer(1)]], "
        "uint i [[thread_position_in_grid]]) { b[i] = a[i]; }"
    )
    a = np.arange(7, dtype=np.int8)
    copy = Dispatch("copy", {0: "a", 1: "b"}, (7, 1, 1), (7, 1, 1))
    report = drive(tmp_path, source, Plan((given("a", a), blank("b", (7,), np.int8)), (copy,), {"b": "b"}))
    expect_quiet(report)
    np.testing.assert_array_equal(report.outputs["b"], a)


def test_reflection_describes_the_kernels(tmp_path: Path):
    report = drive(tmp_path, SCALE)
    expect_quiet(report)
    assert report.lines["kernel"] == ["add_one 1024 32 0 ", "scale 1024 32 0 "]
    assert report.lines["parameter"] == [
        "add_one 0 1 y float",
        "scale 0 0 x float",
        "scale 0 1 y float",
        "scale 0 2 a float",
    ]


def test_threadgroup_arguments(tmp_path: Path):
    source = """#include <metal_stdlib>
using namespace metal;
kernel void reverse(device float* y [[buffer(1)]], threadgroup float* shared [[threadgroup(0)]],
                    uint i [[thread_position_in_threadgroup]], uint n [[threads_per_threadgroup]]) {
    shared[i] = y[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    y[i] = shared[n - 1 - i];
}
"""
    arguments = {1: "y", 0: ThreadgroupMemory(4 * N)}
    plan = Plan((given("y", X, "state"),), (Dispatch("reverse", arguments, (N, 1, 1), (N, 1, 1)),), {"y": "y"})
    report = drive(tmp_path, source, plan)
    expect_quiet(report)
    np.testing.assert_array_equal(report.outputs["y"], X[::-1])

    arguments = {1: "y", 0: ThreadgroupMemory(65536)}
    plan = replace(plan, dispatches=(Dispatch("reverse", arguments, (N, 1, 1), (N, 1, 1)),))
    assert refusal(drive(tmp_path, source, plan), REFUSED_PIPELINE) == (
        "dispatch 0, kernel 'reverse': 65536 bytes of threadgroup memory are more than this device's 32768"
    )


def test_function_constants(tmp_path: Path):
    source = """#include <metal_stdlib>
using namespace metal;
constant int offset [[function_constant(0)]];
kernel void shift(device int* y [[buffer(0)]], uint i [[thread_position_in_grid]]) { y[i] += offset; }
"""
    start = np.arange(32, dtype=np.int32)
    plan = Plan((given("y", start, "state"),), (Dispatch("shift", {0: "y"}, (32, 1, 1), (32, 1, 1)),), {"y": "y"})
    report = drive(tmp_path, source, plan, constant="7")
    expect_quiet(report)
    np.testing.assert_array_equal(report.outputs["y"], start + 7)


def test_precise_mathematics_on_either_side_of_macos_15(tmp_path: Path):
    for macos in ("14.0", "15.0"):
        report = drive(tmp_path, SCALE, SCALED, math="precise", macos=macos)
        expect_quiet(report)
        np.testing.assert_array_equal(report.outputs["y"], np.float32(3.0) * X)


def test_a_source_that_does_not_compile_has_diagnostics(tmp_path: Path):
    report = drive(tmp_path, SCALE.replace("a * x[i]", "a * z[i]"))
    expect_quiet(report, REFUSED_SOURCE)
    (diagnostic, *_) = report.lines["diagnostic"]
    severity, line, column, message = diagnostic.split(maxsplit=3)
    assert (severity, line, column) == ("2", "6", "16")
    assert "undeclared identifier 'z'" in message


@pytest.mark.parametrize(
    ("source", "line", "message"),
    [
        ("kernel void a() {}\n// \0", 2, "NUL character in the source"),
        ("// \udcff", 0, "the source is not valid UTF-8"),
    ],
)
def test_a_source_that_is_no_text(source: str, line: int, message: str, tmp_path: Path):
    report = drive(tmp_path, source)
    expect_quiet(report, REFUSED_SOURCE)
    severity, at, _, said = report.only("diagnostic").split(maxsplit=3)
    assert (severity, int(at), said) == ("2", line, message)


def test_a_missing_kernel(tmp_path: Path):
    source = SCALE.replace("void scale", "void scald")
    assert refusal(drive(tmp_path, source, SCALED), REFUSED_PIPELINE) == (
        "the source defines no kernel 'scale'; it defines 'add_one', 'scald'"
    )


def test_an_argument_that_the_plan_does_not_bind(tmp_path: Path):
    source = SCALE.replace("[[buffer(2)]]", "[[buffer(5)]]")
    assert refusal(drive(tmp_path, source, SCALED), REFUSED_PIPELINE) == (
        "dispatch 0, kernel 'scale': nothing is bound to argument 'a' at [[buffer(5)]]"
    )


def test_more_threads_than_the_pipeline_takes(tmp_path: Path):
    source = SCALE.replace("kernel void scale", "[[max_total_threads_per_threadgroup(32)]] kernel void scale")
    assert refusal(drive(tmp_path, source, SCALED), REFUSED_PIPELINE) == (
        "dispatch 0, kernel 'scale': 64 threads per threadgroup are more than the pipeline's 32"
    )
    wide = replace(SCALED, dispatches=(replace(SCALE_BY_THREE, grid=(2048, 1, 1), threadgroup=(2048, 1, 1)),))
    assert refusal(drive(tmp_path, SCALE, wide), REFUSED_PIPELINE) == (
        "dispatch 0, kernel 'scale': threadgroup width 2048 is more than this device's 1024"
    )


def test_a_plan_that_is_no_plan(tmp_path: Path):
    empty = replace(SCALED, dispatches=(replace(SCALE_BY_THREE, grid=(0, 1, 1)),))
    assert "(0, 1, 1) has a zero" in refusal(drive(tmp_path, SCALE, empty), REFUSED_PLAN)


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("2", "it ran for too long and was stopped"),
        ("3", "it accessed memory outside of its buffers"),
        ("8", "the device ran out of memory"),
        ("1", "the device reports an error"),
    ],
)
def test_a_failed_command_buffer_names_its_kernels(code: str, reason: str, tmp_path: Path):
    assert refusal(drive(tmp_path, SCALE, SCALED, failing_code=code), FAILED_RUN) == (
        f"kernel 'scale' did not complete: {reason} (the stand-in was told to fail)"
    )


def test_a_paravirtual_device_says_so_and_may_lack_stamps(tmp_path: Path):
    report = drive(tmp_path, SCALE, SCALED, device_name="Apple Paravirtual device", stamps="0")
    expect_quiet(report)
    assert report.only("device") == "1 1 Apple Paravirtual device"
    assert all(float(line.split()[0]) > 0.0 for line in report.lines["run"])


def test_a_real_device_without_stamps_is_an_error(tmp_path: Path):
    assert "expected increasing GPU timestamps" in refusal(drive(tmp_path, SCALE, SCALED, stamps="0"), FAILED_RUN)


def test_checked_mode_is_refused(tmp_path: Path):
    assert refusal(drive(tmp_path, SCALE, SCALED, checked="1"), NO_DEVICE) == (
        "metal: the checked mode runs on the cpu device only"
    )


def test_what_the_device_says_of_itself(tmp_path: Path):
    report = drive(tmp_path, SCALE)
    assert report.only("device") == "1 0 Apple Stand-in"
    assert report.only("driver") == "macOS Version 14.0 (stand-in), applegpu_standin"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"has_device": "0"}, "macOS offers this process no Metal device"),
        ({"macos": "13.6"}, "expected macOS 14 or later, this is Version 13.6 (stand-in)"),
    ],
)
def test_a_machine_without_metal_says_why(options: dict[str, str], reason: str, tmp_path: Path):
    report = drive(tmp_path, SCALE, **options)
    assert refusal(report, NO_DEVICE) == f"metal: {reason}"
    assert report.only("reason") == reason


@pytest.mark.parametrize("macos", ["14.0", "15.0"])
@pytest.mark.parametrize("cold", ["0", "1"])
def test_the_measuring_loop_makes_nothing_and_keeps_the_device_busy(macos: str, cold: str, tmp_path: Path):
    """Between samples no buffer and no pipeline is made; two command buffers or more are queued all the while."""
    report = drive(tmp_path, SCALE, SCALED, macos=macos, sample="1", cold=cold)
    expect_quiet(report)
    assert report.only("made") == "0 0"
    assert int(report.only("queued")) >= 2
    assert report.only("same_memory") == "1"
    assert all(float(seconds) > 0 for seconds in report.lines["sample"])
    assert len(report.lines["sample"]) == 8


def test_a_run_that_fails_in_the_queue_is_named(tmp_path: Path):
    report = drive(tmp_path, SCALE, SCALED, sample="1", failing_code="3")
    assert "did not complete" in refusal(report, FAILED_RUN)
