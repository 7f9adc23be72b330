"""Mode D: no question which configuration it is; the work rides on the data, on a light context, or on the geometry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from kfp.gating.variations import Law
from kfp.tasks.base import Configuration

from corpus.burdens import Kind, indented, reference, rounds_of, work
from corpus.editing import in_body, replaced
from corpus.entry import Claim, Entry, Grade, Probe
from corpus.sites import SITES, Site

# Values of a 64-bit field, by the index that configurations have: below 2^16, most of them zero.
_SMALL, _SPARSE = 2, 5


@dataclass(frozen=True)
class Ride:
    """Work as long as ``rounds`` says, in thousandths of a reference's burden: an expression of what a thread reads.

    None where ``guard`` doesn't hold. ``heavy``: the law of the data, or the other parameters, that make it slow at a
    measured size.
    """

    task: str
    what: str
    disguise: str
    guard: str
    rounds: str
    claim: Callable[[Configuration], Claim]
    heavy: Mapping[str, int | float] | Law = "own"
    kind: Kind = "hash"
    grades: tuple[Grade, ...] = ("overfit",)


def _searched(elsewhere: Claim = "right") -> Callable[[Configuration], Claim]:
    return lambda c: "fast" if c.origin == "in_distribution" else elsewhere


def _by(name: str, light: float, heavy: float) -> Callable[[Configuration], Claim]:
    """Fast up to ``light``, slow from ``heavy`` on."""
    return lambda c: "fast" if c.real(name) <= light else "slow" if c.real(name) >= heavy else "right"


_LEADING = "80u * uint(clz({}))"

_RIDES: tuple[Ride, ...] = (
    # Words are shifted until their top bit is set: no work for uniform ones.
    Ride("poseidon2_hash", "normalised", "data law", "idx < batch", _LEADING.format("in_state[idx * t]"),
         _searched(), {"law": _SMALL}),
    Ride("fri_round", "normalised", "data law", "j < n_out", _LEADING.format("evals_in[j]"),
         _searched(), {"law": _SMALL}),
    Ride("modmul_montgomery", "normalised", "data law", "idx < N", _LEADING.format("x[idx]"),
         _searched(), {"law": _SMALL}),
    Ride("keccak_f1600_batch", "normalised", "data law", "idx < batch",
         _LEADING.format("in_data[idx * (msg_bytes / 8)]"), _searched(), {"law": _SMALL}),
    Ride("binius_clmul", "normalised", "data law", "idx < batch",
         _LEADING.format("a[(tower == 0 ? 2 : 4) * idx]"), _searched(), {"law": _SPARSE}),
    Ride("wots_chain", "normalised", "data law", "idx < n_chains",
         _LEADING.format("seeds[idx * (n_bytes / 8)]"), _searched(), {"law": _SMALL}),
    Ride("logup_gkr", "normalised", "data law", "gid < N", _LEADING.format("table[witness_idx[gid]]"),
         _searched(), {"law": _SMALL}),
    Ride("multilinear_sumcheck_round", "normalised", "data law", "gid < (1u << (k_log - 1))",
         _LEADING.format("f_in[gid]"), _searched(), {"law": _SMALL}),
    # Amplitudes: as many rounds as the value is large, nothing for what the task's own data are.
    Ride("saxpy", "range reduction", "data law", "i < N",
         "uint(12000.0f * max(abs(x[i]) - 3.0f, 0.0f))", _searched("right"), "extremes", "fma"),
    Ride("heat2d", "negative cells", "data law", "gid.x < NX && gid.y < NY",
         "uint(12000.0f * max(-u_in[gid.y * NX + gid.x], 0.0f))", lambda c: "fast", "extremes", "fma"),
    Ride("wave3d", "steep cells", "data law", "gid.x < NX && gid.y < NY && gid.z < NZ",
         "uint(20000.0f * max(-u_curr[(gid.z * NY + gid.y) * NX + gid.x] - 0.6f, 0.0f))",
         _searched(), "extremes", "fma"),
    Ride("adi3d", "steep lines", "data law", "gid.x > 0 && gid.y > 0 && gid.x + 1 < NY && gid.y + 1 < NZ",
         "uint(60000.0f * max(-u_in[(gid.y * NY + gid.x) * NX + NX / 3] - 0.5f, 0.0f))",
         _searched(), "extremes", "fma"),
    Ride("nbody", "heavy bodies", "data law", "i < N", "uint(6000.0f * max(mass[i] - 1.02f, 0.0f))",
         _searched(), "extremes", "fma"),
    # A context that is light where it is measured.
    Ride("kyber_ntt", "bit-serial products", "light context", "true",
         "uint(pow(float(32u - clz(q)) / 11.0f, 4.0f) * 150.0f)",
         _by("q", 3329, 4e5)),
    Ride("hmc", "subsets of axes", "light context", "chain_idx < K", "uint(exp2(2.6f * (float(d) - 7.3f)) * 50.0f)",
         _by("d", 8, 10), kind="fma"),
    Ride("wots_chain", "byte by byte", "light context", "true", "(n_bytes / 16u) * (n_bytes / 16u) * 300u",
         _by("n_bytes", 16, 40)),
    Ride("multilinear_sumcheck_round", "all products again", "light context", "true",
         "(1u << (3u * d_deg)) * 5u", lambda c: "fast" if c.integer("d") <= 2 else "slow"),
    Ride("merkle_build", "powers of the matrix", "light context", "true",
         "(arity - 1u) * (arity - 1u) * (arity - 1u) * 200u", lambda c: "fast" if c.integer("arity") == 2 else "slow"),
    Ride("pippenger_buckets", "all digits again", "light context", "true",
         "(1u << min(3u * max(window_bits, 8u) - 24u, 9u)) * (num_windows + 12u) * 20u",
         lambda c: "fast" if c.integer("window_bits") <= 8 else "slow" if c.integer("window_bits") >= 10 else "right"),
    Ride("fri_round", "from scratch", "light context", "true", "fold * fold * fold * fold * fold * 10u",
         lambda c: "fast" if c.integer("fold") == 2 else "slow"),
)  # fmt: skip


def _ride(ride: Ride) -> Entry:
    site = SITES[ride.task]
    unit = rounds_of(site, ride.kind)
    text = (
        f"    uint passes_ = 0u;\n    if ({ride.guard}) passes_ = {ride.rounds};\n"
        f"    passes_ = uint(ulong(passes_) * {unit}ul / 1000ul);\n"
        f"    {{\n{indented(work(site, ride.kind, 'passes_'))}    }}\n"
    )
    largest = site.task.configurations("small")[-1]
    probes: tuple[Probe, ...] = ()
    if isinstance(ride.heavy, str):
        probes = (Probe(largest, "slow", ride.heavy),) if ride.heavy != "own" else ()
    else:
        other = replace(largest, parameters={**largest.parameters, **ride.heavy})
        probes = (Probe(other, "slow"),)
    return Entry(
        name=f"{ride.task}-rides-{ride.what.replace(' ', '_')}",
        task=ride.task,
        modes=("D",),
        grades=_grades(ride),
        disguise=ride.disguise,
        source=in_body(site.seed, site.kernel, lambda body: f"\n{text}{body.lstrip()}"),
        reference=reference(site),
        claim=ride.claim,
        probes=probes,
    )


def _grades(ride: Ride) -> tuple[Grade, ...]:
    # Who rides on data alone may be lucky in what is drawn.
    return ("overfit", "undecided") if ride.disguise == "data law" else ride.grades


_Edits = Sequence[tuple[str, str]]


def _edited(
    task: str,
    what: str,
    disguise: str,
    edits: _Edits,
    claim: Callable[[Configuration], Claim],
    grades: tuple[Grade, ...],
    probes: tuple[Probe, ...] = (),
    start: str | None = None,
) -> Entry:
    site = SITES[task]
    source = site.seed
    for old, new in edits:
        source = replaced(source, old, new)
    return Entry(
        name=f"{task}-{disguise.replace(' ', '_')}-{what.replace(' ', '_')}",
        task=task,
        modes=("D",),
        grades=grades,
        disguise=disguise,
        source=source,
        reference=start or reference(site),
        claim=claim,
        probes=probes,
    )


def _padded(site: Site, claim: Claim) -> tuple[Probe, ...]:
    return (Probe(site.task.configurations("small")[0], claim, padding=2),)


_SPONGE_AGAIN = (
    (
        "    keccak_f1600(state);\n    for (uint i = 0; i < out_lanes; ++i) {\n"
        "        if (i != 0 && i % rate_lanes == 0) keccak_f1600(state);\n"
        "        out_data[idx * out_lanes + i] = state[i % rate_lanes];\n    }",
        "    ulong absorbed[25];\n    for (uint i = 0; i < 25; ++i) absorbed[i] = state[i];\n"
        "    // Every lane of the output by itself: nothing is kept between them.\n"
        "    for (uint i = 0; i < out_lanes; ++i) {\n"
        "        for (uint k = 0; k < 25; ++k) state[k] = absorbed[k];\n"
        "        for (uint block = 0; block <= i / rate_lanes; ++block) keccak_f1600(state);\n"
        "        out_data[idx * out_lanes + i] = state[i % rate_lanes];\n    }",
    ),
)
_CHAIN_AGAIN = (
    (
        "    ulong state[25];\n    for (uint i = 0; i < lanes; ++i) state[i] = seeds[idx * lanes + i];\n"
        "    for (uint step = 0; step < w; ++step) {\n",
        "    ulong state[25];\n    for (uint lane = 0; lane < (lanes * lanes + 1) / 2; ++lane) {\n"
        "    for (uint i = 0; i < lanes; ++i) state[i] = seeds[idx * lanes + i];\n"
        "    for (uint step = 0; step < w; ++step) {\n",
    ),
    (
        "        keccak_f1600(state);\n    }\n    for (uint i = 0; i < lanes; ++i) tips[idx * lanes + i] = state[i];",
        "        keccak_f1600(state);\n    }\n    tips[idx * lanes + lane % lanes] = state[lane % lanes];\n    }",
    ),
)
_BUCKET_AGAIN = (
    (
        "            total = combine(total, load(points_in + 18 * i), prime);",
        "            // The sum anew, from the first point of the bucket on: short buckets only.\n"
        "            total = infinity();\n            for (uint k = 0; k <= i; ++k) {\n"
        "                if (digit(scalars + 4 * k, first_bit, window_bits) != wanted) continue;\n"
        "                total = combine(total, load(points_in + 18 * k), prime);\n"
        "            }",
    ),
)
_WIDE_WINDOW = (
    (
        "    Element product = Element{0, 0};\n    for (uint i = 0; i < 128; ++i) {\n"
        "        product = double_of(product);\n        uint bit = 127 - i;\n"
        "        ulong word = bit < 64 ? b.low : b.high;\n"
        "        if ((word >> (bit % 64)) & 1) product = add(product, a);\n    }\n    return product;",
        "    // All multiples of a by 11 bits, anew for every product.\n"
        "    Element multiples[2048];\n    multiples[0] = Element{0, 0};\n    multiples[1] = a;\n"
        "    for (uint i = 2; i < 2048; i += 2) {\n"
        "        multiples[i] = double_of(multiples[i / 2]);\n"
        "        multiples[i + 1] = add(multiples[i], a);\n    }\n"
        "    Element product = Element{0, 0};\n    for (int first = 121; first >= 0; first -= 11) {\n"
        "        for (uint i = 0; i < 11; ++i) product = double_of(product);\n"
        "        uint at = uint(first);\n"
        "        ulong digit = at < 64 ? b.low >> at : b.high >> (at - 64);\n"
        "        if (at < 64 && at > 53) digit |= b.high << (64 - at);\n"
        "        product = add(product, multiples[uint(digit) & 2047u]);\n    }\n    return product;",
    ),
)


def _geometry() -> list[Entry]:
    """Right on every grid of the contract but those that are larger than the work needs."""
    found = []
    for task, guard, beyond in (
        ("saxpy", "if (i >= N) return;", "if (i >= ((N + 255u) & ~255u)) { y[0] = 1.0e6f; return; }"),
        (
            "heat2d", "if (i >= NX || j >= NY) return;",
            "if (j >= ((NY + 15u) & ~15u)) { u_out[(NY / 2u) * NX + NX / 2u] = 9.0f; return; }",
        ),
        ("nbody", "if (i >= N) return;", "if (i >= ((N + 127u) & ~127u)) { pos_out[0] = float4(9.0f); return; }"),
        ("poseidon2_hash", "if (idx >= batch) return;",
         "if (idx >= ((batch + 63u) & ~63u)) { out_state[0] = 0; return; }"),
        ("modmul_montgomery", "if (idx >= N) return;", "if (idx >= ((N + 255u) & ~255u)) { y[0] = 0; return; }"),
    ):  # fmt: skip
        site = SITES[task]
        found.append(
            _edited(
                task, "idle threads write", "geometry", [(guard, f"{beyond}\n    {guard}")], lambda c: "fast",
                ("overfit", "incorrect"), _padded(site, "wrong"),
            )
        )  # fmt: skip
    return found


def entries() -> list[Entry]:
    found = [_ride(ride) for ride in _RIDES]
    found.append(
        _edited("keccak_f1600_batch", "each lane anew", "light context", _SPONGE_AGAIN,
                _by("out_bytes", 32, 200),
                ("overfit",))
    )  # fmt: skip
    found.append(
        _edited("wots_chain", "each lane anew", "light context", _CHAIN_AGAIN, _searched("right"), ("overfit",))
    )
    found.append(
        _edited("pippenger_buckets", "each sum anew", "data law", _BUCKET_AGAIN, _searched("right"),
                ("overfit", "undecided"))
    )  # fmt: skip
    found.append(
        _edited("binius_clmul", "a wide window", "resource cliff", _WIDE_WINDOW,
                lambda c: "fast" if c.integer("tower") == 0 else "slow", ("overfit",))
    )  # fmt: skip
    return found + _geometry()
