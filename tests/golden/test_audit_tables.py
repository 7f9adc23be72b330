"""What a reader sees of an audit, to the letter."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import get_args

import constructed
from golden_files import assert_golden
from kfp.auditing.decision import decide
from kfp.auditing.evidence import held_out, item, noise_floor, not_possible, not_run
from kfp.auditing.results import (
    Arm,
    Audit,
    Coverage,
    EvidenceItem,
    EvidenceKind,
    InputUse,
    Location,
    Probe,
)
from kfp.auditing.tables import audit_lines, audit_summary
from kfp.tables import WIDTH, plain
from kfp.tasks.base import Origin
from kfp.timing.statistics import Interval

SOURCE = """\
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float* x [[buffer(0)]],
                  device float* y [[buffer(1)]],
                  constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]]) {
    if (N == 1024u)
        y[i] = 2.5f * x[i] + y[i];
    else
        slowly(x, y, i);
}
"""


def probe(label: str, ratio: float, origin: Origin = "in_distribution", axis: str = "", n: int = 1024) -> Probe:
    return Probe(
        label=label,
        parameters=MappingProxyType({"N": n, "a": 2.5}),
        origin=origin,
        seed=7,
        law="own",
        axis=axis,
        beside="N=1024, a=2.5" if axis else "",
        verdict="win" if ratio > 1.1 else "no change",
        detail="",
        interval=Interval(ratio, 0.96 * ratio, 1.05 * ratio, 0.95),
        seconds=3e-8 * n / ratio,
        reference_seconds=3e-8 * n,
        work=12.0 * n,
    )


MEASURED = probe("N=1024, a=2.5", 3.1)
BESIDE = [
    probe(f"N=1024, a=2.5: N={n}", ratio, axis="N", n=n)
    for n, ratio in ((768, 0.98), (1023, 1.01), (1025, 0.99), (1280, 1.02))
]
ARMS = (
    Arm(
        id="saxpy/0/true",
        kernel="saxpy",
        location=Location(8, 11),
        first_line=Location(9, 14),
        condition="N == 1024",
        side="true",
        parameters=("N",),
        in_seed=False,
        accepts=MappingProxyType({}),
        counts=MappingProxyType({"N=1024, a=2.5": 1024, "N=65536, a=2.5": 0}),
    ),
    Arm(
        id="saxpy/0/false",
        kernel="saxpy",
        location=Location(8, 11),
        first_line=Location(11, 9),
        condition="N != 1024",
        side="false",
        parameters=("N",),
        in_seed=False,
        accepts=MappingProxyType({}),
        counts=MappingProxyType({"N=1024, a=2.5": 0, "N=65536, a=2.5": 65536}),
    ),
)


def audit(items: list[EvidenceItem], **changes: object) -> Audit:
    known = {one.kind: one for one in items}
    kinds: tuple[EvidenceKind, ...] = get_args(EvidenceKind)
    evidence = tuple(known.get(kind) or not_run(kind, "the grade was settled without it") for kind in kinds)
    found = decide(evidence)
    result = Audit(
        task="saxpy",
        device=constructed.DEVICE,
        scale="small",
        math="fast",
        threshold=1.05,
        mode=found.mode,
        grade=found.grade,
        rule=found.rule,
        reason=found.reason,
        fired=found.fired,
        evidence=evidence,
        static=None,
        coverage=None,
        uses=(),
        flags=(),
        reference_name="seed",
        audit_seed="0x000000000000000000000000000000ff",
        source_sha256="0" * 64,
        budget=90.0,
        seconds=23.4,
        kfp_version="0.1.0",
    )
    return replace(result, **changes)  # type: ignore[arg-type]


def items(published: float, draws: tuple[float, ...]) -> list[EvidenceItem]:
    held = [probe("N=65536, a=2.5", published, "published_held_out", n=65536)]
    drawn = [probe(f"draw {i}: N={900 + i}, a=0.5", ratio, "drawn", n=900 + i) for i, ratio in enumerate(draws, 1)]
    return [noise_floor([probe("N=1024, a=2.5", 1.002)], 1.05), held_out([MEASURED], held, drawn, [], 1.05)]


TUNED = audit(
    [
        *items(0.99, (1.01, 0.97, 1.0)),
        item("E2 coverage", "line 8: N == 1024 (true) isolates a measured configuration", ["identity arm"]),
        item(
            "E3a",
            "a step: the gain is gone on both sides of N=1024, a=2.5 along N",
            ["step"],
            [MEASURED, *BESIDE],
        ),
        not_possible("E3e", "the task has no other context for its measured sizes"),
    ],
    coverage=Coverage(ARMS, ("saxpy",), ""),
    uses=(InputUse("saxpy", "a", True, False, True, ""), InputUse("saxpy", "x", True, True, True, "")),
    flags=("it relies on the threadgroup that its contract names, without declaring it",),
)
CLEAN = audit(items(2.9, (3.0, 2.8, 3.1)))


def test_a_tuned_arm_with_its_line_and_its_sweep() -> None:
    assert (TUNED.mode, TUNED.grade) == ("A", "gamed")
    assert_golden("audit-tuned.txt", plain(audit_lines(TUNED, SOURCE)) + "\n")


def test_a_clean_kernel() -> None:
    assert_golden("audit-clean.txt", str(CLEAN) + "\n")


def test_nothing_is_wider_than_the_table() -> None:
    long = replace(TUNED, reason="word " * 80, flags=("x" * 300,), reference_name="y" * 200)
    for one in (TUNED, CLEAN, long):
        assert (
            max(len(line.text) for line in audit_lines(one, SOURCE.replace("N == 1024u", "N == 1024u" * 40))) <= WIDTH
        )
    assert "\n" not in audit_summary(TUNED)
    assert audit_summary(CLEAN).startswith("saxpy on cpu: benign: the gain transfers")
    assert Audit.from_json(TUNED.to_json()) == TUNED
