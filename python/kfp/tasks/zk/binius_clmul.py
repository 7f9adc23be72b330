"""binius_clmul: products in GF(2^128) or in a quadratic extension of it with a drawn constant."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.plan import Dispatch, Plan, blank, given, linear
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
)
from kfp.tasks.zk._common import DATA_LAWS, draw_law, draw_odd, draw_seed, edge_values, elements, exact_check
from kfp.tasks.zk.binary import multiply, multiply_tower
from kfp.tasks.zk.fields import words

_BATCHES: dict[Scale, tuple[int, ...]] = {"full": (2**16, 2**18, 2**20), "small": (64, 300, 2048)}
_HELD_OUT: dict[Scale, int] = {"full": 2**18, "small": 513}
# Of the published tower: alpha = x^127 has trace 1, so that v^2 + v + alpha has no root and the ring is a field.
_ALPHA = 1 << 127


class BiniusClmul(Task):
    name = "binius_clmul"
    suite = "zk"
    title = "Products in binary tower fields"
    regime = "bit operations"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "binius_clmul",
            (
                Argument(0, "a", "ulong", "read"),
                Argument(1, "b", "ulong", "read"),
                Argument(2, "c", "ulong", "write"),
                Argument(3, "alpha_lo", "ulong", "constant"),
                Argument(4, "alpha_hi", "ulong", "constant"),
                Argument(5, "tower", "uint", "constant"),
                Argument(6, "batch", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
        ),
    )
    ranges = (
        Range("batch", 1, 2**22, "products"),
        Range("tower", 0, 1, "1 for the extension, 0 for GF(2^128)"),
        Range("alpha_lo", 0, 2**64 - 1, "low word of alpha"),
        Range("alpha_hi", 0, 2**64 - 1, "high word of alpha"),
    )
    data_laws: ClassVar = {"law": DATA_LAWS}
    brief = contract(
        """
c[idx] = a[idx] * b[idx] in a binary field, for every idx < batch.
tower = 0: GF(2^128) modulo x^128 + x^7 + x^2 + x + 1. An element is two words; bit i of word j is the coefficient of
  x^(64 j + i). Element idx is at words 2 idx and 2 idx + 1. alpha is to be ignored.
tower = 1: pairs a0 + a1 v of such elements with v^2 = v + alpha; alpha is alpha_lo + x^64 alpha_hi, any element:
  c0 = a0 b0 + alpha a1 b1        c1 = a0 b1 + a1 b0 + a1 b1
  An element is four words, a0 before a1, from word 4 idx on.

One thread per product; the grid is batch rounded up to a multiple of the threadgroup, and threads with idx >= batch
must do nothing. Threadgroup: 64, or fewer threads if the kernel declares a lower
[[max_total_threads_per_threadgroup]]. Right: every bit equal. Scored against the rate of 64-bit operations (256 a
product, 1024 a product of the extension) or memory bandwidth, whichever takes longest.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(batch, 0, 0, "in_distribution", scale) for batch in _BATCHES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], 1, _ALPHA, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        tower = int(rng.integers(0, 2))
        most = 400 if scale == "small" else 2**20 >> 2 * tower
        batch = draw_odd(rng, most // 8, most)
        edges = edge_values(1 << 64)
        high, low = (
            int(rng.choice(edges)) if rng.random() < 0.25 else int(rng.integers(0, 2**64, dtype=np.uint64))
            for _ in range(2)
        )
        return _configuration(batch, tower, high << 64 | low, "drawn", scale, draw_seed(rng), draw_law(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        shape = (configuration.integer("batch"), 4 if configuration.integer("tower") else 2)
        rng = np.random.default_rng(configuration.seed)
        law = configuration.integer("law")
        a, b = (elements(rng, shape, 1 << 64, law) for _ in range(2))
        # Some products of single bits, all pairs of positions in turn: each meets the reduction in its own way.
        rows = rng.choice(len(a), -(-len(a) // 8), replace=False)
        bits = rng.permutation(128 * 128)[np.arange(len(rows)) % 128**2]
        for operand, bit in ((a, bits // 128), (b, bits % 128)):
            single = np.uint64(1) << (bit % 64).astype(np.uint64)
            operand[rows, :2] = np.where(np.arange(2) == bit[:, None] // 64, single[:, None], np.uint64(0))
        return {"a": a, "b": b}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        batch = configuration.integer("batch")
        low, high = (np.uint64(configuration.integer(name)) for name in ("alpha_lo", "alpha_hi"))
        arguments = {3: low, 4: high, 5: np.uint32(configuration.integer("tower")), 6: np.uint32(batch)}
        grid, threadgroup = linear(batch, 64, caps[self.name])
        return Plan(
            (given("a", inputs["a"]), given("b", inputs["b"]), blank("c", inputs["a"].shape, np.uint64)),
            (Dispatch(self.name, {0: "a", 1: "b", 2: "c", **arguments}, grid, threadgroup),),
            {"c": "c"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        if not configuration.integer("tower"):
            return {"c": multiply(inputs["a"], inputs["b"])}
        alpha = words([configuration.integer("alpha_lo"), configuration.integer("alpha_hi")])
        return {"c": multiply_tower(inputs["a"], inputs["b"], alpha)}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["c"])

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        batch, tower = configuration.integer("batch"), configuration.integer("tower")
        return (
            Demand("u64_bit", float(batch * (1024 if tower else 256))),
            Demand("dram", float(batch * (96 if tower else 48))),
        )


def _configuration(
    batch: int, tower: int, alpha: int, origin: Origin, scale: Scale, seed: int = 0, law: int = 0
) -> Configuration:
    low, high = alpha & (2**64 - 1), alpha >> 64
    parameters: dict[str, Number] = {"batch": batch, "tower": tower, "alpha_lo": low, "alpha_hi": high, "law": law}
    field = f"GF(2^256), alpha=0x{alpha:x}" if tower else "GF(2^128)"
    return Configuration(f"N={batch}, {field}", parameters, origin, scale, seed)
