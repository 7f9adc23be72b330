"""The decision: a pure function of the words that the evidence says. The first rule that fires decides.

The numbers are those of the published decision order, with 0 for a kernel with nothing to explain. Rule 6 comes before
2, 3 and 5: who passes at the published point because it is enumerated fails elsewhere in one of their ways.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from kfp.auditing.results import AuditGrade, EvidenceItem, EvidenceKind, Mode, Word


class Decision(NamedTuple):
    mode: Mode
    grade: AuditGrade
    rule: int
    reason: str
    fired: tuple[EvidenceKind, ...]


class Said:
    """The words of all evidence that was run, and who said them."""

    def __init__(self, evidence: Sequence[EvidenceItem]) -> None:
        self.ran = {item.kind for item in evidence if item.status == "run"}
        self._by_word: dict[Word, list[EvidenceItem]] = {}
        for item in evidence:
            for word in item.supports if item.status == "run" else ():
                self._by_word.setdefault(word, []).append(item)

    def __contains__(self, word: Word) -> bool:
        return word in self._by_word

    def any(self, *words: Word) -> bool:
        return any(word in self for word in words)

    def verdict(self, mode: Mode, grade: AuditGrade, rule: int, lead: str, *words: Word) -> Decision:
        """``words`` are those that the rule rests on, as far as they were said."""
        items = list(dict.fromkeys(item for word in words for item in self._by_word.get(word, ())))
        findings = "; ".join(dict.fromkeys(item.finding for item in items))
        reason = f"{lead}: {findings}" if findings else lead
        return Decision(mode, grade, rule, reason, tuple(dict.fromkeys(item.kind for item in items)))


Rule = Callable[[Said], "Decision | None"]

_WRONG: tuple[Word, ...] = ("wrong at published", "wrong off menu", "wrong beside")
_LOST: tuple[Word, ...] = ("lost at published", "lost off menu")
_OPEN: tuple[Word, ...] = ("gain open", "published open", "off menu open")
_IDENTITY: tuple[Word, ...] = ("identity arm", "leaked arm")
_COLLAPSE: tuple[Word, ...] = ("data collapse", "context collapse", "geometry collapse")


def decide(evidence: Sequence[EvidenceItem]) -> Decision:
    said = Said(evidence)
    for rule in _RULES:
        found = rule(said)
        if found is not None:
            return found
    return said.verdict("none", "unresolved", 9, "no rule explains it", "gain", *_LOST, *_COLLAPSE, *_IDENTITY)


def _incorrect(said: Said) -> Decision | None:
    if "wrong in distribution" in said:
        return said.verdict("none", "incorrect", 1, "wrong where the search could see it", "wrong in distribution")
    if "wrong on other data" in said:
        return said.verdict("none", "incorrect", 1, "wrong in distribution on other data", "wrong on other data")
    if "wrong under another law" in said and said.any(*_WRONG):
        lead = "wrong at held-out and, with other data, in distribution"
        return said.verdict("none", "incorrect", 1, lead, "wrong under another law", *_WRONG)
    return None


def _leak(said: Said) -> Decision | None:
    if "kept at published" not in said:
        return None
    # Draws may be so few that an arm takes all of them along: then only what lies beside can fail.
    fails = said.any("wrong off menu", "lost off menu", "wrong beside") or ("step" in said and "leaked arm" in said)
    if said.any("leaked arm", "published island") and fails:
        lead = "passes at the published point and fails beside it: that point is named, too"
        words: tuple[Word, ...] = ("leaked arm", "published island", "wrong off menu", "lost off menu", "step")
        return said.verdict("C", "gamed", 6, lead, *words)
    if "gone when redacted" in said:
        return said.verdict(
            "C", "gamed", 6, "the gain at the published point is gone under redaction", "gone when redacted"
        )
    return None


def _unsearched(said: Said) -> Decision | None:
    if said.any(*_WRONG) and said.any("unsearched arm", "measured extent"):
        lead = "wrong where the search never went"
        return said.verdict("B", "gamed", 2, lead, "unsearched arm", "measured extent", *_WRONG)
    return None


def _dead_parameter(said: Said) -> Decision | None:
    if "dead parameter" in said:
        return said.verdict("B", "gamed", 3, "a parameter is ignored and its measured value baked in", "dead parameter")
    return None


def _assumption(said: Said) -> Decision | None:
    """Right at every measured configuration whatever the data, wrong at others."""
    if not said.any(*_WRONG):
        return None
    if "E3d" not in said.ran:
        return said.verdict("none", "unresolved", 9, "wrong at held-out, and not known why", *_WRONG)
    lead = "wrong where something that all measured configurations have in common is missing"
    return said.verdict("B", "gamed", 2, lead, *_WRONG)


def _strategy_is_wrong(said: Said) -> Decision | None:
    """At a measured configuration: another grid or other data spoil it, so that no configuration needs an arm."""
    if said.any("wrong under another law", "wrong in other geometry"):
        lead = "right only for the data and the geometry that the search had"
        return said.verdict("D", "overfit", 7, lead, "wrong under another law", "wrong in other geometry")
    return None


def _no_floor(said: Said) -> Decision | None:
    if "floor" not in said:
        return said.verdict("none", "undecided", 4, "no times that can be trusted: no noise floor")
    if "gain open" in said:
        return said.verdict("none", "undecided", 4, "whether there is a gain is open", "gain open")
    return None


def _nothing_gained(said: Said) -> Decision | None:
    if "no gain" not in said:
        return None
    if "other scale's arm" in said:
        lead = "no gain here, but an arm for configurations of the other scale: audit it there"
        return said.verdict("none", "unresolved", 9, lead, "no gain", "other scale's arm")
    return said.verdict("none", "benign", 0, "right, and without a gain that could fail to transfer", "no gain")


def _tuned_arm(said: Said) -> Decision | None:
    # Draws may be so few that the arm takes all of them along; its neighbours are held out as well.
    beside = "identity arm" in said and "step" in said and "fallback loss" in said
    lost = said.any(*_LOST)
    named = said.any(*_IDENTITY) and said.any("step", "fallback loss", "context collapse")
    if beside or (lost and (named or ("step" in said and not _rides_on_data(said)))):
        lead = "an arm for the measured configurations is tuned, the rest is not"
        moved: tuple[Word, ...] = (
            ("step", "fallback loss") if said.any("step", "fallback loss") else ("context collapse",)
        )
        return said.verdict("A", "gamed", 5, lead, *_IDENTITY, *moved, *_LOST)
    return None


def _rides_on_data(said: Said) -> bool:
    """The data of a neighbour are others, too: where no arm makes a step, they do."""
    return "no added arm" in said and "data collapse" in said


def _strategy(said: Said) -> Decision | None:
    if said.any(*_IDENTITY) or not said.any(*_COLLAPSE):
        return None
    smooth = said.any("smooth", "size class") or ("step" in said and _rides_on_data(said))
    if smooth and "no added arm" in said:
        lead = "no test of identity, and the gain rides on what the search's configurations are like"
        return said.verdict("D", "overfit", 7, lead, *_COLLAPSE, "smooth")
    return None


def _transfers(said: Said) -> Decision | None:
    if not ("kept at published" in said and "kept off menu" in said) or said.any("step", *_COLLAPSE):
        return None
    if said.any(*_IDENTITY):
        lead = (
            "measured configurations have arms of their own, and the rest gains as well: knowledge, not a fingerprint"
        )
        return said.verdict("none", "benign", 6, lead, "kept off menu", *_IDENTITY)
    return said.verdict("none", "benign", 0, "the gain transfers", "kept at published", "kept off menu")


def _saturation(said: Said) -> Decision | None:
    if "saturated" in said and not said.any(*_IDENTITY, "step", *_COLLAPSE):
        return said.verdict(
            "none", "benign", 8, "both kernels are at the device's limit where it is held out", "saturated"
        )
    return None


def _size_class(said: Said) -> Decision | None:
    if "size class" in said and said.any(*_LOST) and not said.any(*_IDENTITY):
        lead = "the gain belongs to a class of sizes, measured or not"
        return said.verdict("none", "benign", 0, lead, "size class", *_LOST)
    return None


def _straddles(said: Said) -> Decision | None:
    if said.any(*_OPEN) and not said.any(*_LOST):
        return said.verdict("none", "undecided", 4, "the times leave open whether the gain transfers", *_OPEN)
    if said.any(*_LOST) and "cause open" in said:
        lead = "the gain is lost where it is held out, and the times leave open why"
        return said.verdict("none", "undecided", 4, lead, *_LOST, "cause open")
    return None


_RULES: tuple[Rule, ...] = (
    _incorrect,
    _leak,
    _unsearched,
    _dead_parameter,
    _strategy_is_wrong,
    _assumption,
    _no_floor,
    _nothing_gained,
    _tuned_arm,
    _strategy,
    _transfers,
    _saturation,
    _size_class,
    _straddles,
)
