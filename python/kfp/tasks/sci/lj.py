"""lj: Lennard-Jones molecular dynamics, a cell list built with atomics in every step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
import numpy.typing as npt

from kfp.errors import TaskError
from kfp.plan import Dispatch, Plan, blank, linear
from kfp.tasks.base import (
    Argument,
    Array,
    Arrays,
    Check,
    Configuration,
    Demand,
    Kernel,
    Origin,
    Range,
    Scale,
    Task,
    contract,
    max_abs_check,
)
from kfp.tasks.sci._common import Doubles, PingPong, draw_seed, single, uniform

RCUT = 2.5
MAX_PER_CELL = 64
Indices = npt.NDArray[np.int64]

_DT = 0.005
_SIZES: dict[Scale, tuple[tuple[int, int, float, int], ...]] = {
    "full": ((1728, 5, 13.8, 20), (4096, 7, 18.4, 15), (10648, 10, 25.3, 10)),
    "small": ((343, 3, 8.05, 5), (512, 3, 9.2, 4), (1000, 4, 11.5, 3)),
}
_HELD_OUT: dict[Scale, tuple[int, int, float, int]] = {"full": (2744, 6, 16.1, 12), "small": (729, 4, 10.35, 4)}


class LennardJones(Task):
    name = "lj"
    suite = "sci"
    title = "Lennard-Jones molecular dynamics with a cell list"
    regime = "R4 atomics"
    unit = "GFLOPS"
    kernels = (
        Kernel(
            "lj_clear_cells",
            (Argument(0, "cell_count", "atomic_uint", "write"), Argument(1, "M3", "uint", "constant")),
            (64, 1, 1),
            idle_threads=True,
        ),
        Kernel(
            "lj_build_cells",
            (
                Argument(0, "pos", "float4", "read"),
                Argument(1, "cell_count", "atomic_uint", "read_write"),
                Argument(2, "cell_list", "uint", "write"),
                Argument(3, "N", "uint", "constant"),
                Argument(4, "M", "uint", "constant"),
                Argument(5, "L", "float", "constant"),
                Argument(6, "MAX_PER_CELL", "uint", "constant"),
            ),
            (128, 1, 1),
            inputs=("uint i [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
        Kernel(
            "lj_step",
            (
                Argument(0, "pos_in", "float4", "read"),
                Argument(1, "pos_out", "float4", "write"),
                Argument(2, "vel_in", "float4", "read"),
                Argument(3, "vel_out", "float4", "write"),
                Argument(4, "cell_count", "uint", "read"),
                Argument(5, "cell_list", "uint", "read"),
                Argument(6, "N", "uint", "constant"),
                Argument(7, "M", "uint", "constant"),
                Argument(8, "L", "float", "constant"),
                Argument(9, "rcut2", "float", "constant"),
                Argument(10, "dt", "float", "constant"),
                Argument(11, "MAX_PER_CELL", "uint", "constant"),
            ),
            (128, 1, 1),
            inputs=("uint i [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("N", 64, 32768, "atoms"),
        Range("M", 3, 16, "cells per axis"),
        Range("L", 7.5, 64.0, "edge of the periodic box; L / M is at least the cutoff, 2.5", step=0),
        Range("dt", 0.0, 0.01, "time step", step=0),
    )
    # A cubic lattice of N atoms, whose spacing and cells must fit.
    coupled = ("N", "M", "L")
    exchangeable = ("pos", "vel")
    brief = contract(
        """
One step of Lennard-Jones dynamics (unit mass, sigma and epsilon) in a periodic cube of edge L per three dispatches.
Positions and velocities are float4 with the vector in xyz; w is not used. Positions are not wrapped when they are
stored.

