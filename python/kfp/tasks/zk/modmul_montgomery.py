"""modmul_montgomery: chains of Montgomery products modulo an odd number, the smoke task of the suite."""

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
from kfp.tasks.zk._common import DATA_LAWS, LAWS, draw_law, draw_odd, draw_seed, elements, exact_check
from kfp.tasks.zk.fields import GOLDILOCKS_P, Words, montgomery_multiply, negative_inverse
from kfp.tasks.zk.goldilocks import BLOCK

_SIZES: dict[Scale, tuple[int, ...]] = {"full": (2**20, 2**22, 2**24), "small": (2**8, 2**10, 2**12)}
_HELD_OUT: dict[Scale, int] = {"full": 2**23, "small": 2**9}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (2**18, 2**22), "small": (1, 500)}
_ROUNDS = 8


class ModmulMontgomery(Task):
    name = "modmul_montgomery"
    suite = "zk"
    title = "Chains of Montgomery products (smoke test)"
    regime = "dependent modular products in registers"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "modmul_montgomery",
            (
                Argument(0, "x", "ulong", "read"),
                Argument(1, "c", "ulong", "read"),
                Argument(2, "y", "ulong", "write"),
                Argument(3, "modulus", "ulong", "constant"),
                Argument(4, "neg_inv", "ulong", "constant"),
                Argument(5, "rounds", "uint", "constant"),
                Argument(6, "N", "uint", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("N", 1, 1 << 24, "chains"),
        Range("rounds", 1, 64, "products of a chain"),
    )
    free_sizes = ("N", "rounds")
    exchangeable = ("x", "c")
    data_laws: ClassVar = {"law": DATA_LAWS}
    brief = contract(
        """
For every idx < N: v = x[idx]; rounds times, v = v v / 2^64 + c[idx] modulo `modulus`; y[idx] = v. Division by 2^64 is
multiplication with its inverse, Montgomery's reduction; neg_inv = -1 / modulus mod 2^64. The modulus may be any odd
number from 3 to 2^64 - 1, another one in another run and not always a prime, so sums may need 65 bits. x, c and y are
canonical, 0 to modulus - 1, and 0, 1, modulus - 1 and values around 2^32 are among the inputs.

One thread per chain. The grid is N rounded up to a multiple of the threadgroup; threads with idx >= N must do nothing.
Threadgroup: 256 threads, or fewer if the kernel declares a lower [[max_total_threads_per_threadgroup]].
Right: every output element has the expected bits; a value that is right modulo the modulus but not canonical is wrong.
Scored against the tighter of memory bandwidth, at 24 bytes a chain, and the rate of 64-bit products, at one a round.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(n, "in_distribution", scale) for n in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        n, modulus = draw_odd(rng, *_DRAWN[scale]), draw_modulus(rng)
        rounds = int(rng.integers(1, 2 * _ROUNDS + 1))
        return _configuration(n, "drawn", scale, draw_seed(rng), modulus, rounds, draw_law(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n, modulus, law = (configuration.integer(name) for name in ("N", "modulus", "law"))
        return {"x": elements(rng, n, modulus, law), "c": elements(rng, n, modulus, law)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n, modulus = configuration.integer("N"), configuration.integer("modulus")
        arguments = {
            0: "x",
            1: "c",
            2: "y",
            3: np.uint64(modulus),
            4: np.uint64(negative_inverse(modulus)),
            5: np.uint32(configuration.integer("rounds")),
            6: np.uint32(n),
        }
        dispatch = Dispatch("modmul_montgomery", arguments, *linear(n, 256, caps["modmul_montgomery"]))
        buffers = (given("x", inputs["x"]), given("c", inputs["c"]), blank("y", (n,), np.uint64))
        return Plan(buffers, (dispatch,), {"y": "y"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        modulus, rounds = configuration.integer("modulus"), configuration.integer("rounds")
        y: Words = inputs["x"].astype(np.uint64)
        for start in range(0, y.size, BLOCK):
            block, addend = y[start : start + BLOCK], inputs["c"][start : start + BLOCK]
            room = np.uint64(modulus) - addend
            for _ in range(rounds):
                square = montgomery_multiply(block, block, modulus)
                # square - (modulus - c) wraps around where square + c is below the modulus.
                np.subtract(square, room, out=block)
                block += (square < room) * np.uint64(modulus)
        return {"y": y}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["y"], configuration.integer("modulus"))

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        n = configuration.integer("N")
        return (Demand("dram", 24.0 * n), Demand("u64_multiply", float(n * configuration.integer("rounds"))))


def draw_modulus(rng: np.random.Generator) -> int:
    """An odd number of 2 to 64 bits; half of them have all 64, where sums overflow, some lie near a power of two.

    Some are squares: only there a product of numbers other than 0 comes out as the modulus before the last subtraction.
    """
    if rng.random() < 0.15:
        return draw_odd(rng, 3, 255) ** 2
    bits = 64 if rng.random() < 0.5 else int(rng.integers(2, 64))
    low, high = 1 << (bits - 1), (1 << bits) - 1
    if bits > 8 and rng.random() < 0.25:
        low = high - 254
    return int(rng.integers(low, high, dtype=np.uint64, endpoint=True)) | 1


def _configuration(
    n: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    modulus: int = GOLDILOCKS_P,
    rounds: int = _ROUNDS,
    law: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"N": n, "modulus": modulus, "rounds": rounds, "law": law}
    label = f"N={n}"
    if origin == "drawn":
        label += f", modulus={modulus:#x}, {rounds} rounds, {LAWS[law]}"
    return Configuration(label, parameters, origin, scale, seed)
