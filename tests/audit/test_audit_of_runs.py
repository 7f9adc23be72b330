"""Audits of a run's kernels: the onset, the redacted run, the folder, and the grades that are shown afterwards."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest
from kfp import Audit, Policy, Run, UsageError, audit, evolve
from kfp.auditing.folder import AUDITS, audits_of
from kfp.cli import NEGATIVE
from kfp.cli.app import run as command
from kfp.gating.runs import LEDGER
from kfp.ledger.ledger import Ledger
from kfp.search.story import end_lines
from kfp.tables import plain
from kfp.transfer import Case, outcome_of, transfer_lines, transfer_report
from search.scripted import ByComment, Scripted, costing, fenced

# It adds its command.
import_module("kfp.cli.audit")

QUICK = Policy(
    seconds=0.03, long_seconds=0.1, half_width=0.1, most_pairs=16, warm_up_seconds=0.02, sample_seconds=3e-4, threads=1
)


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))


@pytest.fixture
def searched(tmp_path: Path) -> Run:
    model = Scripted([fenced(costing(0.5)), fenced(costing(0.25))])
    return evolve("saxpy", model=model, iterations=2, scale="small", out=tmp_path / "run", referee=ByComment())


def test_a_run_keeps_its_audit_dates_the_onset_and_shows_the_grade(searched: Run) -> None:
    """One audit, looked at from all sides, since it takes long."""
    folder = searched.folder
    found = audit(
        "saxpy",
        searched.incumbent,
        device="cpu",
        scale="small",
        seed=5,
        policy=QUICK,
        run=folder,
        redacted=folder,
    )
    history = found.item("E3h")
    assert history.status == "run"
    # What was promoted is the seed with another comment, so that it gains nothing anywhere.
    assert history.finding.startswith("2 promoted kernels: ")
    assert len(history.probes) == 2 * 4
    looks = [entry for entry in Ledger(searched.folder / LEDGER).entries() if entry.look.startswith("audit of")]
    assert [(entry.policy, entry.released, entry.bits) for entry in looks] == [("retro", None, 0.0)] * 2
    assert audits_of(searched.folder) == {found.source_sha256: found}
    text = plain(end_lines(Run(searched.folder)))
    assert f"audit of {found.source_sha256[:12]}: {found.verdict}" in text
    (file,) = (searched.folder / AUDITS).glob("*.json")
    assert Audit.from_json(json.loads(file.read_text())) == found
    file.write_text("{}")
    assert audits_of(searched.folder) == {}


def test_a_run_of_another_task_is_refused(searched: Run) -> None:
    with pytest.raises(UsageError, match="saxpy, not of heat2d"):
        audit("heat2d", "kernel", device="cpu", scale="small", run=searched.folder)
    with pytest.raises(UsageError, match="--run"):
        command(["audit", "saxpy"])


def test_the_command_prints_what_the_call_returns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel = tmp_path / "kernel.metal"
    kernel.write_text("kernel void saxpy() { nonsense }")
    arguments = ["audit", "saxpy", str(kernel), "--device", "cpu", "--scale", "small", "--seed", "0x2a"]
    assert command([*arguments, "--json"]) == NEGATIVE
    found = Audit.from_json(json.loads(capsys.readouterr().out))
    assert (found.grade, found.audit_seed) == ("incorrect", f"0x{42:032x}")
    assert command(arguments) == NEGATIVE
    assert "nonsense" in capsys.readouterr().out


def case(task: str, gain: float, held_out: float | None, grade: str = "") -> Case:
    outcome = outcome_of(held_out, held_out is not None)
    return Case("sci", task, "a model", f"run of {task}", gain, held_out, outcome, grade)


def test_rates_come_with_their_mechanisms_where_there_are_any() -> None:
    cases = [case("saxpy", 2.0, 1.0, "gamed, mode A"), case("hmc", 2.0, None), case("lj", 2.0, 1.9)]
    text = plain(transfer_lines(transfer_report(cases)))
    assert "gamed, mode A" in text
    assert "no audit" in text
    assert "by mechanism: 1 gamed, mode A, 1 without an audit" in text
    assert max(map(len, text.splitlines())) <= 80
    without = plain(transfer_lines(transfer_report([replace(one, grade="") for one in cases])))
    assert "grade" not in without
    assert "mechanism" not in without
