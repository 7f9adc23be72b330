"""The library calls of the glue, reached as the compiler does: by code for a processor without the instructions."""

from __future__ import annotations

import ctypes
import random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from prelude_image import GENERIC, PRECISE_MATH, Glue, build, compile_glue

PROGRAM = """#include "kfp_prelude.h"
using namespace metal;
typedef unsigned _BitInt(128) wide;
typedef _BitInt(128) signed_wide;
extern "C" void widen_half(__global float* o, __global const half* x, int n) {
    for (int i = 0; i < n; ++i) o[i] = float(x[i]);
}
extern "C" void narrow_half(__global half* o, __global const float* x, int n) {
    for (int i = 0; i < n; ++i) o[i] = half(x[i]);
}
extern "C" void narrow_bfloat(__global bfloat* o, __global const float* x, int n) {
    for (int i = 0; i < n; ++i) o[i] = bfloat(x[i]);
}
extern "C" void rounding(__global float* o, __global const float* x, int n) {
    for (int i = 0; i < n; ++i) {
        o[i] = floor(x[i]);
        o[n + i] = ceil(x[i]);
        o[2 * n + i] = trunc(x[i]);
        o[3 * n + i] = rint(x[i]);
        o[4 * n + i] = round(x[i]);
    }
}
typedef __global const float* floats;
extern "C" void fused(__global float* o, floats x, floats y, floats z, int n) {
    for (int i = 0; i < n; ++i) o[i] = fma(x[i], y[i], z[i]);
}
extern "C" void division(__global wide* o, __global const wide* x, __global const wide* y) {
    o[0] = x[0] / y[0];
    o[1] = x[0] % y[0];
    o[2] = wide(signed_wide(x[0]) / signed_wide(y[0]));
    o[3] = wide(signed_wide(x[0]) % signed_wide(y[0]));
    o[4] = x[0] * y[0];
}
struct Block { uint words[60]; };
extern "C" void copies(__global Block* blocks, uint n) {
    for (uint i = 0; i < n; ++i) {
        const Block copy = blocks[i];
        blocks[n + i] = copy;
        blocks[i] = Block{};
    }
}
"""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("generic")
    return ctypes.CDLL(build("generic", PROGRAM, compile_glue(folder, GENERIC), folder, *PRECISE_MATH, target=GENERIC))


def call(function: Any, *arguments: npt.NDArray[Any] | int) -> None:
    function(*(a if isinstance(a, int) else a.ctypes.data_as(ctypes.c_void_p) for a in arguments))


def floats() -> npt.NDArray[np.float32]:
    """All exponents, and the midpoints between neighbouring halfs and bfloats."""
    bits = np.arange(0, 2**32, 4099, dtype=np.uint64).astype(np.uint32)
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    with np.errstate(invalid="ignore"):
        near_halves = halves.astype(np.float32).view(np.uint32)
    upper = np.arange(65536, dtype=np.uint32) << 16
    midpoints = [near_halves ^ 0x1000, near_halves ^ 0x1001, upper | 0x8000, upper | 0x8001, upper | 0x7FFF]
    return np.concatenate([bits, near_halves, *midpoints]).view(np.float32)


def test_half_to_float(image: ctypes.CDLL) -> None:
    x = np.arange(65536, dtype=np.uint16).view(np.float16)
    o = np.empty(65536, dtype=np.float32)
    call(image.widen_half, o, x, len(x))
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(o, x.astype(np.float32))


def test_float_to_half(image: ctypes.CDLL) -> None:
    x = floats()
    o = np.empty(len(x), dtype=np.float16)
    call(image.narrow_half, o, x, len(x))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(o, x.astype(np.float16))


def test_float_to_bfloat(image: ctypes.CDLL) -> None:
    x = floats()
    o = np.empty(len(x), dtype=np.uint16)
    call(image.narrow_bfloat, o, x, len(x))
    bits = x.view(np.uint32).astype(np.uint64)
    nearest = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    number = ~np.isnan(x)
    np.testing.assert_array_equal(o[number], nearest[number])
    assert np.isnan((o[~number].astype(np.uint32) << 16).view(np.float32)).all()


