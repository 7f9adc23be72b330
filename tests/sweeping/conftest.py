"""Sweeps keep runs and turns to the test's own folders."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sweeping.disturbing import facts_of, spec_of_64
from sweeping.small_sweeps import finish, start_driver


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))
    monkeypatch.setenv("KFP_TURNS_DIR", str(tmp_path / "turns"))
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is to be said of the sweep of 64 units that nobody disturbs."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("runs", "turns"):
            patch.setenv(f"KFP_{name.upper()}_DIR", str(folder / name))
        finish(start_driver(spec_of_64(folder), "--out", str(folder / "sweep")), 3600)
    return facts_of(folder / "sweep")
