"""One unit in a process of its own: done, refused, stopped, out of time, out of room, and overtaken by another one."""

from __future__ import annotations

import hashlib
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import kfp
import pytest
from kfp import Run, RunError
from kfp.sweeping.executors.base import DONE, FAILED, HELD, OVERTIME, STOPPED, worker_command
from kfp.sweeping.folder import Done, UnitFolder
from kfp.sweeping.keeper import Stopped
from kfp.sweeping.worker import main, run_unit
from sweeping.held_units import held_device, make_units
from sweeping.small_sweeps import REPLIES, leases, record, wait_for


def start(unit: UnitFolder, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(worker_command(unit.path), stderr=subprocess.PIPE, text=True, **options)


def run(unit: UnitFolder, **options: Any) -> tuple[int, str]:
    process = start(unit, **options)
    _, said = process.communicate(timeout=120)
    return process.returncode, said


def outcomes(unit: UnitFolder) -> list[str]:
    return [lease["outcome"] for lease in leases(unit.path.parent.parent) if lease["unit"] == unit.path.name]


def until_it_waits(unit: UnitFolder) -> None:
    """For the device, that is: the run has begun, and its first use of the device is next."""
    wait_for(lambda: list(unit.path.glob("work-*/run/gate-commitment.json")))


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Units that are done within this process change its folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("here")
def test_a_unit_is_done_once(tmp_path: Path) -> None:
    name = record(tmp_path / "answers")
    (unit,) = make_units(tmp_path, 1, models=[name])
    assert run_unit(unit.path) == DONE
    done = unit.done()
    assert done is not None
    assert (done.key, done.generation, done.iterations) == (unit.path.name, 1, 1)
    found = Run(unit.run)
    assert [record.number for record in found.iterations] == [1]
    assert found.provenance.command.startswith(f"kfp evolve saxpy --model {name} --device cpu --seed ")
    before = tree(unit.path)
    assert run_unit(unit.path) == DONE
    assert tree(unit.path) == before


@pytest.mark.full
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_stopped_it_gives_its_lease_back_and_another_goes_on(number: signal.Signals, tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    with held_device(tmp_path / "turns"):
        first = start(unit)
        until_it_waits(unit)
        assert run_unit(unit.path) == HELD
        first.send_signal(number)
        first.communicate(timeout=60)
    assert first.returncode == STOPPED
    assert outcomes(unit) == ["stopped"]
    assert run(unit)[0] == DONE
    assert outcomes(unit) == ["stopped", "done"]
    assert unit.failures() == []


def test_it_stops_when_whoever_started_it_is_gone(tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    script = (
        "import sys, time; from pathlib import Path\n"
        "from kfp.sweeping.executors.local import LocalExecutor\n"
        "LocalExecutor(1).start(Path(sys.argv[1]), 'cpu'); time.sleep(60)"
    )
    with held_device(tmp_path / "turns"):
        starter = subprocess.Popen([sys.executable, "-c", script, str(unit.path)])
        until_it_waits(unit)
        starter.kill()
        starter.wait()
        wait_for(lambda: outcomes(unit) == ["stopped"])


def test_a_unit_has_its_time(tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1, deadline_s=1.5, attempts=1)
    with held_device(tmp_path / "turns"):
        code, said = run(unit)
    assert code == OVERTIME
    assert "longer than the 1.5 s" in said
    failure = unit.failed(1)
    assert failure is not None
    assert (failure.cause, outcomes(unit)) == ("deadline", ["failed"])


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("keys", "words"),
    [
        pytest.param({"models": ["gemini/some-model"]}, "API_KEY", marks=pytest.mark.full),
        ({"models": ["nobody/knows"]}, "unknown provider 'nobody'"),
        ({"models": ["replay/../../../../../nowhere"]}, "expected a run with recorded answers"),
        ({"tasks": ["wots_chain"], "models": ["demo"]}, "no script for task"),
        ({"budget_tokens": 0}, "token budget"),
        ({"devices": ["abacus"]}, "unknown device 'abacus'"),
    ],
)
def test_what_can_not_get_better_fails_at_once(
    keys: dict[str, Any], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (unit,) = make_units(tmp_path, 1, attempts=5, **keys)
    assert run_unit(unit.path) == FAILED
    failure = unit.failed(5)
    assert failure is not None
    assert failure.cause == "usage"
    assert words in failure.reason
    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert outcomes(unit) == ["failed"]


@pytest.mark.usefixtures("here")
def test_a_device_that_this_machine_lacks_is_said(tmp_path: Path) -> None:
    missing = next(device.name for device in kfp.devices() if not device.available)
    (unit,) = make_units(tmp_path, 1, devices=[missing])
    assert run_unit(unit.path) == FAILED
    failure = unit.failed(5)
    assert failure is not None
    assert failure.cause == "unavailable"


@pytest.mark.usefixtures("here")
def test_what_may_get_better_is_tried_again(tmp_path: Path) -> None:
    name = record(tmp_path / "answers", REPLIES[:1])
    (unit,) = make_units(tmp_path, 1, models=[name], iterations=2, attempts=2)
    for _ in range(2):
        assert unit.failed(2) is None
        assert run_unit(unit.path) == FAILED
    failure = unit.failed(2)
    assert failure is not None
    assert (failure.cause, unit.iterations(), outcomes(unit)) == ("error", 1, ["failed", "failed"])
    assert "no answer for iteration 2" in failure.reason
    record(tmp_path / "answers", REPLIES[:2])
    assert unit.forgive()
    assert unit.failed(2) is None
    assert run_unit(unit.path) == DONE


# Above what saxpy's buffers need, below the room for an answer of so many tokens.
ROOM, TOKENS = 5 << 20, 1_000_000


@pytest.mark.full
def test_a_disk_without_room_is_no_fault_of_the_unit(tmp_path: Path) -> None:
    """As on a full disk, but only for this process: files may not grow beyond what an answer needs room for."""
    (unit,) = make_units(tmp_path, 1, models=[record(tmp_path / "answers")], max_tokens=TOKENS)
    code, said = run(unit, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (ROOM, ROOM)))
    assert code == FAILED
    assert "nothing recorded is lost" in said
    assert (unit.failures(), outcomes(unit)) == ([], ["stopped"])
    assert run(unit) == (DONE, "")


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    "moment", ["before the run has its place", "before the last word", "before the lease is given back"]
)
def test_killed_at_the_very_end_nothing_is_done_twice(moment: str, tmp_path: Path) -> None:
    """The moments that killing at random hardly ever meets, as their files have them."""
    (unit,) = make_units(tmp_path, 1, models=[record(tmp_path / "answers")])
    assert run_unit(unit.path) == DONE
    (lease,) = unit.path.glob("lease-*.json")
    told = json.loads(lease.read_text())
    lease.write_text(json.dumps({**told, "outcome": "", "owner": {**told["owner"], "started": "1"}}))
    before = {name: state for name, state in tree(unit.run).items() if not name.endswith("lock")}
    if moment != "before the lease is given back":
        (unit.path / "done.json").unlink()
    if moment == "before the run has its place":
        (unit.path / "work-0001").mkdir()
        unit.run.rename(unit.path / "work-0001/run")
        (unit.path / "work-0001/run/iterations/0001/record.json.tmp").write_text("{")
    assert run_unit(unit.path) == DONE
    done = unit.done()
    assert done is not None
    again = moment != "before the lease is given back"
    assert (done.generation, outcomes(unit)) == ((2, ["", "done"]) if again else (1, [""]))
    assert {name: state for name, state in tree(unit.run).items() if not name.endswith("lock")} == before
    assert not list(unit.path.glob("work-*"))
    assert run_unit(unit.path) == DONE


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize("late", [Stopped("SIGTERM"), OSError(5, "late"), RuntimeError("late")], ids=repr)
def test_what_comes_after_the_last_word_takes_nothing_back(
    late: BaseException, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (unit,) = make_units(tmp_path, 1, models=[record(tmp_path / "answers")])
    write_done = UnitFolder.write_done

    def write_and_raise(folder: UnitFolder, done: Done) -> bool:
        assert write_done(folder, done)
        raise late

    monkeypatch.setattr(UnitFolder, "write_done", write_and_raise)
    assert run_unit(unit.path) == DONE
    assert outcomes(unit) == ["done"]
    assert unit.failures() == []


def test_wherever_a_worker_is_stopped_its_lease_is_given_back(tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1, models=["replay/nowhere"])
    script = Path(__file__).with_name("stopped_anywhere.py")
    done = subprocess.run(
        [sys.executable, str(script), str(unit.path)], capture_output=True, text=True, check=True, timeout=300
    )
    found = json.loads(done.stdout)
    # Some are stopped before there is a lease; the last one ends as it would have without.
    assert set(found) == {"none", "stopped", "failed"}
    assert found["stopped"] > 50


def test_a_folder_that_is_no_unit(tmp_path: Path) -> None:
    with pytest.raises(RunError, match=r"unit\.json"):
        run_unit(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    assert main([str(tmp_path / "nowhere")]) == FAILED


def tree(folder: Path) -> dict[str, str]:
    """Every file with what it holds and when it was written, but for the log."""
    return {
        str(file.relative_to(folder)): f"{hashlib.sha256(file.read_bytes()).hexdigest()} {file.stat().st_mtime_ns}"
        if file.is_file()
        else "folder"
        for file in folder.rglob("*")
        if file.name != "worker.log"
    }


def stop_as_if_far_away(unit: UnitFolder, worker: subprocess.Popen[str]) -> None:
    """The worker stands still, and its lease is over; nobody on this machine may end it, as if it were on another."""
    worker.send_signal(signal.SIGSTOP)
    (lease,) = unit.path.glob("lease-*.json")
    told = json.loads(lease.read_text())
    told["owner"]["machine"] = "another machine"
    lease.write_text(json.dumps(told))
    os.utime(lease, (0, time.time() - 3600))


@pytest.mark.full
def test_a_stopped_worker_that_comes_back_when_all_is_done_writes_nothing(tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    with held_device(tmp_path / "turns far away"):
        first = start(unit)
        until_it_waits(unit)
        stop_as_if_far_away(unit, first)
    assert run(unit)[0] == DONE
    before = tree(unit.path)
    first.send_signal(signal.SIGCONT)
    _, said = first.communicate(timeout=60)
    assert first.returncode == HELD, said
    assert tree(unit.path) == before
    assert outcomes(unit) == ["", "done"]


def test_a_stopped_worker_that_comes_back_while_another_is_at_it_writes_nothing(tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    with held_device(tmp_path / "turns far away"):
        first = start(unit)
        until_it_waits(unit)
        stop_as_if_far_away(unit, first)
    with held_device(tmp_path / "turns"):
        second = start(unit)
        wait_for(lambda: (unit.path / "work-0002/run/lock").exists())
        first.send_signal(signal.SIGCONT)
        _, said = first.communicate(timeout=60)
        assert first.returncode == HELD, said
        assert not (unit.path / "work-0001").exists()
        assert second.poll() is None
    second.communicate(timeout=60)
    assert second.returncode == DONE
    done = unit.done()
    assert done is not None
    assert (done.generation, outcomes(unit), unit.failures()) == (2, ["", "done"], [])
    assert sorted(entry.name for entry in unit.path.iterdir()) == [
        "done.json", "lease-0001.json", "lease-0002.json", "run", "unit.json",
    ]  # fmt: skip


@pytest.mark.full
def test_a_stopped_worker_of_this_machine_is_ended(tmp_path: Path) -> None:
    """Else it would keep the device from all others for as long as it stands still."""
    (unit,) = make_units(tmp_path, 1)
    with held_device(tmp_path / "turns"):
        first = start(unit)
        until_it_waits(unit)
        first.send_signal(signal.SIGSTOP)
        (lease,) = unit.path.glob("lease-*.json")
        os.utime(lease, (0, time.time() - 3600))
    assert run(unit)[0] == DONE
    first.communicate(timeout=60)
    assert first.returncode == -signal.SIGKILL
