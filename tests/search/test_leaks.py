"""The leak guard: nothing of a held-out configuration gets into a prompt, in whatever way it is written."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import get_args

import numpy as np
import pytest
from constructed import RIGHT, UNCOMPILED
from hypothesis import given
from hypothesis import strategies as st
from kfp.errors import LeakError
from kfp.results import Diagnostic
from kfp.search.leaks import WITHHELD, Guard, sanitised
from kfp.search.prompt import SYSTEM, Attempt, PromptWriter
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Configuration, Scale, Task

TASKS = [task.name for task in all_tasks()]
SCALES: tuple[Scale, ...] = get_args(Scale)
CASES = [(name, scale) for name in TASKS for scale in SCALES]


def secrets(task: Task, scale: Scale) -> dict[str, float]:
    """The values of the published held-out configuration that no search configuration has in the same place.

    Without switches: a contract can't be told without saying what 0 and 1 mean.
    """
    seen = task.configurations(scale)
    held_out = task.published_held_out(scale)
    return {
        name: value
        for name, value in held_out.parameters.items()
        if value not in {0, 1, *(configuration.parameters.get(name) for configuration in seen)}
    }


def tells_by_itself(task: Task, scale: Scale, value: float) -> bool:
    """Neither a number that the contract or a search configuration shows elsewhere, nor one that is everywhere."""
    shown = {other for configuration in task.configurations(scale) for other in configuration.parameters.values()}
    shown |= {bound for entry in task.ranges for bound in (entry.low, entry.high)}
    return abs(value) >= 10 and value not in (16, 32, 64) and value not in shown


def with_brief(task: Task, brief: str) -> Task:
    return type(type(task).__name__, (type(task),), {"brief": brief})()


def writer(task: Task, scale: Scale) -> PromptWriter:
    return PromptWriter(task, scale, Guard(task, scale))


@pytest.mark.parametrize(("name", "scale"), CASES)
def test_what_ships_is_clean(name: str, scale: Scale) -> None:
    task = get_task(name)
    writer(task, scale).require_clean(seed_source(task))


@pytest.mark.parametrize(("name", "scale"), CASES)
def test_a_planted_value_is_found_in_brief_seed_and_label(name: str, scale: Scale) -> None:
    task = get_task(name)
    hidden = secrets(task, scale)
    assert hidden, "a held-out configuration that equals one that is searched"
    for parameter, value in hidden.items():
        bare = [str(value)] if tells_by_itself(task, scale, value) else []
        for planted in (f"{parameter} = {value}", f"{parameter}={value}", f"{parameter}: {value}", *bare):
            text = f"Some words. Best at {planted}, they say."
            with pytest.raises(LeakError, match="brief"):
                writer(with_brief(task, f"{task.brief}\n{text}"), scale).require_clean(seed_source(task))
            with pytest.raises(LeakError, match="starting kernel"):
                writer(task, scale).require_clean(f"// {text}\n{seed_source(task)}")
            with pytest.raises(LeakError, match="labels"):
                writer(_relabelled(task, planted), scale).require_clean(seed_source(task))


def _relabelled(task: Task, words: str) -> Task:
    original = type(task).configurations

    def configurations(self: Task, scale: Scale) -> tuple[Configuration, ...]:
        first, *others = original(self, scale)
        return (replace(first, label=f"{first.label}, not {words}"), *others)

    return type(type(task).__name__, (type(task),), {"configurations": configurations})()


@pytest.mark.parametrize(("name", "scale"), CASES)
def test_a_planted_value_is_taken_out_of_diagnostics_and_details(name: str, scale: Scale) -> None:
    task = get_task(name)
    guard = Guard(task, scale)
    held_out = task.published_held_out(scale)
    for parameter, value in secrets(task, scale).items():
        words = f"assertion failed for {parameter} == {value} of {held_out.label}"
        row = replace(RIGHT.configurations[0], correct=False, detail=words, flags=(words,))
        told = replace(UNCOMPILED, diagnostics=(Diagnostic("error", 3, 1, words),), reason=words, configurations=(row,))
        shown, taken = sanitised(told, guard)
        assert taken
        text = str(shown.to_json())
        assert WITHHELD in text
        assert held_out.label not in text
        assert f"{parameter} == {value}" not in text


@pytest.mark.parametrize(
    "written",
    ["4194304", "4_194_304", "4,194,304", "4194304u", "4'194'304", "0x400000", "0x40'0000u", "2^22", "2**22", "2²²",
     "1u << 22", "1<<22", "2^{22}", "4M", "4 194 304 = 2^22", "4194304.0f", "4.194304e6", "2048 * 2048", "N=4194304"],
)  # fmt: skip
def test_a_number_in_any_notation(written: str) -> None:
    guard = Guard(get_task("saxpy"), "full")
    with pytest.raises(LeakError):
        guard.require_clean(f"the size {written} matters", "brief")
    assert WITHHELD in guard.redacted(f"the size {written} matters")[0]


@pytest.mark.parametrize("written", ["768x768", "768 x 768", "a 768² grid", "75 steps", "75-step runs", "[768, 768]"])
def test_a_size_or_a_count_in_words(written: str) -> None:
    with pytest.raises(LeakError):
        Guard(get_task("heat2d"), "full").require_clean(written, "brief")


@pytest.mark.parametrize("innocent", ["41943040", "14194304", "x4194304", "0x4000000", "2^21", "4194304x", "4.5M"])
def test_what_only_looks_like_it(innocent: str) -> None:
    Guard(get_task("saxpy"), "full").require_clean(f"the size {innocent} matters", "brief")


def test_what_a_model_wrote_is_its_own_affair() -> None:
    task = get_task("saxpy")
    text = "if (N == 4194304) { fast(); }  // N=4194304, a=2.5"
    attempt = Attempt("The previous attempt", text, None, "", authored=False)
    start = Attempt("The best", seed_source(task), RIGHT, "", authored=True)
    prompt = writer(task, "full").write(start, attempt, (), stagnates=False)
    assert text in prompt.text
    assert not prompt.redactions


def test_measured_times_that_coincide_are_left_alone() -> None:
    """512 µs is no leak of nbody's 512 bodies, and 101 elements are none of its 101."""
    task = get_task("nbody")
    timing = replace(RIGHT.configurations[0].timing, seconds=512e-6)  # type: ignore[type-var]
    evaluation = replace(RIGHT, configurations=(replace(RIGHT.configurations[0], timing=timing),))
    start = Attempt("The best", seed_source(task), evaluation, "", authored=True)
    assert "512 µs" in writer(task, "full").write(start, None, (), stagnates=False).text


