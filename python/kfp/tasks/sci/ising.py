"""ising: checkerboard Metropolis on a periodic square lattice, exact to the byte."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kfp.plan import Dispatch, Plan, given, tiled_2d
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
)
from kfp.tasks.sci._common import distinct, draw_seed, murmur_mix, uniform

_RNG_SEED = 0xC0FFEE01
_BETA = 0.42
_SIZES: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((256, 256, 100), (1024, 1024, 50), (2048, 2048, 25)),
    "small": ((32, 32, 10), (48, 40, 8), (96, 64, 6)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int]] = {"full": (1536, 1536, 40), "small": (54, 70, 7)}


class Ising(Task):
    name = "ising"
    suite = "sci"
    title = "Two-dimensional Ising model, checkerboard Metropolis"
    regime = "R3 multi-field, byte exact"
    unit = "GB/s"
    kernels = (
        Kernel(
            "ising_step",
            (
                Argument(0, "spins", "char", "read_write"),
                Argument(1, "p_accept", "float", "read"),
                Argument(2, "NX", "uint", "constant"),
                Argument(3, "NY", "uint", "constant"),
                Argument(4, "step_idx", "uint", "constant"),
                Argument(5, "seed", "uint", "constant"),
            ),
            (16, 16, 1),
            inputs=("uint2 gid [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("NX", 4, 8192, "sites in x", step=2),
        Range("NY", 4, 8192, "sites in y; NX and NY need not be equal or multiples of the threadgroup", step=2),
        Range("seed", 0, 2**32 - 1, "seed of the random numbers"),
        Range("beta", 0.0, 2.0, "inverse temperature, which the kernel sees through p_accept only", step=0),
    )
    free_sizes = ("NX", "NY")
    brief = contract(
        """
Half a sweep of checkerboard Metropolis per dispatch, in place. Spin (i, j) is byte j * NX + i, +1 or -1, periodic
in both axes. A dispatch updates only the sites whose colour (i + j) & 1 equals step_idx & 1:
  h = sum of the four neighbours,  idx = (s * h + 4) / 2,  flip (s = -s) if and only if u < p_accept[idx]
p_accept holds 5 probabilities. The random number of a site, in 32-bit unsigned arithmetic that wraps around:
  x = seed + step_idx * 0x9E3779B9;  x = mix(x);  x = mix(x ^ (j * NX + i));  u = float(x >> 8) / 16777216
  mix(x): x ^= x >> 16; x *= 0x85EBCA6B; x ^= x >> 13; x *= 0xC2B2AE35; x ^= x >> 16

