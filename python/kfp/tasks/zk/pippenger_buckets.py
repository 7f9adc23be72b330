"""pippenger_buckets: the bucket sums of Pippenger's multi-scalar multiplication, under skewed scalars."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

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
from kfp.tasks.zk.curve_inputs import SCALAR_BITS, SCALAR_WORDS, encode_multiples, point_set
from kfp.tasks.zk.curves import BLS12_381
from kfp.tasks.zk.fields import Words, negative_inverse
from kfp.tasks.zk.jacobian import POINT_WORDS, affine_point, affine_words, limbs, points_check

_WINDOW_BITS, _WINDOWS = {"full": 16, "small": 8}, 4
_SIZES: dict[Scale, tuple[int, ...]] = {"full": (2**12, 2**14, 2**16), "small": (64, 200, 512)}
_HELD_OUT: dict[Scale, tuple[int, float]] = {"full": (2**14, 1.5), "small": (150, 1.5)}
_PER_ADDITION = 16
_MOST_BUCKETS = 1 << 18


class PippengerBuckets(Task):
    name = "pippenger_buckets"
    suite = "zk"
    title = "Bucket sums of Pippenger's algorithm"
    regime = "wide modular multiplication, scattered and skewed"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "pippenger_bucket_scatter",
            (
                Argument(0, "scalars", "ulong", "read"),
                Argument(1, "points_in", "ulong", "read"),
                Argument(2, "buckets", "ulong", "read_write"),
                Argument(3, "q", "ulong", "read"),
                Argument(4, "q_inv_neg", "ulong", "constant"),
                Argument(5, "n_pairs", "uint", "constant"),
                Argument(6, "num_windows", "uint", "constant"),
                Argument(7, "window_bits", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
        ),
    )
    ranges = (
        Range("n_pairs", 1, 2**18, "pairs of a scalar and a point"),
        Range("num_windows", 1, 32, "windows; num_windows * window_bits is at most 256"),
        Range("window_bits", 8, 16, "bits of a window; a window may lie across two words"),
    )
    data_laws: ClassVar = {"zipf": (2.0, 0.8), "support": (2, 1), "special": (1,)}
    brief = contract(
        """
Digit j of a scalar is its bits j * window_bits to (j + 1) * window_bits - 1, for j < num_windows; bits above the last
window don't count. Bucket j * (2^window_bits - 1) + d - 1 is the sum of all points_in[i] whose scalar has digit
d > 0 at window j. Digits of 0 add to no bucket. The sum of no points is the point at infinity.

Points lie on BLS12-381 G1, y^2 = x^3 + 4 modulo q. Words are 64 bits, lowest first. A coordinate is six words in
Montgomery form, c R mod q with R = 2^384, canonical (below q). A point is 18 words, X, Y, Z in Jacobian form:
x = X / Z^2, y = Y / Z^3; Z = 0 is the point at infinity, X and Y any canonical values. q has six words, q_inv_neg is
-1 / q mod 2^64. A scalar is four words, any value below 2^256. Any Jacobian point may come, with any Z, infinity
too; sums of equal and of opposite points occur. Digits may be spread evenly or not: in a window a few buckets, or
one, may get all points. buckets starts as zeros.

