"""What the README tells its readers to type about sweeps."""

from __future__ import annotations

import re
from pathlib import Path

README = Path(__file__).resolve().parents[2] / "README.md"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


def commands(begin: str) -> list[str]:
    """The lines of its blocks that begin so, without their comments."""
    lines = [line for language, body in _blocks() if not language for line in body.splitlines()]
    found = [line.partition("  #")[0].rstrip() for line in lines if line.startswith(begin)]
    assert found, f"README: no command begins with {begin!r}"
    return found


def table(begin: str) -> str:
    """Its block of TOML that begins so."""
    (found,) = (body for language, body in _blocks() if language == "toml" and body.startswith(begin))
    return found


def _blocks() -> list[tuple[str, str]]:
    return FENCE.findall(README.read_text(encoding="utf-8"))
