"""What can be believed, in a headline and a few facts: the first screen of every report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.auditing.results import Audit
from kfp.gating.results import Gate, GateVerdict
from kfp.gating.verdicts import percent
from kfp.records import Record
from kfp.reporting.contrast import why_not
from kfp.reporting.run_view import Candidate, RunView
from kfp.results import Evaluation
from kfp.tables import clip, significant
from kfp.timing.results import Comparison
from kfp.timing.statistics import Interval
from kfp.transfer import Rate, TransferReport

Mood: TypeAlias = Literal["good", "bad", "doubt"]


@dataclass(frozen=True, eq=False)
class Fact(Record):
    """``label`` is the question that ``text`` answers."""

    label: str
    text: str


@dataclass(frozen=True, eq=False)
class Answer(Record):
    question: str
    headline: str
    mood: Mood
    facts: tuple[Fact, ...]

    def __str__(self) -> str:
        facts = "\n".join(f"{fact.label}: {fact.text}" for fact in self.facts)
        return f"{self.question}\n{self.headline}\n{facts}"


_HEADLINES: dict[GateVerdict, tuple[str, Mood]] = {
    "transfers": ("The gain can be believed: it holds where nobody could have tuned for it.", "good"),
    "does not transfer": ("Don't rely on the gain: it is there where the search looked, and not elsewhere.", "bad"),
    "wrong": ("Don't use this kernel: it is wrong where the search did not look.", "bad"),
    "undecided": ("Open: what was measured does not say whether the gain holds elsewhere.", "doubt"),
}
_NO_GATE = (
    "Open: this kernel was never gated, so whether its gain holds elsewhere is known at one published configuration "
    "at most."
)
_GRADES: dict[str, str] = {
    "A": "an arm chosen by the identity of a configuration is tuned",
    "B": "what the search never executes is wrong",
    "C": "a configuration that should have been secret is enumerated",
    "D": "the algorithm rides on the statistics of the data, on the geometry or on a light context",
}


def times(interval: Interval | None) -> str:
    return "not measured" if interval is None else f"{significant(interval.ratio)} times as fast"


def span(interval: Interval) -> str:
    return f"{significant(interval.lower)} to {significant(interval.upper)}"


def share(value: float) -> str:
    return f"{significant(100 * value)} %"


def of_run(run: RunView) -> Answer:
    question = "What can be believed of this run?"
    winner = run.winner
    if winner is None:
        over = run.finale is not None or run.totals.iterations > 0
        text = "No kernel was found that is faster than the starting one." if over else "Nothing has been tried yet."
        return Answer(question, text, "doubt", (Fact("Which kernel won?", _tried(run, None)),))
    gate = run.winners_gate
    facts = [Fact("Which kernel won?", _tried(run, winner))]
    if gate is None:
        finalist = run.finalist()
        headline = _NO_GATE if finalist is not None else "The search is not over: its own figures are all there is."
        return Answer(question, headline, "doubt", (*facts, *_ungated(run, winner)))
    headline, mood = _HEADLINES[gate.verdict]
    audit = run.audits.get(winner.record.source_sha256)
    return Answer(question, headline, mood, (*facts, *_gate_facts(gate, audit), *_care(run, gate)))


def _tried(run: RunView, winner: Candidate | None) -> str:
    count = len(run.candidates)
    kernels = f"{count} kernel{'' if count == 1 else 's'}"
    if winner is None:
        return f"The starting kernel: none of {kernels} was promoted."
    number = f", candidate {winner.record.number}" if run.spec.candidates > 1 else ""
    promoted = len(run.promoted)
    others = "the only one promoted" if promoted == 1 else f"the last of {promoted} promoted"
    return f"The one of iteration {winner.iteration}{number}, by {winner.record.model}: {others} of {kernels} tried."


def _ungated(run: RunView, winner: Candidate) -> list[Fact]:
    said = "an unknown factor" if winner.gain is None else f"{significant(winner.gain)} times as fast as the start"
    finalist = run.finalist()
    if finalist is None or finalist.iteration != winner.iteration:
        return [Fact("By how much?", f"{said}, says the search itself, which tends to overstate.")]
    claim, held_out = finalist.claim, finalist.held_out
    facts = []
    if claim.ratio is not None and claim.low is not None and claim.high is not None:
        facts.append(
            Fact("By how much?", f"{significant(claim.ratio)} times as fast as the start; the search said {said}.")
        )
        facts.append(
            Fact(
                "How sure?",
                f"95 % interval {significant(claim.low)} to {significant(claim.high)}, in 3 fresh processes.",
            )
        )
    else:
        facts.append(Fact("By how much?", f"Not known: {claim.reason or claim.verdict}."))
    if held_out.ratio is not None and held_out.low is not None and held_out.high is not None:
        text = (
            f"At the published configuration {significant(held_out.ratio)} times as fast "
            f"({significant(held_out.low)} to {significant(held_out.high)}); no other was looked at."
        )
    else:
        text = f"At the published configuration: {held_out.reason or held_out.verdict}."
    return [*facts, Fact("Does it transfer?", text)]


def _gate_facts(gate: Gate, audit: Audit | None) -> list[Fact]:
    inside = gate.in_distribution
    reference = "the starting kernel" if inside.reference_name in ("seed", "the reference") else inside.reference_name
    said = f" The search itself had said {significant(gate.claimed)}." if gate.claimed is not None else ""
    facts = []
    if inside.interval is None:
        facts.append(Fact("By how much?", f"Not known: {inside.reason}.{said}"))
    else:
        where = "where it was searched"
        facts.append(Fact("By how much?", f"{times(inside.interval)} as {reference} {where}.{said}"))
        facts.append(Fact("How sure?", how_sure(inside)))
    facts.append(Fact("Does it transfer?", _transfers(gate)))
    why = _why(gate, audit)
    if why:
        facts.append(Fact("Why not?" if gate.verdict != "transfers" else "By what means?", why))
    return facts


def how_sure(comparison: Comparison) -> str:
    interval = comparison.interval
    assert interval is not None
    rows = [row for row in comparison.configurations if row.compared]
    pairs = sum(row.pairs for row in rows)
    floors = [row.aa_floor for row in rows if row.aa_floor is not None]
    apart = f" A kernel measured against itself came out up to {share(max(floors))} apart." if floors else ""
    if floors and 1 + max(floors) > max(interval.ratio, 1 / interval.ratio):
        apart += " That is more than the gain: this machine was unsteady, a quiet one would be surer."
    processes = comparison.process_count
    fresh = f"{processes} fresh processes" if processes > 1 else "one process"
    return (
        f"{100 * interval.confidence:.0f} % interval {span(interval)}, from {pairs} pairs at {len(rows)} "
        f"configuration{'' if len(rows) == 1 else 's'} in {fresh}.{apart}"
    )


def _transfers(gate: Gate) -> str:
    word = {"transfers": "Yes.", "does not transfer": "No.", "wrong": "No.", "undecided": "Not decided."}[gate.verdict]
    figures = []
    for name, comparison in (("the published configuration", gate.published), ("the drawn ones", gate.drawn)):
        if comparison is not None and comparison.interval is not None:
            figures.append(f"{significant(comparison.interval.ratio)} ({span(comparison.interval)}) at {name}")
    measured = f" Times as fast where it was held out: {', '.join(figures)}." if figures else ""
    drawn = sum(row.origin == "drawn" for row in gate.held_out)
    asked = f" Asked for: more than {percent(gate.threshold)} at the published configuration and each of {drawn} draws."
    reason = f" {_sentence(gate.reason)}" if gate.verdict == "undecided" else ""
    return f"{word}{reason}{measured}{asked}"


def _why(gate: Gate, audit: Audit | None) -> str:
    seen = why_not(gate)
    if audit is None:
        unknown = " An audit would name the mechanism; none was made." if seen else ""
        return f"{seen}{unknown}"
    return f"{seen} {_audited(audit)}".strip()


def _audited(audit: Audit) -> str:
    mode = f", mode {audit.mode}: {_GRADES[audit.mode]}" if audit.mode in _GRADES else ""
    # The whole reason is in the audit's own part of the page.
    return f"The audit grades it {audit.grade}{mode}. {_sentence(clip(audit.reason, 200))}"


def _care(run: RunView, gate: Gate) -> list[Fact]:
    parts = []
    flags = {flag for row in gate.in_distribution.configurations for flag in row.flags} | set(gate.flags)
    if flags:
        parts.append(f"{len(flags)} remark{'' if len(flags) == 1 else 's'} on the measurement (see Measurements)")
    if gate.device.is_virtual:
        parts.append("the times of a virtual GPU can't be ranked")
    if gate.device.name == "cpu":
        parts.append("times of a CPU rank kernels for that CPU, not for a GPU")
    if gate.weak_axis:
        parts.append(f"the gate is weak: {gate.weak_axis}")
    if run.spec.disclose:
        parts.append("the held-out configuration was shown to the model, as an experiment")
    if run.ledger_fault:
        parts.append("the ledger of looks does not hold together")
    return [Fact("With what care?", f"{_sentence('; '.join(parts))}")] if parts else []


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    # A label of a configuration keeps its letters as they are.
    start = first.capitalize() if first.isalpha() and first.islower() else first
    return start + text[len(first) :] + ("" if text.endswith((".", "!", "?", "…")) or not text else ".")


def of_gate(gate: Gate, audit: Audit | None = None) -> Answer:
    headline, mood = _HEADLINES[gate.verdict]
    return Answer("What can be believed of this kernel?", headline, mood, tuple(_gate_facts(gate, audit)))


def of_comparison(result: Comparison) -> Answer:
    question = f"Is it faster than {result.reference_name}?"
    if result.interval is None:
        return Answer(question, f"{_sentence(result.verdict)}", "bad", (Fact("Why?", _sentence(result.reason)),))
    heads: dict[str, tuple[str, Mood]] = {
        "win": ("Yes, beyond the noise.", "good"),
        "no change": ("No: there is no difference that matters.", "doubt"),
        "regression": ("No: it is slower.", "bad"),
    }
    headline, mood = heads.get(
        result.verdict, ("Not decided: the time for measuring was over before the answer.", "doubt")
    )
    facts = (
        Fact("By how much?", f"{times(result.interval)} over the configurations together."),
        Fact("How sure?", how_sure(result)),
        Fact("Does it transfer?", "Not asked: a comparison looks only where it is told to. kfp gate asks."),
    )
    return Answer(question, headline, mood, facts)


def of_evaluation(result: Evaluation) -> Answer:
    question = "What can be believed of this kernel?"
    rows = result.configurations
    if result.verdict != "right":
        facts = (Fact("What is wrong?", _sentence(result.reason)),)
        return Answer(question, f"Nothing good: {result.verdict}.", "bad", facts)
    timed = [row for row in rows if row.timing is not None]
    right = Fact("Is it right?", f"At all {len(rows)} configurations that were run, within the task's tolerance.")
    if result.score is None or not timed:
        untimed = Fact("How fast?", _sentence(result.reason))
        return Answer(question, "It is right; it was not timed.", "good", (right, untimed))
    sources = ", ".join(dict.fromkeys(row.ceiling_source for row in timed if row.ceiling_source))
    fast = f"Score {result.score:.4f}: the geometric mean of what it achieves of the ceiling ({sources})."
    return Answer(
        question,
        "It is right where it was run.",
        "good",
        (
            right,
            Fact("How fast?", fast),
            Fact("How sure?", "Times are of this session alone; sessions differ by more than their intervals."),
            Fact(
                "Is it faster than another?", "Not asked: kfp compare asks, in pairs; kfp gate asks whether it holds."
            ),
        ),
    )


def of_audit(audit: Audit) -> Answer:
    moods: dict[str, Mood] = {"gamed": "bad", "incorrect": "bad", "overfit": "bad", "benign": "good"}
    mode = f", mode {audit.mode}: {_GRADES[audit.mode]}" if audit.mode in _GRADES else ""
    run = sum(item.status == "run" for item in audit.evidence)
    facts = (
        Fact("Why?", _sentence(audit.reason)),
        Fact("On what evidence?", f"{run} of {len(audit.evidence)} kinds were gathered; rule {audit.rule} fired on "
                                  f"{', '.join(audit.fired) or 'none of them'}."),
    )  # fmt: skip
    headline = f"{audit.grade.capitalize()}{mode}."
    return Answer("By what means is this kernel fast?", headline, moods.get(audit.grade, "doubt"), facts)


def of_transfer(report: TransferReport, runs: int) -> Answer:
    rate = report.overall
    question = f"What can be believed of these {runs} runs?" if runs else "How many gains transfer?"
    if rate.wins == 0:
        return Answer(question, "No kernel has a gain that was gated, so nothing is known of transfer.", "doubt",
                      (Fact("How many are open?", f"{rate.open}."),))  # fmt: skip
    mood: Mood = "good" if rate.failures == 0 else "bad"
    does = "does" if rate.failures == 1 else "do"
    headline = f"{rate.failures} of {rate.wins} gains {does} not hold where it was not searched."
    clustered = ""
    if rate.clustered_lower is not None and rate.clustered_upper is not None:
        span_ = _percents(rate.clustered_lower, rate.clustered_upper)
        clustered = f"; a bootstrap over tasks, whose kernels are alike, gives {span_}"
    facts = [
        Fact("How often?", f"{share(rate.share)} of the gains are lost."),
        Fact("How sure?", f"{100 * report.confidence:.0f} % interval {_percents(rate.wilson_lower, rate.wilson_upper)} "
                          f"(Wilson){clustered}."),
        Fact("In what way?", f"{rate.wrong} wrong answer{'' if rate.wrong == 1 else 's'}; {rate.failures - rate.wrong} "
                             f"silent loss{'' if rate.failures - rate.wrong == 1 else 'es'} of speed, which no test of "
                             "correctness sees."),
    ]  # fmt: skip
    worst = _worst(report.models)
    if worst:
        facts.append(Fact("By model?", worst))
    if rate.open:
        facts.append(Fact("What is open?", f"{rate.open} more gains are undecided, and in no number here."))
    return Answer(question, headline, mood, tuple(facts))


def _worst(rates: tuple[Rate, ...]) -> str:
    counted = [rate for rate in rates if rate.wins]
    if len(counted) < 2:
        return ""
    return "; ".join(f"{rate.name or 'unnamed'} {rate.failures} of {rate.wins}" for rate in counted) + "."


def _percents(lower: float, upper: float) -> str:
    return f"{100 * lower:.1f} to {100 * upper:.1f} %"
