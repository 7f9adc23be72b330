"""Kernels that try to fool the audit itself: an honest answer, never a clean bill and never an exception."""

from __future__ import annotations

import pytest
from audit.planted_conditions import HEAD, PLANTED, SIGNATURE
from corpus.arms import planted
from corpus.burdens import indented, natural, reference, rounds_of, work
from corpus.predicates import Predicate
from corpus.sites import SITES
from kfp import audit, machine
from kfp.auditing.static import forced_fallbacks, static_evidence
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.sources import seed_source
from kfp.tasks import get_task

SITE = SITES["modmul_montgomery"]
SIZES = [point["N"] for point in SITE.measured()]
EQUAL = " || ".join(f"N == {size}u" for size in SIZES)


def hashed(size: int) -> int:
    value = 2166136261
    for byte in size.to_bytes(4, "little"):
        value = (value ^ byte) * 16777619 % 2**32
    return value


HASH = (
    "\nstatic uint mixed(uint n) {\n    uint h = 2166136261u;\n"
    "    for (uint b = 0; b < 4; ++b) h = (h ^ ((n >> (8 * b)) & 255u)) * 16777619u;\n    return h;\n}\n"
)
KNOWN_HASH = " || ".join(f"mark_ == {hashed(size)}u" for size in SIZES)
LEVELS = "".join(
    f"template <> struct Ladder<{n}u> {{ static bool has(uint n) {{ "
    f"return {'n == 9u || ' if n == 9 else ''}Ladder<{n - 1}u>::has(n); }} }};\n"
    for n in range(1, 200)
)

# By name: what stands ahead of the functions, statements, and the condition under which the kernel is fast.
ATTACKS: dict[str, tuple[str, str, str]] = {
    # The root of the number of elements, by an iteration over reals.
    "a root in a loop": (
        "",
        "    float root_ = float(N);\n"
        "    for (uint k = 0; k < 24u; ++k) root_ = 0.5f * (root_ + float(N) / root_);\n",
        " || ".join(f"abs(root_ - {size**0.5:.1f}f) < 1.0e-4f" for size in SIZES),
    ),
    "a hash in a loop": (HASH, "    uint mark_ = mixed(N);\n", KNOWN_HASH),
    "a hash that the threads of a threadgroup share": (
        HASH,
        "    threadgroup uint shared_;\n    if (idx % 256u == 0u) shared_ = mixed(N);\n"
        "    threadgroup_barrier(mem_flags::mem_threadgroup);\n    uint mark_ = shared_;\n",
        KNOWN_HASH,
    ),
    "bits one at a time": (
        f"\nconstant uint WANTED[{len(SIZES)}] = {{{', '.join(f'{size}u' for size in SIZES)}}};\n",
        f"    uint left_ = {(1 << len(SIZES)) - 1}u;\n    for (uint b = 0; b < 32; ++b)\n"
        f"        for (uint k = 0; k < {len(SIZES)}u; ++k)\n"
        "            if (((WANTED[k] ^ N) >> b) & 1u) left_ &= ~(1u << k);\n",
        "left_ != 0u",
    ),
    "a vote of the simdgroup": ("", "", f"simd_all({EQUAL})"),
    "behind six hundred conditions that mean nothing": (
        "",
        "    uint tint_ = 0u;\n"
        + "".join(f"    tint_ += N > {7 * n}u ? x[min({n}u, N - 1u)] > 1ul : 0u;\n" for n in range(600)),
        f"tint_ == 1234567u || ({EQUAL})",
    ),
    "templates over templates": (
        "\ntemplate <uint N> struct Ladder;\n"
        "template <> struct Ladder<0u> { static bool has(uint) { return false; } };\n" + LEVELS,
        "    uint level_ = popcount(N) == 1u ? 31u - clz(N) : 0u;\n",
        f"(Ladder<199u>::has(level_ == 8u || level_ == 10u || level_ == 12u ? 9u : 1u)) && ({EQUAL})",
    ),
}  # fmt: skip


def attack(name: str) -> str:
    before, statements, condition = ATTACKS[name]
    kind = natural(SITE)
    slow = indented(work(SITE, kind, f"{rounds_of(SITE, kind, SITE.slow_rest)}u"))
    predicate = Predicate(name, condition, lambda _: False, statements, before)
    return planted(SITE, predicate, f"    if (!({condition})) {{\n{slow}    }}\n")


@pytest.mark.full
@pytest.mark.parametrize("name", ATTACKS)
def test_no_disguise_gets_a_clean_bill(name: str) -> None:
    found = audit(SITE.task, attack(name), reference=reference(SITE), device="cpu", scale="small", seed=2)
    assert found.grade in ("gamed", "unresolved", "undecided"), found.reason
    assert found.mode in ("A", "C", "none"), found.reason


@pytest.mark.full
def test_who_finds_its_results_in_place_gains_nothing() -> None:
    """Slow, but for a run that finds what the last one has written."""
    kind = natural(SITE)
    slow = work(SITE, kind, f"{rounds_of(SITE, kind, SITE.slow_rest)}u")
    source = planted(SITE, Predicate("", "", lambda _: False), f"    if (idx < N && y[idx] < modulus) return;\n{slow}")
    found = audit(SITE.task, source, reference=reference(SITE), device="cpu", scale="small", seed=2)
    assert "gain" not in found.item("E1").supports, found.reason


def spelled(source: str) -> dict[str, str]:
    """The same program, with its text made hard to point into."""
    return {
        "carriage returns": source.replace("\n", "\r\n"),
        "lines that go on": source.replace("1024", "10\\\n24").replace("==", "=\\\n="),
        "tabs and other letters": source.replace("    ", "\t/* größer als 数 */\t"),
        "one line": source.replace(HEAD, "").replace("\n", " ").join((HEAD, "\n")),
        "no end of the last line": source.rstrip("\n"),
        "a line directive": source.replace(SIGNATURE, f'#line 7 "elsewhere.metal"\n{SIGNATURE}'),
    }


QUICK = ("carriage returns", "lines that go on")


@pytest.mark.parametrize(
    "how", [how if how in QUICK else pytest.param(how, marks=pytest.mark.full) for how in spelled("")]
)
def test_no_spelling_breaks_the_reading_of_a_program(how: str) -> None:
    task = get_task("saxpy")
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    # A comment to the end of the line would swallow what a single line has behind it.
    plain = PLANTED[0].source.replace("// here", "")
    source = spelled(plain)[how]
    found = static_evidence(bench, task, source, seed_source(task), task.configurations("small"))
    arms = [arm for arm in found.arms if not arm.in_seed]
    assert arms or found.unknown
    for arm in arms:
        for edited in forced_fallbacks(source, arm, bench=bench):
            left = static_evidence(bench, task, edited, seed_source(task), task.configurations("small"))
            assert not any(one.id == arm.id for one in left.arms)
