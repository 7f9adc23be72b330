"""``kfp report``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kfp.cli import RIGHT
from kfp.cli.app import Json, app
from kfp.cli.output import print_json, print_lines
from kfp.tables import Line, Style, wrapped


@app.command(epilog="Exit codes: 0 written, 2 wrong usage, or nothing to report on.")
def report(
    subjects: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN...",
            help="Folders of runs (or one with runs in it) or gates; records (.json), tables (.csv); or: study.",
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The page; default report.html.")] = None,
    title: Annotated[str, typer.Option(help="Of the page.")] = "",
    pdf: Annotated[Path | None, typer.Option(help="Folder for figures as PDF; needs kfp[figures].")] = None,
    png: Annotated[Path | None, typer.Option(help="Folder for figures as PNG; needs kfp[figures].")] = None,
    json: Json = False,
) -> int:
    """Make one page of HTML, which needs nothing but itself: what can be believed, and why."""
    from kfp.cli.search import run_named
    from kfp.reporting.report import report as make_report

    # Figures alone are asked for without a page.
    page = out if out is not None else None if pdf is not None or png is not None else Path("report.html")
    found = make_report(*(str(run_named(Path(one))) for one in subjects), out=page, title=title, pdf=pdf, png=png)
    if json:
        print_json(found.to_json())
        return RIGHT
    style: Style = found.answer.mood
    lines = [*wrapped(found.answer.question, style="dim"), *wrapped(found.answer.headline, style=style)]
    for fact in found.answer.facts:
        lines += [Line(""), Line(fact.label, "bold"), *wrapped(fact.text, "  ")]
    lines.append(Line(""))
    for file in (found.page, *found.figures):
        if file:
            lines += wrapped(f"written: {file}", style="dim")
    print_lines(lines)
    return RIGHT
