"""The Poseidon2 permutation over Goldilocks with constants of any kind (Grassi, Khovratovich, Schofnegger 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from kfp.tasks.base import Argument, Arrays, Range
from kfp.tasks.zk import goldilocks
from kfp.tasks.zk._common import LAWS, elements
from kfp.tasks.zk.goldilocks import Words, Workspace

# A constant of a linear layer: low and high half for each limb of a lane.
_Weights: TypeAlias = tuple[tuple[np.uint64, np.uint64], ...]


# The buffers of a permutation's constants, in the order in which kernels take them.
CONSTANTS = ("rc_ext", "rc_int", "ext_mds", "int_diag")

ROUND_RANGES = (Range("r_f", 2, 8, "full rounds", step=2), Range("r_p", 1, 32, "partial rounds"))


def constant_arguments(first: int) -> tuple[Argument, ...]:
    """The arguments for ``CONSTANTS`` from buffer index ``first`` on."""
    return tuple(Argument(index, name, "ulong", "read") for index, name in enumerate(CONSTANTS, first))


def draw_rounds(rng: np.random.Generator) -> tuple[int, int]:
    """Full and partial rounds, anywhere in their ranges."""
    return 2 * int(rng.integers(1, 5)), int(rng.integers(1, 33))


@dataclass(frozen=True, eq=False)
class Poseidon2:
    """The state times E, r_f / 2 full rounds, r_p partial ones, r_f / 2 full ones.

    A full round adds ``rc_ext[round]``, raises every lane to the seventh power and multiplies by ``ext_mds`` (t x t);
    a partial round adds ``rc_int[round]`` to lane 0 and raises it, then y_i = sum of the state + int_diag_i state_i.
    """

    rc_ext: Words
    rc_int: Words
    ext_mds: Words
    int_diag: Words

    @property
    def t(self) -> int:
        return int(self.ext_mds.shape[0])

    def permute(self, states: Words) -> Words:
        """The permuted states, one a row, canonical."""
        result = np.empty_like(states)
        size = min(goldilocks.BLOCK, max(1, states.shape[0]))
        block = _Block(self.t, size)
        steps = self._steps()
        for start in range(0, states.shape[0], size):
            rows = slice(start, start + size)
            block.run(states[rows], steps, result[rows])
        return result

    def _steps(self) -> list[_Step]:
        """Every linear layer with what the following round begins with: its constants, and the lanes that it raises."""
        half = self.rc_ext.shape[0] // 2
        full = [(row.tolist(), self.t) for row in self.rc_ext]
        partial = [([int(constant)] + [0] * (self.t - 1), 1) for constant in self.rc_int]
        rounds = [*full[:half], *partial, *full[half:], ([0] * self.t, 0)]
        mds = [[goldilocks.weighted(entry) for entry in row] for row in self.ext_mds.tolist()]
        diagonal = [goldilocks.weighted(entry) for entry in self.int_diag.tolist()]
        return [
            _Step(
                [goldilocks.halves(constant) for constant in constants],
                raised,
                None if half < index <= half + len(partial) else mds,
                diagonal,
            )
            for index, (constants, raised) in enumerate(rounds)
        ]


def multiplications(t: int, r_f: int, r_p: int) -> int:
    """Products of one permutation: four a raised lane, one an entry of E or of the diagonal."""
    return 4 * (r_f * t + r_p) + t * t * (1 + r_f) + t * r_p


@dataclass(frozen=True)
class _Step:
    """A linear layer (E, or the sum and the diagonal where there is none), constants to add, lanes to raise."""

    constants: list[tuple[np.uint64, np.uint64]]
    raised: int
    mds: list[list[_Weights]] | None
    diagonal: list[_Weights]


class _Block:
    """Some permutations at once: a lane is a row, and sums of products are reduced only when complete."""

    def __init__(self, t: int, size: int) -> None:
        self._lanes = np.empty((t, size), np.uint64)
        self._limbs = np.empty((t, 3, size), np.uint64)
        self._spare = np.empty((5, size), np.uint64)
        self._products = Workspace(size)

    def run(self, states: Words, steps: list[_Step], permuted: Words) -> None:
        count, t = states.shape
        lanes = self._lanes[:, :count]
        lanes[:] = states.T
        for step in steps:
            for lane in range(t):
                goldilocks.split(lanes[lane], self._limbs[lane, :, :count])
            if step.mds is None:
                self._sum_and_diagonal(lanes, step)
            else:
                self._dense(lanes, step.mds, step.constants)
            for lane in range(step.raised):
                self._raise_to_seventh(lanes[lane])
        goldilocks.canonical(lanes)
        permuted[:] = lanes.T

    def _dense(self, lanes: Words, mds: list[list[_Weights]], constants: list[tuple[np.uint64, np.uint64]]) -> None:
        count = lanes.shape[1]
        sums = self._spare[:2, :count]
        for lane, row, constant in zip(lanes, mds, constants, strict=True):
            sums[0], sums[1] = constant
            for limbs, weights in zip(self._limbs, row, strict=True):
                self._add_products(sums, limbs[:, :count], weights)
            self._products.join(sums[0], sums[1], lane)

    def _sum_and_diagonal(self, lanes: Words, step: _Step) -> None:
        count = lanes.shape[1]
        sums, total = self._spare[:2, :count], self._spare[2:4, :count]
        low, high = np.uint64(0xFFFFFFFF), np.uint64(32)
        np.sum(lanes & low, axis=0, out=total[0])
        np.sum(lanes >> high, axis=0, out=total[1])
        for lane, limbs, weights, constant in zip(lanes, self._limbs, step.diagonal, step.constants, strict=True):
            np.add(total[0], constant[0], out=sums[0])
            np.add(total[1], constant[1], out=sums[1])
            self._add_products(sums, limbs[:, :count], weights)
            self._products.join(sums[0], sums[1], lane)

    def _add_products(self, sums: Words, limbs: Words, weights: _Weights) -> None:
        product = self._spare[4, : limbs.shape[1]]
        for limb, halves in zip(limbs, weights, strict=True):
            for half, weight in enumerate(halves):
                np.multiply(limb, weight, out=product)
                sums[half] += product

    def _raise_to_seventh(self, lane: Words) -> None:
        square, cube = self._spare[:2, : lane.size]
        self._products.square(lane, square)
        self._products.multiply(square, lane, cube)
        self._products.square(square, square)
        self._products.multiply(square, cube, lane)


# The laws (``_common.LAWS``) of drawn constants: those that leave a permutation worth the name.
CONSTANT_LAWS = tuple(LAWS.index(name) for name in ("uniform", "edges", "near the modulus", "cancelling"))

PERMUTATION_TEXT = """
Poseidon2 with a state of t lanes: first state = E state. Then r_f / 2 full rounds, r_p partial rounds, r_f / 2 full
rounds. Full round r: add rc_ext[r t + i] to lane i, raise every lane to the 7th power, state = E state. Partial round
r: add rc_int[r] to lane 0 and raise it to the 7th power, then lane i becomes (sum of all lanes) + int_diag[i] lane i.
E is dense, row-major in ext_mds: new lane i = sum over j of ext_mds[i t + j] lane j. All constants come in the buffers
and differ from run to run.
""".strip()


def constants(rng: np.random.Generator, t: int, r_f: int, r_p: int, law: int) -> dict[str, Words]:
    """Round constants, matrix and diagonal by the names that kernels give them."""
    shapes: dict[str, tuple[int, ...]] = {"rc_ext": (r_f, t), "rc_int": (r_p,), "ext_mds": (t, t), "int_diag": (t,)}
    cancelling = LAWS[law] == "cancelling"
    drawn = {name: elements(rng, shape, goldilocks.P, 0 if cancelling else law) for name, shape in shapes.items()}
    if cancelling:
        # Lanes 0 and 1 are the same after a full round, and rows of e, -e, 0 make p of them before it is reduced.
        drawn["rc_ext"][:, 1] = drawn["rc_ext"][:, 0]
        e = int(rng.integers(1, goldilocks.P, dtype=np.uint64))
        drawn["ext_mds"][:2] = [e, goldilocks.P - e] + [0] * (t - 2)
    return drawn


def permutation(inputs: Arrays) -> Poseidon2:
    return Poseidon2(inputs["rc_ext"], inputs["rc_int"], inputs["ext_mds"], inputs["int_diag"])
