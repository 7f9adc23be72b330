"""A gate: the ratios at what was searched, published and drawn; the untimed draws; how to repeat it."""

from __future__ import annotations

from collections import Counter

from kfp.auditing.results import Audit
from kfp.gating.results import Gate, Standing
from kfp.reporting.answer import of_gate
from kfp.reporting.blocks import Cell, Section, TableRow, View, figures, fold, heading, note, pairs, section, table
from kfp.reporting.contrast import telling
from kfp.reporting.drawing import Drawing, Tone
from kfp.reporting.markup import Html
from kfp.reporting.plots.forest import Row, forest
from kfp.reporting.plots.scatter import Point, scatter
from kfp.reporting.plots.scatter import Standing as Standpoint
from kfp.reporting.views.measurements import bounds, comparison_forest, figures_and_remarks, panels
from kfp.reporting.views.provenance import command_block, device_pairs
from kfp.tables import significant
from kfp.timing.results import Comparison

STANDINGS: dict[Standing, tuple[str, Tone]] = {
    "above": ("gain", "good"),
    "below": ("no gain", "bad"),
    "across": ("open", "doubt"),
    "saturated": ("at the limit", "doubt"),
    "unmeasured": ("not measured", "doubt"),
    "wrong": ("wrong", "bad"),
}


def standpoint(gate: Gate, audit: Audit | None) -> Standpoint:
    """The grade of an audit where there is one, else what the gate alone says."""
    if audit is not None and audit.source_sha256 == gate.source_sha256:
        graded: dict[str, Standpoint] = {"gamed": "gamed", "overfit": "overfit", "benign": "benign"}
        if audit.mode == "C":
            return "leak"
        if gate.verdict == "does not transfer" and audit.grade in graded:
            return graded[audit.grade]
    if gate.verdict == "undecided":
        inside = gate.in_distribution.interval
        return "no gain" if inside is not None and inside.upper <= gate.threshold else "open"
    return gate.verdict


def point(gate: Gate, name: str, audit: Audit | None = None, target: str = "") -> Point | None:
    inside = gate.in_distribution.interval
    if inside is None:
        return None
    worst = held_out(gate)
    return Point(
        name=name,
        standing=standpoint(gate, audit),
        gain=inside.ratio,
        held_out=None if gate.verdict == "wrong" or worst is None else worst[0],
        gain_bounds=bounds(inside),
        held_out_bounds=worst[1] if worst else None,
        target=target,
    )


def held_out(gate: Gate) -> tuple[float, tuple[float, float]] | None:
    """The held-out configuration with the least gain: a mean would hide one where the gain is lost."""
    rows = [row.interval for row in gate.held_out if row.interval is not None]
    if not rows:
        return None
    least = min(rows, key=lambda interval: interval.ratio)
    return least.ratio, (least.lower, least.upper)


def gate_forest(gate: Gate, name: str = "held-out") -> Drawing:
    rows = [Row("where it was searched")]
    for found in gate.in_distribution.configurations:
        interval = found.interval
        ratio = interval.ratio if interval else None
        rows.append(Row(found.label, ratio, bounds(interval), "accent", note="" if interval else found.verdict))
    for origin, title in (("published_held_out", "held out, published"), ("drawn", "held out, drawn")):
        members = [row for row in gate.held_out if row.origin == origin]
        if members:
            rows.append(Row(title))
        for member in members:
            word, tone = STANDINGS[member.standing]
            label = member.label.partition(": ")[2] or member.label if origin == "drawn" else member.label
            ratio = member.interval.ratio if member.interval else None
            rows.append(Row(label, ratio, bounds(member.interval), tone, note=word))
    return forest(
        rows,
        name=name,
        title="How many times as fast as the start, at each configuration.",
        description=f"Lines are 95 % intervals. A gain has to be above the dashed line at {gate.threshold:g}, "
        "by the interval, at the published configuration and at every drawn one.",
        threshold=gate.threshold,
    )


def hero(gate: Gate) -> Drawing:
    """The gate in four rows at most."""
    rows = []
    if gate.claimed is not None:
        rows.append(Row("the search itself said", gate.claimed, None, "dim", "ring"))
    stages: tuple[tuple[str, Comparison | None, Tone], ...] = (
        ("searched, measured again", gate.in_distribution, "accent"),
        ("held out, published", gate.published, "ink"),
        ("held out, drawn", gate.drawn, "ink"),
    )
    for label, comparison, tone in stages:
        interval = comparison.interval if comparison is not None else None
        if interval is None:
            rows.append(Row(label, note="not measured" if comparison is None else comparison.verdict, tone="bad"))
            continue
        if tone == "ink":
            tone = "good" if interval.lower > gate.threshold else "bad" if interval.upper <= gate.threshold else "doubt"
        rows.append(Row(label, interval.ratio, bounds(interval), tone, "diamond"))
    return forest(
        rows,
        name="summary",
        title="How many times as fast as the start.",
        description=f"Lines are 95 % intervals; a gain has to be above the dashed line at {gate.threshold:g}.",
        threshold=gate.threshold,
    )


