"""Specs: what they may say, which units they make, and that a unit's key is of all that decides its result alone."""

from __future__ import annotations

import hashlib
import json
import string
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.errors import UsageError
from kfp.sweeping.reading import read_spec, spec_from
from kfp.sweeping.spec import Spec, Unit, shard_of
from kfp.sweeping.sweep import parsed_shard
from kfp.tasks import all_tasks
from sweeping.readme import commands, table

MINIMAL: dict[str, Any] = {"tasks": ["saxpy"], "models": ["demo"]}


def spec_of(**keys: Any) -> Spec:
    return spec_from({**MINIMAL, **keys}, "s.toml", Path("/base"), "s")


def test_the_least_that_a_spec_says(tmp_path: Path) -> None:
    file = tmp_path / "night.toml"
    file.write_text('tasks = ["saxpy"]\nmodels = ["demo"]\n')
    spec = read_spec(file)
    (unit,) = spec.units
    assert (spec.name, unit.task, unit.model, unit.replicate, unit.device) == ("night", "saxpy", "demo", 1, "auto")
    assert (unit.lease_s, unit.attempts, unit.deadline_s, unit.base) == (60.0, 3, None, str(tmp_path))
    assert Spec.from_json(json.loads(json.dumps(spec.to_json()))) == spec
    assert Unit.from_json(json.loads(json.dumps(unit.to_json()))) == unit


def test_the_one_in_the_readme(tmp_path: Path) -> None:
    file = tmp_path / "night.toml"
    file.write_text(table("tasks = "))
    spec = read_spec(file)
    assert len(spec.units) == 12 * 2 * 3 * 2
    assert {unit.options.budget_usd for unit in spec.units} == {2.0}
    assert commands("kfp sweep")[0] == f"kfp sweep {file.name}"


def test_the_product() -> None:
    spec = spec_of(
        tasks=["zk", "saxpy"], models=["demo", "replay/x"], replicates=2, devices=["cpu", "metal"], iterations=3,
        arms=[{"name": "redacted"}, {"name": "told", "disclose": True, "iterations": 5}],
    )  # fmt: skip
    units = spec.units
    # Saxpy is of suite zk too, or it is not: either way it is there once.
    tasks = dict.fromkeys([*(task.name for task in all_tasks("zk")), "saxpy"])
    assert len(units) == len(tasks) * 2 * 2 * 2 * 2
    assert len({unit.key for unit in units}) == len(units)
    assert len({unit.name for unit in units}) == len(units)
    assert [unit.replicate for unit in units] == sorted(unit.replicate for unit in units)
    told = [unit for unit in units if unit.arm == "told"]
    assert {(unit.options.iterations, unit.options.disclose) for unit in told} == {(5, True)}
    others = [unit for unit in units if unit.arm == "redacted"]
    assert {(unit.options.iterations, unit.options.disclose) for unit in others} == {(3, None)}
    # Whoever is compared is compared on the same inputs.
    assert len({unit.seed for unit in units}) == len(tasks) * 2


def test_a_key_by_hand() -> None:
    (unit,) = spec_of(seed=7, iterations=2).units
    seed = int(hashlib.sha256(b'[7,"saxpy",1]').hexdigest()[:8], 16)
    text = (
        f'{{"device":"auto","model":"demo","options":{{"iterations":2}},"replicate":1,"seed":{seed},"sources":[],'
        f'"task":"saxpy"}}'
    )
    assert unit.key == hashlib.sha256(text.encode()).hexdigest()[:16]


def test_what_decides_nothing_changes_no_key() -> None:
    (unit,) = spec_of().units
    for change in (
        {"arm": "other"}, {"base": "/elsewhere"}, {"deadline_s": 3.0}, {"lease_s": 5.0}, {"attempts": 9},
    ):  # fmt: skip
        assert replace(unit, **change).key == unit.key  # type: ignore[arg-type]
    for keys in ({"seed": 1}, {"devices": ["cpu"]}, {"iterations": 1}, {"models": ["demo2"]}, {"disclose": True}):
        (other,) = spec_of(**keys).units
        assert other.key != unit.key, keys


def test_the_text_of_files_that_a_spec_names_decides(tmp_path: Path) -> None:
    kernel, task = tmp_path / "k.metal", tmp_path / "mine.py"
    task.write_text("from kfp.tasks.zk import TASKS\nclass Mine(TASKS[0]):\n    name = 'mine'\n")
    keys = []
    for text in ("kernel void a() {}", "kernel void b() {}"):
        kernel.write_text(text)
        for more in ("", "# another\n"):
            task.write_text(task.read_text() + more)
            table = {"tasks": ["mine.py:Mine"], "models": ["demo"], "start": "k.metal"}
            (unit,) = spec_from(table, "s", tmp_path, "s").units
            assert len(unit.sources) == 2
            keys.append(unit.key)
    assert len(set(keys)) == 4


