"""From a real search of the demo to the first screen of its report."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import kfp
import pytest


@pytest.mark.full
def test_a_newcomer_can_say_what_came_of_a_demo_run(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    command = [sys.executable, "-m", "kfp", "evolve", "hmc", "--model", "demo", "--out", str(folder)]
    subprocess.run(command, capture_output=True, timeout=900, check=True)
    found = kfp.report(folder, out=tmp_path / "report.html")
    gate = kfp.Run(folder).gate
    assert gate is not None
    facts = {fact.label: fact.text for fact in found.answer.facts}
    assert facts["Which kernel won?"].startswith("The one of iteration ")
    # What the machine's clock decides is compared with the record, not with a figure.
    gain = gate.in_distribution.interval
    assert gain is not None
    assert f"{gain.ratio:.2f} times as fast as the starting kernel" in facts["By how much?"]
    assert f"95 % interval {gain.lower:.2f} to {gain.upper:.2f}" in facts["How sure?"]
    assert {"transfers": "Yes.", "undecided": "Not decided."}.get(gate.verdict, "No.") in facts["Does it transfer?"]
    if gate.verdict == "does not transfer":
        assert "The gain is lost where d is 10" in facts["Why not?"]
    assert (tmp_path / "report.html").stat().st_size < 5_000_000
