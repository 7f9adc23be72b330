"""An evaluation as a small table for notebooks."""

from __future__ import annotations

from html import escape

from kfp.results import ConfigurationResult, Evaluation
from kfp.tables import duration, short_exponent, significant

HEADINGS = ("configuration", "result", "error", "tolerance", "time", "IQR", "samples", "achieved", "ceiling", "share")


def evaluation_html(result: Evaluation) -> str:
    heading = "".join(f"<th>{name}</th>" for name in HEADINGS)
    rows = "".join(_row(row) for row in result.configurations)
    table = f"<table><thead><tr>{heading}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    diagnostics = "\n".join(escape(str(d)) for d in result.diagnostics)
    messages = f"<pre>{diagnostics}</pre>" if diagnostics else ""
    sources = ", ".join(dict.fromkeys(row.ceiling_source for row in result.configurations if row.ceiling_source))
    note = f"<p><small>ceilings: {escape(sources)}</small></p>" if sources else ""
    return f"<div><p><strong>{escape(result.summary())}</strong></p>{messages}{table}{note}</div>"


def _row(row: ConfigurationResult) -> str:
    timing = row.timing
    cells = (
        row.label,
        "right" if row.correct else "wrong",
        "" if row.error is None else short_exponent(row.error),
        "" if row.tolerance is None else short_exponent(row.tolerance),
        "" if timing is None else f"{duration(timing.seconds)} ({timing.cache})",
        "" if timing is None else duration(timing.upper_quartile - timing.lower_quartile),
        "" if timing is None else str(len(timing.samples)),
        "" if row.achieved is None else f"{significant(row.achieved)} {row.unit}",
        "" if row.ceiling is None else f"{significant(row.ceiling)} {row.unit}",
        "" if row.fraction is None else f"{100 * row.fraction:.1f} %",
    )
    notes = "; ".join(note for note in (row.detail, *row.flags) if note)
    line = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
    more = f'<tr><td colspan="{len(HEADINGS)}"><small>{escape(notes)}</small></td></tr>' if notes else ""
    return f"<tr>{line}</tr>{more}"
