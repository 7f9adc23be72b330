"""merkle_build: a Merkle tree of Poseidon2 permutations, one level a dispatch."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import ClassVar

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
    draw_seed,
    elements,
    exact_check,
)
from kfp.tasks.zk.fields import GOLDILOCKS_P
from kfp.tasks.zk.merkle import build, levels, unbuilt
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

# arity, leaves.
_SIZES: dict[Scale, tuple[tuple[int, int], ...]] = {
    "full": ((2, 2**16), (2, 2**18), (2, 2**20)),
    "small": ((2, 2**4), (2, 2**6), (2, 2**8)),
}
# A power of two that is no power of four: its last level but one has two nodes.
_HELD_OUT: dict[Scale, tuple[int, int]] = {"full": (4, 2**19), "small": (4, 2**7)}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (2**14, 2**19), "small": (2, 150)}
# Lanes of a state by arity.
LANES = {2: 3, 4: 4}


class MerkleBuild(Task):
    name = "merkle_build"
    suite = "zk"
    title = "Merkle tree of Poseidon2 permutations"
    regime = "modular products, levels that shrink to a single thread"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "merkle_build_level",
            (
                Argument(0, "tree", "ulong", "read_write"),
                *constant_arguments(1),
                Argument(5, "arity", "uint", "constant"),
                Argument(6, "t", "uint", "constant"),
                Argument(7, "r_f", "uint", "constant"),
                Argument(8, "r_p", "uint", "constant"),
                Argument(9, "in_offset", "uint", "constant"),
                Argument(10, "out_offset", "uint", "constant"),
                Argument(11, "child_count", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint p [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("arity", 2, 4, "children of a node, 2 or 4; t is 3 for two and 4 for four", powers_of_two=True),
        Range("leaves", 2, 1 << 22, "leaves of the tree"),
        *ROUND_RANGES,
    )
    free_sizes = ("leaves", "r_f", "r_p")
    free_inputs = (FreeInput("leaves", 0, GOLDILOCKS_P - 1),)
    exchangeable = ("leaves",)
    data_laws: ClassVar = {"law": DATA_LAWS, "constant_law": CONSTANT_LAWS[1:]}
    brief = contract(
        f"""
{GOLDILOCKS_TEXT}

{PERMUTATION_TEXT}

All levels of a Merkle tree lie in one buffer, leaves first, the root last. One dispatch a level reads child_count
children from tree[in_offset] on and writes ceil(child_count / arity) parents from tree[out_offset] on. Parent p has the
children arity p to arity p + arity - 1; its state is those, then 0 for the remaining lanes; a child beyond child_count
is 0. The parent is lane 0 of the permuted state. A number of leaves need not be a power of the arity. Every node is
checked, and leaves must stay as they are.
{EDGES_TEXT}

One thread per parent. The grid is the number of parents rounded up to a multiple of the threadgroup; threads beyond
the parents must do nothing. Threadgroup: 64 threads, or fewer if the kernel declares a lower
[[max_total_threads_per_threadgroup]]. All levels of a tree are in one command buffer.
{EXACT_TEXT}
Scored against the tighter of memory bandwidth, at 8 (arity + 1) bytes a parent, and the rate of 64-bit products, at
4 (r_f t + r_p) + t^2 (1 + r_f) + t r_p a parent.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high = _DRAWN[scale]
        arity = int(rng.choice([2, 4]))
        leaves = int(rng.integers(low, high + 1))
        r_f, r_p = draw_rounds(rng)
        laws = draw_law(rng), int(rng.choice(CONSTANT_LAWS))
        return _configuration(arity, leaves, "drawn", scale, draw_seed(rng), r_f, r_p, *laws)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        leaves, r_f, r_p = (configuration.integer(name) for name in ("leaves", "r_f", "r_p"))
        t = LANES[configuration.integer("arity")]
        return {
            "leaves": elements(rng, leaves, GOLDILOCKS_P, configuration.integer("law")),
            **constants(rng, t, r_f, r_p, configuration.integer("constant_law")),
        }

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        arity, leaves = configuration.integer("arity"), configuration.integer("leaves")
        fixed = {
            0: "tree",
            **dict(enumerate(CONSTANTS, 1)),
            5: np.uint32(arity),
            6: np.uint32(LANES[arity]),
            7: np.uint32(configuration.integer("r_f")),
            8: np.uint32(configuration.integer("r_p")),
        }
        dispatches = []
        for (below, children), (above, parents) in pairwise(levels(leaves, arity)):
            sizes = {9: np.uint32(below), 10: np.uint32(above), 11: np.uint32(children)}
            grid, threadgroup = linear(parents, 64, caps["merkle_build_level"])
            dispatches.append(Dispatch("merkle_build_level", {**fixed, **sizes}, grid, threadgroup))
        tree = given("tree", unbuilt(inputs["leaves"], arity), "state")
        return Plan((tree, *(given(name, inputs[name]) for name in CONSTANTS)), tuple(dispatches), {"tree": "tree"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        return {"tree": build(inputs["leaves"], configuration.integer("arity"), permutation(inputs))}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["tree"], GOLDILOCKS_P)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        arity, leaves, r_f, r_p = (configuration.integer(name) for name in ("arity", "leaves", "r_f", "r_p"))
        parents = sum(count for _, count in levels(leaves, arity)[1:])
        return (
            Demand("dram", 8.0 * (arity + 1) * parents),
            Demand("u64_multiply", float(parents * multiplications(LANES[arity], r_f, r_p))),
        )


def _configuration(
    arity: int,
    leaves: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    r_f: int = 8,
    r_p: int = 22,
    law: int = 0,
    constant_law: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"arity": arity, "leaves": leaves, "r_f": r_f, "r_p": r_p}
    parameters |= {"law": law, "constant_law": constant_law}
    label = f"arity={arity}, leaves={leaves}"
    if origin == "drawn":
        label += f", rounds {r_f} + {r_p}, {LAWS[law]}, constants {LAWS[constant_law]}"
    return Configuration(label, parameters, origin, scale, seed)
