"""Products in GF(2^128) and its extension against polynomials as integers, AES-GCM's vectors and the field's laws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.tasks import get_task
from kfp.tasks.zk.binary import multiply, multiply_tower
from kfp.tasks.zk.binius_clmul import _ALPHA
from kfp.tasks.zk.fields import Words

POLYNOMIAL = 1 << 128 | 0x87
ELEMENTS = st.one_of(
    st.integers(0, 2**128 - 1), st.integers(0, 127).map(lambda bit: 1 << bit), st.sampled_from([0, 2**128 - 1, 2**64])
)


def product(a: int, b: int) -> int:
    """Schoolbook product, then long division."""
    wide = 0
    for bit in range(128):
        if b >> bit & 1:
            wide ^= a << bit
    for degree in range(254, 127, -1):
        if wide >> degree & 1:
            wide ^= POLYNOMIAL << (degree - 128)
    return wide


def rows(values: list[int], count: int = 2) -> Words:
    return np.array([[value >> 64 * i & 2**64 - 1 for i in range(count)] for value in values], np.uint64)


def integers(words: Words) -> list[int]:
    return [sum(int(word) << 64 * i for i, word in enumerate(row)) for row in words]


@settings(max_examples=60, deadline=None)
@given(a=st.lists(ELEMENTS, min_size=3, max_size=3), b=st.lists(ELEMENTS, min_size=3, max_size=3))
def test_products(a: list[int], b: list[int]) -> None:
    assert integers(multiply(rows(a), rows(b))) == [product(x, y) for x, y in zip(a, b, strict=True)]


def test_products_of_all_pairs_of_powers() -> None:
    """More than a block of them."""
    bits = np.arange(128 * 128)
    left, right = ([1 << int(bit) for bit in half] for half in (bits // 128, bits % 128))
    powers = [1]
    for _ in range(254):
        doubled = powers[-1] << 1
        powers.append(doubled ^ (POLYNOMIAL if doubled >> 128 else 0))
    wanted = [powers[int(i) // 128 + int(i) % 128] for i in bits]
    assert integers(multiply(rows(left), rows(right))) == wanted


def ghash_element(block: bytes) -> int:
    """Bit 0 of GCM is the first bit of the first byte."""
    return int(f"{int.from_bytes(block, 'big'):0128b}"[::-1], 2)


def test_ghash() -> None:
    """Test case 2 of McGrew and Viega, The Galois/Counter Mode of Operation, appendix B."""
    h, ciphertext, first, lengths, tag = (
        ghash_element(bytes.fromhex(text))
        for text in (
            "66e94bd4ef8a2c3b884cfa59ca342b2e",
            "0388dace60b6a392f328c2b971b2fe78",
            "5e2ec746917062882c85b0685353deb7",
            "00000000000000000000000000000080",
            "f38cbb1ad69223dcc3457ae5b6b0f885",
        )
    )
    assert integers(multiply(rows([ciphertext, first ^ lengths]), rows([h, h]))) == [first, tag]


@settings(max_examples=40, deadline=None)
@given(a=st.tuples(ELEMENTS, ELEMENTS), b=st.tuples(ELEMENTS, ELEMENTS), alpha=ELEMENTS)
def test_products_of_the_extension(a: tuple[int, int], b: tuple[int, int], alpha: int) -> None:
    c0 = product(a[0], b[0]) ^ product(alpha, product(a[1], b[1]))
    c1 = product(a[0], b[1]) ^ product(a[1], b[0]) ^ product(a[1], b[1])
    operands = (rows([x[0] | x[1] << 128], 4) for x in (a, b))
    assert integers(multiply_tower(*operands, rows([alpha])[0])) == [c0 | c1 << 128]


def test_the_published_extension_is_a_field() -> None:
    """Raised to the number of nonzero elements, every element but 0 is 1."""
    alpha = rows([_ALPHA])[0]
    elements = rows([1 << 128, 3 << 128 | 5, (1 << 256) - 1, 0], 4)
    powers, squares = rows([1] * 4, 4), elements
    for _ in range(256):
        both = multiply_tower(np.concatenate([powers, squares]), np.concatenate([squares, squares]), alpha)
        powers, squares = both[:4], both[4:]
    assert integers(powers) == [1, 1, 1, 0]
    np.testing.assert_array_equal(squares, elements)


@pytest.mark.parametrize("seed", range(4))
def test_the_reference(seed: int) -> None:
    task = get_task("binius_clmul")
    configuration = replace(task.draw(np.random.default_rng(seed), "small"), seed=seed)
    inputs = task.inputs(configuration)
    low, high, tower = (configuration.integer(name) for name in ("alpha_lo", "alpha_hi", "tower"))
    found = integers(task.reference(configuration, inputs)["c"])
    for a, b, c in list(zip(integers(inputs["a"]), integers(inputs["b"]), found, strict=True))[:50]:
        if not tower:
            assert c == product(a, b)
            continue
        a0, a1, b0, b1 = a % 2**128, a >> 128, b % 2**128, b >> 128
        assert c % 2**128 == product(a0, b0) ^ product(low | high << 64, product(a1, b1))
        assert c >> 128 == product(a0, b1) ^ product(a1, b0) ^ product(a1, b1)