One dispatch of num_windows * (2^window_bits - 1) threads, one per bucket, rounded up to a multiple of the
threadgroup; threads past the end must do nothing. Threadgroup: 64, or fewer threads if the kernel declares a lower
[[max_total_threads_per_threadgroup]]. Right: every coordinate is canonical and every bucket the same point,
compared after normalising to affine. Scored against the rate of 64-bit multiplications, 16 modular
ones a sum of two points.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(
            _configuration(n, _WINDOWS, _WINDOW_BITS[scale], 0.0, 0, "in_distribution", scale) for n in _SIZES[scale]
        )

    def published_held_out(self, scale: Scale) -> Configuration:
        n, zipf = _HELD_OUT[scale]
        return _configuration(n, _WINDOWS, _WINDOW_BITS[scale], zipf, 0, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        # A tenth of the windows are wide at the small scale too; there is one of them then.
        bits = int(rng.integers(8, 17 if scale == "full" or rng.random() < 0.1 else 11))
        most = _MOST_BUCKETS if scale == "full" else 1 << 13
        windows = int(rng.integers(1, max(1, min(SCALAR_BITS // bits, most >> bits)) + 1))
        n = draw_odd(rng, 5, 90) if scale == "small" else draw_odd(rng, 2**10, 2**14)
        zipf = 0.0 if rng.random() < 0.25 else round(float(rng.uniform(0.6, 2.0)), 3)
        spread = rng.random()
        support = 0 if spread < 0.5 else 1 if spread < 0.65 else int(rng.integers(2, 17))
        return _configuration(n, windows, bits, zipf, support, "drawn", scale, draw_seed(rng), 1)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        n, windows, bits = _sizes(configuration)
        rng = np.random.default_rng(configuration.seed)
        points = point_set(BLS12_381, rng, n, special=bool(configuration.integer("special")))
        zipf, support = configuration.real("zipf"), configuration.integer("support") or 1 << bits
        digits = np.stack([_digits(rng, n, bits, zipf, support) for _ in range(windows)], axis=1)
        # The points of a pair meet only in the same buckets.
        digits[points.pairs[:, 1]] = digits[points.pairs[:, 0]]
        return {
            "scalars": _scalars(rng, digits, bits),
            "points_in": points.words,
            "multiples": points.factors,
            "base": affine_words(points.base),
        }

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n, windows, bits = _sizes(configuration)
        buckets = windows * ((1 << bits) - 1)
        arguments = {
            0: "scalars",
            1: "points_in",
            2: "buckets",
            3: "q",
            4: np.uint64(negative_inverse(BLS12_381.modulus)),
            5: np.uint32(n),
            6: np.uint32(windows),
            7: np.uint32(bits),
        }
        grid, threadgroup = linear(buckets, 64, caps["pippenger_bucket_scatter"])
        return Plan(
            (
                given("scalars", inputs["scalars"]),
                given("points_in", inputs["points_in"]),
                given("q", limbs([BLS12_381.modulus])[0]),
                given("buckets", np.zeros((buckets, POINT_WORDS), np.uint64), "state"),
            ),
            (Dispatch("pippenger_bucket_scatter", arguments, grid, threadgroup),),
            {"buckets": "buckets"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        _, windows, bits = _sizes(configuration)
        per_window = (1 << bits) - 1
        sums = np.zeros(windows * per_window, np.int64)
        counts = np.zeros(windows * per_window, np.int64)
        for window in range(windows):
            digits = digits_of(inputs["scalars"], window * bits, bits)
            chosen = digits > 0
            places = window * per_window + digits[chosen] - 1
            np.add.at(sums, places, inputs["multiples"][chosen])
            np.add.at(counts, places, 1)
        buckets: Words = np.zeros((len(sums), POINT_WORDS), np.uint64)
        filled = np.flatnonzero(sums)
        if filled.size:
            buckets[filled] = encode_multiples(BLS12_381, affine_point(inputs["base"]), sums[filled].tolist())
        # The first point of a bucket is no addition.
        return {"buckets": buckets, "additions": np.array(np.maximum(counts - 1, 0).sum())}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return points_check(BLS12_381, "buckets", outputs["buckets"], expected["buckets"])

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        n, windows, bits = _sizes(configuration)
        moved = 8.0 * (n * (SCALAR_WORDS + POINT_WORDS) + windows * ((1 << bits) - 1) * POINT_WORDS)
        return (
            Demand("u64_multiply", float(_PER_ADDITION * int(expected["additions"]))),
            Demand("dram", moved),
        )


def _sizes(configuration: Configuration) -> tuple[int, int, int]:
    """Pairs, windows, and bits of a window."""
    return (
        configuration.integer("n_pairs"),
        configuration.integer("num_windows"),
        configuration.integer("window_bits"),
    )


def _digits(rng: np.random.Generator, n: int, bits: int, zipf: float, support: int) -> npt.NDArray[np.int64]:
    """Gives n digits of one window: ``support`` neighbouring values, the one of rank r with weight r^-zipf."""
    weights = np.arange(1, support + 1, dtype=np.float64) ** -zipf
    ranks = np.searchsorted(np.cumsum(weights), rng.random(n) * weights.sum(), side="right").clip(max=support - 1)
    values = (int(rng.integers(0, 1 << bits)) + rng.permutation(support)) % (1 << bits)
    digits: npt.NDArray[np.int64] = values[ranks]
    return digits


def _scalars(rng: np.random.Generator, digits: npt.NDArray[np.int64], bits: int) -> Words:
    """(n, 4) words with these digits, and random bits above the last window."""
    n, windows = digits.shape
    words: Words = rng.integers(0, 1 << 64, (n, SCALAR_WORDS), dtype=np.uint64)
    for bit in range(windows * bits):
        word, shift = divmod(bit, 64)
        values = (digits[:, bit // bits] >> (bit % bits) & 1).astype(np.uint64)
        words[:, word] &= ~np.uint64(1 << shift)
        words[:, word] |= values << np.uint64(shift)
    return words


def digits_of(scalars: Words, first_bit: int, bits: int) -> npt.NDArray[np.int64]:
    """Bits ``first_bit`` to ``first_bit + bits - 1`` of (n, 4) words; they may lie across two words."""
    word, shift = divmod(first_bit, 64)
    values = scalars[:, word] >> np.uint64(shift)
    if shift + bits > 64:
        values = values | scalars[:, word + 1] << np.uint64(64 - shift)
    digits: npt.NDArray[np.int64] = (values & np.uint64((1 << bits) - 1)).astype(np.int64)
    return digits


def _configuration(
    n: int,
    windows: int,
    bits: int,
    zipf: float,
    support: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    special: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"n_pairs": n, "num_windows": windows, "window_bits": bits}
    parameters |= {"zipf": zipf, "support": support, "special": 1 if scale == "small" else special}
    law = f"Zipf {zipf:g}" if zipf else "uniform"
    if support:
        law = "constant windows" if support == 1 else f"{law} on {support} digits"
    return Configuration(f"n={n}, {windows} windows of {bits} bits, {law}", parameters, origin, scale, seed)