One thread per site, i = gid.x and j = gid.y. The grid is (NX, NY) rounded up to whole threadgroups, so threads
outside must do nothing. Threadgroup: 16 x 16; under a lower [[max_total_threads_per_threadgroup]] the height is
halved until it fits. A sweep is two dispatches (step_idx counts them from 0); all sweeps of a run are in one
command buffer. Right: every byte equal. Scored against memory bandwidth at 2 bytes per site and sweep.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, _BETA, _RNG_SEED, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], _BETA, _RNG_SEED, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_sweeps = (200, 2100, 40) if scale == "full" else (20, 100, 10)
        nx, ny = (2 * half for half in distinct(rng, 2, low // 2, high // 2))
        sweeps = int(rng.integers(most_sweeps // 2, most_sweeps + 1))
        rng_seed = int(rng.integers(0, 1 << 32))
        return _configuration(nx, ny, sweeps, uniform(rng, 0.2, 0.6), rng_seed, "drawn", scale, draw_seed(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        shape = (configuration.integer("NY"), configuration.integer("NX"))
        spins = np.random.default_rng(configuration.seed).integers(0, 2, shape, dtype=np.int8)
        beta = configuration.real("beta")
        p_accept = np.array([1.0, 1.0, 1.0, np.exp(-4.0 * beta), np.exp(-8.0 * beta)], np.float32)
        return {"spins": 2 * spins - np.int8(1), "p_accept": p_accept}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        nx, ny, sweeps, seed = (configuration.integer(key) for key in ("NX", "NY", "sweeps", "seed"))
        grid, threadgroup = tiled_2d(nx, ny, caps["ising_step"])
        fixed = {0: "spins", 1: "p_accept", 2: np.uint32(nx), 3: np.uint32(ny), 5: np.uint32(seed)}
        dispatches = tuple(
            Dispatch("ising_step", {**fixed, 4: np.uint32(step)}, grid, threadgroup) for step in range(2 * sweeps)
        )
        buffers = (given("spins", inputs["spins"], "state"), given("p_accept", inputs["p_accept"]))
        return Plan(buffers, dispatches, {"spins": "spins"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        return {
            "spins": metropolis(
                inputs["spins"], inputs["p_accept"], configuration.integer("seed"), 2 * configuration.integer("sweeps")
            )
        }

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        metric = "bytes that differ"
        wrong = outputs["spins"] != expected["spins"]
        count = int(np.count_nonzero(wrong))
        if count == 0:
            return Check(True, 0.0, 0.0, metric)
        j, i = (int(index) for index in np.unravel_index(int(np.argmax(wrong)), wrong.shape))
        detail = (
            f"{count} of {wrong.size} spins differ; first at i={i}, j={j}: "
            f"expected {int(expected['spins'][j, i])}, got {int(outputs['spins'][j, i])}"
        )
        return Check(False, float(count), 0.0, metric, detail)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        sites = configuration.integer("NX") * configuration.integer("NY")
        return (Demand("dram", 2.0 * sites * configuration.integer("sweeps")),)


def metropolis(
    spins: npt.NDArray[np.int8], p_accept: npt.NDArray[np.float32], seed: int, steps: int
) -> npt.NDArray[np.int8]:
    """``steps`` half sweeps. u < p with u = k / 2^24 is decided on whole numbers: k < ceil(p * 2^24), exactly."""
    ny, nx = spins.shape
    thresholds = np.ceil(p_accept.astype(np.float64) * 2.0**24).astype(np.uint32)
    padded = np.pad(spins, 1, mode="wrap")
    columns = np.arange(nx, dtype=np.uint32)
    for step in range(steps):
        key = int(murmur_mix(np.array([(seed + step * 0x9E3779B9) & 0xFFFFFFFF], np.uint32))[0])
        for row_parity in (0, 1):
            first = (step + row_parity) & 1
            # Rows of one parity at a time: their sites of this colour form a regular sublattice.
            rows = np.arange(row_parity, ny, 2, dtype=np.uint32)
            x = rows[:, None] * np.uint32(nx) + columns[None, first::2]
            x ^= np.uint32(key)
            murmur_mix(x)
            x >>= np.uint32(8)
            here = _every_other(padded, row_parity, first, 0, 0)
            field = _every_other(padded, row_parity, first, -1, 0) + _every_other(padded, row_parity, first, 1, 0)
            field += _every_other(padded, row_parity, first, 0, -1)
            field += _every_other(padded, row_parity, first, 0, 1)
            field *= here
            flips = x < thresholds[(field + 4) >> 1]
            np.negative(here, out=here, where=flips)
        padded[0], padded[-1] = padded[-2], padded[1]
        padded[:, 0], padded[:, -1] = padded[:, -2], padded[:, 1]
    result: npt.NDArray[np.int8] = padded[1:-1, 1:-1].copy()
    return result


def _every_other(
    padded: npt.NDArray[np.int8], row: int, column: int, row_shift: int, column_shift: int
) -> npt.NDArray[np.int8]:
    """A view of every second site of every second row, shifted to a neighbour."""
    top, left = 1 + row + row_shift, 1 + column + column_shift
    rows, columns = padded.shape
    return padded[top : rows - 1 - (1 - row) + row_shift : 2, left : columns - 1 - (1 - column) + column_shift : 2]


def _configuration(
    nx: int, ny: int, sweeps: int, beta: float, rng_seed: int, origin: Origin, scale: Scale, seed: int = 0
) -> Configuration:
    parameters = {"NX": nx, "NY": ny, "sweeps": sweeps, "beta": beta, "seed": rng_seed}
    return Configuration(f"{nx}x{ny}, {sweeps} sweeps, beta={beta:g}", parameters, origin, scale, seed)
