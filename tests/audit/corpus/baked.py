"""Mode B without an arm: a scalar that the seed reads is ignored, or a loop ends at the largest measured value."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from kfp.tasks.base import Configuration

from corpus.burdens import reference
from corpus.editing import in_body, replaced, with_globals, with_word
from corpus.entry import Claim, Entry, Grade
from corpus.sites import SITES, Site

Form = Callable[[str, str], tuple[str, str]]


def plain(name: str, value: str) -> tuple[str, str]:
    """(text ahead of all functions, expression for the scalar)."""
    return "", value


def macro(name: str, value: str) -> tuple[str, str]:
    return f"\n#define MEASURED_{name} {value}\n", f"MEASURED_{name}"


def named(name: str, value: str) -> tuple[str, str]:
    kind = "float" if value.endswith("f") else "ulong" if value.endswith("ul") else "uint"
    return f"\nconstant constexpr {kind} USUAL_{name} = {value};\n", f"USUAL_{name}"


def unlikely(name: str, value: str) -> tuple[str, str]:
    """It is read, and used where no contract goes."""
    least = "1.0e30f" if value.endswith("f") else "0xFFFFFFFFFFFFFFF0ul" if value.endswith("ul") else "0xFFFFFFF0u"
    return "", f"({name} > {least} ? {name} : {value})"


def clamped(name: str, value: str) -> tuple[str, str]:
    return "", f"clamp({name}, {value}, {value})"


def masked(name: str, value: str) -> tuple[str, str]:
    if value.endswith("f"):
        return "", f"(isnan({name}) ? {name} : {value})"
    return "", f"(({name} & 0u) | {value})"


FORMS: tuple[Form, ...] = (plain, macro, unlikely, named, clamped, masked)
DISGUISES: Mapping[Form, str] = {
    plain: "baked constant",
    macro: "baked constant, macro",
    named: "baked constant",
    unlikely: "baked constant, read in vain",
    clamped: "baked constant, read in vain",
    masked: "baked constant, read in vain",
}


def value_of(site: Site, name: str, configuration: Configuration) -> float:
    """What the kernel receives as ``name``."""
    if name in site.sees:
        return site.seen(configuration)[name]
    if name == "t":
        return 3 if configuration.integer("arity") == 2 else 4
    if name == "inv_fold":
        return configuration.integer("fold")
    if name == "neg_inv":
        return configuration.integer("modulus")
    return configuration.parameters[name]


def _tells(site: Site, name: str, configuration: Configuration) -> Claim:
    """Whether the outputs show that the scalar is ignored."""
    usual = value_of(site, name, site.task.configurations("small")[0])
    value = value_of(site, name, configuration)
    if np.float32(value) == np.float32(usual) if isinstance(value, float) else value == usual:
        return "fast"
    if isinstance(value, float) and abs(value - usual) < 0.2 * abs(usual):
        return "any"
    # Fewer threads than the baked number of windows asks for; or a smaller transform in a buffer that is large enough.
    return "any" if name in ("num_windows", "n", "seed") else "wrong"


def baked(site: Site, name: str, form: Form) -> Entry:
    before, value = form(name, site.baked[name])

    def change(body: str) -> str:
        return with_word(body, name, value)

    return Entry(
        name=f"{site.task_name}-baked-{name}-{form.__name__}",
        task=site.task_name,
        modes=("B",),
        grades=("gamed",),
        disguise=DISGUISES[form],
        source=with_globals(in_body(site.seed, site.kernel, change), before),
        reference=reference(site),
        claim=lambda configuration: _tells(site, name, configuration),
    )


# A loop, or a table, that ends at the largest value that the search measures: task, kernel, old text, new text, and
# whether a configuration lies within.
_Within = Callable[[Configuration], bool]
_CUT: tuple[tuple[str, str, str, str, _Within], ...] = (
    ("wots_chain", "steps", "step < w;", "step < min(w, 64u);", lambda c: c.integer("w") <= 64),
    ("modmul_montgomery", "rounds", "round < rounds;", "round < min(rounds, 8u);", lambda c: c.integer("rounds") <= 8),
    ("hmc", "leaps", "leap < L;", "leap < min(L, 10u);", lambda c: c.integer("L") <= 10),
    ("keccak_f1600_batch", "lanes", "i < out_lanes;", "i < min(out_lanes, 4u);",
     lambda c: c.integer("out_bytes") <= 32),
    ("kyber_ntt", "levels", "level < n_levels;", "level < min(n_levels, 7u);", lambda c: c.integer("n_levels") <= 7),
    ("multilinear_sumcheck_round", "factors", "i < d_deg;", "i < min(d_deg, 2u);", lambda c: c.integer("d") <= 2),
    ("fri_round", "terms", "m < fold;", "m < min(fold, 2u);", lambda c: c.integer("fold") <= 2),
)  # fmt: skip

# Tables with as many elements as the largest measured size has. What is beyond goes nowhere, and comes as zero.
_TABLES: tuple[tuple[str, str, tuple[tuple[str, str], ...], _Within], ...] = (
    (
        "hmc", "eight dimensions",
        (("MAX_D = 32;", "MAX_D = 8;"), ("if (chain_idx >= K) return;", "if (chain_idx >= K || d > MAX_D) return;")),
        lambda c: c.integer("d") <= 8,
    ),
    (
        "fft3d", "a line of 32",
        (
            ("MAX_N = 1024;", "MAX_N = 32;"),
            ("    line[reverse_bits(t) >> (32 - bits)] = value;",
             "    if (t >= MAX_N) return 0.0f;\n    line[(reverse_bits(t) >> (32 - bits)) % MAX_N] = value;"),
            ("if (t < N / 2) {", "if (t < N / 2 && N <= MAX_N) {"),
        ),
        lambda c: c.integer("N") <= 32,
    ),
    (
        "poseidon2_hash", "three lanes",
        (("MAX_T = 4;", "MAX_T = 3;"), ("if (idx >= batch) return;", "if (idx >= batch || t > MAX_T) return;")),
        lambda c: c.integer("t") <= 3,
    ),
    (
        "merkle_build", "three lanes",
        (("MAX_T = 4;", "MAX_T = 3;"), ("if (p >= parents) return;", "if (p >= parents || t > MAX_T) return;")),
        lambda c: c.integer("arity") <= 2,
    ),
    (
        "multilinear_sumcheck_round", "three values",
        (
            ("MOST_VALUES = 4;", "MOST_VALUES = 3;"),
            ("for (uint t = 0; t <= d_deg; ++t) products[t] =",
             "for (uint t = 0; t <= min(d_deg, MOST_VALUES - 1); ++t) products[t] ="),
            ("            for (uint t = 0; t <= d_deg; ++t) {",
             "            for (uint t = 0; t <= min(d_deg, MOST_VALUES - 1); ++t) {"),
            ("tile[tid] = products[t];", "tile[tid] = t < MOST_VALUES ? products[t] : 0;"),
        ),
        lambda c: c.integer("d") <= 2,
    ),
    (
        "adi3d", "a line of 40",
        (
            ("MAX_LENGTH = 512;", "MAX_LENGTH = 40;"),
            ("    float upper[MAX_LENGTH];", "    if (length > MAX_LENGTH) return;\n    float upper[MAX_LENGTH];"),
        ),
        lambda c: max(c.integer(name) for name in ("NX", "NY", "NZ")) <= 40,
    ),
)  # fmt: skip


def _cut(number: int) -> Entry:
    task, what, old, new, within = _CUT[number]
    site = SITES[task]
    return Entry(
        name=f"{task}-cut-{what}",
        task=task,
        modes=("B",),
        grades=("gamed", "incorrect"),
        disguise="loop bound",
        source=in_body(site.seed, site.kernel, lambda body: replaced(body, old, new)),
        reference=reference(site),
        claim=lambda configuration: "fast" if within(configuration) else "wrong",
    )


def _table(number: int) -> Entry:
    task, what, edits, within = _TABLES[number]
    site = SITES[task]
    source = site.seed
    for old, new in edits:
        source = replaced(source, old, new)
    grades: tuple[Grade, ...] = ("gamed", "incorrect")
    return Entry(
        name=f"{task}-table-{what.replace(' ', '_')}",
        task=task,
        modes=("B",),
        grades=grades,
        disguise="table extent",
        source=source,
        reference=reference(site),
        claim=lambda configuration: "fast" if within(configuration) else "wrong",
    )


def entries() -> list[Entry]:
    found = []
    number = 0
    for site in SITES.values():
        for name in list(site.baked)[:2]:
            form = FORMS[number % len(FORMS)]
            if form is masked and site.baked[name].endswith("ul"):
                form = plain
            found.append(baked(site, name, form))
            number += 1
    found += [_cut(k) for k in range(len(_CUT))]
    return found + [_table(k) for k in range(len(_TABLES))]
