"""Sweeps on this machine whose driver and workers are killed at random moments end as if nothing had happened."""

from __future__ import annotations

import subprocess
import time
from pathlib import Path
from random import Random
from typing import Any

import kfp
import pytest
from sweeping.disturbing import (
    disturb,
    facts_of,
    kill_a_worker,
    require_each_once,
    require_one_at_a_time,
    spec_of_64,
)  # fmt: skip
from sweeping.small_sweeps import REPLIES, DeviceWatch, HereAndNow, facts, record, start_driver, write_spec


def test_killed_again_and_again_it_ends_as_undisturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keys: dict[str, Any] = {"tasks": ["saxpy"], "devices": ["cpu"], "scale": "small", "iterations": 1, "lease_s": 10}
    models = ["demo", *(record(tmp_path / name, REPLIES[i:]) for i, name in enumerate(("answers", "others")))]
    spec = write_spec(tmp_path / "spec.toml", models=models, replicates=3, **keys)
    # Without a driver, without processes to kill, and with turns that nobody shares.
    with monkeypatch.context() as alone:
        alone.setenv("KFP_TURNS_DIR", str(tmp_path / "other turns"))
        begun = time.monotonic()
        assert kfp.sweep(spec, out=tmp_path / "undisturbed", executor=HereAndNow()).complete
        seconds = time.monotonic() - begun
    sweep = tmp_path / "sweep"
    with DeviceWatch() as watch:
        disturb(
            lambda: start_driver(spec, "--out", str(sweep), "--jobs", "2"),
            (kill_a_worker(sweep),), 2, Random(3), longest=seconds / 8,
        )  # fmt: skip
    require_each_once(sweep, 9)
    require_one_at_a_time(watch, tmp_path / "turns")
    assert facts(sweep) == facts(tmp_path / "undisturbed")


@pytest.mark.full
def test_64_units_whose_driver_and_workers_are_killed_are_those_of_an_undisturbed_sweep(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """What is compared is in ``facts``: all but what a clock decides."""
    spec, sweep = spec_of_64(tmp_path), tmp_path / "sweep"

    def start() -> subprocess.Popen[str]:
        return start_driver(spec, "--out", str(sweep))

    with DeviceWatch() as watch:
        disturb(start, (kill_a_worker(sweep),), 20, Random(64), 1.0, paced=(sweep, 64))
    require_each_once(sweep, 64)
    require_one_at_a_time(watch, tmp_path / "turns")
    assert facts_of(sweep) == request.getfixturevalue("undisturbed")
