"""montgomery_msm: multi-scalar multiplication on y^2 = x^3 + b over a prime of up to 381 bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.plan import Dispatch, Plan, given, linear
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
from kfp.tasks.zk._common import draw_odd, draw_seed
from kfp.tasks.zk.curve_inputs import (
    SCALAR_LAWS,
    point_set,
    scalar_integers,
    scalars,
)
from kfp.tasks.zk.curves import BLS12_381, BN254, Curve, drawn_curve, multiply
from kfp.tasks.zk.fields import negative_inverse, words
from kfp.tasks.zk.jacobian import POINT_WORDS, affine_point, affine_words, encode, limbs, points_check

_NAMED = (BLS12_381, BN254)

_SIZES: dict[Scale, tuple[int, ...]] = {"full": (2**12, 2**14, 2**16), "small": (32, 50, 128)}
_HELD_OUT: dict[Scale, int] = {"full": 2**13, "small": 64}
# Multiplications modulo q: 256 doublings and as many additions at most; one addition.
_PER_PAIR, _PER_ADDITION = 4608, 16


class MontgomeryMsm(Task):
    name = "montgomery_msm"
    suite = "zk"
    title = "Multi-scalar multiplication of points"
    regime = "wide modular multiplication"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "montgomery_msm_pair",
            (
                Argument(0, "scalars", "ulong", "read"),
                Argument(1, "points_in", "ulong", "read"),
                Argument(2, "scratch", "ulong", "write"),
                Argument(3, "q", "ulong", "read"),
                Argument(4, "q_inv_neg", "ulong", "constant"),
                Argument(5, "n_pairs", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
        ),
        Kernel(
            "montgomery_msm_reduce",
            (
                Argument(0, "scratch", "ulong", "read_write"),
                Argument(1, "q", "ulong", "read"),
                Argument(2, "q_inv_neg", "ulong", "constant"),
                Argument(3, "half_count", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
        ),
    )
    ranges = (Range("n_pairs", 2, 2**18, "pairs of a scalar and a point"),)
    data_laws: ClassVar = {"law": (2, 1, 3), "special": (1,)}
    brief = contract(
        """
The sum of scalars[i] * points_in[i], i < n_pairs, on a curve y^2 = x^3 + b over the integers modulo a prime q.
BLS12-381 G1 is one such curve; q may be any prime below 2^381 and b any constant (no formula needs it).
Words are 64 bits, lowest first. A coordinate is six words in Montgomery form, c R mod q with R = 2^384, canonical
(below q). A point is 18 words, X, Y, Z in Jacobian form: x = X / Z^2, y = Y / Z^3; Z = 0 is the point at infinity,
X and Y any canonical values. q has six words, q_inv_neg is -1 / q mod 2^64. A scalar is four words, any value
below 2^256. Any Jacobian point may come, with any Z, infinity too; sums of equal and of opposite points occur.

montgomery_msm_pair, once: scratch[idx] = scalars[idx] * points_in[idx] for idx < n_pairs, points of 18 words.
montgomery_msm_reduce, with half_count = m / 2, m / 4, ..., 1 where m is n_pairs rounded up to a power of two:
  scratch[idx] += scratch[idx + half_count] for idx < half_count. The m points of scratch start as zeros.

One thread per pair or sum; grids are rounded up to a multiple of the threadgroup, and threads past the end must do
nothing. Threadgroup: 64, or fewer threads if a kernel declares a lower [[max_total_threads_per_threadgroup]]. All
dispatches are in one command buffer. Right: the coordinates of scratch[0] are canonical and it is the same point,
compared after normalising to affine. Scored against the rate of 64-bit multiplications, 4608 modular
ones a pair and 16 a sum.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(n, 0, "in_distribution", scale) for n in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], 1, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        n = draw_odd(rng, 5, 40) if scale == "small" else draw_odd(rng, 2**11, 2**15)
        curve = int(rng.integers(0, 2)) if rng.random() < 0.25 else int(rng.integers(len(_NAMED), 1 << 31))
        law = int(rng.integers(0, len(SCALAR_LAWS)))
        return _configuration(n, curve, "drawn", scale, draw_seed(rng), law, 1)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        n, curve = configuration.integer("n_pairs"), curve_of(configuration)
        rng = np.random.default_rng(configuration.seed)
        points = point_set(curve, rng, n, special=bool(configuration.integer("special")))
        factors = scalars(curve, rng, n, configuration.integer("law"))
        # The points of a pair meet in the reduction only if their scalars are the same, or 1.
        factors[points.pairs[:, 1]] = factors[points.pairs[:, 0]]
        factors[points.bare] = words([1, 0, 0, 0])
        return {
            "scalars": factors,
            "points_in": points.words,
            "multiples": points.factors,
            "base": affine_words(points.base),
        }

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n, curve = configuration.integer("n_pairs"), curve_of(configuration)
        padded = 1 << (n - 1).bit_length()
        inverse = np.uint64(negative_inverse(curve.modulus))
        grid, threadgroup = linear(n, 64, caps["montgomery_msm_pair"])
        arguments = {0: "scalars", 1: "points_in", 2: "scratch", 3: "q", 4: inverse, 5: np.uint32(n)}
        dispatches = [Dispatch("montgomery_msm_pair", arguments, grid, threadgroup)]
        half = padded // 2
        while half:
            grid, threadgroup = linear(half, 64, caps["montgomery_msm_reduce"])
            arguments = {0: "scratch", 1: "q", 2: inverse, 3: np.uint32(half)}
            dispatches.append(Dispatch("montgomery_msm_reduce", arguments, grid, threadgroup))
            half //= 2
        return Plan(
            (
                given("scalars", inputs["scalars"]),
                given("points_in", inputs["points_in"]),
                given("q", limbs([curve.modulus])[0]),
                given("scratch", np.zeros((padded, POINT_WORDS), np.uint64), "state"),
            ),
            tuple(dispatches),
            {"scratch": "scratch"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        pairs = zip(scalar_integers(inputs["scalars"]), inputs["multiples"].tolist(), strict=True)
        total = sum(scalar * multiple for scalar, multiple in pairs)
        curve = curve_of(configuration)
        return {"sum": encode(curve, [multiply(curve, total, affine_point(inputs["base"]))])}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return points_check(curve_of(configuration), "scratch", outputs["scratch"][:1], expected["sum"])

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        n = configuration.integer("n_pairs")
        multiplications = _PER_PAIR * n + _PER_ADDITION * (n - 1)
        return (
            Demand("u64_multiply", float(multiplications)),
            Demand("dram", 8.0 * n * (4 + 2 * POINT_WORDS)),
        )


def curve_of(configuration: Configuration) -> Curve:
    """The curve by its number: the named ones first, every other number draws one."""
    number = configuration.integer("curve")
    return _NAMED[number] if number < len(_NAMED) else drawn_curve(number)


def _configuration(
    n: int, curve: int, origin: Origin, scale: Scale, seed: int = 0, law: int = 0, special: int = 0
) -> Configuration:
    parameters: dict[str, Number] = {"n_pairs": n, "curve": curve, "law": law}
    # Published are affine points, Z = 1. What small configurations leave out, a small stand-in would never see.
    parameters["special"] = 1 if scale == "small" else special
    name = _NAMED[curve].name if curve < len(_NAMED) else f"curve {curve}"
    return Configuration(f"n={n}, {name}, {SCALAR_LAWS[law]} scalars", parameters, origin, scale, seed)
