"""Units as jobs of a real Slurm: done, one at a time by a licence, cancelled, lost, taken over, refused."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from kfp.errors import ExecutorError, UsageError
from kfp.sweeping.executors import slurm as executors_slurm
from kfp.sweeping.executors import squeue
from kfp.sweeping.executors.slurm import SlurmExecutor, SlurmOptions
from sweeping.disturbing import disturb, facts_of, kill_a_worker, require_each_once, require_one_at_a_time, spec_of_64
from sweeping.held_units import held_by, held_device, holders, make_units, outcome, wait_until
from sweeping.readme import commands, table
from sweeping.single_node_slurm import SingleNodeSlurm
from sweeping.small_sweeps import DeviceWatch, finish, leases, start_driver, workers, write_spec

LICENCE = SlurmOptions(licence="kfp_{device}:1")
FREE = SlurmOptions()


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("turns")


@pytest.fixture(scope="module")
def slurm() -> Iterator[SingleNodeSlurm]:
    with SingleNodeSlurm() as slurm:
        yield slurm


@pytest.fixture(autouse=True)
def found_by_the_executor(
    request: pytest.FixtureRequest, turns: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Jobs get the environment of whoever submits them. None outlives its test."""
    monkeypatch.setattr(squeue, "SECONDS_BETWEEN_QUESTIONS", 0.2)
    if "slurm" not in request.fixturenames:
        yield
        return
    slurm: SingleNodeSlurm = request.getfixturevalue("slurm")
    monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
    monkeypatch.setenv("KFP_TURNS_DIR", str(turns))
    yield
    slurm.call("scancel", "--me")
    wait_until(lambda: not slurm.call("squeue", "--noheader"), "empty queue")


@pytest.mark.slurm
def test_units_are_done_and_the_licence_lets_one_run_at_a_time(
    slurm: SingleNodeSlurm, turns: Path, tmp_path: Path
) -> None:
    units = make_units(tmp_path / "a path with a space", 2)
    executor = SlurmExecutor(LICENCE, deadline_s=60)
    with held_device(turns):
        first, second = (executor.start(unit.path, "cpu") for unit in units)
        wait_until(lambda: holders(*units) == 1, "worker")
        wait_until(lambda: (first.state(), second.state()) == ("running", "waiting"), "word of it")
        assert first.describe() == f"Slurm job {first.number}"
        wait_until(lambda: "Licenses (its licence is in use)" in second.describe(), "reason", second.describe)
        assert holders(*units) == 1
        assert "Licenses=kfp_cpu:1" in slurm.call("scontrol", "show", "job", second.number)
        assert "TimeLimit=00:06:00" in slurm.call("scontrol", "show", "job", second.number)
    wait_until(lambda: first.state() == second.state() == "ended", "end")
    assert [outcome(unit) for unit in units] == ["done", "done"]
    assert all(unit.done() is not None for unit in units)


@pytest.mark.slurm
def test_without_a_licence_jobs_run_side_by_side(slurm: SingleNodeSlurm, turns: Path, tmp_path: Path) -> None:
    units = make_units(tmp_path, 2)
    executor = SlurmExecutor(FREE)
    with held_device(turns):
        jobs = [executor.start(unit.path, "cpu") for unit in units]
        wait_until(lambda: holders(*units) == 2, "two workers")
        executor.close(cancel=True)
        wait_until(lambda: [outcome(unit) for unit in units] == ["stopped", "stopped"], "word from the workers")
        wait_until(lambda: all(job.state() == "ended" for job in jobs), "end")


@pytest.mark.slurm
def test_a_job_cancelled_from_outside_gives_its_lease_back_and_a_killed_one_leaves_no_worker_behind(
    slurm: SingleNodeSlurm, turns: Path, tmp_path: Path
) -> None:
    (unit,) = make_units(tmp_path, 1)
    executor = SlurmExecutor(FREE)
    with held_device(turns):
        job = executor.start(unit.path, "cpu")
        wait_until(lambda: holders(unit) == 1, "worker")
        slurm.call("scancel", job.number)
        wait_until(lambda: outcome(unit) == "stopped", "word from the worker")
        wait_until(lambda: job.state() == "ended", "end")

        job = executor.start(unit.path, "cpu")
        wait_until(lambda: holders(unit) == 1, "worker")
        owner = held_by(unit)
        slurm.call("scancel", "--signal=KILL", "--full", job.number)
        wait_until(lambda: job.state() == "ended", "end")
        wait_until(lambda: owner.life() == "dead", "end of the worker")
    job = executor.start(unit.path, "cpu")
    wait_until(lambda: job.state() == "ended", "end")
    assert unit.done() is not None


