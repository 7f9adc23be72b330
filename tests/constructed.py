"""Real result objects with made-up figures, for tests of what is done with results."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

from kfp.results import ConfigurationResult, Device, Diagnostic, Evaluation, Timing
from kfp.sources import source_hash

DEVICE = Device("cpu", "Example CPU, 2 cores", "kfp 0.1.0, clang 22.1.8", True, "", False, 1e-9, 1024, 32, 32768)

SOURCE = """\
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  uint i [[thread_position_in_grid]]) {
\ty[i] = undefined_name * x[i];
    float unused;
}
"""


def timing(seconds: float, spread: float = 0.02, samples: int = 15) -> Timing:
    offsets = [seconds * (1 + spread * (i / max(1, samples - 1) - 0.5)) for i in range(samples)]
    quarter = seconds * spread / 4
    return Timing(seconds, seconds - quarter, seconds + quarter, tuple(offsets), 1, "warm")


def row(label: str, seconds: float, share: float, **changes: object) -> ConfigurationResult:
    right = ConfigurationResult(
        label=label,
        parameters=MappingProxyType({"n": 1 << 20, "a": 2.5}),
        origin="in_distribution",
        seed=0,
        correct=True,
        metric="max abs error",
        error=2.384185791015625e-07,
        tolerance=4.9e-05,
        detail="",
        timing=timing(seconds),
        unit="GB/s",
        achieved=share * 12.5,
        ceiling=12.5,
        ceiling_source="dram, measured on this device",
        fraction=share,
        flags=(),
    )
    return replace(right, **changes)  # type: ignore[arg-type]


RIGHT = Evaluation(
    task="saxpy",
    device=DEVICE,
    scale="full",
    seed=0,
    math="fast",
    checked=False,
    compile_ok=True,
    pipeline_ok=True,
    correct=True,
    verdict="right",
    score=0.5,
    reason="",
    diagnostics=(),
    configurations=(row("n=2^20", 1.25e-3, 0.5), row("n=2^24", 2.1e-2, 0.4), row("n=2^26", 8.31e-2, 0.625)),
    source_sha256=source_hash(SOURCE),
    kfp_version="0.1.0",
)

UNTIMED = {
    "timing": None,
    "achieved": None,
    "ceiling": None,
    "ceiling_source": "",
    "fraction": None,
}

WRONG = replace(
    RIGHT,
    correct=False,
    verdict="wrong",
    score=0.0,
    reason="n=2^24: 3 of 16777216 elements differ; first at [7]: expected 1.5, got nan",
    configurations=(
        row("n=2^20", 1.25e-3, 0.5),
        row(
            "n=2^24",
            1.0,
            1.0,
            correct=False,
            error=float("nan"),
            detail="3 of 16777216 elements differ; first at [7]: expected 1.5, got nan",
            **UNTIMED,
        ),
        row("n=2^26", 2.1e-2, 1.3, flags=("suspect: 130 % of the measured ceiling; the data may fit into a cache",)),
    ),
)

DIAGNOSTICS = (
    Diagnostic("error", 7, 9, "use of undeclared identifier 'undefined_name'"),
    Diagnostic("warning", 8, 11, "unused variable 'unused'"),
    Diagnostic("note", 4, 13, "in the kernel declared here"),
    Diagnostic("error", 0, 0, "too many errors emitted"),
)

UNCOMPILED = replace(
    RIGHT,
    compile_ok=False,
    pipeline_ok=False,
    correct=False,
    verdict="compile error",
    score=0.0,
    reason="2 errors, the first at line 7, column 9: use of undeclared identifier 'undefined_name'",
    diagnostics=DIAGNOSTICS,
    configurations=(),
)

HUNG = replace(
    RIGHT,
    correct=False,
    verdict="timeout",
    score=0.0,
    reason="n=2^20: stopped after 60 s (in kernel 'saxpy', dispatch 0); 2 configurations not run",
    configurations=(
        row(
            "n=2^20",
            1.0,
            1.0,
            correct=False,
            metric="",
            error=None,
            tolerance=None,
            detail="stopped after 60 s (in kernel 'saxpy', dispatch 0)",
            **UNTIMED,
        ),
    ),
)

CHECKED = replace(
    RIGHT,
    checked=True,
    score=None,
    reason="checked mode: no race, no access out of bounds; not timed",
    configurations=tuple(replace(r, **UNTIMED) for r in RIGHT.configurations),  # type: ignore[arg-type]
)

HELD_OUT_LABEL = "held-out n=4194304"

HELD_OUT = replace(
    RIGHT,
    correct=False,
    verdict="wrong",
    score=0.0,
    reason=f"{HELD_OUT_LABEL}: 1 of 4194304 elements differ",
    configurations=(
        row("n=2^20", 1.25e-3, 0.5),
        row(
            HELD_OUT_LABEL,
            5e-3,
            0.5,
            origin="published_held_out",
            parameters=MappingProxyType({"n": 4194304}),
            correct=False,
            detail="1 of 4194304 elements differ",
            **UNTIMED,
        ),
    ),
)
