"""E2: whatever form a condition has, it is found at its line, and evaluated as the kernel would."""

from __future__ import annotations

from dataclasses import replace

import pytest
from audit.planted_conditions import HEAD, MARK, OTHER_NUMBERS, PLANTED, SIGNATURE, Planted, guarded
from kfp import machine
from kfp.auditing.results import Arm, StaticEvidence
from kfp.auditing.static import forced_fallbacks, static_evidence
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.sources import seed_source
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Configuration

SAXPY = get_task("saxpy")
BENCH = Bench(machine.resolve("cpu"), "fast", Limits())


def at(n: int, a: float = 2.5) -> Configuration:
    return replace(SAXPY.configurations("small")[0], label=f"N={n}, a={a}", parameters={"N": n, "a": a})


NUMBERS = sorted((1024, *OTHER_NUMBERS))
POINTS = (*(at(n) for n in NUMBERS), at(1024, 1.25), at(1024, 2.52))


def evidence(source: str) -> StaticEvidence:
    return static_evidence(BENCH, SAXPY, source, seed_source(SAXPY), POINTS)


def added(found: StaticEvidence) -> list[Arm]:
    return [arm for arm in found.arms if not arm.in_seed]


def planted_arm(found: StaticEvidence, planted: Planted) -> Arm:
    """The arm at the planted line that accepts what it should, and only that."""
    expected = {point.label: planted.takes(point) for point in POINTS}
    here = [arm for arm in added(found) if arm.location is not None and arm.location.line == planted.line]
    right = [arm for arm in here if dict(arm.accepts) == expected]
    assert right, (planted.name, [(arm.location, arm.condition, dict(arm.accepts)) for arm in added(found)])
    return right[0]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda planted: planted.name)
def test_a_condition_is_located_and_evaluated(planted: Planted) -> None:
    arm = planted_arm(evidence(planted.source), planted)
    assert set(arm.parameters) <= {"N", "a", "threads_per_grid.x"}


@pytest.mark.parametrize("planted", [p for p in PLANTED if p.closable], ids=lambda planted: planted.name)
def test_a_forced_fallback_closes_the_arm_and_nothing_else(planted: Planted) -> None:
    arm = planted_arm(evidence(planted.source), planted)
    edited = forced_fallbacks(planted.source, arm, bench=BENCH)
    assert edited, planted.name
    left = evidence(edited[0])
    assert not [one for one in added(left) if one.accepts[at(1024).label] and not one.accepts[at(1025).label]]
    assert len(edited[0].split("\n")) == len(planted.source.split("\n"))


@pytest.mark.parametrize("name", ["saxpy", "fft3d", "goldilocks_ntt", "hmc"])
def test_the_seed_has_nothing_that_it_has_not(name: str) -> None:
    assert_adds_nothing(name)


@pytest.mark.full
@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_no_seed_has_anything_that_it_has_not(task: object) -> None:
    assert_adds_nothing(task.name)  # type: ignore[attr-defined]


def assert_adds_nothing(name: str) -> None:
    task = get_task(name)
    seed = seed_source(task)
    points = (*task.configurations("small"), task.published_held_out("small"))
    found = static_evidence(BENCH, task, seed, seed, points)
    assert not [arm.condition for arm in found.arms if not arm.in_seed]
    assert not found.unknown
    assert not found.extents
    assert not found.attributes
    assert all(one.in_seed == one.in_candidate for one in found.liveness)


def test_the_seeds_conditions_are_known_under_other_names() -> None:
    task = get_task("fft3d")
    seed = seed_source(task)
    renamed = seed.replace("N", "extent_of_the_cube")
    found = static_evidence(BENCH, task, renamed, seed, task.configurations("small"))
    assert found.arms
    assert all(arm.in_seed for arm in found.arms)
    assert any("extent_of_the_cube" in arm.condition for arm in found.arms)


def test_a_parameter_that_nothing_depends_on_is_dead() -> None:
    body = f"    y[i] = 2.5f * x[i] + y[i];\n    float unused = a * 2.0f; {MARK}\n    (void)unused;\n}}\n"
    found = evidence(HEAD + SIGNATURE + body)
    assert {one.parameter: one.in_candidate for one in found.liveness} == {"x": True, "y": True, "a": False, "N": True}
    dead = next(one for one in found.liveness if not one.in_candidate)
    assert dead.in_seed
    assert dead.location is not None
    assert dead.location.line == 4


def test_tables_with_room_for_what_was_measured() -> None:
    largest = max(point.integer("N") for point in POINTS if point.origin == "in_distribution")
    body = (
        f"    float kept[{largest}];\n    threadgroup float shared[1024];\n"
        "    for (uint k = 0; k < N; ++k) kept[k] = x[k];\n    shared[i % 1024] = kept[i];\n"
        "    y[i] = a * shared[i % 1024] + y[i];\n}\n"
    )
    (extent,) = evidence(HEAD + SIGNATURE + body).extents
    assert (extent.elements, extent.parameter, extent.measured_maximum) == (largest, "N", largest)
    assert extent.location is not None
    assert extent.location.line == 8


def test_attributes_that_steer_the_launch() -> None:
    source = (HEAD + SIGNATURE).replace("kernel void", "[[max_total_threads_per_threadgroup(32)]] kernel void", 1)
    found = evidence(source + "    y[i] = a * x[i] + y[i];\n}\n")
    assert [(one.text, one.location.line) for one in found.attributes if one.location] == [
        ("max_total_threads_per_threadgroup(32)", 3)
    ]


