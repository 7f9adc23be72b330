"""Barriers, atomics, simdgroup functions and matrices in kernels on the `cpu` device, fibers and all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from kfp import _core

SOURCE = """#include <metal_stdlib>
using namespace metal;

kernel void total(device const float* in [[buffer(0)]], device float* out [[buffer(1)]],
                  device atomic_uint* tickets [[buffer(2)]], uint gid [[thread_position_in_grid]],
                  uint tid [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                  uint simdgroup [[simdgroup_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
    threadgroup float partial[8];
    threadgroup atomic_int positives;
    if (tid == 0) atomic_store_explicit(&positives, 0, memory_order_relaxed);
    const float sum = simd_sum(in[gid]);
    if (lane == 0) partial[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (in[gid] > 0) atomic_fetch_add_explicit(&positives, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(tickets, 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        const float all = simd_sum(lane < 8 ? partial[lane] : 0.0f);
        if (lane == 0) {
            out[2 * group] = all;
            out[2 * group + 1] = atomic_load_explicit(&positives, memory_order_relaxed);
        }
    }
}

kernel void product(device const float* a [[buffer(0)]], device const float* b [[buffer(1)]],
                    device float* c [[buffer(2)]], constant uint& n [[buffer(3)]],
                    uint2 tile [[threadgroup_position_in_grid]]) {
    simdgroup_float8x8 left, right, sum(0);
    for (uint k = 0; k < n; k += 8) {
        simdgroup_load(left, a, n, ulong2(k, tile.y * 8));
        simdgroup_load(right, b + k * n + tile.x * 8, n);
        simdgroup_multiply_accumulate(sum, left, right, sum);
    }
    simdgroup_store(sum, c + tile.y * 8 * n + tile.x * 8, n);
}

kernel void diverging(device uint* out [[buffer(0)]], uint lane [[thread_position_in_grid]]) {
    uint votes;
    if (lane % 3 == 0) {
        votes = uint(ulong(simd_ballot(true)));
        out[lane] = simd_shuffle_down(lane, 3);
    } else {
        votes = uint(ulong(simd_active_threads_mask()));
        out[lane] = simd_prefix_exclusive_sum(1u);
    }
    out[32 + lane] = votes;
    for (uint i = 0; i < lane; ++i) {
        const uint running = uint(ulong(simd_ballot(true)));
        if (simd_is_first()) out[64 + i] = popcount(running);
    }
    out[96 + lane] = simd_sum(1u) + 100 * quad_sum(lane & 3u);
}
"""

Binding = tuple[Any, ...]
Size = tuple[int, int, int]


def run(
    toolchain: _core.Toolchain,
    kernel: str,
    arrays: list[npt.NDArray[Any]],
    bindings: list[Binding],
    grid: Size,
    threadgroup: Size,
    checked: bool,
) -> list[npt.NDArray[Any]]:
    limits = _core.Limits()
    with _core.Worker("cpu", toolchain, limits) as worker:
        library, report = worker.compile(SOURCE, checked=checked)
        assert report.compile_ok, [d.message for d in report.diagnostics]
        buffers = [(f"b{n}", a.nbytes, "state", a) for n, a in enumerate(arrays)]
        plan = _core.Plan([kernel], buffers, [(0, bindings, grid, threadgroup)])
        execution = worker.prepare(library, plan, checked=checked, order_seed=1)
        worker.run(execution)
        return [worker.read(execution, n).view(a.dtype).reshape(a.shape) for n, a in enumerate(arrays)]


@pytest.fixture(params=[False, True], ids=["plain", "checked"])
def checked(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def test_reduction_and_atomics(toolchain: _core.Toolchain, checked: bool) -> None:
    data = np.random.default_rng(0).integers(-50, 50, 1024).astype(np.float32)
    arrays = [data, np.zeros(8, dtype=np.float32), np.zeros(1, dtype=np.uint32)]
    bindings: list[Binding] = [("buffer", n, n, 0) for n in range(3)]
    _, out, tickets = run(toolchain, "total", arrays, bindings, (1024, 1, 1), (256, 1, 1), checked)
    groups = data.reshape(4, 256)
    np.testing.assert_array_equal(out.reshape(4, 2), np.stack([groups.sum(1), (groups > 0).sum(1)], 1))
    assert tickets[0] == 1024


def test_matrix_product(toolchain: _core.Toolchain, checked: bool) -> None:
    n = 32
    a, b = np.random.default_rng(1).integers(-9, 9, (2, n, n)).astype(np.float32)
    arrays = [a, b, np.zeros((n, n), dtype=np.float32)]
    bindings: list[Binding] = [("buffer", k, k, 0) for k in range(3)] + [("bytes", 3, np.uint32(n).tobytes())]
    c = run(toolchain, "product", arrays, bindings, (n // 8 * 32, n // 8, 1), (32, 1, 1), checked)[2]
    np.testing.assert_array_equal(c, a @ b)


def test_divergence(toolchain: _core.Toolchain, checked: bool) -> None:
    arrays = [np.zeros(128, dtype=np.uint32)]
    out = run(toolchain, "diverging", arrays, [("buffer", 0, 0, 0)], (32, 1, 1), (32, 1, 1), checked)[0]
    lane = np.arange(32)
    third = lane % 3 == 0
    mask = int(np.sum(1 << lane[third]))
    np.testing.assert_array_equal(out[32:64], np.where(third, mask, 0xFFFFFFFF ^ mask))
    shuffled = np.where(lane + 3 < 32, lane + 3, lane)
    np.testing.assert_array_equal(out[:32], np.where(third, shuffled, np.cumsum(~third) - ~third))
    # Iteration i of the loop is run by the lanes above i.
    np.testing.assert_array_equal(out[64:95], 31 - lane[:31])
    np.testing.assert_array_equal(out[96:], 32 + 100 * 6)
