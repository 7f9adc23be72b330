"""Streams of durations without a clock: log noise in the order in which samples would be taken."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable
from pathlib import Path

import kfp
import numpy as np
import numpy.typing as npt
from kfp.timing.looks import Outcome, Policy, measure_in_looks
from kfp.timing.pairs import Blocks, Firsts, order_of

Floats = npt.NDArray[np.float64]
Noise = Callable[[np.random.Generator, int], Floats]

M1_PRO = Path(kfp.__path__[0]) / "reporting" / "study" / "noise.csv"


def independent(rng: np.random.Generator, count: int) -> Floats:
    return rng.normal(0, 0.03, count)


def bimodal(rng: np.random.Generator, count: int) -> Floats:
    """Two clock states, a factor of 2.5 apart, that last for 20 samples on average."""
    state = np.cumsum(rng.random(count) < 0.05) % 2
    return rng.normal(0, 0.01, count) + np.log(2.5) * state


def bimodal_per_sample(rng: np.random.Generator, count: int) -> Floats:
    """A state of its own for every sample: nothing that pairing could cancel."""
    return rng.normal(0, 0.005, count) + np.log(2.5) * (rng.random(count) < 0.4)


def drift(rng: np.random.Generator, count: int) -> Floats:
    return rng.normal(0, 0.01, count) + np.linspace(0, 0.3, count)


def spikes(rng: np.random.Generator, count: int) -> Floats:
    """One sample in ten takes 50 % more on average, some several times as long."""
    return rng.normal(0, 0.01, count) + (rng.random(count) < 0.1) * rng.exponential(0.5, count)


def heavy_tails(rng: np.random.Generator, count: int) -> Floats:
    """Student's t with 1.5 degrees of freedom: no variance."""
    return 0.01 * rng.standard_t(1.5, count)


def autocorrelated(rng: np.random.Generator, count: int) -> Floats:
    noise = rng.normal(0, 0.01, count)
    for i in range(1, count):
        noise[i] += 0.95 * noise[i - 1]
    return noise


def time_slices(rng: np.random.Generator, count: int) -> Floats:
    """Another process takes the core every other two samples: as long as a block, the worst for pairs in blocks."""
    phase = (np.arange(count) + rng.uniform(0, 4) + np.cumsum(rng.normal(0, 0.3, count))) / 4
    return rng.normal(0, 0.02, count) + np.log(1.8) * (phase % 1 < 0.5)


@functools.cache
def m1_pro() -> Floats:
    """Log durations, a row per configuration."""
    with M1_PRO.open() as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return np.log([[float(row[f"s{i}"]) for i in range(12)] for row in rows])


def recorded(rng: np.random.Generator, count: int) -> Floats:
    """A published configuration's samples, in stretches of their own order from random places."""
    samples = m1_pro()[rng.integers(len(m1_pro()))]
    starts = rng.integers(0, 12, count // 6 + 1)
    return (samples[(starts[:, None] + np.arange(6)) % 12]).reshape(-1)[:count] - float(np.median(samples))


KINDS: dict[str, Noise] = {
    noise.__name__: noise
    for noise in (
        independent,
        bimodal,
        bimodal_per_sample,
        drift,
        spikes,
        heavy_tails,
        autocorrelated,
        time_slices,
        recorded,
    )
}


def comparison(noise: Noise, ratio: float, policy: Policy, pairs: int, seed: int) -> tuple[Outcome, Blocks]:
    """A comparison of two kernels of which the candidate is ``ratio`` times as fast, on a machine with this noise."""
    rng = np.random.default_rng([seed, 1])
    stream = np.exp(noise(rng, 5 * pairs + 1))
    seconds_of = np.array([1e-3, 1e-3 / ratio, 3e-4])
    blocks = Blocks()
    taken = 0

    def extend(candidate_first: Firsts) -> None:
        nonlocal taken
        new = candidate_first[len(blocks) :]
        order = order_of(new)
        # The sentinel has the same noise; only its slowest states cost a block.
        samples = seconds_of[order] * stream[taken : taken + len(order)]
        taken += len(order)
        blocks.add(new, samples, 1, 1)

    outcome = measure_in_looks(blocks, extend, lambda _: True, pairs, seed, policy)
    return outcome, blocks
