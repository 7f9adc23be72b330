"""Arithmetic on arrays against Python's integers, on the grid of edge values and on whatever hypothesis thinks of."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.tasks.zk import goldilocks
from kfp.tasks.zk._common import LAWS, bit_reversed, draw_odd, edge_values, elements, exact_check, is_prime
from kfp.tasks.zk.fields import (
    BABYBEAR,
    GOLDILOCKS,
    Field,
    Words,
    montgomery_multiply,
    negative_inverse,
    remainder,
    wide_multiply,
    words,
)

FIELDS = [pytest.param(GOLDILOCKS, id="goldilocks"), pytest.param(BABYBEAR, id="babybear")]
MODULI = [3, 9, 255, 2**31 - 1, 2**32 - 1, 2**32 + 1, 2**63 - 1, 2**63 + 1, 2**64 - 59, 2**64 - 1, GOLDILOCKS.modulus]
ANY_WORD = st.one_of(st.integers(0, 2**64 - 1), st.sampled_from(edge_values(2**64).tolist()))


def grid(modulus: int) -> tuple[Words, Words]:
    """Every pair of edge values, and a thousand random ones."""
    rng = np.random.default_rng(1)
    pairs = [*product(edge_values(modulus).tolist(), repeat=2)]
    pairs += rng.integers(0, modulus - 1, (1000, 2), dtype=np.uint64, endpoint=True).tolist()
    return words([a for a, _ in pairs]), words([b for _, b in pairs])


@pytest.mark.parametrize("field", FIELDS)
def test_pairs(field: Field) -> None:
    p = field.modulus
    a, b = grid(p)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    assert field.mul(a, b).tolist() == [x * y % p for x, y in pairs]
    assert field.add(a, b).tolist() == [(x + y) % p for x, y in pairs]
    assert field.sub(a, b).tolist() == [(x - y) % p for x, y in pairs]


@pytest.mark.parametrize("field", FIELDS)
def test_inverses_powers_sums_and_products(field: Field) -> None:
    p = field.modulus
    for count in (0, 1, 2, 3, 61, 128):
        a = grid(p)[0][-count:] if count else words([])
        assert field.inverse(a).tolist() == [pow(x, p - 2, p) for x in a.tolist()]
        assert field.total(a) == sum(a.tolist()) % p
        assert field.product(a) == math.prod(a.tolist()) % p
        assert field.power(a, 7).tolist() == [pow(x, 7, p) for x in a.tolist()]
        assert field.power(a, 0).tolist() == [1] * count
        assert field.powers(p - 2, count).tolist() == [pow(p - 2, i, p) for i in range(count)]
    assert field.inverse(words([[0, 1], [2, 0]])).tolist() == [[0, 1], [pow(2, -1, p), 0]]
    with pytest.raises(ValueError, match="exponent of at least 0"):
        field.power(words([1]), -1)


@pytest.mark.parametrize("field", FIELDS)
def test_products_broadcast_and_cross_blocks(field: Field) -> None:
    rng = np.random.default_rng(2)
    a = elements(rng, (3, goldilocks.BLOCK + 5), field.modulus)
    b = elements(rng, (3, 1), field.modulus)
    whole = field.mul(a, b)
    assert whole.shape == a.shape
    for row, factor in enumerate(b[:, 0].tolist()):
        picked = [0, 1, goldilocks.BLOCK - 1, goldilocks.BLOCK, goldilocks.BLOCK + 4]
        assert whole[row, picked].tolist() == [x * factor % field.modulus for x in a[row, picked].tolist()]
    assert field.mul(np.uint64(3), np.uint64(5)) == 15
    column, row = elements(rng, (70, 1), field.modulus), elements(rng, (1, 50), field.modulus)
    for operation, exact in ((field.mul, int.__mul__), (field.add, int.__add__), (field.sub, int.__sub__)):
        table = operation(column, row)
        assert table.tolist() == [[exact(x, y) % field.modulus for y in row[0].tolist()] for x in column[:, 0].tolist()]


def test_roots_of_unity() -> None:
    """The published roots are powers of the published generators, 7 and 31."""
    assert (
        GOLDILOCKS.root_of_unity(32)
        == 1753635133440165772
        == pow(7, (GOLDILOCKS.modulus - 1) >> 32, GOLDILOCKS.modulus)
    )
    assert BABYBEAR.root_of_unity(27) == pow(31, (BABYBEAR.modulus - 1) >> 27, BABYBEAR.modulus)
    for field, log_order in product((GOLDILOCKS, BABYBEAR), (1, 5, 27)):
        for power in (1, 3, 12345):
            root = field.root_of_unity(log_order, power)
            assert pow(root, 1 << (log_order - 1), field.modulus) == field.modulus - 1
    for log_order, power in ((33, 1), (-1, 1), (4, 2)):
        with pytest.raises(ValueError, match="odd power"):
            GOLDILOCKS.root_of_unity(log_order, power)


@settings(max_examples=200, deadline=None)
@given(a=st.lists(ANY_WORD, min_size=1, max_size=9), b=ANY_WORD)
def test_residues_need_not_be_canonical(a: list[int], b: int) -> None:
    p = goldilocks.P
    workspace, left, out = goldilocks.Workspace(16), words(a), words(a)
    workspace.multiply(left, np.uint64(b), out)
    assert [x % p for x in out.tolist()] == [x * b % p for x in a]
    workspace.square(left, out)
    assert [x % p for x in out.tolist()] == [x * x % p for x in a]
    workspace.multiply(left, left, left)
    goldilocks.canonical(left)
    assert left.tolist() == [x * x % p for x in a]
    low, high = words([x >> 2 for x in a]), words([b >> 2] * len(a))
    workspace.join(low, high, out)
    assert [x % p for x in out.tolist()] == [((x >> 2) + (b >> 2 << 32)) % p for x in a]


@settings(max_examples=100, deadline=None)
@given(a=ANY_WORD, constant=st.integers(0, goldilocks.P - 1))
def test_limbs_times_weights_are_the_product(a: int, constant: int) -> None:
    limbs = np.empty((3, 1), np.uint64)
    goldilocks.split(words([a]), limbs)
    assert max(limbs[:, 0].tolist()) < 1 << 22
    total = sum(
        int(limb[0]) * (int(low) + (int(high) << 32))
        for limb, (low, high) in zip(limbs, goldilocks.weighted(constant), strict=True)
    )
    assert total % goldilocks.P == a * constant % goldilocks.P


@settings(max_examples=200, deadline=None)
@given(a=ANY_WORD, b=ANY_WORD)
def test_wide_products(a: int, b: int) -> None:
    high, low = wide_multiply(words([a]), words([b]))
    assert (int(high[0]) << 64) + int(low[0]) == a * b


@pytest.mark.parametrize("modulus", MODULI)
def test_montgomery_products(modulus: int) -> None:
    a, b = grid(modulus)
    inverse = pow(1 << 64, -1, modulus)
    right = [x * y * inverse % modulus for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    assert montgomery_multiply(a, b, modulus).tolist() == right
    assert (negative_inverse(modulus) * modulus + 1) % 2**64 == 0
    assert remainder(a * b, modulus).tolist() == [x % modulus for x in (a * b).tolist()]


def test_even_moduli_have_no_inverse() -> None:
    with pytest.raises(ValueError, match="odd modulus, got 10"):
        negative_inverse(10)


@pytest.mark.parametrize("modulus", [5, 257, 3329, 2**31 - 1, BABYBEAR.modulus, GOLDILOCKS.modulus, 2**64 - 1, 2**64])
def test_elements_are_canonical_and_hold_edges(modulus: int) -> None:
    edges = set(edge_values(modulus).tolist())
    assert {0, 1, modulus - 1, modulus - 2} <= edges
    assert max(edges) < modulus
    for law, name in enumerate(LAWS):
        found = elements(np.random.default_rng(law), (7, 50), modulus, law)
        assert found.shape == (7, 50)
        assert found.dtype == np.uint64
        assert int(found.max()) < modulus
        if name == "constant":
            assert np.unique(found).size == 1
        else:
            assert sum(value in edges for value in found.ravel().tolist()) >= 10, name
    flat = elements(np.random.default_rng(0), 11, modulus, LAWS.index("cancelling")).tolist()
    assert [(a + b) % modulus for a, b in zip(flat, flat[6:], strict=False)] == [0] * 5


def test_the_edges_of_goldilocks() -> None:
    edges = edge_values(GOLDILOCKS.modulus).tolist()
    for value in (2**32 - 1, 2**32, 2**32 + 1, 2**63, 0xFFFFFFFF00000000, 0xFFFFFFFE00000001):
        assert value in edges


def test_bit_reversal() -> None:
    assert bit_reversed(0).tolist() == [0]
    assert bit_reversed(4).tolist() == [int(f"{i:04b}"[::-1], 2) for i in range(16)]


def test_primes() -> None:
    sieve = [n for n in range(3000) if n > 1 and all(n % d for d in range(2, math.isqrt(n) + 1))]
    assert [n for n in range(3000) if is_prime(n)] == sieve
    for prime in (2**31 - 1, 2**61 - 1, GOLDILOCKS.modulus, BABYBEAR.modulus, 8380417, 2**64 - 59):
        assert is_prime(prime)
    # Strong pseudoprimes to the first bases, a Carmichael number, squares.
    for composite in (3215031751, 3825123056546413051, 561, (2**31 - 1) ** 2, 2**64 - 1, 2**32 + 1):
        assert not is_prime(composite)


def test_odd_numbers() -> None:
    for low, high in ((1, 1), (1, 9), (2, 9), (5, 8)):
        drawn = {draw_odd(np.random.default_rng(seed), low, high) for seed in range(100)}
        assert drawn == set(range(low | 1, high + 1, 2))


def test_a_check_says_where_and_whether_a_value_is_not_canonical() -> None:
    right = {"y": words([[1, 2], [3, 4]])}
    assert exact_check(right, right, ["y"]).correct
    for value, said in (
        (9, "1 of 4 elements differ; first at y[1, 0]: expected 0x3, got 0x9"),
        (3 + 101, "got 0x68, which is not canonical (the right residue class)"),
        (4 + 101, "got 0x69, which is not canonical"),
    ):
        wrong = right["y"].copy()
        wrong[1, 0] = value
        check = exact_check({"y": wrong}, right, ["y"], 101)
        assert not check.correct
        assert (check.error, check.tolerance) == (1.0, 0.0)
        assert check.detail.endswith(said)
    for shape_or_type in (right["y"][0], right["y"].astype(np.uint32)):
        check = exact_check({"y": shape_or_type}, right, ["y"])
        assert not check.correct
        assert "expected uint64[2, 2]" in check.detail
