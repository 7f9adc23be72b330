"""References of LogUp and sum-check against their definitions in plain integers, and what their checks let pass."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from kfp.errors import PlanError
from kfp.tasks import get_task
from kfp.tasks.base import Arrays, Configuration, Number
from kfp.tasks.zk.fields import BABYBEAR_P, GOLDILOCKS_P
from kfp.tasks.zk.logup_gkr import SPREADS

PRIMES = (GOLDILOCKS_P, BABYBEAR_P)


def small(name: str, **changes: Number) -> Configuration:
    first = get_task(name).configurations("small")[0]
    return replace(first, parameters={**first.parameters, **changes}, seed=11)


def run(name: str, configuration: Configuration) -> tuple[Arrays, Arrays]:
    inputs = get_task(name).inputs(configuration)
    return inputs, get_task(name).reference(configuration, inputs)


def fractions(configuration: Configuration, inputs: Arrays) -> list[int]:
    """The stream of the contract, one inverse each."""
    p, alpha = PRIMES[configuration.integer("prime_kind")], configuration.integer("alpha")
    table, witness = inputs["table"].tolist(), inputs["witness_idx"].tolist()
    stream = [pow(alpha - table[entry], -1, p) for entry in witness]
    return stream + [witness.count(entry) * pow(alpha - x, -1, p) % p for entry, x in enumerate(table)]


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("spread", range(len(SPREADS)))
@pytest.mark.parametrize(("covered", "skew", "law"), [(1, 0.0, 0), (1, 1.5, 1), (0, 1.0, 4)])
def test_logup(kind: int, spread: int, covered: int, skew: float, law: int) -> None:
    p = PRIMES[kind]
    for m, n, alpha in [(1, 1, 0), (40, 47, p - 1), (30, 90, 12345)]:
        configuration = small(
            "logup_gkr", prime_kind=kind, M=m, N=n, alpha=alpha, spread=spread, covered=covered, skew=skew, law=law
        )
        inputs, expected = run("logup_gkr", configuration)
        assert alpha not in inputs["table"]
        assert (inputs["table"] < p).all()
        witness = inputs["witness_idx"].tolist()
        assert expected["multiplicities"].tolist() == [witness.count(entry) for entry in range(m)]
        assert expected["product"] == prod(fractions(configuration, inputs)) % p
        if covered:
            assert expected["product"] != 0


def logup_outputs(configuration: Configuration) -> tuple[Arrays, Arrays, dict[str, np.ndarray]]:
    inputs, expected = run("logup_gkr", configuration)
    p, stream = PRIMES[configuration.integer("prime_kind")], fractions(configuration, inputs)
    tiles = [prod(stream[start : start + 256]) % p for start in range(0, len(stream), 256)]
    return (
        inputs,
        expected,
        {"multiplicities": expected["multiplicities"].copy(), "partial": np.array(tiles, np.uint64)},
    )


@pytest.mark.parametrize("kind", [0, 1])
def test_the_check_of_logup(kind: int) -> None:
    p, task = PRIMES[kind], get_task("logup_gkr")
    configuration = small("logup_gkr", prime_kind=kind, M=200, N=401, alpha=7)
    inputs, expected, right = logup_outputs(configuration)
    assert right["partial"].shape == (3,)
    assert task.check(configuration, inputs, right, expected).correct
    # Another share of the same product is as good.
    shared = np.array([prod(right["partial"].tolist()) % p, 1, 1], np.uint64)
    assert task.check(configuration, inputs, {**right, "partial": shared}, expected).correct

    def refused(reason: str, **changed: np.ndarray) -> None:
        check = task.check(configuration, inputs, {**right, **changed}, expected)
        assert not check.correct
        assert reason in check.detail, check.detail

    beyond = shared.copy()
    beyond[1] += np.uint64(p)
    refused(f"1 of 3 partials are not canonical; first partial[1]: {p + 1:#x}", partial=beyond)
    refused("the product of all 3 partials: expected", partial=right["partial"] ^ np.uint64(1))
    refused("the product of all 3 partials", partial=np.zeros(3, np.uint64))
    for entry in (0, 199):
        counts = right["multiplicities"].copy()
        counts[entry] += 1
        refused(f"multiplicities[{entry}]", multiplicities=counts)
    refused("multiplicities", multiplicities=np.zeros(200, np.uint32))


def multilinear(table: list[int], point: int, p: int) -> list[int]:
    """Values at the first variable = point."""
    half = len(table) // 2
    return [(table[j] * (1 - point) + table[half + j] * point) % p for j in range(half)]


def sum_of_products(tables: list[list[int]], p: int) -> int:
    return sum(prod(values) for values in zip(*tables, strict=True)) % p


@pytest.mark.parametrize("kind", [0, 1])
@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize(("k", "law"), [(1, 0), (2, 1), (5, 4), (6, 7)])
def test_sumcheck(kind: int, d: int, k: int, law: int) -> None:
    p = PRIMES[kind]
    for r in (0, 1, p - 1, 98765):
        configuration = small("multilinear_sumcheck_round", prime_kind=kind, d=d, k=k, r=r, law=law)
        inputs, expected = run("multilinear_sumcheck_round", configuration)
        tables = inputs["f_in"].tolist()
        assert inputs["f_in"].shape == (d, 2**k)
        h = expected["h"].tolist()
        assert h == [sum_of_products([multilinear(table, t, p) for table in tables], p) for t in range(d + 1)]
        folded = [multilinear(table, r, p) for table in tables]
        assert expected["f_out"].tolist() == folded
        # The two equations of the protocol: h(0) + h(1) is the claim, h(r) that of the next round.
        assert (h[0] + h[1]) % p == sum_of_products(tables, p)
        assert interpolated(h, r, p) == sum_of_products(folded, p)


def interpolated(values: list[int], at: int, p: int) -> int:
    """Lagrange's polynomial through (0, values[0]), (1, values[1]), ..."""
    total = 0
    for i, value in enumerate(values):
        others = [j for j in range(len(values)) if j != i]
        total += value * prod(at - j for j in others) * pow(prod(i - j for j in others), -1, p)
    return total % p


