"""Leases: one holder at a time, whatever happens to processes, files and clocks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from kfp.errors import RunError
from kfp.sweeping.folder import Failure, UnitFolder
from kfp.sweeping.leases import Lease, Watcher, newest, take
from kfp.sweeping.processes import Owner, machine, started, this_process
from sweeping.small_sweeps import wait_for

LONG = 1000.0
TAKER = "import sys, time; from pathlib import Path; from kfp.sweeping.leases import take; "


def test_one_holder_and_then_the_next(tmp_path: Path) -> None:
    first = take(tmp_path, LONG)
    assert first is not None
    assert take(tmp_path, LONG) is None
    first.release("stopped")
    second = take(tmp_path, LONG)
    assert second is not None
    assert (first.generation, second.generation) == (1, 2)
    assert first.superseded
    assert not second.superseded
    assert sorted(file.name for file in tmp_path.iterdir()) == ["lease-0001.json", "lease-0002.json"]


def test_of_many_that_try_at_once_one_has_it(tmp_path: Path) -> None:
    for generation in range(1, 6):
        barrier, taken = threading.Barrier(8), list[Lease]()

        def attempt(barrier: threading.Barrier = barrier, taken: list[Lease] = taken) -> None:
            barrier.wait()
            lease = take(tmp_path, LONG)
            if lease is not None:
                taken.append(lease)

        threads = [threading.Thread(target=attempt) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [lease.generation for lease in taken] == [generation]
        taken[0].release("stopped")
    assert len(list(tmp_path.iterdir())) == 5


def test_a_killed_holder_is_followed_at_once(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-c",
        TAKER + f"take(Path({str(tmp_path)!r}), {LONG}); print(flush=True); time.sleep(60)",
    ]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    assert take(tmp_path, LONG) is None
    process.send_signal(signal.SIGKILL)
    # Nobody has asked for its end yet: the system still knows its number and when it began.
    lease = wait_for(lambda: take(tmp_path, LONG))
    assert lease.generation == 2
    process.communicate()


def held_by(folder: Path, owner: Owner, lease_s: float = LONG) -> Path:
    """A lease as another process would have left it."""
    lease = take(folder, lease_s)
    assert lease is not None
    lease.file.write_text(json.dumps(replace(lease.record, owner=owner).to_json()))
    return lease.file


def test_a_number_that_was_given_to_another_process_is_not_the_owner(tmp_path: Path) -> None:
    bystander = subprocess.Popen(["sleep", "60"])
    try:
        owner = replace(this_process(), pid=bystander.pid, started="1")
        assert owner.life() == "dead"
        held_by(tmp_path, owner)
        assert take(tmp_path, LONG) is not None
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


def test_a_process_that_is_taken_over_here_is_ended(tmp_path: Path) -> None:
    stopped = subprocess.Popen(["sleep", "60"])
    stopped.send_signal(signal.SIGSTOP)
    file = held_by(tmp_path, replace(this_process(), pid=stopped.pid, started=started(stopped.pid)), lease_s=60)
    assert take(tmp_path, LONG) is None
    os.utime(file, (0, time.time() - 61))
    assert take(tmp_path, LONG) is not None
    assert stopped.wait(timeout=60) == -signal.SIGKILL


ELSEWHERE = Owner("elsewhere", "another boot", 1, "1", "0" * 16)


def test_a_holder_on_another_machine_has_its_time(tmp_path: Path) -> None:
    file = held_by(tmp_path, ELSEWHERE, lease_s=60)
    assert ELSEWHERE.life() == "unknown"
    os.utime(file, (0, time.time() - 50))
    assert take(tmp_path, LONG) is None
    os.utime(file, (0, time.time() - 61))
    assert take(tmp_path, LONG) is not None


def test_where_the_system_has_no_word_for_the_machine_only_time_counts(tmp_path: Path) -> None:
    file = held_by(tmp_path, replace(this_process(), machine="", pid=2**22 + 1), lease_s=60)
    assert take(tmp_path, LONG) is None
    os.utime(file, (0, time.time() - 61))
    assert take(tmp_path, LONG) is not None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"owner": 3}', "\0\0\0\0"])
def test_a_torn_lease_is_held_for_a_while_and_then_not(text: str, tmp_path: Path) -> None:
    lease = take(tmp_path, LONG)
    assert lease is not None
    lease.file.write_text(text)
    assert take(tmp_path, LONG) is None
    os.utime(lease.file, (0, time.time() - 3600))
    following = take(tmp_path, LONG)
    assert following is not None
    assert following.generation == 2


def test_a_clock_that_was_set_back_holds_a_lease_no_longer_than_its_time(tmp_path: Path) -> None:
    file = held_by(tmp_path, ELSEWHERE, lease_s=0.3)
    os.utime(file, (0, time.time() + 86400))
    assert take(tmp_path, LONG) is not None


def test_nor_does_it_take_one_that_is_renewed(tmp_path: Path) -> None:
    file = held_by(tmp_path, ELSEWHERE, lease_s=0.5)
    os.utime(file, (0, time.time() + 86400))
    done = threading.Event()

    def renew() -> None:
        ahead = 0
        while not done.wait(0.02):
            ahead += 1
            os.utime(file, (0, time.time() + 86400 + ahead))

    thread = threading.Thread(target=renew)
    thread.start()
    try:
        assert take(tmp_path, LONG) is None
    finally:
        done.set()
        thread.join()


def test_a_driver_gives_a_lease_that_seems_over_a_moment_unless_its_owner_is_dead(tmp_path: Path) -> None:
    file = held_by(tmp_path, ELSEWHERE, lease_s=0.4)
    os.utime(file, (0, time.time() - 86400))
    watcher = Watcher()

    def standing() -> str:
        lease = newest(tmp_path)
        assert lease is not None
        return watcher.standing(tmp_path, lease, time.time())

    assert standing() == "held"
    os.utime(file, (0, time.time() + 86400))
    assert standing() == "held"
    end = time.monotonic() + 60
    while standing() == "held":
        assert time.monotonic() < end
        time.sleep(0.02)
    dead = tmp_path / "dead"
    dead.mkdir()
    held_by(dead, replace(this_process(), started="1"))
    lease = newest(dead)
    assert lease is not None
    assert watcher.standing(dead, lease, time.time()) == "over"


def test_this_process_is_alive_and_known() -> None:
    owner = this_process()
    assert owner.here
    assert machine()
    assert owner.life() == "alive"
    assert Owner.from_json(owner.to_json()) == owner
    assert replace(owner, pid=2**22 + 1).life() == "dead"


def test_a_folder_that_is_gone_is_said(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="nowhere"):
        take(tmp_path / "nowhere", LONG)


def test_what_counts_against_a_unit(tmp_path: Path) -> None:
    folder = UnitFolder(tmp_path)
    assert folder.failed(attempts=2) is None
    for generation in (1, 2):
        lease = take(tmp_path, LONG)
        assert lease is not None
        folder.write_failure(Failure(generation, "error", f"no luck {generation}"))
        lease.release("failed")
        ended = folder.failed(attempts=2)
        assert (ended is None) == (generation == 1)
    assert ended is not None
    assert ended.reason == "no luck 2"
    assert folder.forgive()
    assert folder.failed(attempts=2) is None
    (tmp_path / "failed-0003.json").write_text("{")
    (tmp_path / "failed-0004.json").write_text("")
    torn = folder.failed(attempts=2)
    assert torn is not None
    assert "damaged" in torn.reason


def test_workers_that_are_lost_again_and_again_end_a_unit(tmp_path: Path) -> None:
    folder = UnitFolder(tmp_path)
    for _ in range(11):
        held_by(tmp_path, replace(this_process(), started="1"))
    assert folder.failed(attempts=2) is None
    found = folder.failed(attempts=1)
    assert found is not None
    assert (found.cause, found.reason.split()[0]) == ("lost", "10")
    assert folder.forgive()
    assert folder.failed(attempts=1) is None
