"""References of transforms, Poseidon2, trees, folds and Montgomery chains against definitions in plain integers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from kfp.tasks import get_task
from kfp.tasks.base import Array, Arrays, Configuration, Number
from kfp.tasks.zk._common import bit_reversed, is_prime
from kfp.tasks.zk.fields import GOLDILOCKS, GOLDILOCKS_P, words
from kfp.tasks.zk.kyber_ntt import draw_prime, root_of_order
from kfp.tasks.zk.merkle import levels
from kfp.tasks.zk.poseidon2 import Poseidon2, multiplications

P = GOLDILOCKS_P
DRAWS = 12


def small(name: str, **changes: Number) -> Configuration:
    first = get_task(name).configurations("small")[0]
    return replace(first, parameters={**first.parameters, **changes}, seed=11)


def drawn(name: str) -> list[Configuration]:
    rng = np.random.default_rng(44)
    return [get_task(name).draw(rng, "small") for _ in range(DRAWS)]


def run(configuration: Configuration, name: str) -> tuple[Arrays, Arrays]:
    inputs = get_task(name).inputs(configuration)
    return inputs, get_task(name).reference(configuration, inputs)


def permute(state: list[int], inputs: Arrays) -> list[int]:
    """Poseidon2 as its specification has it."""
    rc_ext, rc_int, mds, diagonal = (inputs[name].tolist() for name in ("rc_ext", "rc_int", "ext_mds", "int_diag"))

    def linear(lanes: list[int]) -> list[int]:
        return [sum(entry * lane for entry, lane in zip(row, lanes, strict=True)) % P for row in mds]

    def full(lanes: list[int], constants: list[int]) -> list[int]:
        return linear([pow(lane + constant, 7, P) for lane, constant in zip(lanes, constants, strict=True)])

    half = len(rc_ext) // 2
    state = linear(state)
    for constants in rc_ext[:half]:
        state = full(state, constants)
    for constant in rc_int:
        state[0] = pow(state[0] + constant, 7, P)
        total = sum(state)
        state = [(total + entry * lane) % P for entry, lane in zip(diagonal, state, strict=True)]
    for constants in rc_ext[half:]:
        state = full(state, constants)
    return state


def unpermute(state: list[int], inputs: Arrays) -> list[int]:
    """The inverse permutation, by Cramer's rule and the inverse of the seventh power."""
    rc_ext, rc_int, mds, diagonal = (inputs[name].tolist() for name in ("rc_ext", "rc_int", "ext_mds", "int_diag"))
    seventh_root, t, half = pow(7, -1, P - 1), len(state), len(rc_ext) // 2
    partial = [[1 + (i == j) * diagonal[i] for j in range(t)] for i in range(t)]
    for constants in reversed(rc_ext[half:]):
        state = solve(mds, state)
        state = [(pow(lane, seventh_root, P) - constant) % P for lane, constant in zip(state, constants, strict=True)]
    for constant in reversed(rc_int):
        state = solve(partial, state)
        state[0] = (pow(state[0], seventh_root, P) - constant) % P
    for constants in reversed(rc_ext[:half]):
        state = solve(mds, state)
        state = [(pow(lane, seventh_root, P) - constant) % P for lane, constant in zip(state, constants, strict=True)]
    return solve(mds, state)


