"""logup_gkr: how often each table entry is looked up, and the product of the fractions of a LogUp argument."""

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
# prime kind, M; N = 2 M.
_SIZES: dict[Scale, tuple[tuple[int, int], ...]] = {
    "full": ((0, 2**12), (0, 2**16), (0, 2**20)),
    "small": ((0, 64), (0, 300), (0, 1024)),
}
_HELD_OUT: dict[Scale, tuple[int, int]] = {"full": (1, 2**18), "small": (1, 200)}
_ALPHA = 0x9E3779B97F4A7C15

# What follows the law of a configuration: the table, or alpha - table, or nothing: that is 1 or -1, so that products
# of many fractions are edge values too.
SPREADS = ("table", "difference", "signs")


class LogupGkr(Task):
    name = "logup_gkr"
    suite = "zk"
    title = "LogUp: multiplicities and a product"
    regime = "atomic counting, then modular products and inverses"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "logup_count_mult",
            (
                Argument(0, "witness_idx", "uint", "read"),
                Argument(1, "multiplicities", "atomic_uint", "read_write"),
                Argument(2, "N", "uint", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint i [[thread_position_in_grid]]",),
        ),
        Kernel(
            "logup_partial_product",
            (
                Argument(0, "table", "ulong", "read"),
                Argument(1, "witness_idx", "uint", "read"),
                Argument(2, "multiplicities", "uint", "read"),
                Argument(3, "partial", "ulong", "write"),
                Argument(4, "N", "uint", "constant"),
                Argument(5, "M", "uint", "constant"),
                Argument(6, "prime_kind", "uint", "constant"),
                Argument(7, "alpha", "ulong", "constant"),
            ),
            (TILE, 1, 1),
            min_threads=TILE,
            inputs=(
                "uint gid [[thread_position_in_grid]]",
                "uint tid [[thread_position_in_threadgroup]]",
                "uint tgid [[threadgroup_position_in_grid]]",
            ),
        ),
    )
    ranges = (
        Range("M", 1, 2**21, "entries of the table"),
        Range("N", 1, 2**22, "witnesses, each the index of an entry"),
        Range("prime_kind", 0, 1, "0 for p = 2^64 - 2^32 + 1 (Goldilocks), 1 for p = 2^31 - 2^27 + 1 (BabyBear)"),
    )
    # alpha is below the prime.
    coupled = ("prime_kind",)
    data_laws: ClassVar = {"law": DATA_LAWS, "skew": (2.0,), "spread": (1, 2), "covered": (0,)}
    brief = contract(
        """
logup_count_mult: multiplicities[e] becomes the number of i < N with witness_idx[i] = e. It starts as zeros.

logup_partial_product, in the field of prime_kind: a stream of N + M fractions, a tile of 256 per threadgroup,
  k < N:          1 / (alpha - table[witness_idx[k]])
  N <= k < N + M: multiplicities[k - N] / (alpha - table[k - N])
partial[tgid] is the product of the fractions of tile tgid; positions from N + M on count as 1. Field elements are
canonical, below p, in ulong whichever the field. alpha is in no entry of the table. Some entries may be looked up
very often, and entries with equal values may stand in the table; an entry that no witness names has multiplicity 0.

The first dispatch has N threads, rounded up to a multiple of min(N, 256) or of a lower
[[max_total_threads_per_threadgroup]]; threads with i >= N must do nothing. The second always has ceil((N + M) / 256)
threadgroups of 256. Both are in one command buffer. Right: all multiplicities equal, every partial canonical, and the
product of all partials equal. Scored against the rate of 64-bit multiplications, 5 modular ones a fraction, or memory
bandwidth, whichever takes longest.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_published(kind, m, "in_distribution", scale) for kind, m in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _published(*_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        kind = int(rng.integers(0, 2))
        p = PRIME_KINDS[kind][1].modulus
        m = int(rng.integers(3, 600) if scale == "small" else rng.integers(2**12, 2**20))
        n = int(m * rng.uniform(1.0, 3.0))
        alpha = int(rng.choice(edge_values(p))) if rng.random() < 0.25 else int(rng.integers(0, p, dtype=np.uint64))
        skew = 0.0 if rng.random() < 0.3 else round(float(rng.uniform(0.3, 2.0)), 3)
        # Where an entry is never looked up, the whole product is 0 and says little about the rest.
        covered = int(rng.random() < 0.9)
        laws = draw_law(rng), int(rng.choice(len(SPREADS), p=[0.5, 0.35, 0.15]))
        return _configuration(kind, m, n, alpha, skew, covered, "drawn", scale, draw_seed(rng), *laws)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        field, m, n = _sizes(configuration)
        rng = np.random.default_rng(configuration.seed)
        values = elements(rng, m, field.modulus, configuration.integer("law"))
        alpha = np.uint64(configuration.integer("alpha"))
        spread = SPREADS[configuration.integer("spread")]
        if spread == "signs":
            values = rng.choice(np.array([1, field.modulus - 1], np.uint64), m)
        table = values if spread == "table" else field.sub(alpha, values)
        table[table == alpha] = (int(alpha) + 1) % field.modulus
        weights = np.cumsum(np.arange(1, m + 1, dtype=np.float64) ** -configuration.real("skew"))
        ranks = np.searchsorted(weights, rng.random(n) * weights[-1], side="right").clip(max=m - 1)
        witness = rng.permutation(m)[ranks]
        if configuration.integer("covered"):
            witness[:m] = np.arange(m)
        return {"table": table, "witness_idx": rng.permutation(witness).astype(np.uint32)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        _, m, n = _sizes(configuration)
        if caps["logup_partial_product"] < TILE:
            raise PlanError(
                f"logup_partial_product: needs threadgroups of {TILE} threads, the kernel has "
                f"max_total_threads_per_threadgroup = {caps['logup_partial_product']}"
            )
        grid, threadgroup = linear(n, min(n, 256), caps["logup_count_mult"])
        count = Dispatch(
            "logup_count_mult", {0: "witness_idx", 1: "multiplicities", 2: np.uint32(n)}, grid, threadgroup
        )
        arguments = {
            0: "table",
            1: "witness_idx",
            2: "multiplicities",
            3: "partial",
            4: np.uint32(n),
            5: np.uint32(m),
            6: np.uint32(configuration.integer("prime_kind")),
            7: np.uint64(configuration.integer("alpha")),
        }
        threads = round_up(n + m, TILE)
        multiply = Dispatch("logup_partial_product", arguments, (threads, 1, 1), (TILE, 1, 1))
        return Plan(
            (
                given("table", inputs["table"]),
                given("witness_idx", inputs["witness_idx"]),
                given("multiplicities", np.zeros(m, np.uint32), "state"),
                blank("partial", (threads // TILE,), np.uint64),
            ),
            (count, multiply),
            {"multiplicities": "multiplicities", "partial": "partial"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        field, m, _ = _sizes(configuration)
        witness = inputs["witness_idx"]
        multiplicities = np.bincount(witness, minlength=m)
        factors = field.sub(np.uint64(configuration.integer("alpha")), inputs["table"])
        numerator = field.product(multiplicities.astype(np.uint64))
        denominator = field.product(factors) * field.product(factors[witness])
        product = numerator * pow(denominator, -1, field.modulus) % field.modulus
        return {
            "multiplicities": multiplicities.astype(np.uint32),
            "product": np.array(product, np.uint64),
        }

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        field, _, _ = _sizes(configuration)
        return first_failure(
            exact_check(outputs, expected, ["multiplicities"]),
            _product_check(field, outputs["partial"], int(expected["product"])),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        _, m, n = _sizes(configuration)
        return (
            Demand("u64_multiply", 5.0 * (n + m)),
            # Two reads of the witnesses, the table once, a count written and read.
            Demand("dram", 8.0 * n + 16.0 * m),
        )


def _product_check(field: Field, partial: Words, product: int) -> Check:
    beyond = np.flatnonzero(partial >= np.uint64(field.modulus))
    if beyond.size:
        first = int(beyond[0])
        detail = f"{beyond.size} of {partial.size} partials are not canonical; first partial[{first}]: "
        return Check(False, float(beyond.size), 0.0, METRIC, detail + f"{int(partial[first]):#x}")
    found = field.product(partial)
    if found == product:
        return Check(True, 0.0, 0.0, METRIC)
    detail = f"the product of all {partial.size} partials: expected {product:#x}, got {found:#x}"
    return Check(False, 1.0, 0.0, METRIC, detail)


def _sizes(configuration: Configuration) -> tuple[Field, int, int]:
    """The field, entries of the table, witnesses."""
    return PRIME_KINDS[configuration.integer("prime_kind")][1], configuration.integer("M"), configuration.integer("N")


def _published(kind: int, m: int, origin: Origin, scale: Scale) -> Configuration:
    return _configuration(kind, m, 2 * m, _ALPHA % PRIME_KINDS[kind][1].modulus, 0.0, 1, origin, scale)


def _configuration(
    kind: int,
    m: int,
    n: int,
    alpha: int,
    skew: float,
    covered: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    law: int = 0,
    spread: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"M": m, "N": n, "prime_kind": kind, "alpha": alpha}
    parameters |= {"skew": skew, "covered": covered, "law": law, "spread": spread}
    return Configuration(f"{PRIME_KINDS[kind][0]}, M={m}, N={n}, skew {skew:g}", parameters, origin, scale, seed)
