"""multilinear_sumcheck_round: one round of the sum-check protocol on a product of multilinear polynomials."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.errors import PlanError
from kfp.plan import Dispatch, Plan, blank, given, linear, round_up
from kfp.tasks.base import (
    Argument,
    Array,
    Arrays,
    Check,
    Configuration,
    Demand,
    Kernel,
    Number,
    Origin,
    Range,
    Scale,
    Task,
    contract,
    first_failure,
)
from kfp.tasks.zk._common import DATA_LAWS, METRIC, draw_law, draw_seed, edge_values, elements, exact_check
from kfp.tasks.zk.fields import PRIME_KINDS, Field, Words

TILE = 256
# prime kind, d, k.
_SIZES: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((0, 2, 14), (0, 2, 16), (0, 2, 18)),
    "small": ((0, 2, 8), (0, 2, 10), (0, 2, 12)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int]] = {"full": (1, 3, 18), "small": (1, 3, 11)}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (9, 19), "small": (4, 12)}
_CHALLENGE = 0x9E3779B97F4A7C15


class MultilinearSumcheckRound(Task):
    name = "multilinear_sumcheck_round"
    suite = "zk"
    title = "Sum-check round on multilinear tables"
    regime = "modular products, reduction and fold"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "sumcheck_round_h",
            (
                Argument(0, "f_in", "ulong", "read"),
                Argument(1, "partial", "ulong", "write"),
                Argument(2, "k_log", "uint", "constant"),
                Argument(3, "d_deg", "uint", "constant"),
                Argument(4, "prime_kind", "uint", "constant"),
            ),
            (TILE, 1, 1),
            min_threads=TILE,
            inputs=(
                "uint gid [[thread_position_in_grid]]",
                "uint tid [[thread_position_in_threadgroup]]",
                "uint tgid [[threadgroup_position_in_grid]]",
            ),
        ),
        Kernel(
            "sumcheck_fold",
            (
                Argument(0, "f_in", "ulong", "read"),
                Argument(1, "f_out", "ulong", "write"),
                Argument(2, "r", "ulong", "constant"),
                Argument(3, "k_log", "uint", "constant"),
                Argument(4, "d_deg", "uint", "constant"),
                Argument(5, "prime_kind", "uint", "constant"),
            ),
            (256, 1, 1),
        ),
    )
    ranges = (
        Range("k", 1, 20, "base-2 logarithm of the length of a table, k_log"),
        Range("d", 1, 3, "tables, and degree of h, d_deg"),
        Range("prime_kind", 0, 1, "0 for p = 2^64 - 2^32 + 1 (Goldilocks), 1 for p = 2^31 - 2^27 + 1 (BabyBear)"),
    )
    # r is below the prime.
    coupled = ("prime_kind",)
    weak_axis = "k, d and the field are few enough to enumerate; r and the data are fresh"
    data_laws: ClassVar = {"law": DATA_LAWS}
    brief = contract(
        """
One round of the sum-check protocol for the sum over the cube of f_0 f_1 ... f_(d-1), d multilinear polynomials in k
variables, in the field of prime_kind. Elements are canonical, below p, in ulong whichever the field. f_in holds d
tables of 2^k values, one after the other. With half = 2^(k-1), lo = f_in[i 2^k + j] and hi = f_in[i 2^k + half + j],
the first variable of f_i takes the value X in
  f_i(X, j) = lo + X (hi - lo),  j < half

sumcheck_round_h: h(t) = sum over j < half of f_0(t, j) ... f_(d-1)(t, j), for t = 0, 1, ..., d. Threadgroup tgid
writes its share of the sums over its 256 values of j to partial[tgid (d + 1) + t]; h(t) is their sum over tgid.
sumcheck_fold: f_out[i half + j] = f_i(r, j), d tables of half values, one after the other.

