"""What a reader sees of comparisons, to the letter, and what comes back from JSON."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import constructed
import numpy as np
import pytest
from golden_files import assert_golden
from kfp.comparison import unranked
from kfp.conditions import Finding
from kfp.diagnosis import Diagnosis
from kfp.tables import plain
from kfp.timing.results import ArmTiming, Comparison, ConfigurationComparison, Series
from kfp.timing.statistics import Interval, over_configurations
from kfp.timing.tables import WIDTH, diagnosis_lines, forest


def series(ratio: float, spread: float) -> Series:
    reference = tuple(1e-3 * (1 + 0.001 * (i % 5)) for i in range(32))
    return Series(
        interval=Interval(ratio, ratio / (1 + spread), ratio * (1 + spread), 0.95),
        pairs=32,
        drops=0,
        looks=2,
        repeats=3,
        reference=reference,
        candidate=tuple(seconds / ratio for seconds in reference),
        order="ABBABAAB" * 8,
        order_seed=17,
        sentinels=(3e-4,) * 18,
        warm_up=(3.1e-4, 3e-4),
        same_arm_ratio=1.001,
        empty_dispatch_seconds=1.2e-7,
        seconds=0.2,
    )


def row(label: str, ratio: float, spread: float, verdict: str, **changes: object) -> ConfigurationComparison:
    one = series(ratio, spread)
    compared = ConfigurationComparison(
        label=label,
        parameters={"n": 1},
        origin="in_distribution",
        seed=0,
        verdict=verdict,  # type: ignore[arg-type]
        reason="",
        interval=one.interval,
        margin=0.01,
        aa_floor=0.001,
        pairs=32,
        drops=0,
        reference=ArmTiming(1e-3, 0.99e-3, 1.01e-3),
        candidate=ArmTiming(1e-3 / ratio, 0.99e-3 / ratio, 1.01e-3 / ratio),
        processes=(one,),
        flags=(),
    )
    return replace(compared, **changes)  # type: ignore[arg-type]


def comparison(*rows: ConfigurationComparison, verdict: str, **changes: object) -> Comparison:
    whole = over_configurations([one.interval for one in rows if one.interval is not None])
    result = Comparison(
        task="saxpy",
        device=constructed.DEVICE,
        scale="full",
        seed=0,
        math="fast",
        grade="search",
        cache="warm",
        verdict=verdict,  # type: ignore[arg-type]
        reason="",
        interval=whole,
        margin=0.01,
        configurations=rows,
        diagnostics=(),
        reference_name="seed",
        reference_sha256="0" * 64,
        candidate_sha256="1" * 64,
        kfp_version="0.1.0",
    )
    return replace(result, **changes)  # type: ignore[arg-type]


NOTHING = {"interval": None, "aa_floor": None, "pairs": 0, "reference": None, "candidate": None, "processes": ()}
COMPARISONS = {
    "win": comparison(
        row("n=2^20", 1.25, 0.004, "win"),
        row("n=2^24", 1.02, 0.03, "undecided", reason="32 pairs in 700 ms leave it open", drops=4),
        row("a configuration with a long label", 0.9, 0.01, "regression"),
        verdict="win",
    ),
    "claim": comparison(
        row("n=2^20", 1.25, 0.02, "win", processes=(series(1.24, 0.004), series(1.25, 0.004), series(1.26, 0.004))),
        verdict="win",
        grade="claim",
    ),
    "unbounded": comparison(
        row(
            "n=2^20",
            1.1,
            0.0,
            "undecided",
            interval=Interval(1.1, 0.0, math.inf, 0.95),
            flags=("few pairs: the interval takes their log ratios for normal",),
        ),
        verdict="undecided",
    ),
    "wrong": comparison(
        row("n=2^20", 1.25, 0.004, "win"),
        row("n=2^24", 1.0, 0.0, "wrong", reason="3 of 16777216 elements differ", **NOTHING),
        verdict="wrong",
        interval=None,
        reason="n=2^24: 3 of 16777216 elements differ; 1 configuration not run",
    ),
    "uncompiled": comparison(
        verdict="compile error",
        interval=None,
        reason="2 errors, the first at line 7, column 9: use of undeclared identifier 'undefined_name'",
        diagnostics=constructed.DIAGNOSTICS,
    ),
}


@pytest.mark.parametrize("name", COMPARISONS)
def test_comparison(name: str):
    result = COMPARISONS[name]
    assert all(len(line) <= WIDTH for line in str(result).splitlines())
    assert_golden(f"comparison-{name}.txt", f"{result}\n\n{result.summary()}\n")


@pytest.mark.parametrize("name", COMPARISONS)
def test_json_there_and_back(name: str):
    result = COMPARISONS[name]
    text = json.dumps(result.to_json(), allow_nan=False)
    assert Comparison.from_json(json.loads(text)) == result


def test_a_forest_of_any_ratios_keeps_its_width_and_its_order():
    rng = np.random.default_rng(0)
    for _ in range(200):
        centre = float(rng.normal(0, 10.0 ** rng.integers(-4, 3)))
        spread = float(10.0 ** rng.uniform(-6, 2))
        bounds = [math.exp(max(-700.0, min(700.0, value))) for value in (centre, centre - spread, centre + spread)]
        _, line = forest([("x", Interval(*bounds, 0.95), "win")], 0.01)
        assert len(line.text) <= WIDTH
        assert line.text.count("o") == 1
    _, line = forest([("x", Interval(1.0, 0.0, math.inf, 0.95), "undecided")], 0.01)
    assert (line.text.count("<"), line.text.count(">")) == (1, 1)


def test_nothing_is_ranked_on_a_virtual_device():
    win = row("n=2^20", 1.25, 0.004, "win")
    assert (unranked(win).verdict, unranked(win).interval) == ("undecided", win.interval)
    assert "virtual device" in unranked(win).reason
    wrong = row("n=2^20", 1.0, 0.0, "wrong", **NOTHING)
    assert unranked(wrong) == wrong


def test_diagnosis():
    findings = (
        Finding("device", "good", "Example CPU, 2 cores"),
        Finding(
            "other load", "bad", "other processes keep 1.3 of 2 cores busy", "stop them, or expect wider intervals"
        ),
        Finding("swap", "unknown", "there is no /proc/meminfo"),
    )
    sick = Diagnosis(constructed.DEVICE, findings, (1.01, 0.99), 0.0123, "")
    lost = Diagnosis(constructed.DEVICE, findings[:1], (), None, "the worker died of SIGKILL")
    assert_golden("doctor.txt", f"{plain(diagnosis_lines(sick))}\n\n{lost}\n")
    assert not sick.healthy
    assert not lost.healthy
    assert Diagnosis.from_json(json.loads(json.dumps(sick.to_json()))) == sick
