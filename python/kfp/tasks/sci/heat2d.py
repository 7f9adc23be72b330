"""heat2d: explicit five-point heat equation on a plane with fixed edges."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kfp.plan import Dispatch, Plan, tiled_2d
from kfp.tasks.base import (
    Argument,
    Array,
    Arrays,
    Check,
    Configuration,
    Demand,
    FreeInput,
    Kernel,
    Origin,
    Range,
    Scale,
    Task,
    contract,
    copied_faces_check,
    first_failure,
    max_abs_check,
)
from kfp.tasks.sci._common import PingPong, diffuse, distinct, draw_seed, single, uniform, zero_faces

_SIZES: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((256, 256, 50), (512, 512, 100), (1024, 1024, 50)),
    "small": ((32, 32, 10), (48, 40, 21), (96, 80, 16)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int]] = {"full": (768, 768, 75), "small": (61, 67, 13)}


class Heat2d(Task):
    name = "heat2d"
    suite = "sci"
    title = "Heat equation in two dimensions, explicit five-point stencil"
    regime = "R1 stencil"
    unit = "GB/s"
    kernels = (
        Kernel(
            "heat_step",
            (
                Argument(0, "u_in", "float", "read"),
                Argument(1, "u_out", "float", "write"),
                Argument(2, "NX", "uint", "constant"),
                Argument(3, "NY", "uint", "constant"),
                Argument(4, "alpha", "float", "constant"),
            ),
            (16, 16, 1),
            inputs=("uint2 gid [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("NX", 3, 8192, "cells in x"),
        Range("NY", 3, 8192, "cells in y; NX and NY need not be equal, even, or multiples of the threadgroup"),
        Range("alpha", 0.0, 0.25, "diffusion number", step=0),
    )
    free_sizes = ("NX", "NY")
    free_inputs = (FreeInput("u", -1.0, 1.0),)
    brief = contract(
        """
One explicit step of the heat equation per dispatch. Cell (i, j) is element j * NX + i, i along x. Interior cells:
u_out = u + alpha * (west + east + south + north - 4 u). Edge cells copy u_in through unchanged.

One thread per cell, i = gid.x and j = gid.y. The grid is (NX, NY) rounded up to whole threadgroups, so threads
outside must do nothing. Threadgroup: 16 x 16; under a lower [[max_total_threads_per_threadgroup]] the height is
halved until it fits. The two buffers swap after every step; all steps of a run are in one command buffer. Right:
max |error| <= 1e-4 + 1e-5 * max |expected| after all steps, edge cells exactly as they started. Scored against
memory bandwidth at 8 bytes per cell and step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, 0.20, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], 0.20, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_steps = (200, 1100, 100) if scale == "full" else (20, 110, 20)
        nx, ny = distinct(rng, 2, low, high)
        steps = int(rng.integers(most_steps // 2, most_steps + 1))
        return _configuration(nx, ny, steps, uniform(rng, 0.05, 0.25), "drawn", scale, draw_seed(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        shape = (configuration.integer("NY"), configuration.integer("NX"))
        rng = np.random.default_rng(configuration.seed)
        return {"u": zero_faces(rng.random(shape, dtype=np.float32))}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        nx, ny, steps = (configuration.integer(key) for key in ("NX", "NY", "steps"))
        u = PingPong("u", inputs["u"], steps)
        grid, threadgroup = tiled_2d(nx, ny, caps["heat_step"])
        constants = {2: np.uint32(nx), 3: np.uint32(ny), 4: np.float32(configuration.real("alpha"))}
        dispatches = []
        for step in range(steps):
            source, target = u.at(step)
            dispatches.append(Dispatch("heat_step", {0: source, 1: target, **constants}, grid, threadgroup))
        return Plan(u.buffers, tuple(dispatches), {"u": u.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        alpha = single(configuration.real("alpha"))
        return {"u": diffuse(inputs["u"].astype(np.float64), alpha, configuration.integer("steps"))}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return first_failure(
            max_abs_check(outputs["u"], expected["u"], 1e-4, 1e-5),
            copied_faces_check(outputs["u"], inputs["u"]),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return (Demand("dram", 8.0 * _cells(configuration) * configuration.integer("steps")),)


def _cells(configuration: Configuration) -> int:
    return configuration.integer("NX") * configuration.integer("NY")


def _configuration(
    nx: int, ny: int, steps: int, alpha: float, origin: Origin, scale: Scale, seed: int = 0
) -> Configuration:
    parameters = {"NX": nx, "NY": ny, "steps": steps, "alpha": alpha}
    return Configuration(f"{nx}x{ny}, {steps} steps, alpha={alpha:g}", parameters, origin, scale, seed)
