"""adi3d: alternating direction implicit diffusion, a tridiagonal solve along every line of one axis per sweep."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.errors import PlanError
from kfp.plan import Dispatch, Plan
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
    Doubles,
    PingPong,
    distinct,
    draw_roughness,
    draw_seed,
    published_roughness,
    pulse,
    single,
    uniform,
    zero_faces,
)

_WIDTH = 32
_PLANES = 4
_SWEEPS = ("adi_x", "adi_y", "adi_z")
_SIZES: dict[Scale, tuple[tuple[int, int, int, int], ...]] = {
    "full": ((64, 64, 64, 20), (96, 96, 96, 15), (128, 128, 128, 10)),
    "small": ((16, 16, 16, 5), (24, 16, 20, 4), (40, 28, 32, 3)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int, int]] = {"full": (256, 192, 128, 10), "small": (37, 29, 23, 4)}


class Adi3d(Task):
    name = "adi3d"
    suite = "sci"
    title = "Implicit diffusion in three dimensions, tridiagonal solves along each axis"
    regime = "R7 wavefront"
    unit = "GB/s"
    kernels = tuple(
        Kernel(
            name,
            (
                Argument(0, "u_in", "float", "read"),
                Argument(1, "u_out", "float", "write"),
                Argument(2, "NX", "uint", "constant"),
                Argument(3, "NY", "uint", "constant"),
                Argument(4, "NZ", "uint", "constant"),
                Argument(5, "mu", "float", "constant"),
            ),
            (_WIDTH, 1, 1),
            min_threads=_WIDTH,
            inputs=("uint2 gid [[thread_position_in_grid]]",),
        )
        for name in _SWEEPS
    )
    ranges = (
        Range("NX", 3, 512, "cells in x"),
        Range("NY", 3, 512, "cells in y"),
        Range("NZ", 3, 512, "cells in z; the axes need not be equal, even, or multiples of the threadgroup"),
        Range("mu", 0.0, 4.0, "diffusion number of one sweep", step=0),
    )
    free_sizes = ("NX", "NY", "NZ")
    free_inputs = (FreeInput("u", -1.0, 1.0),)
    data_laws: ClassVar = {"roughness": (0.5, 0.1)}
    brief = contract(
        """
Alternating direction implicit diffusion. Cell (i, j, k) is element (k * NY + j) * NX + i, i along x. Each dispatch
solves, along every line of its axis, the tridiagonal system
  -mu v[m-1] + (1 + 2 mu) v[m] - mu v[m+1] = u_in[m]   for the inner points m, with both ends of the line fixed: v =
    u_in
and writes v to u_out. Lines that lie on a face of the box copy u_in through unchanged, so every face cell keeps its
value.

One thread per line. adi_x: grid (NY, NZ), j = gid.x, k = gid.y. adi_y: grid (NX, NZ), i = gid.x, k = gid.y. adi_z:
grid (NX, NY), i = gid.x, j = gid.y. The grid is not rounded up, so the last threadgroup of a row may be smaller.
Threadgroup: 32 x 1; a kernel that declares [[max_total_threads_per_threadgroup]] below 32 can't be launched. A step
is the three sweeps x, y, z; the buffers swap after every sweep; all steps of a run are in one command buffer.
Right: max |error| <= 1e-3 + 1e-3 * max |expected| after all steps, face cells exactly as they started. Scored
against memory bandwidth at 24 bytes per cell and step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(size, 0.5, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], 0.5, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_steps = (40, 260, 20) if scale == "full" else (10, 40, 5)
        nx, ny, nz = distinct(rng, 3, low, high)
        steps = int(rng.integers(most_steps // 2, most_steps + 1))
        mu = uniform(rng, 0.1, 2.0)
        return _configuration((nx, ny, nz, steps), mu, "drawn", scale, draw_seed(rng), draw_roughness(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        shape = _shape(configuration)
        sigma = 0.15 * float(np.prod(shape)) ** (1.0 / 3.0)
        return {"u": zero_faces(pulse(shape, sigma, configuration).astype(np.float32))}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        nz, ny, nx = _shape(configuration)
        for kernel in _SWEEPS:
            if caps[kernel] < _WIDTH:
                raise PlanError(
                    f"{kernel}: the contract's threadgroups have {_WIDTH} threads, "
                    f"but the kernel allows max_total_threads_per_threadgroup = {caps[kernel]}"
                )
        sweeps = 3 * configuration.integer("steps")
        u = PingPong("u", inputs["u"], sweeps)
        constants = {2: np.uint32(nx), 3: np.uint32(ny), 4: np.uint32(nz), 5: np.float32(configuration.real("mu"))}
        grids = ((ny, nz, 1), (nx, nz, 1), (nx, ny, 1))
        dispatches = []
        for sweep in range(sweeps):
            source, target = u.at(sweep)
            arguments = {0: source, 1: target, **constants}
            dispatches.append(Dispatch(_SWEEPS[sweep % 3], arguments, grids[sweep % 3], (_WIDTH, 1, 1)))
        return Plan(u.buffers, tuple(dispatches), {"u": u.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        u = inputs["u"].astype(np.float64)
        mu = single(configuration.real("mu"))
        for _ in range(configuration.integer("steps")):
            # Lines along x are gathered some planes at a time: their points lie side by side in memory, so a step along
            # all lines of the box would touch a cache line for each.
            for start in range(0, u.shape[0] - 2, _PLANES):
                planes = u[1:-1, 1:-1][start : start + _PLANES]
                lines = np.ascontiguousarray(planes.transpose(2, 0, 1))
                solve_lines(lines, mu)
                planes[...] = lines.transpose(1, 2, 0)
            solve_lines(u[1:-1, :, 1:-1].transpose(1, 0, 2), mu)
            solve_lines(u[:, 1:-1, 1:-1], mu)
        return {"u": u}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return first_failure(
            max_abs_check(outputs["u"], expected["u"], 1e-3, 1e-3),
            copied_faces_check(outputs["u"], inputs["u"]),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        nz, ny, nx = _shape(configuration)
        return (Demand("dram", 24.0 * nx * ny * nz * configuration.integer("steps")),)


def solve_lines(lines: Doubles, mu: float) -> None:
    """Thomas algorithm in place along the first axis, all lines at once; first and last point fixed."""
    length = lines.shape[0]
    diagonal = 1.0 + 2.0 * mu
    upper = np.zeros(length)
    for m in range(1, length - 1):
        pivot = 1.0 / (diagonal + mu * upper[m - 1])
        upper[m] = -mu * pivot
        lines[m] += mu * lines[m - 1]
        lines[m] *= pivot
    for m in range(length - 2, 0, -1):
        lines[m] -= upper[m] * lines[m + 1]


def _shape(configuration: Configuration) -> tuple[int, int, int]:
    return configuration.integer("NZ"), configuration.integer("NY"), configuration.integer("NX")


def _configuration(
    size: tuple[int, int, int, int],
    mu: float,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    roughness: float | None = None,
) -> Configuration:
    nx, ny, nz, steps = size
    parameters: dict[str, Number] = {"NX": nx, "NY": ny, "NZ": nz, "steps": steps, "mu": mu}
    parameters["roughness"] = published_roughness(scale) if roughness is None else roughness
    return Configuration(f"{nx}x{ny}x{nz}, {steps} steps, mu={mu:g}", parameters, origin, scale, seed)
