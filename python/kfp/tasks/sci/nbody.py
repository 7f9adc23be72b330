"""nbody: direct summation of softened gravity, all pairs."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from kfp.plan import Dispatch, Plan, given, linear
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
from kfp.tasks.sci._common import Doubles, PingPong, draw_seed, single, uniform

_STEPS = 10
# Few bodies move little; the small scale takes longer steps, so that each of them shows in the result.
_CONSTANTS: dict[Scale, dict[str, float]] = {
    "full": {"dt": 1e-3, "eps": 0.05, "G": 1.0},
    "small": {"dt": 5e-3, "eps": 0.1, "G": 1.0},
}
_SIZES: dict[Scale, tuple[int, ...]] = {"full": (256, 1024, 2048), "small": (64, 128, 224)}
_HELD_OUT: dict[Scale, int] = {"full": 512, "small": 101}
_ROWS = 256


class NBody(Task):
    name = "nbody"
    suite = "sci"
    title = "Gravitational N-body problem, direct summation"
    regime = "R2 compute"
    unit = "GFLOPS"
    kernels = (
        Kernel(
            "nbody_step",
            (
                Argument(0, "pos_in", "float4", "read"),
                Argument(1, "pos_out", "float4", "write"),
                Argument(2, "vel_in", "float4", "read"),
                Argument(3, "vel_out", "float4", "write"),
                Argument(4, "mass", "float", "read"),
                Argument(5, "N", "uint", "constant"),
                Argument(6, "dt", "float", "constant"),
                Argument(7, "eps", "float", "constant"),
                Argument(8, "G", "float", "constant"),
            ),
            (128, 1, 1),
            inputs=("uint i [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("N", 2, 16384, "bodies, not always a multiple of the simdgroup or the threadgroup"),
        Range("dt", 0.0, 0.01, "time step", step=0),
        Range("eps", 0.01, 1.0, "softening length", step=0),
        Range("G", 0.0, 8.0, "gravitational constant", step=0),
    )
    free_sizes = ("N",)
    free_inputs = (FreeInput("mass", 0.5, 1.5),)
    exchangeable = ("pos", "vel", "mass")
    brief = contract(
        """
One step of N bodies under softened gravity per dispatch, in float32. With d = r_j - r_i:
  a_i = G * sum over j of m_j * d / (|d|^2 + eps^2)^1.5     (the term j = i is zero)
  v_out = v_in + a_i * dt,  r_out = r_in + v_out * dt
Positions and velocities are float4 with the vector in xyz; w is not used.

One thread per body. The grid is N rounded up to a multiple of the threadgroup, so threads with i >= N must write
nothing. Threadgroup: 128 threads, or fewer if the kernel declares a lower [[max_total_threads_per_threadgroup]].
The buffers swap after every step; all steps of a run are in one command buffer. Right: max |position error| <= 1e-3
+ 1e-3 * max |expected| after all steps. Scored against the FP32 peak at 20 operations a pair.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(n, _CONSTANTS[scale], "in_distribution", scale) for n in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], _CONSTANTS[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high = (200, 2600) if scale == "full" else (40, 230)
        n = int(rng.integers(low, high))
        n += n % 32 == 0
        typical = _CONSTANTS[scale]
        constants = {
            "dt": uniform(rng, typical["dt"], 2.0 * typical["dt"], digits=5),
            "eps": uniform(rng, 0.8 * typical["eps"], 2.0 * typical["eps"]),
            "G": uniform(rng, 0.8, 1.6),
        }
        return _configuration(n, constants, "drawn", scale, draw_seed(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n = configuration.integer("N")
        position, velocity = np.zeros((2, n, 4), np.float32)
        position[:, :3] = rng.uniform(-1.0, 1.0, (n, 3))
        velocity[:, :3] = rng.uniform(-0.01, 0.01, (n, 3))
        return {"pos": position, "vel": velocity, "mass": rng.uniform(0.5, 1.5, n).astype(np.float32)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        steps = configuration.integer("steps")
        n = configuration.integer("N")
        position = PingPong("pos", inputs["pos"], steps)
        velocity = PingPong("vel", inputs["vel"], steps, read_back=False)
        grid, threadgroup = linear(n, 128, caps["nbody_step"])
        constants = {
            4: "mass",
            5: np.uint32(n),
            6: np.float32(configuration.real("dt")),
            7: np.float32(configuration.real("eps")),
            8: np.float32(configuration.real("G")),
        }
        dispatches = []
        for step in range(steps):
            moved = dict(enumerate((*position.at(step), *velocity.at(step))))
            dispatches.append(Dispatch("nbody_step", {**moved, **constants}, grid, threadgroup))
        buffers = (*position.buffers, *velocity.buffers, given("mass", inputs["mass"]))
        return Plan(buffers, tuple(dispatches), {"pos": position.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        dt = single(configuration.real("dt"))
        eps2 = single(configuration.real("eps")) ** 2
        weights = single(configuration.real("G")) * inputs["mass"].astype(np.float64)
        position = np.ascontiguousarray(inputs["pos"][:, :3].T, dtype=np.float64)
        velocity = np.ascontiguousarray(inputs["vel"][:, :3].T, dtype=np.float64)
        for _ in range(configuration.integer("steps")):
            velocity += dt * accelerations(position, weights, eps2)
            position += dt * velocity
        return {"pos": position.T}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return max_abs_check(outputs["pos"][:, :3], expected["pos"], 1e-3, 1e-3)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return (Demand("fp32", 20.0 * configuration.integer("N") ** 2 * configuration.integer("steps")),)


def accelerations(position: Doubles, weights: Doubles, eps2: float) -> Doubles:
    """Softened gravity at every body; ``position`` is (3, N), ``weights`` G * mass."""
    result = np.empty_like(position)
    for start in range(0, position.shape[1], _ROWS):
        rows = slice(start, start + _ROWS)
        offsets = position[:, None, :] - position[:, rows, None]
        distance2 = offsets[0] ** 2 + offsets[1] ** 2 + offsets[2] ** 2 + eps2
        kernel = weights / (distance2 * np.sqrt(distance2))
        for axis in range(3):
            result[axis, rows] = np.einsum("ij,ij->i", offsets[axis], kernel)
    return result


def _configuration(
    n: int, constants: Mapping[str, float], origin: Origin, scale: Scale, seed: int = 0
) -> Configuration:
    label = f"N={n}, {_STEPS} steps"
    if origin == "drawn":
        label += "".join(f", {key}={value:g}" for key, value in constants.items())
    return Configuration(label, {"N": n, "steps": _STEPS, **constants}, origin, scale, seed)
