"""Exact simulation of hmc chains in double precision: the random numbers are fully specified, the dynamics stable."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from kfp.tasks.sci._common import Doubles, Words, murmur_mix


def uniforms(keys: Words, counter: int) -> Doubles:
    """The random number of every chain at one counter; ``keys`` is seed + chain * 0x9E3779B9."""
    x = murmur_mix(keys ^ np.uint32(counter & 0xFFFFFFFF))
    u: Doubles = (murmur_mix(x) >> np.uint32(8)) * 2.0**-24
    return u


def simulate(
    q: Doubles,
    chains: npt.NDArray[np.int64],
    precision: Doubles,
    *,
    eps: float,
    leapfrogs: int,
    steps: int,
    seed: int,
) -> tuple[Doubles, npt.NDArray[np.int64]]:
    """(final q, accepted steps) of the chains with the given numbers, which start at the rows of ``q``."""
    dimension = q.shape[1]
    q = q.copy()
    accepted = np.zeros(len(chains), np.int64)
    keys = (np.uint64(seed) + chains.astype(np.uint64) * np.uint64(0x9E3779B9)).astype(np.uint32)
    force = q @ precision
    p = np.empty_like(q)
    for step in range(steps):
        base = step * (dimension + 1)
        for i in range(0, dimension, 2):
            radius = np.sqrt(-2.0 * np.log(np.maximum(uniforms(keys, base + i), 1e-7)))
            angle = 2.0 * np.pi * uniforms(keys, base + i + 1)
            p[:, i] = radius * np.cos(angle)
            p[:, i + 1] = radius * np.sin(angle)
        before = _energy(q, p, force)
        start, start_force = q.copy(), force
        p -= 0.5 * eps * force
        for leap in range(leapfrogs):
            q += eps * p
            force = q @ precision
            p -= (eps if leap + 1 < leapfrogs else 0.5 * eps) * force
        change = _energy(q, p, force) - before
        u = np.maximum(uniforms(keys, base + dimension), 1e-30)
        accept = np.isfinite(change) & (np.log(u) < -change)
        accepted += accept
        q = np.where(accept[:, None], q, start)
        force = np.where(accept[:, None], force, start_force)
    return q, accepted


def _energy(q: Doubles, p: Doubles, force: Doubles) -> Doubles:
    energy: Doubles = 0.5 * (np.einsum("ij,ij->i", q, force) + np.einsum("ij,ij->i", p, p))
    return energy
