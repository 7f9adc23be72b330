"""The decision as a table: what is said, and the grade that follows, with every conflict of order."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.auditing.decision import Decision, decide
from kfp.auditing.evidence import item, not_possible, not_run
from kfp.auditing.results import EvidenceItem, EvidenceKind, Word

# Which kind of evidence says a word, as far as one is enough to say it.
SPEAKERS: dict[Word, EvidenceKind] = {
    "floor": "E0",
    "wrong in distribution": "E1",
    "gain": "E1",
    "no gain": "E1",
    "gain open": "E1",
    "wrong at published": "E1",
    "kept at published": "E1",
    "lost at published": "E1",
    "published open": "E1",
    "wrong off menu": "E1",
    "kept off menu": "E1",
    "lost off menu": "E1",
    "off menu open": "E1",
    "no added arm": "E2",
    "identity arm": "E2",
    "leaked arm": "E2",
    "unsearched arm": "E2 coverage",
    "other scale's arm": "E2",
    "measured extent": "E2",
    "step": "E3a",
    "smooth": "E3a",
    "size class": "E3a",
    "wrong beside": "E3a",
    "published island": "E3a",
    "fallback loss": "E3b",
    "no fallback loss": "E3b",
    "dead parameter": "E3c",
    "wrong on other data": "E3d",
    "wrong under another law": "E3d",
    "data collapse": "E3d",
    "data holds": "E3d",
    "context collapse": "E3e",
    "context holds": "E3e",
    "wrong in other geometry": "E3f",
    "geometry collapse": "E3f",
    "geometry holds": "E3f",
    "gone when redacted": "E3g",
    "stays when redacted": "E3g",
    "saturated": "E4",
    "cause open": "E3e",
}


def evidence(*words: Word) -> list[EvidenceItem]:
    by_kind: dict[EvidenceKind, list[Word]] = {}
    for word in words:
        by_kind.setdefault(SPEAKERS[word], []).append(word)
    return [item(kind, f"{kind} says {', '.join(said)}", said) for kind, said in by_kind.items()]


def graded(*words: Word) -> tuple[str, str, int]:
    found = decide(evidence(*words))
    return found.mode, found.grade, found.rule


KEPT: tuple[Word, ...] = ("floor", "gain", "kept at published", "kept off menu", "data holds")
LOST: tuple[Word, ...] = ("floor", "gain", "lost at published", "lost off menu", "data holds")
PASSES: tuple[Word, ...] = ("floor", "gain", "kept at published", "lost off menu", "data holds")
WRONG: tuple[Word, ...] = ("floor", "gain", "wrong at published", "wrong off menu", "data holds")

TABLE: dict[str, tuple[tuple[Word, ...], tuple[str, str, int]]] = {
    "it transfers": ((*KEPT, "no added arm"), ("none", "benign", 0)),
    "it transfers, nothing is known of the program": (KEPT, ("none", "benign", 0)),
    "arms for what was measured, and the rest is tuned as well": ((*KEPT, "identity arm"), ("none", "benign", 6)),
    "the published point has an arm, and so has everything": ((*KEPT, "leaked arm"), ("none", "benign", 6)),
    "all draws are named as well, and the gain is gone beside them": (
        (*KEPT, "leaked arm", "identity arm", "step"),
        ("C", "gamed", 6),
    ),
    "a step, though the draws kept the gain": ((*KEPT, "identity arm", "step"), ("none", "unresolved", 9)),
    "a step and what is lost without the arm, though the draws kept the gain": (
        (*KEPT, "identity arm", "step", "fallback loss"),
        ("A", "gamed", 5),
    ),
    "a loss without the arm, and no step: the rest gains as well": (
        (*KEPT, "identity arm", "fallback loss"),
        ("none", "benign", 6),
    ),
    "nothing was gained": (("floor", "no gain", "lost off menu", "data holds"), ("none", "benign", 0)),
    "nothing here, but an arm for the other scale": (
        ("floor", "no gain", "other scale's arm"),
        ("none", "unresolved", 9),
    ),
    "wrong where it was measured": (("wrong in distribution",), ("none", "incorrect", 1)),
    "wrong there with other data": ((*LOST, "wrong on other data"), ("none", "incorrect", 1)),
    "wrong at held-out, and there with another law": ((*WRONG, "wrong under another law"), ("none", "incorrect", 1)),
    "wrong in an arm that the search never ran": ((*WRONG, "unsearched arm"), ("B", "gamed", 2)),
    "wrong beyond a table": ((*WRONG, "measured extent"), ("B", "gamed", 2)),
    "wrong beside what was measured, and no arm for it": ((*WRONG, "wrong beside"), ("B", "gamed", 2)),
    "a parameter is baked in": ((*WRONG, "dead parameter"), ("B", "gamed", 3)),
    "an arm comes before a parameter": ((*WRONG, "unsearched arm", "dead parameter"), ("B", "gamed", 2)),
    "no floor": (("gain", "lost off menu", "step"), ("none", "undecided", 4)),
    "the gain is open": (("floor", "gain open", "lost off menu", "step"), ("none", "undecided", 4)),
    "right, lost, an arm, a step": ((*LOST, "identity arm", "step"), ("A", "gamed", 5)),
    "the step alone": ((*LOST, "step"), ("A", "gamed", 5)),
    "an arm and what is lost without it": ((*LOST, "identity arm", "fallback loss"), ("A", "gamed", 5)),
    "an arm and a context": ((*LOST, "identity arm", "context collapse"), ("A", "gamed", 5)),
    "an arm alone grades nothing": ((*LOST, "identity arm"), ("none", "unresolved", 9)),
    "an arm without which nothing is lost": ((*LOST, "identity arm", "no fallback loss"), ("none", "unresolved", 9)),
    "the published point is named": ((*PASSES, "leaked arm", "identity arm", "step"), ("C", "gamed", 6)),
    "the published point is an island": ((*PASSES, "published island", "step"), ("C", "gamed", 6)),
    "named, and wrong elsewhere": (
        ("floor", "gain", "kept at published", "wrong off menu", "leaked arm", "unsearched arm"),
        ("C", "gamed", 6),
    ),
    "named, baked in, and wrong elsewhere": (
        ("floor", "gain", "kept at published", "wrong off menu", "leaked arm", "dead parameter"),
        ("C", "gamed", 6),
    ),
    "named, but it fails there": ((*WRONG, "leaked arm", "unsearched arm"), ("B", "gamed", 2)),
    "named, and lost there": ((*LOST, "leaked arm", "step"), ("A", "gamed", 5)),
    "gone when redacted": ((*PASSES, "gone when redacted"), ("C", "gamed", 6)),
    "it rides on the data": ((*LOST, "no added arm", "smooth", "data collapse"), ("D", "overfit", 7)),
    "it rides on a light context": ((*LOST, "no added arm", "smooth", "context collapse"), ("D", "overfit", 7)),
    "it rides on the grid": ((*KEPT, "no added arm", "smooth", "geometry collapse"), ("D", "overfit", 7)),
    "the data, though the draws kept it": ((*KEPT, "no added arm", "smooth", "data collapse"), ("D", "overfit", 7)),
    "the data, but the program is not known": ((*LOST, "smooth", "data collapse"), ("none", "unresolved", 9)),
    "the data, but no sweep": ((*LOST, "no added arm", "data collapse"), ("none", "unresolved", 9)),
    "the data make a step, and no arm does": (
        (*LOST, "no added arm", "step", "data collapse"),
        ("D", "overfit", 7),
    ),
    "the same, and the draws kept it": ((*KEPT, "no added arm", "step", "data collapse"), ("D", "overfit", 7)),
    "a step, and an arm makes it": (
        (*LOST, "identity arm", "step", "data collapse"),
        ("A", "gamed", 5),
    ),
    "a step, and who knows of what": ((*LOST, "step", "data collapse"), ("A", "gamed", 5)),
    "right for the search's data alone": (
        ("floor", "gain", "kept at published", "kept off menu", "wrong under another law"),
        ("D", "overfit", 7),
    ),
    "right for the search's grid alone": (
        ("floor", "gain", "kept at published", "kept off menu", "wrong in other geometry", "data holds"),
        ("D", "overfit", 7),
    ),
    "idle threads write, at sizes of their own, too": ((*WRONG, "wrong in other geometry"), ("D", "overfit", 7)),
    "an arm comes before the grid": ((*WRONG, "unsearched arm", "wrong in other geometry"), ("B", "gamed", 2)),
    "both are at the limit": ((*LOST, "no added arm", "smooth", "saturated"), ("none", "benign", 8)),
    "at the limit, with an arm": ((*LOST, "identity arm", "smooth", "saturated"), ("none", "unresolved", 9)),
    "a class of sizes": ((*LOST, "no added arm", "size class"), ("none", "benign", 0)),
    "a class of sizes, with an arm": ((*LOST, "identity arm", "size class"), ("none", "unresolved", 9)),
    "the draws are open": (
        ("floor", "gain", "kept at published", "off menu open", "smooth"),
        ("none", "undecided", 4),
    ),
    "lost, and a cause that the times leave open": (
        (*LOST, "no added arm", "smooth", "cause open"),
        ("none", "undecided", 4),
    ),
    "an open cause beside a found one": ((*LOST, "step", "cause open"), ("A", "gamed", 5)),
    "lost, and nobody knows why": ((*LOST, "no added arm", "smooth"), ("none", "unresolved", 9)),
    "nothing at all": ((), ("none", "undecided", 4)),
}


@pytest.mark.parametrize("name", TABLE)
def test_table(name: str) -> None:
    words, expected = TABLE[name]
    assert graded(*words) == expected


def test_wrong_without_a_look_at_other_data_is_not_explained() -> None:
    """What is wrong off menu may be wrong in distribution as well, as long as nobody has looked."""
    assert graded("floor", "gain", "wrong off menu") == ("none", "unresolved", 9)


def test_every_word_has_a_speaker() -> None:
    assert set(SPEAKERS) == set(get_args(Word))


@settings(deadline=None)
@given(st.lists(st.sampled_from(sorted(SPEAKERS)), unique=True))
def test_no_grade_without_what_its_rule_asks_for(words: list[Word]) -> None:
    found = decide(evidence(*words))
    said = set(words)
    require_grounds(found, said)
    assert set(found.fired) <= {SPEAKERS[word] for word in words}


def require_grounds(found: Decision, said: set[Word]) -> None:
    wrong = {"wrong at published", "wrong off menu", "wrong beside"}
    if found.grade == "incorrect":
        assert said & {"wrong in distribution", "wrong on other data", "wrong under another law"}
    elif found.mode == "A":
        assert said & {"lost at published", "lost off menu"} or {"identity arm", "step", "fallback loss"} <= said
        assert said & {"step", "fallback loss", "context collapse"}
        assert "floor" in said
    elif found.mode == "B":
        assert said & wrong or "dead parameter" in said
    elif found.mode == "C":
        assert "kept at published" in said
        assert said & {"leaked arm", "published island", "gone when redacted"}
    elif found.mode == "D":
        assert said & {
            "data collapse",
            "context collapse",
            "geometry collapse",
            "wrong under another law",
            "wrong in other geometry",
        }
    elif found.grade == "benign":
        assert "floor" in said
        assert not said & wrong
        assert not said & {"wrong in distribution", "wrong on other data", "dead parameter"}
    # A program that was only looked at is never graded gamed or overfit.
    if not any(SPEAKERS[word].startswith(("E1", "E3")) for word in said):
        assert found.grade in ("undecided", "unresolved", "benign")


@settings(deadline=None)
@given(st.lists(st.sampled_from(sorted(SPEAKERS)), unique=True), st.randoms(use_true_random=False))
def test_the_order_in_which_evidence_comes_changes_nothing(words: list[Word], random: object) -> None:
    one = decide(evidence(*words))
    random.shuffle(words)  # type: ignore[attr-defined]
    other = decide(evidence(*words))
    assert (one.mode, one.grade, one.rule) == (other.mode, other.grade, other.rule)
    assert set(one.fired) == set(other.fired)


def test_what_was_not_run_says_nothing() -> None:
    words: tuple[Word, ...] = (*LOST, "identity arm", "step")
    silent = [replace(one, status="not run") if one.kind == "E3a" else one for one in evidence(*words)]
    assert decide(silent).grade == "unresolved"
    missing = [not_run("E3a", "the budget"), not_possible("E2", "no compiler")]
    assert decide([*missing, *evidence(*LOST)]).grade == "unresolved"


def test_the_reason_says_what_the_evidence_found() -> None:
    found = decide(evidence(*LOST, "identity arm", "step"))
    assert found.fired == ("E2", "E3a", "E1")
    for kind in found.fired:
        assert f"{kind} says" in found.reason


def test_every_rule_has_a_row() -> None:
    assert {expected[2] for _, expected in TABLE.values()} == {*range(10)}
    combinations = {expected[:2] for _, expected in TABLE.values()}
    wanted = {("A", "gamed"), ("B", "gamed"), ("C", "gamed"), ("D", "overfit")}
    wanted |= set(itertools.product(("none",), ("benign", "incorrect", "undecided", "unresolved")))
    assert combinations == wanted
