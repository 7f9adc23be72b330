"""Whole sweeps on this machine: from the command line and from Python, alone and shared, interrupted and edited."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import resource
import signal
import sys
import threading
from pathlib import Path
from typing import Any

import kfp
import pytest
from kfp.cli import main
from kfp.cli.sweep import exit_code
from kfp.errors import ExecutorError, RunError, UsageError
from kfp.sweeping.executors.base import Job
from kfp.sweeping.executors.local import LocalExecutor, LocalJob, Tethered
from kfp.sweeping.folder import SweepFolder
from kfp.sweeping.results import Sweep
from kfp.sweeping.sweep import opened, sweep_status
from kfp.transfer import cases_of
from privileges import bound_by_file_modes
from report import recorded
from sweeping.held_units import held_device
from sweeping.small_sweeps import HereAndNow, facts, leases, record, start_driver, wait_for, workers, write_spec

QUICK: dict[str, Any] = {"tasks": ["saxpy"], "iterations": 1, "scale": "small", "devices": ["cpu"], "out": "out"}


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_spec(tmp_path / "quick.toml", models=[record(tmp_path / "answers")], **QUICK)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    printed = capsys.readouterr()
    assert isinstance(stop.value.code, int)
    return stop.value.code, printed.out, printed.err


def test_from_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One unit can be done, the other can't until its model is there; then everything takes the sweep's folder."""
    models = [record(tmp_path / "answers"), "replay/later"]
    spec, out = write_spec(tmp_path / "two.toml", models=models, **QUICK), tmp_path / "out"
    code, printed, _ = run(capsys, "sweep", str(spec), "--status")
    assert (code, "two: 0 of 2 done, 2 open" in printed) == (1, True)
    assert not out.exists()

    code, printed, said = run(capsys, "sweep", str(spec), "--jobs", "1")
    assert (code, said) == (1, "")
    assert "done    saxpy replay/answers cpu #1: nothing faster in 1 iterations" in printed
    assert "failed: saxpy replay/later cpu #1\n  model 'replay/later': expected a run with recorded answers" in printed
    assert all(len(line) <= 80 for line in printed.splitlines() if str(tmp_path) not in line)
    assert printed.endswith("--retry tries the failed ones once more\n")

    record(tmp_path / "later")
    code, printed, _ = run(capsys, "sweep", str(out), "--retry", "--json")
    assert code == 0
    found = Sweep.from_json(json.loads(printed))
    assert found.complete
    assert [unit.state for unit in found.units] == ["done", "done"]
    assert found == sweep_status(spec)
    done = [lease for lease in leases(out) if lease["outcome"] == "done"]
    assert len(done) == 2

    code, printed, _ = run(capsys, "runs", "show", str(out))
    assert (code, "two: 2 of 2 done" in printed) == (0, True)
    code, printed, _ = run(capsys, "runs", "export", str(out), "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert sorted(row["run"] for row in rows) == sorted(unit.key for unit in found.units)
    code, printed, _ = run(capsys, "report", str(out), "-o", str(tmp_path / "page.html"))
    assert code == 0
    page = (tmp_path / "page.html").read_text()
    assert "saxpy replay/answers cpu #1" in page
    assert "saxpy replay/later cpu #1" in page
    assert "saxpy replay/later cpu #1" in html.unescape(found._repr_html_())
    code, _, said = run(capsys, "transfer", str(out))
    assert (code, "expected at least one gated kernel" in said) == (2, True)


def test_gates_of_a_sweep_make_a_rate(tmp_path: Path, spec: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (unit,) = sweep_status(spec).units
    found, folder = opened(spec, None)
    folder.begin(found)
    folder.unit_folder(unit.key).write_unit(found.units[0])
    # A unit that is not complete yet has its run elsewhere, and may have its gate.
    recorded.write_run(Path(unit.folder) / "work-0002/run", recorded.gate())
    (case,) = cases_of(tmp_path / "out")
    assert (case.source, case.task) == (unit.name, recorded.gate().task)
    code, printed, _ = run(capsys, "transfer", str(tmp_path / "out"))
    assert (code, "1 of 1" in printed, unit.name in printed) == (0, True, True)


def test_interrupted_it_says_how_to_go_on(tmp_path: Path, spec: Path) -> None:
    out = tmp_path / "out"
    with held_device(tmp_path / "turns"):
        driver = start_driver(spec)
        (worker,) = wait_for(lambda: workers(out))
        driver.send_signal(signal.SIGINT)
        _, said = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert f"what is complete is in {out}. To go on:\n  kfp sweep {spec}\n" in said
    assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.kill(worker, 0)
    assert [lease["outcome"] for lease in leases(out)] == ["stopped"]
    assert kfp.sweep(spec, executor=HereAndNow()).complete


@pytest.mark.parametrize("count", [2, pytest.param(16, marks=pytest.mark.full)])
def test_two_drivers_share_the_work(count: int, tmp_path: Path) -> None:
    models = [record(tmp_path / f"answers{i}") for i in range(count)]
    spec = write_spec(tmp_path / "shared.toml", models=models, **QUICK)
    found: list[Sweep] = []
    threads = [threading.Thread(target=lambda: found.append(kfp.sweep(spec, jobs=1))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=300)
    assert [one.complete for one in found] == [True, True]
    held = leases(tmp_path / "out")
    assert [lease["outcome"] for lease in held] == ["done"] * count
    assert len({lease["unit"] for lease in held}) == count
    assert len(facts(tmp_path / "out")) == count


def test_a_worker_that_stands_still_is_replaced(tmp_path: Path) -> None:
    spec, out = (
        write_spec(tmp_path / "s.toml", models=[record(tmp_path / "answers")], lease_s=2, **QUICK),
        tmp_path / "out",
    )
    stopped: list[int] = []

    def stop_the_first() -> None:
        stopped.append(wait_for(lambda: workers(out))[0])
        os.kill(stopped[0], signal.SIGSTOP)

    stopping = threading.Thread(target=stop_the_first)
    stopping.start()
    assert kfp.sweep(spec).complete
    stopping.join(timeout=60)
    assert len(stopped) == 1
    assert [lease["outcome"] for lease in leases(out)][-1] == "done"
    assert len(leases(out)) == 2


def test_the_same_folder_is_for_one_sweep(tmp_path: Path, spec: Path) -> None:
    kfp.sweep(spec, executor=HereAndNow())
    other = write_spec(tmp_path / "other.toml", models=["demo"], **QUICK)
    with pytest.raises(RunError, match="another sweep: 'quick', not 'other'"):
        kfp.sweep(other)
    (key,) = facts(tmp_path / "out")
    edited = write_spec(tmp_path / "quick.toml", models=[record(tmp_path / "answers")], **QUICK | {"seed": 3})
    found = kfp.sweep(edited, executor=HereAndNow())
    assert found.complete
    assert found.strays == (key,)
    assert len(facts(tmp_path / "out")) == 2
    assert f"1 more in the folder, which the spec no longer names and which are kept: {key}" in " ".join(
        str(found).split()
    )
    assert [unit.key for unit, _ in SweepFolder(tmp_path / "out").runs()] == [found.units[0].key]


def test_a_folder_with_something_else_in_it(tmp_path: Path, spec: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis/thesis.tex").write_text("years of work")
    with pytest.raises(RunError, match=r"expected a sweep or an empty folder, it holds 'thesis\.tex'"):
        kfp.sweep(spec, out=tmp_path / "thesis")
    assert [entry.name for entry in (tmp_path / "thesis").iterdir()] == ["thesis.tex"]


def test_a_folder_that_may_not_be_written(tmp_path: Path, spec: Path) -> None:
    (tmp_path / "locked").mkdir(mode=0o555)
    with bound_by_file_modes(), pytest.raises(RunError, match="no permission to write"):
        kfp.sweep(spec, out=tmp_path / "locked")
    with bound_by_file_modes(), pytest.raises(RunError, match="no permission to write"):
        kfp.sweep(spec, out=tmp_path / "locked/deeper")


def test_a_full_disk_ends_the_sweep_and_no_unit(tmp_path: Path, spec: Path) -> None:
    """As on a full disk, but only for these processes: no file may grow."""
    driver = start_driver(spec, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048)))
    _, said = driver.communicate(timeout=60)
    assert driver.returncode == 2
    assert "nothing recorded is lost" in said
    assert "Traceback" not in said
    (status,) = sweep_status(spec).units
    assert status.state == "open"


@pytest.mark.parametrize("file", ["done.json", "unit.json", "lease-0001.json", "forgiven.json", "failed-0001.json"])
@pytest.mark.parametrize("text", ["", "{", "null", '{"format": 99}'])
def test_a_damaged_file_is_said_or_made_anew(file: str, text: str, tmp_path: Path, spec: Path) -> None:
    (unit,) = sweep_status(spec).units
    folder = Path(unit.folder)
    folder.mkdir(parents=True)
    (folder / file).write_text(text)
    (status,) = sweep_status(spec).units
    if file == "done.json":
        assert status.state == "failed"
        assert "done.json" in status.reason
    else:
        assert status.state == ("running" if file.startswith("lease") else "open")


def test_a_damaged_sweep_is_said(tmp_path: Path, spec: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for text in ("", "{", '{"format": 99, "spec": {}}', '{"format": 1, "spec": {"name": 3}}'):
        (out / "sweep.json").write_text(text)
        with pytest.raises(RunError, match=r"sweep\.json"):
            kfp.sweep(spec)
    with pytest.raises(UsageError, match=r"expected a spec \(\.toml\) or the folder of a sweep"):
        kfp.sweep(tmp_path)


@pytest.mark.parametrize(
    "name", ["../../outside", "/outside", "replay/../../outside", "local/x@http://127.0.0.1:1/../../outside", "a" * 300]
)
def test_no_name_leads_out_of_the_folder(name: str, tmp_path: Path) -> None:
    inner = tmp_path / "a/b/c"
    inner.mkdir(parents=True)
    spec = write_spec(inner / "s.toml", models=[name], **QUICK | {"name": "../../../outside"})
    (unit,) = sweep_status(spec).units
    assert Path(unit.folder).parent == inner / "out/units"
    assert len(unit.key) == 16
    without = {key: value for key, value in QUICK.items() if key != "out"}
    elsewhere = write_spec(inner / "t.toml", models=[name], **without | {"name": "../../../outside"})
    assert Path(sweep_status(elsewhere).folder).parent == tmp_path / "runs/sweeps"


class Ending(LocalExecutor):
    """Starts workers that end before they begin."""

    def start(self, unit: Path, device: str) -> LocalJob:
        command = [sys.executable, "-S", "-c", "print('no licence today'); raise SystemExit(3)"]
        return LocalJob(Tethered(command, unit / "worker.log"))


class Refusing(LocalExecutor):
    """Finds out late that it can start nothing."""

    closed: bool | None = None

    def start(self, unit: Path, device: str) -> Job:  # type: ignore[override]
        raise ExecutorError("the cluster has gone")

    def close(self, cancel: bool) -> None:
        self.closed = cancel
        super().close(cancel)


def test_workers_that_never_begin_end_their_unit(spec: Path) -> None:
    found = kfp.sweep(spec, executor=Ending())
    (unit,) = found.units
    assert unit.state == "failed"
    assert unit.reason.startswith("its worker ended 3 times before it began (pid ")
    assert unit.reason.endswith("no licence today")
    (again,) = sweep_status(spec).units
    assert again.state == "open"


def test_an_executor_that_can_start_nothing_ends_the_sweep_but_no_job(spec: Path) -> None:
    executor = Refusing()
    with pytest.raises(ExecutorError, match="the cluster has gone"):
        kfp.sweep(spec, executor=executor)
    assert executor.closed is False


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"executor": "cloud"}, "executor: expected one of local, dask, slurm, got 'cloud'"),
        ({"scheduler": "tcp://127.0.0.1:1"}, "scheduler: expected one with the executor 'dask' alone"),
        ({"jobs": 0}, "jobs: expected at least 1"),
        ({"shard": "2/1"}, "shard: expected i/n"),
    ],
)
def test_what_can_not_be_asked_for(options: dict[str, Any], words: str, spec: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        kfp.sweep(spec, **options)
    assert not (tmp_path / "out").exists()


def test_a_spec_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, said = run(capsys, "sweep", str(tmp_path / "nowhere.toml"))
    assert (code, "there is no such spec" in said) == (2, True)


def test_a_machine_that_lacks_the_device_has_its_own_exit_code(tmp_path: Path) -> None:
    missing = next(device.name for device in kfp.devices() if not device.available)
    spec = write_spec(tmp_path / "s.toml", models=["demo"], **QUICK | {"devices": [missing]})
    found = kfp.sweep(spec, executor=HereAndNow())
    assert [unit.cause for unit in found.units] == ["unavailable"]
    assert exit_code(found) == 3
    both = write_spec(tmp_path / "s.toml", models=["nobody/x"], **QUICK | {"devices": [missing, "cpu"]})
    assert exit_code(kfp.sweep(both, executor=HereAndNow())) == 1


def test_shards_together_are_the_sweep(tmp_path: Path) -> None:
    models = [record(tmp_path / f"answers{i}") for i in range(3)]
    spec = write_spec(tmp_path / "parts.toml", models=models, **QUICK)
    parts = [{unit.key for unit in sweep_status(spec, shard=f"{i}/2").units} for i in (1, 2)]
    assert parts[0] | parts[1] == {unit.key for unit in sweep_status(spec).units}
    assert not parts[0] & parts[1]
    smaller = min((1, 2), key=lambda i: len(parts[i - 1]))
    found = kfp.sweep(spec, shard=f"{smaller}/2", executor=HereAndNow())
    assert found.complete
    assert {path.name for path in (tmp_path / "out/units").iterdir()} == parts[smaller - 1]
