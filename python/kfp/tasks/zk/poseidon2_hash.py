"""poseidon2_hash: the Poseidon2 permutation of many states over Goldilocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np

from kfp.plan import Dispatch, Plan, blank, given, linear
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
)
from kfp.tasks.zk._common import (
    DATA_LAWS,
    EDGES_TEXT,
    EXACT_TEXT,
    GOLDILOCKS_TEXT,
    LAWS,
    draw_law,
    draw_odd,
    draw_seed,
    elements,
    exact_check,
)
from kfp.tasks.zk.fields import GOLDILOCKS_P
from kfp.tasks.zk.poseidon2 import (
    CONSTANT_LAWS,
    CONSTANTS,
    PERMUTATION_TEXT,
    ROUND_RANGES,
    constant_arguments,
    constants,
    draw_rounds,
    multiplications,
    permutation,
)

# t, batch.
_SIZES: dict[Scale, tuple[tuple[int, int], ...]] = {
    "full": ((3, 2**12), (3, 2**16), (3, 2**20)),
    "small": ((3, 2**5), (3, 2**7), (3, 2**9)),
}
_HELD_OUT: dict[Scale, tuple[int, int]] = {"full": (4, 2**18), "small": (4, 2**8)}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (2**10, 2**18), "small": (1, 200)}


class Poseidon2Hash(Task):
    name = "poseidon2_hash"
    suite = "zk"
    title = "Poseidon2 permutations over Goldilocks"
    regime = "long chains of modular products in registers"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "poseidon2_hash",
            (
                Argument(0, "in_state", "ulong", "read"),
                Argument(1, "out_state", "ulong", "write"),
                *constant_arguments(2),
                Argument(6, "t", "uint", "constant"),
                Argument(7, "r_f", "uint", "constant"),
                Argument(8, "r_p", "uint", "constant"),
                Argument(9, "batch", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("t", 3, 4, "lanes of a state"),
        *ROUND_RANGES,
        Range("batch", 1, 1 << 22, "states"),
    )
    free_sizes = ("t", "r_f", "r_p", "batch")
    free_inputs = (FreeInput("in_state", 0, GOLDILOCKS_P - 1),)
    exchangeable = ("in_state",)
    data_laws: ClassVar = {"law": DATA_LAWS, "constant_law": CONSTANT_LAWS[1:]}
    brief = contract(
        f"""
{GOLDILOCKS_TEXT}

{PERMUTATION_TEXT}

State number idx is in_state[idx t] to in_state[idx t + t - 1]; its permutation goes to the same place of out_state.
{EDGES_TEXT}

One thread per state. The grid is batch rounded up to a multiple of the threadgroup; threads with idx >= batch must do
nothing. Threadgroup: 64 threads, or fewer if the kernel declares a lower [[max_total_threads_per_threadgroup]].
{EXACT_TEXT}
Scored against the tighter of memory bandwidth, at 16 t bytes a state, and the rate of 64-bit products, at
4 (r_f t + r_p) + t^2 (1 + r_f) + t r_p a state.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        t, batch = int(rng.integers(3, 5)), draw_odd(rng, *_DRAWN[scale])
        r_f, r_p = draw_rounds(rng)
        laws = draw_law(rng), int(rng.choice(CONSTANT_LAWS))
        return _configuration(t, batch, "drawn", scale, draw_seed(rng), r_f, r_p, *laws)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        t, batch, r_f, r_p = (configuration.integer(name) for name in ("t", "batch", "r_f", "r_p"))
        return {
            "in_state": elements(rng, (batch, t), GOLDILOCKS_P, configuration.integer("law")),
            **constants(rng, t, r_f, r_p, configuration.integer("constant_law")),
        }

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        batch = configuration.integer("batch")
        names = ("in_state", *CONSTANTS)
        arguments = {
            0: "in_state",
            1: "out_state",
            **dict(enumerate(CONSTANTS, 2)),
            **{6 + i: np.uint32(configuration.integer(name)) for i, name in enumerate(("t", "r_f", "r_p", "batch"))},
        }
        buffers = (
            *(given(name, inputs[name]) for name in names),
            blank("out_state", inputs["in_state"].shape, np.uint64),
        )
        dispatch = Dispatch("poseidon2_hash", arguments, *linear(batch, 64, caps["poseidon2_hash"]))
        return Plan(buffers, (dispatch,), {"out_state": "out_state"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        return {"out_state": permutation(inputs).permute(inputs["in_state"])}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["out_state"], GOLDILOCKS_P)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        t, batch, r_f, r_p = (configuration.integer(name) for name in ("t", "batch", "r_f", "r_p"))
        return (
            Demand("dram", 16.0 * t * batch),
            Demand("u64_multiply", float(batch * multiplications(t, r_f, r_p))),
        )


def _configuration(
    t: int,
    batch: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    r_f: int = 8,
    r_p: int = 22,
    law: int = 0,
    constant_law: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"t": t, "batch": batch, "r_f": r_f, "r_p": r_p}
    parameters |= {"law": law, "constant_law": constant_law}
    label = f"t={t}, batch={batch}"
    if origin == "drawn":
        label += f", rounds {r_f} + {r_p}, {LAWS[law]}, constants {LAWS[constant_law]}"
    return Configuration(label, parameters, origin, scale, seed)
