"""Turns: one at a time on a device, over as soon as its process is, and a log that shows it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from kfp.errors import RunError
from kfp.sweeping.processes import sessions_of
from kfp.sweeping.turns import Turns, read_log, turns_folder
from sweeping.small_sweeps import overlaps, wait_for

HOLD = """
import subprocess, sys, time
from kfp.sweeping.processes import sessions_of
from kfp.sweeping.turns import Turns
with Turns("cpu", "holder")():
    {within}
    print(flush=True)
    time.sleep(60)
"""


@contextlib.contextmanager
def holding(within: str = "pass") -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD.format(within=within)], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def test_turns_of_many_threads_and_processes_do_not_overlap(tmp_path: Path) -> None:
    inside = list[str]()

    def work(name: str) -> None:
        for _ in range(20):
            with Turns("cpu", name)():
                inside.append(name)
                assert inside == [name]
                inside.clear()

    threads = [threading.Thread(target=work, args=(f"unit {i}",)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    marks = read_log(tmp_path / "turns/cpu.log")
    assert len(marks) == 160
    assert [mark.event for mark in marks] == ["begin", "end"] * 80
    assert all(a.unit == b.unit for a, b in zip(marks[::2], marks[1::2], strict=True))
    assert overlaps(tmp_path / "turns/cpu.log") == []


def test_another_device_has_turns_of_its_own() -> None:
    with Turns("cpu", "a")(), Turns("metal", "b")():
        pass


def test_a_killed_holder_leaves_it_free_though_its_children_live(tmp_path: Path) -> None:
    child = "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'], close_fds=False)"
    with holding(child) as process:
        process.kill()
        process.wait()
        with Turns("cpu", "next")():
            pass
    assert [(mark.event, mark.unit) for mark in read_log(tmp_path / "turns/cpu.log")] == [
        ("begin", "holder"), ("begin", "next"), ("end", "next"),
    ]  # fmt: skip


@pytest.mark.parametrize("to_another_thread", [False, True])
def test_whoever_waits_can_be_interrupted(to_another_thread: bool, tmp_path: Path) -> None:
    """The system gives a process's signal to any of its threads, which interrupts no call of the others."""

    def interrupt() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)

    def wait() -> None:
        with Turns("cpu", "waiting")():
            pass

    if to_another_thread:
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        with holding():
            thread = threading.Thread(target=interrupt)
            thread.start()
            with pytest.raises(KeyboardInterrupt):
                wait()
            thread.join()
        marks = read_log(tmp_path / "turns/cpu.log")
        assert [(mark.event, mark.unit) for mark in marks] == [("begin", "holder")], "the interrupt waited for the turn"
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])


def test_what_a_killed_holder_has_left_on_the_device_is_waited_for(tmp_path: Path) -> None:
    """A device's own process ends within milliseconds; one of its name lives as long as the test likes."""
    device = tmp_path / "kfp-worker"
    device.symlink_to(shutil.which("sleep") or "sleep")
    with holding(f"subprocess.Popen(['sleep', '60'], executable={str(device)!r})") as process:
        wait_for(lambda: process.pid in sessions_of("kfp-worker"))
        process.kill()
        process.wait()
        entered = threading.Event()

        def enter() -> None:
            with Turns("cpu", "next")():
                entered.set()

        thread = threading.Thread(target=enter)
        thread.start()
        assert not entered.wait(0.5)
        os.killpg(process.pid, signal.SIGKILL)
        thread.join(timeout=60)
        assert entered.is_set()


def test_a_log_that_can_not_be_written_costs_no_turn(tmp_path: Path) -> None:
    (tmp_path / "turns/cpu.log").mkdir(parents=True)
    with Turns("cpu", "a")():
        pass


def test_lines_that_are_torn_are_left_out(tmp_path: Path) -> None:
    with Turns("cpu", "a")():
        pass
    log = tmp_path / "turns/cpu.log"
    log.write_text(log.read_text() + '{"event": "beg')
    assert len(read_log(log)) == 2
    with Turns("cpu", "b")():
        pass


def test_the_folder_is_the_users_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KFP_TURNS_DIR")
    monkeypatch.setattr("kfp.sweeping.turns.TEMPORARY", tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "of one job"))
    folder = turns_folder()
    assert folder.parent == tmp_path
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.raises(RunError, match="of your own"):
        turns_folder()
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    folder.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(RunError, match="of your own"):
        turns_folder()


def test_a_link_in_place_of_a_lock_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "turns").mkdir()
    (tmp_path / "turns/cpu.lock").symlink_to(tmp_path / "precious")
    with pytest.raises(RunError, match=r"cpu\.lock"), Turns("cpu", "a")():
        pass
    assert not (tmp_path / "precious").exists()
