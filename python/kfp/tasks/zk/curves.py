"""Curves y^2 = x^3 + b over prime fields: affine points as pairs of Python integers, many additions at a time.

None is the point at infinity. One inversion serves all additions of a call (Montgomery's trick).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from kfp.tasks.zk._common import is_prime

Point: TypeAlias = "tuple[int, int] | None"


@dataclass(frozen=True)
class Curve:
    """y^2 = x^3 + b modulo a prime, with a point on it whose multiples number ``order`` or a divisor of it."""

    name: str
    modulus: int
    b: int
    generator: tuple[int, int]
    order: int


# draft-irtf-cfrg-pairing-friendly-curves-11, 4.2.1.
BLS12_381 = Curve(
    "BLS12-381",
    0x1A0111EA397FE69A4B1BA7B6434BACD764774B84F38512BF6730D2A0F6B0F6241EABFFFEB153FFFFB9FEFFFFFFFFAAAB,
    4,
    (
        0x17F1D3A73197D7942695638C4FA9AC0FC3688C4F9774B905A14E3A3F171BAC586C55E83FF97A1AEFFB3AF00ADB22C6BB,
        0x08B3F481E3AAA0F1A09E30ED741D8AE4FCF5E095D5D00AF600DB18CB2C04B3EDD03CC744A2888AE40CAA232946C5E7E1,
    ),
    0x73EDA753299D7D483339D80809A1D80553BDA402FFFE5BFEFFFFFFFF00000001,
)
# EIP-196.
BN254 = Curve(
    "BN254",
    21888242871839275222246405745257275088696311157297823662689037894645226208583,
    3,
    (1, 2),
    21888242871839275222246405745257275088548364400416034343698204186575808495617,
)

FEWEST_BITS, MOST_BITS = 200, 381


@lru_cache(maxsize=64)
def drawn_curve(seed: int) -> Curve:
    """A curve over a random prime of ``FEWEST_BITS`` to ``MOST_BITS`` bits, a function of the seed alone.

    The prime is 2 modulo 3: cubing is then a permutation of the field, so that the curve has exactly p + 1 points. And
    it is 3 modulo 4, like those of the named curves: square roots are powers.
    """
    rng = np.random.default_rng([0xC0B3, seed])
    bits = int(rng.integers(FEWEST_BITS, MOST_BITS + 1))
    # A quarter each lies close to a power of two, above and below it: limbs of zeros or ones.
    shape = int(rng.integers(0, 4))
    free = bits - 1 if shape > 1 else 40
    fixed = 1 << (bits - 1) if shape else (1 << bits) - (1 << free)
    prime = 0
    while prime % 12 != 11 or not is_prime(prime):
        prime = fixed | (int.from_bytes(rng.bytes(48), "little") & ((1 << free) - 1)) | 1
    b = 0
    while b == 0:
        x, y = (int.from_bytes(rng.bytes(48), "little") % prime for _ in range(2))
        b = (y * y - x**3) % prime
    return Curve(f"a {bits}-bit prime", prime, b, (x, y), prime + 1)


def square_root(value: int, modulus: int) -> int | None:
    """A square root modulo a prime that is 3 modulo 4, if there is one."""
    root = pow(value, (modulus + 1) // 4, modulus)
    return root if root * root % modulus == value % modulus else None


def add_all(curve: Curve, left: Sequence[Point], right: Sequence[Point]) -> list[Point]:
    """The sums left[i] + right[i]."""
    p = curve.modulus
    sums: list[Point] = [None] * len(left)
    numerators: list[int] = []
    denominators: list[int] = []
    places: list[int] = []
    for place, (first, second) in enumerate(zip(left, right, strict=True)):
        if first is None or second is None:
            sums[place] = first or second
            continue
        if first[0] != second[0]:
            numerators.append(second[1] - first[1])
            denominators.append(second[0] - first[0])
        elif (first[1] + second[1]) % p:
            numerators.append(3 * first[0] * first[0])
            denominators.append(2 * first[1])
        else:
            continue
        places.append(place)
    for place, numerator, inverse in zip(places, numerators, _inverses(denominators, p), strict=True):
        (x1, y1), (x2, _) = left[place], right[place]  # type: ignore[misc]
        slope = numerator * inverse % p
        x = (slope * slope - x1 - x2) % p
        sums[place] = (x, (slope * (x1 - x) - y1) % p)
    return sums


def _inverses(values: list[int], p: int) -> list[int]:
    if not values:
        return []
    prefixes = [1]
    for value in values:
        prefixes.append(prefixes[-1] * value % p)
    inverse = pow(prefixes[-1], -1, p)
    results = [0] * len(values)
    for i in range(len(values) - 1, -1, -1):
        results[i] = prefixes[i] * inverse % p
        inverse = inverse * values[i] % p
    return results


def negative(curve: Curve, point: Point) -> Point:
    return None if point is None else (point[0], -point[1] % curve.modulus)


def multiply(curve: Curve, factor: int, point: Point) -> Point:
    """A whole multiple of one point; the factor may be negative."""
    if factor < 0:
        return multiply(curve, -factor, negative(curve, point))
    result: Point = None
    for bit in bin(factor)[2:]:
        result = add_all(curve, [result], [result])[0]
        if bit == "1":
            result = add_all(curve, [result], [point])[0]
    return result


def multiply_generator(curve: Curve, factor: int) -> Point:
    """A whole multiple of the generator: the sum of those by powers of two, which are kept, taken in pairs."""
    bits = bin(factor % curve.order)[:1:-1]
    terms: list[Point] = [power for bit, power in zip(bits, _powers(curve), strict=False) if bit == "1"]
    while len(terms) > 1:
        last = [terms.pop()] if len(terms) % 2 else []
        terms = add_all(curve, terms[::2], terms[1::2]) + last
    return terms[0] if terms else None


@lru_cache(maxsize=64)
def _powers(curve: Curve) -> tuple[Point, ...]:
    """The generator times 1, 2, 4, ..., as far as the order goes."""
    return tuple(_doublings(curve, curve.generator, curve.order.bit_length()))


def _doublings(curve: Curve, point: Point, count: int) -> Iterator[Point]:
    for number in range(count):
        if number:
            point = add_all(curve, [point], [point])[0]
        yield point


def progression(curve: Curve, first: Point, step: Point, count: int) -> list[Point]:
    """Gives first, first + step, first + 2 step, ...: what is there is repeated further along until there is enough."""
    points = [first]
    for stride in _doublings(curve, step, (count - 1).bit_length()):
        further = points[: count - len(points)]
        points += add_all(curve, further, [stride] * len(further))
    return points


def multiples(curve: Curve, factors: Sequence[int], point: Point) -> list[Point]:
    """Many multiples of one point, from tables of those by the digits of the factors."""
    longest = max((abs(factor).bit_length() for factor in factors), default=0)
    # A table costs as much as additions for a tenth of the factors.
    width = max(2, min(12, len(factors).bit_length() - 3))
    results: list[Point] = [None] * len(factors)
    for shift in range(0, longest, width):
        table = progression(curve, None, point, 1 << width)
        point = add_all(curve, table[-1:], [point])[0]
        digits = [table[(abs(factor) >> shift) & ((1 << width) - 1)] for factor in factors]
        results = digits if shift == 0 else add_all(curve, results, digits)
    return [negative(curve, result) if factor < 0 else result for factor, result in zip(factors, results, strict=True)]
