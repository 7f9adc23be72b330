"""fri_round: folds evaluations of a polynomial over Goldilocks and commits to them with a Merkle tree."""

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
    edge_values,
    elements,
    exact_check,
)
from kfp.tasks.zk.fields import GOLDILOCKS, GOLDILOCKS_P, Words, words
from kfp.tasks.zk.merkle import build, levels, unbuilt
from kfp.tasks.zk.poseidon2 import (
    CONSTANT_LAWS,
    CONSTANTS,
    PERMUTATION_TEXT,
    constant_arguments,
    constants,
    multiplications,
    permutation,
)

# fold, base-2 logarithm of N.
_SIZES: dict[Scale, tuple[tuple[int, int], ...]] = {
    "full": ((2, 16), (2, 18), (2, 20)),
    "small": ((2, 4), (2, 6), (2, 8)),
}
_HELD_OUT: dict[Scale, tuple[int, int]] = {"full": (4, 17), "small": (4, 7)}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (13, 19), "small": (3, 8)}
_T, _R_F, _R_P = 3, 8, 22
_SHIFT = 7


class FriRound(Task):
    name = "fri_round"
    suite = "zk"
    title = "FRI round over Goldilocks: fold, then commit"
    regime = "strided reads and modular products, then levels that shrink"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "fri_fold",
            (
                Argument(0, "evals_in", "ulong", "read"),
                Argument(1, "evals_out", "ulong", "write"),
                Argument(2, "inv_x_base", "ulong", "read"),
                Argument(3, "zeta_inv_pow", "ulong", "read"),
                Argument(4, "alpha", "ulong", "constant"),
                Argument(5, "inv_fold", "ulong", "constant"),
                Argument(6, "fold", "uint", "constant"),
                Argument(7, "n_out", "uint", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint j [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
        Kernel(
            "fri_commit_level",
            (
                Argument(0, "tree", "ulong", "read_write"),
                *constant_arguments(1),
                Argument(5, "in_offset", "uint", "constant"),
                Argument(6, "out_offset", "uint", "constant"),
                Argument(7, "child_count", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint p [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("fold", 2, 4, "evaluations that become one, 2 or 4", powers_of_two=True),
        Range("N", 8, 1 << 22, "evaluations before the fold; n_out = N / fold", powers_of_two=True),
    )
    free_inputs = (FreeInput("evals", 0, GOLDILOCKS_P - 1),)
    exchangeable = ("evals",)
    data_laws: ClassVar = {"law": DATA_LAWS, "constant_law": CONSTANT_LAWS[1:]}
    brief = contract(
        f"""
{GOLDILOCKS_TEXT}

evals_in holds a polynomial's values at g w^i, i < N, for some shift g and a primitive N-th root of unity w; the shift
and the challenge alpha may be any other in another run. fri_fold computes, for j < n_out,
  evals_out[j] = inv_fold * sum over m < fold of S_m * evals_in[j + m n_out]
  r_m = alpha * inv_x_base[j] * zeta_inv_pow[m],  S_m = sum over p < fold of r_m^p
where inv_x_base[j] = 1 / (g w^j), zeta_inv_pow[m] = w^(-m n_out) and inv_fold = 1 / fold.

fri_commit_level builds the binary Merkle tree over evals_out, whose buffer holds all levels, leaves first: one dispatch
a level reads child_count children from tree[in_offset] on and writes half as many parents from tree[out_offset] on.
Parent p is lane 0 of the permutation of the state (child 2p, child 2p + 1, 0); an absent child is 0. Every node is
checked.

{PERMUTATION_TEXT}
Here t = {_T}, r_f = {_R_F}, r_p = {_R_P}.
{EDGES_TEXT}

One thread per output of the fold and per parent. Grids are rounded up to a multiple of the threadgroup; threads beyond
n_out and beyond the parents must do nothing. Threadgroup: 256 threads for the fold, min(64, parents) for a level, or
fewer if the kernel declares a lower [[max_total_threads_per_threadgroup]]. A round is in one command buffer.
{EXACT_TEXT}
Scored against the tighter of memory bandwidth, at 8 (fold + 2) bytes an output and 24 a parent, and the rate of 64-bit
products, at fold^2 + fold + 2 an output and {multiplications(_T, _R_F, _R_P)} a parent.
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
        fold, log_n = int(rng.choice([2, 4])), int(rng.integers(low, high + 1))
        shift = int(elements(rng, 1, GOLDILOCKS_P - 1)[0]) + 1
        laws = draw_law(rng), int(rng.choice(CONSTANT_LAWS))
        return _configuration(fold, log_n, "drawn", scale, draw_seed(rng), shift, *laws)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n, fold = configuration.integer("N"), configuration.integer("fold")
        n_out = n // fold
        inverse_root = pow(GOLDILOCKS.root_of_unity(n.bit_length() - 1), -1, GOLDILOCKS_P)
        inverse_shift = pow(configuration.integer("shift"), -1, GOLDILOCKS_P)
        law = configuration.integer("law")
        return {
            "evals": elements(rng, n, GOLDILOCKS_P, law),
            "inv_x_base": GOLDILOCKS.mul(GOLDILOCKS.powers(inverse_root, n_out), np.uint64(inverse_shift)),
            "zeta_inv_pow": GOLDILOCKS.powers(pow(inverse_root, n_out, GOLDILOCKS_P), fold),
            "alpha": _challenge(rng, law),
            "inv_fold": words(pow(fold, -1, GOLDILOCKS_P)),
            **constants(rng, _T, _R_F, _R_P, configuration.integer("constant_law")),
        }

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n, fold = configuration.integer("N"), configuration.integer("fold")
        n_out = n // fold
        arguments = {
            0: "evals",
            1: "tree",
            2: "inv_x_base",
            3: "zeta_inv_pow",
            4: np.uint64(inputs["alpha"]),
            5: np.uint64(inputs["inv_fold"]),
            6: np.uint32(fold),
            7: np.uint32(n_out),
        }
        dispatches = [Dispatch("fri_fold", arguments, *linear(n_out, 256, caps["fri_fold"]))]
        permutation_buffers = dict(enumerate(CONSTANTS, 1))
        for (below, children), (above, parents) in pairwise(levels(n_out, 2)):
            sizes = {5: np.uint32(below), 6: np.uint32(above), 7: np.uint32(children)}
            shape = linear(parents, min(64, parents), caps["fri_commit_level"])
            dispatches.append(Dispatch("fri_commit_level", {0: "tree", **permutation_buffers, **sizes}, *shape))
        names = ("evals", "inv_x_base", "zeta_inv_pow", *permutation_buffers.values())
        tree = given("tree", unbuilt(np.full(n_out, 2**64 - 1, np.uint64), 2), "state")
        return Plan((*(given(name, inputs[name]) for name in names), tree), tuple(dispatches), {"tree": "tree"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        folded = fold_evaluations(inputs, configuration.integer("fold"))
        return {"tree": build(folded, 2, permutation(inputs))}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["tree"], GOLDILOCKS_P)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        fold = configuration.integer("fold")
        n_out = configuration.integer("N") // fold
        parents = sum(count for _, count in levels(n_out, 2)[1:])
        products = n_out * (fold**2 + fold + 2) + parents * multiplications(_T, _R_F, _R_P)
        return (
            Demand("dram", 8.0 * (fold + 2) * n_out + 24.0 * parents),
            Demand("u64_multiply", float(products)),
        )


def fold_evaluations(inputs: Arrays, fold: int) -> Words:
    """The folded evaluations, by Horner's rule in alpha over the coefficients that a fold-point transform gives."""
    rows = np.asarray(inputs["evals"], np.uint64).reshape(fold, -1)
    ratio = GOLDILOCKS.mul(inputs["inv_x_base"], np.uint64(inputs["alpha"]))
    folded: Words = np.zeros(rows.shape[1], np.uint64)
    for power in reversed(range(fold)):
        coefficient: Words = np.zeros(rows.shape[1], np.uint64)
        for m, row in enumerate(rows):
            weight = pow(int(inputs["zeta_inv_pow"][1]), m * power, GOLDILOCKS_P)
            coefficient = GOLDILOCKS.add(coefficient, GOLDILOCKS.mul(row, np.uint64(weight)))
        folded = GOLDILOCKS.add(GOLDILOCKS.mul(folded, ratio), coefficient)
    return GOLDILOCKS.mul(folded, np.uint64(inputs["inv_fold"]))


def _challenge(rng: np.random.Generator, law: int) -> Words:
    """One element; an edge value where the data are."""
    if LAWS[law] == "edges":
        return words(rng.choice(edge_values(GOLDILOCKS_P)))
    return words(rng.integers(0, GOLDILOCKS_P, dtype=np.uint64))


def _configuration(
    fold: int,
    log_n: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    shift: int = _SHIFT,
    law: int = 0,
    constant_law: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"fold": fold, "N": 1 << log_n, "shift": shift}
    parameters |= {"law": law, "constant_law": constant_law}
    label = f"fold={fold}, N={1 << log_n}"
    if origin == "drawn":
        label += f", shift={shift:#x}, {LAWS[law]}, constants {LAWS[constant_law]}"
    return Configuration(label, parameters, origin, scale, seed)
