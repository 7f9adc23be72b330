"""Kernels that return at once beyond the grid: on every form of guard, exactly the threads inside it leave a mark."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from kfp import _core

Ints: TypeAlias = npt.NDArray[np.int64]
Inside: TypeAlias = Callable[[Ints, Ints, int, int], npt.NDArray[np.bool_]]

WIDTH, HEIGHT = 24, 10
GROUP = (8, 4, 1)

# (what comes first in the body, the type of NX and NY, the threads that go on)
GUARDS: dict[str, tuple[str, str, Inside]] = {
    "both axes": ("if (g.x >= NX || g.y >= NY) return;", "uint", lambda x, y, nx, ny: (x < nx) & (y < ny)),
    "braces, parentheses": (
        "if ((g.x >= NX) || ((g.y >= (NY)))) { return; }",
        "uint",
        lambda x, y, nx, ny: (x < nx) & (y < ny),
    ),
    "names": (
        "const uint i = g.x, j = g.y; if (i >= NX or j >= NY) return;",
        "uint",
        lambda x, y, nx, ny: (x < nx) & (y < ny),
    ),
    "two guards": (
        "if (g.x >= NX) return; uint j = g.y; if (j >= NY) return; if (g.x >= NX - 2) return;",
        "uint",
        lambda x, y, nx, ny: (x < nx - 2) & (y < ny),
    ),
    "expressions": (
        "if (g.x >= 2 * NX - NX || g.y >= NY - 3u + 1u) return;",
        "uint",
        lambda x, y, nx, ny: (x < nx) & (y < ny - 2),
    ),
    "a difference below zero": ("if (g.x >= NX - 200) return;", "uint", lambda x, y, nx, ny: x >= 0),
    "signed bounds": ("if (g.x >= NX || g.y >= NY) return;", "int", lambda x, y, nx, ny: (x < nx) & (y < ny)),
    "a signed bound below zero": ("if (g.x >= NX - 200) return;", "int", lambda x, y, nx, ny: x >= 0),
    "narrow bounds": ("if (g.x >= NX || g.y >= NY) return;", "ushort", lambda x, y, nx, ny: (x < nx) & (y < ny)),
    "wide bounds": ("if (g.x >= NX || g.y >= NY) return;", "long", lambda x, y, nx, ny: (x < nx) & (y < ny)),
    "a wide bound below zero": ("if (g.x >= NX - 200) return;", "long", lambda x, y, nx, ny: x < 0),
    "real bounds": ("if (g.x >= NX - 0.5f) return;", "uint", lambda x, y, nx, ny: x < nx),
    "a literal": ("if (g.x >= 5) return;", "uint", lambda x, y, nx, ny: x < 5),
    "nobody": ("if (g.x >= NX - NX) return;", "uint", lambda x, y, nx, ny: x < 0),
    "and": ("if (g.x >= NX && g.y >= NY) return;", "uint", lambda x, y, nx, ny: (x < nx) | (y < ny)),
    "beyond, not from": ("if (g.x > NX) return;", "uint", lambda x, y, nx, ny: x <= nx),
    "the other way round": ("if (NX <= g.x) return;", "uint", lambda x, y, nx, ny: x < nx),
    "with an else": (
        "if (g.x >= NX) return; else if (g.y >= NY) return;",
        "uint",
        lambda x, y, nx, ny: (x < nx) & (y < ny),
    ),
    "a changed name": ("uint i = g.x; i += 2; if (i >= NX) return;", "uint", lambda x, y, nx, ny: x + 2 < nx),
    "a changed bound": (
        "uint n = NX; n -= 3; if (g.x >= n) return;",
        "uint",
        lambda x, y, nx, ny: x < nx - 3,
    ),
    "after a store": (
        "if (g.x == 23 && g.y == 9) { out[g.y * 24 + g.x] = 7; } if (g.x >= NX) return;",
        "uint",
        lambda x, y, nx, ny: (x < nx) | ((x == 23) & (y == 9)),
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def source() -> str:
    kernels = [
        f"kernel void k{number}(device uint* out [[buffer(0)]], constant {dtype}& NX [[buffer(1)]], "
        f"constant {dtype}& NY [[buffer(2)]], uint2 g [[thread_position_in_grid]]) "
        f"{{ {guard} out[g.y * {WIDTH} + g.x] = 7; }}"
        for number, (guard, dtype, _) in enumerate(GUARDS.values())
    ]
    return "\n".join(["#include <metal_stdlib>", "using namespace metal;", *kernels])


@pytest.mark.parametrize("checked", [False, True], ids=["plain", "checked"])
@pytest.mark.parametrize("padding", [0, 3], ids=["whole", "padded"])
def test_exactly_the_threads_inside(toolchain: _core.Toolchain, source: str, checked: bool, padding: int) -> None:
    grid = (WIDTH - padding, HEIGHT, 1)
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH]
    with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
        library, report = worker.compile(source, checked=checked)
        assert report.compile_ok, [d.message for d in report.diagnostics]
        for number, (name, (_, dtype, inside)) in enumerate(GUARDS.items()):
            for nx, ny in [(21, 7), (WIDTH, HEIGHT), (8, 4), (4, 4), (100, 100)]:
                bound = np.dtype({"uint": "u4", "int": "i4", "ushort": "u2", "long": "i8"}[dtype])
                arguments = [("bytes", slot, bound.type(n).tobytes()) for slot, n in ((1, nx), (2, ny))]
                plan = _core.Plan(
                    [f"k{number}"],
                    [("out", WIDTH * HEIGHT * 4, "state", np.zeros((HEIGHT, WIDTH), dtype=np.uint32))],
                    [(0, [("buffer", 0, 0, 0), *arguments], grid, GROUP)],
                )
                execution = worker.prepare(library, plan, checked=checked)
                worker.run(execution)
                marks = worker.read(execution, 0).view(np.uint32).reshape(HEIGHT, WIDTH)
                expected = inside(x, y, nx, ny) & (x < grid[0])
                np.testing.assert_array_equal(marks == 7, expected, err_msg=f"{name}, {nx} x {ny}")
