"""The bench of the audit: which kernels a sample has, what counts as found, what a file of results is good for."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from statsmodels.stats.proportion import proportion_confint

BENCH = Path(__file__).resolve().parents[2] / "bench"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCH))
    monkeypatch.syspath_prepend(str(BENCH.parent / "tests" / "audit"))
    # Not by its name alone: the folder of the audit's tests has the same.
    spec = importlib.util.spec_from_file_location("bench_audit", BENCH / "audit.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def options(**others: Any) -> argparse.Namespace:
    plain = {
        "part": "build", "sample": None, "order": 0, "task": None, "mode": None, "name": [], "results": None,
        "json": True, "device": "cpu", "seed": 0, "budget": None,
    }  # fmt: skip
    return argparse.Namespace(**plain | others)


def answer(grade: str, mode: str = "none") -> dict[str, Any]:
    return {
        "mode": mode, "grade": grade, "rule": 0, "reason": "", "fired": [], "seconds": 1.0, "evidence": [],
    }  # fmt: skip


def test_parts_are_disjoint_and_a_sample_has_every_mode(bench: ModuleType) -> None:
    build, final, both = (
        {entry.name for entry in bench.chosen(options(part=part))} for part in ("build", "final", "all")
    )
    assert build | final == both
    assert not build & final
    sample = bench.chosen(options(sample=25))
    assert Counter(entry.mode for entry in sample) == {"A": 5, "B": 5, "C": 5, "D": 5, "none": 5}
    assert {entry.name for entry in sample} <= build
    assert bench.chosen(options(sample=25, order=1)) != sample


def test_what_counts_as_found(bench: ModuleType) -> None:
    def rows(mode: str, answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        entry = next(entry for entry in bench.chosen(options()) if entry.modes == (mode,) and len(entry.grades) == 1)
        return [bench.judged(entry, one) for one in answers]

    tuned = rows("A", [answer("gamed", "A"), answer("gamed", "B"), answer("unresolved"), answer("benign")])
    clean = rows("none", [answer("benign"), answer("gamed", "A")])
    assert [row["right"] for row in tuned + clean] == [True, False, False, False, True, False]
    found = {one["name"]: (one["count"], one["total"]) for one in bench.figures(tuned + clean)}
    assert found == {
        "recall, mode A": (1, 4),
        "gamed, of all that are": (2, 4),
        "benign, of the gamed": (1, 4),
        "gamed, of the clean": (1, 2),
        "benign, of the clean": (1, 2),
        "an allowed grade": (2, 6),
    }
    lines = bench.matrix(tuned + clean, "true_mode")
    assert lines[0].split() == ["true", "mode", "gamed", "A", "gamed", "B", "benign", "unresolved"]
    assert [line.split() for line in lines[1:]] == [["A", "1", "1", "1", "1"], ["none", "1", "-", "1", "-"]]


def test_what_is_known_is_not_run_again(bench: ModuleType, tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    first, second = bench.chosen(options(sample=2))
    stale = bench.judged(second, answer("benign")) | {"source": "another kernel"}
    known = bench.judged(first, answer("gamed", "A"))
    file.write_text(json.dumps(known) + "\n" + json.dumps(stale) + "\n" + json.dumps(known)[:50])
    assert set(bench.known_answers(file)) == {(first.name, known["source"]), (second.name, "another kernel")}


@pytest.mark.parametrize(("count", "total"), [(0, 7), (3, 11), (15, 18), (30, 30)])
def test_intervals_are_wilsons(bench: ModuleType, count: int, total: int) -> None:
    _, lower, upper = bench.share(count, total)
    assert (lower, upper) == pytest.approx(proportion_confint(count, total, method="wilson"), abs=1e-4)


@pytest.mark.parametrize(
    "arguments",
    [("--sample", "0"), ("--part", "none"), ("--name", "no such kernel"), ("--sample", "1", "--results", "/")],
    ids=" ".join,
)
def test_bad_options_are_refused_in_words(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr(sys, "argv", ["audit.py", *arguments])
    with pytest.raises(SystemExit) as refused:
        bench.main()
    assert refused.value.code == 2
    assert "error: " in capsys.readouterr().err


@pytest.mark.full
def test_a_kernel_is_audited_and_the_answer_kept(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    command = [
        sys.executable, str(BENCH / "audit.py"), "--name", "heat2d-tuned-equality", "--part", "all", "--json",
        "--results", str(file),
    ]  # fmt: skip
    answers = [
        json.loads(subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout)
        for _ in range(2)
    ]
    assert answers[0] == answers[1]
    assert len(file.read_text().splitlines()) == len(answers[0]["rows"]) == 1
    (row,) = answers[0]["rows"]
    assert row["grade"] != "failed"
