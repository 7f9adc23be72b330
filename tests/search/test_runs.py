"""Runs as others see them: listed, shown, exported, where they come from, what they cost; and no key anywhere."""

from __future__ import annotations

import csv
import json
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from constructed import DEVICE, RIGHT, UNCOMPILED, WRONG
from golden_files import assert_golden
from kfp import Run, RunError, UsageError, evolve
from kfp.results import Evaluation
from kfp.runs import export
from kfp.runs.folder import RunWriter
from kfp.runs.index import Index
from kfp.runs.provenance import gather
from kfp.runs.records import CandidateRecord, Decision, Finale, Finalist, IterationRecord, Provenance, Spec
from kfp.search.judgement import Call, Judgement, Ratio
from kfp.search.models.base import Reply, Usage
from kfp.search.models.prices import Price, price_of
from kfp.search.story import run_text
from search import loopback as api
from search.conftest import KEY
from search.loopback import Loopback
from search.scripted import UNCOMPILED as BROKEN
from search.scripted import ByComment, Scripted, costing, fenced

PRICE = Price(3.0, 0.3, 3.75, 15.0, "2026-11-30")
SPEC = Spec(
    task="saxpy", model="anthropic/claude-test", device="cpu", scale="full", math="fast", seed=0, replicate=1,
    strategy="evolve", candidates=1, disclose=False, selection_draws=1, max_tokens=32_000, call_seconds=900.0,
    effort="", start_sha256="0" * 64,
)  # fmt: skip
PROVENANCE = Provenance(
    kfp_version="0.1.0", revision="0123abcd", dirty=True, python="3.12.1", platform="Linux", packages=("numpy 2.0",),
    device=DEVICE, price=PRICE, started="2026-11-30T12:00:00+00:00", command="kfp evolve saxpy --model m",
)  # fmt: skip


def judged(ratio: float, verdict: Call, width: float = 0.02) -> Judgement:
    low, high = ratio * (1 - width), ratio * (1 + width)
    return Judgement(verdict, ratio, low, high, (Ratio("n", ratio, low, high, verdict),), 64, "search", True, "", 1.0)


def candidate(
    decision: Decision, evaluation: Evaluation | None, reason: str, *judgements: Judgement, hidden: float = 0.0
) -> CandidateRecord:
    return CandidateRecord(
        number=1,
        model="claude-test-20260101",
        answer="kernel" if evaluation is not None else "refusal",
        source_sha256="" if evaluation is None else f"{decision:0<64}",
        evaluation=evaluation,
        judgements=judgements,
        selection=(judged(hidden, "regression"),) if hidden else (),
        decision=decision,
        reason=reason,
        usage=Usage(input=12_000, cached=9_000, output=3_000, thinking=2_000),
        cost_usd=0.0567,
        cost_bound_usd=0.0567,
        model_seconds=20.0,
        attempts=1,
    )


CANDIDATES = (
    candidate("invalid", UNCOMPILED, UNCOMPILED.reason),
    candidate("wrong", WRONG, WRONG.reason),
    candidate("no kernel", None, "the model refused to answer"),
    candidate("promoted", RIGHT, "faster than the incumbent", judged(1.31, "win")),
    candidate("vetoed", RIGHT, "faster, but 0.41 times as fast as the incumbent on a hidden draw",
              judged(2.4, "win"), hidden=0.41),
    candidate("no gain", RIGHT, "as fast as the incumbent", judged(1.001, "no change", 0.005)),
)  # fmt: skip


def recorded(number: int, found: CandidateRecord) -> IterationRecord:
    promoted = 1 if found.decision == "promoted" else None
    return IterationRecord(number, (found,), promoted, "0" * 64, (), 24.0, 0.031, 2 if number == 2 else 0, 1.5)


