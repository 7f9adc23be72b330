"""A task of the user's own: one Python file and one seed beside it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from kfp import TaskError, evaluate

TASK = '''
"""Squares of integers."""
import numpy as np
from kfp.plan import Dispatch, Plan, blank, given, linear
from kfp.tasks.base import Argument, Check, Configuration, Demand, Kernel, Task, max_abs_check


class Squares(Task):
    name = "squares"
    suite = "mine"
    title = "Squares"
    regime = "bandwidth"
    unit = "GB/s"
    kernels = (
        Kernel("squares", (Argument(0, "x", "float", "read"), Argument(1, "y", "float", "write")), (64, 1, 1)),
    )
    brief = "y[i] = x[i] * x[i]"

    def configurations(self, scale):
        return tuple(Configuration(f"n={n}", {"n": n}, scale=scale) for n in (256, 1024))

    def published_held_out(self, scale):
        return Configuration("n=512", {"n": 512}, "published_held_out", scale)

    def draw(self, rng, scale):
        return Configuration("drawn", {"n": int(rng.integers(4, 1000)) * 64}, "drawn", scale)

    def inputs(self, configuration):
        rng = np.random.default_rng(configuration.seed)
        return {"x": rng.random(configuration.integer("n"), dtype=np.float32)}

    def plan(self, configuration, inputs, caps):
        n = configuration.integer("n")
        grid, threadgroup = linear(n, 64, caps["squares"])
        return Plan(
            (given("x", inputs["x"]), blank("y", (n,), np.float32)),
            (Dispatch("squares", {0: "x", 1: "y"}, grid, threadgroup),),
            {"y": "y"},
        )

    def reference(self, configuration, inputs):
        return {"y": inputs["x"].astype(np.float64) ** 2}

    def check(self, configuration, inputs, outputs, expected):
        return max_abs_check(outputs["y"], expected["y"], 1e-6, 1e-6)

    def demands(self, configuration, expected):
        return (Demand("dram", 8.0 * configuration.integer("n")),)
'''

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
        ("** 2}", "** 2 + no_such_name}", "task 'squares', configuration 'n=256': NameError: name 'no_such_name'"),
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
