"""A sweep as text: while it goes on, and as a table at its end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kfp.sweeping.results import Sweep, SweepProgress, UnitStatus
from kfp.tables import WIDTH, Line, Style, clip, duration, grid, significant, wrapped

MOST_SHOWN_LIVE = 12
_STYLES: dict[str, Style] = {"done": "good", "failed": "bad", "running": "", "open": "dim"}
_GATES: dict[str, Style] = {"transfers": "good", "does not transfer": "bad", "wrong": "bad"}


def counts(sweep: Sweep) -> str:
    """As in ``12 of 64 done, 1 failed, 2 running, 49 open``."""
    parts = [f"{len(sweep.of('done'))} of {len(sweep.units)} done"]
    numbers = {state: sum(unit.state == state for unit in sweep.units) for state in ("failed", "running", "open")}
    parts += [f"{number} {state}" for state, number in numbers.items() if number]
    return ", ".join(parts)


def live_lines(progress: SweepProgress) -> list[Line]:
    """What is going on: a bar, then who works on what."""
    sweep = progress.sweep
    lines = [
        Line(clip(f"{sweep.name}: {counts(sweep)}; {duration(progress.seconds)}", WIDTH), "bold"),
        Line(bar(sweep, WIDTH)),
    ]
    running = sweep.of("running")
    lines += [Line(clip(f"  {_doing(unit)}", WIDTH)) for unit in running[:MOST_SHOWN_LIVE]]
    if len(running) > MOST_SHOWN_LIVE:
        lines.append(Line(f"  and {len(running) - MOST_SHOWN_LIVE} more", "dim"))
    waiting = [unit for unit in sweep.of("open") if unit.worker]
    if waiting:
        lines.append(Line(clip(f"  {len(waiting)} asked for: {waiting[0].name}: {waiting[0].worker}", WIDTH), "dim"))
    return lines


def waiting_line(progress: SweepProgress) -> Line:
    """In one line how far it is, and what the first of those that wait waits for."""
    waiting = next((unit for unit in progress.sweep.of("open") if unit.worker), None)
    what = f"; {waiting.name}: {waiting.worker}" if waiting is not None else ""
    return Line(f"{progress.sweep.name}: {counts(progress.sweep)}; {duration(progress.seconds)}{what}", "dim")


def bar(sweep: Sweep, width: int) -> str:
    """A column for each share of the units: done, failed, running, open."""
    total = max(len(sweep.units), 1)
    marks, text = {"done": "█", "failed": "×", "running": "▒", "open": "░"}, ""
    seen = 0
    for state, mark in marks.items():
        seen += sum(unit.state == state for unit in sweep.units)
        text += mark * (seen * width // total - len(text))
    return text


def settled_line(unit: UnitStatus) -> Line:
    """A unit that has just been done, or has failed."""
    if unit.done is None:
        return Line(clip(f"failed  {unit.name}: {unit.reason}", WIDTH), "bad")
    return Line(clip(f"done    {unit.name}: {_found(unit)}", WIDTH), "good")


def sweep_lines(sweep: Sweep) -> list[Line]:
    """The table: what is done, what failed and why, and what is left."""
    lines = [Line(clip(f"{sweep.name}: {counts(sweep)}", WIDTH), "bold")]
    done = [unit for unit in sweep.units if unit.done is not None]
    if done:
        lines += [Line(""), *_table(done)]
    for reason in dict.fromkeys(unit.reason for unit in sweep.of("failed")):
        alike = [unit.name for unit in sweep.of("failed") if unit.reason == reason]
        more = f" and {len(alike) - 1} more" if len(alike) > 1 else ""
        name = clip(alike[0], WIDTH - len("failed: ") - len(more))
        lines += [Line(""), Line(f"failed: {name}{more}", "bad"), *wrapped(reason, "  ")]
    working = sweep.of("running")
    if working:
        lines += [Line(""), *(Line(clip(f"running: {_doing(unit)}", WIDTH)) for unit in working)]
    left = sweep.of("open")
    if left:
        begun = sum(unit.iterations > 0 for unit in left)
        lines += [Line(""), Line(f"open: {len(left)}, of which {begun} have been begun", "dim")]
    if sweep.strays:
        lines.append(Line(""))
        lines += wrapped(
            f"{len(sweep.strays)} more in the folder, which the spec no longer names and which are kept: "
            f"{', '.join(sweep.strays[:4])}{', …' if len(sweep.strays) > 4 else ''}",
            style="doubt",
        )
    lines += [Line(""), *wrapped(f"sweep: {sweep.folder}", style="dim")]
    return lines


def _table(done: Sequence[UnitStatus]) -> Iterable[Line]:
    several = {
        name: len({getattr(unit, name) for unit in done}) > 1 for name in ("model", "arm", "device", "replicate")
    }
    columns = [name for name, wanted in several.items() if wanted]
    rows = []
    for unit in done:
        assert unit.done is not None
        found = unit.done
        gain = "-" if found.gain is None else _ratio(found.gain)
        if found.gain_low is not None and found.gain_high is not None:
            gain += f" ({_ratio(found.gain_low)} to {_ratio(found.gain_high)})"
        held_out = "-" if found.held_out is None else _ratio(found.held_out)
        rows.append((unit.task, *(str(getattr(unit, name)) for name in columns), gain, held_out, found.gate or "-"))
    heading = ("task", *(("#" if name == "replicate" else name) for name in columns), "gain", "held out", "gate")
    left = tuple(i for i, name in enumerate(heading) if name not in ("#", "gain", "held out"))
    # The model's name gives way, where there is one.
    flexible = heading.index("model") if "model" in heading else 0
    texts = grid(heading, rows, left=left, flexible=flexible)
    styles: list[Style] = [_GATES.get(unit.done.gate, "") if unit.done else "" for unit in done]
    yield Line(clip(texts[0], WIDTH), "dim")
    yield from (Line(clip(text, WIDTH), style) for text, style in zip(texts[1:], styles, strict=True))
    yield from wrapped(
        "gain: of the kernel that the search holds best over its start, measured again, with its 95 % interval; held "
        "out: the same at the published configuration",
        style="dim",
    )


def _ratio(value: float) -> str:
    return f"{value:.2f}" if 0.01 <= value < 10_000 else significant(value)


def _found(unit: UnitStatus) -> str:
    assert unit.done is not None
    if unit.done.gain is None:
        return f"nothing faster in {unit.done.iterations} iterations"
    return f"{_ratio(unit.done.gain)} times as fast, {unit.done.gate or 'no gate'}"


def _doing(unit: UnitStatus) -> str:
    done = f"{unit.iterations} iteration{'' if unit.iterations == 1 else 's'}"
    return f"{unit.name}: {done}, {unit.worker}"
