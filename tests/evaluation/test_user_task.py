"""A task of the user's own: one Python file and one seed beside it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from kfp import TaskError, evaluate

README = Path(__file__).parents[2] / "README.md"
# The very example that the README gives.
(TASK,) = (
    block for block in re.findall(r"```python\n(.*?)```", README.read_text(), re.DOTALL) if "class Squares" in block
)

SEED = """\
#include <metal_stdlib>
kernel void squares(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
    y[i] = x[i] * x[i];
}
"""


@pytest.fixture
def task_file(tmp_path: Path) -> Path:
    (tmp_path / "squares.metal").write_text(SEED)
    file = tmp_path / "my_task.py"
    file.write_text(TASK)
    return file


def test_its_seed_is_found_beside_it(task_file: Path) -> None:
    result = evaluate(f"{task_file}:Squares")
    assert result.correct, str(result)
    assert result.task == "squares"


def test_a_kernel_for_it(task_file: Path) -> None:
    assert not evaluate(f"{task_file}:Squares", SEED.replace("x[i] * x[i]", "x[i]")).correct


def test_command_line(task_file: Path) -> None:
    command = [sys.executable, "-m", "kfp", "evaluate", "my_task.py:Squares", "squares.metal"]
    process = subprocess.run(command, cwd=task_file.parent, capture_output=True, text=True, timeout=120, check=False)
    assert process.returncode == 0, process.stderr
    assert process.stdout.startswith("squares on ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("** 2}", "** 2 + no_such_name}", "task 'squares', configuration 'n=65536': NameError: name 'no_such_name'"),
        ("return max_abs_check", "raise KeyError('z'); return max_abs_check", "KeyError: 'z'"),
        ('{0: "x", 1: "y"}', '{0: "x", 1: "z"}', "binding 1 names the unknown buffer 'z'"),
        ('{"y": "y"},', '{"y": "w"},', "output 'y' names the unknown buffer 'w'"),
        ('Demand("dram"', 'Demands("dram"', "NameError"),
    ],
)
def test_what_goes_wrong_in_the_task_is_the_tasks_error(task_file: Path, old: str, new: str, message: str) -> None:
    task_file.write_text(TASK.replace(old, new))
    with pytest.raises(TaskError, match="task 'squares'") as error:
        evaluate(f"{task_file}:Squares")
    assert message in str(error.value)


def test_work_that_a_repeat_can_skip_is_timed_without_repeats(task_file: Path) -> None:
    lazy = """\
    if (y[i] == x[i] * x[i]) return;
    float sum = x[i];
    for (uint k = 0; k < 400; ++k) sum = metal::fma(sum, 0.5f, x[i]);
    y[i] = sum > 1e30f ? 0.0f : x[i] * x[i];
"""
    small = task_file.read_text().replace("2**16, 2**20", "2**8, 2**10")
    task_file.write_text(small)
    result = evaluate(f"{task_file}:Squares", SEED.replace("    y[i] = x[i] * x[i];\n", lazy))
    assert result.correct, str(result)
    for row in result.configurations:
        assert row.timing is not None
        assert row.timing.repeats == 1
        assert row.flags == ("faster when repeated without a reset: single runs count",)
