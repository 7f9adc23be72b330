"""Atomic operations: their results, that concurrent ones lose nothing, and the uses that Metal refuses."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path

import numpy as np
import pytest
from prelude_image import FAST_MATH, Glue, build, diagnostics

PRELUDE = '#include "kfp_prelude.h"\nusing namespace metal;\n#define relaxed memory_order_relaxed\n'

PROGRAM = """
#define EACH(T, name) \\
    out[0] = atomic_fetch_##name##_explicit(a, T(5), relaxed); \\
    out[1] = atomic_load_explicit(a, relaxed); \\
    ++out, out += 1;
extern "C" void unsigned_operations(device atomic<uint>* a, device uint* out) {
    EACH(uint, add) EACH(uint, sub) EACH(uint, and) EACH(uint, or) EACH(uint, xor) EACH(uint, min) EACH(uint, max)
    out[0] = atomic_exchange_explicit(a, 77, relaxed);
    uint expected = 3;
    out[1] = atomic_compare_exchange_weak_explicit(a, &expected, 9, relaxed, relaxed);
    out[2] = expected;
    while (!atomic_compare_exchange_weak_explicit(a, &expected, 9, relaxed, relaxed)) {}
    out[3] = atomic_load_explicit(a, relaxed);
    atomic_store_explicit(a, -1, relaxed);
}
extern "C" void signed_operations(threadgroup atomic<int>* a, device int* out) {
    EACH(int, add) EACH(int, sub) EACH(int, and) EACH(int, or) EACH(int, xor) EACH(int, min) EACH(int, max)
}
extern "C" void float_operations(volatile device atomic<float>& a, device float* out) {
    out[0] = atomic_fetch_add_explicit(&a, 1.5f, relaxed);
    out[1] = atomic_fetch_sub_explicit(&a, 4, relaxed);
    float expected = out[0];
    out[2] = atomic_compare_exchange_weak_explicit(&a, &expected, 8.0f, relaxed, relaxed);
    out[3] = expected;
    out[4] = atomic_exchange_explicit(&a, 0.25f, relaxed);
}
extern "C" void other_operations(device atomic<ulong>* wide, threadgroup atomic_bool* flag, device ulong* out) {
    atomic_max_explicit(wide, 1ul << 40, relaxed);
    out[0] = *(device ulong*)wide;
    atomic_min_explicit(wide, 3, relaxed);
    out[1] = *(device ulong*)wide;
    out[2] = atomic_exchange_explicit(flag, true, relaxed);
    out[3] = atomic_load_explicit(flag, relaxed);
    atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
}
extern "C" void contended(device __kfp_id_atomic_uint* count, device __kfp_id_atomic_float* sum, int n) {
    for (int i = 0; i < n; ++i) {
        atomic_fetch_add_explicit(count, 1, relaxed);
        atomic_fetch_add_explicit(sum, 1.0f, relaxed);
    }
}
"""

ACCEPTED = """
struct Header { atomic<uint> count; uint size; };
void uses(device Header& h, threadgroup atomic<uint> (&bins)[4], device uint* raw, constant atomic<uint>* c) {
    atomic_fetch_add_explicit(&h.count, 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(&bins[h.size & 3], 1, metal::memory_order_relaxed);
    atomic_fetch_add_explicit((device atomic<uint>*)raw, 1, relaxed);
    atomic_fetch_add_explicit(reinterpret_cast<volatile device atomic<uint>*>(&raw[2]), 1, relaxed);
    uint last = atomic_load_explicit(c, relaxed);
}
"""

REFUSED = [
    "atomic<uint> c = d[0];",
    "d[0] = 5;",
    "uint x = d[0];",
    "d[0]++;",
    "d[0] = d[1];",
    "thread atomic<uint> x; atomic_fetch_add_explicit(&x, 1, relaxed);",
    "atomic_fetch_and_explicit(f, 1, relaxed);",
    "atomic_fetch_max_explicit(f, 1, relaxed);",
    "atomic_fetch_add_explicit(plain, 1, relaxed);",
    "atomic_fetch_add_explicit(shared, 1.0f, relaxed);",
    "atomic_store_explicit(shared, 1.0f, relaxed);",
    "atomic_load_explicit(shared, relaxed);",
    "atomic_fetch_add_explicit(d, 1, memory_order_acquire);",
    "atomic_fetch_add_explicit(d, 1);",
    "atomic_fetch_add(d, 1);",
    "device atomic<short>* s = (device atomic<short>*)plain; atomic_load_explicit(s, relaxed);",
    "atomic_fetch_add_explicit(wide, 1, relaxed);",
    "atomic_fetch_add_explicit((const device atomic<uint>*)d, 1, relaxed);",
    "atomic_fetch_add_explicit(d, float2(1), relaxed);",
]


@pytest.fixture(scope="module")
def image(glue: Glue, tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    return ctypes.CDLL(build("atomics", PRELUDE + PROGRAM, glue, tmp_path_factory.mktemp("atomics"), *FAST_MATH))


@pytest.mark.parametrize(("name", "dtype"), [("unsigned_operations", np.uint32), ("signed_operations", np.int32)])
def test_integer_operations(image: ctypes.CDLL, name: str, dtype: type[np.uint32] | type[np.int32]) -> None:
    start = 100 if dtype is np.uint32 else -100
    cell, out = np.array([start], dtype=dtype), np.zeros(18, dtype=dtype)
    getattr(image, name)(*(a.ctypes.data_as(ctypes.c_void_p) for a in (cell, out)))
    value, expected = start, []
    for apply in (
        lambda v: v + 5,
        lambda v: v - 5,
        lambda v: v & 5,
        lambda v: v | 5,
        lambda v: v ^ 5,
        lambda v: min(v, 5),
        lambda v: max(v, 5),
    ):
        expected += [value, apply(value)]
        value = apply(value)
    np.testing.assert_array_equal(out[:14], expected)
    if dtype is np.uint32:
        np.testing.assert_array_equal(out[14:], [5, 0, 77, 9])
        assert cell[0] == 2**32 - 1


def test_float_operations(image: ctypes.CDLL) -> None:
    cell, out = np.array([2.5], dtype=np.float32), np.zeros(5, dtype=np.float32)
    image.float_operations(*(a.ctypes.data_as(ctypes.c_void_p) for a in (cell, out)))
    np.testing.assert_array_equal(out, [2.5, 4.0, 0.0, 0.0, 0.0])
    assert cell[0] == 0.25


def test_wide_and_boolean_operations(image: ctypes.CDLL) -> None:
    wide, flag, out = np.array([7], dtype=np.uint64), np.array([0], dtype=np.uint8), np.zeros(4, dtype=np.uint64)
    image.other_operations(*(a.ctypes.data_as(ctypes.c_void_p) for a in (wide, flag, out)))
    np.testing.assert_array_equal(out, [1 << 40, 3, 0, 1])


def test_concurrent_additions_lose_nothing(image: ctypes.CDLL) -> None:
    count, total = np.zeros(1, dtype=np.uint32), np.zeros(1, dtype=np.float32)
    pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in (count, total)]
    threads = [threading.Thread(target=image.contended, args=(*pointers, 200_000)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert count[0] == 800_000
    assert total[0] == 800_000


def test_accepted(tmp_path: Path) -> None:
    assert diagnostics(PRELUDE + ACCEPTED, tmp_path) == []


def test_refused(tmp_path: Path) -> None:
    parameters = (
        "device atomic<uint>* d, device atomic<float>* f, threadgroup atomic<float>* shared, "
        "device atomic<ulong>* wide, device uint* plain"
    )
    lines = [f"void refused_{n}({parameters}) {{ {statement} }}" for n, statement in enumerate(REFUSED)]
    errors = diagnostics(PRELUDE + "\n".join(lines), tmp_path)
    for n, statement in enumerate(REFUSED):
        assert any(f"program.cl:{n + 4}:" in e for e in errors), statement