def test_rows_of_hidden_configurations_are_not_shown() -> None:
    task = get_task("saxpy")
    held_out = task.published_held_out("full")
    row = replace(
        RIGHT.configurations[0], label=held_out.label, origin="published_held_out",
        parameters=MappingProxyType(dict(held_out.parameters)),
    )  # fmt: skip
    evaluation = replace(RIGHT, configurations=(*RIGHT.configurations, row))
    shown, _ = sanitised(evaluation, Guard(task, "full"))
    assert len(shown.configurations) == len(RIGHT.configurations)


def test_the_label_of_a_drawn_configuration_is_hidden_too() -> None:
    task = get_task("heat2d")
    guard = Guard(task, "small")
    drawn = task.draw(np.random.default_rng(0), "small")
    guard.hide(drawn)
    with pytest.raises(LeakError):
        guard.require_no_names(f"it was slow at {drawn.label}", "prompt")


@given(st.text(alphabet="0123456789xX^*<>., _'eEfuKMi²⁹={}abN\n"))
def test_any_text_is_survived(text: str) -> None:
    guard = Guard(get_task("saxpy"), "full")
    once, _ = guard.redacted(text)
    twice, taken = guard.redacted(once)
    assert twice == once
    assert not taken


def test_the_system_prompt_gives_nothing_away() -> None:
    for name, scale in CASES:
        Guard(get_task(name), scale).require_clean(SYSTEM, "system prompt")
