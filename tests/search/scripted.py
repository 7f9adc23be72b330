"""A model that answers from a list, and a referee that goes by what kernels say they cost: searches without a clock.

Kernels are really compiled, run and checked; only the ratio is read from a comment, ``// cost: 2.5`` (1 without one).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kfp.search.judgement import Call, Effort, Judgement, Ratio
from kfp.search.models.base import Reply, Request, Stop, Usage
from kfp.search.models.prices import Price
from kfp.tasks.base import Configuration

KERNEL = """\
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]], constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    if (i >= N) return;
    y[i] = a * x[i] + y[i];
}
"""
WRONG = KERNEL.replace("+ y[i]", "- y[i]")
UNCOMPILED = KERNEL.replace("if (i >= N)", "if (j >= N)")


def costing(cost: float, elsewhere: float | None = None) -> str:
    """A right kernel that claims a cost where it is searched, and another one on drawn configurations."""
    hidden = "" if elsewhere is None else f"// elsewhere: {elsewhere}\n"
    return f"// cost: {cost}\n{hidden}{KERNEL}"


def fenced(source: str) -> str:
    return f"I suggest this.\n\n```metal\n{source}```\n"


@dataclass
class Scripted:
    """Answers with ``texts`` in the order of iterations and candidates; what is left out is empty."""

    texts: Sequence[str]
    candidates: int = 1
    price: Price | None = None
    stop: Stop = "end"
    usage: Usage = field(default_factory=lambda: Usage(input=1000, cached=200, output=500, thinking=100))
    requests: list[Request] = field(default_factory=list)
    # What each call appends a line to, for models in processes that get killed.
    log: Path | None = None
    name: str = "scripted"

    def ask(self, request: Request) -> Reply:
        self.requests.append(request)
        if self.log is not None:
            with self.log.open("a") as file:
                file.write(f"{request.iteration}.{request.candidate}\n")
        index = (request.iteration - 1) * self.candidates + request.candidate - 1
        text = self.texts[index] if index < len(self.texts) else ""
        return Reply("scripted-1", text, "", self.stop, "", self.usage, 0.0, 1, 0, f"request-{index}")


@dataclass
class ByComment:
    """Compares the costs that kernels claim; within 1 % they are the same, within ``doubt`` it can't tell."""

    doubt: float = 0.0
    calls: list[tuple[Effort, tuple[str, ...]]] = field(default_factory=list)

    def compare(
        self, candidate: str, incumbent: str, configurations: tuple[Configuration, ...], effort: Effort
    ) -> Judgement:
        self.calls.append((effort, tuple(point.label for point in configurations)))
        drawn = all(point.origin != "in_distribution" for point in configurations)
        ratio = _cost(incumbent, drawn) / _cost(candidate, drawn)
        verdict = self._verdict(ratio)
        low, high = ratio * 0.995, ratio * 1.005
        ratios = tuple(Ratio(point.label, ratio, low, high, verdict) for point in configurations)
        return Judgement(verdict, ratio, low, high, ratios, 16, effort, True, "", 0.0)

    def _verdict(self, ratio: float) -> Call:
        if abs(ratio - 1) <= 0.01:
            return "no change"
        if abs(ratio - 1) <= self.doubt:
            return "undecided"
        return "win" if ratio > 1 else "regression"


def _cost(source: str, drawn: bool) -> float:
    if drawn and (elsewhere := re.search(r"// elsewhere: (\S+)", source)):
        return float(elsewhere[1])
    found = re.search(r"// cost: (\S+)", source)
    return float(found[1]) if found else 1.0