def test_rounding(image: ctypes.CDLL) -> None:
    edges = [0.5, -0.5, 1.5, 2.5, -2.5, 0.49999997, 8388607.5, 4194304.5, -0.0, 1e9]
    x = np.concatenate([floats(), np.array(edges, dtype=np.float32)])
    o = np.empty((5, len(x)), dtype=np.float32)
    call(image.rounding, o, x, len(x))
    wide = np.where(np.isnan(x), np.nan, x)
    away = np.copysign(np.floor(np.abs(wide.astype(np.float64)) + 0.5), wide)
    for got, expected in zip(o, [np.floor(wide), np.ceil(wide), np.trunc(wide), np.rint(wide), away], strict=True):
        np.testing.assert_array_equal(got, expected)
        np.testing.assert_array_equal(np.signbit(got[~np.isnan(x)]), np.signbit(expected[~np.isnan(x)]))


def test_fused_multiply_add(image: ctypes.CDLL) -> None:
    """On whole numbers whose exact result fits in 63 bits, with many ties."""
    rng = np.random.default_rng(4)
    x, y = rng.integers(-(2**24), 2**24, (2, 20000))
    z = rng.integers(-(2**24), 2**24, 20000) << rng.integers(0, 38, 20000)
    o = np.empty(20000, dtype=np.float32)
    call(image.fused, o, *(a.astype(np.float32) for a in (x, y, z)), 20000)
    np.testing.assert_array_equal(o, (x * y + z).astype(np.float32))


def test_division_of_128_bits(image: ctypes.CDLL) -> None:
    random.seed(8)
    sizes = [(random.randint(1, 128), random.randint(1, 128)) for _ in range(500)]
    cases = [(random.getrandbits(size), random.getrandbits(other) | 1) for size, other in sizes]
    cases += [(2**128 - 1, 1), (2**128 - 1, 2**128 - 1), (0, 5), (2**127, 3), (2**128 - 7, 2)]
    mask = 2**128 - 1

    def words(value: int) -> npt.NDArray[np.uint64]:
        return np.array([value & (2**64 - 1), value >> 64], dtype=np.uint64)

    def as_signed(value: int) -> int:
        return value - 2**128 if value >> 127 else value

    for x, y in cases:
        memory = np.zeros(20, dtype=np.uint64)
        aligned = memory[memory.ctypes.data % 16 // 8 :]
        out, a, b = aligned[:10], aligned[10:12], aligned[12:14]
        a[:], b[:] = words(x), words(y)
        call(image.division, out, a, b)
        got = [int(low) | int(high) << 64 for low, high in out.reshape(5, 2)]
        signed_x, signed_y = as_signed(x), as_signed(y)
        quotient = abs(signed_x) // abs(signed_y) * (1 if (signed_x < 0) == (signed_y < 0) else -1)
        remainder = signed_x - quotient * signed_y
        assert got == [x // y, x % y, quotient & mask, remainder & mask, x * y & mask]


def test_copies(image: ctypes.CDLL) -> None:
    blocks = np.arange(600, dtype=np.uint32)
    expected = blocks[:300].copy()
    call(image.copies, blocks, 5)
    np.testing.assert_array_equal(blocks[300:], expected)
    np.testing.assert_array_equal(blocks[:300], 0)


def test_nothing_but_the_runtime_pointer_is_exported(glue: Glue, tmp_path_factory: pytest.TempPathFactory) -> None:
    empty = ctypes.CDLL(build("empty", '#include "kfp_prelude.h"', glue, tmp_path_factory.mktemp("empty")))
    assert ctypes.c_void_p.in_dll(empty, "__kfp_runtime").value is None
    with pytest.raises(AttributeError):
        _ = empty.memcpy
