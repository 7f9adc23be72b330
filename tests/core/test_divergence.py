"""Simdgroup operations under divergent control flow give what lanes in lockstep give."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from kfp import _core

HEAD = """#include <metal_stdlib>
using namespace metal;
static uint lanes_here() { return popcount(uint(simd_vote::vote_t(simd_ballot(true)))); }
kernel void k(device uint* out [[buffer(0)]], uint lane [[thread_index_in_simdgroup]],
              uint i [[thread_position_in_grid]]) {
    uint sum = 0;
"""
TAIL = "\n    out[i] = sum;\n}\n"


def bit(lane: int, number: int) -> int:
    return lane >> number & 1


def count(predicate: Callable[[int], bool]) -> int:
    return sum(predicate(lane) for lane in range(32))


# Body, and what `sum` is in a lane.
CASES: dict[str, tuple[str, Callable[[int], int]]] = {
    "one lane in an if": (
        """for (uint r = 0; r < 4; ++r) {
            if (simd_is_first()) sum += uint(simd_vote::vote_t(simd_ballot(true)));
        }""",
        lambda lane: 4 if lane == 0 else 0,
    ),
    "continue before an operation": (
        """for (uint r = 0; r < 5; ++r) {
            if ((lane >> r & 1) != 0) continue;
            sum += lanes_here() << r;
        }""",
        lambda lane: sum(16 << r for r in range(5) if not bit(lane, r)),
    ),
    "continue in a while": (
        """uint r = 0;
        while (r < 5) {
            const uint now = r++;
            if ((lane >> now & 1) != 0) continue;
            sum += lanes_here() << now;
        }""",
        lambda lane: sum(16 << r for r in range(5) if not bit(lane, r)),
    ),
    "continue in a do": (
        """uint r = 0;
        do {
            if ((lane >> r & 1) != 0) continue;
            sum += lanes_here() << r;
        } while (++r < 5);""",
        lambda lane: sum(16 << r for r in range(5) if not bit(lane, r)),
    ),
    "a loop of as many rounds as each lane wants": (
        """for (uint r = 0; r < 3; ++r) {
            for (uint n = 0; n <= (lane + r) % 4; ++n) sum += lanes_here() * (n + 1);
        }""",
        lambda lane: sum(
            count(lambda other, r=r, n=n: (other + r) % 4 >= n) * (n + 1)
            for r in range(3)
            for n in range((lane + r) % 4 + 1)
        ),
    ),
    "break, and all lanes after the loop": (
        """for (uint n = 0;; ++n) {
            if (n >= lane) break;
            sum += lanes_here();
        }
        sum += 1000 * lanes_here();""",
        lambda lane: sum(31 - n for n in range(lane)) + 32000,
    ),
    "return from a loop": (
        """out[i] = 0;
        for (uint n = 0; n < 40; ++n) {
            if (n == lane) { out[i] = sum; return; }
            sum += lanes_here();
        }""",
        lambda lane: sum(31 - n for n in range(lane)),
    ),
    "both branches, then together": (
        """for (uint r = 0; r < 4; ++r) {
            uint mine = 0;
            if (lane % 4 == r) mine = 100 * lanes_here();
            else mine = lanes_here();
            sum += simd_max(mine) + mine;
        }""",
        lambda lane: sum(800 + (800 if lane % 4 == r else 24) for r in range(4)),
    ),
    "a switch": (
        """for (uint r = 0; r < 3; ++r) {
            switch ((lane + r) % 3) {
                case 0: sum += lanes_here(); break;
                case 1: sum += 100 * lanes_here(); break;
                default: sum += 10000 * lanes_here();
            }
        }""",
        lambda lane: sum(
            (1, 100, 10000)[(lane + r) % 3] * count(lambda other, r=r: (other + r) % 3 == (lane + r) % 3)
            for r in range(3)
        ),
    ),
    "a short circuit": (
        """for (uint r = 0; r < 4; ++r) {
            if (lane % 4 != r && simd_all(lane % 4 != r)) sum += 1 << r;
            sum += 100 * (lane % 2 == 0 ? lanes_here() : 0);
        }""",
        lambda lane: sum(1 << r for r in range(4) if lane % 4 != r) + (6400 if lane % 2 == 0 else 0),
    ),
    "groups of equal keys, one after another": (
        """const uint key = lane * 7 % 5;
        bool todo = true;
        for (uint turn = 1; simd_any(todo); ++turn) {
            if (!todo) continue;
            const uint leader = simd_broadcast_first(key);
            if (key != leader) continue;
            sum = 1000 * turn + 32 * lanes_here() + leader;
            todo = false;
        }""",
        lambda lane: (
            1000 * ([0, 2, 4, 1, 3].index(lane * 7 % 5) + 1)
            + 32 * count(lambda other: other % 5 == lane % 5)
            + lane * 7 % 5
        ),
    ),
    "loops in loops": (
        """for (uint a = 0; a < 3; ++a) {
            if (lane % 3 == a) continue;
            uint b = 0;
            while (b < 2 + lane % 2) {
                ++b;
                if (b == 1 && lane < 8) continue;
                sum += lanes_here();
            }
        }""",
        lambda lane: sum(
            count(lambda o, a=a, b=b: o % 3 != a and b <= 2 + o % 2 and not (b == 1 and o < 8))
            for a in range(3)
            if lane % 3 != a
            for b in range(1, 3 + lane % 2)
            if not (b == 1 and lane < 8)
        ),
    ),
}


@pytest.mark.parametrize("checked", [False, True], ids=["normal", "checked"])
@pytest.mark.parametrize("name", CASES)
def test_lockstep(toolchain: _core.Toolchain, name: str, checked: bool) -> None:
    body, expected = CASES[name]
    with _core.Worker("cpu", toolchain, _core.Limits(run_seconds=5.0)) as worker:
        library, report = worker.compile(HEAD + "    " + body + TAIL, checked=checked)
        assert report.compile_ok, report.diagnostics
        plan = _core.Plan(
            ["k"], [("out", 4 * 64, "output", None)], [(0, [("buffer", 0, 0, 0)], (64, 1, 1), (64, 1, 1))]
        )
        execution = worker.prepare(library, plan, checked=checked)
        worker.run(execution)
        assert worker.read(execution, 0).view(np.uint32).tolist() == [expected(lane) for lane in range(32)] * 2


def test_a_large_function_in_several_branches(toolchain: _core.Toolchain) -> None:
    steps = "\n".join(
        f"v = v * 1664525u + {n}u; v ^= simd_max(v) >> {n % 7 + 1}; count += lanes_here();" for n in range(30)
    )
    function = (
        f"struct Heavy {{ uint seed; uint count(uint v) const {{ uint count = seed; {steps} return count; }} }};\n"
    )
    body = """const Heavy heavy{1};
        if (lane < 8) sum = heavy.count(i);
        else if (lane < 20) sum = 1000 + heavy.count(i + 7);
        else sum = 2000 + heavy.count(i + 9);
        sum += heavy.count(sum) << 16;"""
    head, kernel = HEAD.split("kernel", 1)
    with _core.Worker("cpu", toolchain, _core.Limits(run_seconds=5.0)) as worker:
        library, report = worker.compile(f"{head}{function}kernel{kernel}    {body}{TAIL}")
        assert report.compile_ok, report.diagnostics
        plan = _core.Plan(
            ["k"], [("out", 4 * 32, "output", None)], [(0, [("buffer", 0, 0, 0)], (32, 1, 1), (32, 1, 1))]
        )
        execution = worker.prepare(library, plan)
        worker.run(execution)
        both = 30 * 32 + 1 << 16
        apart = [241] * 8 + [1361] * 12 + [2361] * 12
        assert worker.read(execution, 0).view(np.uint32).tolist() == [both + each for each in apart]
