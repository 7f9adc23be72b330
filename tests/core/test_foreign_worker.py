"""The parent believes nothing that a worker says."""

from __future__ import annotations

import os
import struct
from pathlib import Path

import numpy as np
import pytest
from core.foreign import answer, make, text
from kfp import _core

LIMITS = _core.Limits(compile_seconds=0.5, run_seconds=0.5, output_bytes=1 << 16)
FAULT, OUT_OF_MEMORY, REFUSED, ERROR = 4, 5, 6, 7
REPORT = struct.pack("<IBd", 0, 1, 0.01)  # library 0, compile_ok, seconds
NOTHING = struct.pack("<QQ", 0, 0)  # no diagnostics, no kernels
PLAN_BUFFER_BYTES = 16


def plan() -> _core.Plan:
    buffers = [("x", PLAN_BUFFER_BYTES, "state", np.ones(4, np.float32))]
    return _core.Plan(["k"], buffers, [(0, [("buffer", 0, 0, 0)], (4, 1, 1), (4, 1, 1))])


def use(worker: _core.Worker) -> None:
    library, _ = worker.compile("")
    execution = worker.prepare(library, plan())
    worker.run(execution)
    worker.read(execution, 0)


def failure_of(folder: Path, *answers: bytes | str) -> _core.WorkerFailure:
    """What comes of it when a worker opens properly, then gives ``answers`` to compile, prepare, run and read."""
    worker = _core.Worker("cpu", make(folder, *answers), LIMITS)
    with pytest.raises(_core.WorkerFailure) as failure:
        use(worker)
    assert worker.closed
    with pytest.raises(ProcessLookupError):
        os.kill(worker.pid, 0)
    assert failure.value.message
    assert failure.value.message.isprintable() or "\n" in failure.value.message
    return failure.value


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (answer(magic=1), "protocol"),
        (answer(status=99), "protocol"),
        (answer(status=0xFFFFFFFF), "protocol"),
        (answer(length=1 << 62), "output"),
        (answer(length=(1 << 64) - 1), "output"),
        (answer(b"abc", length=1000), "timeout"),
        (b"abc", "timeout"),
        (answer(), "protocol"),
        (answer(REPORT), "protocol"),
        (answer(REPORT + NOTHING + b"more"), "protocol"),
        (answer(struct.pack("<IBd", 0, 7, 0.01) + NOTHING), "protocol"),
        (answer(struct.pack("<IBd", 0, 1, float("nan")) + NOTHING), "protocol"),
        (answer(struct.pack("<IBd", 0, 1, -1.0) + NOTHING), "protocol"),
        (answer(REPORT + struct.pack("<QQ", 1 << 60, 0)), "protocol"),
        (answer(REPORT + struct.pack("<QQ", (1 << 64) - 1, 0)), "protocol"),
        (answer(REPORT + struct.pack("<QBII", 1, 9, 1, 1) + text(b"x") + struct.pack("<Q", 0)), "protocol"),
        (answer(REPORT + struct.pack("<QBIIQ", 1, 0, 1, 1, 1 << 63) + b"x" * 40), "protocol"),
        (answer(status=FAULT), "protocol"),
        (answer(text(b"\xff\x1b[31mred\x00"), status=FAULT), "fault"),
        (answer(text(b"too much"), status=OUT_OF_MEMORY), "memory"),
        (answer(text(b"no"), status=REFUSED), "refused"),
        ("os._exit(0)", "crash"),
        ("os._exit(3)", "crash"),
        ("os.abort()", "crash"),
        ("os.kill(os.getpid(), 31)", "refused"),
        ("os.kill(os.getpid(), 9)", "memory"),
        ("channel.close(); time.sleep(60)", "protocol"),
        ("channel.shutdown(socket.SHUT_WR); time.sleep(60)", "protocol"),
        ("os.kill(os.getpid(), 19)", "timeout"),
        ("while True: os.write(2, b'spam' * 1000)", "output"),
        ("while True: channel.sendall(b'spam' * 1000)", "protocol"),
    ],
)
def test_nonsense_in_answer_to_compile(tmp_path: Path, reply: bytes | str, kind: str) -> None:
    assert failure_of(tmp_path, reply).kind == kind