@pytest.fixture
def story(tmp_path: Path) -> Path:
    """A run with made-up figures and every kind of iteration."""
    folder = tmp_path / "story"
    with RunWriter.create(folder, SPEC, PROVENANCE, "start", "system") as writer:
        writer.write_start_evaluation(RIGHT)
        for number, found in enumerate(CANDIDATES, start=1):
            writer.write_prompt(number, f"prompt {number}")
            reply = Reply("claude", f"answer {number}", "thought", "end", "", found.usage, 20.0, 1, 0, "id")
            room = writer.reserve_reply(number, 1, 1000)
            room.fill(reply.to_json())
            writer.write_record(recorded(number, found))
        claim, held_out = judged(1.24, "win"), judged(1.19, "win", 0.05)
        finalists = (
            Finalist("incumbent", 4, "promoted", "claude-test", 1.31, claim, held_out),
            Finalist("best by score", 5, "vetoed", "claude-test", 3.14, judged(3.0, "win"), judged(0.6, "regression")),
        )
        writer.write_finale(Finale(len(CANDIDATES), 1, "N=4194304, a=2.5", finalists, 60.0))
    return folder


def test_the_story_of_a_run(story: Path) -> None:
    text = run_text(Run(story)).replace(str(story), "FOLDER")
    assert_golden("run.txt", text + "\n")
    assert max(map(len, text.splitlines())) <= 80


def test_a_run_prints_itself_and_its_json_is_whole(story: Path) -> None:
    run = Run(story)
    assert str(run) == run_text(run)
    data = json.loads(json.dumps(run.to_json(), allow_nan=False))
    assert [IterationRecord.from_json(entry) for entry in data["iterations"]] == list(run.iterations)
    assert Spec.from_json(data["spec"]) == SPEC
    assert Provenance.from_json(data["provenance"]) == PROVENANCE


def test_exports(story: Path, tmp_path: Path) -> None:
    run = Run(story)
    rows = [json.loads(line) for line in export.jsonl_lines(run)]
    assert [row["decision"] for row in rows] == [found.decision for found in CANDIDATES]
    assert rows[4]["ratio"] == 2.4
    assert rows[4]["vetoed_ratio"] == 0.41
    assert rows[2]["verdict"] is None
    export.write_lines(export.csv_lines(run), tmp_path / "run.csv")
    with (tmp_path / "run.csv").open(newline="") as file:
        table = list(csv.DictReader(file))
    assert [row["model"] for row in table] == ["claude-test-20260101"] * len(CANDIDATES)
    assert table[1]["reason"] == WRONG.reason
    export.write_parquet(run, out=tmp_path / "run.parquet")
    import pyarrow.parquet

    assert pyarrow.parquet.read_table(tmp_path / "run.parquet").to_pylist() == rows
    assert len(run.frame("pandas")) == len(rows)
    assert run.frame("polars").height == len(rows)


def test_trajectories_hold_question_answer_and_verdict(story: Path) -> None:
    lines = [json.loads(line) for line in export.trajectory_lines(Run(story))]
    assert [message["role"] for message in lines[0]["messages"]] == ["system", "user", "assistant"]
    assert [line["messages"][1]["content"] for line in lines] == [f"prompt {n}" for n in range(1, 7)]
    assert lines[3]["decision"] == "promoted"
    assert lines[3]["messages"][2]["thinking"] == "thought"


def test_the_index_is_built_anew_from_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))
    run = evolve("saxpy", model=Scripted([fenced(costing(0.5)), "x"]), iterations=2, scale="small", referee=ByComment())
    (row,) = Index().rows()
    assert (row.path, row.status, row.done, row.iterations, row.promotions) == (str(run.folder), "complete", 2, 2, 1)
    assert row.best == pytest.approx(2.0)
    assert row.tokens == run.totals.usage.total
    with sqlite3.connect(tmp_path / "runs/index.sqlite") as database:
        (mode,) = database.execute("PRAGMA journal_mode").fetchone()
        decisions = database.execute("SELECT decision FROM candidates ORDER BY iteration").fetchall()
    database.close()
    assert mode == "wal"
    assert decisions == [("promoted",), ("no kernel",)]
    for file in (tmp_path / "runs").glob("index.sqlite*"):
        file.unlink()
    (again,) = Index().rows()
    assert replace(again, status="complete") == row


def test_an_index_that_is_none_fails_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "runs"
    folder.mkdir()
    (folder / "index.sqlite").write_text("this is no database, whatever its name says; far from it" * 50)
    monkeypatch.setenv("KFP_RUNS_DIR", str(folder))
    run = evolve("saxpy", model=Scripted(["x"]), iterations=1, scale="small", referee=ByComment())
    assert run.totals.iterations == 1
    with pytest.raises(RunError, match="may be deleted"):
        Index().rows()


