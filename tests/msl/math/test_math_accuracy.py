"""Every math function against float64 references, in both math modes.

The bounds on the error in units in the last place are those of the Metal Shading Language Specification's section on
numerical compliance, tables for single precision with fast math disabled (precise) and enabled (fast). Where the fast
table allows an absolute error, or defines the function by a formula that loses more, ours is held to a few ulp.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from prelude_image import FAST_MATH, PRECISE_MATH, Glue, build

Single = npt.NDArray[np.float32]
Double = npt.NDArray[np.float64]

Image = tuple[str, ctypes.CDLL]
MODES = {"fast": FAST_MATH, "precise": PRECISE_MATH}


def sin_pi(x: Double) -> Double:
    turns = np.where(np.isfinite(x), x, 0.0)
    half_turns = np.rint(2 * turns)
    rest = np.pi * (turns - half_turns / 2)
    quadrant = np.mod(half_turns, 4)
    sine, cosine = np.sin(rest), np.cos(rest)
    value = np.select([quadrant == 0, quadrant == 1, quadrant == 2], [sine, cosine, -sine], -cosine)
    return np.where(np.isfinite(x), value, np.nan)


def cos_pi(x: Double) -> Double:
    turns = np.where(np.isfinite(x), np.mod(x, 2.0), 0.0)
    return np.where(np.isfinite(x), sin_pi(turns + 0.5), np.nan)


def powr(x: Double, y: Double) -> Double:
    undefined = (x < 0) | np.isnan(x) | np.isnan(y) | ((y == 0) & ((x == 0) | np.isinf(x))) | ((x == 1) & np.isinf(y))
    return np.where(undefined, np.nan, np.power(np.abs(x), y))


@dataclass(frozen=True)
class Function:
    name: str
    reference: Callable[..., Double]
    precise_ulp: float
    fast_ulp: float
    # What the fast variant's bound is limited to: |x|, and |x / y|.
    fast_limit: float = np.inf
    fast_quotient_limit: float = np.inf


UNARY = [
    Function("acos", np.arccos, 4, 5),
    Function("acosh", np.arccosh, 4, 4),
    Function("asin", np.arcsin, 4, 5),
    Function("asinh", np.arcsinh, 4, 4),
    Function("atan", np.arctan, 5, 5),
    Function("atanh", np.arctanh, 5, 5),
    Function("cos", np.cos, 4, 4, fast_limit=1e4),
    Function("cosh", np.cosh, 4, 4),
    Function("cospi", cos_pi, 4, 4),
    Function("exp", np.exp, 4, 3),
    Function("exp10", lambda x: np.power(10.0, x), 4, 4),
    Function("exp2", np.exp2, 4, 3),
    Function("log", np.log, 4, 3),
    Function("log10", np.log10, 4, 4),
    Function("log2", np.log2, 4, 3),
    Function("rsqrt", lambda x: 1 / np.sqrt(x), 0.5, 2),
    Function("sin", np.sin, 4, 4, fast_limit=1e4),
    Function("sinh", np.sinh, 4, 4),
    Function("sinpi", sin_pi, 4, 4),
    Function("sqrt", np.sqrt, 0.5, 1),
    Function("tan", np.tan, 6, 6, fast_limit=1e4),
    Function("tanh", np.tanh, 5, 5),
    Function("tanpi", lambda x: sin_pi(x) / cos_pi(x), 6, 6),
]
EXACT = [
    Function("fabs", np.abs, 0, 0),
    Function("ceil", np.ceil, 0, 0),
    Function("floor", np.floor, 0, 0),
    Function("rint", np.rint, 0, 0),
    Function("round", lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x), 0, 0),
    Function("trunc", np.trunc, 0, 0),
]
BINARY = [
    Function("atan2", np.arctan2, 6, 6),
    Function("pow", np.power, 16, 16),
    Function("powr", powr, 16, 16),
    Function("divide", np.divide, 0.5, 2.5),
    Function("fmod", np.fmod, 0, 0, fast_quotient_limit=2.0**28),
    Function("fdim", lambda x, y: np.where(x <= y, 0.0, x - y), 0.5, 0.5),
    Function("fmax", np.fmax, 0, 0),
    Function("fmin", np.fmin, 0, 0),
    Function("max", np.fmax, 0, 0),
    Function("min", np.fmin, 0, 0),
    Function("copysign", np.copysign, 0, 0),
]

EDGES = [0.0, 1e-45, 2.0**-127, 2.0**-126, 2.0**-125, 0.1, 0.25, 0.5, 1 - 2.0**-24, 1.0, 1 + 2.0**-23, 1.5, 2.0, 2.5]
EDGES += [3.0, 4.0, 7.0, 8388607.5, 2.0**23, 2.0**24 - 1, 2.0**24, 2.0**31, 2.0**63]
EDGES += [88.7, 89.5, 103.9, 104.1, 126.5, 127.5, 128.0, 149.0, 150.0, 3.4e38, np.inf, np.nan, np.pi]
EDGES += [np.pi / 2, 38.5, 45.0, 46.0, 1e5, 1e6, 123456792.0, 1e22]


def unary_arguments() -> Single:
    """Every 9973rd bit pattern, denser around the values that functions are evaluated at, and the edges."""
    patterns = np.arange(0, 2**32, 9973, dtype=np.uint64).astype(np.uint32).view(np.float32)
    grids = [np.linspace(-bound, bound, 40001) for bound in (0.01, 1.0, 7.0, 110.0, 12000.0)]
    edges = np.array([*EDGES, *(-e for e in EDGES)])
    return np.concatenate([patterns, *(g.astype(np.float32) for g in grids), edges.astype(np.float32)])


def binary_arguments() -> tuple[Single, Single]:
    rng = np.random.default_rng(7)
    edges = np.array([*EDGES, *(-e for e in EDGES)], dtype=np.float32)
    x, y = (a.ravel() for a in np.meshgrid(edges, edges))
    bits = rng.integers(0, 2**32, (2, 50000), dtype=np.uint32).view(np.float32)
    wide = np.exp(rng.uniform(-10, 10, (2, 50000))) * rng.choice([-1.0, 1.0], (2, 50000))
    modest = np.stack([rng.uniform(0, 4, 50000), rng.uniform(-30, 30, 50000)])
    powers = np.stack([rng.uniform(-9, 9, 20000), rng.integers(-12, 12, 20000)])
    parts = [np.stack([x, y]), bits, wide, modest, powers]
    joined = np.concatenate([p.astype(np.float32) for p in parts], axis=1)
    return joined[0], joined[1]


UNARY_LOOP = """
extern "C" void NAME_all(__global float* o, __global const float* x, int n) {
    for (int i = 0; i < n; ++i) o[i] = metal::NAME(x[i]);
}"""
BINARY_LOOP = """
extern "C" void NAME_all(__global float* o, __global const float* x, __global const float* y, int n) {
    for (int i = 0; i < n; ++i) o[i] = metal::NAME(x[i], y[i]);
}"""


def program() -> str:
    loops = [UNARY_LOOP.replace("NAME", f.name) for f in UNARY + EXACT]
    loops += [BINARY_LOOP.replace("NAME", f.name) for f in BINARY]
    return '#include "kfp_prelude.h"\n' + "".join(loops)


@pytest.fixture(scope="module", params=list(MODES))
def images(request: pytest.FixtureRequest, glue: Glue, tmp_path_factory: pytest.TempPathFactory) -> Image:
    mode: str = request.param
    folder = tmp_path_factory.mktemp("accuracy")
    return mode, ctypes.CDLL(build(f"accuracy_{mode}", program(), glue, folder, *MODES[mode]))


def apply(image: ctypes.CDLL, name: str, *arguments: Single) -> Single:
    out = np.empty_like(arguments[0])
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (out, *arguments)]
    getattr(image, f"{name}_all")(*pointers, ctypes.c_int(len(out)))
    return out


def ulp_errors(got: Single, reference: Double) -> Double:
    """In ulp of the reference; an infinity counts as the number that would follow the largest."""
    limit = 2.0**128
    bounded = np.clip(reference, -limit, limit)
    with np.errstate(over="ignore"):
        spacing = np.spacing(np.fmin(np.abs(bounded), np.finfo(np.float32).max).astype(np.float32))
    difference = np.abs(np.clip(got.astype(np.float64), -limit, limit) - bounded)
    same_nan = np.isnan(got) & np.isnan(reference)
    return np.where(same_nan, 0.0, np.where(np.isnan(got) | np.isnan(reference), np.inf, difference / spacing))


def held_to_bound(f: Function, mode: str, *arguments: Single) -> npt.NDArray[np.bool_]:
    held = np.ones(arguments[0].shape, dtype=bool)
    if mode == "fast":
        x = np.abs(arguments[0])
        held = ~(x > f.fast_limit) | np.isinf(x)
        if len(arguments) == 2:
            quotient = x / np.abs(arguments[1])
            held &= ~(quotient > f.fast_quotient_limit) | np.isinf(x) | (arguments[1] == 0)
    return held


def assert_within(f: Function, mode: str, image: ctypes.CDLL, *arguments: Single) -> None:
    got = apply(image, f.name, *arguments)
    with np.errstate(all="ignore"):
        errors = ulp_errors(got, f.reference(*(a.astype(np.float64) for a in arguments)))
        errors = np.where(held_to_bound(f, mode, *arguments), errors, 0.0)
    bound = f.precise_ulp if mode == "precise" else f.fast_ulp
    worst = int(np.argmax(errors))
    where = ", ".join(f"{float(a[worst])!r}" for a in arguments)
    # Rounding twice, through double, may miss the nearest float by a millionth of an ulp.
    assert errors[worst] <= bound + 1e-6, f"{mode} {f.name}({where}) = {got[worst]!r}: {errors[worst]:.3g} ulp"


@pytest.mark.parametrize("f", UNARY + EXACT, ids=lambda f: f.name)
def test_unary(images: Image, f: Function) -> None:
    assert_within(f, *images, unary_arguments())


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.name)
def test_binary(images: Image, f: Function) -> None:
    assert_within(f, *images, *binary_arguments())
