"""Turns at the device are taken among a test's own processes; the page on neighbours is read in its own folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from adapters.following import EDITS, LINE, Reader
from adapters.planted_task import SEED
from adapters.scripted_server import Proposer
from loopback_only import outside


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Iterator[None]:
    outside.clear()
    yield
    assert not outside


@pytest.fixture(autouse=True)
def own_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_TURNS_DIR", str(tmp_path / "turns"))


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[Reader]:
    (tmp_path / "work").mkdir()
    with Proposer(SEED.read_text(), LINE, EDITS) as server:
        yield Reader(tmp_path / "work", server)
