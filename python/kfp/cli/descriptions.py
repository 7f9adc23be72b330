"""Tasks as text and as JSON. No held-out value is in either."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from kfp.tables import Line, grid, wrapped
from kfp.tasks.base import Kernel, Task


def task_list_lines(tasks: Sequence[Task]) -> list[Line]:
    heading, *rows = grid(
        ("task", "suite", "title", "unit"),
        [(task.name, task.suite, task.title, task.unit) for task in tasks],
        left=(0, 1, 2, 3),
        flexible=2,
    )
    return [Line(heading, "dim"), *map(Line, rows), Line(""), Line("kfp show TASK has the contract of each.", "dim")]


def task_lines(task: Task) -> list[Line]:
    lines = wrapped(f"{task.name}: {task.title}", style="bold")
    for block in task.brief.strip().split("\n\n"):
        lines += [Line(""), *_paragraph(block)]
    lines += [Line(""), Line("configurations", "bold")]
    for configuration in task.configurations("full"):
        numbers = ", ".join(f"{name} = {value}" for name, value in configuration.parameters.items())
        lines += wrapped(f"{configuration.label}: {numbers}", "  ")
    lines += [Line(""), *wrapped(f"regime: {task.regime}; scored in {task.unit}", style="dim")]
    if task.weak_axis:
        lines += wrapped(f"weak gate: {task.weak_axis}", style="dim")
    return lines


def _paragraph(block: str) -> list[Line]:
    """Prose is filled, list items one by one; what is laid out with an indent keeps it."""
    lines: list[Line] = []
    for is_prose, group in groupby(block.splitlines(), lambda text: not text.startswith((" ", "- "))):
        texts = list(group)
        lines += wrapped(" ".join(texts)) if is_prose else [line for text in texts for line in _indented(text)]
    return lines


def _indented(text: str) -> list[Line]:
    body = text.lstrip().removeprefix("- ")
    start = text[: len(text) - len(body)]
    first, *others = wrapped(body, " " * len(start))
    return [Line(start + first.text[len(start) :]), *others]


def task_json(task: Task) -> dict[str, Any]:
    return {
        "name": task.name,
        "suite": task.suite,
        "title": task.title,
        "regime": task.regime,
        "unit": task.unit,
        "brief": task.brief,
        "weak_axis": task.weak_axis,
        "kernels": [_kernel_json(kernel) for kernel in task.kernels],
        "configurations": [configuration.to_json() for configuration in task.configurations("full")],
    }


def _kernel_json(kernel: Kernel) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "signature": kernel.signature,
        "threadgroup": list(kernel.threadgroup),
        "arguments": [
            {"index": a.index, "name": a.name, "dtype": a.dtype, "access": a.access} for a in kernel.arguments
        ],
    }