@pytest.mark.parametrize("kind", [0, 1])
def test_the_check_of_sumcheck(kind: int) -> None:
    p, task = PRIMES[kind], get_task("multilinear_sumcheck_round")
    configuration = small("multilinear_sumcheck_round", prime_kind=kind, d=2, k=10, r=5)
    inputs, expected = run("multilinear_sumcheck_round", configuration)
    partial = np.stack([expected["h"], np.zeros(3, np.uint64)])
    right = {"partial": partial, "f_out": expected["f_out"]}
    assert task.check(configuration, inputs, right, expected).correct
    shares = np.stack([np.array([(h - 5) % p for h in expected["h"].tolist()], np.uint64), np.full(3, 5, np.uint64)])
    assert task.check(configuration, inputs, {**right, "partial": shares}, expected).correct

    def refused(reason: str, **changed: np.ndarray) -> None:
        check = task.check(configuration, inputs, {**right, **changed}, expected)
        assert not check.correct
        assert reason in check.detail, check.detail

    beyond = partial.copy()
    beyond[1, 2] = p
    refused("1 of 6 partials are not canonical; first of tile 1 at t=2", partial=beyond)
    refused("3 of 3 values of h differ; first h(0)", partial=np.zeros_like(partial))
    refused("2 of 3 values of h differ; first h(0)", partial=partial[:, ::-1])
    for i, j in ((0, 0), (1, 511), (0, 300)):
        folded = expected["f_out"].copy()
        folded[i, j] ^= np.uint64(1)
        refused(f"f_out[{i}, {j}]", f_out=folded)
    high = expected["f_out"].copy()
    high[1, 7] = p
    refused("which is not canonical", f_out=high)


@pytest.mark.parametrize(
    ("name", "kernel"),
    [("logup_gkr", "logup_partial_product"), ("multilinear_sumcheck_round", "sumcheck_round_h")],
)
def test_tiles_need_their_threads(name: str, kernel: str) -> None:
    task = get_task(name)
    configuration = task.configurations("small")[0]
    caps = {each.name: 256 for each in task.kernels}
    inputs = task.inputs(configuration)
    assert task.plan(configuration, inputs, caps).dispatches
    with pytest.raises(PlanError, match=rf"{kernel}: needs threadgroups of 256 threads.*= 255"):
        task.plan(configuration, inputs, {**caps, kernel: 255})
