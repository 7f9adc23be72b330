"""What happens to sweeps: drivers and workers that are killed at random moments until the sweep is done."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

from sweeping.small_sweeps import (
    DeviceWatch,
    facts,
    finish,
    kill,
    leases,
    overlaps,
    record,
    wait_for,
    workers,
    write_spec,
)

Way = Callable[[Random], bool]


def spec_of_64(folder: Path) -> Path:
    """64 units whose verdicts no clock decides."""
    keys: dict[str, Any] = {"tasks": ["saxpy", "hmc"], "devices": ["cpu"], "scale": "small", "iterations": 2}
    keys |= {"models": ["demo", record(folder / "answers")], "replicates": 8, "lease_s": 10}
    keys["arms"] = [{"name": "redacted"}, {"name": "told", "disclose": True}]
    return write_spec(folder / "night.toml", **keys)


def disturb(
    start: Callable[[], subprocess.Popen[str]],
    ways: Sequence[Way],
    times: int,
    rng: Random,
    longest: float,
    paced: tuple[Path, int] | None = None,
) -> None:
    """Kills the driver ``times`` times and starts it again, and does ``times`` of each of the other ways to disturb.

    A way says whether it found something to disturb; if not it is tried again a little later. Whatever is left of the
    sweep is done by the last driver. A sweep that is done before all that is no test, and fails.

    ``paced``: a sweep and how many units it has; the disturbances are spread over all of them, however fast it goes.
    """
    plan: list[Way | None] = [way for way in (None, *ways) for _ in range(times)]
    rng.shuffle(plan)
    driver = start()
    try:
        for number, way in enumerate(plan):
            if paced is not None:
                sweep, units = paced
                wanted = units * number // (len(plan) + 4)
                wait_for(lambda sweep=sweep, wanted=wanted: len(list(sweep.glob("units/*/done.json"))) >= wanted, 600)
            time.sleep(rng.uniform(0, longest))
            if way is None:
                assert driver.poll() is None, "the sweep was over before it had been disturbed enough"
                driver.kill()
                driver.communicate()
                driver = start()
                continue
            while not way(rng):
                assert driver.poll() is None, "the sweep was over before it had been disturbed enough"
                time.sleep(0.05)
        finish(driver, 1800)
    finally:
        driver.kill()
        driver.communicate()


def kill_a_worker(sweep: Path) -> Way:
    """The process that does a unit, by SIGKILL."""

    def way(rng: Random) -> bool:
        there = workers(sweep)
        return bool(there) and kill(rng.choice(there))

    return way


def facts_of(sweep: Path) -> dict[str, Any]:
    """Wherever its workers ran."""
    found = facts(sweep)
    for unit in found.values():
        unit["beside"] = [name for name in unit["beside"] if name != "slurm"]
    return found


def require_each_once(sweep: Path, count: int) -> None:
    """Every unit is done, by the holder of its last lease, which may have been killed before it could say so."""
    files = sorted(sweep.glob("units/*/done.json"))
    assert len(files) == count
    for file in files:
        outcomes = [lease["outcome"] for lease in leases(sweep) if lease["unit"] == file.parent.name]
        assert json.loads(file.read_text())["done"]["generation"] == len(outcomes)
        assert "done" not in outcomes[:-1]
        assert outcomes[-1] in ("done", "")


def require_one_at_a_time(watch: DeviceWatch, turns: Path) -> None:
    """By the system's list of processes, in which others may be at work as well, and by the log of the turns."""
    ours = {json.loads(line)["session"] for line in (turns / "cpu.log").read_text().splitlines()}
    assert watch.seen & ours
    assert not [pair for pair in watch.together if ours.issuperset(pair)]
    assert overlaps(turns / "cpu.log") == []
