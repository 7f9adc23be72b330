"""Tasks are found by name, by file, or refused with a reason that helps."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kfp.errors import TaskError
from kfp.gating.variations import Variation, varied
from kfp.tasks import SUITES, all_tasks, get_task
from kfp.tasks.base import Configuration
from kfp.tasks.cache import ReferenceCache
from kfp.tasks.sci.saxpy import Saxpy

OWN = """
from dataclasses import dataclass
from kfp.tasks.sci.saxpy import Saxpy

@dataclass
class Helper:
    value: int = 3

class Mine(Saxpy):
    name = "mine"

class Other(Saxpy):
    name = "other"
"""


def test_by_name() -> None:
    for suite in SUITES:
        for task in all_tasks(suite):
            assert get_task(task.name) is task
            assert task.suite == suite
    assert get_task(Saxpy).name == "saxpy"
    task = Saxpy()
    assert get_task(task) is task


def test_unknown_names_get_a_hint() -> None:
    with pytest.raises(TaskError, match=r"unknown task 'heat3d'; did you mean 'heat2d'\?"):
        get_task("heat3d")
    with pytest.raises(TaskError, match="there are: saxpy, heat2d"):
        get_task("xyzzy")
    with pytest.raises(TaskError, match="unknown suite 'zz'"):
        all_tasks("zz")


def test_by_file(tmp_path: Path) -> None:
    path = tmp_path / "own.py"
    path.write_text(OWN)
    task = get_task(f"{path}:Mine")
    assert task.name == "mine"
    assert type(task).__module__ in sys.modules
    with pytest.raises(TaskError, match="expected one task class, found Mine, Other"):
        get_task(str(path))
    path.write_text(OWN.split("class Other")[0])
    assert get_task(str(path)).name == "mine"


@pytest.mark.parametrize(
    ("text", "name", "reason"),
    [
        ("x = 1", "Mine", "defines no such name"),
        ("Mine = 3", "Mine", "expected a subclass of kfp.tasks.base.Task, got 3"),
        ("raise RuntimeError('no')", "Mine", "RuntimeError: no"),
        ("def f(:", "Mine", "SyntaxError"),
        ("from kfp.tasks.base import Task\nclass Mine(Task): pass", "Mine", "does not define check, configurations"),
        ("from kfp.tasks.sci.saxpy import Saxpy\nclass Mine(Saxpy):\n  pass\ndel Saxpy.title", "Mine", "'title'"),
    ],
)
def test_files_that_hold_no_task(tmp_path: Path, text: str, name: str, reason: str) -> None:
    path = tmp_path / "broken.py"
    path.write_text(text)
    title = Saxpy.title
    try:
        with pytest.raises(TaskError, match=reason):
            get_task(f"{path}:{name}")
    finally:
        Saxpy.title = title


def test_a_missing_file() -> None:
    with pytest.raises(TaskError, match=r"nowhere\.py: no such file"):
        get_task("nowhere.py:Mine")


class Counting(Saxpy):
    calls = 0

    def reference(self, configuration, inputs):  # type: ignore[no-untyped-def]
        type(self).calls += 1
        return super().reference(configuration, inputs)


def counting(limit: int, sizes: list[int]) -> tuple[int, ReferenceCache]:
    """How often the reference was computed when configurations of these sizes were asked for in turn."""
    Counting.calls = 0
    cache = ReferenceCache(limit)
    for n in sizes:
        configuration = Configuration("n", {"N": n, "a": 2.0}, scale="small")
        inputs, expected = cache.get(Counting(), configuration)
        assert expected["y"].shape == inputs["x"].shape == (n,)
    return Counting.calls, cache


def test_the_cache_keeps_what_fits() -> None:
    calls, cache = counting(12 * 1000, [300, 600, 300, 600])
    assert (calls, cache.nbytes) == (2, 12 * 900)
    cache.clear()
    assert cache.nbytes == 0


def test_the_cache_drops_the_least_recently_used() -> None:
    calls, cache = counting(12 * 1000, [300, 600, 300, 500, 300, 600])
    assert calls == 4
    assert cache.nbytes <= 12 * 1000


def test_the_cache_never_keeps_what_exceeds_it() -> None:
    calls, cache = counting(100, [300, 300])
    assert (calls, cache.nbytes) == (2, 0)


def test_inputs_are_remembered_without_a_reference() -> None:
    Counting.calls = 0
    cache = ReferenceCache(12 * 1000)
    configuration = Configuration("n", {"N": 300, "a": 2.0}, scale="small")
    assert not cache.has_inputs(Counting(), configuration)
    inputs = cache.inputs(Counting(), configuration)
    assert (cache.has_inputs(Counting(), configuration), Counting.calls, cache.nbytes) == (True, 0, 8 * 300)
    assert cache.get(Counting(), configuration)[0] is inputs is cache.inputs(Counting(), configuration)
    assert (Counting.calls, cache.nbytes) == (1, 12 * 300)
    assert cache.get(Counting(), replace(configuration, parameters={"N": 2000, "a": 2.0}))[0]["x"].size == 2000
    assert cache.nbytes == 12 * 300


def test_the_cache_knows_what_a_variation_leaves_as_it_was() -> None:
    Counting.calls = 0
    cache = ReferenceCache(1 << 20)
    plain, padded, other = (Configuration(name, {"N": 300, "a": 2.0}, scale="small") for name in ("p", "q", "r"))
    for configuration in (plain, padded, other):
        cache.get(Counting(), configuration)
    variations = {padded: Variation(padding=1), other: Variation("uniform")}
    for _ in range(2):
        task = varied(Counting(), variations)
        assert cache.get(task, plain)[0] is cache.get(Counting(), plain)[0]
        assert cache.get(task, padded)[0] is cache.inputs(Counting(), padded)
        assert not np.array_equal(cache.get(task, other)[0]["x"], cache.get(Counting(), other)[0]["x"])
    assert Counting.calls == 4


def test_cached_arrays_are_read_only() -> None:
    _, expected = ReferenceCache().get(Saxpy(), Saxpy().configurations("small")[0])
    with pytest.raises(ValueError, match="read-only"):
        expected["y"][0] = np.float32(1)
