"""Every seed kernel is right at every configuration, in distribution and held out."""

from __future__ import annotations

import numpy as np
import pytest
from kfp import evaluate
from kfp.tasks import all_tasks
from kfp.tasks.base import Scale, Task

SCALES = [pytest.param("small"), pytest.param("full", marks=[pytest.mark.slow, pytest.mark.full])]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_in_distribution(task: Task, scale: Scale) -> None:
    result = evaluate(task, scale=scale)
    assert result.correct, str(result)
    assert result.verdict == "right"
    assert [row.label for row in result.configurations] == [c.label for c in task.configurations(scale)]
    for row in result.configurations:
        assert row.error is not None
        assert row.tolerance is not None
        assert row.error <= row.tolerance
        assert row.timing is not None
        assert 0 < row.timing.lower_quartile <= row.timing.seconds <= row.timing.upper_quartile
        assert row.fraction is not None
        assert row.fraction > 0
        assert row.ceiling_source
    assert result.score is not None
    assert result.score > 0


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_published_held_out(task: Task, scale: Scale) -> None:
    result = evaluate(task, scale=scale, configurations=[task.published_held_out(scale)])
    assert result.correct, str(result)
    assert task.published_held_out(scale).label not in result.feedback()


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_checked_mode_finds_nothing(task: Task) -> None:
    result = evaluate(task, scale="small", checked=True)
    assert result.correct, str(result)
    assert result.score is None
    assert all(row.timing is None for row in result.configurations)


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_two_hundred_draws(task: Task) -> None:
    rng = np.random.default_rng(200)
    result = evaluate(task, scale="small", configurations=[task.draw(rng, "small") for _ in range(200)])
    assert result.correct, str(result)
