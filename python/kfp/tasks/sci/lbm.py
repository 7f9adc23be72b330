"""lbm: lattice Boltzmann method D2Q9, pull streaming and BGK collision on a periodic plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.plan import Dispatch, Plan, tiled_2d
from kfp.tasks.base import (
    Argument,
    Array,
    Arrays,
    Check,
    Configuration,
    Demand,
    Kernel,
    Number,
    Origin,
    Range,
    Scale,
    Task,
    contract,
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
)

CX = (0, 1, 0, -1, 0, 1, -1, -1, 1)
CY = (0, 0, 1, 0, -1, 1, 1, -1, -1)
W = (4 / 9, *(1 / 9,) * 4, *(1 / 36,) * 4)

_SIZES: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((64, 64, 50), (128, 128, 100), (256, 256, 100)),
    "small": ((16, 16, 8), (24, 20, 13), (40, 32, 10)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int]] = {"full": (192, 192, 75), "small": (27, 31, 11)}


class Lbm(Task):
    name = "lbm"
    suite = "sci"
    title = "Lattice Boltzmann D2Q9, pull streaming, BGK collision"
    regime = "R3 multi-field"
    unit = "GB/s"
    kernels = (
        Kernel(
            "lbm_step",
            (
                Argument(0, "f_in", "float", "read"),
                Argument(1, "f_out", "float", "write"),
                Argument(2, "NX", "uint", "constant"),
                Argument(3, "NY", "uint", "constant"),
                Argument(4, "tau", "float", "constant"),
            ),
            (16, 16, 1),
            inputs=("uint2 gid [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("NX", 2, 4096, "cells in x"),
        Range("NY", 2, 4096, "cells in y; NX and NY need not be equal, even, or multiples of the threadgroup"),
        Range("tau", 0.51, 5.0, "relaxation time", step=0),
    )
    free_sizes = ("NX", "NY")
    data_laws: ClassVar = {"roughness": (0.5, 0.1)}
    brief = contract(
        """
One D2Q9 lattice Boltzmann step per dispatch: pull streaming, then BGK collision, periodic in both axes. Population
k of cell (i, j) is element k * NX * NY + j * NX + i, i along x.
  CX = 0, 1, 0, -1, 0, 1, -1, -1, 1     CY = 0, 0, 1, 0, -1, 1, 1, -1, -1     w = 4/9, then 1/9 four times, then
    1/36 four times
  f_k = f_in[k] at (i - CX[k], j - CY[k]) with wrap-around
  rho = sum f_k,  u = (sum CX[k] f_k, sum CY[k] f_k) / rho,  e = CX[k] u_x + CY[k] u_y
  feq_k = w[k] * rho * (1 + 3 e + 4.5 e^2 - 1.5 |u|^2),  f_out[k] = f_k - (f_k - feq_k) / tau

One thread per cell, i = gid.x and j = gid.y. The grid is (NX, NY) rounded up to whole threadgroups, so threads
outside must do nothing. Threadgroup: 16 x 16; under a lower [[max_total_threads_per_threadgroup]] the height is
halved until it fits. The two buffers swap after every step; all steps of a run are in one command buffer. Right:
max |error| <= 5e-4 + 1e-4 * max |expected| over all populations after all steps. Scored against memory bandwidth at
72 bytes per cell and step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, 0.8, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], 0.8, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_steps = (48, 300, 100) if scale == "full" else (12, 40, 14)
        nx, ny = distinct(rng, 2, low, high)
        steps = int(rng.integers(most_steps // 2, most_steps + 1))
        tau = uniform(rng, 0.6, 1.6)
        return _configuration(nx, ny, steps, tau, "drawn", scale, draw_seed(rng), draw_roughness(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        shape = (configuration.integer("NY"), configuration.integer("NX"))
        density = 1.0 + 0.05 * pulse(shape, 0.15 * min(shape), configuration)
        return {"f": np.stack([weight * density for weight in W]).astype(np.float32)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        nx, ny, steps = (configuration.integer(key) for key in ("NX", "NY", "steps"))
        f = PingPong("f", inputs["f"], steps)
        grid, threadgroup = tiled_2d(nx, ny, caps["lbm_step"])
        constants = {2: np.uint32(nx), 3: np.uint32(ny), 4: np.float32(configuration.real("tau"))}
        dispatches = []
        for step in range(steps):
            source, target = f.at(step)
            dispatches.append(Dispatch("lbm_step", {0: source, 1: target, **constants}, grid, threadgroup))
        return Plan(f.buffers, tuple(dispatches), {"f": f.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        f = inputs["f"].astype(np.float64)
        omega = 1.0 / single(configuration.real("tau"))
        streamed = np.empty_like(f)
        for _ in range(configuration.integer("steps")):
            for k in range(9):
                streamed[k] = np.roll(f[k], (CY[k], CX[k]), axis=(0, 1))
            _relax(streamed, omega)
            f, streamed = streamed, f
        return {"f": f}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return max_abs_check(outputs["f"], expected["f"], 5e-4, 1e-4)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        cells = configuration.integer("NX") * configuration.integer("NY")
        return (Demand("dram", 72.0 * cells * configuration.integer("steps")),)


def _relax(f: Doubles, omega: float) -> None:
    """BGK collision in place."""
    density = f.sum(axis=0)
    ux = (f[1] + f[5] + f[8] - f[3] - f[6] - f[7]) / density
    uy = (f[2] + f[5] + f[6] - f[4] - f[7] - f[8]) / density
    rest = 1.0 - 1.5 * (ux * ux + uy * uy)
    f *= 1.0 - omega
    density *= omega
    for k in range(9):
        along = CX[k] * ux + CY[k] * uy
        f[k] += W[k] * density * (rest + along * (3.0 + 4.5 * along))


def _configuration(
    nx: int,
    ny: int,
    steps: int,
    tau: float,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    roughness: float | None = None,
) -> Configuration:
    parameters: dict[str, Number] = {"NX": nx, "NY": ny, "steps": steps, "tau": tau}
    parameters["roughness"] = published_roughness(scale) if roughness is None else roughness
    return Configuration(f"{nx}x{ny}, {steps} steps, tau={tau:g}", parameters, origin, scale, seed)
