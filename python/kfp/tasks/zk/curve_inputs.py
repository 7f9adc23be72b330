"""Points and scalars for the curve tasks: all points are known multiples of one, which makes the references quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kfp.tasks.zk.curves import Curve, Point, multiples, multiply_generator, negative, square_root
from kfp.tasks.zk.fields import Words
from kfp.tasks.zk.jacobian import LIMBS, encode, integers, limbs

SCALAR_WORDS = 4
SCALAR_BITS = 64 * SCALAR_WORDS

# How scalars are spread; a configuration names one by its index here.
SCALAR_LAWS = ("uniform", "sparse", "small", "equal")


# Beyond the reach of any search for common factors, and small enough for sums of them in 64 bits.
_FACTOR_BITS = 40

# Most pairs of points whose coordinates are chosen: each takes a square root or two.
_MOST_CHOSEN = 32


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points ``factors[i]`` times ``base``, as words.

    ``pairs`` lists (i, j) that show what they are made for if the kernel adds one to the other, i first; those of
    ``bare`` only if it adds the points as they are.
    """

    base: Point
    factors: npt.NDArray[np.int64]
    words: Words
    pairs: npt.NDArray[np.int64]
    bare: npt.NDArray[np.int64]


def point_set(curve: Curve, rng: np.random.Generator, count: int, *, special: bool) -> PointSet:
    """Random multiples of a random multiple of the generator, Z = 1.

    With small multiples, or in arithmetic progression, they would be as quick to make; but then a kernel could find
    what they have in common, and with it the sum without adding them.

    ``special`` brings in what an addition must treat on its own: points at infinity, random Z, pairs of equal and of
    opposite points, and pairs that bring words of zeros and ones into the sums and differences of an addition. The
    points of a pair are half the padded length apart, where the tree of a reduction adds them.
    """
    base = multiply_generator(curve, 1 + random_below(rng, min(curve.order, 1 << 256) - 1))
    factors = rng.integers(1, 1 << _FACTOR_BITS, count)
    points = multiples(curve, factors.tolist(), base)
    none = np.empty((0, 2), np.int64)
    if not special:
        return PointSet(base, factors, encode(curve, points), none, none)
    half = 1 << max(0, (count - 1).bit_length() - 1)
    lower = rng.permutation(count - half)
    kinds = rng.integers(0, 3, lower.size)
    twins = lower[kinds == 0]
    for i in twins:
        sign = int(rng.choice([-1, 1]))
        factors[i + half] = sign * factors[i]
        points[i + half] = points[i] if sign == 1 else negative(curve, points[i])
    heights = [1 if rng.random() < 0.5 else 1 + random_below(rng, curve.modulus - 1) for _ in range(count)]
    bare = lower[kinds == 1][:_MOST_CHOSEN]
    for i in bare:
        heights[i], heights[i + half] = 1, _chosen_height(curve, rng, points[i], points[i + half])
    for i in np.flatnonzero(rng.random(count) < 0.1):
        factors[i], points[i] = 0, None
    pairs = np.concatenate([twins, bare])
    return PointSet(base, factors, encode(curve, points, heights), *(np.stack([i, i + half], 1) for i in (pairs, bare)))


def _chosen_height(curve: Curve, rng: np.random.Generator, left: Point, right: Point) -> int:
    """Z of the right point so that its X, or X of both in common terms apart, is an awkward number; Z of left is 1.

    In the common terms of an addition the left point has X1 Z^2 and the right one X2, in Montgomery form.
    """
    p = curve.modulus
    while True:
        awkward = int(rng.choice(np.array(_awkward(p), object)))
        apart = right[0] - left[0]  # type: ignore[index]
        unscaled = apart if apart and rng.random() < 0.5 else right[0]  # type: ignore[index]
        height = square_root(awkward * pow(unscaled << (64 * LIMBS), -1, p), p)
        if height:
            return height


def _awkward(p: int) -> list[int]:
    """Numbers whose words, or those of their sum with p, are zeros or ones: carries and borrows run through them."""
    words = range(1, (p.bit_length() + 63) // 64)
    found = [1, p - 1]
    for word in words:
        power = 1 << (64 * word)
        found += [power - 1, power, p - power, -p % power, (-p % power) - 1]
    return [number for number in found if 0 < number < p]


def scalars(curve: Curve, rng: np.random.Generator, count: int, law: int) -> Words:
    """(count, 4) words below the order of the curve, and one in eight that is special in its bits or to the curve."""
    name, bound = SCALAR_LAWS[law], min(curve.order, 1 << SCALAR_BITS)
    if name == "uniform":
        values = [random_below(rng, bound) for _ in range(count)]
    elif name == "sparse":
        values = [sum(1 << int(bit) for bit in rng.integers(0, SCALAR_BITS - 1, 3)) for _ in range(count)]
    elif name == "small":
        values = [int(value) for value in rng.integers(0, 1 << 16, count)]
    else:
        values = [random_below(rng, bound)] * count
    edges = [0, 1, 2, 3, (1 << 64) - 1, 1 << 64, 1 << 128, 1 << 255, (1 << SCALAR_BITS) - 1]
    edges += [value for value in (curve.order - 1, curve.order, curve.order + 1) if value < 1 << SCALAR_BITS]
    for place in rng.integers(0, count, -(-count // 8)) if name != "equal" else ():
        values[place] = edges[int(rng.integers(0, len(edges)))]
    return words_of(values)


def words_of(values: Sequence[int]) -> Words:
    """(n, 4) words of n integers below 2^256."""
    words: Words = np.ascontiguousarray(limbs(values)[:, :SCALAR_WORDS])
    return words


def scalar_integers(words: Words) -> list[int]:
    """The integers of (n, 4) words."""
    return integers(np.pad(words, ((0, 0), (0, 2))))


def random_below(rng: np.random.Generator, bound: int) -> int:
    """Uniform on 0 to bound - 1, to within 2^-64."""
    return int.from_bytes(rng.bytes(bound.bit_length() // 8 + 9), "little") % bound


def encode_multiples(curve: Curve, base: Point, factors: Sequence[int]) -> Words:
    """The given multiples of ``base`` as words with Z = 1, or 0 at infinity."""
    return encode(curve, multiples(curve, factors, base))