COMPILED = answer(REPORT + NOTHING)
PREPARED = answer(struct.pack("<I", 0))


@pytest.mark.parametrize("reply", [answer(), answer(struct.pack("<I", 1)), answer(struct.pack("<II", 0, 0))])
def test_nonsense_in_answer_to_prepare(tmp_path: Path, reply: bytes) -> None:
    assert failure_of(tmp_path, COMPILED, reply).kind == "protocol"


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), -1e-9, 1e9, 0.4])
def test_times_that_cannot_be(tmp_path: Path, seconds: float) -> None:
    failure = failure_of(tmp_path, COMPILED, PREPARED, answer(struct.pack("<d", seconds)))
    assert failure.kind == "protocol"
    assert "device time" in failure.message


@pytest.mark.parametrize(
    ("windows", "numbers"),
    [
        (0, [0.1, 0.1]),
        (0, [float("nan"), 0.0]),
        (0, [-1.0, 1.0]),
        (0, [0.0]),
        (0, [0.0, 0.0, 0.0]),
        (1, [0.0, 0.0]),
        (1, [float("nan"), 0.0, 0.0]),
        (1, [-1.0, 0.0, 0.0]),
        (2**60, [0.0, 0.0]),
    ],
)
def test_samples_that_cannot_be(tmp_path: Path, windows: int, numbers: list[float]) -> None:
    """The warm-up's windows with their count in front, then two samples."""
    payload = struct.pack(f"<Q{len(numbers)}d", windows, *numbers)
    worker = _core.Worker("cpu", make(tmp_path, COMPILED, PREPARED, answer(payload)), LIMITS)
    library, _ = worker.compile("")
    execution = worker.prepare(library, plan())
    with pytest.raises(_core.WorkerFailure) as failure:
        worker.sample([execution], [0, 0], 1)
    assert failure.value.kind == "protocol"


def test_a_worker_that_writes_nothing_leaves_zeros_and_cannot_reach_the_contents(tmp_path: Path) -> None:
    run = answer(struct.pack("<d", 0.0))
    worker = _core.Worker("cpu", make(tmp_path, COMPILED, PREPARED, run, answer()), LIMITS)
    library, _ = worker.compile("")
    execution = worker.prepare(library, plan())
    worker.run(execution)
    assert worker.read(execution, 0).tolist() == [0] * PLAN_BUFFER_BYTES
    worker.close()


def test_text_from_a_worker_is_cleaned(tmp_path: Path) -> None:
    diagnostic = struct.pack("<BII", 2, 3, 4) + text(b"bad \xc3\xa9 \xe2\x80\xae \xff \x1b[0m \x9b \xed\xa0\x80 \x00")
    report = answer(REPORT + struct.pack("<Q", 1) + diagnostic + struct.pack("<Q", 0))
    worker = _core.Worker("cpu", make(tmp_path, report), LIMITS)
    _, compiled = worker.compile("")
    (only,) = compiled.diagnostics
    assert (only.severity, only.line, only.column) == ("error", 3, 4)
    assert only.message == "bad \u00e9 \u202e \ufffd \ufffd[0m \ufffd \ufffd\ufffd\ufffd \ufffd"
    worker.close()


def test_what_goes_wrong_on_our_side_is_not_put_down_to_the_candidate(tmp_path: Path) -> None:
    worker = _core.Worker("cpu", make(tmp_path, answer(text(b"disk full"), status=ERROR)), LIMITS)
    with pytest.raises(_core.Error, match="disk full") as error:
        worker.compile("")
    assert type(error.value) is _core.Error
    worker.close()


def test_a_worker_that_reads_nothing_does_not_block_the_parent(tmp_path: Path) -> None:
    worker = _core.Worker("cpu", make(tmp_path, "time.sleep(60)"), LIMITS)
    with pytest.raises(_core.WorkerFailure) as failure:
        worker.compile("x")
    assert failure.value.kind == "timeout"
    worker = _core.Worker("cpu", make(tmp_path, COMPILED, "time.sleep(60)"), LIMITS)
    worker.compile("x")
    with pytest.raises(_core.WorkerFailure) as failure:
        worker.compile("y" * (8 << 20))
    assert failure.value.kind == "timeout"