def solve(matrix: list[list[int]], right: list[int]) -> list[int]:
    """Gauss and Jordan modulo p."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = next(i for i in range(column, len(rows)) if rows[i][column] % P)
        rows[column], rows[pivot] = rows[pivot], rows[column]
        inverse = pow(rows[column][column], -1, P)
        rows[column] = [entry * inverse % P for entry in rows[column]]
        for i, row in enumerate(rows):
            if i != column:
                rows[i] = [(a - row[column] * b) % P for a, b in zip(row, rows[column], strict=True)]
    return [row[-1] for row in rows]


def test_goldilocks_ntt_against_the_definition() -> None:
    for configuration in [
        small("goldilocks_ntt"),
        small("goldilocks_ntt", N=64, root_power=5),
        *drawn("goldilocks_ntt"),
    ]:
        inputs, expected = run(configuration, "goldilocks_ntt")
        n = configuration.integer("N")
        root = int(inputs["twiddles"][1])
        assert pow(root, n // 2, P) == P - 1
        x, powers = inputs["x"].tolist(), [pow(root, i, P) for i in range(n)]
        for k in range(0, n, max(1, n // 32)):
            assert expected["y"][k] == sum(value * powers[k * i % n] for i, value in enumerate(x)) % P


def test_goldilocks_ntt_turns_convolutions_into_products() -> None:
    rng = np.random.default_rng(9)
    configuration = small("goldilocks_ntt", N=32)
    inputs, _ = run(configuration, "goldilocks_ntt")
    a, b = (rng.integers(0, P, 16, dtype=np.uint64).tolist() for _ in range(2))
    product = [sum(a[i] * b[k - i] for i in range(16) if 0 <= k - i < 16) % P for k in range(32)]

    def transformed(values: list[int]) -> Array:
        padded = np.array(values + [0] * (32 - len(values)), np.uint64)
        return get_task("goldilocks_ntt").reference(configuration, {**inputs, "x": padded})["y"]

    np.testing.assert_array_equal(transformed(product), GOLDILOCKS.mul(transformed(a), transformed(b)))


def test_poseidon2_hash() -> None:
    for configuration in [*get_task("poseidon2_hash").configurations("small")[:1], *drawn("poseidon2_hash")]:
        inputs, expected = run(configuration, "poseidon2_hash")
        assert inputs["rc_ext"].shape == (configuration.integer("r_f"), configuration.integer("t"))
        for state, permuted in list(zip(inputs["in_state"], expected["out_state"], strict=True))[:20]:
            assert permuted.tolist() == permute(state.tolist(), inputs)


@pytest.mark.parametrize("t", [3, 4])
def test_poseidon2_is_a_permutation(t: int) -> None:
    inputs, expected = run(small("poseidon2_hash", t=t, batch=5), "poseidon2_hash")
    for state, permuted in zip(inputs["in_state"], expected["out_state"], strict=True):
        assert unpermute(permuted.tolist(), inputs) == state.tolist()


def grain_constants(t: int, r_f: int, r_p: int) -> Iterator[int]:
    """Round constants as the authors of Poseidon draw them: Grain's shift register in self-shrinking mode."""
    state = [int(bit) for bit in f"{1:02b}{0:04b}{64:012b}{t:012b}{r_f:010b}{r_p:010b}{2**30 - 1:030b}"]

    def clock() -> int:
        state.append(state[62] ^ state[51] ^ state[38] ^ state[23] ^ state[13] ^ state[0])
        state.pop(0)
        return state[-1]

    def bit() -> int:
        while True:
            kept, value = clock(), clock()
            if kept:
                return value

    for _ in range(160):
        clock()
    while True:
        candidate = int("".join(str(bit()) for _ in range(64)), 2)
        if candidate < P:
            yield candidate


