"""The first screen of every kind of subject, in words."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import constructed
import kfp
import pytest
from golden_files import assert_golden
from kfp.gating.results import Gate, HeldOut
from kfp.reporting.answer import Answer
from kfp.reporting.contrast import telling, why_not
from report import recorded


def asked(*subjects: object) -> Answer:
    return kfp.report(*subjects, out=None).answer  # type: ignore[arg-type]


def words(answer: Answer) -> str:
    return " ".join(fact.text for fact in answer.facts)


def test_of_a_run_whose_gain_holds(tmp_path: Path) -> None:
    answer = asked(recorded.write_run(tmp_path, recorded.gate("transfers")))
    assert answer.mood == "good"
    assert "Why not?" not in str(answer)
    assert "Yes. Times as fast where it was held out: 2.10 (2.02 to 2.18)" in words(answer)


def test_of_a_run_whose_gain_is_open(tmp_path: Path) -> None:
    gate = replace(recorded.gate(), verdict="undecided", reason="draw 1: 1.06 times as fast, the interval holds it")
    answer = asked(recorded.write_run(tmp_path, gate))
    assert answer.mood == "doubt"
    assert "Not decided. Draw 1: 1.06 times as fast, the interval holds it." in words(answer)


def test_of_a_kernel_that_is_wrong_elsewhere(tmp_path: Path) -> None:
    gate = replace(recorded.gate(), verdict="wrong", reason="2 of 32 untimed runs; d=12: wrong: nan")
    answer = asked(recorded.write_run(tmp_path, gate))
    assert answer.mood == "bad"
    assert "Don't use this kernel" in answer.headline
    assert "It gives wrong results: 2 of 32 untimed runs; d=12: wrong: nan." in words(answer)


def test_of_a_run_that_found_nothing(tmp_path: Path) -> None:
    answer = asked(recorded.write_run(tmp_path, None, recorded.CANDIDATES[:2], over=False))
    assert answer.headline == "No kernel was found that is faster than the starting one."
    assert "none of 2 kernels was promoted" in words(answer)


def test_of_a_run_that_is_not_over(tmp_path: Path) -> None:
    answer = asked(recorded.write_run(tmp_path, None, over=False))
    assert answer.mood == "doubt"
    assert "2.06 times as fast as the start, says the search itself" in words(answer)


def test_of_a_run_that_went_on_after_its_gate(tmp_path: Path) -> None:
    answer = asked(recorded.write_run(tmp_path, recorded.gate(source="of another kernel")))
    assert answer.mood == "doubt"
    assert "never gated" in answer.headline
    assert "0.164 times as fast (0.051 to 0.524)" in words(answer)


def test_a_machine_that_is_less_steady_than_the_gain_is_named(tmp_path: Path) -> None:
    rows = tuple(replace(row, aa_floor=1.9) for row in recorded.SEARCHED.configurations)
    gate = replace(recorded.gate(), in_distribution=replace(recorded.SEARCHED, configurations=rows))
    assert "this machine was unsteady" in words(asked(gate))
    assert "unsteady" not in words(asked(recorded.gate()))


@pytest.mark.parametrize("name", ["RIGHT", "WRONG", "UNCOMPILED", "HUNG", "CHECKED"])
def test_of_an_evaluation(name: str) -> None:
    assert_golden(f"report-evaluation-{name.lower()}.txt", f"{asked(getattr(constructed, name))}\n")


def test_of_the_published_study() -> None:
    """By its authors (arXiv 2608.08722): 16 of 53, of them two wrong answers, 19.5 to 43.5 %."""
    answer = asked("study")
    assert answer.headline == "16 of 53 gains do not hold where it was not searched."
    assert "19.5 to 43.5 %" in words(answer)
    assert "2 wrong answers; 14 silent losses" in words(answer)


def test_of_several_runs_the_rate_leaves_out_what_was_not_gated(tmp_path: Path) -> None:
    folders = [
        recorded.write_run(tmp_path / "a", recorded.gate()),
        recorded.write_run(tmp_path / "b", recorded.gate("transfers")),
        recorded.write_run(tmp_path / "c", None),
    ]
    answer = asked(*folders)
    assert answer.headline.startswith("1 of 2 gains does not hold")
    assert "1 of 3 were not gated" in words(answer)
    assert asked(tmp_path) == answer


def test_a_run_that_cannot_be_read_costs_no_other(tmp_path: Path) -> None:
    recorded.write_run(tmp_path / "good", recorded.gate())
    bad = recorded.write_run(tmp_path / "worse", recorded.gate())
    (bad / "iterations" / "0002" / "record.json").write_text('{"number": 2}')
    answer = asked(tmp_path)
    assert answer.headline.startswith("1 of 1 gains does not hold")
    assert "1 of 2 were not gated" in words(answer)
    kfp.report(tmp_path, out=tmp_path / "x.html")
    assert "record.json: IterationRecord: expected a field" in (tmp_path / "x.html").read_text()
    # Alone it is what was asked for.
    with pytest.raises(kfp.RunError, match="expected a field"):
        asked(bad)


def test_of_a_task_of_the_users_own(tmp_path: Path) -> None:
    gate = replace(recorded.gate(), task="mean3")
    answer = asked(recorded.write_run(tmp_path / "a", gate, spec=replace(recorded.SPEC, task="mean3.py:Mean3")), gate)
    assert answer.headline.startswith("2 of 2 gains do not hold")


def test_of_a_gate_that_measured_nothing() -> None:
    nothing = replace(recorded.SEARCHED, verdict="unmeasurable", reason="no clock", interval=None, configurations=())
    gate = replace(
        recorded.gate(), verdict="undecided", reason="no gain could be measured", in_distribution=nothing,
        held_out=(), published=None, drawn=None, trials=(), phi=None, claimed=None,
    )  # fmt: skip
    assert "Not known: no clock." in words(asked(gate))
    assert kfp.report(gate, gate, out=None).answer.mood == "doubt"


def moved(gate: Gate, *points: tuple[str, dict[str, int | float]]) -> Gate:
    """``gate`` with other held-out configurations: above, below or across by name."""
    row = recorded.gate().held_out[0]

    def at(standing: str, parameters: dict[str, int | float]) -> HeldOut:
        return replace(row, standing=standing, parameters=MappingProxyType(parameters))  # type: ignore[arg-type]

    return replace(gate, held_out=tuple(at(*point) for point in points))


@pytest.mark.parametrize(
    ("points", "names"),
    [
        ([("below", {"d": 10, "K": 613}), ("above", {"d": 8, "K": 876})], ("d",)),
        # K is new everywhere, and so explains nothing.
        ([("below", {"d": 10, "K": 613}), ("above", {"d": 12, "K": 876})], ()),
        # Lost at a value that was searched: d does not tell.
        ([("below", {"d": 8, "K": 613}), ("above", {"d": 8, "K": 1024})], ("K",)),
        ([("below", {"d": 10, "K": 613})], ()),
        ([("above", {"d": 10, "K": 613})], ()),
        ([("below", {"d": 10, "K": 613}), ("across", {"d": 9, "K": 5}), ("above", {"d": 4, "K": 5})], ("d",)),
    ],
)
def test_what_tells_losses_from_gains(points: list[tuple[str, dict[str, int | float]]], names: tuple[str, ...]) -> None:
    gate = moved(recorded.gate(), *points)
    assert telling(gate) == names
    for name in names:
        assert f"The gain is lost where {name} is" in why_not(gate)


def test_an_answer_survives_json(tmp_path: Path) -> None:
    found = kfp.report(recorded.gate(), out=tmp_path / "x.html")
    assert type(found).from_json(found.to_json()) == found
