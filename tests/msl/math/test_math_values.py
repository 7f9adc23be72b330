"""Functions with exact results, the half and vector forms, and those that return two results."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from prelude_image import FAST_MATH, PRECISE_MATH, Glue, build

PROGRAM = """#include "kfp_prelude.h"
using namespace metal;
extern "C" void two_results(__global float* o, __global int* e, __global const float* x, int n) {
    for (int i = 0; i < n; ++i) {
        float c, whole;
        int exponent;
        o[i] = sincos(x[i], c);
        o[n + i] = c;
        o[2 * n + i] = modf(x[i], whole);
        o[3 * n + i] = whole;
        o[4 * n + i] = frexp(x[i], exponent);
        o[5 * n + i] = fract(x[i]);
        o[6 * n + i] = nextafter(x[i], 1.0f);
        e[i] = exponent;
        e[n + i] = ilogb(x[i]);
    }
}
extern "C" void scaled(__global float* o, __global const float* x, __global const int* k, int n) {
    for (int i = 0; i < n; ++i) o[i] = ldexp(x[i], k[i]);
}
typedef __global const float* floats;
extern "C" void three(__global float* o, floats x, floats y, floats z, int n) {
    for (int i = 0; i < n; ++i) {
        o[i] = fma(x[i], y[i], z[i]);
        o[n + i] = max3(x[i], y[i], z[i]);
        o[2 * n + i] = min3(x[i], y[i], z[i]);
        o[3 * n + i] = median3(x[i], y[i], z[i]);
        o[4 * n + i] = fmedian3(x[i], y[i], z[i]);
    }
}
typedef __global const half* halves;
#define HALF(name) extern "C" void half_##name(__global half* o, halves x, int n) { \\
    for (int i = 0; i < n; ++i) o[i] = name(x[i]); }
#define HALF2(name) extern "C" void half_##name(__global half* o, halves x, halves y, int n) { \\
    for (int i = 0; i < n; ++i) o[i] = name(x[i], y[i]); }