@pytest.mark.slurm
def test_a_job_that_is_still_in_the_queue_is_taken_over_and_not_submitted_twice(
    slurm: SingleNodeSlurm, tmp_path: Path
) -> None:
    (unit,) = make_units(tmp_path, 1)
    held = SlurmOptions(sbatch={"hold": True})
    first = SlurmExecutor(held).start(unit.path, "cpu")
    again = SlurmExecutor(held).start(unit.path, "cpu")
    assert again.number == first.number
    assert again.describe() == (
        f"Slurm job {first.number}: waits, JobHeldUser (held; scontrol release {first.number} lets it go on)"
    )
    otherwise = SlurmExecutor(SlurmOptions(partition="closed")).start(unit.path, "cpu")
    assert otherwise.number != first.number
    (elsewhere,) = make_units(tmp_path / "elsewhere", 1)
    assert elsewhere.path.name == unit.path.name
    assert SlurmExecutor(held).start(elsewhere.path, "cpu").number != first.number
    slurm.call("scancel", first.number)
    wait_until(lambda: first.state() == again.state() == "ended", "end")
    assert unit.newest_lease() is None


@pytest.mark.slurm
def test_a_job_says_why_it_waits(slurm: SingleNodeSlurm, tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    job = SlurmExecutor(SlurmOptions(partition="closed")).start(unit.path, "cpu")
    wait_until(lambda: job.state() == "waiting", "word of the job")
    assert job.describe() == f"Slurm job {job.number}: waits, PartitionDown (its partition is down)"
    job.cancel()
    wait_until(lambda: job.state() == "ended", "end")
    assert job.describe() == f"Slurm job {job.number}, {unit.path}/slurm/{job.number}_0_log.out"


@pytest.mark.slurm
def test_a_job_that_can_not_even_begin_leaves_a_word_where_it_is_said_to_be(
    slurm: SingleNodeSlurm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (unit,) = make_units(tmp_path, 1)
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    monkeypatch.setenv("PYTHONHOME", "/nowhere")
    job = SlurmExecutor(FREE).start(unit.path, "cpu")
    wait_until(lambda: job.state() == "ended", "end")
    assert unit.newest_lease() is None
    assert "/nowhere" in Path(job.describe().partition(", ")[2]).read_text()


@pytest.mark.slurm
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (SlurmOptions(licence="nowhere_{device}:1"), r"license.*'nowhere_\{device\}:1'.*scontrol show licenses"),
        (SlurmOptions(licence="kfp_cpu:5"), r"license.*'kfp_cpu:5'.*scontrol show licenses"),
        (SlurmOptions(partition="nowhere"), "partition.*nowhere.*sinfo"),
        (SlurmOptions(time="soon"), "time"),
        (SlurmOptions(sbatch={"gres": "gpu:1"}), "gres"),
        (SlurmOptions(sbatch={"no-such-option": True}), "no-such-option"),
    ],
)
def test_what_slurm_refuses_is_said_at_once(
    slurm: SingleNodeSlurm, options: SlurmOptions, said: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (unit,) = make_units(tmp_path, 1)
    with pytest.raises(ExecutorError, match=rf"(?i)^sbatch refused a job: .*{said}"):
        SlurmExecutor(options).start(unit.path, "cpu")
    assert capfd.readouterr() == ("", "")


@pytest.mark.slurm
def test_a_controller_that_is_away_is_waited_for(
    slurm: SingleNodeSlurm, turns: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors_slurm, "SECONDS_BETWEEN_TRIES", 0.2)
    first, second = make_units(tmp_path, 2)
    executor = SlurmExecutor(FREE)
    with held_device(turns):
        job = executor.start(first.path, "cpu")
        wait_until(lambda: holders(first) == 1 and job.state() == "running", "worker")
        slurm.end_controller()
        wait_until(lambda: job.state() == "unknown", "silence")
        with pytest.raises(ExecutorError, match=r"sbatch refused a job: .*[Cc]ontroller"):
            SlurmExecutor(FREE).start(second.path, "cpu")
        later = executor.start(second.path, "cpu")
        assert later.state() == "waiting"
        assert later.describe().startswith("Slurm takes no job now: ")
        slurm.start_controller()
        wait_until(lambda: job.state() == "running", "controller")
        wait_until(lambda: later.state() == "running" and holders(first, second) == 2, "second worker")
        executor.close(cancel=True)
        wait_until(lambda: job.state() == later.state() == "ended", "end")
    assert [outcome(first), outcome(second)] == ["stopped", "stopped"]


@pytest.mark.slurm
def test_a_folder_that_slurm_would_read_otherwise_is_refused(slurm: SingleNodeSlurm, tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path / "100%j", 1)
    with pytest.raises(UsageError, match="a folder for Slurm can't have a % in its path"):
        SlurmExecutor(FREE).start(unit.path, "cpu")


def test_without_slurm_it_is_said_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ExecutorError, match="sbatch, srun, squeue, scancel: not on PATH"):
        SlurmExecutor(FREE)


