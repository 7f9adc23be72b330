"""Where something can be planted in the seed of each task, and what its kernel sees of a configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Task
from kfp.tasks.zk.fields import GOLDILOCKS

Sight = Mapping[str, Callable[[Configuration], int]]


def whole(name: str) -> Callable[[Configuration], int]:
    return lambda configuration: configuration.integer(name)


def logarithm(name: str) -> Callable[[Configuration], int]:
    return lambda configuration: configuration.integer(name).bit_length() - 1


def always(configuration: Configuration) -> bool:
    return True


@dataclass(frozen=True)
class Site:
    """One task's.

    ``burden``: rounds of it, for every thread of ``kernel`` whose number is ``thread``, that take longer than all the
    rest of the seed. ``sees``: the whole numbers that the kernel receives, and that tell configurations apart.
    ``slot`` is text of the kernel in which ``{}`` stands for the expression ``right``; with ``wrong`` in its place the
    output is wrong wherever ``spoils`` holds. ``baked``: scalars with the value that every search configuration has,
    as literals. ``whole_words``: the burden counts in 64-bit integers.
    """

    task_name: str
    kernel: str
    thread: str
    burden: int
    sees: Sight
    slot: str
    right: str
    wrong: str
    baked: Mapping[str, str] = field(default_factory=dict)
    spoils: Callable[[Configuration], bool] = always
    whole_words: bool = False
    # Of a tuned arm the rest has so many burdens, so that no noise of a machine hides that it is slow.
    slow_rest: int = 4

    @property
    def task(self) -> Task:
        return get_task(self.task_name)

    @property
    def seed(self) -> str:
        return seed_source(self.task)

    def seen(self, configuration: Configuration) -> dict[str, int]:
        return {name: value(configuration) for name, value in self.sees.items()}

    def measured(self) -> list[dict[str, int]]:
        return [self.seen(point) for point in self.task.configurations("small")]

    def published(self) -> dict[str, int]:
        return self.seen(self.task.published_held_out("small"))


def _sees(*names: str, **others: Callable[[Configuration], int]) -> Sight:
    return {name: whole(name) for name in names} | others


_PRIME = f"0x{GOLDILOCKS.modulus:X}ul"
_PRIME_INVERSE = f"0x{-pow(GOLDILOCKS.modulus, -1, 1 << 64) % (1 << 64):X}ul"

_ALL = (
    Site(
        "saxpy", "saxpy", "i", 240, _sees("N"),
        "y[i] = {};", "a * x[i] + y[i]", "a * x[i]",
        {"a": "2.5f"},
    ),
    Site(
        "heat2d", "heat_step", "gid.x", 70, _sees("NX", "NY"),
        "u + alpha * ({});", "neighbours - 4.0f * u", "neighbours - 3.9f * u",
        {"alpha": "0.2f"},
    ),
    Site(
        "wave3d", "wave_step", "gid.x", 40, _sees("NX", "NY", "NZ"),
        "alpha * ({});", "neighbours - 6.0f * u", "neighbours - 5.9f * u",
        {"alpha": "0.18f"},
    ),
    Site(
        "nbody", "nbody_step", "i", 1500, _sees("N"),
        "pos_out[i] = float4({}, 0.0f);", "position + velocity * dt", "position + velocity * (2.0f * dt)",
        {"G": "1.0f", "eps": "0.1f", "dt": "0.005f"},
    ),
    Site(
        "hmc", "hmc_step", "chain_idx", 1500, _sees("K", "d"),
        "q_out[chain_idx * d + i] = accept ? {} :", "q[i]", "1.5f * q[i]",
        {"eps": "0.2f", "L": "10u", "seed": "3405692655u"},
    ),
    Site(
        "lbm", "lbm_step", "gid.x", 100, _sees("NX", "NY"),
        "= f[k] - {};", "(f[k] - equilibrium) / tau", "(f[k] - equilibrium) / (2.0f * tau)",
        {"tau": "0.8f"},
    ),
    Site(
        "ising", "ising_step", "gid.x", 150, _sees("NX", "NY"),
        "spins[j * NX + i] = {};", "char(-spin)", "char(spin)",
        {"seed": "3237998081u"},
    ),
    Site(
        "lj", "lj_step", "i", 6000, _sees("N", "M"),
        "pos_out[i] = float4({}, 0.0f);", "position + velocity * dt", "position + velocity * (2.0f * dt)",
        {"dt": "0.005f"},
    ),
    Site(
        "gradshaf", "gradshaf_step", "gid.x", 100, _sees("NR", "NZ"),
        "omega * ({}) / centre;", "-mu0 * R * J - laplacian", "-0.5f * mu0 * R * J - laplacian",
        {"mu0": "1.0f", "omega": "1.0f", "p_axis": "200.0f"},
    ),
    Site(
        "fft3d", "fft3d_x", "gid.x", 700, _sees("N"),
        "transform({}, line, i, N);", "in_data[point]", "1.5f * in_data[point]",
    ),
    Site(
        "morton", "morton_stencil", "tid", 150, _sees("N", logN=logarithm("N")),
        "alpha * ({});", "neighbours - 6.0f * u", "neighbours - 5.9f * u",
        {"alpha": "0.1f"}, slow_rest=2,
    ),
    Site(
        "adi3d", "adi_x", "gid.x", 1200, _sees("NX", "NY", "NZ"),
        "solve_line(u_in, u_out, first, 1, NX, {});", "mu", "0.5f * mu",
        {"mu": "0.5f"},
    ),
    Site(
        "merkle_build", "merkle_build_level", "p", 1500, _sees("arity", "r_f", "r_p"),
        "tree[out_offset + p] = {};", "state[0]", "state[0] ^ 1ul",
        {"arity": "2u", "t": "3u", "r_f": "8u", "r_p": "22u"}, whole_words=True,
    ),
    Site(
        "fri_round", "fri_fold", "j", 1500,
        _sees("fold", n_out=lambda c: c.integer("N") // c.integer("fold")),
        "evals_out[j] = {};", "multiply(inv_fold, total)", "total",
        {"fold": "2u", "inv_fold": f"0x{pow(2, -1, GOLDILOCKS.modulus):X}ul"}, whole_words=True,
    ),
    Site(
        "goldilocks_ntt", "goldilocks_ntt_stage", "k", 100, _sees(log_N=logarithm("N")),
        "out[j * 2 * width + r + width] = {};", "subtract(a, b)", "subtract(b, a)",
        whole_words=True,
    ),
    Site(
        "poseidon2_hash", "poseidon2_hash", "idx", 3000, _sees("t", "r_f", "r_p", "batch"),
        "out_state[idx * t + i] = {};", "state[i]", "add(state[i], 1)",
        {"t": "3u", "r_f": "8u", "r_p": "22u"}, whole_words=True,
    ),
    Site(
        "kyber_ntt", "kyber_ntt", "ltid", 600, _sees("q", "n", "n_levels", "batch"),
        "uint low = {};", "a[j]", "a[j] ^ 1",
        {"q": "3329u", "n": "256u", "n_levels": "7u"}, whole_words=True,
    ),
    Site(
        "logup_gkr", "logup_partial_product", "gid", 1200, _sees("N", "M", "prime_kind"),
        "if (tid == 0) partial[tgid] = {};", "tile[0]", "tile[0] ^ 1",
        {"prime_kind": "0u", "alpha": "11400714819323198485ul"}, whole_words=True,
    ),
    Site(
        "keccak_f1600_batch", "keccak_f1600_batch", "idx", 2500,
        _sees("batch", "msg_bytes", "rate_bytes", "out_bytes", "domain"),
        "out_data[idx * out_lanes + i] = {};", "state[i % rate_lanes]", "state[(i + 1) % rate_lanes]",
        {"msg_bytes": "32u", "rate_bytes": "136u", "out_bytes": "32u", "domain": "6u"}, whole_words=True,
    ),
    Site(
        "pippenger_buckets", "pippenger_bucket_scatter", "idx", 2500,
        _sees("n_pairs", "num_windows", "window_bits"),
        "uint wanted = {};", "idx % per_window + 1", "idx % per_window",
        {"num_windows": "4u", "window_bits": "8u"}, whole_words=True,
    ),
    Site(
        "wots_chain", "wots_chain", "idx", 45000, _sees("n_chains", "n_bytes", "w"),
        "tips[idx * lanes + i] = {};", "state[i]", "state[i] ^ 1ul",
        {"n_bytes": "16u"}, whole_words=True,
    ),
    Site(
        "binius_clmul", "binius_clmul", "idx", 2500, _sees("batch", "tower"),
        "c[at + 2] = {};", "c1.low", "c0.low",
        {"tower": "0u"}, spoils=lambda c: c.integer("tower") == 1, whole_words=True,
    ),
    Site(
        "montgomery_msm", "montgomery_msm_pair", "idx", 250000, _sees("n_pairs"),
        "store(scratch + 18 * idx, {});", "result", "twice(result, prime)",
        whole_words=True,
    ),
    Site(
        "multilinear_sumcheck_round", "sumcheck_round_h", "gid", 2500,
        _sees("prime_kind", k_log=whole("k"), d_deg=whole("d")),
        "if (tid == 0) partial[tgid * (d_deg + 1) + t] = {};", "tile[0]", "tile[0] ^ 1",
        {"prime_kind": "0u", "d_deg": "2u"}, whole_words=True,
    ),
    Site(
        "modmul_montgomery", "modmul_montgomery", "idx", 150,
        _sees("N", "rounds", "modulus"),
        "y[idx] = {};", "value", "value ^ 1",
        {"modulus": _PRIME, "neg_inv": _PRIME_INVERSE, "rounds": "8u"}, whole_words=True,
    ),
)  # fmt: skip

SITES: dict[str, Site] = {site.task_name: site for site in _ALL}
