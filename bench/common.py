"""What the benchmarks share: medians with their spread, a table or JSON."""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from typing import Any

from kfp import machine
from kfp.errors import Error


def samples(action: Callable[[], object], count: int) -> list[float]:
    """Milliseconds of each of ``count`` calls, after one that is not counted."""
    action()
    times = []
    for _ in range(count):
        start = time.perf_counter()
        action()
        times.append(1e3 * (time.perf_counter() - start))
    return times


def figure(name: str, milliseconds: list[float], target: float) -> dict[str, Any]:
    """``ratio`` is the median over the target: at most 1 when it is reached."""
    median = statistics.median(milliseconds)
    lower, _, upper = (
        statistics.quantiles(milliseconds, n=4, method="inclusive") if len(milliseconds) > 1 else (median,) * 3
    )
    return {
        "name": name,
        "median_ms": median,
        "lower_quartile_ms": lower,
        "upper_quartile_ms": upper,
        "samples": len(milliseconds),
        "target_ms": target,
        "ratio": median / target,
    }


def device_option(parser: argparse.ArgumentParser, default: str = "auto") -> None:
    parser.add_argument("--device", type=_device, default=default, help=f"auto, cpu or metal (default {default})")


def _device(name: str) -> str:
    try:
        machine.resolve(name)
    except Error as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return name


def report(figures: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print(json.dumps({"figures": figures}, indent=2))
        return
    print(f"{'':<34} {'median':>9} {'quartiles':>17} {'n':>4} {'target':>8} {'ratio':>6}")
    for f in figures:
        quartiles = f"{f['lower_quartile_ms']:.1f} to {f['upper_quartile_ms']:.1f}"
        print(
            f"{f['name']:<34} {f['median_ms']:>6.1f} ms {quartiles:>17} {f['samples']:>4} "
            f"{f['target_ms']:>5.0f} ms {f['ratio']:>6.2f}"
        )
