"""Kernels in the styles that language models write for the sci tasks: right ones come out right, broken ones don't.

A kernel's first line is its verdict, with a pattern of the reason for a broken one. All run at a drawn configuration,
whose extents fit no threadgroup.
"""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from kfp import evaluate
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Configuration

FOLDER = Path(__file__).parent / "kernels"
SCI = [task.name for task in all_tasks("sci")]
HEADS = {path: path.read_text().split("\n", 1)[0] for name in SCI for path in sorted((FOLDER / name).glob("*.metal"))}
RIGHT = [path for path, head in HEADS.items() if head == "// right"]
BROKEN = [path for path in HEADS if path not in RIGHT]
# More than a simdgroup in a line; and no longer than the statistics need.
CHANGES: dict[str, dict[str, float | int]] = {"fft3d": {"N": 64, "batch": 1}, "hmc": {"steps": 25}}
# Minutes in checked mode: every lane waits for thirty-one others at each of millions of exchanges.
SLOW_WHEN_CHECKED = {FOLDER / "hmc" / "simd_lanes.metal"}
RUNS = [(path, False) for path in RIGHT] + [(path, True) for path in RIGHT if path not in SLOW_WHEN_CHECKED]


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.stem}"


@cache
def configuration(task: str) -> Configuration:
    drawn = get_task(task).draw(np.random.default_rng(1), "small")
    changes = CHANGES.get(task, {})
    label = ", ".join([drawn.label, *(f"{key}={value}" for key, value in changes.items())])
    return replace(drawn, label=label, parameters={**drawn.parameters, **changes})


def test_every_task_has_kernels_of_both_kinds() -> None:
    for task in SCI:
        for kind in (RIGHT, BROKEN):
            assert sum(path.parent.name == task for path in kind) >= 2, task


@pytest.mark.parametrize(
    ("path", "checked"), RUNS, ids=[f"{name_of(path)}-{'checked' if checked else 'normal'}" for path, checked in RUNS]
)
def test_right(path: Path, checked: bool) -> None:
    task = path.parent.name
    result = evaluate(task, path, scale="small", checked=checked, configurations=[configuration(task)])
    assert result.verdict == "right", str(result)


@pytest.mark.parametrize("path", BROKEN, ids=name_of)
def test_broken(path: Path) -> None:
    match = re.fullmatch(r"// (wrong|fault|pipeline error|compile error): (.+)", HEADS[path])
    assert match, HEADS[path]
    task = path.parent.name
    result = evaluate(task, path, scale="small", checked=True, configurations=[configuration(task)])
    assert result.verdict == match[1], str(result)
    assert re.search(match[2], result.reason), result.reason
