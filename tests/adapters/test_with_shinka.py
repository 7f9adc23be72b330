"""ShinkaEvolve itself, from start to end."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest
from adapters.following import Reader, require_no_leak, require_same_verdicts
from adapters.planted_task import NAME
from kfp.adapters.shinka import look_at_best

pytestmark = pytest.mark.neighbours


def test_a_search(reader: Reader) -> None:
    started, searched, evaluated, written = reader.follow("ShinkaEvolve")
    results = reader.folder / "results"
    assert "\nright, score " in evaluated[1]
    with contextlib.closing(sqlite3.connect(next(results.glob("*.sqlite")))) as database:
        rows = database.execute("SELECT code, correct, combined_score FROM programs").fetchall()
    assert len(rows) >= 4
    require_same_verdicts((code, bool(correct)) for code, correct, _ in rows)
    assert all((score > 0) == bool(correct) for _, correct, score in rows)
    assert b"Score on planted" in reader.server.prompts
    assert written[1].endswith("task/evaluate.py")
    look_at_best(NAME, results, reader.folder / "books", scale="small", processes=3)
    printed = [text for _, text in (started, searched, evaluated)]
    require_no_leak(reader, printed, reader.folder / "books")
