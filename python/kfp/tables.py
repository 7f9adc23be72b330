"""Results as text of at most 80 columns: strings with a style beside them, so that only a terminal is coloured."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from kfp.results import CheckReport, ConfigurationResult, Device, Diagnostic, Evaluation, KernelSignature
from kfp.timing.statistics import Interval, over_configurations

WIDTH = 80

Style = Literal["", "bold", "dim", "good", "bad", "doubt"]


class Line(NamedTuple):
    text: str
    style: Style = ""


def plain(lines: Iterable[Line]) -> str:
    return "\n".join(line.text for line in lines)


def duration(seconds: float) -> str:
    """Three significant digits in the unit that suits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{significant(seconds / size)} {unit}"
    return f"{significant(seconds / 1e-9)} ns"


def significant(value: float) -> str:
    if value != 0 and not 1e-3 <= abs(value) < 1e6:
        return short_exponent(value)
    decimals = 2 if abs(value) < 10 else 1 if abs(value) < 100 else 0
    return f"{value:.{decimals + (1 if abs(value) < 1 else 0)}f}"


def short_exponent(value: float) -> str:
    """Two significant digits in nine columns at most: 0, 2.1e-3, inf."""
    if value == 0 or value != value or value in (float("inf"), float("-inf")):
        return f"{value:g}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}e{int(exponent)}"


_BARS = "▁▂▃▄▅▆▇█"


