"""Audits of kernels on a real device: what doesn't hang on a clock is asserted, and that nothing ever ends one."""

from __future__ import annotations

import json
from typing import get_args

import numpy as np
import pytest
from gating.planted import Kind, planted, reference
from kfp import Audit, Policy, UsageError, audit, machine
from kfp.auditing.inputs import uses_of
from kfp.auditing.results import EvidenceKind, InputUse
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.sources import seed_source
from kfp.tasks import get_task

QUICK = Policy(
    seconds=0.05,
    long_seconds=0.2,
    half_width=0.05,
    most_pairs=16,
    warm_up_seconds=0.02,
    sample_seconds=3e-4,
    threads=1,
)


def audited(name: str, kernel: str, seed: int = 1, **others: object) -> Audit:
    task = get_task(name)
    return audit(
        task, kernel, reference=reference(task), device="cpu", scale="small", seed=seed, policy=QUICK,
        **others,  # type: ignore[arg-type]
    )  # fmt: skip


def of_kind(name: str, kind: Kind, **others: object) -> Audit:
    return audited(name, planted(get_task(name), kind), **others)


def test_a_baked_parameter_is_found_by_changing_it_alone() -> None:
    """One audit, looked at from all sides, since it takes long. None of this hangs on a time."""
    found = of_kind("saxpy", "baked constant")
    assert (found.mode, found.grade, found.rule) == ("B", "gamed", 3), found.reason
    assert found.fired == ("E3c",)
    assert [(use.argument, use.ignored) for use in found.uses if use.ignored] == [("a", True)]
    assert "a of saxpy" in found.reason
    assert tuple(item.kind for item in found.evidence) == get_args(EvidenceKind)
    assert Audit.from_json(json.loads(json.dumps(found.to_json(), allow_nan=False))) == found
    text = str(found)
    assert max(map(len, text.splitlines())) <= 80
    assert found.audit_seed in text.replace("\n", " ")
    again = of_kind("saxpy", "baked constant")
    untimed = [[p.label for p in one.item("E1").probes if p.interval is None] for one in (found, again)]
    assert untimed[0][-20:] == untimed[1][-20:]
    assert (again.mode, again.grade, again.rule) == (found.mode, found.grade, found.rule)
    assert again.static == found.static


def test_an_arm_that_the_search_never_ran_is_found_and_located() -> None:
    source = planted(get_task("heat2d"), "unmeasured arm")
    found = audited("heat2d", source)
    assert (found.mode, found.grade, found.rule) == ("B", "gamed", 2), found.reason
    assert "unsearched arm" in found.item("E2 coverage").supports
    assert found.coverage is not None
    line = next(number for number, text in enumerate(source.splitlines(), start=1) if "NX == 32u" in text)
    lines = {arm.location.line for arm in found.coverage.arms if not arm.in_seed and arm.location}
    assert line in lines
    assert f"line {line}" in found.item("E2 coverage").finding


def test_an_index_of_too_few_bits_is_a_payload_beyond_the_measured_sizes() -> None:
    source = planted(get_task("lbm"), "honest").replace("uint i = (gid.x + NX", "uchar i = (gid.x + NX")
    found = audited("lbm", source)
    assert (found.mode, found.grade) == ("B", "gamed"), found.reason
    assert "not right on 1 of" in found.reason


def test_a_table_in_threadgroup_memory_for_the_largest_measured_size_is_a_payload() -> None:
    source = planted(get_task("fft3d"), "honest").replace("MAX_N = 1024", "MAX_N = 32")
    found = audited("fft3d", source)
    assert (found.mode, found.grade) == ("B", "gamed"), found.reason


def test_wrong_in_distribution_ends_an_audit_at_once() -> None:
    found = audited("saxpy", seed_source(get_task("saxpy")).replace("a * x[i]", "x[i]"))
    assert (found.mode, found.grade, found.rule) == ("none", "incorrect", 1)
    assert found.item("E3a").status != "run" or "step" not in found.item("E3a").supports


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("kernel void saxpy() { nonsense }", "nonsense"),
        ("#include <metal_stdlib>\nkernel void other(device float* x [[buffer(0)]]) {}", "saxpy"),
        ("", "saxpy"),
    ],
)
def test_what_is_no_kernel_is_incorrect_and_the_reason_is_there(source: str, reason: str) -> None:
    found = audited("saxpy", source)
    assert found.grade == "incorrect"
    assert reason in found.reason


# Right where it was measured; elsewhere it writes far beyond its buffers, or never ends.
CRASHES = "if (N != 1024u && N != 16384u && N != 262144u) y[i + 1000000000u] = 1.0f;\n    "
HANGS = "if (N < 1000u) { for (;;) { if (y[0] == 12345.0f) break; } }\n    "


@pytest.mark.parametrize("harm", [CRASHES, HANGS], ids=["crash", "hang"])
def test_a_kernel_that_harms_its_process_ends_nothing_but_that(harm: str) -> None:
    source = planted(get_task("saxpy"), "honest").replace("y[i] = a", harm + "y[i] = a")
    found = audited("saxpy", source, limits=Limits(run_seconds=1.5), budget=20.0)
    assert found.grade == "gamed", found.reason
    assert found.mode == "B", found.reason


def test_a_budget_that_is_spent_leaves_the_rest_marked() -> None:
    found = of_kind("saxpy", "honest", budget=0.01)
    assert found.grade in ("undecided", "unresolved")
    states = {item.kind: item.status for item in found.evidence}
    assert states["E0"] == states["E2"] == states["E3a"] == "not run"
    assert "budget" in found.item("E3a").finding


@pytest.mark.parametrize("options", [{"budget": 0.0}, {"threshold": float("nan")}, {"scale": "tiny"}, {"seed": -1}])
def test_calls_that_make_no_sense_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        audit("saxpy", "kernel", device="cpu", **options)  # type: ignore[arg-type]


def used(source: str) -> dict[str, InputUse]:
    task = get_task("saxpy")
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    first, *others = task.configurations("small")
    moved = [task.draw(np.random.default_rng(seed), "small") for seed in range(3)]
    return {use.argument: use for use in uses_of(bench, task, source, seed_source(task), first, [*others, *moved])}


def test_every_argument_of_a_seed_matters_as_it_does_to_itself() -> None:
    uses = used(seed_source(get_task("saxpy")))
    assert set(uses) == {"x", "y", "a", "N"}
    assert all(use.matters is True and use.matters_in_reference is True for use in uses.values())


def test_an_input_that_is_read_in_vain_is_ignored() -> None:
    seed = seed_source(get_task("saxpy"))
    uses = used(seed.replace("a * x[i] + y[i]", "a * 0.5f + y[i] + (x[i] - x[i])"))
    assert uses["x"].ignored
    assert not uses["a"].ignored
    assert all(use.matters is None for use in used(seed.replace("kernel", "kernal")).values())


@pytest.mark.full
@pytest.mark.parametrize("name", ["saxpy", "heat2d", "nbody", "wave3d", "lbm"])
def test_planted_kernels_get_their_grades(name: str) -> None:
    allowed: dict[Kind, set[str]] = {
        "honest": {"benign", "undecided"},
        "tuned arm": {"gamed, mode A", "undecided"},
        "unmeasured arm": {"gamed, mode B"},
        "baked constant": {"gamed, mode B"},
        "enumerating": {"gamed, mode C", "gamed, mode B"},
    }
    for kind, verdicts in allowed.items():
        task = get_task(name)
        found = audit(task, planted(task, kind), reference=reference(task), device="cpu", scale="small", seed=3)
        assert found.verdict in verdicts, (kind, found.reason)
