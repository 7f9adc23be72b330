"""A result as text for whoever writes the next kernel, a model most of all. Nothing held out gets in."""

from __future__ import annotations

from kfp.results import ConfigurationResult, Evaluation
from kfp.scoring import SUSPECT_SHARE, score
from kfp.tables import duration, short_exponent, significant

MAX_DIAGNOSTICS = 20
MAX_MESSAGE = 600


def feedback_text(result: Evaluation) -> str:
    return "\n".join([*_compilation(result), *_runs(result)])


def _compilation(result: Evaluation) -> list[str]:
    errors = [d for d in result.diagnostics if d.severity == "error"]
    shown = [d for d in result.diagnostics if d.severity != "note"][:MAX_DIAGNOSTICS]
    if not result.compile_ok:
        count = f"{len(errors)} error{'' if len(errors) == 1 else 's'}" if errors else result.reason
        lines = [f"The kernel does not compile: {count}."]
    else:
        lines = ["The kernel compiles."]
    lines += [_shortened(str(diagnostic)) for diagnostic in shown]
    left_out = len([d for d in result.diagnostics if d.severity != "note"]) - len(shown)
    if left_out > 0:
        lines.append(f"({left_out} more diagnostics)")
    return lines


def _runs(result: Evaluation) -> list[str]:
    if not result.compile_ok:
        return [f"Score on {result.task}: 0."]
    visible = [row for row in result.configurations if row.origin == "in_distribution"]
    if not result.configurations:
        return [f"It was not run: {_shortened(result.reason)}", f"Score on {result.task}: 0."]
    if not visible:
        return ["No configuration that may be shown was evaluated."]
    lines = [_row(row) for row in visible]
    wrong = sum(not row.correct for row in visible)
    total = score(visible)
    if wrong:
        lines.append(f"{wrong} of {len(visible)} configurations wrong. Score on {result.task}: 0.")
    elif total is None:
        lines.append(f"All {len(visible)} configurations right; no score, because not every one was timed.")
    else:
        lines.append(
            f"All {len(visible)} configurations right. Score on {result.task}: {total:.4f} "
            "(geometric mean of the shares of the ceiling)."
        )
    return lines


def _row(row: ConfigurationResult) -> str:
    parts = [f"{row.label}: {'correct' if row.correct else 'INCORRECT'}"]
    if row.error is not None and row.tolerance is not None:
        parts.append(f"{row.metric} {short_exponent(row.error)} (tolerance {short_exponent(row.tolerance)})")
    if row.timing is not None:
        t = row.timing
        parts.append(
            f"time {duration(t.seconds)} (median of {len(t.samples)}, "
            f"quartiles {duration(t.lower_quartile)} to {duration(t.upper_quartile)}, {t.cache} cache)"
        )
    if row.achieved is not None and row.fraction is not None:
        parts.append(f"{significant(row.achieved)} {row.unit} = {100 * row.fraction:.1f} % of the ceiling")
        if row.fraction > SUSPECT_SHARE:
            parts.append("above the ceiling, so in doubt")
    if row.detail:
        parts.append(_shortened(row.detail))
    return "; ".join(parts)


def _shortened(text: str) -> str:
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"
