"""Names, buffer indices, sizes, geometry and counts of the zk tasks are those of the published interface."""

from __future__ import annotations

import numpy as np
import pytest
from kfp.plan import Dispatch
from kfp.tasks import all_tasks, get_task
from kfp.tasks.base import Configuration, Number
from suite_cases import whole_plan

# Per kernel: the types of buffers 0, 1, ... as the specification has them.
R, W, C, U = "device const ulong*", "device ulong*", "constant ulong&", "constant uint&"
R4, W4 = "device const uint*", "device uint*"
INTERFACE: dict[str, tuple[str, ...]] = {
    "goldilocks_ntt_stage": (R, W, R, U, U),
    "poseidon2_hash": (R, W, R, R, R, R, U, U, U, U),
    "merkle_build_level": (W, R, R, R, R, U, U, U, U, U, U, U),
    "fri_fold": (R, W, R, R, C, C, U, U),
    "fri_commit_level": (W, R, R, R, R, U, U, U),
    "kyber_ntt": (W4, R4, U, U, U, U),
    "logup_count_mult": (R4, "device atomic_uint*", U),
    "logup_partial_product": (R, R4, R4, W, U, U, U, C),
    "keccak_f1600_batch": (R, W, U, U, U, U, U),
    "pippenger_bucket_scatter": (R, R, W, R, C, U, U, U),
    "wots_chain": (R, W, U, U, U),
    "binius_clmul": (R, R, W, C, C, U, U),
    "montgomery_msm_pair": (R, R, W, R, C, U),
    "montgomery_msm_reduce": (W, R, C, U),
    "sumcheck_round_h": (R, W, U, U, U),
    "sumcheck_fold": (R, W, C, U, U, U),
}

# In-distribution at full scale, then the held-out point: the parameters that the specification fixes.
FULL_SCALE: dict[str, list[dict[str, Number]]] = {
    "goldilocks_ntt": [{"N": 2**k} for k in (14, 16, 18, 20)],
    "poseidon2_hash": [{"t": t, "batch": 2**k} for t, k in ((3, 12), (3, 16), (3, 20), (4, 18))],
    "merkle_build": [{"arity": a, "leaves": 2**k} for a, k in ((2, 16), (2, 18), (2, 20), (4, 19))],
    "fri_round": [{"fold": f, "N": 2**k} for f, k in ((2, 16), (2, 18), (2, 20), (4, 17))],
    "kyber_ntt": [
        *({"q": 3329, "n": 256, "n_levels": 7, "batch": batch} for batch in (1, 16, 256)),
        {"q": 8380417, "n": 256, "n_levels": 8, "batch": 64},
    ],
    "logup_gkr": [{"prime_kind": p, "M": 2**k, "N": 2 ** (k + 1)} for p, k in ((0, 12), (0, 16), (0, 20), (1, 18))],
    "keccak_f1600_batch": [
        *({"batch": 2**k, "msg_bytes": 32, "rate_bytes": 136, "out_bytes": 32, "domain": 6} for k in (14, 18, 22)),
        {"batch": 2**20, "msg_bytes": 32, "rate_bytes": 168, "out_bytes": 256, "domain": 0x1F},
    ],
    "pippenger_buckets": [
        {"n_pairs": 2**k, "num_windows": 4, "window_bits": 16, "zipf": zipf, "support": 0}
        for k, zipf in ((12, 0), (14, 0), (16, 0), (14, 1.5))
    ],
    "wots_chain": [
        *({"n_bytes": 16, "n_chains": 2**16, "w": w} for w in (16, 64, 256)),
        {"n_bytes": 32, "n_chains": 2**17, "w": 32},
    ],
    "binius_clmul": [{"tower": tower, "batch": 2**k} for tower, k in ((0, 16), (0, 18), (0, 20), (1, 18))],
    "montgomery_msm": [{"curve": curve, "n_pairs": 2**k} for curve, k in ((0, 12), (0, 14), (0, 16), (1, 13))],
    "multilinear_sumcheck_round": [
        {"prime_kind": p, "d": d, "k": k} for p, d, k in ((0, 2, 14), (0, 2, 16), (0, 2, 18), (1, 3, 18))
    ],
    "modmul_montgomery": [{"N": 2**k} for k in (20, 22, 24, 23)],
}


def full(name: str, index: int = 0) -> Configuration:
    task = get_task(name)
    return [*task.configurations("full"), task.published_held_out("full")][index]


def test_the_tasks_in_the_order_of_the_specification() -> None:
    assert {task.name for task in all_tasks("zk")} == set(FULL_SCALE)
    assert [task.name for task in all_tasks("zk")][-1] == "modmul_montgomery"


