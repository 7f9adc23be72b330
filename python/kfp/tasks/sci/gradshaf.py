"""gradshaf: Picard relaxation of the Grad-Shafranov equation, a reduction and a stencil per step."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kfp.plan import Dispatch, Plan, blank, tiled_2d
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
    copied_faces_check,
    first_failure,
    max_abs_check,
)
from kfp.tasks.sci._common import PingPong, distinct, draw_seed, single, uniform, zero_faces

_CONSTANTS = {"p_axis": 200.0, "mu0": 1.0, "omega": 1.0}
_SIZES: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((65, 65, 30), (257, 257, 40), (513, 513, 30)),
    "small": ((17, 17, 8), (33, 29, 11), (65, 49, 10)),
}
# The tolerance, and how much of it the errors of a drawn configuration may take. An error of one step is that of a few
# roundings to single precision.
_ABSOLUTE, _RELATIVE = 1e-4, 1e-5
_SHARE_OF_TOLERANCE = 1 / 8
_STEP_ERROR = 2.0**-22
_DISTURBED_RUNS = 3
# Up to that much growth of a single error no such run took more than a hundredth of the tolerance.
_LITTLE_GROWTH = 8.0
_HELD_OUT: dict[Scale, tuple[int, int, int]] = {"full": (129, 129, 35), "small": (41, 37, 9)}


class GradShaf(Task):
    name = "gradshaf"
    suite = "sci"
    title = "Grad-Shafranov equilibrium, Picard iteration"
    regime = "R5 multi-kernel"
    unit = "GB/s"
    kernels = (
        Kernel(
            "gradshaf_axis_reduce",
            (
                Argument(0, "psi", "float", "read"),
                Argument(1, "psi_axis", "float", "write"),
                Argument(2, "NR", "uint", "constant"),
                Argument(3, "NZ", "uint", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint tid [[thread_position_in_threadgroup]]", "uint tgsize [[threads_per_threadgroup]]"),
        ),
        Kernel(
            "gradshaf_step",
            (
                Argument(0, "psi_in", "float", "read"),
                Argument(1, "psi_out", "float", "write"),
                Argument(2, "psi_axis", "float", "read"),
                Argument(3, "NR", "uint", "constant"),
                Argument(4, "NZ", "uint", "constant"),
                Argument(5, "Rmin", "float", "constant"),
                Argument(6, "dR", "float", "constant"),
                Argument(7, "dZ", "float", "constant"),
                Argument(8, "p_axis", "float", "constant"),
                Argument(9, "mu0", "float", "constant"),
                Argument(10, "omega", "float", "constant"),
            ),
            (16, 16, 1),
            inputs=("uint2 gid [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("NR", 3, 2048, "grid points in R"),
        Range("NZ", 3, 2048, "grid points in Z; NR and NZ need not be equal, odd, or multiples of the threadgroup"),
        Range("p_axis", 0.0, 1000.0, "pressure scale", step=0),
        Range("mu0", 0.0, 10.0, "permeability", step=0),
        Range("omega", 0.0, 1.0, "relaxation factor", step=0),
    )
    # Not NR, nor the data: on three points, or far from the sine, rounding grows beyond the tolerance.
    free_sizes = ("NZ",)
    brief = contract(
        """
One Picard step of the Grad-Shafranov equation per pair of dispatches. Point (i, j) is element j * NR + i, i along
R, with R = Rmin + i * dR (R runs from 1 to 2, Z from -0.5 to 0.5).

gradshaf_axis_reduce leaves the maximum of psi over the interior points in psi_axis[0]. It runs as a single
threadgroup of 256 threads; under a lower [[max_total_threads_per_threadgroup]] the number is rounded down to a
power of two.

gradshaf_step, with W and E the neighbours in -R and +R, S and N those in -Z and +Z:
  n = psi / psi_axis[0];  J = R * p_axis * 4 n (1 - n) where 0 < n < 1, else 0
  a_W = 1/dR^2 + 1/(2 R dR), a_E = 1/dR^2 - 1/(2 R dR), a_N = a_S = 1/dZ^2, a_C = -2/dR^2 - 2/dZ^2
  D = a_W psi_W + a_E psi_E + a_N psi_N + a_S psi_S + a_C psi
  psi_out = psi + omega * (-mu0 * R * J - D) / a_C
