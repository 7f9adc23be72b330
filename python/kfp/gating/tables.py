"""A gate as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kfp.gating.results import Gate, GateVerdict, HeldOut, Standing
from kfp.gating.verdicts import percent
from kfp.tables import Line, Style, grid, plain, wrapped
from kfp.timing.results import Comparison, ComparisonVerdict
from kfp.timing.statistics import Interval
from kfp.timing.tables import forest, interval_text, ratio_text

if TYPE_CHECKING:
    from kfp.gating.looks import Look

STYLES: dict[GateVerdict, Style] = {
    "transfers": "good",
    "does not transfer": "bad",
    "wrong": "bad",
    "undecided": "doubt",
}
_STANDINGS: dict[Standing, tuple[str, Style]] = {
    "above": ("gain", ""),
    "below": ("no gain", "bad"),
    "across": ("open", "doubt"),
    "saturated": ("at the limit", "doubt"),
    "unmeasured": ("not measured", "doubt"),
    "wrong": ("wrong", "bad"),
}
_AS_COMPARED: dict[Standing, ComparisonVerdict] = {"above": "win", "below": "regression", "wrong": "wrong"}
# What does not fit is left out of the table, not out of the record.
_WRONG_SHOWN = 3


def gate_summary(gate: Gate) -> str:
    return f"{gate.task} on {gate.device.name}: {gate.verdict}: {gate.reason}"


def gate_text(gate: Gate) -> str:
    return plain(gate_lines(gate))


def gate_lines(gate: Gate) -> list[Line]:
    where = f"{gate.device.name} ({gate.device.description})"
    heading = f"gate of {gate.task} on {where}, {gate.scale} size, {gate.math} math"
    lines = wrapped(heading, style="bold")
    lines += [Line(""), *_trial_lines(gate)]
    if gate.held_out:
        lines += [Line(""), *_table(gate), *_forest(gate)]
    if gate.compared_with is not None and gate.compared_with.interval is not None:
        ratio = interval_text(gate.compared_with.interval)
        lines += wrapped(f"against {gate.compared_with.reference_name}: {ratio} times as fast where held out")
    lines += [Line(""), *_figures(gate)]
    for flag in gate.flags:
        lines += wrapped(flag, "  ", "doubt")
    if gate.weak_axis:
        lines += wrapped(f"a weak gate: {gate.weak_axis}", style="doubt")
    lines += wrapped(f"gate seed {gate.gate_seed}, commitment {gate.commitment[:16]}", style="dim")
    return [*lines, Line(""), *wrapped(f"{gate.verdict}: {gate.reason}", style=STYLES[gate.verdict])]


def look_lines(look: Look) -> list[Line]:
    """What the policy releases, and what the answers so far give away."""
    lines = [*gate_lines(look.gate), Line("")] if look.gate is not None else []
    if look.policy == "retro":
        lines += wrapped("the look is on the books, and its result with them; nothing is released", style="good")
    elif look.policy == "ladder":
        improved = look.released is not None and (look.best_before is None or look.released > look.best_before)
        if improved:
            lines += wrapped(f"Phi {look.released:.3g}: better than anything released before", style="good")
        else:
            best = look.best_before if look.best_before is not None else 0.0
            lines += wrapped(f"no improvement on Phi {best:.3g} by more than the policy's step", style="doubt")
    elif look.policy == "thresholdout":
        lines += wrapped(f"Phi {look.released:.3g}, or as near to it as the policy tells")
    text = f"look {look.looks} of {look.run} under {look.policy}: {look.bits:.2g} bits at most, {look.spent:.2g} in all"
    return [*lines, *wrapped(text, style="dim")]


def _trial_lines(gate: Gate) -> list[Line]:
    counted = [trial for trial in gate.trials if trial.counts]
    padded = sum(trial.padding > 0 for trial in counted)
    checked = sum(trial.checked for trial in counted)
    laws = len({trial.law for trial in counted})
    wrong = gate.wrong
    found = f"{len(wrong)} wrong" if wrong else "all right"
    lines = wrapped(
        f"{len(counted)} untimed runs, {padded} with larger grids, {checked} in checked mode, {laws} laws of the data: "
        f"{found}",
        style="bad" if wrong else "",
    )
    for trial in wrong[:_WRONG_SHOWN]:
        lines += wrapped(f"{trial.label}: {trial.verdict}: {trial.detail}", "  ", "bad")
    return lines


def _table(gate: Gate) -> list[Line]:
    cells: list[tuple[str, ...]] = []
    styles: list[Style] = []
    for row in gate.in_distribution.configurations:
        cells.append(("search", row.label, *_interval(row.interval), "-", ""))
        styles.append("dim")
    for held_out in gate.held_out:
        shown, style = _STANDINGS[held_out.standing]
        origin = "drawn" if held_out.origin == "drawn" else "published"
        share = "-" if held_out.share is None else f"{100 * held_out.share:.1f}%"
        cells.append((origin, held_out.label, *_interval(held_out.interval), share, shown))
        styles.append(style)
    texts = grid(("", "configuration", "ratio", "interval", "share", "result"), cells, left=(0, 1, 5), flexible=1)
    lines = [Line(texts[0], "dim"), *(Line(text, style) for text, style in zip(texts[1:], styles, strict=True))]
    for held_out in gate.held_out:
        lines += _detail(held_out)
    return lines


def _forest(gate: Gate) -> list[Line]:
    rows: list[tuple[str, Interval, ComparisonVerdict]] = [
        (row.label, row.interval, "no change") for row in gate.in_distribution.configurations if row.interval
    ]
    for held_out in gate.held_out:
        if held_out.interval is not None:
            verdict: ComparisonVerdict = _AS_COMPARED.get(held_out.standing, "undecided")
            rows.append((held_out.label, held_out.interval, verdict))
    return [Line(""), *forest(rows, gate.threshold - 1)] if rows else []


def _detail(row: HeldOut) -> Sequence[Line]:
    if not row.detail or row.standing == "across":
        return ()
    return wrapped(f"{row.label}: {row.detail}", "  ", "doubt")


def _interval(interval: Interval | None) -> tuple[str, str]:
    if interval is None:
        return "-", "-"
    return ratio_text(interval.ratio), f"{ratio_text(interval.lower)} to {ratio_text(interval.upper)}"


def _figures(gate: Gate) -> list[Line]:
    def gain(comparison: Comparison | None) -> str:
        return interval_text(comparison.interval) if comparison is not None and comparison.interval else "not measured"

    lines = wrapped(
        f"times as fast as {gate.in_distribution.reference_name}: {gain(gate.in_distribution)} in distribution, "
        f"{gain(gate.published)} at the published point, {gain(gate.drawn)} on the draws"
    )
    if gate.claimed is not None:
        lines += wrapped(f"the search had said {ratio_text(gate.claimed)}")
    if gate.overstatement is not None:
        lines += wrapped(f"overstated by a factor of {ratio_text(gate.overstatement)}")
    phi = ", ".join(
        f"{name} {value:.4f}"
        for name, value in (("on the draws", gate.phi), ("at the published point", gate.phi_published))
        if value is not None
    )
    if phi:
        lines += wrapped(f"Phi: {phi} (geometric mean of achieved/ceiling)")
    confidence = next((row.interval.confidence for row in gate.held_out if row.interval), None)
    if confidence is not None:
        processes = gate.in_distribution.process_count
        held_out = [comparison for comparison in (gate.published, gate.drawn) if comparison is not None]
        most = max((comparison.process_count for comparison in held_out), default=processes)
        doubted = f" ({most} where a gain seemed lost)" if most > processes else ""
        lines += wrapped(
            f"ratio: reference time over kernel time, in pairs, {gate.in_distribution.cache} cache, in {processes} "
            f"fresh processes{doubted}, {100 * confidence:.0f} % interval; gain: more than {percent(gate.threshold)}",
            style="dim",
        )
    return lines
