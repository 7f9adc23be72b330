"""hmc: many independent chains of Hamiltonian Monte Carlo on a correlated Gaussian."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from kfp.plan import Dispatch, Plan, given, linear
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
from kfp.tasks.sci._common import Doubles, PingPong, draw_seed, single
from kfp.tasks.sci._hmc_chains import simulate

_RNG_SEED = 0xCAFEBEEF
_EPS, _L = 0.20, 10
_STEPS: dict[Scale, int] = {"full": 200, "small": 60}
_SIZES: dict[Scale, tuple[tuple[int, int], ...]] = {
    "full": ((8, 16384), (16, 4096), (32, 1024)),
    "small": ((4, 1024), (6, 768), (8, 512)),
}
_HELD_OUT: dict[Scale, tuple[int, int]] = {"full": (24, 2048), "small": (10, 613)}

# The statistical check is the published one. Its bound on the mean is 4.8 standard errors at the smallest published K;
# the same number of them holds for the smaller K that can be drawn.
_MEAN_BOUND, _COVARIANCE_BOUND = 0.15, 0.30
_ACCEPTANCE = (0.45, 0.999)
_STANDARD_ERRORS = 4.8
# Random numbers and dynamics are fully specified, and neighbouring trajectories converge, so a chain can part from the
# reference only for a while after an acceptance that was nearly a tie. Measured in float32 with errors of 2^-13 added
# to every sine and cosine: at least 99.8 % of the chains end within 0.05 sigma.
_FOLLOW_DISTANCE, _FOLLOW_SHARE = 0.05, 0.90
_FOLLOW_COUNT = 2
_EDGE_CHAINS, _FOLLOWED_CHAINS = 64, 1024
_OUTLIER = 8.0


class Hmc(Task):
    name = "hmc"
    suite = "sci"
    title = "Hamiltonian Monte Carlo, independent chains on a Gaussian target"
    regime = "R2 compute"
    unit = "GFLOPS"
    kernels = (
        Kernel(
            "hmc_step",
            (
                Argument(0, "q_in", "float", "read"),
                Argument(1, "q_out", "float", "write"),
                Argument(2, "accept_cnt", "uint", "read_write"),
                Argument(3, "A", "float", "read"),
                Argument(4, "K", "uint", "constant"),
                Argument(5, "d", "uint", "constant"),
                Argument(6, "L", "uint", "constant"),
                Argument(7, "eps", "float", "constant"),
                Argument(8, "hmc_step_idx", "uint", "constant"),
                Argument(9, "seed", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint chain_idx [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("d", 2, 32, "dimension of the target", step=2),
        Range("K", 1, 65536, "chains, not always a multiple of the simdgroup or the threadgroup"),
        Range("L", 1, 64, "leapfrog steps"),
        Range("eps", 0.0, 0.6, "leapfrog step size", step=0),
        Range("seed", 0, 2**32 - 1, "seed of the random numbers"),
    )
    brief = contract(
        """
One Hamiltonian Monte Carlo step of K independent chains per dispatch, for a Gaussian with precision matrix A (d x
d, symmetric, row-major). Coordinate i of chain c is element c * d + i of q_in and q_out. For each chain, in
float32:
  1. Momenta, for i = 0, 2, ... below d, by Box-Muller: u1 = max(rand(base + i), 1e-7), u2 = rand(base + i + 1),
     r = sqrt(-2 ln u1), p[i] = r cos(2 pi u2), p[i + 1] = r sin(2 pi u2), with base = hmc_step_idx * (d + 1)
  2. H0 = q.Aq / 2 + p.p / 2
  3. Leapfrog: p -= eps/2 * Aq; then L times q += eps * p, with p -= eps * Aq between two of them; then p -= eps/2 *
    Aq
  4. dH = H - H0; accept if and only if dH is finite and ln(max(rand(base + d), 1e-30)) < -dH
  5. q_out = the new q if accepted, else q_in; accept_cnt[c] += 1 if accepted
The random number rand(counter), in 32-bit unsigned arithmetic that wraps around:
  x = seed + chain_idx * 0x9E3779B9;  x = mix(x ^ counter);  x = mix(x);  u = float(x >> 8) / 16777216
  mix(x): x ^= x >> 16; x *= 0x85EBCA6B; x ^= x >> 13; x *= 0xC2B2AE35; x ^= x >> 16

