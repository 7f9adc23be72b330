"""Curves and the references on them against formulas one point at a time, whole small groups and known points."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.tasks import get_task
from kfp.tasks.base import Arrays, Configuration, Number
from kfp.tasks.zk._common import is_prime
from kfp.tasks.zk.curve_inputs import SCALAR_LAWS, _awkward, point_set, scalar_integers, scalars, words_of
from kfp.tasks.zk.curves import (
    BLS12_381,
    BN254,
    Curve,
    Point,
    add_all,
    drawn_curve,
    multiples,
    multiply,
    multiply_generator,
    negative,
    progression,
    square_root,
)
from kfp.tasks.zk.fields import Words
from kfp.tasks.zk.jacobian import (
    affine_point,
    affine_words,
    canonical,
    encode,
    integers,
    limbs,
    points_check,
    same_points,
)
from kfp.tasks.zk.montgomery_msm import curve_of

R = 1 << 384
CURVES = [BLS12_381, BN254, *(drawn_curve(seed) for seed in range(4))]
# y^2 = x^3 + 3 modulo 59: 60 points, and small enough to have every sum.
SMALL = Curve("a small curve", 59, 3, (1, 2), 60)
curves = pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.name)


def plus(p: int, left: Point, right: Point) -> Point:
    """Chord and tangent, one inversion each."""
    if left is None or right is None:
        return left or right
    if left[0] == right[0] and (left[1] + right[1]) % p == 0:
        return None
    if left == right:
        slope = 3 * left[0] ** 2 * pow(2 * left[1], -1, p)
    else:
        slope = (right[1] - left[1]) * pow(right[0] - left[0], -1, p)
    x = (slope**2 - left[0] - right[0]) % p
    return x, (slope * (left[0] - x) - left[1]) % p


def times(p: int, factor: int, point: Point) -> Point:
    result: Point = None
    while factor:
        if factor & 1:
            result = plus(p, result, point)
        point, factor = plus(p, point, point), factor >> 1
    return result


def decode(p: int, words: Words) -> list[Point]:
    """Affine points of (n, 18) words."""
    points: list[Point] = []
    for x, y, z in np.reshape(np.array(integers(words.reshape(-1, 6)), object), (-1, 3)):
        if z == 0:
            points.append(None)
            continue
        inverse = pow(z * pow(R, -1, p), -1, p)
        points.append((x * pow(R, -1, p) * inverse**2 % p, y * pow(R, -1, p) * inverse**3 % p))
    return points


def on_curve(curve: Curve, point: Point) -> bool:
    return point is None or (point[1] ** 2 - point[0] ** 3 - curve.b) % curve.modulus == 0


def all_points(curve: Curve) -> list[Point]:
    p = curve.modulus
    return [None, *((x, y) for x in range(p) for y in range(p) if on_curve(curve, (x, y)))]


@curves
def test_the_curves_are_what_they_say(curve: Curve) -> None:
    p = curve.modulus
    assert is_prime(p)
    assert p % 4 == 3
    assert p.bit_length() <= 381
    assert curve.b % p
    assert on_curve(curve, curve.generator)
    assert times(p, curve.order, curve.generator) is None
    assert times(p, curve.order - 1, curve.generator) == negative(curve, curve.generator)


def test_known_points() -> None:
    """Twice the generator of BN254, from the tests of EIP-196."""
    doubled = multiply(BN254, 2, BN254.generator)
    assert doubled == (
        1368015179489954701390400359078579693043519447331113978918064868415326638035,
        9918110051302171585080402603319702774565515993150576347155970296011118125764,
    )
    assert is_prime(BN254.order)
    assert is_prime(BLS12_381.order)


def test_drawn_curves_differ_and_reach_the_whole_range() -> None:
    found = [drawn_curve(seed) for seed in range(2, 42)]
    bits = [curve.modulus.bit_length() for curve in found]
    assert len({curve.modulus for curve in found}) == len(found)
    assert min(bits) < 230 < 350 < max(bits)
    # Some lie close to a power of two, above or below.
    assert sum(curve.modulus >> 64 & 2**64 - 1 == 2**64 - 1 for curve in found) >= 4
    assert sum(curve.modulus >> 64 & 2**64 - 1 == 0 for curve in found) >= 4


def test_sums_of_a_whole_group() -> None:
    points = all_points(SMALL)
    assert len(points) == SMALL.order
    left, right = ([a for a in points for _ in points], [b for _ in points for b in points])
    assert add_all(SMALL, left, right) == [plus(59, a, b) for a, b in zip(left, right, strict=True)]
    assert add_all(SMALL, [], []) == []


def test_multiples_of_a_whole_group() -> None:
    for point in all_points(SMALL)[::6]:
        factors = list(range(-70, 130))
        wanted = [times(59, factor % 60, point) for factor in factors]
        assert multiples(SMALL, factors, point) == wanted
        assert [multiply(SMALL, factor, point) for factor in factors] == wanted
    wanted = [times(59, factor % 60, SMALL.generator) for factor in range(-70, 130)]
    assert [multiply_generator(SMALL, factor) for factor in range(-70, 130)] == wanted
    assert multiples(SMALL, [0, 0], SMALL.generator) == [None, None]
    assert multiples(SMALL, [], SMALL.generator) == []


@pytest.mark.parametrize("count", [1, 2, 3, 7, 64, 65])
def test_progressions(count: int) -> None:
    points = all_points(SMALL)
    for first, step in [(points[3], points[17]), (None, points[5]), (points[2], None)]:
        found = progression(SMALL, first, step, count)
        assert found == [reduce(lambda a, b: plus(59, a, b), [step] * i, first) for i in range(count)]


@settings(max_examples=20, deadline=None)
@given(factor=st.integers(-(2**300), 2**300), curve=st.sampled_from(CURVES))
def test_multiples_of_large_factors(factor: int, curve: Curve) -> None:
    wanted = times(curve.modulus, factor % curve.order, curve.generator)
    assert multiply(curve, factor, curve.generator) == wanted
    assert multiply_generator(curve, factor) == wanted
    assert multiples(curve, [factor, 1, 0], curve.generator) == [wanted, curve.generator, None]


def test_square_roots() -> None:
    for value in range(59):
        root = square_root(value, 59)
        assert (root is not None) == (value in {x * x % 59 for x in range(59)})
        assert root is None or root * root % 59 == value


@curves
def test_words_of_points(curve: Curve) -> None:
    p = curve.modulus
    points = [None, *progression(curve, curve.generator, curve.generator, 5)]
    heights = [1, 1, 2, p - 1, p // 2, R % p]
    for words in (encode(curve, points), encode(curve, points, heights)):
        assert words.shape == (6, 18)
        assert decode(p, words) == points
        assert same_points(curve, words, encode(curve, points)).all()
    assert affine_point(affine_words(points[3])) == points[3]
    with pytest.raises(ValueError, match="isn't at infinity"):
        affine_words(None)


def test_canonical() -> None:
    p = BLS12_381.modulus
    values = [0, 1, p - 1, p, p + 1, p + (1 << 64), p - (1 << 320), R - 1, p ^ 1]
    assert canonical(limbs(values), p).tolist() == [value < p for value in values]


def changed(words: Words, change: Callable[[Words], None]) -> Words:
    copy = words.copy()
    change(copy)
    return copy


@curves
def test_the_check_of_points(curve: Curve) -> None:
    p = curve.modulus
    points = [None, *progression(curve, curve.generator, curve.generator, 3)]
    right = encode(curve, points)
    scaled = encode(curve, points, [1, 3, 5, p - 1])
    assert points_check(curve, "points", scaled, right).correct
    infinite = changed(right, lambda words: words[0].__setitem__(slice(0, 12, 6), 1))
    assert points_check(curve, "points", infinite, right).correct

    def refused(words: Words, reason: str) -> None:
        check = points_check(curve, "points", words, right)
        assert not check.correct
        assert reason in check.detail, check.detail

    opposite = encode(curve, [negative(curve, point) for point in points], [1, 3, 5, p - 1])
    refused(opposite, "3 of 4 points differ; first points[1]: x is right, y is not")
    refused(encode(curve, [None, points[1], None, points[3]]), "first points[2]: got the point at infinity")
    refused(encode(curve, [points[1], *points[1:]]), "first points[0]: expected the point at infinity")
    refused(np.roll(scaled, 1, axis=0), "4 of 4 points differ")
    refused(changed(scaled, lambda words: words[3].__setitem__(slice(6, 9), words[3, 6:9][::-1].copy())), "points[3]")
    # The difference is named in affine terms: the point of index 1 is there where that of index 2 should be.
    wanted, got = (encode(curve, [points[i]])[0, :6] for i in (2, 1))
    named = f"x R = {integers(wanted[None])[0]:#x}, got {integers(got[None])[0]:#x} (affine)"
    refused(encode(curve, [None, points[1], points[1], points[3]], [1, 3, 5, 7]), named)
    refused(right[:3], "expected uint64[4, 18], got uint64[3, 18]")
    refused(np.zeros_like(right), "3 of 4 points differ")
    refused(np.full_like(right, 2**64 - 1), "X is not canonical")
    for axis, name in enumerate("XYZ"):
        coordinates = [*integers(right.reshape(-1, 6))]
        coordinates[3 * 2 + axis] += p
        refused(limbs(coordinates).reshape(-1, 18), f"1 of 4 points differ; first points[2]: {name} is not canonical")


@curves
@pytest.mark.parametrize("special", [False, True])
def test_point_sets(curve: Curve, special: bool) -> None:
    points = point_set(curve, np.random.default_rng(5), 41, special=special)
    p = curve.modulus
    found = decode(p, points.words)
    assert canonical(points.words.reshape(-1, 6), p).all()
    assert found == [times(p, int(factor) % curve.order, points.base) for factor in points.factors]
    one = R % p
    heights = integers(points.words[:, 12:])
    if not special:
        assert set(heights) == {one}
        assert not len(points.pairs)
        return
    assert {one, 0} < set(heights)
    assert len(points.bare) >= 2
    for i, j in points.pairs:
        assert j == i + 32
    awkward = set(_awkward(p))
    for i, j in points.bare:
        if found[i] is None or found[j] is None:
            continue
        x, x_of_left = integers(points.words[j, :6][None])[0], found[i][0] * pow(heights[j], 2, p) * pow(R, -1, p) % p
        assert {x, (x - x_of_left) % p} & awkward


@curves
@pytest.mark.parametrize("law", range(len(SCALAR_LAWS)))
def test_scalars(curve: Curve, law: int) -> None:
    words = scalars(curve, np.random.default_rng(1), 40, law)
    assert words.shape == (40, 4)
    values = scalar_integers(words)
    np.testing.assert_array_equal(words_of(values), words)
    if SCALAR_LAWS[law] == "equal":
        assert len(set(values)) == 1
    else:
        assert set(values) & {0, 1, 2, 3, 2**256 - 1, 2**255, 2**64, 2**128, 2**64 - 1, curve.order}


def changed_parameters(name: str, **changes: Number) -> Configuration:
    first = get_task(name).configurations("small")[0]
    return replace(first, parameters={**first.parameters, **changes}, seed=11)


def run(name: str, configuration: Configuration) -> tuple[Arrays, Arrays]:
    inputs = get_task(name).inputs(configuration)
    return inputs, get_task(name).reference(configuration, inputs)


@pytest.mark.parametrize("law", range(len(SCALAR_LAWS)))
@pytest.mark.parametrize("number", [0, 1, 77])
def test_msm(number: int, law: int) -> None:
    """From the words that the kernel sees alone."""
    configuration = changed_parameters("montgomery_msm", n_pairs=13, curve=number, law=law)
    curve = curve_of(configuration)
    p = curve.modulus
    inputs, expected = run("montgomery_msm", configuration)
    points, factors = decode(p, inputs["points_in"]), scalar_integers(inputs["scalars"])
    total: Point = None
    for factor, point in zip(factors, points, strict=True):
        assert on_curve(curve, point)
        total = plus(p, total, times(p, factor, point))
    assert decode(p, expected["sum"]) == [total]


@pytest.mark.parametrize(
    ("windows", "bits", "zipf", "support"),
    [(4, 8, 0.0, 0), (7, 10, 1.5, 0), (2, 9, 0.7, 1), (20, 12, 1.0, 5), (16, 16, 0.0, 3)],
)
def test_buckets(windows: int, bits: int, zipf: float, support: int) -> None:
    """From the words that the kernel sees alone; the windows have as many digits as their law allows."""
    configuration = changed_parameters(
        "pippenger_buckets", n_pairs=45, num_windows=windows, window_bits=bits, zipf=zipf, support=support
    )
    p = BLS12_381.modulus
    inputs, expected = run("pippenger_buckets", configuration)
    points, factors = decode(p, inputs["points_in"]), scalar_integers(inputs["scalars"])
    buckets: dict[int, Point] = {}
    additions = 0
    for window in range(windows):
        digits = [factor >> window * bits & (1 << bits) - 1 for factor in factors]
        assert not support or len(set(digits)) <= support
        for digit, point in zip(digits, points, strict=True):
            if digit:
                place = window * ((1 << bits) - 1) + digit - 1
                additions += place in buckets
                buckets[place] = plus(p, buckets.get(place), point)
    assert expected["additions"] == additions
    filled = {place: point for place, point in buckets.items() if point is not None}
    assert set(np.flatnonzero(expected["buckets"].any(axis=1)).tolist()) == set(filled)
    rows = sorted(filled)
    assert decode(p, expected["buckets"][rows]) == [filled[row] for row in rows]


def test_uniform_windows_have_many_digits_and_skewed_ones_few() -> None:
    distinct = []
    for zipf in (0.0, 0.6, 1.5):
        configuration = changed_parameters("pippenger_buckets", n_pairs=400, zipf=zipf, special=0)
        inputs = get_task("pippenger_buckets").inputs(configuration)
        distinct.append(len({factor & 255 for factor in scalar_integers(inputs["scalars"])}))
    assert distinct[0] > 180
    assert distinct == sorted(distinct, reverse=True)
    assert distinct[2] < 100
