"""kyber_ntt: the incomplete number-theoretic transforms of Kyber and Dilithium, for any prime (FIPS 203, FIPS 204)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from kfp.errors import PlanError
from kfp.plan import Dispatch, Plan, given
from kfp.tasks.base import (
    Argument,
    Array,
    Arrays,
    Check,
    Configuration,
    Demand,
    Kernel,
    Number,
    Origin,
    Range,
    Scale,
    Task,
    contract,
)
from kfp.tasks.zk._common import LAWS, bit_reversed, draw_law, draw_odd, draw_seed, elements, exact_check, is_prime
from kfp.tasks.zk.fields import Words, remainder

# q, zeta of order 2^(levels + 1), n, levels: FIPS 203 and FIPS 204.
_KYBER = (3329, 17, 256, 7)
_DILITHIUM = (8380417, 1753, 256, 8)
_BATCHES: dict[Scale, tuple[int, ...]] = {"full": (1, 16, 256), "small": (1, 4, 16)}
_HELD_OUT: dict[Scale, int] = {"full": 64, "small": 8}
_DRAWN: dict[Scale, tuple[int, int]] = {"full": (1, 511), "small": (1, 9)}


class KyberNtt(Task):
    name = "kyber_ntt"
    suite = "zk"
    title = "Batched number-theoretic transforms of Kyber"
    regime = "many small transforms in threadgroups"
    unit = "Gop/s"
    kernels = (
        Kernel(
            "kyber_ntt",
            (
                Argument(0, "coeffs", "uint", "read_write"),
                Argument(1, "zetas", "uint", "read"),
                Argument(2, "q", "uint", "constant"),
                Argument(3, "n", "uint", "constant"),
                Argument(4, "n_levels", "uint", "constant"),
                Argument(5, "batch", "uint", "constant"),
            ),
            # (n / 2, 1, 1); shown for the largest n, at which a lower cap is an error.
            (128, 1, 1),
            min_threads=128,
            inputs=(
                "uint tgid [[threadgroup_position_in_grid]]",
                "uint ltid [[thread_position_in_threadgroup]]",
            ),
        ),
    )
    ranges = (
        Range("q", 5, (1 << 31) - 1, "the modulus, a prime that is 1 modulo 2^(n_levels + 1)"),
        Range("n", 64, 256, "coefficients of a polynomial", powers_of_two=True),
        Range("n_levels", 1, 8, "levels, at most log2(n)"),
        Range("batch", 1, 1 << 16, "polynomials"),
    )
    free_sizes = ("batch",)
    coupled = ("q", "n", "n_levels")
    exchangeable = ("coeffs",)
    # Below 2^16 every modulus is small.
    data_laws: ClassVar = {"law": tuple(LAWS.index(name) for name in ("sparse", "edges", "blocks"))}
    brief = contract(
        """
In-place forward transform of batch polynomials of n coefficients modulo a prime q; polynomial b is coeffs[b n] to
coeffs[b n + n - 1], canonical: 0 to q - 1, before and after. For level = 0, 1, ..., n_levels - 1, with
len = n >> (level + 1): coefficients fall into groups of 2 len; for each group and each j in its first half,
  z = zetas[(1 << level) + group],  t = z a[j + len] mod q
  a[j + len] = a[j] - t mod q,  a[j] = a[j] + t mod q
zetas has 2^n_levels entries: zetas[k] = zeta^(k with its n_levels bits reversed), zeta of order 2^(n_levels + 1). The
modulus may be any such prime below 2^31, and other values of n and n_levels come with other moduli. Coefficients may
be any canonical values, 0 and q - 1 among them.

