"""Simdgroup and quadgroup functions and matrices against numpy, in 32 lanes of a reference runtime."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from lanes import Lanes
from prelude_image import FAST_MATH, Glue, build, diagnostics

Array = npt.NDArray[np.generic]
LANE = np.arange(32)

TYPES = {"char": np.int8, "uchar": np.uint8, "short": np.int16, "ushort": np.uint16, "int": np.int32, "uint": np.uint32}
TYPES |= {"half": np.float16, "float": np.float32}


def inside(index: npt.NDArray[np.int64], data: Array) -> Array:
    """data[index], or the lane's own where the index leaves the group."""
    valid = (index >= 0) & (index < len(data))
    return np.where(valid, data[np.where(valid, index, 0)], data)


def in_quads(f: Callable[[Array], Array]) -> Callable[[Array], Array]:
    return lambda data: np.concatenate([np.broadcast_to(f(quad), 4) for quad in np.split(data, 8)])


def fill_up(data: Array, delta: int, modulo: int) -> Array:
    """With the negated data as filling."""
    blocks = [np.concatenate([-b[modulo - delta :], b[: modulo - delta]]) for b in np.split(data, 32 // modulo)]
    return np.concatenate(blocks)


def fill_down(data: Array, delta: int, modulo: int) -> Array:
    return np.concatenate([np.concatenate([b[delta:], -b[:delta]]) for b in np.split(data, 32 // modulo)])


# Call on `x`, and what it gives. The data are small whole numbers, so that every order of summation is exact.
OPERATIONS: list[tuple[str, Callable[[Array], Array]]] = [
    ("simd_broadcast(x, 7)", lambda d: np.full_like(d, d[7])),
    ("simd_broadcast_first(x)", lambda d: np.full_like(d, d[0])),
    ("simd_shuffle(x, 31 - lane)", lambda d: d[::-1]),
    ("simd_shuffle(x, 40)", lambda d: d),
    ("simd_shuffle_xor(x, 5)", lambda d: d[LANE ^ 5]),
    ("simd_shuffle_up(x, 3)", lambda d: inside(LANE - 3, d)),
    ("simd_shuffle_down(x, 3)", lambda d: inside(LANE + 3, d)),
    ("simd_shuffle_rotate_up(x, 3)", lambda d: np.roll(d, 3)),
    ("simd_shuffle_rotate_down(x, 3)", lambda d: np.roll(d, -3)),
    ("simd_shuffle_and_fill_up(x, -x, 3)", lambda d: fill_up(d, 3, 32)),
    ("simd_shuffle_and_fill_up(x, -x, 3, 8)", lambda d: fill_up(d, 3, 8)),
    ("simd_shuffle_and_fill_down(x, -x, 3)", lambda d: fill_down(d, 3, 32)),
    ("simd_shuffle_and_fill_down(x, -x, 1, 4)", lambda d: fill_down(d, 1, 4)),
    ("simd_sum(x)", lambda d: np.full_like(d, d.sum(dtype=d.dtype))),
    ("simd_product(x)", lambda d: np.full_like(d, d.prod(dtype=d.dtype))),
    ("simd_min(x)", lambda d: np.full_like(d, d.min())),
    ("simd_max(x)", lambda d: np.full_like(d, d.max())),
    ("simd_prefix_inclusive_sum(x)", lambda d: d.cumsum(dtype=d.dtype)),
    ("simd_prefix_exclusive_sum(x)", lambda d: d.cumsum(dtype=d.dtype) - d),
    ("simd_prefix_inclusive_product(x)", lambda d: d.cumprod(dtype=d.dtype)),
    ("simd_prefix_exclusive_product(x)", lambda d: np.concatenate([[1], d.cumprod(dtype=d.dtype)[:-1]])),
    ("quad_broadcast(x, 2)", in_quads(lambda q: q[2])),
    ("quad_broadcast_first(x)", in_quads(lambda q: q[0])),
    ("quad_shuffle(x, 3 - lane % 4)", in_quads(lambda q: q[::-1])),
    ("quad_shuffle_xor(x, 1)", in_quads(lambda q: q[[1, 0, 3, 2]])),
    ("quad_shuffle_up(x, 1)", in_quads(lambda q: q[[0, 0, 1, 2]])),
    ("quad_shuffle_down(x, 1)", in_quads(lambda q: q[[1, 2, 3, 3]])),
    ("quad_shuffle_rotate_up(x, 1)", in_quads(lambda q: np.roll(q, 1))),
    ("quad_shuffle_rotate_down(x, 1)", in_quads(lambda q: np.roll(q, -1))),
    ("quad_shuffle_and_fill_up(x, -x, 1)", lambda d: fill_up(d, 1, 4)),
    ("quad_shuffle_and_fill_down(x, -x, 1)", lambda d: fill_down(d, 1, 4)),
    ("quad_sum(x)", in_quads(lambda q: q.sum(dtype=q.dtype))),
    ("quad_product(x)", in_quads(lambda q: q.prod(dtype=q.dtype))),
    ("quad_min(x)", in_quads(lambda q: q.min())),
    ("quad_max(x)", in_quads(lambda q: q.max())),
    ("quad_prefix_inclusive_sum(x)", in_quads(lambda q: q.cumsum(dtype=q.dtype))),
    ("quad_prefix_exclusive_sum(x)", in_quads(lambda q: q.cumsum(dtype=q.dtype) - q)),
]
INTEGER_OPERATIONS: list[tuple[str, Callable[[Array], Array]]] = [
    ("simd_and(x)", lambda d: np.full_like(d, np.bitwise_and.reduce(d))),
    ("simd_or(x)", lambda d: np.full_like(d, np.bitwise_or.reduce(d))),
    ("simd_xor(x)", lambda d: np.full_like(d, np.bitwise_xor.reduce(d))),
    ("quad_and(x)", in_quads(np.bitwise_and.reduce)),
    ("quad_or(x)", in_quads(np.bitwise_or.reduce)),
    ("quad_xor(x)", in_quads(np.bitwise_xor.reduce)),
]

PROGRAM = """#include "kfp_prelude.h"
using namespace metal;
template <class T> T negated(T x) { return T(-x); }
"""

VOTES = """
extern "C" void votes(__global ulong* out, uint lane) {
    out += lane * 10;
    out[0] = ulong(simd_ballot(lane % 3 == 0));
    out[1] = ulong(simd_active_threads_mask());
    out[2] = simd_all(lane < 32) + 2 * simd_all(lane < 31) + 4 * simd_any(lane == 5) + 8 * simd_any(lane > 32);
    out[3] = simd_is_first();
    out[4] = ulong(quad_ballot(lane % 3 == 0).operator uint());
    out[5] = quad_all(lane > 3) + 2 * quad_any(lane == 6);
    out[6] = quad_is_first();
    out[7] = simd_ballot(true).all() + 2 * simd_ballot(lane == 9).any() + 4 * simd_ballot(lane > 0).all();
    if (lane >= 20) return;
    out[8] = ulong(simd_ballot(true));
    out[9] = simd_sum(lane);
}
extern "C" void partial(__global float* out, uint lane) {
    if (lane < 3 || lane > 20) return;
    out[lane] = simd_prefix_exclusive_sum(float(lane)) + 1000 * simd_broadcast_first(float(lane));
    out[lane] += 100000 * (simd_shuffle(float(lane), 30) == float(lane));
}
extern "C" void vectors(__global float4* out, uint lane) {
    const float4 v = float4(lane, -float(lane), 1, 2 * lane);
    out[2 * lane] = simd_sum(v);
    out[2 * lane + 1] = simd_max(simd_shuffle_xor(v, 1)) + float4(simd_min(ushort3(lane + 4, 9, 7)).x, 0, 0, 0);
}
extern "C" void barrier(__global uint* out, __global uint* scratch, uint lane) {
    scratch[lane] = lane * lane;
    threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
    out[lane] = scratch[31 - lane];
    simdgroup_barrier(mem_flags::mem_none);
    scratch[lane] = 0;
}
extern "C" void layout(__global float* out, __global const float* a, uint lane) {
    simdgroup_float8x8 m;
    simdgroup_load(m, a);
    out[2 * lane] = m.thread_elements()[0];
    out[2 * lane + 1] = m.thread_elements()[1];
}
extern "C" void matrices(__global float* out, __global const float* a, __global const half* b, uint lane) {
    simdgroup_float8x8 left, right, sum = make_filled_simdgroup_matrix<float, 8, 8>(0.5f);
    simdgroup_half8x8 halves;
    simdgroup_load(left, a, 24, ulong2(8, 3));
    simdgroup_load(right, a, 24, ulong2(0, 0), true);
    simdgroup_load(halves, b);
    simdgroup_multiply_accumulate(sum, left, right, sum);
    simdgroup_store(sum, out);
    simdgroup_store(left * right, out + 64, 8, ulong2(0), true);
    simdgroup_store(simdgroup_float8x8(3), out + 128);
    simdgroup_multiply(halves, halves, simdgroup_half8x8(2));
    sum.thread_elements() = float2(halves.thread_elements());
    simdgroup_store(sum, out + 192);
}
"""


def operations(type_name: str) -> list[tuple[str, Callable[[Array], Array]]]:
    return OPERATIONS + (INTEGER_OPERATIONS if "float" not in type_name and type_name != "half" else [])


def program() -> str:
    functions = []
    for t in TYPES:
        calls = [call.replace("-x", "negated(x)") for call, _ in operations(t)]
        body = "".join(f"out[{32 * n} + lane] = {call};" for n, call in enumerate(calls))
        signature = f"lanes_{t}(__global {t}* out, __global const {t}* in, uint lane)"
        functions.append(f'extern "C" void {signature} {{ const {t} x = in[lane]; {body} }}')
    return PROGRAM + "\n".join(functions) + VOTES


@pytest.fixture(scope="module")
def lanes(glue: Glue, tmp_path_factory: pytest.TempPathFactory) -> Lanes:
    folder = tmp_path_factory.mktemp("simdgroup")
    return Lanes(ctypes.CDLL(build("simdgroup", program(), glue, folder, *FAST_MATH, optimise=("-O1",))))


@pytest.mark.parametrize("type_name", TYPES)
def test_operations(lanes: Lanes, type_name: str) -> None:
    values = np.array([1, 2, 1, 3, 1, 1, 2, 1] * 4) + (LANE == 13)
    if "u" not in type_name:
        values[::5] *= -1
    data = values.astype(TYPES[type_name])
    expected = operations(type_name)
    out = np.zeros((len(expected), 32), dtype=data.dtype)
    lanes.run(f"lanes_{type_name}", out, data)
    with np.errstate(over="ignore"):
        for got, (call, reference) in zip(out, expected, strict=True):
            np.testing.assert_array_equal(got, reference(data).astype(data.dtype), err_msg=call)


def test_votes_and_divergence(lanes: Lanes) -> None:
    out = np.zeros((32, 10), dtype=np.uint64)
    lanes.run("votes", out)
    third = LANE % 3 == 0
    ballot = int(np.sum(1 << LANE[third]))
    np.testing.assert_array_equal(out[:, 0], ballot)
    np.testing.assert_array_equal(out[:, 1], 0xFFFFFFFF)
    np.testing.assert_array_equal(out[:, 2], 1 + 4)
    np.testing.assert_array_equal(out[:, 3], LANE == 0)
    np.testing.assert_array_equal(out[:, 4], [ballot >> (lane // 4 * 4) & 15 for lane in LANE])
    np.testing.assert_array_equal(out[:, 5], (LANE > 3) + 2 * (LANE // 4 == 1))
    np.testing.assert_array_equal(out[:, 6], LANE % 4 == 0)
    np.testing.assert_array_equal(out[:, 7], 1 + 2)
    np.testing.assert_array_equal(out[:20, 8], (1 << 20) - 1)
    np.testing.assert_array_equal(out[:20, 9], 190)


def test_lanes_that_take_no_part_count_for_nothing(lanes: Lanes) -> None:
    out = np.zeros(32, dtype=np.float32)
    lanes.run("partial", out)
    active = LANE[3:21]
    expected = np.cumsum(active) - active + 3000 + 100000
    np.testing.assert_array_equal(out, np.concatenate([np.zeros(3), expected, np.zeros(11)]))


def test_vectors(lanes: Lanes) -> None:
    out = np.zeros((32, 2, 4), dtype=np.float32)
    lanes.run("vectors", out)
    np.testing.assert_array_equal(out[:, 0], np.tile([496, -496, 32, 992], (32, 1)))
    np.testing.assert_array_equal(out[:, 1], np.tile([31 + 4, 0, 1, 62], (32, 1)))


def test_barrier(lanes: Lanes) -> None:
    out, scratch = np.zeros(32, dtype=np.uint32), np.zeros(32, dtype=np.uint32)
    lanes.run("barrier", out, scratch)
    np.testing.assert_array_equal(out, (31 - LANE) ** 2)


def test_matrix_layout(lanes: Lanes) -> None:
    """Each lane has two neighbours of a row; lanes 0, 1, 8, 9 have the first row, as on Apple's GPUs."""
    a = np.arange(64, dtype=np.float32)
    out = np.zeros((32, 2), dtype=np.float32)
    lanes.run("layout", out, a)
    np.testing.assert_array_equal(out[:, 1], out[:, 0] + 1)
    np.testing.assert_array_equal(np.sort(out.ravel()), a)
    np.testing.assert_array_equal(out[[0, 1, 8, 9, 2, 4, 6, 16], 0], [0, 2, 4, 6, 8, 16, 24, 32])


def test_matrices(lanes: Lanes) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(-9, 9, (16, 24)).astype(np.float32)
    b = rng.integers(-9, 9, (8, 8)).astype(np.float16)
    out = np.zeros((4, 8, 8), dtype=np.float32)
    lanes.run("matrices", out, a, b)
    product = a[3:11, 8:16] @ a[:8, :8].T
    np.testing.assert_array_equal(out[0], product + 0.5)
    np.testing.assert_array_equal(out[1], product.T)
    np.testing.assert_array_equal(out[2], 3 * np.eye(8))
    np.testing.assert_array_equal(out[3], 2 * b.astype(np.float32))


def test_types_that_metal_has_no_simd_functions_for(tmp_path: Path) -> None:
    calls = ["simd_shuffle(1ul, 1)", "simd_sum(1l)", "simd_broadcast(true, 1)", "simd_and(1.0f)", "quad_max(1ul)"]
    calls += ["simd_sum(ulong2(1))", "simd_shuffle_xor(bool4(true), 1)", "simd_or(float2(1))"]
    source = '#include "kfp_prelude.h"\nusing namespace metal;\n'
    source += "\n".join(f"void f{n}() {{ {call}; }}" for n, call in enumerate(calls))
    errors = diagnostics(source, tmp_path)
    assert len(errors) == len(calls)
    for call, error in zip(calls, errors, strict=True):
        assert f"no matching function for call to '{call.split('(')[0]}'" in error
