"""morton: seven-point heat step on a cube stored in Morton order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.plan import Dispatch, Plan, linear
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
    PingPong,
    diffuse,
    draw_roughness,
    draw_seed,
    published_roughness,
    pulse,
    single,
    uniform,
    zero_faces,
)

_SIZES: dict[Scale, tuple[tuple[int, int], ...]] = {
    "full": ((32, 120), (64, 60), (128, 30)),
    "small": ((8, 20), (16, 12), (32, 6)),
}
_HELD_OUT: dict[Scale, tuple[int, int]] = {"full": (256, 10), "small": (64, 3)}
# Smallest and largest exponent of N, and about how many cell updates a drawn run may take.
_DRAWN: dict[Scale, tuple[int, int, int]] = {"full": (4, 8, 10 * 256**3), "small": (3, 5, 6 * 32**3)}


class Morton(Task):
    name = "morton"
    suite = "sci"
    title = "Heat equation in three dimensions on a Morton-ordered cube"
    regime = "R8 bit permutation"
    unit = "GB/s"
    kernels = (
        Kernel(
            "morton_stencil",
            (
                Argument(0, "u_in", "float", "read"),
                Argument(1, "u_out", "float", "write"),
                Argument(2, "N", "uint", "constant"),
                Argument(3, "logN", "uint", "constant"),
                Argument(4, "alpha", "float", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint tid [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("N", 4, 1024, "cells per axis; logN is its base-2 logarithm", powers_of_two=True),
        Range("alpha", 0.0, 1.0 / 6.0, "diffusion number", step=0),
    )
    weak_axis = "N is one of a few powers of two, so an optimiser can enumerate the sizes; alpha and the data are fresh"
    free_sizes = ("N",)
    free_inputs = (FreeInput("u", -1.0, 1.0),)
    data_laws: ClassVar = {"roughness": (0.5, 0.1)}
    brief = contract(
        """
One explicit step of the heat equation in a cube per dispatch, on data in Morton order: cell (x, y, z) is the
element whose index has bit b of x at position 3b, bit b of y at 3b + 1 and bit b of z at 3b + 2. tid is such an
index. Interior cells: u_out = u + alpha * (sum of the six face neighbours - 6 u). Cells on a face of the cube (a
coordinate that is 0 or N - 1) copy u_in through unchanged.

One thread per cell. The grid is N^3 rounded up to a multiple of the threadgroup; threads with tid >= N^3 must do
nothing. Threadgroup: eight simdgroups of 32 threads, or fewer threads if the kernel declares a lower
[[max_total_threads_per_threadgroup]]. The buffers swap after every step; all steps of a run are in one command
buffer. Right: max |error| <= 1e-4 + 1e-5 * max |expected| after all steps, face cells exactly as they started.
Scored against memory bandwidth at 8 bytes per cell and step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, 0.10, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], 0.10, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, updates = _DRAWN[scale]
        n = 1 << int(rng.integers(low, high + 1))
        steps = int(rng.integers(5, min(120, updates // n**3) + 1))
        alpha = uniform(rng, 0.02, 0.16)
        return _configuration(n, steps, alpha, "drawn", scale, draw_seed(rng), draw_roughness(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        n = configuration.integer("N")
        return {"u": to_morton(zero_faces(pulse((n, n, n), 0.15 * n, configuration).astype(np.float32)))}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n, steps = configuration.integer("N"), configuration.integer("steps")
        u = PingPong("u", inputs["u"], steps)
        grid, threadgroup = linear(n**3, 256, caps["morton_stencil"])
        constants = {
            2: np.uint32(n),
            3: np.uint32(n.bit_length() - 1),
            4: np.float32(configuration.real("alpha")),
        }
        dispatches = []
        for step in range(steps):
            source, target = u.at(step)
            dispatches.append(Dispatch("morton_stencil", {0: source, 1: target, **constants}, grid, threadgroup))
        return Plan(u.buffers, tuple(dispatches), {"u": u.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        alpha = single(configuration.real("alpha"))
        return {"u": diffuse(from_morton(inputs["u"]).astype(np.float64), alpha, configuration.integer("steps"))}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        # Compared on the grid, so that a difference is named by its z, y, x.
        u = from_morton(outputs["u"])
        return first_failure(
            max_abs_check(u, expected["u"], 1e-4, 1e-5),
            copied_faces_check(u, from_morton(inputs["u"])),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return (Demand("dram", 8.0 * configuration.integer("N") ** 3 * configuration.integer("steps")),)


def to_morton(cube: Array) -> Array:
    """A (z, y, x) cube as a vector in Morton order: a permutation of the bits of the index, so of 2 x 2 x ... axes."""
    bits = cube.shape[0].bit_length() - 1
    order = [axis * bits + bit for bit in range(bits) for axis in range(3)]
    vector: Array = cube.reshape((2,) * (3 * bits)).transpose(order).reshape(-1)
    return vector


def from_morton(vector: Array) -> Array:
    bits = (vector.size.bit_length() - 1) // 3
    order = [bit * 3 + axis for axis in range(3) for bit in range(bits)]
    cube: Array = vector.reshape((2,) * (3 * bits)).transpose(order).reshape((1 << bits,) * 3)
    return cube


def _configuration(
    n: int,
    steps: int,
    alpha: float,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    roughness: float | None = None,
) -> Configuration:
    parameters: dict[str, Number] = {"N": n, "steps": steps, "alpha": alpha}
    parameters["roughness"] = published_roughness(scale) if roughness is None else roughness
    return Configuration(f"N={n}, {steps} steps, alpha={alpha:g}", parameters, origin, scale, seed)
