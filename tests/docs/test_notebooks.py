"""The notebooks run from top to bottom, and what each cell ends with can be shown."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from report import recorded

NOTEBOOKS = Path(__file__).resolve().parents[2] / "docs" / "notebooks"


def cells(name: str) -> list[dict[str, Any]]:
    return json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))["cells"]  # type: ignore[no-any-return]


def executed(name: str) -> dict[str, Any]:
    """As Jupyter does it: the last expression of a cell is its result, shown as HTML if it can be, else as text."""
    names: dict[str, Any] = {}
    for cell in cells(name):
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, name, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
            assert value is None or (value._repr_html_() if hasattr(value, "_repr_html_") else repr(value))
    return names


@pytest.mark.parametrize("name", ["own-kernel", "read-a-run"])
def test_they_are_kept_without_what_they_print(name: str) -> None:
    for cell in cells(name):
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            compile("".join(cell["source"]), name, "exec")


def test_reading_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    recorded.write_run(tmp_path / "run", recorded.gate())
    executed("read-a-run")
    assert "held out        0.164" in capsys.readouterr().out
    assert (tmp_path / "report.html").is_file()


@pytest.mark.full
def test_a_kernel_of_ones_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = executed("own-kernel")
    assert names["evaluation"].correct
    assert names["gate"].verdict != "wrong"
