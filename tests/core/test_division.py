"""A division by zero has a value, as on a GPU, and is a fault only where faults are looked for."""

from __future__ import annotations

import platform

import numpy as np
import pytest
from kfp import _core

SOURCE = """#include <metal_stdlib>
using namespace metal;
kernel void divide(device ulong* out [[buffer(0)]], device const uint* in [[buffer(1)]],
                   uint i [[thread_position_in_grid]]) {
    const uint a = in[2 * i], b = in[2 * i + 1];
    device ulong* o = out + 8 * i;
    o[0] = a / b;
    o[1] = a % b;
    o[2] = ulong(int(a) / int(b));
    o[3] = ulong(int(a) % int(b));
    const ulong wide = (ulong(a) + 1) << 32 | 5;
    o[4] = wide / b;
    o[5] = wide % b;
    o[6] = ushort(a) % ushort(b) + (uchar(a) % uchar(b) << 16);
    uint4 v = uint4(a, 7, a, b) / uint4(b, b, 3, 2);
    o[7] = ulong(v.x) << 32 | (v.z ^ v.w);
}
"""
ON_ARM = platform.machine() in ("arm64", "aarch64")
INT_MIN = -(1 << 31)


def wrapped(value: int) -> int:
    return value & (1 << 64) - 1


def of_zero(bits: int) -> int:
    """What x / 0 is."""
    return 0 if ON_ARM else (1 << bits) - 1


def signed(value: int) -> int:
    return value - (1 << 32) if value >> 31 else value


def expected(a: int, b: int) -> list[int]:
    wide = (a + 1) << 32 | 5
    lanes = (a // b if b else of_zero(32)) << 32 | (a // 3 ^ b // 2)
    narrow = (a & 0xFFFF) % (b & 0xFFFF or 0x10000) + ((a & 0xFF) % (b & 0xFF or 0x100) << 16)
    if b == 0:
        quotient = 0 if ON_ARM else -1
        return [of_zero(32), a, wrapped(quotient), wrapped(signed(a)), of_zero(64), wide, narrow, lanes]
    x, y = signed(a), signed(b)
    quotient = abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    remainder = x - quotient * y
    if (x, y) == (INT_MIN, -1):
        quotient = INT_MIN
    return [a // b, a % b, wrapped(quotient), wrapped(remainder), wide // b, wide % b, narrow, lanes]


PAIRS = [(17, 5), (17, 0), (0, 0), (0x80000000, 0xFFFFFFFF), (0xFFFFFFF6, 3), (0xDEADBEEF, 0), (0x12345678, 0x100)] * 9


def plan() -> _core.Plan:
    return _core.Plan(
        ["divide"],
        [("out", 64 * len(PAIRS), "output", None), ("in", 8 * len(PAIRS), "input", np.array(PAIRS, np.uint32))],
        [(0, [("buffer", 0, 0, 0), ("buffer", 1, 1, 0)], (len(PAIRS), 1, 1), (32, 1, 1))],
    )


def test_by_zero_has_a_value(toolchain: _core.Toolchain) -> None:
    with _core.Worker("cpu", toolchain, _core.Limits(run_seconds=5.0)) as worker:
        library, report = worker.compile(SOURCE)
        assert report.compile_ok, report.diagnostics
        execution = worker.prepare(library, plan())
        worker.run(execution)
        rows = worker.read(execution, 0).view(np.uint64).reshape(-1, 8)
        for (a, b), row in zip(PAIRS, rows.tolist(), strict=True):
            assert row == expected(a, b), (a, b)


@pytest.mark.skipif(ON_ARM, reason="arm64 doesn't trap, so a division by zero goes unnoticed")
def test_by_zero_is_a_fault_in_checked_mode(toolchain: _core.Toolchain) -> None:
    with _core.Worker("cpu", toolchain, _core.Limits(run_seconds=5.0)) as worker:
        library, _ = worker.compile(SOURCE, checked=True)
        execution = worker.prepare(library, plan(), checked=True)
        with pytest.raises(_core.WorkerFailure, match="kernel 'divide' divided an integer by zero") as failure:
            worker.run(execution)
    assert failure.value.kind == "fault"