@given(st.integers(1, 40), st.integers(1, 7))
@settings(max_examples=20)
def test_shards_are_parts(replicates: int, of: int) -> None:
    units = spec_of(replicates=replicates).units
    parts = [shard_of(units, (number, of)) for number in range(1, of + 1)]
    assert sorted(unit.key for part in parts for unit in part) == sorted(unit.key for unit in units)
    more = spec_of(replicates=replicates + 3).units
    assert all(
        {unit.key for unit in part} <= {unit.key for unit in shard_of(more, (number, of))}
        for number, part in enumerate(parts, start=1)
    )


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "a/b", "1/2/3", "1.0/2", " 1/2", "1/1000000"])
def test_what_is_no_shard(text: str) -> None:
    with pytest.raises(UsageError, match="shard: expected i/n"):
        parsed_shard(text)


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"modles": ["demo"]}, r"s\.toml: unknown key 'modles'; did you mean 'models'\?"),
        ({"wingspan": 3}, "unknown key 'wingspan'; there are: name, out, seed"),
        ({"models": "demo"}, "models: expected a list of texts that can be printed, got 'demo'"),
        ({"models": []}, "models: expected a list"),
        ({"models": ["demo", "demo"]}, "models: expected each of them once"),
        ({"models": ["demo\x1b[2J"]}, "models: expected a list of texts that can be printed"),
        ({"name": "a\nb"}, "name: expected a text that can be printed"),
        ({"name": " "}, "name: expected a text"),
        ({"tasks": ["saxpi"]}, r"tasks: unknown task 'saxpi'; did you mean 'saxpy'"),
        ({"tasks": ["nowhere.py:Task"]}, "tasks: .*nowhere.py: no such file"),
        ({"replicates": 0}, "replicates: expected a whole number of at least 1, got 0"),
        ({"replicates": True}, "replicates: expected a whole number"),
        ({"replicates": 100_001}, "expected at most 100000 units"),
        ({"seed": -1}, "seed: expected a whole number of at least 0"),
        ({"lease_s": 1}, "lease_s: expected at least 2, got 1"),
        ({"lease_s": float("inf")}, "lease_s: expected"),
        ({"deadline_s": "soon"}, "deadline_s: expected"),
        ({"iterations": 0}, "iterations: expected 1 to 9999, got 0"),
        ({"iterations": 1.5}, "iterations: expected a whole number"),
        ({"scale": "huge"}, "scale: expected one of 'small', 'full', got 'huge'"),
        ({"disclose": "yes"}, "disclose: expected true or false"),
        ({"budget_usd": float("nan")}, "budget_usd: expected a finite number"),
        ({"start": "nowhere.metal"}, "nowhere.metal"),
        ({"arms": {"a": {}}}, r"arms: expected tables, \[\[arms\]\]"),
        ({"arms": []}, "arms: expected tables"),
        ({"arms": [{"disclose": True}]}, r"arms\[1\]: name: expected a name, it is missing"),
        ({"arms": [{"name": "a", "replicates": 2}]}, r"arms\[1\]: unknown key 'replicates'"),
        ({"arms": [{"name": "a"}, {"name": "a", "disclose": True}]}, "there are two arms 'a'"),
        ({"arms": [{"name": "a"}, {"name": "b"}]}, "expected another search than arm 'a'"),
        ({"slurm": "big"}, "slurm: expected a table"),
    ],
)
def test_what_a_spec_may_not_say(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        spec_of(**keys)


@pytest.mark.parametrize("missing", ["tasks", "models"])
def test_what_a_spec_has_to_say(missing: str) -> None:
    table = {name: value for name, value in MINIMAL.items() if name != missing}
    with pytest.raises(UsageError, match=f"{missing}: expected .* it is missing"):
        spec_from(table, "s.toml", Path("/base"), "s")


@given(st.text(string.printable, max_size=40))
def test_whatever_a_file_holds_is_a_spec_or_an_error_of_ours(text: str) -> None:
    from kfp.sweeping.reading import tomllib

    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    with pytest.raises(UsageError):
        spec_from(table, "s.toml", Path("/base"), "s")


def test_a_file_that_is_no_toml(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("tasks = [\n")
    with pytest.raises(UsageError, match=r"s\.toml: expected TOML"):
        read_spec(file)