Edge points copy psi_in through unchanged. One thread per point, i = gid.x and j = gid.y. The grid is (NR, NZ)
rounded up to whole threadgroups, so threads outside must do nothing. Threadgroup: 16 x 16; under a lower cap the
height is halved until it fits. The psi buffers swap after every step; all steps of a run are in one command buffer.
Right: max |error| <= 1e-4 + 1e-5 * max |expected| after all steps, edge points exactly as they started. Scored
against memory bandwidth at 12 bytes per point and step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, _CONSTANTS, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], _CONSTANTS, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high, most_steps = (50, 560, 40) if scale == "full" else (14, 60, 12)
        nr, nz = distinct(rng, 2, low, high)
        steps = int(rng.integers(most_steps // 2, most_steps + 1))
        constants = {
            "p_axis": uniform(rng, 100.0, 400.0, digits=2),
            "mu0": uniform(rng, 0.5, 1.5),
            "omega": uniform(rng, 0.6, 1.0),
        }
        return self.conditioned(_configuration(nr, nz, steps, constants, "drawn", scale, draw_seed(rng)))

    def conditioned(self, configuration: Configuration) -> Configuration:
        """As many steps as leave rounding errors well within the tolerance.

        Where psi is small the source makes an error grow by a factor in every step, the more so the fewer points there
        are. How much is seen from runs whose every step has errors of its own.
        """
        if _most_growth(configuration) < _LITTLE_GROWTH:
            return configuration
        psi = self.inputs(configuration)["psi"].astype(np.float64)
        errors = np.random.default_rng(0)
        exact, disturbed = psi.copy(), [psi.copy() for _ in range(_DISTURBED_RUNS)]
        for step in range(configuration.integer("steps")):
            _relax(configuration, exact)
            grown = 0.0
            for run in disturbed:
                _relax(configuration, run)
                run[1:-1, 1:-1] *= 1.0 + _STEP_ERROR * errors.uniform(-1.0, 1.0, (psi.shape[0] - 2, psi.shape[1] - 2))
                grown = max(grown, float(np.abs(run - exact).max()))
            if grown > _SHARE_OF_TOLERANCE * (_ABSOLUTE + _RELATIVE * float(np.abs(exact).max())):
                nr, nz, *constants = (configuration.parameters[key] for key in ("NR", "NZ", *_CONSTANTS))
                return _configuration(
                    int(nr), int(nz), max(step, 1), dict(zip(_CONSTANTS, constants, strict=True)),
                    configuration.origin, configuration.scale, configuration.seed,
                )  # fmt: skip
        return configuration

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        nr, nz = configuration.integer("NR"), configuration.integer("NZ")
        along_z, along_r = np.sin(np.pi * np.linspace(0, 1, nz)), np.sin(np.pi * np.linspace(0, 1, nr))
        return {"psi": zero_faces(np.outer(along_z, along_r).astype(np.float32))}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        nr, nz, steps = (configuration.integer(key) for key in ("NR", "NZ", "steps"))
        psi = PingPong("psi", inputs["psi"], steps)
        size = {3: np.uint32(nr), 4: np.uint32(nz)}
        constants = dict(enumerate((np.float32(1.0), *map(np.float32, _spacings(nr, nz))), start=5))
        for index, key in enumerate(("p_axis", "mu0", "omega"), start=8):
            constants[index] = np.float32(configuration.real(key))
        width = 1 << (min(256, caps["gradshaf_axis_reduce"]).bit_length() - 1)
        grid, threadgroup = tiled_2d(nr, nz, caps["gradshaf_step"])
        dispatches = []
        for step in range(steps):
            source, target = psi.at(step)
            axis_arguments = {0: source, 1: "psi_axis", 2: np.uint32(nr), 3: np.uint32(nz)}
            dispatches.append(Dispatch("gradshaf_axis_reduce", axis_arguments, (width, 1, 1), (width, 1, 1)))
            step_arguments = {0: source, 1: target, 2: "psi_axis", **size, **constants}
            dispatches.append(Dispatch("gradshaf_step", step_arguments, grid, threadgroup))
        buffers = (*psi.buffers, blank("psi_axis", (1,), np.float32, "scratch"))
        return Plan(buffers, tuple(dispatches), {"psi": psi.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        psi = inputs["psi"].astype(np.float64)
        for _ in range(configuration.integer("steps")):
            _relax(configuration, psi)
        return {"psi": psi}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return first_failure(
            max_abs_check(outputs["psi"], expected["psi"], _ABSOLUTE, _RELATIVE),
            copied_faces_check(outputs["psi"], inputs["psi"]),
        )

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        points = configuration.integer("NR") * configuration.integer("NZ")
        return (Demand("dram", 12.0 * points * configuration.integer("steps")),)


def _relax(configuration: Configuration, psi: Array) -> None:
    """One step, in place and in double precision."""
    nz, nr = psi.shape
    dr, dz = (single(spacing) for spacing in _spacings(nr, nz))
    p_axis, mu0, omega = (single(configuration.real(key)) for key in ("p_axis", "mu0", "omega"))
    r = 1.0 + dr * np.arange(1, nr - 1)
    west, east = 1.0 / dr**2 + 1.0 / (2.0 * r * dr), 1.0 / dr**2 - 1.0 / (2.0 * r * dr)
    north, centre = 1.0 / dz**2, -2.0 / dr**2 - 2.0 / dz**2
    inner = psi[1:-1, 1:-1]
    n = inner / inner.max()
    current = np.where((n > 0.0) & (n < 1.0), r * p_axis * 4.0 * n * (1.0 - n), 0.0)
    operator = west * psi[1:-1, :-2] + east * psi[1:-1, 2:] + centre * inner
    operator += north * (psi[2:, 1:-1] + psi[:-2, 1:-1])
    inner += omega * (-mu0 * r * current - operator) / centre


def _most_growth(configuration: Configuration) -> float:
    """Of a small error where psi is near zero and R is 2, by the derivative of the source, while psi_axis is 1."""
    dr, dz = _spacings(configuration.integer("NR"), configuration.integer("NZ"))
    p_axis, mu0, omega = (configuration.real(key) for key in ("p_axis", "mu0", "omega"))
    step = omega * mu0 * 4.0 * p_axis * 2.0**2 / (2.0 / dr**2 + 2.0 / dz**2)
    return float((1.0 + step) ** configuration.integer("steps"))


def _spacings(nr: int, nz: int) -> tuple[float, float]:
    """(dR, dZ): both axes are one unit long."""
    return 1.0 / (nr - 1), 1.0 / (nz - 1)


def _configuration(
    nr: int, nz: int, steps: int, constants: Mapping[str, float], origin: Origin, scale: Scale, seed: int = 0
) -> Configuration:
    label = f"{nr}x{nz}, {steps} steps"
    if origin == "drawn":
        label += "".join(f", {key}={value:g}" for key, value in constants.items())
    return Configuration(label, {"NR": nr, "NZ": nz, "steps": steps, **constants}, origin, scale, seed)
