"""``kfp`` alone: every command that it names is one, and what it says next suits what is there."""

from __future__ import annotations

from pathlib import Path

import pytest
from kfp.cli import main
from kfp.cli.welcome import welcome_lines
from kfp.runs.index import Index
from kfp.runs.run import Run
from kfp.tables import WIDTH, plain
from report import recorded


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))
    return tmp_path / "runs"


def test_it_fits_a_terminal_and_names_only_commands(capsys: pytest.CaptureFixture[str]) -> None:
    lines = [line.text for line in welcome_lines()]
    assert max(map(len, lines)) <= WIDTH
    commands = {line.split()[1] for line in lines if line.startswith("  kfp ")}
    assert len(commands) > 10
    for command in commands:
        with pytest.raises(SystemExit) as stop:
            main([command, "--help"])
        assert stop.value.code == 0, command
    capsys.readouterr()


def test_the_first_time_it_says_how_to_begin(runs: Path) -> None:
    assert "Next: kfp evaluate saxpy" in plain(welcome_lines())
    assert not runs.exists()


def test_with_a_run_it_leads_to_its_report(runs: Path) -> None:
    runs.mkdir()
    folder = recorded.write_run(runs / "hmc-demo", recorded.gate())
    Index().update(Run(folder).reader, 4, "finished")
    assert "Next: kfp report hmc-demo, the newest of your runs" in plain(welcome_lines())
    Index().update(Run(folder).reader, 9, "stopped")
    assert "Next: hmc-demo stopped after 4 of 9 iterations" in plain(welcome_lines())


def test_a_list_of_runs_that_is_no_list_is_no_reason_to_fail(runs: Path) -> None:
    runs.mkdir()
    (runs / "index.sqlite").write_bytes(b"not a database" * 100)
    assert "Next: kfp evaluate saxpy" in plain(welcome_lines())
