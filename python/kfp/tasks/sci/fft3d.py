"""fft3d: forward complex transform of a cube, one pass per axis, one line per threadgroup."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kfp.errors import PlanError
from kfp.plan import Buffer, Dispatch, Plan, blank, given
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
    max_abs_check,
)
from kfp.tasks.sci._common import draw_seed, uniform

_PASSES = ("fft3d_x", "fft3d_y", "fft3d_z")
_SIZES: dict[Scale, tuple[int, ...]] = {"full": (32, 64, 128), "small": (8, 16, 32)}
_HELD_OUT: dict[Scale, int] = {"full": 256, "small": 64}
# (N, smallest and largest batch) of the draws: both ends of the menu, see weak_axis.
_DRAWN: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((16, 2, 8), (256, 1, 1)),
    "small": ((8, 2, 4), (32, 1, 1)),
}


class Fft3d(Task):
    name = "fft3d"
    suite = "sci"
    title = "Three-dimensional complex FFT"
    regime = "R6 butterfly"
    unit = "GB/s"
    kernels = tuple(
        Kernel(
            name,
            (
                Argument(0, "in_data", "float2", "read"),
                Argument(1, "out_data", "float2", "write"),
                Argument(2, "N", "uint", "constant"),
            ),
            # (N, 1, 1); shown for the largest size of a search, at which a lower cap is an error.
            (128, 1, 1),
            min_threads=128,
            inputs=("uint3 gid [[thread_position_in_grid]]",),
        )
        for name in _PASSES
    )
    ranges = (Range("N", 8, 1024, "points per axis", powers_of_two=True),)
    weak_axis = "N is one of a few powers of two, so an optimiser can enumerate the sizes; only the data are fresh"
    free_sizes = ("N",)
    free_inputs = (FreeInput("cube_0", -2.0, 2.0),)
    data_laws: ClassVar = {"amplitude": (4.0, 0.25)}
    brief = contract(
        """
Forward, unnormalised complex FFT of an N x N x N cube, equal to numpy.fft.fftn: exp(-2 pi i ...), no scaling. Point
(i, j, k) is element (k * N + j) * N + i; a float2 is (real, imaginary).

Three dispatches, one per axis, each transforming every line along its axis; the buffers go A to B, B to A, A to B.
The grid of each is (N, N * N, 1) with threadgroups of (N, 1, 1), so that one threadgroup of N threads owns one
line:
  fft3d_x: i = gid.x, k = gid.y / N, j = gid.y - k * N
  fft3d_y: j = gid.x, k = gid.y / N, i = gid.y - k * N
  fft3d_z: k = gid.x, j = gid.y / N, i = gid.y - j * N
A kernel that declares [[max_total_threads_per_threadgroup]] below N can't be launched at that N. The output of a
pass must be in natural order. Right: max |complex error| <= 1e-3 + 1e-3 * max |expected|. Scored against memory
bandwidth at 96 bytes a point.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(n, "in_distribution", scale) for n in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        n, low, high = _DRAWN[scale][int(rng.integers(2))]
        batch = int(rng.integers(low, high + 1))
        amplitude, phase = uniform(rng, 0.25, 4.0), uniform(rng, 0.0, 2.0 * np.pi)
        return _configuration(n, "drawn", scale, draw_seed(rng), batch, amplitude, phase)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n = configuration.integer("N")
        factor = np.complex64(configuration.real("amplitude") * np.exp(1j * configuration.real("phase")))
        cubes = {}
        for member in range(configuration.integer("batch")):
            cube = rng.standard_normal((n, n, 2 * n), dtype=np.float32).view(np.complex64)
            cube *= factor
            cubes[f"cube_{member}"] = cube
        return cubes

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n = configuration.integer("N")
        for kernel in _PASSES:
            if caps[kernel] < n:
                raise PlanError(
                    f"{kernel}: N = {n} needs threadgroups of {n} threads, "
                    f"but the kernel allows max_total_threads_per_threadgroup = {caps[kernel]}"
                )
        buffers: list[Buffer] = []
        dispatches = []
        for name, cube in inputs.items():
            first, second = f"{name}_a", f"{name}_b"
            buffers += [given(first, cube, "state"), blank(second, cube.shape, np.complex64)]
            for kernel, source, target in zip(_PASSES, (first, second, first), (second, first, second), strict=True):
                dispatches.append(Dispatch(kernel, {0: source, 1: target, 2: np.uint32(n)}, (n, n * n, 1), (n, 1, 1)))
        return Plan(tuple(buffers), tuple(dispatches), {name: f"{name}_b" for name in inputs})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        return {name: _transform(cube) for name, cube in inputs.items()}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        worst: Check | None = None
        for name, cube in expected.items():
            check = max_abs_check(outputs[name], cube, 1e-3, 1e-3)
            if not check.correct:
                return check
            if worst is None or check.error / check.tolerance > worst.error / worst.tolerance:
                worst = check
        assert worst is not None
        return worst

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        points = configuration.integer("N") ** 3 * configuration.integer("batch")
        return (Demand("dram", 96.0 * points),)


def _transform(cube: npt.NDArray[np.complex64]) -> npt.NDArray[np.complex64]:
    """The transform in double precision, plane by plane so that one wide copy of the cube is all it needs."""
    wide = np.empty(cube.shape, np.complex128)
    for k in range(cube.shape[0]):
        wide[k] = np.fft.fft2(cube[k].astype(np.complex128))
    result = np.empty_like(cube)
    for j in range(cube.shape[1]):
        result[:, j] = np.fft.fft(wide[:, j], axis=0)
    return result


def _configuration(
    n: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    batch: int = 1,
    amplitude: float = 1.0,
    phase: float = 0.0,
) -> Configuration:
    label = f"N={n}"
    if origin == "drawn":
        label += f", batch={batch}, amplitude={amplitude:g}, phase={phase:g}"
    parameters = {"N": n, "batch": batch, "amplitude": amplitude, "phase": phase}
    return Configuration(label, parameters, origin, scale, seed)
