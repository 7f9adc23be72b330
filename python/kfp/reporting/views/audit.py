"""An audit: its grade, the evidence by kind, and the places in the source that it speaks of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kfp.auditing.results import Arm, Audit, EvidenceItem, Location
from kfp.reporting.answer import of_audit
from kfp.reporting.blocks import Cell, TableRow, View, fold, heading, note, pairs, section, table
from kfp.reporting.markup import Html, visible
from kfp.reporting.views.provenance import device_pairs
from kfp.tables import duration, significant

# A condition may accept many configurations.
MOST_LABELS = 4
KINDS: dict[str, str] = {
    "E0": "noise floor",
    "E1": "held out",
    "E2": "the program itself",
    "E2 coverage": "which arms ran where",
    "E3a": "neighbours of what was measured",
    "E3b": "the arm switched off",
    "E3c": "scalars moved",
    "E3d": "other data",
    "E3e": "more work beside it",
    "E3f": "other threadgroups and grids",
    "E3g": "prompt with and without the held-out configuration",
    "E3h": "every promoted kernel held out",
    "E4": "at the device's limit",
    "inputs": "inputs that don't matter",
}


def of(audit: Audit, name: str) -> View:
    about = f"{audit.task} on {audit.device.name} ({audit.device.description}), {audit.scale} size, {audit.math} math"
    provenance = pairs(
        (
            ("seed of the draws", audit.audit_seed),
            ("hash of the kernel", audit.source_sha256),
            ("took", duration(audit.seconds)),
        )
    )
    sections = (
        section("Evidence", audit_body(audit)),
        section("Provenance", provenance, device_pairs(audit.device, audit.kfp_version)),
    )
    return View(name, about, of_audit(audit), None, sections)


def audit_body(audit: Audit) -> list[Html]:
    grade = {"gamed": "bad", "incorrect": "bad", "overfit": "bad", "benign": "good"}.get(audit.grade, "doubt")
    verdict = pairs(
        (
            ("grade", audit.grade),
            ("mode", audit.mode),
            ("rule", f"{audit.rule}: {audit.reason}"),
            ("against", audit.reference_name),
        )
    )
    rows = [
        TableRow(
            (
                Cell(f"{item.kind}: {KINDS.get(item.kind, '')}", grade if item.kind in audit.fired else ""),
                item.status,
                item.finding,
                ", ".join(item.supports),
                duration(item.seconds) if item.seconds else "",
            ),
            item.status,
        )
        for item in audit.evidence
    ]
    head = ("evidence", "", "finding", "says", "took")
    body = [verdict, table(head, rows, caption="Evidence", numbers=(4,))]
    body += [_probes(item) for item in audit.evidence if item.probes]
    places = list(_places(audit))
    if places:
        body += [table(("line", "what"), [
            TableRow((str(location.line) if location is not None else "-", text)) for location, text, _ in places
        ], caption="Places in the source")]  # fmt: skip
    if audit.flags:
        body += [heading("Flags"), *(note(flag) for flag in audit.flags)]
    return body


def _probes(item: EvidenceItem) -> Html:
    rows = []
    for probe in item.probes:
        interval = probe.interval
        measured = (
            f"{significant(interval.ratio)} ({significant(interval.lower)} to {significant(interval.upper)})"
            if interval
            else ""
        )
        tone = "" if probe.verdict in ("right", "win", "no change") else "bad"
        rows.append(
            TableRow(
                (probe.label, probe.axis, probe.beside, probe.law, measured, Cell(probe.verdict, tone), probe.detail)
            )
        )
    head = ("configuration", "moved", "beside", "data", "times as fast (95 %)", "result", "")
    many = "probe" if len(rows) == 1 else "probes"
    return fold(f"{item.kind}: {len(rows)} {many}", table(head, rows, caption=f"Probes of {item.kind}", numbers=(4,)))


def marks(audit: Audit) -> list[dict[str, Any]]:
    """What an audit says of lines of the source, for the viewer of kernels."""
    return [
        {"line": location.line, "tone": tone, "text": visible(f"audit: {text}")}
        for location, text, tone in _places(audit)
        if location is not None and location.line
    ]


def _places(audit: Audit) -> Iterator[tuple[Location | None, str, str]]:
    """Arms that the start lacks: those that a parameter decides, and those that never ran."""
    static = audit.static
    for arm in static.arms if static is not None else ():
        if not arm.in_seed:
            yield arm.location or arm.first_line, _arm_text(arm), "doubt"
    for arm in audit.coverage.arms if audit.coverage is not None else ():
        if not arm.in_seed and arm.counts and not any(arm.counts.values()):
            yield arm.location or arm.first_line, f"{_arm_name(arm)} never ran", "doubt"
    if static is None:
        return
    for live in static.liveness:
        if live.in_seed and not live.in_candidate:
            text = f"{live.parameter} of {live.kernel} reaches no output, though it does in the start"
            yield live.location, text, "bad"
    for extent in static.extents:
        text = f"{extent.elements} elements: the most that {extent.parameter} is where it was measured"
        yield extent.location, text, "doubt"
    for attribute in static.attributes:
        yield attribute.location, f"{attribute.text} steers the launch", "dim"


def _arm_name(arm: Arm) -> str:
    return f"{arm.side} of {arm.condition or 'a condition'}"


def _arm_text(arm: Arm) -> str:
    taken = [label for label, accepts in arm.accepts.items() if accepts]
    on = f", on {', '.join(arm.parameters)}" if arm.parameters else ""
    more = "; …" if len(taken) > MOST_LABELS else ""
    accepted = f": accepts {'; '.join(taken[:MOST_LABELS])}{more}" if taken else ": accepts nothing that was measured"
    return f"{_arm_name(arm)}{on}{accepted}"
