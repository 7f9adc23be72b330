"""Points and scalars for the curve tasks: all points are known multiples of one, which makes the references quick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from kfp.tasks.zk.curves import Curve, Point, multiples, multiply, progression
from kfp.tasks.zk.fields import Words
from kfp.tasks.zk.jacobian import encode, integers, limbs

SCALAR_WORDS = 4
SCALAR_BITS = 64 * SCALAR_WORDS

# How scalars are spread; a configuration names one by its index here.
SCALAR_LAWS = ("uniform", "sparse", "small", "equal")


@dataclass(frozen=True, eq=False)
class PointSet:
    """Points ``factors[i]`` times ``base``, as words; ``twins`` lists (i, j) with equal or opposite points."""

    base: Point
    factors: npt.NDArray[np.int64]
    words: Words
    twins: npt.NDArray[np.int64]


def point_set(curve: Curve, rng: np.random.Generator, count: int, *, special: bool) -> PointSet:
    """The points (a + i) G' of a random multiple G' of the generator, Z = 1.

    ``special`` brings in what an addition must treat on its own: points at infinity, equal and opposite points at
    half the padded length from each other, where the tree of a reduction adds them; and random Z.
    """
    base = multiply(curve, 1 + random_below(rng, min(curve.order, 1 << 256) - 1), curve.generator)
    first = int(rng.integers(1, 1 << 12))
    points = progression(curve, multiply(curve, first, base), base, count)
    factors = first + np.arange(count, dtype=np.int64)
    if not special:
        return PointSet(base, factors, encode(curve, points), np.empty((0, 2), np.int64))
    half = 1 << max(0, (count - 1).bit_length() - 1)
    lower = np.flatnonzero(rng.random(count - half) < 0.5)
    twins = np.stack([lower, lower + half], axis=1)
    factors[twins[:, 1]] = factors[twins[:, 0]] * rng.choice([-1, 1], len(twins))
    factors[rng.random(count) < 0.1] = 0
    heights = [1 if rng.random() < 0.5 else 1 + random_below(rng, curve.modulus - 1) for _ in range(count)]
    by_factor = {first + i: point for i, point in enumerate(points)}
    chosen = [_signed(curve, by_factor, int(factor)) for factor in factors]
    return PointSet(base, factors, encode(curve, chosen, heights), twins)


def _signed(curve: Curve, by_factor: dict[int, Point], factor: int) -> Point:
    point = by_factor.get(abs(factor))
    return (point[0], curve.modulus - point[1]) if point is not None and factor < 0 else point


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
