"""Points as the kernels of the curve tasks have them: Jacobian, in Montgomery form with R = 2^384, 18 words a point.

x = X / Z^2, y = Y / Z^3; Z = 0 is the point at infinity. Every coordinate is six words, lowest first.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kfp.tasks.base import Array, Check
from kfp.tasks.zk._common import METRIC
from kfp.tasks.zk.curves import Curve, Point
from kfp.tasks.zk.fields import Words

LIMBS = 6
POINT_WORDS = 3 * LIMBS
_BYTES = 8 * LIMBS
_R = 1 << (64 * LIMBS)


def limbs(values: Sequence[int]) -> Words:
    """(n, 6) words of n integers below 2^384."""
    data = b"".join([value.to_bytes(_BYTES, "little") for value in values])
    return np.frombuffer(data, "<u8").astype(np.uint64).reshape(-1, LIMBS)


def integers(words: Words) -> list[int]:
    """The integers of (n, 6) words."""
    data = np.ascontiguousarray(words).astype("<u8", copy=False).tobytes()
    return [int.from_bytes(data[start : start + _BYTES], "little") for start in range(0, len(data), _BYTES)]


def encode(curve: Curve, points: Sequence[Point], heights: Sequence[int] | None = None) -> Words:
    """(n, 18) words of affine points; Z is 1, or as ``heights`` says (1 to p - 1)."""
    p = curve.modulus
    coordinates: list[int] = []
    for i, point in enumerate(points):
        z = 1 if heights is None else heights[i]
        if point is None:
            coordinates += (0, 0, 0)
        elif z == 1:
            coordinates += (point[0] * _R % p, point[1] * _R % p, _R % p)
        else:
            square = z * z % p
            coordinates += (point[0] * square * _R % p, point[1] * square * z * _R % p, z * _R % p)
    return limbs(coordinates).reshape(-1, POINT_WORDS)


def affine_words(point: Point) -> Words:
    """The (2, 6) words of a point that isn't at infinity, not in Montgomery form."""
    if point is None:
        raise ValueError("expected a point that isn't at infinity")
    return limbs(point)


def affine_point(words: Words) -> Point:
    """The point whose (2, 6) words ``affine_words`` gave."""
    x, y = integers(words)
    return x, y


def canonical(words: Words, modulus: int) -> Array:
    """Which of (..., 6) words are below the modulus."""
    below: Array = np.zeros(words.shape[:-1], bool)
    same: Array = np.ones(words.shape[:-1], bool)
    bound = limbs([modulus])[0]
    for limb in range(LIMBS - 1, -1, -1):
        below = np.logical_or(below, same & (words[..., limb] < bound[limb]))
        same = np.logical_and(same, words[..., limb] == bound[limb])
    return below


def same_points(curve: Curve, output: Words, expected: Words) -> Array:
    """Which of (n, 18) words are canonical and the same points as those of ``expected``, whose Z is 1 or 0.

    Compared is the affine point, without dividing: with R for Montgomery's factor, X / R = x (Z / R)^2 is
    X R^2 = (x R) Z^2, and likewise Y R^3 = (y R) Z^3.
    """
    p = curve.modulus
    finite: Array = np.any(output[:, 2 * LIMBS :], axis=1)
    same_kind = finite == np.any(expected[:, 2 * LIMBS :], axis=1)
    right: Array = np.logical_and(same_kind, canonical(output.reshape(-1, 3, LIMBS), p).all(axis=1))
    # Where all words agree nothing is left to compute.
    rest = np.flatnonzero(right & finite & (output != expected).any(axis=1))
    square, cube = _R**2 % p, _R**3 % p
    found, wanted = integers(output[rest]), integers(expected[rest])
    for place, row in enumerate(rest):
        x, y, z = found[3 * place : 3 * place + 3]
        z2 = z * z % p
        same_x = (x * square - wanted[3 * place] * z2) % p == 0
        right[row] = same_x and (y * cube - wanted[3 * place + 1] * z2 % p * z) % p == 0
    return right


def points_check(curve: Curve, name: str, output: Words, expected: Words) -> Check:
    """All points of ``output`` are those of ``expected``; ``error`` counts the others."""
    if output.shape != expected.shape or output.dtype != expected.dtype:
        detail = f"{name}: expected {expected.dtype}{list(expected.shape)}, got {output.dtype}{list(output.shape)}"
        return Check(False, float("inf"), 0.0, METRIC, detail)
    right = same_points(curve, output, expected)
    count = int(np.count_nonzero(~right))
    if not count:
        return Check(True, 0.0, 0.0, METRIC)
    first = int(np.argmin(right))
    where = f"{count} of {len(right)} points differ; first {name}[{first}]: "
    return Check(False, float(count), 0.0, METRIC, where + _difference(curve, output[first], expected[first]))


def _difference(curve: Curve, output: Words, expected: Words) -> str:
    coordinates = output.reshape(3, LIMBS)
    for axis, is_canonical in zip("XYZ", canonical(coordinates, curve.modulus), strict=True):
        if not is_canonical:
            return f"{axis} is not canonical (it is at least the modulus)"
    if not expected[2 * LIMBS :].any():
        return "expected the point at infinity, got another one"
    if not output[2 * LIMBS :].any():
        return "got the point at infinity, expected another one"
    p = curve.modulus
    x, _, z = integers(coordinates)
    found = x * pow(z, -2, p) * _R**2 % p
    wanted = integers(expected.reshape(3, LIMBS))[0]
    if found == wanted:
        return "x is right, y is not"
    return f"expected x R = {wanted:#x}, got {found:#x} (affine)"
