"""The search asks nobody but a server on this machine, keeps runs to the test's own folder, and knows no key."""

from __future__ import annotations

import ipaddress
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from search.loopback import Loopback

KEY = "sk-test-0123456789abcdef-do-not-show"

_outside: list[str] = []


def _watch(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = str(arguments[1][0])
    elif event == "socket.getaddrinfo":
        host = str(arguments[0])
    else:
        return
    if host != "localhost" and not (_is_address(host) and ipaddress.ip_address(host).is_loopback):
        _outside.append(host)


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


sys.addaudithook(_watch)


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> Iterator[None]:
    _outside.clear()
    yield
    assert not _outside


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
