"""A run as text of at most 80 columns: a line for each iteration, then what is left at the end."""

from __future__ import annotations

from collections.abc import Sequence

from kfp.auditing.folder import audits_of
from kfp.runs.records import CandidateRecord, Finale, Finalist, IterationRecord
from kfp.runs.run import Run, Totals
from kfp.search.judgement import Judgement
from kfp.tables import WIDTH, Line, Style, clip, duration, grid, plain, significant, sparkline, wrapped

# From here on a kernel counts as one whose gain holds elsewhere: that of the published study.
TRANSFERS = 1.05

_STYLES: dict[str, Style] = {
    "promoted": "good",
    "vetoed": "bad",
    "wrong": "bad",
    "invalid": "bad",
    "no kernel": "bad",
    "undecided": "doubt",
}


def run_text(run: Run) -> str:
    return plain(run_lines(run))


def run_lines(run: Run) -> list[Line]:
    lines = [*heading_lines(run), Line("")]
    for record in run.iterations:
        lines += iteration_lines(record)
    return [*lines, *end_lines(run)]


def heading_lines(run: Run) -> list[Line]:
    spec, provenance = run.spec, run.provenance
    arm = ", held-out disclosed" if spec.disclose else ""
    several = f", {spec.candidates} candidates" if spec.candidates > 1 else ""
    strategy = f", {spec.strategy}" if spec.strategy != "evolve" else ""
    setting = f"{spec.scale} size, {spec.math} math, seed {spec.seed}, replicate {spec.replicate}"
    where = f"{provenance.device.name} ({provenance.device.description})"
    text = f"{spec.task} by {spec.model} on {where}, {setting}{several}{strategy}{arm}"
    lines = wrapped(text, style="bold")
    start = run.reader.start_evaluation()
    if start is not None and start.score is not None:
        lines.append(Line(f"start: score {start.score:.4f}", "dim"))
    return lines


def iteration_lines(record: IterationRecord) -> list[Line]:
    several = len(record.candidates) > 1
    lines: list[Line] = []
    for candidate in record.candidates:
        name = f"{record.number}.{candidate.number}" if several else str(record.number)
        style = _STYLES.get(candidate.decision, "")
        what, why = _what(candidate), _why(candidate)
        lines += _hanging(f"{name:>4}  {what:<15} ", why, style)
    return lines


def _hanging(head: str, text: str, style: Style) -> list[Line]:
    first = wrapped(text, " " * len(head), style)[:3]
    body = first[0].text[len(head) :] if first else ""
    return [Line(clip(head + body, WIDTH).rstrip(), style), *first[1:]]


def _what(candidate: CandidateRecord) -> str:
    if candidate.decision == "invalid" and candidate.evaluation is not None:
        return candidate.evaluation.verdict
    if candidate.decision == "no kernel":
        return candidate.answer if candidate.answer != "kernel" else "no kernel"
    return candidate.decision


def _why(candidate: CandidateRecord) -> str:
    if candidate.decision in ("promoted", "no gain", "undecided", "slower"):
        gain = candidate.gain
        if gain is None:
            return candidate.reason
        if gain.ratio is None:
            return f"{candidate.reason}: {gain.reason}"
        return f"{_ratio(gain)} times as fast as the incumbent"
    if candidate.decision == "vetoed" and candidate.gain is not None:
        return f"{_ratio(candidate.gain)} times as fast as the incumbent where it is searched; {candidate.reason}"
    return candidate.reason


def end_lines(run: Run) -> list[Line]:
    lines: list[Line] = []
    finale, totals = run.finale, run.totals
    lines += _course(run)
    if finale is not None:
        lines += [Line(""), *finale_lines(finale)]
    elif totals.iterations:
        lines += [Line(""), *wrapped("nothing that is right beside the starting kernel, so nothing to measure again")]
    if run.gate is not None:
        good = run.gate.verdict == "transfers"
        lines += wrapped(
            f"gate of the incumbent: {run.gate.verdict}: {run.gate.reason}", style="good" if good else "bad"
        )
    for audit in audits_of(run.folder).values():
        lines += wrapped(f"audit of {audit.source_sha256[:12]}: {audit.verdict}: {audit.reason}")
    lines += [Line(""), *_totals(totals, run)]
    if run.ended:
        lines += wrapped(run.ended, style="bad")
    return lines


