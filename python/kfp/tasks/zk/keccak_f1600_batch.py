"""keccak_f1600_batch: many short messages through the Keccak sponge, of any rate, domain byte and output length."""

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
from kfp.tasks.zk.sponge import (
    OPERATIONS_PER_ROUND,
    ROTATES_PER_ROUND,
    ROUNDS,
    digests,
    permutations_per_message,
)

# batch; (message bytes, rate, output bytes, domain byte) are those of SHA3-256 on 32 bytes.
_SHA3_256 = (32, 136, 32, 0x06)
_BATCHES: dict[Scale, tuple[int, ...]] = {"full": (2**14, 2**18, 2**22), "small": (64, 200, 1024)}
_HELD_OUT: dict[Scale, tuple[int, int, int, int, int]] = {
    "full": (2**20, 32, 168, 256, 0x1F),
    "small": (300, 32, 168, 256, 0x1F),
}
# Of larger batches every message occurs several times, at random places: the reference hashes it once.
_DISTINCT = 1 << 20


class KeccakF1600Batch(Task):
    name = "keccak_f1600_batch"
    suite = "zk"
    title = "Keccak-f[1600] sponges of one block"
    regime = "bit operations and rotations"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "keccak_f1600_batch",
            (
                Argument(0, "in_data", "ulong", "read"),
                Argument(1, "out_data", "ulong", "write"),
                Argument(2, "batch", "uint", "constant"),
                Argument(3, "msg_bytes", "uint", "constant"),
                Argument(4, "rate_bytes", "uint", "constant"),
                Argument(5, "out_bytes", "uint", "constant"),
                Argument(6, "domain", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint idx [[thread_position_in_grid]]",),
        ),
    )
    ranges = (
        Range("batch", 1, 2**22, "messages"),
        Range("msg_bytes", 8, 160, "bytes of a message, fewer than rate_bytes", step=8),
        Range("rate_bytes", 72, 168, "bytes of a block", step=8),
        Range("out_bytes", 8, 400, "bytes squeezed from every message", step=8),
        Range("domain", 0, 255, "domain byte: the suffix of the mode and the first bit of the padding"),
    )
    data_laws: ClassVar = {"law": DATA_LAWS}
    brief = contract(
        """
The Keccak sponge of FIPS 202 on a batch of messages, each shorter than one block. Lanes are 64-bit words, bytes in
little-endian order; lane i of the state is x + 5 y of the standard. Message idx is the msg_bytes / 8 words from
in_data[idx * msg_bytes / 8] on. For each message, from a state of zeros:
  absorb:  xor the message into the first lanes, domain into byte msg_bytes, 0x80 into byte rate_bytes - 1;
           apply Keccak-f[1600] (24 rounds)
  squeeze: the first rate_bytes of the state are output; while more is wanted, apply Keccak-f[1600] again
The first out_bytes of that stream are the out_bytes / 8 words from out_data[idx * out_bytes / 8] on.

One thread per message; the grid is batch rounded up to a multiple of the threadgroup, and threads with idx >= batch
must do nothing. Threadgroup: 64, or fewer threads if the kernel declares a lower
[[max_total_threads_per_threadgroup]]. Right: every bit equal. Scored against memory bandwidth or the rates of 64-bit
operations (155 a round) and rotations (29 a round), whichever takes longest.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(batch, *_SHA3_256, "in_distribution", scale) for batch in _BATCHES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        rate = 8 * int(rng.integers(9, 22))
        # The last lane of the block, where both ends of the padding meet, is drawn more often than the others.
        message = rate - 8 if rng.random() < 0.2 else 8 * int(rng.integers(1, rate // 8))
        out = 8 * int(rng.integers(1, 51))
        domain = int(rng.integers(0, 256))
        most = 130 if scale == "small" else 2**19 // permutations_per_message(rate, out)
        batch = draw_odd(rng, most // 8, most)
        return _configuration(batch, message, rate, out, domain, "drawn", scale, draw_seed(rng), draw_law(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        batch, message = configuration.integer("batch"), configuration.integer("msg_bytes")
        rng = np.random.default_rng(configuration.seed)
        shape = (min(batch, _DISTINCT), message // 8)
        distinct = elements(rng, shape, 1 << 64, configuration.integer("law"))
        if batch <= _DISTINCT:
            return {"in_data": distinct}
        which = rng.permutation(np.arange(batch, dtype=np.int64) % _DISTINCT)
        return {"in_data": distinct[which], "distinct": distinct, "which": which}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        batch, out = configuration.integer("batch"), configuration.integer("out_bytes")
        constants = ("batch", "msg_bytes", "rate_bytes", "out_bytes", "domain")
        arguments = {2 + i: np.uint32(configuration.integer(name)) for i, name in enumerate(constants)}
        grid, threadgroup = linear(batch, 64, caps[self.name])
        return Plan(
            (given("in_data", inputs["in_data"]), blank("out_data", (batch, out // 8), np.uint64)),
            (Dispatch(self.name, {0: "in_data", 1: "out_data", **arguments}, grid, threadgroup),),
            {"out_data": "out_data"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        rate, domain, out = (configuration.integer(name) for name in ("rate_bytes", "domain", "out_bytes"))
        found = digests(inputs.get("distinct", inputs["in_data"]), rate, domain, out)
        return {"out_data": found[inputs["which"]] if "which" in inputs else found}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["out_data"])

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        batch, message, rate, out = (
            configuration.integer(name) for name in ("batch", "msg_bytes", "rate_bytes", "out_bytes")
        )
        rounds = float(ROUNDS * permutations_per_message(rate, out) * batch)
        return (
            Demand("u64_bit", OPERATIONS_PER_ROUND * rounds),
            Demand("u64_rotate", ROTATES_PER_ROUND * rounds),
            Demand("dram", float(batch * (message + out))),
        )


def _configuration(
    batch: int,
    message: int,
    rate: int,
    out: int,
    domain: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    law: int = 0,
) -> Configuration:
    parameters = {"batch": batch, "msg_bytes": message, "rate_bytes": rate, "out_bytes": out, "domain": domain}
    parameters["law"] = law
    label = f"batch={batch}, {message} -> {out} bytes, rate {rate}, domain 0x{domain:02x}"
    return Configuration(label, parameters, origin, scale, seed)
