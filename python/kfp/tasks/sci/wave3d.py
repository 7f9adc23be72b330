"""wave3d: second-order wave equation in a box, seven-point stencil, three rotating buffers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.plan import Dispatch, Plan, blank, given, tiled_3d
from kfp.tasks.base import (
    Argument,
    Array,
    Arrays,
    Check,
    Configuration,
    Demand,
    FreeInput,
    Kernel,
    Number,
    Origin,
    Range,
    Scale,
    Task,
    contract,
    copied_faces_check,
    first_failure,
    max_abs_check,
)
from kfp.tasks.sci._common import (
    distinct,
    draw_roughness,
    draw_seed,
    laplacian,
    published_roughness,
    pulse,
    single,
    slabs,
    uniform,
    zero_faces,
)

_SIZES: dict[Scale, tuple[tuple[int, int, int, int], ...]] = {
    "full": ((64, 64, 64, 30), (160, 160, 160, 20), (192, 192, 192, 15)),
    "small": ((16, 16, 16, 9), (24, 16, 20, 12), (32, 40, 28, 10)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int, int]] = {"full": (128, 128, 128, 20), "small": (23, 29, 19, 11)}


class Wave3d(Task):
    name = "wave3d"
    suite = "sci"
    title = "Wave equation in three dimensions, seven-point stencil"
    regime = "R1 stencil"
    unit = "GB/s"
    kernels = (
        Kernel(
            "wave_step",
            (
                Argument(0, "u_prev", "float", "read"),
                Argument(1, "u_curr", "float", "read"),
                Argument(2, "u_next", "float", "write"),
                Argument(3, "NX", "uint", "constant"),
                Argument(4, "NY", "uint", "constant"),
                Argument(5, "NZ", "uint", "constant"),
                Argument(6, "alpha", "float", "constant"),
            ),
            (8, 8, 4),
            inputs=("uint3 gid [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("NX", 3, 1024, "cells in x"),
        Range("NY", 3, 1024, "cells in y"),
        Range("NZ", 3, 1024, "cells in z; the axes need not be equal, even, or multiples of the threadgroup"),
        Range("alpha", 0.0, 1.0 / 3.0, "square of the Courant number", step=0),
    )
    free_sizes = ("NX", "NY", "NZ")
    free_inputs = (FreeInput("u_curr", -1.0, 1.0, also=("u_prev",)),)
    data_laws: ClassVar = {"roughness": (0.5, 0.1)}
    brief = contract(
        """
One leapfrog step of the wave equation per dispatch. Cell (i, j, k) is element (k * NY + j) * NX + i, i along x.
Interior cells: u_next = 2 u_curr - u_prev + alpha * (sum of the six face neighbours of u_curr - 6 u_curr). Cells on
a face of the box copy u_curr through unchanged.

One thread per cell, (i, j, k) = gid. The grid is (NX, NY, NZ) rounded up to whole threadgroups, so threads outside
must do nothing. Threadgroup: 8 x 8 x 4; under a lower [[max_total_threads_per_threadgroup]] z is halved first, then
y, then x, until it fits. Three buffers rotate (next becomes curr, curr becomes prev); all steps of a run are in one
command buffer. Right: max |error| <= 1e-4 + 1e-5 * max |expected| after all steps, face cells exactly as they
started. Scored against memory bandwidth at 12 bytes per cell and step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(size, 0.18, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], 0.18, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_steps = (48, 200, 30) if scale == "full" else (12, 40, 14)
        nx, ny, nz = distinct(rng, 3, low, high)
        steps = int(rng.integers(most_steps // 2, most_steps + 1))
        alpha = uniform(rng, 0.05, 0.30)
        return _configuration((nx, ny, nz, steps), alpha, "drawn", scale, draw_seed(rng), draw_roughness(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        shape = _shape(configuration)
        u = zero_faces(pulse(shape, 0.1 * min(shape), configuration).astype(np.float32))
        return {"u_prev": u, "u_curr": u.copy()}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        nz, ny, nx = _shape(configuration)
        steps = configuration.integer("steps")
        names = ("u_0", "u_1", "u_2")
        final = names[(steps + 1) % 3]
        buffers = (
            given(names[0], inputs["u_prev"], "state"),
            given(names[1], inputs["u_curr"], "state"),
            blank(names[2], (nz, ny, nx), np.float32, "output" if final == names[2] else "scratch"),
        )
        grid, threadgroup = tiled_3d(nx, ny, nz, caps["wave_step"])
        constants = {
            3: np.uint32(nx),
            4: np.uint32(ny),
            5: np.uint32(nz),
            6: np.float32(configuration.real("alpha")),
        }
        dispatches = tuple(
            Dispatch(
                "wave_step",
                {0: names[step % 3], 1: names[(step + 1) % 3], 2: names[(step + 2) % 3], **constants},
                grid,
                threadgroup,
            )
            for step in range(steps)
        )
        return Plan(buffers, dispatches, {"u": final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        alpha = single(configuration.real("alpha"))
        # The next state replaces the previous one in place: a cell needs only its own previous value.
        previous = inputs["u_prev"].astype(np.float64)
        current = inputs["u_curr"].astype(np.float64)
        for _ in range(configuration.integer("steps")):
            for rows in slabs(current.shape, 1, current.shape[0] - 1):
                inner = (rows, slice(1, -1), slice(1, -1))
                change = laplacian(current, rows)
                change *= alpha
                change += 2.0 * current[inner]
                np.subtract(change, previous[inner], out=previous[inner])
            previous, current = current, previous
        return {"u": current}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return first_failure(
            max_abs_check(outputs["u"], expected["u"], 1e-4, 1e-5),
            copied_faces_check(outputs["u"], inputs["u_curr"]),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        nz, ny, nx = _shape(configuration)
        return (Demand("dram", 12.0 * nx * ny * nz * configuration.integer("steps")),)


def _shape(configuration: Configuration) -> tuple[int, int, int]:
    return configuration.integer("NZ"), configuration.integer("NY"), configuration.integer("NX")


def _configuration(
    size: tuple[int, int, int, int],
    alpha: float,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    roughness: float | None = None,
) -> Configuration:
    nx, ny, nz, steps = size
    parameters: dict[str, Number] = {"NX": nx, "NY": ny, "NZ": nz, "steps": steps, "alpha": alpha}
    parameters["roughness"] = published_roughness(scale) if roughness is None else roughness
    return Configuration(f"{nx}x{ny}x{nz}, {steps} steps, alpha={alpha:g}", parameters, origin, scale, seed)