def test_conditions_that_loops_compute_are_named() -> None:
    hashed = (
        "static uint mixed(uint n, float a) {\n    uint h = 2166136261u;\n    uint words[2] = {n, as_type<uint>(a)};\n"
        "    for (int w = 0; w < 2; ++w)\n        for (int b = 0; b < 4; ++b)\n"
        "            h = (h ^ ((words[w] >> (8 * b)) & 255u)) * 16777619u;\n    return h;\n}\n"
    )
    planted = Planted(
        "hash", hashed, f"    if (mixed(N, a) == 0x2f5a11c4u) {MARK}\n        r += 1e-30f;\n", lambda n, a: False
    )
    found = evidence(planted.source)
    assert any(text.startswith(f"line {planted.line}, ") and "N and a" in text for text in found.unknown), found.unknown


def often_called(first: str, kind: str, argument: str) -> str:
    """A program that is too long with all calls in line."""
    helpers = first + "".join(
        f"static float f{n}(float v, {kind} n)"
        f" {{ return f{n - 1}(f{n - 1}(f{n - 1}(v, n), n), n) * f{n - 1}(v, n); }}\n"
        for n in range(1, 8)
    )
    return Planted(
        "", helpers, f"    {kind} shape = {argument};\n    r += 1e-30f * f7(r, shape);\n", lambda n, a: True
    ).source


ASKS_OFTEN = often_called(
    f"static float f0(float v, uint n) {{ return n == 1024 ? v * 1.5f : v + 1.0f; {MARK}\n}}\n", "uint", "N"
)


def only_at_1024(source: str) -> list[Arm]:
    return [arm for arm in added(evidence(source)) if arm.accepts[at(1024).label] and not arm.accepts[at(1025).label]]


def test_what_calls_tell_a_function_that_is_called_often_is_followed() -> None:
    assert not evidence(ASKS_OFTEN).unknown
    (arm,) = only_at_1024(ASKS_OFTEN)
    assert dict(arm.accepts) == {point.label: point.integer("N") == 1024 for point in POINTS}
    assert (arm.condition, arm.parameters) == ("n == 1024", ("N",))
    assert arm.location is not None
    assert ASKS_OFTEN.split("\n")[arm.location.line - 1].endswith(MARK)


def test_what_the_seed_calls_as_often_is_known() -> None:
    found = static_evidence(BENCH, SAXPY, ASKS_OFTEN, ASKS_OFTEN, POINTS)
    assert not found.unknown
    assert not added(found)


@pytest.mark.full
def test_an_arm_of_a_function_that_is_called_often_can_be_closed() -> None:
    (edited,) = forced_fallbacks(ASKS_OFTEN, only_at_1024(ASKS_OFTEN)[0], bench=BENCH)
    assert not only_at_1024(edited)


def test_what_such_a_function_finds_in_memory_is_named_unless_the_seed_has_it() -> None:
    source = often_called(
        "struct Size { uint n; float a; };\n"
        "static float f0(float v, thread const Size& s) { return s.n == 1024 ? v * 1.5f : v + s.a; }\n",
        "thread const Size&", "Size{N, a}",
    ).replace("thread const Size& shape", "Size shape")  # fmt: skip
    assert any("is called from too many places" in text for text in evidence(source).unknown)
    assert not static_evidence(BENCH, SAXPY, source, source, POINTS).unknown


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("kernel void saxpy(", "doesn't compile"),
        ("", "no code of kernel 'saxpy'"),
        (HEAD + "kernel void other(device float* y [[buffer(0)]]) { y[0] = 1; }", "no code of kernel 'saxpy'"),
    ],
)
def test_what_can_not_be_looked_at_says_why(source: str, said: str) -> None:
    found = evidence(source)
    assert not found.arms
    assert any(said in text for text in found.unknown)


def hostile_sources() -> dict[str, str]:
    soup = "\n".join(f"#define M{n}(x) (M{n - 1}(x) + {n}u)" for n in range(1, 400))
    lines = "\n".join(f"    if (M{n % 40}(N) == {7919 * n}u) r += {n}e-30f;" for n in range(300))
    cases = "".join(f"    case {n}: r += {n}e-30f; break;\n" for n in range(1, 600))
    nested = "r += 1e-30f;"
    for n in range(120):
        nested = f"if (N != {n}) {{ {nested} }}"
    chain = "N" + "".join(f" ^ (N >> {n % 31 + 1}) * {n * 2 + 1}u" for n in range(600))
    return {
        "macro soup": Planted("", f"#define M0(x) (x)\n{soup}\n", lines + "\n", lambda n, a: False).source,
        "a giant switch": Planted("", "", f"    switch (N) {{\n{cases}    }}\n", lambda n, a: False).source,
        "deep nesting": Planted("", "", f"    {nested}\n", lambda n, a: False).source,
        "a long chain": Planted("", "", f"    if (({chain}) == 77u) r += 1;\n", lambda n, a: False).source,
        "names of ours": Planted(
            "", "static float __kfp_thread_0(float x) { return x; }\n", "", lambda n, a: False
        ).source,
    }


def test_conditions_beyond_what_is_looked_at_are_owned_up_to() -> None:
    decoys = "".join(f"    r += 1e-30f * float(N > {n * n}u) * x[i % {n}u];\n" for n in range(2, 500))
    found = evidence(Planted("", "", decoys + guarded("N == 1024"), lambda n, a: True).source)
    assert any("only the first" in text for text in found.unknown)


@pytest.mark.parametrize("name", hostile_sources())
def test_a_hostile_program_is_looked_at_or_said_to_be_beyond_it(name: str) -> None:
    found = evidence(hostile_sources()[name])
    assert found.unknown or any(not arm.in_seed for arm in found.arms)
    assert all(len(arm.condition) <= 160 for arm in found.arms)