def sparkline(values: Sequence[float], width: int) -> str:
    """A bar for each value above 0, by factors from the least to the greatest; every so many of more than ``width``."""
    count = min(width, len(values))
    shown = [values[(i + 1) * len(values) // count - 1] for i in range(count)]
    logs = [math.log(value) for value in shown]
    low, high = min(logs, default=0.0), max(logs, default=0.0)
    top = len(_BARS) - 1
    return "".join(_BARS[round(top * (log - low) / (high - low)) if high > low else 0] for log in logs)


def clip(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"


def grid(
    heading: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), flexible: int = 0
) -> list[str]:
    """Two spaces between columns, ``left`` ones aligned left, the others right; the ``flexible`` one is clipped."""
    cells = [list(heading), *(list(row) for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(heading))]
    others = sum(widths) - widths[flexible] + 2 * (len(widths) - 1)
    widths[flexible] = max(8, min(widths[flexible], WIDTH - others))
    lines = []
    for row in cells:
        row[flexible] = clip(row[flexible], widths[flexible])
        padded = [
            text.ljust(width) if i in left else text.rjust(width)
            for i, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return lines


def wrapped(text: str, indent: str = "", style: Style = "") -> list[Line]:
    """Breaks at words; a word longer than the line is broken too, so that nothing is wider than the table."""
    lines: list[Line] = []
    for paragraph in text.splitlines() or [""]:
        pieces = textwrap.wrap(paragraph, WIDTH, initial_indent=indent, subsequent_indent=indent)
        lines += [Line(piece, style) for piece in pieces or [indent.rstrip()]]
    return lines


# Evaluation


def evaluation_summary(result: Evaluation) -> str:
    score = "" if result.score is None or result.verdict != "right" else f", score {result.score:.4f}"
    return f"{result.task} on {result.device.name}: {result.verdict}{score}" + (
        f": {result.reason}" if result.verdict != "right" else ""
    )


def evaluation_lines(result: Evaluation, source: str | None = None) -> list[Line]:
    mode = ", checked" if result.checked else ""
    where = f"{result.device.name} ({result.device.description})"
    setting = f"{result.scale} size, {result.math} math, seed {result.seed}{mode}"
    lines = [*wrapped(f"{result.task} on {where}, {setting}", style="bold")]
    if result.diagnostics:
        lines += [Line(""), *diagnostic_lines(result.diagnostics, source)]
    if result.configurations:
        lines += [Line(""), *_configuration_lines(result)]
    lines += [Line(""), *_verdict_lines(result)]
    return lines


def evaluation_text(result: Evaluation) -> str:
    return plain(evaluation_lines(result))


def _configuration_lines(result: Evaluation) -> list[Line]:
    rows = result.configurations
    units = {row.unit for row in rows if row.achieved is not None}
    unit = units.pop() if len(units) == 1 else ""
    heading = ("configuration", "result", "error/tol.", "time", "95 %", "n", unit or "achieved", "share")
    cells = [_cells(row, with_unit=not unit) for row in rows]
    lines = grid(heading, cells, left=(0, 1))
    styles: list[Style] = ["" if row.correct else "bad" for row in rows]
    if any("…" in line for line in lines):
        # Long labels get lines of their own.
        lines = grid(heading, [("", *figures) for _, *figures in cells], left=(0, 1))
        pairs = zip(rows, lines[1:], styles, strict=True)
        styled = [
            line for row, text, style in pairs for line in (Line(clip(row.label, WIDTH), style), Line(text, style))
        ]
    else:
        styled = [Line(text, style) for text, style in zip(lines[1:], styles, strict=True)]
    styled.insert(0, Line(lines[0], "dim"))
    for row in rows:
        notes = [f"{row.label}: {note}" for note in (row.detail, *row.flags) if note]
        for note in notes:
            # The verdict's reason, below the table, needn't be said twice.
            if not result.reason.startswith(note):
                styled += wrapped(note, "  ", "doubt" if row.correct else "bad")
    return styled


def _cells(row: ConfigurationResult, with_unit: bool) -> tuple[str, ...]:
    error = "-"
    if row.error is not None and row.tolerance is not None:
        error = f"{short_exponent(row.error)}/{short_exponent(row.tolerance)}"
    time = spread = count = "-"
    if row.timing is not None:
        timing = row.timing
        time = duration(timing.seconds)
        if timing.interval is not None:
            lower, upper = timing.interval
            spread = f"±{100 * max(upper - timing.seconds, timing.seconds - lower) / timing.seconds:.1f}%"
        count = str(len(timing.samples))
    achieved = "-" if row.achieved is None else significant(row.achieved) + (f" {row.unit}" if with_unit else "")
    share = "-" if row.fraction is None else f"{100 * row.fraction:.1f}%"
    return row.label, "right" if row.correct else "wrong", error, time, spread, count, achieved, share


def _verdict_lines(result: Evaluation) -> list[Line]:
    lines: list[Line] = []
    for source in dict.fromkeys(row.ceiling_source for row in result.configurations if row.ceiling is not None):
        ceilings = dict.fromkeys(
            f"{significant(row.ceiling)} {row.unit}"
            for row in result.configurations
            if row.ceiling is not None and row.ceiling_source == source
        )
        lines += wrapped(f"ceiling: {', '.join(ceilings)} ({source})", style="dim")
    timings = [row.timing for row in result.configurations if row.timing is not None]
    if timings:
        caches = "/".join(dict.fromkeys(timing.cache for timing in timings))
        lines += wrapped(
            f"time: median of n samples on the device, {caches} cache; 95 %: its confidence interval in this session, "
            "the wider side; share: of the ceiling; score: geometric mean of the shares",
            style="dim",
        )
    if result.verdict == "right":
        lines.append(Line(f"right{_score_text(result)}", "good"))
        lines += wrapped(result.reason, style="") if result.reason else []
    else:
        lines += wrapped(f"{result.verdict}: {result.reason}", style="bad")
    return lines


def _score_text(result: Evaluation) -> str:
    if result.score is None:
        return ""
    intervals = [_share_interval(row) for row in result.configurations]
    whole = over_configurations([interval for interval in intervals if interval is not None])
    if whole is None or None in intervals:
        return f", score {result.score:.4f} (uncertainty unknown: too few samples)"
    return f", score {result.score:.4f} ({whole.lower:.4f} to {whole.upper:.4f}, 95 % in this session)"


def _share_interval(row: ConfigurationResult) -> Interval | None:
    """A share is inverse to its time: the slow bound gives the low end."""
    if row.fraction is None or row.timing is None or row.timing.interval is None:
        return None
    fast, slow = row.timing.interval
    seconds = row.timing.seconds
    return Interval(row.fraction, row.fraction * seconds / slow, row.fraction * seconds / fast, 0.95)


# Diagnostics and the check of a source


def diagnostic_lines(diagnostics: Sequence[Diagnostic], source: str | None = None) -> list[Line]:
    """As a compiler prints them; with the source also the line in question and a caret below the column."""
    text = source.splitlines() if source is not None else []
    lines: list[Line] = []
    for diagnostic in diagnostics:
        style: Style = {"error": "bad", "warning": "doubt", "note": "dim"}[diagnostic.severity]  # type: ignore[assignment]
        lines += wrapped(str(diagnostic), style=style)
        if 0 < diagnostic.line <= len(text):
            lines += _caret_lines(text[diagnostic.line - 1], diagnostic.column)
    return lines


def _caret_lines(text: str, column: int) -> list[Line]:
    before = text[: max(column - 1, 0)].expandtabs(4)
    shown = _printable(text.expandtabs(4))
    caret = len(before)
    room = WIDTH - 4
    # A long line is shown from where its caret comes into view.
    start = max(0, caret - room + 10) if len(shown) > room else 0
    return [Line(f"    {shown[start : start + room]}".rstrip()), Line("    " + " " * (caret - start) + "^", "good")]


def _printable(text: str) -> str:
    return "".join(character if character.isprintable() else "�" for character in text)


def check_lines(report: CheckReport, source: str | None = None) -> list[Line]:
    target = f" for {report.task}" if report.task else ""
    heading = f"check{target} on {report.device.name} ({report.device.description}), {report.math} math"
    lines = wrapped(heading, style="bold")
    if report.diagnostics:
        lines += [Line(""), *diagnostic_lines(report.diagnostics, source)]
    for kernel in report.kernels:
        lines += [Line(""), *_kernel_lines(kernel)]
    # A single one is the reason that is given below.
    if len(report.problems) > 1:
        lines.append(Line(""))
        for problem in report.problems:
            lines += wrapped(problem, style="bad")
    lines.append(Line(""))
    good = report.compile_ok and report.pipeline_ok
    lines += wrapped(f"{'good' if good else 'refused'}: {report.reason}", style="good" if good else "bad")
    return lines


def check_text(report: CheckReport) -> str:
    return plain(check_lines(report))


def _kernel_lines(kernel: KernelSignature) -> list[Line]:
    lines = wrapped(f"kernel {kernel.name}", style="bold")
    rows = []
    for parameter in kernel.parameters:
        place = parameter.attribute if parameter.kind == "input" else f"{parameter.kind} {parameter.index}"
        rows.append((f"  {place}", f"{parameter.type} {parameter.name}"))
    if rows:
        width = max(len(place) for place, _ in rows)
        lines += [Line(clip(f"{place.ljust(width)}  {text}", WIDTH)) for place, text in rows]
    lines += wrapped(
        f"at most {kernel.max_total_threads_per_threadgroup} threads a threadgroup, simdgroups of "
        f"{kernel.thread_execution_width}, {kernel.static_threadgroup_memory_length} bytes of threadgroup memory",
        "  ",
        "dim",
    )
    if kernel.pipeline_error:
        lines += wrapped(f"no pipeline: {kernel.pipeline_error}", "  ", "bad")
    return lines


# Devices


def device_lines(devices: Sequence[Device]) -> list[Line]:
    lines: list[Line] = []
    for device in devices:
        virtual = ", virtual: its timings can't be ranked" if device.is_virtual else ""
        if device.available:
            lines += wrapped(f"{device.name:<6}  {device.description}{virtual}", style="bold")
            lines += wrapped(
                f"threadgroups of up to {device.max_threads_per_threadgroup} threads and "
                f"{device.max_threadgroup_memory_length} bytes, simdgroups of {device.thread_execution_width}; "
                f"clock tick {duration(device.tick_seconds)}" + (f"; {device.driver}" if device.driver else ""),
                " " * 8,
                "dim",
            )
        else:
            lines += wrapped(f"{device.name:<6}  not available: {device.reason}", style="dim")
    return lines