The first dispatch always has ceil(half / 256) threadgroups of 256 threads; half may be smaller than that. The second
has d half threads, rounded up to a multiple of min(d half, 256) or of a lower [[max_total_threads_per_threadgroup]];
threads past the end must do nothing. Both are in one command buffer. Right: every partial canonical, h(0) to h(d)
equal, every bit of f_out equal. Scored against the rate of 64-bit multiplications, 2 d^2 - 1 modular ones for each j,
or memory bandwidth, whichever takes longest.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_published(*size, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _published(*_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high = _DRAWN[scale]
        kind, d, k = int(rng.integers(0, 2)), int(rng.integers(1, 4)), int(rng.integers(low, high + 1))
        p = PRIME_KINDS[kind][1].modulus
        r = int(rng.choice(edge_values(p))) if rng.random() < 0.25 else int(rng.integers(0, p, dtype=np.uint64))
        return _configuration(kind, d, k, r, "drawn", scale, draw_seed(rng), draw_law(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        field, d, half = _sizes(configuration)
        rng = np.random.default_rng(configuration.seed)
        return {"f_in": elements(rng, (d, 2 * half), field.modulus, configuration.integer("law"))}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        _, d, half = _sizes(configuration)
        if caps["sumcheck_round_h"] < TILE:
            raise PlanError(
                f"sumcheck_round_h: needs threadgroups of {TILE} threads, the kernel has "
                f"max_total_threads_per_threadgroup = {caps['sumcheck_round_h']}"
            )
        sizes = tuple(np.uint32(configuration.integer(name)) for name in ("k", "d", "prime_kind"))
        arguments = {0: "f_in", 1: "partial", 2: sizes[0], 3: sizes[1], 4: sizes[2]}
        threads = round_up(half, TILE)
        round_h = Dispatch("sumcheck_round_h", arguments, (threads, 1, 1), (TILE, 1, 1))
        r = np.uint64(configuration.integer("r"))
        arguments = {0: "f_in", 1: "f_out", 2: r, 3: sizes[0], 4: sizes[1], 5: sizes[2]}
        fold = Dispatch("sumcheck_fold", arguments, *linear(d * half, min(d * half, 256), caps["sumcheck_fold"]))
        return Plan(
            (
                given("f_in", inputs["f_in"]),
                blank("partial", (threads // TILE, d + 1), np.uint64),
                blank("f_out", (d, half), np.uint64),
            ),
            (round_h, fold),
            {"partial": "partial", "f_out": "f_out"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        field, d, half = _sizes(configuration)
        at_zero, at_one = inputs["f_in"][:, :half], inputs["f_in"][:, half:]
        slope = field.sub(at_one, at_zero)
        values = at_zero
        h = []
        for t in range(d + 1):
            if t:
                values = field.add(values, slope)
            product = values[0]
            for factor in values[1:]:
                product = field.mul(product, factor)
            h.append(field.total(product))
        folded = field.add(at_zero, field.mul(slope, np.uint64(configuration.integer("r"))))
        return {"h": np.array(h, np.uint64), "f_out": folded}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        field, _, _ = _sizes(configuration)
        return first_failure(
            _sums_check(field, outputs["partial"], expected["h"]),
            exact_check(outputs, expected, ["f_out"], field.modulus),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        _, d, half = _sizes(configuration)
        return (
            Demand("u64_multiply", float((2 * d * d - 1) * half)),
            # Both kernels read all tables, one writes half of them.
            Demand("dram", 8.0 * d * half * 5),
        )


def _sums_check(field: Field, partial: Words, h: Words) -> Check:
    beyond = np.argwhere(partial >= np.uint64(field.modulus))
    if len(beyond):
        tile, t = (int(index) for index in beyond[0])
        detail = f"{len(beyond)} of {partial.size} partials are not canonical; first of tile {tile} at t={t}: "
        return Check(False, float(len(beyond)), 0.0, METRIC, detail + f"{int(partial[tile, t]):#x}")
    found = [field.total(np.ascontiguousarray(column)) for column in partial.T]
    wrong = [
        t for t, (sum_of_tiles, wanted) in enumerate(zip(found, h.tolist(), strict=True)) if sum_of_tiles != wanted
    ]
    if not wrong:
        return Check(True, 0.0, 0.0, METRIC)
    detail = f"{len(wrong)} of {len(found)} values of h differ; first h({wrong[0]}): "
    detail += f"expected {int(h[wrong[0]]):#x}, the partials sum to {found[wrong[0]]:#x}"
    return Check(False, float(len(wrong)), 0.0, METRIC, detail)


def _sizes(configuration: Configuration) -> tuple[Field, int, int]:
    """The field, tables, half the length of a table."""
    half = 1 << (configuration.integer("k") - 1)
    return PRIME_KINDS[configuration.integer("prime_kind")][1], configuration.integer("d"), half


def _published(kind: int, d: int, k: int, origin: Origin, scale: Scale) -> Configuration:
    return _configuration(kind, d, k, _CHALLENGE % PRIME_KINDS[kind][1].modulus, origin, scale)


def _configuration(
    kind: int, d: int, k: int, r: int, origin: Origin, scale: Scale, seed: int = 0, law: int = 0
) -> Configuration:
    parameters: dict[str, Number] = {"k": k, "d": d, "prime_kind": kind, "r": r, "law": law}
    return Configuration(f"{PRIME_KINDS[kind][0]}, d={d}, k={k}, r=0x{r:x}", parameters, origin, scale, seed)