One threadgroup of n / 2 threads per polynomial, one thread per butterfly of a level; the grid is batch n / 2. A kernel
that declares [[max_total_threads_per_threadgroup]] below n / 2 can't be launched at that n.
Right: every coefficient has the expected bits; a value that is right modulo q but not canonical is wrong.
Scored against the tighter of memory bandwidth, at 8 bytes a coefficient, and the rate of 64-bit products, a butterfly's
product of 32-bit numbers being a quarter of one.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*_KYBER, batch, "in_distribution", scale) for batch in _BATCHES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_DILITHIUM, _HELD_OUT[scale], "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        n = 64 << int(rng.integers(3))
        # Mostly deep transforms, as in the standards.
        deepest = n.bit_length() - 1
        levels = int(rng.integers(deepest - 1 if rng.random() < 0.75 else 1, deepest + 1))
        q = draw_prime(rng, 1 << (levels + 1), 1 << 31)
        zeta = root_of_order(rng, 1 << (levels + 1), q)
        batch = draw_odd(rng, *_DRAWN[scale])
        return _configuration(q, zeta, n, levels, batch, "drawn", scale, draw_seed(rng), draw_law(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        q, zeta, n, levels, batch = _parameters(configuration)
        return {
            "coeffs": elements(rng, (batch, n), q, configuration.integer("law")).astype(np.uint32),
            "zetas": np.array([pow(zeta, int(k), q) for k in bit_reversed(levels)], np.uint32),
        }

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        q, _, n, levels, batch = _parameters(configuration)
        if caps["kyber_ntt"] < n // 2:
            raise PlanError(
                f"kyber_ntt: n = {n} needs threadgroups of {n // 2} threads, "
                f"but the kernel allows max_total_threads_per_threadgroup = {caps['kyber_ntt']}"
            )
        arguments = {
            0: "coeffs",
            1: "zetas",
            **{2 + i: np.uint32(value) for i, value in enumerate((q, n, levels, batch))},
        }
        dispatch = Dispatch("kyber_ntt", arguments, (batch * n // 2, 1, 1), (n // 2, 1, 1))
        buffers = (given("coeffs", inputs["coeffs"], "state"), given("zetas", inputs["zetas"]))
        return Plan(buffers, (dispatch,), {"coeffs": "coeffs"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        q, _, _, levels, _ = _parameters(configuration)
        return {"coeffs": transform(inputs["coeffs"], inputs["zetas"], q, levels)}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return exact_check(outputs, expected, ["coeffs"], configuration.integer("q"))

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        _, _, n, levels, batch = _parameters(configuration)
        return (
            Demand("dram", 8.0 * batch * n),
            Demand("u64_multiply", 0.25 * batch * levels * n / 2),
        )


def transform(coefficients: Array, zetas: Array, q: int, levels: int) -> npt.NDArray[np.uint32]:
    """All levels of every row, with sums and differences shifted into the range of one remainder."""
    a: Words = coefficients.astype(np.uint64)
    for level in range(levels):
        pairs = a.reshape(a.shape[0], 1 << level, 2, -1)
        first, second = pairs[:, :, 0], pairs[:, :, 1]
        z = zetas[1 << level : 2 << level].astype(np.uint64)[:, None]
        product = remainder(second * z, q)
        pairs[:, :, 1] = remainder(first + (np.uint64(q) - product), q)
        pairs[:, :, 0] = remainder(first + product, q)
    return a.astype(np.uint32)


def draw_prime(rng: np.random.Generator, order: int, limit: int) -> int:
    """A prime below ``limit`` that is 1 modulo ``order``; every length in bits is as likely."""
    shortest = (2 * order).bit_length()
    while True:
        bits = int(rng.integers(shortest, limit.bit_length()))
        low, high = max(1, (1 << (bits - 1)) // order), min(limit, 1 << bits) // order
        q = int(rng.integers(low, high)) * order + 1
        if is_prime(q):
            return q


def root_of_order(rng: np.random.Generator, order: int, q: int) -> int:
    """A random element of exactly this order, a power of two that divides q - 1."""
    while True:
        root = pow(int(rng.integers(2, q)), (q - 1) // order, q)
        if pow(root, order // 2, q) == q - 1:
            return root


def _parameters(configuration: Configuration) -> tuple[int, int, int, int, int]:
    q, zeta, n, levels, batch = (configuration.integer(name) for name in ("q", "zeta", "n", "n_levels", "batch"))
    return q, zeta, n, levels, batch


def _configuration(
    q: int,
    zeta: int,
    n: int,
    levels: int,
    batch: int,
    origin: Origin,
    scale: Scale,
    seed: int = 0,
    law: int = 0,
) -> Configuration:
    parameters: dict[str, Number] = {"q": q, "zeta": zeta, "n": n, "n_levels": levels, "batch": batch, "law": law}
    label = f"q={q}, n={n}, {levels} levels, batch={batch}"
    if origin == "drawn":
        label += f", zeta={zeta}, {LAWS[law]}"
    return Configuration(label, parameters, origin, scale, seed)