def results_of(gate: Gate) -> list[tuple[str, Comparison]]:
    stages = (("searched", gate.in_distribution), ("published", gate.published), ("drawn", gate.drawn))
    return [(name, comparison) for name, comparison in stages if comparison is not None]


def held_out_table(gate: Gate) -> Html:
    telling_ones = telling(gate)
    rows = []
    for row in gate.held_out:
        word, tone = STANDINGS[row.standing]
        interval = row.interval
        figures_ = (
            f"{significant(interval.ratio)} ({significant(interval.lower)} to {significant(interval.upper)})"
            if interval
            else "-"
        )
        changed = ", ".join(f"{name} = {row.parameters[name]:g}" for name in telling_ones)
        rows.append(
            TableRow(
                (row.label, figures_, _share(row.seed_share), _share(row.share), changed, Cell(word, tone), row.detail)
            )
        )
    headings = (
        "configuration",
        "times as fast (95 %)",
        "start, of ceiling",
        "kernel, of ceiling",
        "telling",
        "result",
        "",
    )
    return table(headings, rows, caption="Held-out configurations", numbers=(1, 2, 3))


def trials(gate: Gate) -> list[Html]:
    counted = [trial for trial in gate.trials if trial.counts]
    laws = Counter(trial.law for trial in counted)
    wrong = [trial for trial in gate.trials if trial.verdict != "right"]
    said = (
        f"{len(counted)} drawn configurations were run for correctness alone: "
        f"{sum(t.padding > 0 for t in counted)} with larger grids, {sum(t.checked for t in counted)} in checked mode; "
        f"laws of the data: {', '.join(f'{law} ({n})' for law, n in laws.items())}. "
        f"{'All are right.' if not gate.wrong else f'{len(gate.wrong)} are wrong.'}"
    )
    rows = [
        TableRow(
            (
                t.label,
                t.law,
                f"+{t.padding}" if t.padding else "",
                "yes" if t.checked else "",
                "" if t.counts else "decides nothing",
                Cell(t.verdict, "" if t.verdict == "right" else "bad"),
                t.detail,
            )
        )
        for t in [*wrong, *(t for t in gate.trials if t.verdict == "right")]
    ]
    head = ("configuration", "data", "larger grid", "checked", "", "result", "")
    return [heading("Untimed draws"), note(said), fold("every draw", table(head, rows, caption="Untimed draws"))]


def repeat(gate: Gate, kernel: str) -> str:
    options = f"--device {gate.device.name} --scale {gate.scale} --math {gate.math} --seed {gate.gate_seed}"
    return f"kfp gate {gate.task} {kernel} {options}"


def secrecy(gate: Gate) -> Html:
    return pairs(
        (
            ("seed of the draws", gate.gate_seed),
            ("its commitment", f"{gate.commitment} (SHA-256; in a run it is made before the first question)"),
            ("hash of the kernel", gate.source_sha256),
        )
    )


def gate_sections(gate: Gate) -> list[Html]:
    return [*figures(gate_forest(gate)), held_out_table(gate), *trials(gate)]


def of(gate: Gate, name: str, audit: Audit | None = None) -> View:
    found = point(gate, gate.task, audit)
    spread = scatter([found], gate.threshold) if found is not None else None
    measured = panels(results_of(gate), "")
    inside = comparison_forest(gate.in_distribution, "searched")
    sections: tuple[Section, ...] = (
        section("Held out", gate_sections(gate), figures(spread)),
        section("Measurements", figures(inside), figures_and_remarks(results_of(gate), measured)),
        section(
            "Provenance",
            command_block(repeat(gate, "my_kernel.metal")),
            secrecy(gate),
            device_pairs(gate.device, gate.kfp_version),
        ),
    )
    about = f"{gate.task} on {gate.device.name} ({gate.device.description}), {gate.scale} size, {gate.math} math"
    drawings = tuple(d for d in (spread, gate_forest(gate), inside, *measured) if d is not None)
    return View(name, about, of_gate(gate, audit), hero(gate), sections, drawings)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f} %"