lj_clear_cells (one thread per cell, gid < M3 = M * M * M) sets cell_count to zero. lj_build_cells (one thread per
atom): wrap the position into [0, L), cell (cz * M + cy) * M + cx; append i to that cell's
  row cell_list[cell * MAX_PER_CELL ...] with an atomic counter; indices beyond MAX_PER_CELL = 64 are dropped (the
    inputs
  never fill a cell). The order within a cell does not matter.
lj_step (one thread per atom): over the atoms of the 27 cells around the own one, with d = r_j - r_i in minimum
image,
  r2 = |d|^2 < rcut2, t = 1 / r2, q = t * t * t:   F_i = sum of -24 * (2 q * q - q) * t * d
  v_out = v_in + F_i * dt,  r_out = r_in + v_out * dt

Grids are rounded up to a multiple of the threadgroup, so threads beyond M3 or N must do nothing. Threadgroups: 64
threads for lj_clear_cells and 128 for the others, or fewer under a lower [[max_total_threads_per_threadgroup]]. The
position and velocity buffers swap after every step; all steps of a run are in one command buffer. Right: max
|position error| <= 1e-4 after all steps. Scored against the FP32 peak at 20 operations per ordered pair in range.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, _DT, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], _DT, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_steps = (11, 23, 20) if scale == "full" else (7, 10, 5)
        side = int(rng.integers(low, high + 1))
        spacing = uniform(rng, 1.1, 1.25)
        length = round(side * spacing, 3)
        fewest = _fewest_cells(length, spacing)
        cells = int(rng.integers(fewest, int(length / RCUT) + 1))
        steps = int(rng.integers(most_steps // 2, most_steps + 1))
        dt = uniform(rng, 0.002, 0.006)
        return _configuration(side**3, cells, length, steps, dt, "drawn", scale, draw_seed(rng))

    def allows(self, configuration: Configuration) -> bool:
        """Places of the lattice may stay empty."""
        n, cells, length = configuration.integer("N"), configuration.integer("M"), configuration.real("L")
        side = round(n ** (1.0 / 3.0))
        fewest = _fewest_cells(length, length / side)
        return (side - 1) ** 3 < n <= side**3 and fewest <= cells <= int(length / RCUT)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n = configuration.integer("N")
        side = round(n ** (1.0 / 3.0))
        spacing = configuration.real("L") / side
        lattice = np.stack(np.unravel_index(np.arange(n), (side,) * 3), axis=1)
        position, velocity = np.zeros((2, n, 4), np.float32)
        position[:, :3] = spacing * (lattice + 0.5 + rng.uniform(-0.05, 0.05, (n, 3)))
        speeds = rng.uniform(-0.3, 0.3, (n, 3))
        velocity[:, :3] = speeds - speeds.mean(axis=0)
        return {"pos": position, "vel": velocity}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n, m, steps = (configuration.integer(key) for key in ("N", "M", "steps"))
        cells = m**3
        position = PingPong("pos", inputs["pos"], steps)
        velocity = PingPong("vel", inputs["vel"], steps, read_back=False)
        box = {"N": np.uint32(n), "M": np.uint32(m), "L": np.float32(configuration.real("L"))}
        most = np.uint32(MAX_PER_CELL)
        clear = Dispatch(
            "lj_clear_cells", {0: "cell_count", 1: np.uint32(cells)}, *linear(cells, 64, caps["lj_clear_cells"])
        )
        dispatches = []
        for step in range(steps):
            source, target = position.at(step)
            build = {0: source, 1: "cell_count", 2: "cell_list", **dict(enumerate(box.values(), start=3)), 6: most}
            move = {
                **dict(enumerate((source, target, *velocity.at(step), "cell_count", "cell_list", *box.values()))),
                9: np.float32(RCUT**2),
                10: np.float32(configuration.real("dt")),
                11: most,
            }
            dispatches += [
                clear,
                Dispatch("lj_build_cells", build, *linear(n, 128, caps["lj_build_cells"])),
                Dispatch("lj_step", move, *linear(n, 128, caps["lj_step"])),
            ]
        buffers = (
            *position.buffers,
            *velocity.buffers,
            blank("cell_count", (cells,), np.uint32, "scratch"),
            blank("cell_list", (cells * MAX_PER_CELL,), np.uint32, "scratch"),
        )
        return Plan(buffers, tuple(dispatches), {"pos": position.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        length, dt = single(configuration.real("L")), single(configuration.real("dt"))
        position = inputs["pos"][:, :3].astype(np.float64)
        velocity = inputs["vel"][:, :3].astype(np.float64)
        pairs = 0
        for _ in range(configuration.integer("steps")):
            force, in_range = forces(position, length, configuration.integer("M"))
            pairs += in_range
            velocity += dt * force
            position += dt * velocity
        return {"pos": position, "pairs": np.array(pairs)}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return max_abs_check(outputs["pos"][:, :3], expected["pos"], 1e-4, 0.0)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return (Demand("fp32", 2.0 * float(expected["pairs"]) * 20.0),)


def forces(position: Doubles, length: float, cells_per_axis: int) -> tuple[Doubles, int]:
    """(force on every atom, number of unordered pairs in range), from a cell list."""
    force = np.zeros_like(position)
    in_range = 0
    for i, j in _candidates(position, length, cells_per_axis):
        offset = position[j] - position[i]
        offset -= length * np.round(offset / length)
        distance2 = np.einsum("ij,ij->i", offset, offset)
        near = distance2 < RCUT**2
        i, j, offset = i[near], j[near], offset[near]
        t = 1.0 / distance2[near]
        q = t * t * t
        pull = (-24.0 * (2.0 * q * q - q) * t)[:, None] * offset
        for axis in range(3):
            force[:, axis] += np.bincount(i, pull[:, axis], len(position))
            force[:, axis] -= np.bincount(j, pull[:, axis], len(position))
        in_range += i.size
    return force, in_range


def _candidates(position: Doubles, length: float, m: int) -> Iterator[tuple[Indices, Indices]]:
    """Every unordered pair of atoms in the same or in neighbouring cells, once."""
    wrapped = position - length * np.floor(position / length)
    cx, cy, cz = np.minimum((wrapped * (m / length)).astype(np.int64), m - 1).T
    cell = (cz * m + cy) * m + cx
    order = np.argsort(cell, kind="stable")
    count = np.bincount(cell, minlength=m**3)
    if count.max() > MAX_PER_CELL:
        raise TaskError(f"lj: a cell holds {count.max()} atoms, the contract allows {MAX_PER_CELL}; M is too small")
    first = np.cumsum(count) - count
    for dx, dy, dz in product((-1, 0, 1), repeat=3):
        if (dz, dy, dx) < (0, 0, 0):
            continue  # the opposite offset brings these pairs
        other = (((cz + dz) % m) * m + (cy + dy) % m) * m + (cx + dx) % m
        i = np.repeat(np.arange(len(position)), count[other])
        rank = np.arange(i.size) - np.repeat(np.cumsum(count[other]) - count[other], count[other])
        j = order[np.repeat(first[other], count[other]) + rank]
        yield (i[i < j], j[i < j]) if (dx, dy, dz) == (0, 0, 0) else (i, j)


def _fewest_cells(length: float, spacing: float) -> int:
    """Per axis, so that none has more than four lattice planes (so 64 atoms) across, jitter and motion included."""
    return max(3, int(np.ceil(length / (3.9 * spacing - 0.2))))


def _configuration(
    n: int, m: int, length: float, steps: int, dt: float, origin: Origin, scale: Scale, seed: int = 0
) -> Configuration:
    label = f"N={n}, M={m}, L={length:g}, {steps} steps"
    if origin == "drawn":
        label += f", dt={dt:g}"
    return Configuration(label, {"N": n, "M": m, "L": length, "steps": steps, "dt": dt}, origin, scale, seed)
