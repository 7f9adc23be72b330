"""wots_chain: chains of SHA3-256 as in Winternitz one-time signatures, each step cut to the length of the seed."""

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
    Kernel,
    Origin,
    Range,
    Scale,
    Task,
    contract,
)
from kfp.tasks.zk._common import DATA_LAWS, draw_law, draw_odd, draw_seed, elements, exact_check
from kfp.tasks.zk.fields import Words
from kfp.tasks.zk.sponge import OPERATIONS_PER_ROUND, ROTATES_PER_ROUND, ROUNDS, digests

_RATE, _DOMAIN = 136, 0x06  # SHA3-256

# n_bytes, chains, w.
_SIZES: dict[Scale, tuple[tuple[int, int, int], ...]] = {
    "full": ((16, 2**16, 16), (16, 2**16, 64), (16, 2**16, 256)),
    "small": ((16, 256, 4), (16, 128, 16), (16, 64, 64)),
}
_HELD_OUT: dict[Scale, tuple[int, int, int]] = {"full": (32, 2**17, 32), "small": (32, 192, 8)}
# As many hashes as the reference takes a few seconds for.
_HASHES = 1 << 20


class WotsChain(Task):
    name = "wots_chain"
    suite = "zk"
    title = "Winternitz hash chains of SHA3-256"
    regime = "bit operations and rotations, long dependent chains"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "wots_chain",
            (
                Argument(0, "seeds", "ulong", "read"),
                Argument(1, "tips", "ulong", "write"),
                Argument(2, "n_chains", "uint", "constant"),
                Argument(3, "n_bytes", "uint", "constant"),
                Argument(4, "w", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
        ),
    )
    ranges = (
        Range("n_chains", 1, 2**20, "chains"),
        Range("n_bytes", 8, 128, "bytes of a seed and of every step", step=8),
        Range("w", 1, 300, "steps of a chain"),
    )
    data_laws: ClassVar = {"law": DATA_LAWS}
    brief = contract(
        """
Chain idx starts from the seed of n_bytes / 8 words at seeds[idx * n_bytes / 8] and takes w steps; its last value goes
to tips[idx * n_bytes / 8]. Words are 64 bits, bytes in little-endian order. A step hashes the n_bytes of the value
with SHA3-256 (FIPS 202) and keeps the first n_bytes of the squeezed block. In one block, for every step:
  a state of 25 zero lanes; the value goes into the first n_bytes; xor 0x06 into byte n_bytes and 0x80 into byte 135;
  Keccak-f[1600], 24 rounds; the new value is the first n_bytes of the state
For n_bytes above 32 that is more than the digest of the standard, and still less than the block of 136 bytes.

One thread per chain; the grid is n_chains rounded up to a multiple of the threadgroup, and threads with
idx >= n_chains must do nothing. Threadgroup: 64, or fewer threads if the kernel declares a lower
[[max_total_threads_per_threadgroup]]. Right: every bit equal. Scored against the rates of 64-bit operations (155 a
round) and rotations (29 a round) or memory bandwidth, whichever takes longest.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        n_bytes = 8 * int(rng.integers(1, 17))
        # A tenth of the chains is long at the small scale too.
        w = int(rng.integers(3, 301 if scale == "full" or rng.random() < 0.1 else 13))
        # Few enough that the seeds needn't come in families: what might exploit these finds nothing here.
        most = max(5, min(130, 1500 // w)) if scale == "small" else min(2**16, _HASHES // 2 // w)
        chains = draw_odd(rng, most // 4, most)
        return _configuration(n_bytes, chains, w, "drawn", scale, draw_seed(rng), draw_law(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        chains, w, lanes = _sizes(configuration)
        rng = np.random.default_rng(configuration.seed)
        law = configuration.integer("law")
        size = _family_size(chains, w)
        if size == 1:
            return {"seeds": elements(rng, (chains, lanes), 1 << 64, law)}
        families = -(-chains // size)
        heads = elements(rng, (families, lanes), 1 << 64, law)
        reach = _family_reach(w)
        others = 1 + np.argsort(rng.random((families, reach - 1)), axis=1)[:, : size - 1]
        ages = np.concatenate([np.zeros((families, 1), np.int64), others], axis=1)
        # Member m of family f is the head's chain after ages[f, m] steps.
        position = rng.permutation(families * size)[:chains]
        walk = _walk(heads, reach - 1)
        seeds = walk[ages, np.arange(families)[:, None]].reshape(-1, lanes)[position]
        return {"seeds": seeds, "heads": heads, "ages": ages, "position": position}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        chains, w, lanes = _sizes(configuration)
        arguments = {2: np.uint32(chains), 3: np.uint32(8 * lanes), 4: np.uint32(w)}
        grid, threadgroup = linear(chains, 64, caps[self.name])
        return Plan(
            (given("seeds", inputs["seeds"]), blank("tips", (chains, lanes), np.uint64)),
            (Dispatch(self.name, {0: "seeds", 1: "tips", **arguments}, grid, threadgroup),),
            {"tips": "tips"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        _, w, lanes = _sizes(configuration)
        if "heads" not in inputs:
            return {"tips": _walk(inputs["seeds"], w)[-1]}
        heads, ages, position = inputs["heads"], inputs["ages"], inputs["position"]
        walk = _walk(heads, _family_reach(w) - 1 + w)
        tips = walk[ages + w, np.arange(len(heads))[:, None]]
        return {"tips": tips.reshape(-1, lanes)[position]}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["tips"])

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        chains, w, lanes = _sizes(configuration)
        rounds = float(ROUNDS * w * chains)
        return (
            Demand("u64_bit", OPERATIONS_PER_ROUND * rounds),
            Demand("u64_rotate", ROTATES_PER_ROUND * rounds),
            Demand("dram", 16.0 * lanes * chains),
        )


def _sizes(configuration: Configuration) -> tuple[int, int, int]:
    """Chains, steps, and words of a value."""
    return configuration.integer("n_chains"), configuration.integer("w"), configuration.integer("n_bytes") // 8


def _family_reach(w: int) -> int:
    return max(1, w // 2)


def _family_size(chains: int, w: int) -> int:
    """How many seeds lie on one chain; 1 where the reference can afford to walk from every seed.

    The 2^24 hashes of the largest configuration would take it half a minute. Seeds that are steps of a common chain
    share its hashes. Nothing tells a kernel which seeds belong together, or that one has others before it.
    """
    if chains * w <= _HASHES:
        return 1
    reach = _family_reach(w)
    return min(reach, -(-chains * (reach + w) // _HASHES))


def _walk(values: Words, steps: int) -> Words:
    """(steps + 1, n, lanes): the values after 0, 1, ... steps of their chains."""
    walk: Words = np.empty((steps + 1, *values.shape), np.uint64)
    walk[0] = values
    for step in range(steps):
        walk[step + 1] = digests(walk[step], _RATE, _DOMAIN, 8 * values.shape[1])
    return walk


def _configuration(
    n_bytes: int, chains: int, w: int, origin: Origin, scale: Scale, seed: int = 0, law: int = 0
) -> Configuration:
    parameters = {"n_bytes": n_bytes, "n_chains": chains, "w": w, "law": law}
    return Configuration(f"{chains} chains, {n_bytes} bytes, w={w}", parameters, origin, scale, seed)