def test_where_a_run_comes_from() -> None:
    found = gather(DEVICE, PRICE, "kfp evolve")
    assert found.kfp_version
    assert any(package.startswith("anthropic ") for package in found.packages)
    assert found.device == DEVICE
    assert (found.revision == "") or len(found.revision) == 40


def test_prices() -> None:
    known = price_of("anthropic/claude-haiku-4-5")
    assert known is not None
    assert known.date
    assert price_of("anthropic/claude-haiku-4-5-20251001") == known
    assert price_of("anthropic/claude-haiku-4-5-9") is None
    assert price_of("openai/nothing-of-the-kind") is None
    assert known.cost(fresh=1_000_000, cached=0, cache_written=0, output=1_000_000) == known.input + known.output


@pytest.mark.parametrize("text", ["", "[]", '{"date": "2026"}', '{"date": 1, "usd_per_million_tokens": {"m": {}}}'])
def test_a_price_list_that_is_none(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    monkeypatch.setenv("KFP_PRICES", str(file))
    with pytest.raises(UsageError, match=r"prices\.json: expected"):
        price_of("anthropic/claude-sonnet-5")


def test_a_price_list_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "prices.json"
    row = {"input": 1.0, "cached": 0.5, "cache_write": 1.0, "output": 2.0}
    file.write_text(json.dumps({"date": "2027-01-01", "usd_per_million_tokens": {"openai/mine": row}}))
    monkeypatch.setenv("KFP_PRICES", str(file))
    assert price_of("openai/mine") == Price(1.0, 0.5, 1.0, 2.0, "2027-01-01")
    assert price_of("anthropic/claude-sonnet-5") is None


def test_no_key_is_in_anything_that_a_run_writes_or_says(loopback: Loopback, tmp_path: Path) -> None:
    """A server that echoes the key in its errors and answers; the real SDK; the real command line."""
    loopback.behaviours = [
        api.error(500, f"your key {KEY} made me stumble"),
        api.stream(api.anthropic_events(fenced(BROKEN))),
        api.error(401, f"your key {KEY} is no good", "authentication_error"),
    ]
    folder = tmp_path / "run"
    command = [
        sys.executable, "-m", "kfp", "evolve", "saxpy", "--model", f"anthropic/claude-test@{loopback.url}",
        "--scale", "small", "--iterations", "2", "--out", str(folder),
    ]  # fmt: skip
    process = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 2, process.stderr
    assert "401" in process.stderr
    assert "Traceback" not in process.stderr
    assert KEY not in process.stdout + process.stderr
    for file in tmp_path.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    assert len(list(Run(folder).iterations)) == 1


def test_the_command_line_lists_shows_and_refuses(story: Path) -> None:
    def kfp(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "kfp", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    shown = kfp("runs", "show", str(story))
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout == run_text(Run(story)) + "\n"
    rows = kfp("runs", "export", str(story), "--format", "csv")
    assert rows.stdout.splitlines()[0] == ",".join(export.COLUMNS)
    listed = kfp("runs")
    assert "no runs in" in listed.stdout
    for arguments, words in (
        (("runs", "show", str(story / "iterations")), "no run.json"),
        (("evolve", "saxpy", "--model", "gpt"), "expected anthropic/MODEL"),
        (("evolve", "nothing", "--model", "demo"), "unknown task"),
        (("evolve", "saxpy"), "--model"),
        (("evolve", "saxpy", "--model", "openai/gpt-5-mini", "--budget-usd", "0.001"), "can't pay for one iteration"),
    ):
        process = kfp(*arguments)
        assert process.returncode == 2, process.stdout
        assert words in process.stderr
        assert "Traceback" not in process.stderr


def test_unknown_parameters_of_a_record_are_not_dropped(story: Path) -> None:
    file = story / "iterations/0001/record.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "colour": "blue"}))
    with pytest.raises(RunError, match="unknown field 'colour'"):
        list(Run(story).iterations)
