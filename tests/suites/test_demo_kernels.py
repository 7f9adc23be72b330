"""Every scene of a demo is what its script says: it does not compile, is wrong where one looks, or right everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from kfp import machine
from kfp.compiling import compile_source
from kfp.limits import Limits
from kfp.running import run_configuration
from kfp.search.models.demo import FOLDER, DemoModel, script
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Task

TASKS = [get_task(path.parent.name) for path in sorted(FOLDER.glob("*/script.json"))]
CASES = [pytest.param(task, id=task.name, marks=[pytest.mark.full] if task.suite == "sci" else []) for task in TASKS]


def first_verdict_that_is_not_right(task: Task, source: str, configurations: list[Configuration]) -> str:
    device = machine.resolve("cpu")
    with machine.open_worker(device, Limits()) as worker:
        compilation = compile_source(worker, device, source, math="fast")
        if compilation.library is None:
            return compilation.verdict
        for configuration in configurations:
            run = run_configuration(
                worker, compilation.library, compilation.kernels, task, configuration, None,
                checked=False, progress=lambda stage: None,
            )  # fmt: skip
            if run.verdict != "right":
                return run.verdict
    return "right"


def test_both_suites_have_demos() -> None:
    for suite in ("sci", "zk"):
        assert sum(task.suite == suite for task in TASKS) >= 4


@pytest.mark.parametrize("task", CASES)
def test_scenes(task: Task) -> None:
    rng = np.random.default_rng(8)
    searched = list(task.configurations("small"))
    everywhere = [*searched, task.published_held_out("small"), *(task.draw(rng, "small") for _ in range(6))]
    scenes = {scene.kind: scene.source for scene in script(task.name)}
    assert set(scenes) == {"compile error", "wrong", "fingerprint", "gain"}
    for kind in ("compile error", "wrong"):
        assert first_verdict_that_is_not_right(task, scenes[kind], searched) == kind
    start = DemoModel(task).start
    for source in [scenes["fingerprint"], scenes["gain"], *([start] if start else [])]:
        assert first_verdict_that_is_not_right(task, source, everywhere) == "right"
