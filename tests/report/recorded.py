"""Runs on disk with the figures that a demo run of hmc had, so that a report of one is the same everywhere."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import kfp
import numpy as np
from constructed import DEVICE, RIGHT, UNCOMPILED, WRONG
from kfp.gating.folder import GateFolder
from kfp.gating.results import Gate, GateVerdict, HeldOut, Standing, Trial
from kfp.results import Evaluation
from kfp.runs.folder import RunWriter
from kfp.runs.records import CandidateRecord, Decision, Finale, Finalist, IterationRecord, Provenance, Spec
from kfp.search.judgement import Call, Judgement, Ratio
from kfp.search.models.base import Usage
from kfp.sources import seed_source, source_hash
from kfp.tasks import get_task
from kfp.tasks.base import Origin
from kfp.timing.results import ArmTiming, Comparison, ConfigurationComparison, Series
from kfp.timing.statistics import Interval

SPEC = Spec(
    task="hmc", model="demo", device="cpu", scale="small", math="fast", seed=0, replicate=1, strategy="evolve",
    candidates=1, disclose=False, selection_draws=1, max_tokens=32_000, call_seconds=900.0, effort="",
    start_sha256="0" * 64,
)  # fmt: skip
PROVENANCE = Provenance(
    kfp_version="0.1.0", revision="0123abcd", dirty=False, python="3.12.1", platform="Linux", packages=("numpy 2.0",),
    device=DEVICE, price=None, started="2026-11-30T12:00:00+00:00",
    command="kfp evolve hmc --model demo",
)  # fmt: skip
START = seed_source(get_task("hmc"))
_DEMO = Path(kfp.__path__[0]) / "search" / "demo" / "hmc"
FINGERPRINT, GAIN = ((_DEMO / f"{name}.metal").read_text() for name in ("fingerprint", "gain"))


def judged(ratio: float, low: float, high: float, verdict: Call = "win") -> Judgement:
    return Judgement(verdict, ratio, low, high, (Ratio("d", ratio, low, high, verdict),), 64, "search", True, "", 1.0)


def candidate(
    decision: Decision, source: str, evaluation: Evaluation, reason: str, *judgements: Judgement
) -> CandidateRecord:
    return CandidateRecord(
        number=1, model="demo", answer="kernel", source_sha256=source_hash(source), evaluation=evaluation,
        judgements=judgements, selection=(), decision=decision, reason=reason, usage=Usage(), cost_usd=0.0,
        cost_bound_usd=0.0, model_seconds=0.1, attempts=1,
    )  # fmt: skip


def iteration(number: int, found: CandidateRecord) -> IterationRecord:
    promoted = 1 if found.decision == "promoted" else None
    return IterationRecord(number, (found,), promoted, "0" * 64, (), 12.0, 0.026, 0, 0.0)


def interval(ratio: float, spread: float) -> Interval:
    return Interval(ratio, ratio / (1 + spread), ratio * (1 + spread), 0.95)


def configuration(
    label: str, parameters: dict[str, int | float], origin: Origin, ratio: float, spread: float = 0.05
) -> ConfigurationComparison:
    """Samples are drawn, since a plot of them is all that looks at them."""
    rng = np.random.default_rng(len(label))
    series = []
    for process in range(5):
        reference = 0.06 * np.exp(rng.normal(0, 0.05, 8))
        series.append(
            Series(
                interval=interval(ratio, spread), pairs=8, drops=0, looks=1, repeats=1,
                reference=tuple(reference), candidate=tuple(reference / ratio), order="ABBA" * 4, order_seed=process,
                sentinels=tuple(7e-5 * np.exp(rng.normal(0, 0.02, 4))), warm_up=(),
                same_arm_ratio=float(np.exp(rng.normal(0, 0.01))), empty_dispatch_seconds=1e-7, seconds=1.0,
            )
        )  # fmt: skip
    return ConfigurationComparison(
        label=label, parameters=MappingProxyType(parameters), origin=origin, seed=1,
        verdict="win" if ratio > 1.02 else "regression", reason="", interval=interval(ratio, spread), margin=0.02,
        aa_floor=0.02, pairs=40, drops=0, reference=ArmTiming(0.06, 0.059, 0.061),
        candidate=ArmTiming(0.06 / ratio, 0.059 / ratio, 0.061 / ratio), processes=tuple(series), flags=(),
    )  # fmt: skip


def comparison(*rows: ConfigurationComparison) -> Comparison:
    ratio = math.exp(sum(math.log(row.interval.ratio) for row in rows if row.interval) / len(rows))
    return Comparison(
        task="hmc", device=DEVICE, scale="small", seed=0, math="fast", grade="claim", cache="warm",
        verdict="win" if ratio > 1.02 else "regression", reason="", interval=interval(ratio, 0.04), margin=0.02,
        configurations=rows, diagnostics=(), reference_name="the reference", reference_sha256=source_hash(START),
        candidate_sha256=source_hash(FINGERPRINT), kfp_version="0.1.0",
    )  # fmt: skip


def held_out(row: ConfigurationComparison, standing: Standing) -> HeldOut:
    return HeldOut(
        label=row.label, parameters=row.parameters, origin=row.origin, seed=row.seed, law="own", standing=standing,
        interval=row.interval, share=0.1, seed_share=0.05, detail="",
    )  # fmt: skip


SEARCHED = comparison(
    *(configuration(f"d={d}, K={k}", {"d": d, "K": k}, "in_distribution", r)
      for d, k, r in ((4, 1024, 2.2), (6, 768, 2.5), (8, 512, 2.4)))
)  # fmt: skip
PUBLISHED = comparison(configuration("d=10, K=613", {"d": 10, "K": 613}, "published_held_out", 0.31))
DRAWN = comparison(
    *(configuration(f"draw {i}: d={d}, K={k}", {"d": d, "K": k}, "drawn", r)
      for i, d, k, r in ((1, 8, 849, 2.2), (2, 8, 876, 2.19), (3, 4, 882, 2.3)))
)  # fmt: skip
TRIALS = tuple(
    Trial(f"draw {i}", MappingProxyType({"d": 6, "K": 700 + i}), i, "own", i % 2, 0, i % 9 == 0, True, "right", "")
    for i in range(1, 33)
)


def gate(verdict: GateVerdict = "does not transfer", source: str = FINGERPRINT) -> Gate:
    good = verdict == "transfers"
    held = "more than 5 % faster at every held-out configuration"
    published = comparison(replace(PUBLISHED.configurations[0], interval=interval(2.1, 0.05))) if good else PUBLISHED
    return Gate(
        task="hmc", device=DEVICE, scale="small", math="fast", threshold=1.05, verdict=verdict,
        reason=held if good else "not 5 % faster at d=10, K=613 (0.310 times as fast)",
        phi=0.1, phi_published=0.02, claimed=2.06, in_distribution=SEARCHED,
        held_out=(
            held_out(published.configurations[0], "above" if good else "below"),
            *(held_out(row, "above") for row in DRAWN.configurations),
        ),
        published=published, drawn=DRAWN, compared_with=None, trials=TRIALS, weak_axis="", flags=(),
        gate_seed="0x4ac9", commitment="c" * 64, source_sha256=source_hash(source), seconds=60.0, kfp_version="0.1.0",
    )  # fmt: skip


CANDIDATES = (
    (FINGERPRINT.replace("chain", "which", 1), candidate("invalid", "a", UNCOMPILED, UNCOMPILED.reason)),
    (GAIN.replace("0.5f", "0.6f", 1), candidate("wrong", "b", WRONG, WRONG.reason)),
    (FINGERPRINT, candidate("promoted", FINGERPRINT, RIGHT, "faster than the incumbent", judged(2.06, 1.91, 2.35))),
    (GAIN, candidate("no gain", GAIN, RIGHT, "as fast as the incumbent", judged(0.99, 0.88, 1.08, "no change"))),
)


def write_run(
    folder: Path,
    found: Gate | None,
    candidates: tuple[tuple[str, CandidateRecord], ...] = CANDIDATES,
    *,
    spec: Spec = SPEC,
    over: bool = True,
) -> Path:
    with RunWriter.create(folder, spec, PROVENANCE, START, "system") as writer:
        writer.write_start_evaluation(replace(RIGHT, task="hmc"))
        for number, (source, record) in enumerate(candidates, start=1):
            writer.write_prompt(number, f"prompt {number}")
            writer.write_candidate(number, 1, source)
            writer.write_record(iteration(number, record))
        if over:
            incumbent = Finalist("incumbent", 3, source_hash(FINGERPRINT), "demo", 2.06, judged(2.26, 1.84, 2.78),
                                 judged(0.164, 0.051, 0.524, "regression"))  # fmt: skip
            runner_up = Finalist("runner-up", 4, source_hash(GAIN), "demo", 2.05, judged(2.31, 2.05, 2.6),
                                 judged(1.99, 1.32, 2.99))  # fmt: skip
            writer.write_finale(Finale(len(candidates), 1, "d=10, K=613", (incumbent, runner_up), 60.0))
    if found is not None:
        gates = GateFolder(folder / "gate")
        gates.path.mkdir()
        gates.write_result(found)
    return folder