def test_without_submitit_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "submitit", None)
    with pytest.raises(UsageError, match=r"needs submitit; python -m pip install 'kfp\[slurm\]'"):
        SlurmExecutor(FREE)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"partition": "main\nrm -r ."}, r"slurm\.partition: expected a text that can be printed"),
        ({"licence": "a\x1b[2J"}, r"slurm\.licence: expected a text that can be printed"),
        ({"sbatch": {"comment": "x\necho"}}, r"slurm\.sbatch\.comment: expected a text that can be printed"),
        ({"sbatch": {"no\nname": True}}, r"slurm\.sbatch: expected long options of sbatch"),
        ({"sbatch": {"wrap": "true"}}, r"slurm\.sbatch\.wrap: expected an option that kfp leaves alone"),
        ({"sbatch": {"licenses": "kfp_cpu"}}, r"slurm\.sbatch\.licenses: expected it as slurm\.licence"),
    ],
)
def test_options_that_can_not_be_are_refused(given: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        SlurmOptions(**given)  # type: ignore[arg-type]


def driver_of(spec: Path, sweep: Path) -> subprocess.Popen[str]:
    """As the README has it, down to the table."""
    if "[slurm]" not in spec.read_text():
        with spec.open("a") as file:
            file.write(table("[slurm]"))
    (command,) = (line for line in commands("kfp sweep") if "slurm" in line)
    words = shlex.split(command)
    assert words[2] == "night.toml"
    return start_driver(spec, *words[3:], "--out", str(sweep))


@pytest.mark.slurm
def test_two_drivers_share_a_sweep_whose_jobs_are_cancelled_under_way(
    slurm: SingleNodeSlurm, turns: Path, tmp_path: Path
) -> None:
    sweep = tmp_path / "sweep"
    spec = write_spec(
        tmp_path / "spec.toml", tasks=["saxpy"], models=["demo"], devices=["cpu"], scale="small", iterations=1,
        replicates=3,
    )  # fmt: skip
    with held_device(turns):
        first, second = (driver_of(spec, sweep) for _ in range(2))
        wait_until(lambda: len(workers(sweep)) == 1, "worker")
        wait_until(lambda: len(numbers(slurm)) >= 3, "job for each unit")
        first.kill()
        first.communicate()
        slurm.call("scancel", *numbers(slurm))
        wait_until(lambda: [lease["outcome"] for lease in leases(sweep)][:1] == ["stopped"], "word from the worker")
    assert "3 of 3 done" in finish(second)
    require_each_once(sweep, 3)
    assert sorted(lease["outcome"] for lease in leases(sweep)) == ["done", "done", "done", "stopped"]
    wait_until(lambda: not numbers(slurm), "empty queue")


def numbers(slurm: SingleNodeSlurm) -> list[str]:
    """Of the jobs in the queue."""
    return slurm.call("squeue", "--noheader", "--format=%i").split()


@pytest.mark.slurm
@pytest.mark.full
def test_64_units_whose_jobs_are_cancelled_and_killed_are_those_of_an_undisturbed_sweep(
    slurm: SingleNodeSlurm, turns: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    spec, sweep = spec_of_64(tmp_path), tmp_path / "sweep"
    number_of_cancelled = [0]

    def cancel(rng: Random) -> bool:
        # Half of them at their work, the others perhaps before they have begun.
        if number_of_cancelled[0] % 2 and not workers(sweep):
            return False
        running = slurm.call("squeue", "--noheader", "--states=running", "--format=%i").split()
        if running:
            slurm.call("scancel", rng.choice(running))
            number_of_cancelled[0] += 1
        return bool(running)

    (turns / "cpu.log").unlink(missing_ok=True)
    with DeviceWatch() as watch:
        ways = (kill_a_worker(sweep), cancel)
        disturb(lambda: driver_of(spec, sweep), ways, 20, Random(9), 1.0, paced=(sweep, 64))
    require_each_once(sweep, 64)
    require_one_at_a_time(watch, turns)
    assert facts_of(sweep) == request.getfixturevalue("undisturbed")
