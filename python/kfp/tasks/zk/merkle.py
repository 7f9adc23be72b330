"""Merkle trees of Poseidon2 permutations, all levels in one array, leaves first."""

from __future__ import annotations

import numpy as np

from kfp.tasks.zk.goldilocks import Words
from kfp.tasks.zk.poseidon2 import Poseidon2


def levels(leaves: int, arity: int) -> list[tuple[int, int]]:
    """(offset, nodes) of every level, from the leaves to the root."""
    found = [(0, leaves)]
    while found[-1][1] > 1:
        offset, count = found[-1]
        found.append((offset + count, -(-count // arity)))
    return found


def build(leaves: Words, arity: int, permutation: Poseidon2) -> Words:
    """Every node: lane 0 of the permutation of its children, absent ones and the lanes beyond being 0."""
    nodes = [leaves]
    while nodes[-1].size > 1:
        below = nodes[-1]
        states = np.zeros((-(-below.size // arity), permutation.t), np.uint64)
        padded = np.zeros(states.shape[0] * arity, np.uint64)
        padded[: below.size] = below
        states[:, :arity] = padded.reshape(-1, arity)
        nodes.append(permutation.permute(states)[:, 0])
    return np.concatenate(nodes)


def unbuilt(leaves: Words, arity: int) -> Words:
    """The array before anything is built: above the leaves all bits are ones, which no right node is."""
    offset, count = levels(leaves.size, arity)[-1]
    tree = np.full(offset + count, 2**64 - 1, np.uint64)
    tree[: leaves.size] = leaves
    return tree