def _course(run: Run) -> list[Line]:
    """Best so far by the search's own comparisons, a bar for each iteration."""
    best, course = 1.0, [1.0]
    for record in run.iterations:
        for candidate in record.candidates:
            if candidate.number == record.promoted and candidate.gain is not None:
                best *= candidate.gain.ratio or 1.0
        course.append(best)
    if best == 1.0:
        return []
    head, end = "best so far  ", f"  1 to {significant(best)} times as fast"
    return [Line(""), Line(f"{head}{sparkline(course, WIDTH - len(head) - len(end))}{end}")]


def finale_lines(finale: Finale) -> list[Line]:
    rows = [
        (
            f"{finalist.name} (iteration {finalist.iteration})",
            f"{finalist.search:.2f}" if finalist.search is not None else "-",
            _ratio(finalist.claim),
            _ratio(finalist.held_out),
        )
        for finalist in finale.finalists
    ]
    texts = grid(("times as fast as the start", "search", "measured again", "held out"), rows, left=(0,))
    lines = [Line(texts[0], "dim")]
    for finalist, text in zip(finale.finalists, texts[1:], strict=True):
        lines.append(Line(text, "good" if transfers(finalist) else "bad"))
    confidence = "measured again: 3 fresh processes, 95 % interval; held out: the published configuration"
    lines += wrapped(f"{confidence}, {finale.held_out_label}, which no prompt showed", style="dim")
    for finalist in finale.finalists:
        lines += wrapped(_conclusion(finalist), style="" if transfers(finalist) else "bad")
    return lines


def transfers(finalist: Finalist) -> bool:
    low = finalist.held_out.low
    return low is not None and low >= TRANSFERS


def _conclusion(finalist: Finalist) -> str:
    parts = []
    claim, held_out = finalist.claim, finalist.held_out
    if finalist.search is not None and claim.ratio is not None:
        parts.append(f"the search itself {_overstated(finalist.search / claim.ratio)}")
    if held_out.verdict == "wrong":
        parts.append(f"it is wrong where it was held out: {held_out.reason}")
    elif claim.ratio is not None and held_out.ratio is not None and held_out.high is not None:
        if transfers(finalist):
            parts.append("its gain holds where it was held out")
        elif held_out.high < 1.0:
            parts.append("where it was held out it is slower than the start: the gain does not transfer")
        elif held_out.high < TRANSFERS:
            parts.append("where it was held out nothing of the gain is left")
        else:
            parts.append("whether its gain holds where it was held out is open")
    elif claim.verdict == "wrong":
        parts.append(f"wrong when measured again: {claim.reason}")
    if not parts:
        return f"{finalist.name}: no figures: {claim.reason or held_out.reason}"
    return f"{finalist.name}: {'; '.join(parts)}."


def _overstated(factor: float) -> str:
    percent = 100 * (factor - 1)
    return f"{'over' if percent >= 0 else 'under'}stated it by {abs(percent):.1f} %"


def _ratio(judgement: Judgement) -> str:
    if judgement.ratio is None or judgement.low is None or judgement.high is None:
        return judgement.verdict
    return f"{judgement.ratio:.2f} ({judgement.low:.2f} to {judgement.high:.2f})"


def _totals(totals: Totals, run: Run) -> list[Line]:
    parts = [f"{totals.iterations} iteration{'' if totals.iterations == 1 else 's'}, {totals.promotions} promoted"]
    if totals.usage.total:
        usage = totals.usage
        parts.append(f"{usage.input} tokens in ({usage.cached} cached), {usage.output} out ({usage.thinking} thinking)")
    price = run.provenance.price
    if price is None:
        parts.append("cost unknown")
    elif price.date:
        lost = totals.cost_bound_usd - totals.cost_usd
        doubt = f" (up to ${lost:.4f} more for calls without an answer)" if lost > 0 else ""
        parts.append(f"${totals.cost_usd:.4f}{doubt} by prices of {price.date}")
    if totals.saved_runs:
        parts.append(f"{totals.saved_runs} measurements saved (about {duration(totals.saved_seconds)})")
    if totals.iterations:
        overhead = duration(totals.harness_seconds / totals.iterations)
        parts.append(f"{duration(totals.seconds)} in all, harness {overhead} an iteration")
    return [*wrapped("; ".join(parts), style="dim"), *wrapped(f"run: {run.folder}", style="dim")]


def list_lines(rows: Sequence[tuple[str, ...]]) -> list[Line]:
    heading = ("run", "task", "model", "status", "done", "best", "cost")
    texts = grid(heading, rows, left=(0, 1, 2, 3), flexible=2)
    return [Line(texts[0], "dim"), *map(Line, texts[1:])]
