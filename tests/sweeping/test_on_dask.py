"""Units on a real cluster of dask's processes: done, stopped, lost with their worker, and what can't be said yes to."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from kfp.errors import ExecutorError, UsageError
from kfp.sweeping.executors.dask import DaskExecutor
from sweeping.dask_cluster import DaskCluster
from sweeping.disturbing import disturb, facts_of, kill_a_worker, require_each_once, require_one_at_a_time, spec_of_64
from sweeping.held_units import held_by, held_device, holders, make_units, outcome, wait_until
from sweeping.readme import commands
from sweeping.small_sweeps import DeviceWatch, finish, leases, start_driver, workers, write_spec

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the device cpu, which only Linux has")


@pytest.fixture(scope="module")
def turns(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("turns")


@pytest.fixture(scope="module")
def cluster(turns: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskCluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KFP_RUNS_DIR", str(tmp_path_factory.mktemp("runs")))
        patch.setenv("KFP_TURNS_DIR", str(turns))
        with DaskCluster(tmp_path_factory.mktemp("dask"), workers=2) as cluster:
            yield cluster


@pytest.fixture
def executor(cluster: DaskCluster) -> Iterator[DaskExecutor]:
    executor = DaskExecutor(cluster.address)
    yield executor
    executor.close(cancel=True)


def test_each_worker_does_one_unit_at_a_time_and_one_that_is_cancelled_gives_its_lease_back(
    turns: Path, executor: DaskExecutor, tmp_path: Path
) -> None:
    units = make_units(tmp_path, 3)
    with held_device(turns):
        jobs = [executor.start(unit.path, "cpu") for unit in units]
        wait_until(lambda: holders(*units) == 2, "unit at each worker")
        wait_until(lambda: sorted(job.state() for job in jobs) == ["running", "running", "waiting"], "word of it")
        running = [number for number, job in enumerate(jobs) if job.state() == "running"]
        assert len({jobs[number].describe() for number in running}) == 2
        assert all(jobs[number].describe().startswith("dask worker tcp://127.0.0.1:") for number in running)
        assert holders(*units) == 2
        cancelled = units[running[0]]
        jobs[running[0]].cancel()
        wait_until(lambda: outcome(cancelled) == "stopped", "word from the worker")
        assert jobs[running[0]].state() == "ended"
        wait_until(lambda: [job.state() for job in jobs].count("running") == 2, "unit in its place")
    wait_until(lambda: all(job.state() == "ended" for job in jobs), "end")
    assert cancelled.done() is None
    others = [unit for unit in units if unit is not cancelled]
    assert [outcome(unit) for unit in others] == ["done", "done"]
    assert all(unit.done() is not None for unit in others)


def test_a_worker_that_is_killed_takes_its_unit_down_and_another_worker_does_it(
    turns: Path, cluster: DaskCluster, executor: DaskExecutor, tmp_path: Path
) -> None:
    (unit,) = make_units(tmp_path, 1)
    with held_device(turns):
        job = executor.start(unit.path, "cpu")
        wait_until(lambda: holders(unit) == 1 and job.state() == "running", "worker")
        owner = held_by(unit)
        cluster.kill_worker(next(n for n, address in enumerate(cluster.addresses()) if address in job.describe()))
        wait_until(lambda: owner.life() == "dead", "end of the unit's own process")
    wait_until(lambda: job.state() == "ended", "end")
    cluster.start_worker()
    if unit.done() is None:
        # The second worker was told before the first one's process had ended.
        again = executor.start(unit.path, "cpu")
        wait_until(lambda: again.state() == "ended", "end")
    assert unit.done() is not None
    assert outcome(unit) == "done"


def test_a_device_that_no_worker_offers_is_waited_for_and_said(executor: DaskExecutor, tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    job = executor.start(unit.path, "metal")
    wait_until(lambda: "none of 2 workers offers kfp-metal" in job.describe(), "word of what is missing")
    assert "--resources kfp-metal=1" in job.describe()
    assert job.state() == "waiting"
    job.cancel()
    wait_until(lambda: job.state() == "ended", "end")
    assert unit.newest_lease() is None


def test_a_folder_that_the_workers_do_not_see_ends_the_sweep_and_not_only_the_unit(
    executor: DaskExecutor, tmp_path: Path
) -> None:
    job = executor.start(tmp_path / "nowhere", "cpu")
    wait_until(lambda: job.state() == "ended", "end")
    with pytest.raises(ExecutorError, match=r"nowhere: no such folder on .*; a sweep's folder has to be one that all"):
        executor.start(tmp_path, "cpu")


def test_a_scheduler_that_dies_is_told_of_and_one_that_comes_back_is_used(tmp_path: Path) -> None:
    (unit,) = make_units(tmp_path, 1)
    with DaskCluster(tmp_path, workers=0) as cluster:
        executor = DaskExecutor(str(cluster.file), seconds=2)
        job = executor.start(unit.path, "cpu")
        assert job.state() == "waiting"
        cluster.kill_scheduler()
        wait_until(lambda: job.state() == "ended", "end")
        with pytest.raises(ExecutorError, match=r"the dask scheduler at '.*' is gone, and none answers there"):
            executor.start(unit.path, "cpu")
        cluster.start_scheduler()
        job = executor.start(unit.path, "cpu")
        assert job.state() == "waiting"
        executor.close(cancel=False)


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:1", "nonsense", "smoke://127.0.0.1:1", "tcp://127.0.0.1", "", "spec.toml"]
)
def test_where_no_scheduler_answers_it_is_said_what_was_expected(address: str, tmp_path: Path) -> None:
    if address == "spec.toml":
        address = str(tmp_path / address)
        Path(address).write_text("name = 'no scheduler file'")
    with pytest.raises(ExecutorError, match=r"no dask scheduler at .*; expected the address that `dask scheduler`"):
        DaskExecutor(address, seconds=0.5)


def test_a_device_has_to_have_a_name(executor: DaskExecutor, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r'name it, as in devices = \["cpu"\]'):
        executor.start(tmp_path, "auto")


def test_without_dask_the_command_that_installs_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"needs dask; python -m pip install 'kfp\[dask\]'"):
        DaskExecutor("tcp://127.0.0.1:1")


def driver_of(spec: Path, sweep: Path, cluster: DaskCluster) -> subprocess.Popen[str]:
    (command,) = (line for line in commands("kfp sweep") if "dask" in line)
    words = shlex.split(command.replace("tcp://127.0.0.1:8786", cluster.address))
    assert words[2] == "night.toml"
    return start_driver(spec, *words[3:], "--out", str(sweep))


def test_two_drivers_share_a_sweep_and_one_that_is_killed_costs_nothing(
    turns: Path, cluster: DaskCluster, tmp_path: Path
) -> None:
    sweep = tmp_path / "sweep"
    spec = write_spec(
        tmp_path / "spec.toml", tasks=["saxpy"], models=["demo"], devices=["cpu"], scale="small", iterations=1,
        replicates=3,
    )  # fmt: skip
    with held_device(turns):
        first, second = (driver_of(spec, sweep, cluster) for _ in range(2))
        wait_until(lambda: len(workers(sweep)) == 2, "unit at each worker")
        first.kill()
        first.communicate()
    assert "3 of 3 done" in finish(second)
    require_each_once(sweep, 3)
    # A driver's end ends no unit that is being done.
    assert [lease["outcome"] for lease in leases(sweep)] == ["done"] * 3


@pytest.mark.full
def test_64_units_whose_driver_and_workers_are_killed_are_those_of_an_undisturbed_sweep(
    turns: Path, cluster: DaskCluster, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    spec, sweep = spec_of_64(tmp_path), tmp_path / "sweep"

    def kill_a_dask_worker(rng: Random) -> bool:
        cluster.kill_worker(rng.randrange(len(cluster.workers)))
        cluster.start_worker()
        return True

    (turns / "cpu.log").unlink(missing_ok=True)
    with DeviceWatch() as watch:
        disturb(lambda: driver_of(spec, sweep, cluster), (kill_a_worker(sweep), kill_a_dask_worker), 20, Random(8), 2.0)
    require_each_once(sweep, 64)
    require_one_at_a_time(watch, turns)
    assert facts_of(sweep) == request.getfixturevalue("undisturbed")
