"""kfp beside PoCL in one process: both on the same cores, samples in interleaved pairs, a table or JSON."""

from __future__ import annotations

import argparse
import json
import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from common import device_option
from kfp.tables import duration
from kfp.timing.pairs import first_arms
from kfp.timing.statistics import Floats, Interval, over_configurations, pair_interval
from pocl import Missing, Pocl

CONFIDENCE = 0.95
CORES = 2

Sample = Callable[[], float]


@dataclass(frozen=True)
class Row:
    """One comparison. ``ours`` and ``peer`` are samples in pairs; ``interval`` is None without a peer."""

    name: str
    ours: Floats
    peer: Floats
    interval: Interval | None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            **interval_json(self.interval),
            "pairs": len(self.peer),
            "ours": list(map(float, self.ours)),
            "pocl": list(map(float, self.peer)),
        }


def interval_json(interval: Interval | None) -> dict[str, float | None]:
    if interval is None:
        return dict.fromkeys(("ratio", "lower", "upper", "confidence"))
    bounds = {"ratio": interval.ratio, "lower": interval.lower, "upper": interval.upper}
    # JSON has no infinity: a bound that the pairs don't give is null.
    return {key: value if math.isfinite(value) else None for key, value in bounds.items()} | {
        "confidence": interval.confidence
    }


def cost(name: str, ours: Sample, peer: Sample | None, pairs: int) -> Row:
    """The ratio is ours over PoCL's: below 1 kfp is cheaper."""
    return cost_of(name, *in_pairs(ours, peer, pairs))


def cost_of(name: str, ours: Floats, peer: Floats) -> Row:
    return Row(name, ours, peer, _interval(ours, peer))


def alone(name: str, ours: Floats) -> Row:
    return Row(name, ours, np.empty(0), None)


def speed(name: str, ours: Sample, peer: Sample | None, pairs: int) -> Row:
    """The ratio is PoCL's time over ours: above 1 kfp is faster."""
    one, other = in_pairs(ours, peer, pairs)
    return Row(name, one, other, _interval(other, one))


def _interval(above: Floats, below: Floats) -> Interval | None:
    return pair_interval(np.log(above) - np.log(below), 1 - CONFIDENCE) if len(above) == len(below) else None


def in_pairs(ours: Sample, peer: Sample | None, pairs: int, seed: int = 0) -> tuple[Floats, Floats]:
    """ABBA blocks, the first arm of each drawn at random, after a sample of each that is not counted."""
    ours()
    if peer is None:
        return np.array([ours() for _ in range(pairs)]), np.empty(0)
    peer()
    one: list[float] = []
    other: list[float] = []
    for peer_first in first_arms(seed, math.ceil(pairs / 2)):
        for peer_now in (peer_first, not peer_first, not peer_first, peer_first):
            (other if peer_now else one).append(peer() if peer_now else ours())
    return np.array(one), np.array(other)


def geometric_mean(rows: Sequence[Row]) -> Interval | None:
    return over_configurations([row.interval for row in rows if row.interval is not None])


def positive(text: str) -> int:
    """Of a command line."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected 1 or more, got {value}")
    return value


def parser(description: str | None, pairs: int) -> argparse.ArgumentParser:
    """Of the options that all comparisons with PoCL have; ``pairs`` is the default number."""
    options = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options.add_argument("--pairs", type=positive, default=pairs, help=f"pairs of samples per row (default {pairs})")
    device_option(options)
    options.add_argument("--cores", type=positive, default=CORES, help=f"cores of either side (default {CORES})")
    options.add_argument("--without-pocl", action="store_true", help="kfp's own figures only")
    return options


@dataclass(frozen=True)
class Bench:
    """The options of a run, the peer if there is one, and why not if there isn't."""

    options: argparse.Namespace
    pocl: Pocl | None
    why_alone: str

    def report(self, meaning: str, rows: Sequence[Row], overall: Interval | None, **more: Any) -> None:
        """``overall`` is the bench's own ratio, of which ``meaning`` says what is above and below the line."""
        if not self.options.json:
            print(f"{'':<34} {'kfp':>9} {'PoCL':>9} {'ratio':>6}  95 % interval")
            for row in rows:
                print(f"{row.name[:34]:<34} {_middle(row.ours)} {_middle(row.peer)} {_bounds(row)}")
        self.conclude(meaning, rows, overall, **more)

    def conclude(
        self, meaning: str, rows: Sequence[Row], overall: Interval | None, *, width: int = 54, **more: Any
    ) -> None:
        """What follows a table of the bench's own, whose ratios stand ``width`` columns in, or the whole as JSON."""
        if self.options.json:
            about = {
                "ratio_of": meaning,
                "peer": self.pocl.version if self.pocl else None,
                "why_no_peer": self.why_alone or None,
                "cores": self.options.cores,
            }
            listed = [row.to_json() for row in rows]
            print(json.dumps({**interval_json(overall), **about, "rows": listed, **more}, indent=2))
            return
        if overall is not None:
            print(f"{'overall':<{width}} {bounds(overall)}")
        if rows:
            print(f"ratio: {meaning}; {self.options.cores} cores, {len(rows[0].ours)} samples a row")
        print(f"peer: {self.pocl.version[:74]}" if self.pocl else f"kfp alone: {self.why_alone}")


def _middle(seconds: Floats) -> str:
    return f"{duration(float(np.median(seconds))) if len(seconds) else '-':>9}"


def _bounds(row: Row) -> str:
    return bounds(row.interval) if row.interval is not None else f"{'-':>6}"


def bounds(interval: Interval) -> str:
    return f"{interval.ratio:>6.3g}  {interval.lower:.3g} to {interval.upper:.3g}"


def narrowed(cores: int) -> None:
    """Keeps this process, and all that it starts, to so many cores."""
    if hasattr(os, "sched_setaffinity"):
        allowed = sorted(os.sched_getaffinity(0))
        if len(allowed) < cores:
            raise SystemExit(f"expected {cores} cores, this process may use {len(allowed)}")
        os.sched_setaffinity(0, allowed[:cores])


def open_bench(options: argparse.Namespace) -> Bench:
    narrowed(options.cores)
    if options.without_pocl:
        return Bench(options, None, "as asked for")
    try:
        return Bench(options, Pocl(options.cores), "")
    except Missing as missing:
        return Bench(options, None, str(missing))
