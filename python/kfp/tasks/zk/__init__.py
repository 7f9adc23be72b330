"""The tasks of suite ``zk``, in the order of its specification; the last one, modmul_montgomery, is the smoke task."""

from __future__ import annotations

from kfp.tasks.base import Task
from kfp.tasks.zk.binius_clmul import BiniusClmul
from kfp.tasks.zk.fri_round import FriRound
from kfp.tasks.zk.goldilocks_ntt import GoldilocksNtt
from kfp.tasks.zk.keccak_f1600_batch import KeccakF1600Batch
from kfp.tasks.zk.kyber_ntt import KyberNtt
from kfp.tasks.zk.logup_gkr import LogupGkr
from kfp.tasks.zk.merkle_build import MerkleBuild
from kfp.tasks.zk.modmul_montgomery import ModmulMontgomery
from kfp.tasks.zk.montgomery_msm import MontgomeryMsm
from kfp.tasks.zk.multilinear_sumcheck_round import MultilinearSumcheckRound
from kfp.tasks.zk.pippenger_buckets import PippengerBuckets
from kfp.tasks.zk.poseidon2_hash import Poseidon2Hash
from kfp.tasks.zk.wots_chain import WotsChain

TASKS: tuple[type[Task], ...] = (
    GoldilocksNtt,
    Poseidon2Hash,
    MerkleBuild,
    FriRound,
    KyberNtt,
    LogupGkr,
    KeccakF1600Batch,
    PippengerBuckets,
    WotsChain,
    BiniusClmul,
    MontgomeryMsm,
    MultilinearSumcheckRound,
    ModmulMontgomery,
)
