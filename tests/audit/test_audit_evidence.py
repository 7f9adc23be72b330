"""From probes to what they say: the gain, what is left of it, and what is gone elsewhere."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import pytest
from kfp.auditing.arms import Surroundings, arms_item, taken
from kfp.auditing.evidence import context, geometry, held_out, noise_floor, other_data
from kfp.auditing.points import CONTEXT, Point
from kfp.auditing.results import Arm, Extent, Location, Probe, Word
from kfp.auditing.runs import first_lost, lost
from kfp.tasks.base import Configuration
from kfp.timing.statistics import Interval

THRESHOLD = 1.05


def probe(label: str, ratio: float | None = None, *, width: float = 1.01, verdict: str = "right") -> Probe:
    interval = None if ratio is None else Interval(ratio, ratio / width, ratio * width, 0.95)
    return Probe(
        label=label,
        parameters=MappingProxyType({"N": 1}),
        origin="drawn",
        seed=0,
        law="own",
        axis="",
        beside="",
        verdict="win" if ratio is not None else verdict,  # type: ignore[arg-type]
        detail="7 elements differ" if verdict == "wrong" else "",
        interval=interval,
        seconds=None,
        reference_seconds=None,
        work=None,
    )


WRONG = probe("bad", verdict="wrong")
SLOW = probe("endless", verdict="timeout")


def words(
    measured: list[Probe], published: list[Probe], draws: list[Probe], untimed: list[Probe] | None = None
) -> set[str]:
    return set(held_out(measured, published, draws, untimed or [], THRESHOLD).supports)


def test_what_is_left_of_a_gain() -> None:
    gain, none = probe("m", 3.0), probe("m", 1.0)
    assert words([gain], [gain], [gain] * 3) == {"gain", "kept at published", "kept off menu"}
    assert words([gain], [none], [none] * 3) == {"gain", "lost at published", "lost off menu"}
    assert words([none], [none], [none] * 3) == {"no gain", "lost at published", "lost off menu"}
    # Half of the draws suffice, fewer leave it open.
    assert "lost off menu" in words([gain], [gain], [none, none, gain, gain])
    assert "off menu open" in words([gain], [gain], [none, gain, gain])
    # Of those for which there was no time nothing is known.
    assert "off menu open" in words([gain], [gain], [gain, gain])
    assert "off menu open" in words([gain], [gain], [none])
    wide = probe("m", 1.1, width=1.2)
    assert words([wide], [wide], [wide] * 3) == {"gain open", "published open", "off menu open"}


def test_wrong_answers_come_before_times() -> None:
    gain = probe("m", 3.0)
    assert words([WRONG, gain], [gain], [gain]) == {"wrong in distribution"}
    assert words([gain], [WRONG], [gain] * 3) == {"gain", "wrong at published", "kept off menu"}
    assert words([gain], [gain], [gain] * 3, [WRONG]) == {"gain", "kept at published", "wrong off menu"}
    finding = held_out([gain], [gain], [gain], [WRONG], THRESHOLD).finding
    assert "bad: 7 elements differ" in finding


def test_a_draw_that_takes_too_long_is_slow_and_an_untimed_one_hangs() -> None:
    gain = probe("m", 3.0)
    assert words([gain], [gain], [SLOW] * 3) == {"gain", "kept at published", "lost off menu"}
    assert "wrong off menu" in words([gain], [gain], [gain], [SLOW])


def test_a_run_that_was_stopped_without_blame_is_no_clean_bill() -> None:
    gain = probe("m", 3.0)
    found = held_out([gain], [gain], [gain] * 3, [gain], THRESHOLD, stopped=[SLOW])
    assert set(found.supports) == {"gain", "kept at published", "off menu open"}
    assert SLOW.label in found.finding


@pytest.mark.parametrize("verdict", ["reference", "unmeasurable", "unstable", "protocol"])
def test_what_is_not_the_kernels_fault_says_nothing(verdict: str) -> None:
    gain, other = probe("m", 3.0), probe("x", verdict=verdict)
    found = words([gain], [gain], [gain], [other])
    assert not any(word.startswith("wrong") for word in found)
    assert "gain open" in words([other], [gain], [gain])


def test_before_anything_is_timed_only_wrong_answers_count() -> None:
    right = probe("m")
    found = held_out([right], [right], [], [WRONG], THRESHOLD, complete=False)
    assert found.supports == ("wrong off menu",)
    assert held_out([right], [right], [], [right], THRESHOLD, complete=False).supports == ()


def test_a_reference_that_beats_itself_is_no_floor() -> None:
    assert noise_floor([probe("m", 1.01)], THRESHOLD).supports == ("floor",)
    assert noise_floor([probe("m", 1.0, width=3.0)], THRESHOLD).supports == ("floor",)
    assert noise_floor([probe("m", 1.2)], THRESHOLD).supports == ()
    assert noise_floor([probe("m", 0.8)], THRESHOLD).supports == ()
    assert noise_floor([probe("m", verdict="unstable")], THRESHOLD).status == "not possible here"


def test_other_conditions() -> None:
    right, gain, none, wide = probe("a"), probe("b", 3.0), probe("c", 1.0), probe("d", 1.1, width=1.3)
    assert other_data([WRONG], [right], [], THRESHOLD).supports == ("wrong on other data",)
    assert other_data([right], [WRONG], [], THRESHOLD).supports == ("wrong under another law",)
    assert other_data([right], [right], [gain, none], THRESHOLD).supports == ("data collapse",)
    assert other_data([right], [right], [gain, gain], THRESHOLD).supports == ("data holds",)
    assert other_data([right], [right], [gain, wide], THRESHOLD).supports == ("cause open",)
    assert other_data([right], [right], [], THRESHOLD).supports == ()
    assert context([none], THRESHOLD).supports == ("context collapse",)
    assert geometry([WRONG], [], THRESHOLD).supports == ("wrong in other geometry",)
    assert geometry([right], [gain], THRESHOLD).supports == ("geometry holds",)


def beside(side: int, step: str) -> Point:
    configuration = Configuration(f"{side} {step}", {"N": 1})
    return Point(configuration, axis="N", beside="m", side=side, step=step)  # type: ignore[arg-type]


AROUND = Surroundings(
    measured=("m",),
    published="p",
    secret=frozenset({"N"}),
    neighbours={
        "m": tuple(beside(side, step) for side in (-1, 1) for step in ("near", "far")),
        "p": tuple(replace(beside(side, "far"), configuration=Configuration(f"p{side}", {"N": 1})) for side in (-1, 1)),
    },
    wrong=("bad",),
)


def arm(taken_at: set[str], *, in_seed: bool = False, counted: bool = False) -> Arm:
    beside = {"-1 near", "1 near", "-1 far", "1 far", "p-1", "p1"}
    labels = {"m", "p", "bad", "other", "wide m", "wide other", *beside}
    accepts = MappingProxyType({label: None if counted else label in taken_at for label in labels})
    counts = MappingProxyType({label: int(label in taken_at) for label in labels}) if counted else None
    return Arm("1", "k", Location(3, 5), None, "N == 1024", "true", ("N",), in_seed, accepts, counts)


@pytest.mark.parametrize("counted", [False, True])
def test_arms(counted: bool) -> None:
    def said(taken_at: set[str], **others: bool) -> tuple[str, ...]:
        return arms_item("E2", [arm(taken_at, counted=counted, **others)], (), AROUND, ()).supports

    assert said({"m"}) == ("identity arm",)
    assert said({"p"}) == ("leaked arm",)
    assert said({"m", "p"}) == ("identity arm", "leaked arm")
    assert said({"m"}, in_seed=True) == ("no added arm",)
    assert said({"m", "-1 far", "1 far"}) == ("no added arm",)
    assert said({"bad"}) == ("unsearched arm", "no added arm")
    # A seed's arm may have been spoilt as well.
    assert said({"bad"}, in_seed=True) == ("unsearched arm", "no added arm")
    around = replace(AROUND, right=("p",))
    guard = arm({"bad", "p"}, in_seed=True, counted=counted)
    assert arms_item("E2", [guard], (), around, ()).supports == ("no added arm",)
    added = arm({"bad", "p"}, counted=counted)
    assert "unsearched arm" in arms_item("E2", [added], (), around, ()).supports
    assert said({"bad", "m"}) == ("identity arm",)


def test_a_context_that_shares_what_an_arm_asks_for_says_nothing_of_it() -> None:
    def context_of(label: str, n: int) -> Point:
        return Point(Configuration(label, {"N": n, "dt": 1}), axis=CONTEXT, beside="m", side=1, step="far")

    points = (context_of("m", 343), context_of("-1 far", 729), context_of("1 far", 800))
    around = replace(AROUND, neighbours={"m": points}, parameters={"m": {"N": 343, "dt": 2}})
    assert "identity arm" in arms_item("E2", [arm({"m"})], (), around, ()).supports
    other = replace(around, parameters={"m": {"N": 1000, "dt": 2}})
    assert "identity arm" not in arms_item("E2", [arm({"m"})], (), other, ()).supports


def test_an_arm_that_leaves_out_the_published_value_of_a_menu_alone_names_the_others() -> None:
    def above(step: str) -> Point:
        return replace(beside(1, step), configuration=Configuration("p1", {"N": 128}), beside="p")

    menu = replace(AROUND, neighbours={"m": (), "p": (above("mid"),)}, parameters={"m": {"N": 32}, "p": {"N": 64}})
    assert arms_item("E2", [arm({"m", "p1"})], (), menu, ()).supports == ("identity arm",)
    for taken_at in ({"m", "p", "p1"}, {"m"}, {"p1"}, set[str]()):
        assert "identity arm" not in arms_item("E2", [arm(taken_at)], (), menu, ()).supports
    # Elsewhere it may be the alignment that is missing.
    aligned = replace(menu, neighbours={"m": (), "p": (above("mid"), replace(beside(-1, "near"), beside="p"))})
    assert arms_item("E2", [arm({"m", "p1"})], (), aligned, ()).supports == ("no added arm",)


def test_a_value_that_the_published_point_shares_gives_nothing_away() -> None:
    around = replace(AROUND, secret=frozenset())
    assert arms_item("E2", [arm({"p"})], (), around, ()).supports == ("no added arm",)


def test_an_arm_for_what_was_measured_takes_a_published_point_along_that_looks_the_same() -> None:
    secret = replace(AROUND, secret_arguments=frozenset({("k", "fold")}))
    assert "leaked arm" not in arms_item("E2", [arm({"p"})], (), secret, ()).supports
    named = replace(arm({"p"}), parameters=("fold",))
    assert "leaked arm" in arms_item("E2", [named], (), secret, ()).supports
    assert "leaked arm" not in arms_item("E2", [named], (), secret, (), may_leak=False).supports


def test_what_runs_in_a_larger_grid_is_not_unsearched() -> None:
    around = replace(AROUND, padded={"m": "wide m"})
    assert "unsearched arm" not in arms_item("E2", [arm({"bad", "wide m"})], (), around, ()).supports


@pytest.mark.parametrize(("label", "word"), [("m", "identity arm"), ("p", "leaked arm")])
def test_an_arm_for_threads_beyond_the_work_names_no_configuration(label: str, word: Word) -> None:
    """A size may have such threads, and the aligned ones beside it none."""
    around = replace(AROUND, measured=("m", "other"), padded={"m": "wide m", "other": "wide other"})
    assert word in arms_item("E2", [arm({label})], (), around, ()).supports
    assert word not in arms_item("E2", [arm({label, "wide m", "wide other"})], (), around, ()).supports
    # Who asks for the size of the grid asks for the configuration, and is in no larger one.
    fallback = arm({label, "other", "bad"})
    assert word in arms_item("E2", [fallback], (), around, ()).supports


def test_what_is_unknown_of_a_program_is_no_absence() -> None:
    assert arms_item("E2", [], (), AROUND, ["a loop"]).supports == ()
    extent = Extent(Location(9, 1), 64, "N", 64)
    found = arms_item("E2", [], [extent], AROUND, ())
    assert "measured extent" in found.supports
    assert "line 9" in found.finding


def test_a_size_of_the_other_scale_in_a_condition_is_said() -> None:
    around = replace(AROUND, elsewhere=frozenset({1024}))
    assert "other scale's arm" in arms_item("E2", [arm(set())], (), around, ()).supports
    assert "other scale's arm" not in arms_item("E2", [arm(set(), in_seed=True)], (), around, ()).supports
    bound = replace(arm(set()), condition="N <= 1024")
    assert "other scale's arm" not in arms_item("E2", [bound], (), around, ()).supports


def test_counts_come_before_what_was_evaluated() -> None:
    one = replace(arm({"m"}), counts=MappingProxyType({"m": 0}))
    assert taken(one, "m") is False
    assert taken(one, "p") is False
    assert taken(one, "nowhere") is None


def test_the_onset_is_counted_from_the_end() -> None:
    assert first_lost([(1, False), (4, True), (9, True)]) == 4
    assert first_lost([(1, True), (4, False), (9, True)]) == 9
    assert first_lost([(1, True), (4, False)]) is None
    assert lost([probe("a", 1.0), probe("b", 3.0)], THRESHOLD)
    assert not lost([probe("a", 2.0), probe("b", 3.0)], THRESHOLD)
    assert lost([probe("a", 2.0), WRONG], THRESHOLD)
    assert not lost([], THRESHOLD)
