"""An audit as text of at most 80 columns."""

from __future__ import annotations

from collections.abc import Sequence

from kfp.auditing.arms import taken
from kfp.auditing.plots import sweep_lines
from kfp.auditing.results import Arm, Audit, AuditGrade
from kfp.comparison import SEED
from kfp.gating.verdicts import percent
from kfp.tables import Line, Style, clip, plain, wrapped

STYLES: dict[AuditGrade, Style] = {
    "gamed": "bad",
    "overfit": "bad",
    "incorrect": "bad",
    "benign": "good",
    "undecided": "doubt",
    "unresolved": "doubt",
}
_ARMS_SHOWN = 6
# Columns of the kind of evidence.
_KIND = 13


def audit_summary(audit: Audit) -> str:
    return f"{audit.task} on {audit.device.name}: {audit.verdict}: {audit.reason}"


def audit_text(audit: Audit, source: str | None = None) -> str:
    return plain(audit_lines(audit, source))


def audit_lines(audit: Audit, source: str | None = None) -> list[Line]:
    """With the ``source`` also its lines in which the arms stand."""
    where = f"{audit.device.name} ({audit.device.description})"
    lines = wrapped(f"audit of {audit.task} on {where}, {audit.scale} size, {audit.math} math", style="bold")
    lines += [Line(""), *_evidence_lines(audit)]
    arms = shown_arms(audit)
    if arms:
        lines += [Line(""), *_arm_lines(audit, arms, source)]
    sweep = sweep_lines(audit)
    if sweep:
        lines += [Line(""), *sweep]
    lines.append(Line(""))
    ignored = [use for use in audit.uses if use.ignored]
    if ignored:
        names = ", ".join(f"{use.argument} of {use.kernel}" for use in ignored)
        lines += wrapped(f"what the seed's outputs depend on and this kernel's don't: {names}", style="doubt")
    for flag in audit.flags:
        lines += wrapped(flag, "  ", "doubt")
    name = "the seed" if audit.reference_name == SEED else audit.reference_name
    lines += wrapped(
        f"gain: more than {percent(audit.threshold)} over {name}; {audit.seconds:.0f} s of a budget of "
        f"{audit.budget:.0f} s; audit seed {audit.audit_seed}",
        style="dim",
    )
    rests = f" (rule {audit.rule}, by {', '.join(audit.fired)})" if audit.fired else f" (rule {audit.rule})"
    return [*lines, Line(""), *wrapped(f"{audit.verdict}{rests}: {audit.reason}", style=STYLES[audit.grade])]


def _evidence_lines(audit: Audit) -> list[Line]:
    lines: list[Line] = []
    for item in audit.evidence:
        bad = item.kind in audit.fired and audit.grade in ("gamed", "overfit", "incorrect")
        style: Style = "dim" if item.status != "run" else "bad" if bad else ""
        finding = item.finding if item.status == "run" else f"{item.status}: {item.finding}"
        first, *others = wrapped(" ".join(finding.split()), " " * _KIND, style)
        lines += [Line(item.kind.ljust(_KIND) + first.text[_KIND:], style), *others]
    return lines


def shown_arms(audit: Audit) -> list[Arm]:
    """Those that the seed has not, with counts where there are any; the ones that tell configurations apart first."""
    counted = audit.coverage.arms if audit.coverage is not None and not audit.coverage.reason else ()
    known = audit.static.arms if audit.static is not None else ()
    arms = [arm for arm in (counted or known) if not arm.in_seed]
    telling = [arm for arm in arms if len({taken(arm, label) for label in (arm.counts or arm.accepts)}) > 1]
    return telling[:_ARMS_SHOWN]


def _arm_lines(audit: Audit, arms: Sequence[Arm], source: str | None) -> list[Line]:
    labels = [probe.label for probe in audit.item("E1").probes if probe.origin != "drawn"]
    labels = list(dict.fromkeys(labels))
    text = source.splitlines() if source is not None else []
    lines = [Line("arms that the seed has not, and which configurations took them", "bold")]
    for arm in arms:
        number = arm.location.line if arm.location is not None else 0
        if 0 < number <= len(text):
            lines.append(Line(clip(f"{number:>6} | {text[number - 1].strip()}", 80)))
        lines += wrapped(f"{arm.condition or 'a condition'} ({arm.side}) in {arm.kernel}", " " * 9, "dim")
        took = [label for label in labels if taken(arm, label)]
        lines += wrapped(f"taken at {', '.join(took) if took else 'none of them'}", " " * 9, "dim")
    return lines
