"""saxpy: the smoke task of the suite. Bound by memory bandwidth, with nothing to gain beyond wide loads."""

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
from kfp.tasks.sci._common import draw_seed, single

_SIZES: dict[Scale, tuple[int, ...]] = {"full": (2**20, 2**24, 2**26), "small": (2**10, 2**14, 2**18)}
_HELD_OUT: dict[Scale, int] = {"full": 2**22, "small": 2**16}
_BLOCK = 1 << 20


class Saxpy(Task):
    name = "saxpy"
    suite = "sci"
    title = "y = a x + y"
    regime = "smoke, bandwidth"
    unit = "GB/s"
    kernels = (
        Kernel(
            "saxpy",
            (
                Argument(0, "x", "float", "read"),
                Argument(1, "y", "float", "read_write"),
                Argument(2, "a", "float", "constant"),
                Argument(3, "N", "uint", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint i [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("N", 1, 2**28, "number of elements"),
        Range("a", -3.4e38, 3.4e38, "the factor, any finite number", step=0),
    )
    free_sizes = ("N",)
    free_inputs = (FreeInput("x", -4.0, 4.0), FreeInput("y", -4.0, 4.0))
    brief = contract(
        """
y[i] = a * x[i] + y[i] for i < N, in float32.

One thread per element. The grid is N rounded up to a multiple of the threadgroup, so threads with i >= N must do
nothing. Threadgroup: 256 threads, or fewer if the kernel declares a lower [[max_total_threads_per_threadgroup]].
Right: max |error| <= 1e-5 * max(1, max |expected|). Scored against memory bandwidth at 12 bytes an element.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(n, 2.5, "in_distribution", scale) for n in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], 2.5, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high = (18, 26) if scale == "full" else (10, 18)
        n = int(2.0 ** rng.uniform(low, high))
        n += n % 32 == 0
        a = float(rng.choice((-1.0, 1.0))) * float(f"{10.0 ** rng.uniform(-3, 3):.4g}")
        return _configuration(n, a, "drawn", scale, draw_seed(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n = configuration.integer("N")
        return {name: rng.standard_normal(n, dtype=np.float32) for name in ("x", "y")}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n = configuration.integer("N")
        grid, threadgroup = linear(n, 256, caps["saxpy"])
        return Plan(
            (given("x", inputs["x"]), given("y", inputs["y"], "state")),
            (
                Dispatch(
                    "saxpy",
                    {0: "x", 1: "y", 2: np.float32(configuration.real("a")), 3: np.uint32(n)},
                    grid,
                    threadgroup,
                ),
            ),
            {"y": "y"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        a = single(configuration.real("a"))
        x, y = inputs["x"], inputs["y"]
        # Rounded to float32 and in blocks: the largest size must not be held in float64.
        expected = np.empty_like(y)
        for start in range(0, x.size, _BLOCK):
            block = slice(start, start + _BLOCK)
            expected[block] = a * x[block].astype(np.float64) + y[block]
        return {"y": expected}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        largest = max(float(expected["y"].max()), -float(expected["y"].min()))
        return max_abs_check(outputs["y"], expected["y"], 1e-5 * max(1.0, largest), 0.0)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return (Demand("dram", 12.0 * configuration.integer("N")),)


def _configuration(n: int, a: float, origin: Origin, scale: Scale, seed: int = 0) -> Configuration:
    return Configuration(f"N={n}, a={a:g}", {"N": n, "a": a}, origin, scale, seed)
