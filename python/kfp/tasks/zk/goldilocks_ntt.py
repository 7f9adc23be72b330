"""goldilocks_ntt: number-theoretic transform over Goldilocks, one Stockham stage a dispatch."""

from __future__ import annotations

from collections.abc import Mapping
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
from kfp.tasks.ping_pong import PingPong
from kfp.tasks.zk._common import (
    DATA_LAWS,
    EDGES_TEXT,
    EXACT_TEXT,
    GOLDILOCKS_TEXT,
    LAWS,
    bit_reversed,
    draw_law,
    draw_odd,
    draw_seed,
    elements,
    exact_check,
)
from kfp.tasks.zk.fields import GOLDILOCKS, Words

# Base-2 logarithms of N.
_SIZES: dict[Scale, tuple[int, ...]] = {"full": (14, 16, 18), "small": (4, 7, 10)}
_HELD_OUT: dict[Scale, int] = {"full": 20, "small": 11}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (12, 20), "small": (2, 9)}
# Besides the laws of the suite, data whose transform has edge values everywhere.
_LAWS = (*LAWS, "edges of the output")


class GoldilocksNtt(Task):
    name = "goldilocks_ntt"
    suite = "zk"
    title = "Number-theoretic transform over Goldilocks"
    regime = "butterflies of modular products, one pass over memory a stage"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "goldilocks_ntt_stage",
            (
                Argument(0, "in", "ulong", "read"),
                Argument(1, "out", "ulong", "write"),
                Argument(2, "twiddles", "ulong", "read"),
                Argument(3, "stage_idx", "uint", "constant"),
                Argument(4, "log_N", "uint", "constant"),
            ),
            (256, 1, 1),
            inputs=("uint k [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (Range("N", 4, 1 << 24, "points; log_N is its base-2 logarithm", powers_of_two=True),)
    weak_axis = (
        "N is one of a few powers of two, so an optimiser can enumerate the sizes; "
        "the root of unity behind the twiddles and the data are fresh"
    )
    free_inputs = (FreeInput("x", 0, GOLDILOCKS.modulus - 1),)
    exchangeable = ("x",)
    data_laws: ClassVar = {"law": DATA_LAWS}
    brief = contract(
        f"""
{GOLDILOCKS_TEXT}

Forward transform of N elements in natural order, out[k] = sum over n of in[n] w^(k n) modulo p, without scaling, where
w is a primitive N-th root of unity, another one in another run; twiddles[i] = w^i for i < N / 2. log_N dispatches,
stage_idx = 0, 1, ..., log_N - 1, each a radix-2 Stockham stage on buffers that swap after every stage:
  s = stage_idx, j = k >> s, r = k & (2^s - 1)
  a = in[j 2^s + r], b = in[j 2^s + r + N / 2] * twiddles[r (N >> (s + 1))]
  out[j 2^(s + 1) + r] = a + b, out[j 2^(s + 1) + r + 2^s] = a - b
{EDGES_TEXT}

One thread per butterfly. The grid is N / 2 rounded up to a multiple of the threadgroup; threads with k >= N / 2 must do
nothing. Threadgroup: min(N / 2, 256) threads, or fewer if the kernel declares a lower
[[max_total_threads_per_threadgroup]].
{EXACT_TEXT}
Scored against the tighter of memory bandwidth, 20 N bytes a stage, and the rate of 64-bit products, N / 2 a stage.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(log_n, "in_distribution", scale) for log_n in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(_HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        low, high = _DRAWN[scale]
        log_n = int(rng.integers(low, high + 1))
        law = len(LAWS) if rng.random() < 0.2 else draw_law(rng)
        return _configuration(log_n, "drawn", scale, draw_seed(rng), draw_odd(rng, 3, 1 << 31), law)

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        n = configuration.integer("N")
        root, law = _root(configuration), _LAWS[configuration.integer("law")]
        if law == "edges of the output":
            y = elements(rng, n, GOLDILOCKS.modulus, LAWS.index("edges"))
            unscaled = transform(y, pow(root, -1, GOLDILOCKS.modulus))
            x = GOLDILOCKS.mul(unscaled, np.uint64(pow(n, -1, GOLDILOCKS.modulus)))
        else:
            x = elements(rng, n, GOLDILOCKS.modulus, LAWS.index(law))
        return {"x": x, "twiddles": GOLDILOCKS.powers(root, n // 2)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n = configuration.integer("N")
        log_n = n.bit_length() - 1
        x = PingPong("x", inputs["x"], log_n)
        grid, threadgroup = linear(n // 2, min(n // 2, 256), caps["goldilocks_ntt_stage"])
        dispatches = []
        for stage in range(log_n):
            source, target = x.at(stage)
            arguments = {0: source, 1: target, 2: "twiddles", 3: np.uint32(stage), 4: np.uint32(log_n)}
            dispatches.append(Dispatch("goldilocks_ntt_stage", arguments, grid, threadgroup))
        buffers = (*x.buffers, given("twiddles", inputs["twiddles"]))
        return Plan(buffers, tuple(dispatches), {"y": x.final})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        return {"y": transform(inputs["x"], _root(configuration))}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["y"], GOLDILOCKS.modulus)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        n = configuration.integer("N")
        stages = n.bit_length() - 1
        return (Demand("dram", 20.0 * n * stages), Demand("u64_multiply", 0.5 * n * stages))


def transform(x: Words, root: int) -> Words:
    """Y[k] = sum of X[n] root^(k n), by decimation in time; ``root`` has the order of the length, a power of two."""
    y = x[bit_reversed(x.size.bit_length() - 1)]
    powers = GOLDILOCKS.powers(root, x.size // 2)
    half = 1
    while half < x.size:
        pairs = y.reshape(-1, 2, half)
        even, odd = pairs[:, 0], GOLDILOCKS.mul(pairs[:, 1], powers[:: x.size // (2 * half)])
        y = np.stack([GOLDILOCKS.add(even, odd), GOLDILOCKS.sub(even, odd)], axis=1).reshape(-1)
        half *= 2
    return y


def _root(configuration: Configuration) -> int:
    log_n = configuration.integer("N").bit_length() - 1
    return GOLDILOCKS.root_of_unity(log_n, configuration.integer("root_power"))


def _configuration(
    log_n: int, origin: Origin, scale: Scale, seed: int = 0, root_power: int = 1, law: int = 0
) -> Configuration:
    parameters: dict[str, Number] = {"N": 1 << log_n, "root_power": root_power, "law": law}
    label = f"N={1 << log_n}"
    if origin == "drawn":
        label += f", root to the {root_power}, {_LAWS[law]}"
    return Configuration(label, parameters, origin, scale, seed)