HALF(sin) HALF(cos) HALF(exp) HALF(exp2) HALF(log) HALF(log2) HALF(sqrt) HALF(rsqrt) HALF(tanh) HALF(atan) HALF(asin)
HALF(floor) HALF(ceil) HALF(trunc) HALF(rint) HALF(fabs)
HALF2(pow) HALF2(fmin) HALF2(fmax) HALF2(atan2) HALF2(copysign) HALF2(fmod)
extern "C" void vectors(__global float* o, __global const float* x) {
    const float4 v(x[0], x[1], x[2], x[3]);
    float4 c;
    int4 e;
    __global float4* out = (__global float4*)o;
    out[0] = sincos(v, c) * 0 + c;
    out[1] = pow(v, 2.0f);
    out[2] = max(v, 0.5f);
    out[3] = float4(fma(v.xyz, v.yzw, 1.0f), fast::exp(v.xy).y);
    out[4] = frexp(v, e) + float4(e);
    out[5] = ldexp(v, int4(2)) + float4(ilogb(v));
    out[6] = float4(half4(floor(half4(v)))) + precise::sqrt(abs(v));
    out[7] = clamp(fast::clamp(v, 0.1f, 0.7f), 0.2f, 0.6f);
}
extern "C" void not_a_number(__global uint* o, __global const float* x) {
    o[0] = isnan(x[0]);
    o[1] = isnan(sqrt(x[1]));
    o[2] = isinf(x[2]);
    o[3] = max(x[0], x[1]) == x[1];
    o[4] = isnan(log(x[1]));
    o[5] = isnan(sin(x[2]));
}
"""


@pytest.fixture(scope="module", params=["fast", "precise"])
def image(request: pytest.FixtureRequest, glue: Glue, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    flags = FAST_MATH if request.param == "fast" else PRECISE_MATH
    return ctypes.CDLL(build("values", PROGRAM, glue, tmp_path_factory.mktemp("values"), *flags))


def call(function: Any, *arguments: npt.NDArray[Any] | int) -> None:
    converted = [a if isinstance(a, int) else a.ctypes.data_as(ctypes.c_void_p) for a in arguments]
    function(*converted)


def samples(count: int = 40000) -> npt.NDArray[np.float32]:
    rng = np.random.default_rng(11)
    bits = rng.integers(0, 2**32, count, dtype=np.uint32).view(np.float32)
    edges = [0.0, -0.0, 1.0, -1.0, 0.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 2.0**-126, 3.4e38, 1 - 2.0**-24, -1e-30]
    with np.errstate(invalid="ignore"):
        values = np.concatenate([bits, rng.normal(0, 10, count), edges])
    return values.astype(np.float32)


def test_two_results(image: ctypes.CDLL) -> None:
    x = samples()
    n = len(x)
    o, e = np.empty((7, n), dtype=np.float32), np.empty((2, n), dtype=np.int32)
    call(image.two_results, o, e, x, n)
    finite = np.isfinite(x)
    moderate = finite & (np.abs(x) < 1000)
    np.testing.assert_allclose(o[0][moderate], np.sin(x[moderate].astype(np.float64)), rtol=1e-6, atol=1e-10)
    np.testing.assert_allclose(o[1][moderate], np.cos(x[moderate].astype(np.float64)), rtol=1e-6, atol=1e-10)
    with np.errstate(invalid="ignore"):
        rest, whole = np.modf(x)
        mantissa, exponent = np.frexp(x)
        step = np.nextafter(x, np.float32(1))
    np.testing.assert_array_equal(o[2], rest)
    np.testing.assert_array_equal(o[3], whole)
    np.testing.assert_array_equal(o[4], mantissa)
    np.testing.assert_array_equal(o[6], step)
    np.testing.assert_array_equal(e[0][finite], exponent[finite])
    ordinary = finite & (x != 0)
    np.testing.assert_array_equal(e[1][ordinary], exponent[ordinary] - 1)
    fraction = np.minimum(x[finite] - np.floor(x[finite]), np.float32(1 - 2.0**-24))
    np.testing.assert_array_equal(o[5][finite], fraction)


def test_ldexp(image: ctypes.CDLL) -> None:
    x = samples()
    k = np.random.default_rng(2).integers(-300, 300, len(x)).astype(np.int32)
    k[:8] = [2**31 - 1, -(2**31), 150, -150, 1, -1, 277, -277]
    o = np.empty_like(x)
    call(image.scaled, o, x, k, len(x))
    with np.errstate(all="ignore"):
        expected = np.ldexp(x.astype(np.float64), np.clip(k, -700, 700)).astype(np.float32)
    np.testing.assert_array_equal(o, expected)


def test_three_arguments(image: ctypes.CDLL) -> None:
    rng = np.random.default_rng(5)
    x, y, z = (rng.normal(0, 3, 5000).astype(np.float32) for _ in range(3))
    o = np.empty((5, 5000), dtype=np.float32)
    call(image.three, o, x, y, z, 5000)
    exact = x.astype(np.float64) * y + z
    np.testing.assert_allclose(o[0], exact, rtol=2.0**-24, atol=2.0**-40)
    stacked = np.stack([x, y, z])
    np.testing.assert_array_equal(o[1], stacked.max(axis=0))
    np.testing.assert_array_equal(o[2], stacked.min(axis=0))
    np.testing.assert_array_equal(o[3], np.median(stacked, axis=0))
    np.testing.assert_array_equal(o[4], np.median(stacked, axis=0))


HALF_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sin": np.sin, "cos": np.cos, "exp": np.exp, "exp2": np.exp2, "log": np.log, "log2": np.log2, "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x), "tanh": np.tanh, "atan": np.arctan, "asin": np.arcsin, "floor": np.floor,
    "ceil": np.ceil, "trunc": np.trunc, "rint": np.rint, "fabs": np.abs,
}  # fmt: skip
HALF_PAIRS: dict[str, Callable[..., Any]] = {
    "pow": np.power, "fmin": np.fmin, "fmax": np.fmax, "atan2": np.arctan2, "copysign": np.copysign, "fmod": np.fmod,
}  # fmt: skip


def assert_half(got: npt.NDArray[np.float16], exact: npt.NDArray[np.float64], name: str) -> None:
    with np.errstate(all="ignore"):
        nearest = exact.astype(np.float16)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(nearest), err_msg=name)
    np.testing.assert_array_max_ulp(np.nan_to_num(got), np.nan_to_num(nearest), maxulp=1)


@pytest.mark.parametrize("name", HALF_FUNCTIONS)
def test_half_of_every_argument(image: ctypes.CDLL, name: str) -> None:
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    o = np.empty_like(x)
    call(getattr(image, f"half_{name}"), o, x, len(x))
    with np.errstate(all="ignore"):
        assert_half(o, HALF_FUNCTIONS[name](x.astype(np.float64)), name)


@pytest.mark.parametrize("name", HALF_PAIRS)
def test_half_pairs(image: ctypes.CDLL, name: str) -> None:
    x, y = np.random.default_rng(1).integers(0, 65536, (2, 60000)).astype(np.uint16).view(np.float16)
    o = np.empty_like(x)
    call(getattr(image, f"half_{name}"), o, x, y, len(x))
    with np.errstate(all="ignore"):
        wide_x, wide_y = x.astype(np.float64), y.astype(np.float64)
        held = ~(np.abs(wide_x / wide_y) > 2.0**28) if name == "fmod" else np.full(x.shape, True)
        assert_half(o[held], HALF_PAIRS[name](wide_x, wide_y)[held], name)


def test_vectors_are_their_components(image: ctypes.CDLL) -> None:
    x = np.array([0.25, 0.75, -1.5, 3.0], dtype=np.float32)
    o = np.empty((8, 4), dtype=np.float32)
    call(image.vectors, o, x)
    mantissa, exponent = np.frexp(x)
    expected = [
        np.cos(x),
        x**2,
        np.maximum(x, 0.5),
        [*(x[:3] * x[1:] + 1), np.exp(x[1])],
        mantissa + exponent,
        4 * x + exponent - 1,
        np.floor(x) + np.sqrt(np.abs(x)),
        np.clip(x, 0.2, 0.6),
    ]
    np.testing.assert_allclose(o, np.array(expected, dtype=np.float32), rtol=1e-6)


def test_not_a_number_survives_fast_math(image: ctypes.CDLL) -> None:
    o = np.zeros(6, dtype=np.uint32)
    call(image.not_a_number, o, np.array([np.nan, -4.0, np.inf], dtype=np.float32))
    np.testing.assert_array_equal(o, 1)
