"""The neighbour sweep as a small plot: the gain beside each measured point, and what a unit of work takes there."""

from __future__ import annotations

import math
from collections.abc import Mapping

from kfp.auditing.results import Audit, Probe
from kfp.auditing.steps import slowdown
from kfp.tables import WIDTH, Line, clip, significant

_LABEL = 30
_COLUMNS = 18
_PLOT = WIDTH - _LABEL - _COLUMNS
_ROWS = 14


def sweep_lines(audit: Audit) -> list[Line]:
    """A row per configuration: how many times as fast as the reference it is, on a logarithmic axis; and the kernel's
    own time per unit of work, in that of the measured point.
    """
    probes = [probe for probe in audit.item("E3a").probes if probe.interval is not None]
    if not any(probe.axis for probe in probes):
        return []
    rows = _rows(probes)[:_ROWS]
    most = max(1.1, *(probe.interval.upper for probe in rows if probe.interval and probe.interval.upper < math.inf))
    least = min(1.0, *(probe.interval.lower for probe in rows if probe.interval and probe.interval.lower > 0))
    low, high = math.log(least), math.log(most)

    def column(value: float) -> int:
        position = (math.log(value) - low) / (high - low) if value > 0 else 0.0
        return round((_PLOT - 1) * max(0.0, min(1.0, position)))

    centres = {probe.label: probe for probe in rows if not probe.axis}
    lines = [
        Line("the sweep: times as fast as the reference; * measured, o beside it, | no gain;", "bold"),
        Line("per work: the time that a unit of work takes, in that of the measured point", "bold"),
        Line("gain".rjust(WIDTH - _COLUMNS + 9) + "per work".rjust(9), "dim"),
    ]
    for probe in rows:
        assert probe.interval is not None
        cells = [" "] * _PLOT
        cells[column(1.0)] = "|"
        last = column(min(probe.interval.upper, most))
        for i in range(column(max(probe.interval.lower, least)), last + 1):
            cells[i] = "-"
        cells[column(probe.interval.ratio)] = "o" if probe.axis else "*"
        name = f"  {_short(probe)}" if probe.axis else probe.label
        figures = significant(probe.interval.ratio).rjust(9) + _time_per_work(probe, centres).rjust(9)
        style = "" if probe.axis else "good"
        lines.append(Line(f"{clip(name, _LABEL).ljust(_LABEL)}{''.join(cells)}{figures}", style))  # type: ignore[arg-type]
    return lines


def _rows(probes: list[Probe]) -> list[Probe]:
    """Each measured point followed by what lies beside it, in the order of the axis."""
    found: list[Probe] = []
    for centre in [probe for probe in probes if not probe.axis]:
        beside = [probe for probe in probes if probe.axis and probe.beside == centre.label]
        if beside:
            found += [centre, *sorted(beside, key=lambda probe: (probe.axis, _value(probe)))]
    return found


def _time_per_work(probe: Probe, centres: Mapping[str, Probe]) -> str:
    centre = centres.get(probe.beside) if probe.axis else probe
    if centre is None:
        return "-"
    times = slowdown(centre.seconds, centre.work, probe.seconds, probe.work)
    return "-" if times is None else f"x {significant(math.exp(times))}"


def _value(probe: Probe) -> float:
    return float(probe.parameters.get(probe.axis, 0.0))


def _short(probe: Probe) -> str:
    return probe.label.removeprefix(f"{probe.beside}: ").removeprefix(f"{probe.beside} ")
