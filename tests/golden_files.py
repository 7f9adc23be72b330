"""Comparing text with a file in tests/golden/expected. KFP_UPDATE_GOLDEN=1 writes the files instead."""

from __future__ import annotations

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden" / "expected"


def assert_golden(name: str, text: str) -> None:
    path = FOLDER / name
    if os.environ.get("KFP_UPDATE_GOLDEN") == "1":
        path.write_text(text, encoding="utf-8")
    expected = path.read_text(encoding="utf-8")
    assert text == expected, f"{path.name} differs; if the change is meant, run with KFP_UPDATE_GOLDEN=1"
