"""What tells the configurations where a gain is lost from those where it is kept: an observation, no grade."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kfp.gating.results import Gate, HeldOut

_LOST, _KEPT = ("below", "wrong"), ("above",)
MOST_NAMED = 2


def lost(gate: Gate) -> tuple[HeldOut, ...]:
    return tuple(row for row in gate.held_out if row.standing in _LOST)


def kept(gate: Gate) -> tuple[HeldOut, ...]:
    return tuple(row for row in gate.held_out if row.standing in _KEPT)


def telling(gate: Gate) -> tuple[str, ...]:
    """Parameters whose value is new at every configuration that lost the gain, and known at every one that kept it.

    Known: the search measured at it. Without a configuration of either kind nothing tells them apart.
    """
    losers, keepers = lost(gate), kept(gate)
    if not losers or not keepers:
        return ()
    searched = [row.parameters for row in gate.in_distribution.configurations]
    return tuple(
        name
        for name in losers[0].parameters
        if not any(_known(row, name, searched) for row in losers)
        and all(_known(row, name, searched) for row in keepers)
    )


def _known(row: HeldOut, name: str, searched: Sequence[Mapping[str, int | float]]) -> bool:
    return any(point.get(name) == row.parameters.get(name) for point in searched)


def why_not(gate: Gate) -> str:
    """In words, from the gate alone; empty where there is nothing to explain."""
    if gate.verdict not in ("does not transfer", "wrong"):
        return ""
    losers, keepers = lost(gate), kept(gate)
    counted = [trial for trial in gate.trials if trial.counts]
    parts = []
    if gate.verdict == "wrong":
        parts.append(f"It gives wrong results: {gate.reason}.")
    else:
        parts.append(f"Its results are right at all {len(counted)} untimed draws; the speed is lost, {_named(losers)}.")
    names = telling(gate)
    if names and keepers:
        searched = [row.parameters for row in gate.in_distribution.configurations]
        for name in names[:MOST_NAMED]:
            known = _either([f"{point[name]:g}" for point in searched])
            new = _either([f"{row.parameters[name]:g}" for row in losers])
            parts.append(f"The gain is lost where {name} is {new}, and kept where it is {known}, as in the search.")
    elif not keepers:
        parts.append("The gain is kept at no held-out configuration.")
    return " ".join(parts)


def _named(rows: Sequence[HeldOut]) -> str:
    shown = [f"at {row.label}" for row in rows[:MOST_NAMED]]
    more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
    return ", ".join(shown) + more


def _either(values: Sequence[str]) -> str:
    *others, last = dict.fromkeys(values)
    return f"{', '.join(others)} or {last}" if others else last
