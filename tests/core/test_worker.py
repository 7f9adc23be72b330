"""The raw core: a worker compiles, prepares, runs and reads, and every misuse is named."""

from __future__ import annotations

import gc
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from kfp import _core

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void add(device uint* sum [[buffer(0)]], device const uint* step [[buffer(1)]],
                constant uint& scale [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    sum[i] += scale * step[i];
}
kernel void spin(device uint* sum [[buffer(0)]]) { for (uint n = 0;; ++n) *sum = n; }
kernel void stray(device uint* sum [[buffer(0)]]) { sum[1 << 26] = 1; }
"""
N = 100
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc, which only Linux has")


@pytest.fixture
def worker(toolchain: _core.Toolchain) -> Iterator[_core.Worker]:
    with _core.Worker("cpu", toolchain, _core.Limits(run_seconds=1.0)) as worker:
        yield worker


def plan(*kernels: str) -> _core.Plan:
    """``sum`` (state), ``step`` (input) and ``spare`` (scratch), one dispatch per kernel."""
    names = list(dict.fromkeys(kernels))
    bindings = [("buffer", 0, 0, 0), ("buffer", 1, 1, 0), ("bytes", 2, np.uint32(3).tobytes())]
    return _core.Plan(
        names,
        [
            ("sum", 4 * N, "state", np.full(N, 5, np.uint32)),
            ("step", 4 * N, "input", np.arange(N, dtype=np.uint32)),
            ("spare", 64, "scratch", None),
        ],
        [(names.index(kernel), bindings, (N, 1, 1), (32, 1, 1)) for kernel in kernels],
    )


def read_sum(worker: _core.Worker, execution: int) -> list[int]:
    values: list[int] = worker.read(execution, 0).view(np.uint32).tolist()
    return values


def test_runs_start_from_the_initial_content_unless_told_otherwise(worker: _core.Worker) -> None:
    library, report = worker.compile(SOURCE)
    assert report.compile_ok
    assert [kernel.name for kernel in report.kernels] == ["add", "spin", "stray"]
    execution = worker.prepare(library, plan("add", "add"))
    for _ in range(2):
        worker.run(execution)
        assert read_sum(worker, execution) == [5 + 6 * i for i in range(N)]
    worker.run(execution, reset=False)
    assert read_sum(worker, execution) == [5 + 12 * i for i in range(N)]
    assert worker.read(execution, 1).view(np.uint32).tolist() == list(range(N))


def test_times_fit_into_what_the_parent_saw(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    executions = [worker.prepare(library, plan("add")), worker.prepare(library, plan("add", "add"))]
    report = worker.run(executions[1])
    assert 0.0 < report.device_seconds <= report.wall_seconds
    order = [0, 1, 1, 0, 1]
    seconds, report = worker.sample(executions, order, 3)
    assert seconds.shape == (len(order),)
    assert np.all(seconds > 0.0)
    assert seconds.sum() == pytest.approx(report.device_seconds)
    assert report.device_seconds <= report.wall_seconds
    assert read_sum(worker, executions[0]) == [5 + 9 * i for i in range(N)]
    assert read_sum(worker, executions[1]) == [5 + 18 * i for i in range(N)]


def test_every_execution_has_its_repeats(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    executions = [worker.prepare(library, plan("add")) for _ in range(2)]
    worker.sample(executions, [0, 1], [2, 4])
    assert read_sum(worker, executions[0]) == [5 + 6 * i for i in range(N)]
    assert read_sum(worker, executions[1]) == [5 + 12 * i for i in range(N)]
    seconds, _ = worker.sample(executions, [0, 1], [2, 4], each_from_reset=True)
    assert np.all(seconds > 0.0)
    for execution in executions:
        assert read_sum(worker, execution) == [5 + 3 * i for i in range(N)]


def test_a_device_that_has_rested_is_warmed_up(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    executions = [worker.prepare(library, plan("add")) for _ in range(2)]
    settings = {"sentinel": 1, "most_seconds": 0.05, "idle_seconds": 60.0}
    _, first = worker.sample(executions, [0], 1, **settings)
    assert 1 <= len(first.warm_up) <= 1024
    assert np.all(first.warm_up > 0.0)
    _, again = worker.sample(executions, [0], 1, **settings)
    assert len(again.warm_up) == 0
    _, without = worker.sample(executions, np.array([0, 0, 1]), 1)
    assert len(without.warm_up) == 0


def test_samples_of_what_is_not_there(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, plan("add"))
    with pytest.raises(_core.PlanError, match="order names execution 1 of 1"):
        worker.sample([execution], [0, 1], 1)
    with pytest.raises(_core.PlanError, match="the sentinel is execution 3 of 1"):
        worker.sample([execution], [0], 1, sentinel=3)
    with pytest.raises(_core.PlanError, match="execution 9"):
        worker.sample([9], [0], 1)
    with pytest.raises(ValueError, match="a number of repeats per execution"):
        worker.sample([execution], [0], [1, 2])
    for order in (["a"], [-1], [0.5], [None], "0", {}, [2**40]):
        with pytest.raises(TypeError, match="expected whole numbers"):
            worker.sample([execution], order, 1)  # type: ignore[arg-type]
    assert len(worker.sample([np.int64(execution)], (np.int32(0), True - 1), [np.int64(1)])[0]) == 2
    worker.run(execution)


def test_cold_and_warm_runs_give_the_same(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    warm = worker.prepare(library, plan("add"))
    cold = worker.prepare(library, plan("add"), cold=True, shares=warm)
    worker.sample([warm, cold], [0, 1, 1], 3, each_from_reset=True)
    assert read_sum(worker, cold) == read_sum(worker, warm) == [5 + 3 * i for i in range(N)]


def test_a_report_of_a_source_with_errors(worker: _core.Worker) -> None:
    _, report = worker.compile("kernel void k(device float* a [[buffer(0)]]) { a[0] = b; }")
    assert not report.compile_ok
    (error,) = [d for d in report.diagnostics if d.severity == "error"]
    assert (error.line, error.column) == (1, 55)
    library, report = worker.compile(SOURCE)
    assert report.compile_ok, "one bad source must not spoil the next"
    (parameter,) = [p for p in report.kernels[0].parameters if p.kind == "input"]
    assert (parameter.name, parameter.attribute) == ("i", "thread_position_in_grid")
    assert library == 1


def test_a_library_for_a_check_only_does_not_stand_in_the_way(worker: _core.Worker) -> None:
    checked, report = worker.compile(SOURCE, check_only=True)
    assert report.compile_ok
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, plan("add"))
    worker.run(execution)
    assert read_sum(worker, execution) == [5 + 3 * i for i in range(N)]
    with pytest.raises(_core.PipelineError, match="for a check only"):
        worker.prepare(checked, plan("add"))


def test_compiling_is_over_after_prepare(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    worker.prepare(library, plan("add"))
    with pytest.raises(_core.WorkerFailure, match="sealed") as failure:
        worker.compile(SOURCE)
    assert failure.value.kind == "refused"
    assert worker.closed


def test_a_hang_is_named_by_kernel_and_dispatch(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, plan("add", "add", "spin"))
    with pytest.raises(_core.WorkerFailure, match="stopped after 1 s") as failure:
        worker.run(execution)
    assert (failure.value.kind, failure.value.kernel, failure.value.dispatch) == ("timeout", "spin", 2)
    assert worker.closed
    with pytest.raises(_core.WorkerFailure, match="closed"):
        worker.run(execution)


def test_a_fault_is_named_by_kernel_dispatch_and_buffer(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, plan("add", "stray"))
    with pytest.raises(_core.WorkerFailure) as failure:
        worker.run(execution)
    assert (failure.value.kind, failure.value.kernel, failure.value.dispatch) == ("fault", "stray", 1)
    assert failure.value.args == ("fault", failure.value.message, "stray", 1)
    assert str(pickle.loads(pickle.dumps(failure.value))) == str(failure.value)


@pytest.mark.parametrize(
    ("execution", "buffer", "says"), [(0, 2, "scratch"), (0, 3, "a plan with 3"), (1, 0, "has prepared 1")]
)
def test_reading_what_cannot_be_read(worker: _core.Worker, execution: int, buffer: int, says: str) -> None:
    library, _ = worker.compile(SOURCE)
    worker.prepare(library, plan("add"))
    with pytest.raises(_core.PlanError, match=says):
        worker.read(execution, buffer)
    assert not worker.closed


def test_a_missing_kernel_and_too_many_threads_are_pipeline_errors(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    with pytest.raises(_core.PipelineError, match="'gone'"):
        worker.prepare(library, plan("gone"))
    bindings = [("buffer", 0, 0, 0)]
    wide = _core.Plan(["spin"], [("sum", 4, "output", None)], [(0, bindings, (2048, 1, 1), (2048, 1, 1))])
    with pytest.raises(_core.PipelineError, match="2048"):
        worker.prepare(library, wide)
    execution = worker.prepare(library, plan("add"))
    worker.run(execution)
    assert read_sum(worker, execution) == [5 + 3 * i for i in range(N)]


VALUES = np.zeros(4, np.float32)
INPUT = ("x", 16, "input", VALUES)


@pytest.mark.parametrize(
    ("buffers", "dispatches", "says"),
    [
        ([("x", 16, "input", None)], [], "needs initial content"),
        ([("x", 16, "output", VALUES)], [], "must not have initial content"),
        ([("x", 16, "inputs", VALUES)], [], "role 'inputs'"),
        ([("x", 12, "input", VALUES)], [], "has 12 bytes but content of 16"),
        ([("x", 16, "input", [1.0])], [], "numpy array"),
        ([("x", 8, "input", VALUES[::2])], [], "C-contiguous"),
        ([("x", 0, "output", None)], [], "0 bytes"),
        ([("x", 16)], [], "buffer 0: expected 4 items, got 2"),
        ([INPUT], [(1, [], (1, 1, 1), (1, 1, 1))], "kernel number 1"),
        ([INPUT], [(-1, [], (1, 1, 1), (1, 1, 1))], "can't be -1"),
        ([INPUT], [(0, [], (1, 1), (1, 1, 1))], "grid: expected 3 items, got 2"),
        ([INPUT], [(0, [], (1, 1, 0), (1, 1, 1))], "grid"),
        ([INPUT], [(0, [("buffer", 0, 1, 0)], (1, 1, 1), (1, 1, 1))], "buffer number 1"),
        ([INPUT], [(0, [("buffer", 0, 0, 16)], (1, 1, 1), (1, 1, 1))], "starts at byte 16"),
        ([INPUT], [(0, [("buffer", 31, 0, 0)], (1, 1, 1), (1, 1, 1))], "has index 31"),
        ([INPUT], [(0, [("buffer", 0, 0)], (1, 1, 1), (1, 1, 1))], "binding 0: expected 4 items"),
        ([INPUT], [(0, [("buffers", 0, 0)], (1, 1, 1), (1, 1, 1))], "kind 'buffers'"),
        ([INPUT], [(0, [("bytes", 0, b"")], (1, 1, 1), (1, 1, 1))], "has 0 bytes"),
        ([INPUT], [(0, [("bytes", 0, bytes(4097))], (1, 1, 1), (1, 1, 1))], "has 4097 bytes"),
        ([INPUT], [(0, [("threadgroup", 0, 20)], (1, 1, 1), (1, 1, 1))], "multiple of 16"),
        ([INPUT], [(0, [None], (1, 1, 1), (1, 1, 1))], "expected a tuple, got None"),
    ],
)
def test_a_faulty_plan_is_refused_by_element(buffers: list[object], dispatches: list[object], says: str) -> None:
    with pytest.raises(_core.PlanError, match=says):
        _core.Plan(["k"], buffers, dispatches)  # type: ignore[arg-type]


def test_a_plan_keeps_its_own_copy_of_the_content(worker: _core.Worker) -> None:
    content = np.arange(4, dtype=np.uint32)
    bindings = [("buffer", 0, 0, 0), ("buffer", 1, 0, 0), ("bytes", 2, np.uint32(0).tobytes())]
    made = _core.Plan(["add"], [("sum", 16, "state", content)], [(0, bindings, (4, 1, 1), (4, 1, 1))])
    content[:] = 99
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, made)
    worker.run(execution)
    assert read_sum(worker, execution) == [0, 1, 2, 3]


def test_a_device_that_cannot_be_had(toolchain: _core.Toolchain) -> None:
    with pytest.raises(_core.DeviceUnavailable, match="no device is called 'abacus'"):
        _core.Worker("abacus", toolchain, _core.Limits())
    with pytest.raises(_core.DeviceUnavailable, match="not built"):
        _core.Worker("cuda", toolchain, _core.Limits())


def with_worker_program(toolchain: _core.Toolchain, program: Path) -> _core.Toolchain:
    return _core.Toolchain(
        clang=toolchain.clang,
        clang_is_zig=toolchain.clang_is_zig,
        msl_include=toolchain.msl_include,
        cache=toolchain.cache,
        sandbox=str(program),
    )


def test_a_worker_program_that_is_missing(toolchain: _core.Toolchain, tmp_path: Path) -> None:
    missing = with_worker_program(toolchain, tmp_path / "nothing")
    with pytest.raises(_core.DeviceUnavailable, match="nothing"):
        _core.Worker("cpu", missing, _core.Limits())


def test_limits_must_make_sense() -> None:
    for seconds in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="seconds"):
            _core.Limits(run_seconds=seconds)


def test_an_interrupt_ends_a_wait(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, plan("spin"))
    timer = threading.Timer(0.1, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        worker.run(execution)
    timer.join()
    assert worker.closed


@linux_only
@pytest.mark.parametrize("asked_to_stop", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_whoever_stops_all_processes_at_once_leaves_the_worker_to_its_parent(
    worker: _core.Worker, asked_to_stop: signal.Signals
) -> None:
    os.kill(worker.pid, asked_to_stop)
    library, report = worker.compile(SOURCE)
    assert report.compile_ok
    os.killpg(worker.pid, asked_to_stop)
    execution = worker.prepare(library, plan("add"))
    os.killpg(worker.pid, asked_to_stop)
    worker.run(execution)
    assert read_sum(worker, execution) == [5 + 3 * i for i in range(N)]


def test_a_signal_that_comes_while_a_worker_dies_is_not_lost(toolchain: _core.Toolchain, tmp_path: Path) -> None:
    class AskedToStop(BaseException):
        pass

    def stop(number: int, frame: object) -> None:
        raise AskedToStop

    dying = tmp_path / "worker"
    # The channel is closed first, so that nobody asks for signals any more when this one comes.
    dying.write_text("#!/bin/sh\nexec 3>&-\nsleep 0.02\nkill -TERM $PPID\nkill -KILL $$\n")
    dying.chmod(0o755)
    broken = with_worker_program(toolchain, dying)
    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(AskedToStop):
            _core.Worker("cpu", broken, _core.Limits())
    finally:
        signal.signal(signal.SIGTERM, before)


def test_other_threads_run_during_a_wait_and_may_close(worker: _core.Worker) -> None:
    library, _ = worker.compile(SOURCE)
    execution = worker.prepare(library, plan("spin"))
    threading.Timer(0.1, worker.close).start()
    with pytest.raises(_core.WorkerFailure):
        worker.run(execution)
    assert worker.closed


@linux_only
def test_closing_leaves_nothing_behind(toolchain: _core.Toolchain) -> None:
    gc.collect()  # workers of tests before this one
    descriptors = sorted(os.listdir("/proc/self/fd"))
    for _ in range(5):
        with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
            library, _ = worker.compile(SOURCE)
            worker.run(worker.prepare(library, plan("add")))
        assert worker.closed
        with pytest.raises(ProcessLookupError):
            os.kill(worker.pid, 0)
    del worker
    assert sorted(os.listdir("/proc/self/fd")) == descriptors


@linux_only
def test_a_worker_is_scrubbed_and_sealed(worker: _core.Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    process = Path("/proc") / str(worker.pid)
    library, _ = worker.compile(SOURCE)
    environment = {entry.split(b"=")[0] for entry in (process / "environ").read_bytes().split(b"\0") if entry}
    assert environment <= {b"TMPDIR", b"LD_LIBRARY_PATH", b"KFP_ALLOW_UNCONFINED"}
    assert {int(fd) for fd in os.listdir(process / "fd")} == {0, 1, 2, 3}
    assert "Seccomp:\t0" in (process / "status").read_text()
    worker.prepare(library, plan("add"))
    for task in (process / "task").iterdir():
        status = (task / "status").read_text()
        assert "Seccomp:\t2" in status, "every thread must be under the filter"
        assert "NoNewPrivs:\t1" in status


@linux_only
def test_a_worker_does_not_outlive_its_parent(tmp_path: Path) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        "import sys; sys.path[:0] = " + repr(sys.path) + "\n"
        "import numpy as np\nfrom kfp import _core, toolchain\n"
        "worker = _core.Worker('cpu', toolchain.find(), _core.Limits())\n"
        f"library, _ = worker.compile({SOURCE!r})\n"
        "spin = (0, [('buffer', 0, 0, 0)], (1, 1, 1), (1, 1, 1))\n"
        "plan = _core.Plan(['spin'], [('sum', 4, 'output', None)], [spin])\n"
        "execution = worker.prepare(library, plan)\n"
        "print(worker.pid, flush=True)\nworker.run(execution)\n"
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        os.kill(pid, 0)
        parent.kill()
    for _ in range(200):
        state = Path(f"/proc/{pid}/stat")
        if not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.05)
    os.kill(pid, signal.SIGKILL)
    pytest.fail("the worker went on after its parent was gone")