def test_kernels_take_the_published_buffers() -> None:
    kernels = {kernel.name: kernel for task in all_tasks("zk") for kernel in task.kernels}
    assert set(kernels) == {*INTERFACE, "modmul_montgomery"}  # whose interface is kfp's own
    for name, types in INTERFACE.items():
        assert tuple(a.declaration.rsplit(" ", 1)[0] for a in kernels[name].arguments) == types, name


@pytest.mark.parametrize("name", FULL_SCALE)
def test_full_scale_is_the_published_one(name: str) -> None:
    for index, wanted in enumerate(FULL_SCALE[name]):
        assert wanted.items() <= full(name, index).parameters.items()
    assert len(get_task(name).configurations("full")) == len(FULL_SCALE[name]) - 1


@pytest.mark.parametrize("name", ["montgomery_msm", "pippenger_buckets"])
def test_published_points_are_affine(name: str) -> None:
    assert all(full(name, index).parameters["special"] == 0 for index in range(4))


def dispatches(name: str, **changes: Number) -> tuple[Dispatch, ...]:
    task = get_task(name)
    first = task.configurations("small")[0]
    configuration = Configuration("changed", {**first.parameters, **changes}, scale="small")
    return whole_plan(task, configuration, task.inputs(configuration)).dispatches


def shapes(name: str, **changes: Number) -> list[tuple[int, int]]:
    """(threads, threads of a threadgroup) of every dispatch."""
    found = dispatches(name, **changes)
    assert all(dispatch.grid[1:] == dispatch.threadgroup[1:] == (1, 1) for dispatch in found)
    return [(dispatch.grid[0], dispatch.threadgroup[0]) for dispatch in found]


def test_geometry() -> None:
    assert shapes("keccak_f1600_batch", batch=65) == [(128, 64)]
    assert shapes("wots_chain", n_chains=64) == [(64, 64)]
    assert shapes("binius_clmul", batch=1) == [(64, 64)]
    assert shapes("pippenger_buckets", num_windows=2, window_bits=8) == [(512, 64)]
    assert shapes("logup_gkr", M=300, N=601) == [(768, 256), (1024, 256)]
    assert shapes("logup_gkr", M=10, N=20) == [(20, 20), (256, 256)]
    assert shapes("multilinear_sumcheck_round", k=4, d=3) == [(256, 256), (24, 24)]
    assert shapes("multilinear_sumcheck_round", k=11, d=1) == [(1024, 256), (1024, 256)]
    assert shapes("montgomery_msm", n_pairs=33) == [(64, 64), *[(64, 64)] * 6]
    assert shapes("montgomery_msm", n_pairs=256)[0] == (256, 64)


@pytest.mark.parametrize("n", [2, 3, 64, 65])
def test_a_reduction_takes_halves_down_to_one(n: int) -> None:
    pair, *reductions = dispatches("montgomery_msm", n_pairs=n)
    assert pair.kernel == "montgomery_msm_pair"
    padded = 1 << (n - 1).bit_length()
    halves = [int(str(dispatch.arguments[3])) for dispatch in reductions]
    assert halves == [padded >> i for i in range(1, padded.bit_length())]


def demand(name: str, index: int, resource: str, **expected: int) -> float:
    task = get_task(name)
    found = task.demands(full(name, index), {key: np.array(value) for key, value in expected.items()})
    return next(each.amount for each in found if each.resource == resource)


def test_demands_follow_the_published_counts() -> None:
    assert demand("keccak_f1600_batch", 2, "u64_bit") == 155 * 24 * 2**22
    # 256 bytes are two blocks of 168.
    assert demand("keccak_f1600_batch", 3, "u64_bit") == 155 * 24 * 2 * 2**20
    assert demand("keccak_f1600_batch", 0, "u64_rotate") == 29 * 24 * 2**14
    assert demand("wots_chain", 2, "u64_bit") == 155 * 24 * 256 * 2**16
    assert demand("binius_clmul", 0, "u64_bit") == 256 * 2**16
    assert demand("binius_clmul", 3, "u64_bit") == 1024 * 2**18
    assert demand("montgomery_msm", 0, "u64_multiply") == 4608 * 2**12 + 16 * (2**12 - 1)
    assert demand("pippenger_buckets", 0, "u64_multiply", additions=100) == 1600
    assert demand("logup_gkr", 2, "u64_multiply") == 5 * 3 * 2**20
    assert demand("multilinear_sumcheck_round", 0, "u64_multiply") == 7 * 2**13
    assert demand("multilinear_sumcheck_round", 3, "u64_multiply") == 17 * 2**17
    assert demand("goldilocks_ntt", 0, "u64_multiply") == 14 * 2**13
    assert demand("goldilocks_ntt", 0, "dram") == 14 * 20 * 2**14
    assert demand("poseidon2_hash", 0, "u64_multiply") == 331 * 2**12
    assert demand("poseidon2_hash", 3, "u64_multiply") == 448 * 2**18