One thread per chain. The grid is K rounded up to a multiple of the threadgroup, so threads with chain_idx >= K must
do nothing. Threadgroup: 64 threads, or fewer if the kernel declares a lower [[max_total_threads_per_threadgroup]].
hmc_step_idx counts the dispatches from 0; the q buffers swap after every step; all steps of a run are in one
command buffer. Right: all values finite and below 8 sigma; means within 0.15 sigma; covariance within 30 % of the
target in the Frobenius norm; acceptance between 0.45 and 0.999; and at least 90 % of the chains end within 0.05
sigma of an exact simulation. Scored against the FP32 peak at K * (L + 1) * (2 d^2 - d) operations a step.
""",
        kernels,
        ranges,
    )

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return tuple(_configuration(*size, _EPS, _L, _RNG_SEED, "in_distribution", scale) for size in _SIZES[scale])

    def published_held_out(self, scale: Scale) -> Configuration:
        return _configuration(*_HELD_OUT[scale], _EPS, _L, _RNG_SEED, "published_held_out", scale)

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        full = scale == "full"
        d = 2 * int(rng.integers(2, 17 if full else 6))
        k = int(rng.integers(700, 20001 if full else 1025))
        while True:
            leapfrogs = int(rng.integers(5, 13))
            eps = round(float(rng.uniform(1.4, 2.4)) / leapfrogs, 4)
            if 1.4 <= eps * leapfrogs <= 2.4 and _forgets_its_start(d, eps, leapfrogs, _STEPS[scale]):
                break
        rng_seed = int(rng.integers(0, 1 << 32))
        return _configuration(d, k, eps, leapfrogs, rng_seed, "drawn", scale, draw_seed(rng))

    def inputs(self, configuration: Configuration) -> dict[str, Array]:
        rng = np.random.default_rng(configuration.seed)
        d, k = configuration.integer("d"), configuration.integer("K")
        rotation, _ = np.linalg.qr(rng.standard_normal((d, d)))
        eigenvalues = _eigenvalues(d)
        start = 2.0 * rng.standard_normal((k, d)) / np.sqrt(eigenvalues)
        precision = ((rotation * eigenvalues) @ rotation.T).astype(np.float32)
        return {"q": (start @ rotation.T).astype(np.float32), "A": (precision + precision.T) / np.float32(2.0)}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        d, k, leapfrogs, steps, seed = (configuration.integer(key) for key in ("d", "K", "L", "steps", "seed"))
        q = PingPong("q", inputs["q"], steps)
        grid, threadgroup = linear(k, 64, caps["hmc_step"])
        fixed = {
            2: "accept_cnt",
            3: "A",
            4: np.uint32(k),
            5: np.uint32(d),
            6: np.uint32(leapfrogs),
            7: np.float32(configuration.real("eps")),
            9: np.uint32(seed),
        }
        dispatches = []
        for step in range(steps):
            source, target = q.at(step)
            dispatches.append(
                Dispatch("hmc_step", {0: source, 1: target, **fixed, 8: np.uint32(step)}, grid, threadgroup)
            )
        counts = given("accept_cnt", np.zeros(k, np.uint32), "state")
        buffers = (*q.buffers, counts, given("A", inputs["A"]))
        return Plan(buffers, tuple(dispatches), {"q": q.final, "accept_cnt": "accept_cnt"})

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, Array]:
        """Some chains, followed exactly: those at both ends and others spread between them."""
        precision = inputs["A"].astype(np.float64)
        chains = followed_chains(configuration.integer("K"))
        q, accepted = simulate(
            inputs["q"][chains].astype(np.float64),
            chains,
            precision,
            eps=single(configuration.real("eps")),
            leapfrogs=configuration.integer("L"),
            steps=configuration.integer("steps"),
            seed=configuration.integer("seed"),
        )
        return {"chains": chains, "q": q, "accept_cnt": accepted, "covariance": np.linalg.inv(precision)}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        q = outputs["q"].astype(np.float64)
        finite = np.isfinite(q)
        if not finite.all():
            chain, i = (int(index) for index in np.unravel_index(int(np.argmin(finite)), q.shape))
            count = int(np.count_nonzero(~finite))
            detail = f"{count} of {q.size} values are not finite; first in chain {chain}, coordinate {i}"
            return Check(False, float(count), 0.0, "values that are not finite", detail)
        sigma = np.sqrt(np.diag(expected["covariance"]))
        steps = configuration.integer("steps")
        statistics = (
            _outliers(q / sigma),
            _means(q / sigma),
            _covariance(q, expected["covariance"]),
            _acceptance(float(outputs["accept_cnt"].mean(dtype=np.float64)) / steps),
        )
        for check in statistics:
            if not check.correct:
                return check
        return _follow(q, outputs["accept_cnt"], sigma, expected)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        d, k, leapfrogs, steps = (configuration.integer(key) for key in ("d", "K", "L", "steps"))
        return (Demand("fp32", float(k * steps * (leapfrogs + 1) * (2 * d * d - d))),)


def followed_chains(k: int) -> npt.NDArray[np.int64]:
    edges = np.arange(min(_EDGE_CHAINS, k))
    between = np.linspace(0, k - 1, min(_FOLLOWED_CHAINS - 2 * _EDGE_CHAINS, k)).astype(np.int64)
    return np.unique(np.concatenate([edges, k - 1 - edges, between]))


def _eigenvalues(d: int) -> Doubles:
    return np.geomspace(0.5, 2.0, d)


def _forgets_its_start(d: int, eps: float, leapfrogs: int, steps: int) -> bool:
    """Whether the excess variance of the start (3 sigma^2) fades along every axis.

    One step turns an axis by an angle theta and leaves cos^2(theta) of the excess; near theta = pi almost all of it.
    """
    theta = leapfrogs * np.arccos(1.0 - 0.5 * eps**2 * _eigenvalues(d))
    return bool(np.max(3.0 * np.cos(theta) ** (2 * steps)) <= 0.06)


def _outliers(scaled: Doubles) -> Check:
    worst = int(np.argmax(np.abs(scaled)))
    chain, i = (int(index) for index in np.unravel_index(worst, scaled.shape))
    error = float(np.abs(scaled[chain, i]))
    detail = "" if error <= _OUTLIER else f"chain {chain}, coordinate {i} lies {error:.3g} sigma from the mean"
    return Check(error <= _OUTLIER, error, _OUTLIER, "largest value in sigma", detail)


def _means(scaled: Doubles) -> Check:
    means = np.abs(scaled.mean(axis=0))
    error = float(means.max())
    bound = max(_MEAN_BOUND, _STANDARD_ERRORS / float(np.sqrt(len(scaled))))
    detail = "" if error <= bound else f"worst in coordinate {int(np.argmax(means))}"
    return Check(error <= bound, error, bound, "largest mean in sigma", detail)


def _covariance(q: Doubles, target: Doubles) -> Check:
    sample = np.cov(q, rowvar=False)
    error = float(np.linalg.norm(sample - target) / np.linalg.norm(target))
    detail = ""
    if not error <= _COVARIANCE_BOUND:
        detail = f"trace of the sample covariance {np.trace(sample):.4g}, of the target {np.trace(target):.4g}"
    return Check(error <= _COVARIANCE_BOUND, error, _COVARIANCE_BOUND, "relative covariance error", detail)


def _acceptance(rate: float) -> Check:
    low, high = _ACCEPTANCE
    correct = low <= rate <= high
    detail = "" if correct else f"expected an acceptance rate in [{low}, {high}], got {rate:.4g}"
    centre, half_width = (low + high) / 2, (high - low) / 2
    return Check(correct, abs(rate - centre), half_width, "distance of the acceptance rate from its middle", detail)


def _follow(q: Doubles, accept_cnt: Array, sigma: Doubles, expected: Arrays) -> Check:
    chains = expected["chains"]
    distance = np.max(np.abs(q[chains] - expected["q"]) / sigma, axis=1)
    apart = distance > _FOLLOW_DISTANCE
    apart |= np.abs(accept_cnt[chains].astype(np.int64) - expected["accept_cnt"]) > _FOLLOW_COUNT
    # The last chains count on their own: a kernel that mistreats a ragged end gets only those wrong.
    share, tail = float(np.mean(apart)), float(np.mean(apart[-_EDGE_CHAINS:]))
    error, tolerance = max(share, tail), 1.0 - _FOLLOW_SHARE
    detail = ""
    if not error <= tolerance:
        where = int(np.argmax(apart)) if share >= tail else len(apart) - int(np.argmax(apart[::-1])) - 1
        detail = (
            f"{int(apart.sum())} of {apart.size} chains part from the exact simulation; chain {int(chains[where])}: "
            f"{distance[where]:.3g} sigma away, accepted {int(accept_cnt[chains[where]])}, "
            f"expected {int(expected['accept_cnt'][where])}"
        )
    return Check(error <= tolerance, error, tolerance, "share of chains that part from the simulation", detail)


def _configuration(
    d: int, k: int, eps: float, leapfrogs: int, rng_seed: int, origin: Origin, scale: Scale, seed: int = 0
) -> Configuration:
    parameters = {"d": d, "K": k, "L": leapfrogs, "eps": eps, "steps": _STEPS[scale], "seed": rng_seed}
    label = f"d={d}, K={k}"
    if origin == "drawn":
        label += f", L={leapfrogs}, eps={eps:g}"
    return Configuration(label, parameters, origin, scale, seed)
