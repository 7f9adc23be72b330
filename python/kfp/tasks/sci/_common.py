"""What several tasks of the suite share: ping-pong buffers, initial fields, exact random numbers, stencil sweeps."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from kfp.tasks.base import Array, Configuration, Scale
from kfp.tasks.ping_pong import PingPong as PingPong

Doubles = npt.NDArray[np.float64]
Words = npt.NDArray[np.uint32]

# Blocks of about this many doubles keep a sweep's temporaries in a core's own cache.
_BLOCK = 1 << 15


def single(value: float) -> float:
    """The value that a kernel sees when ``value`` is bound as ``constant float&``."""
    return float(np.float32(value))


def distinct(rng: np.random.Generator, count: int, low: int, high: int) -> list[int]:
    """``count`` different whole numbers of [low, high], in random order."""
    return [int(value) for value in rng.choice(np.arange(low, high + 1), size=count, replace=False)]


def uniform(rng: np.random.Generator, low: float, high: float, digits: int = 4) -> float:
    """A real number strictly inside (low, high), of few digits so that labels and JSON show it whole."""
    step = 10.0**-digits
    return round(float(rng.uniform(low + step, high - step)), digits)


def draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 1 << 31))


def pulse(shape: tuple[int, ...], sigma: float, configuration: Configuration) -> Doubles:
    """exp(-r^2 / 2 sigma^2) around the middle of a grid, plus ``roughness`` times noise of [0, 1)."""
    field = np.ones((1,) * len(shape))
    for axis, extent in enumerate(shape):
        offset = np.arange(extent) - 0.5 * (extent - 1)
        profile = np.exp(-(offset**2) / (2.0 * sigma**2))
        field = field * profile.reshape([-1 if other == axis else 1 for other in range(len(shape))])
    roughness = configuration.real("roughness")
    if roughness:
        field += roughness * np.random.default_rng(configuration.seed).random(shape)
    return field


def published_roughness(scale: Scale) -> float:
    """None at full scale, as published.

    A smooth centred pulse hides a kernel that swaps two axes or leaves out a row near the edge, where the pulse is all
    but zero; so the small scale and the draws add noise.
    """
    return 0.0 if scale == "full" else 0.25


def draw_roughness(rng: np.random.Generator) -> float:
    return uniform(rng, 0.1, 0.5)


def zero_faces(field: Array) -> Array:
    for axis in range(field.ndim):
        ends = np.moveaxis(field, axis, 0)
        ends[0] = 0
        ends[-1] = 0
    return field


def slabs(shape: tuple[int, ...], first: int, last: int) -> Iterator[slice]:
    """Slices of [first, last) along the first axis, each small enough to stay in cache."""
    rows = max(1, _BLOCK // max(1, int(np.prod(shape[1:]))))
    for start in range(first, last, rows):
        yield slice(start, min(start + rows, last))


def laplacian(u: Doubles, rows: slice) -> Doubles:
    """Sum of the face neighbours minus 2 * ndim * u, over the interior cells of the given rows of the first axis."""
    inner = [slice(1, -1)] * (u.ndim - 1)
    total: Doubles = u[_index(rows, inner, -1)] + u[_index(rows, inner, 1)]
    for axis in range(u.ndim - 1):
        for shifted in (slice(None, -2), slice(2, None)):
            total += u[_index(rows, [*inner[:axis], shifted, *inner[axis + 1 :]])]
    total -= (2.0 * u.ndim) * u[_index(rows, inner)]
    return total


def _index(rows: slice, others: list[slice], shift: int = 0) -> tuple[slice, ...]:
    return (slice(rows.start + shift, rows.stop + shift), *others)


def diffuse(u: Doubles, alpha: float, steps: int) -> Doubles:
    """Takes ``steps`` explicit heat steps with fixed faces; works on two arrays of its own."""
    source: Doubles = u.copy()
    target: Doubles = u.copy()
    for _ in range(steps):
        for rows in slabs(u.shape, 1, u.shape[0] - 1):
            change = laplacian(source, rows)
            change *= alpha
            inner = _index(rows, [slice(1, -1)] * (u.ndim - 1))
            np.add(source[inner], change, out=target[inner])
        source, target = target, source
    return source


def murmur_mix(x: Words) -> Words:
    """The finaliser of Murmur3, in place."""
    shifted = x >> np.uint32(16)
    x ^= shifted
    x *= np.uint32(0x85EBCA6B)
    np.right_shift(x, np.uint32(13), out=shifted)
    x ^= shifted
    x *= np.uint32(0xC2B2AE35)
    np.right_shift(x, np.uint32(16), out=shifted)
    x ^= shifted
    return x
