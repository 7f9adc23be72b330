"""The list of names that clang predeclares holds against clang itself."""

from __future__ import annotations

import re
from pathlib import Path

from prelude_image import ROOT, diagnostics

HEADER = ROOT / "cpp" / "msl" / "reserved_names.hpp"


def listed() -> list[str]:
    return re.findall(r'^    "(\w+)",$', HEADER.read_text(), re.MULTILINE)


def lines_with_errors(lines: list[str], folder: Path) -> set[int]:
    errors = [e for e in diagnostics("\n".join(lines), folder, with_prelude=False) if "undeclared identifier" not in e]
    return {int(line) - 1 for e in errors for line in re.findall(r"\.cl:(\d+):", e)}


def test_every_listed_name_is_taken(tmp_path: Path) -> None:
    """As a type of ours, or else as a call, each is an error other than that the name is unknown."""
    names = listed()
    types = lines_with_errors([f"struct {name} {{ int a; }};" for name in names], tmp_path)
    others = [name for n, name in enumerate(names) if n not in types]
    calls = [f"int call_{n}(int q) {{ return {name}(q, q, q, q, q, q, q, q); }}" for n, name in enumerate(others)]
    functions = lines_with_errors(calls, tmp_path)
    assert [name for n, name in enumerate(others) if n not in functions] == []


def test_plain_names_are_not_listed(tmp_path: Path) -> None:
    names = ["printf", "memcpy", "sin", "barrier", "uniform", "image", "shared", "typeof", "ndrange_t", "get_global_id"]
    assert not set(names) & set(listed())
    source = "\n".join(f"struct {name} {{ int a; }};" for name in names)
    assert diagnostics(source, tmp_path, with_prelude=False) == []
