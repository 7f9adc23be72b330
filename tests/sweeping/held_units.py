"""Units of a sweep that stand still at a known place for as long as a test likes: they wait for their turn."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from kfp.sweeping.folder import SweepFolder, UnitFolder
from kfp.sweeping.processes import Owner
from kfp.sweeping.reading import spec_from
from kfp.sweeping.turns import Turns

PATIENCE_SECONDS = 120.0


@contextmanager
def held_device(turns: Path) -> Iterator[None]:
    """No unit whose ``KFP_TURNS_DIR`` is this folder gets further than its lease."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KFP_TURNS_DIR", str(turns))
        with Turns("cpu", "held")():
            yield


def make_units(folder: Path, count: int, **more: Any) -> list[UnitFolder]:
    """Ready to be done: one iteration each, in which nothing compiles."""
    table = {
        "tasks": ["saxpy"], "models": ["demo"], "devices": ["cpu"], "scale": "small", "iterations": 1,
        "replicates": count, "lease_s": 20, **more,
    }  # fmt: skip
    spec = spec_from(table, "spec", folder, "held")
    sweep = SweepFolder(folder / "sweep")
    sweep.begin(spec)
    made = []
    for unit in spec.units:
        made.append(sweep.unit_folder(unit.key))
        made[-1].write_unit(unit)
    return made


def outcome(unit: UnitFolder) -> str:
    """What the newest lease says; "" while it is held, or if there is none."""
    lease = unit.newest_lease()
    return "" if lease is None or lease.record is None else lease.record.outcome


def held_by(unit: UnitFolder) -> Owner:
    """The process that has its newest lease."""
    lease = unit.newest_lease()
    assert lease is not None
    assert lease.record is not None
    return lease.record.owner


def holders(*units: UnitFolder) -> int:
    """How many of the units somebody works on, or did until somebody's end without a word."""
    leases = [unit.newest_lease() for unit in units]
    return sum(lease is not None and lease.lost for lease in leases)


def wait_until(condition: Callable[[], bool], what: str, instead: Callable[[], object] = lambda: "") -> None:
    """``instead`` says in a failure what there is."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < give_up, f"no {what} within {PATIENCE_SECONDS:.0f} s; {instead()}"
        time.sleep(0.02)