def test_poseidon2_gives_the_published_answer() -> None:
    """The known answer of the authors' instance with twelve lanes: the permutation of 0, 1, ..., 11."""
    t, r_f, r_p = 12, 8, 22
    draw = grain_constants(t, r_f, r_p)
    first, partial, last = ([next(draw) for _ in range(count)] for count in (r_f * t // 2, r_p, r_f * t // 2))
    assert first[0] == 0x13DCF33ABA214F46
    block = [[5, 7, 1, 3], [4, 6, 1, 1], [1, 3, 5, 7], [1, 1, 4, 6]]
    mds = [[block[i % 4][j % 4] << (i // 4 == j // 4) for j in range(t)] for i in range(t)]
    diagonal = [
        0xC3B6C08E23BA9300, 0xD84B5DE94A324FB6, 0x0D0C371C5B35B84F, 0x7964F570E7188037,
        0x5DAF18BBD996604B, 0x6743BC47B9595257, 0x5528B9362C59BB70, 0xAC45E25B7127B68B,
        0xA2077D7DFBB606B5, 0xF3FAAC6FAEE378AE, 0x0C6388B51545E883, 0xD27DBB6944917B60,
    ]  # fmt: skip
    permutation = Poseidon2(words(first + last).reshape(r_f, t), words(partial), words(mds), words(diagonal))
    assert permutation.permute(words([range(t)]))[0].tolist() == [
        0x01EAEF96BDF1C0C1, 0x1F0D2CC525B2540C, 0x6282C1DFE1E0358D, 0xE780D721F698E1E6,
        0x280C0B6F753D833B, 0x1B942DD5023156AB, 0x43F0DF3FCCCB8398, 0xE8E8190585489025,
        0x56BDBF72F77ADA22, 0x7911C32BF9DCD705, 0xEC467926508FBE67, 0x6A50450DDF85A6ED,
    ]  # fmt: skip


def test_products_of_a_permutation_are_those_of_the_specification() -> None:
    assert (multiplications(3, 8, 22), multiplications(4, 8, 22)) == (331, 448)


def test_cancelling_constants_cancel() -> None:
    """Sums that are p before they are reduced, in the last layer too."""
    task = get_task("poseidon2_hash")
    configuration = next(c for c in drawn("poseidon2_hash") if "constants cancelling" in c.label)
    inputs, expected = run(configuration, "poseidon2_hash")
    assert not expected["out_state"][:, :2].any()
    assert expected["out_state"][:, 2:].any()
    assert task.check(configuration, inputs, expected, expected).correct


def node(name: str, children: list[int], arity: int, inputs: Arrays) -> int:
    t = 3 if arity == 2 else 4
    return permute(children + [0] * (t - len(children)), inputs)[0]


def tree(leaves: list[int], arity: int, inputs: Arrays) -> list[int]:
    level, nodes = leaves, list(leaves)
    while len(level) > 1:
        level = [node("", level[i : i + arity], arity, inputs) for i in range(0, len(level), arity)]
        nodes += level
    return nodes


def test_merkle_build() -> None:
    for configuration in [
        small("merkle_build", leaves=2),
        small("merkle_build", leaves=13),
        *drawn("merkle_build")[:6],
    ]:
        inputs, expected = run(configuration, "merkle_build")
        arity = configuration.integer("arity")
        leaves = inputs["leaves"].tolist()
        right = tree(leaves, arity, inputs)
        assert expected["tree"].tolist() == right
        offset, count = levels(len(leaves), arity)[-1]
        assert (offset, count) == (len(right) - 1, 1)


@pytest.mark.parametrize(
    ("leaves", "arity", "sizes"), [(9, 2, [9, 5, 3, 2, 1]), (17, 4, [17, 5, 2, 1]), (4, 4, [4, 1])]
)
def test_levels(leaves: int, arity: int, sizes: list[int]) -> None:
    assert [count for _, count in levels(leaves, arity)] == sizes
    assert [offset for offset, _ in levels(leaves, arity)] == [sum(sizes[:i]) for i in range(len(sizes))]


def test_fri_round_folds_polynomials() -> None:
    """f(x) = sum of x^p f_p(x^fold) becomes the sum of alpha^p f_p, at the points x^fold."""
    for configuration in [small("fri_round"), *drawn("fri_round")[:4]]:
        inputs, _ = run(configuration, "fri_round")
        n, fold, shift = (configuration.integer(name) for name in ("N", "fold", "shift"))
        root, alpha = pow(7, (P - 1) // n, P), int(inputs["alpha"])
        coefficients = np.random.default_rng(3).integers(0, P, n, dtype=np.uint64).tolist()
        points = [shift * pow(root, i, P) % P for i in range(n)]
        evals = [sum(c * pow(x, i, P) for i, c in enumerate(coefficients)) % P for x in points]
        tree_of = get_task("fri_round").reference(configuration, {**inputs, "evals": np.array(evals, np.uint64)})[
            "tree"
        ]
        n_out = n // fold
        for j in range(0, n_out, max(1, n_out // 8)):
            y = pow(points[j], fold, P)
            folded = sum(
                pow(alpha, p, P) * sum(c * pow(y, i, P) for i, c in enumerate(coefficients[p::fold]))
                for p in range(fold)
            )
            assert tree_of[j] == folded % P


def test_fri_round_by_the_formula_of_the_contract() -> None:
    for configuration in drawn("fri_round")[:6]:
        inputs, expected = run(configuration, "fri_round")
        n, fold = configuration.integer("N"), configuration.integer("fold")
        n_out, evals = n // fold, inputs["evals"].tolist()
        folded = []
        for j in range(n_out):
            total = 0
            for m, zeta in enumerate(inputs["zeta_inv_pow"].tolist()):
                ratio = int(inputs["alpha"]) * int(inputs["inv_x_base"][j]) * zeta % P
                total += sum(pow(ratio, p, P) for p in range(fold)) * evals[j + m * n_out]
            folded.append(total * int(inputs["inv_fold"]) % P)
        assert expected["tree"].tolist() == tree(folded, 2, inputs)


def test_fri_round_of_constants() -> None:
    """A constant folds to itself, which is the smallest case that anyone can check in the head."""
    configuration = small("fri_round")
    inputs, _ = run(configuration, "fri_round")
    for value in (0, 1, 5, P - 1):
        evals = np.full(16, value, np.uint64)
        expected = get_task("fri_round").reference(configuration, {**inputs, "evals": evals})
        assert expected["tree"][:8].tolist() == [value] * 8


def test_kyber_ntt_gives_residues() -> None:
    """Block i of the result is the polynomial modulo x^m - zeta^(2 bitrev(i) + 1), m = n / 2^levels (FIPS 203, 4.3)."""
    for configuration in [small("kyber_ntt"), get_task("kyber_ntt").published_held_out("small"), *drawn("kyber_ntt")]:
        inputs, expected = run(configuration, "kyber_ntt")
        q, zeta, n, depth = (configuration.integer(name) for name in ("q", "zeta", "n", "n_levels"))
        m = n >> depth
        for polynomial, result in zip(inputs["coeffs"].tolist()[:2], expected["coeffs"].tolist()[:2], strict=True):
            for i in range(0, 1 << depth, max(1, (1 << depth) // 16)):
                power = pow(zeta, 2 * int(bit_reversed(depth)[i]) + 1, q)
                residue = [
                    sum(c * pow(power, j, q) for j, c in enumerate(polynomial[offset::m])) % q for offset in range(m)
                ]
                assert result[i * m : (i + 1) * m] == residue


def test_zetas_are_those_of_the_standards() -> None:
    """The first entries of the tables in FIPS 203, appendix A, and FIPS 204, appendix B."""
    kyber, _ = run(small("kyber_ntt"), "kyber_ntt")
    assert kyber["zetas"][:12].tolist() == [1, 1729, 2580, 3289, 2642, 630, 1897, 848, 1062, 1919, 193, 797]
    dilithium, _ = run(get_task("kyber_ntt").published_held_out("small"), "kyber_ntt")
    assert dilithium["zetas"][1:8].tolist() == [4808194, 3765607, 3761513, 5178923, 5496691, 5234739, 5178987]
    assert (kyber["zetas"].size, dilithium["zetas"].size) == (128, 256)


def test_drawn_primes_and_roots() -> None:
    rng = np.random.default_rng(1)
    lengths = set()
    for order in (4, 64, 512):
        for _ in range(100):
            q = draw_prime(rng, order, 1 << 31)
            assert is_prime(q)
            assert q < 1 << 31
            assert q % order == 1
            root = root_of_order(rng, order, q)
            assert (pow(root, order, q), pow(root, order // 2, q)) == (1, q - 1)
            lengths.add(q.bit_length())
    assert {12, 20, 31} <= lengths


def test_modmul_montgomery() -> None:
    for configuration in [
        small("modmul_montgomery"),
        small("modmul_montgomery", modulus=3),
        *drawn("modmul_montgomery"),
    ]:
        inputs, expected = run(configuration, "modmul_montgomery")
        modulus, rounds = configuration.integer("modulus"), configuration.integer("rounds")
        inverse = pow(1 << 64, -1, modulus)
        for x, c, y in zip(inputs["x"].tolist(), inputs["c"].tolist(), expected["y"].tolist(), strict=True):
            value = x
            for _ in range(rounds):
                value = (value * value * inverse + c) % modulus
            assert y == value
