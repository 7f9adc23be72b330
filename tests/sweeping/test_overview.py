"""What a sweep looks like: at 80 columns, whatever names and numbers are in it."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.sweeping.folder import Done
from kfp.sweeping.overview import bar, counts, live_lines, settled_line, sweep_lines, waiting_line
from kfp.sweeping.results import Sweep, SweepProgress, UnitState, UnitStatus


def unit(state: UnitState, number: int = 1, name: str = "saxpy demo", gain: float | None = 2.0) -> UnitStatus:
    done = Done(
        f"{number:016x}", 1, 4, 1, "", gain, gain and 0.9 * gain, gain and 1.1 * gain, gain, "transfers", 0.0, 1.0
    )
    return UnitStatus(
        key=f"{number:016x}",
        name=f"{name} #{number}",
        task="saxpy",
        model=name,
        replicate=number,
        device="cpu",
        arm="redacted",
        state=state,
        cause="error" if state == "failed" else None,
        reason="no luck, " * 30 if state == "failed" else "",
        worker="process 12 on host" if state == "running" else "",
        iterations=number,
        folder="/sweep/units/x",
        done=done if state == "done" else None,
    )


STATES: tuple[UnitState, ...] = ("done", "failed", "running", "open")


@given(
    st.lists(st.tuples(st.sampled_from(STATES), st.text("ab界 /", min_size=1, max_size=90)), max_size=40),
    st.floats(0, 1e7),
    st.one_of(st.none(), st.floats(1e-9, 1e9)),
)
@settings(max_examples=60)
def test_nothing_is_wider_than_the_screen_and_every_unit_is_counted(
    asked: list[tuple[UnitState, str]], seconds: float, gain: float | None
) -> None:
    units = tuple(unit(state, number, name, gain) for number, (state, name) in enumerate(asked, start=1))
    sweep = Sweep("night", "/sweep", units, ("0" * 16,))
    progress = SweepProgress(sweep, (), seconds)
    lines = [
        *sweep_lines(sweep),
        *live_lines(progress),
        *(settled_line(one) for one in units if one.state in STATES[:2]),
    ]
    assert all(len(line.text) <= 80 for line in lines)
    assert len(bar(sweep, 80)) == (80 if units else 0)
    numbers = {state: sum(one.state == state for one in units) for state in STATES}
    assert counts(sweep).startswith(f"{numbers['done']} of {len(units)} done")
    # One reason for all of them is said once.
    failed = [line.text for line in sweep_lines(sweep) if line.text.startswith("failed: ")]
    assert len(failed) == min(numbers["failed"], 1)
    assert all(text.endswith(f" and {numbers['failed'] - 1} more") for text in failed if numbers["failed"] > 1)
    assert sum(line.text.startswith("running: ") for line in sweep_lines(sweep)) == numbers["running"]
    assert Sweep.from_json(sweep.to_json()) == sweep


def test_the_bar_has_a_column_for_each_share() -> None:
    units = tuple(unit(state) for state in ("done", "done", "failed", "running", "open", "open", "open", "open"))
    assert bar(Sweep("s", "", units, ()), 16) == "████××▒▒░░░░░░░░"


def test_what_waits_says_what_for() -> None:
    waiting = unit("open")
    told = UnitStatus.from_json({**waiting.to_json(), "worker": "Slurm job 3: waits, Priority"})
    progress = SweepProgress(Sweep("night", "", (told, unit("done", 2)), ()), (), 61.0)
    assert (
        waiting_line(progress).text == "night: 1 of 2 done, 1 open; 61.0 s; saxpy demo #1: Slurm job 3: waits, Priority"
    )


@pytest.mark.parametrize(
    ("gain", "words"), [(2.0, "2.00 times as fast, transfers"), (None, "nothing faster in 4 iterations")]
)
def test_a_unit_that_has_just_been_done(gain: float | None, words: str) -> None:
    assert settled_line(unit("done", gain=gain)).text == f"done    saxpy demo #1: {words}"
