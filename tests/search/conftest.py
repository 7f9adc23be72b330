"""The search asks nobody but a server on this machine, keeps runs to the test's own folder, and knows no key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from loopback_only import outside
from search.loopback import Loopback

KEY = "sk-test-0123456789abcdef-do-not-show"


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Iterator[None]:
    outside.clear()
    yield
    assert not outside


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))
    for name in ("ANTHROPIC", "OPENAI", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", KEY)
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "OPENAI_BASE_URL", "KFP_PRICES", "KFP_LOCAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def loopback() -> Iterator[Loopback]:
    with Loopback() as server:
        yield server
