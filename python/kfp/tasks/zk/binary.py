"""Arithmetic on arrays in GF(2^128) modulo x^128 + x^7 + x^2 + x + 1 and in its quadratic extension.

Elements are pairs of 64-bit words along the last axis; bit i of word j is the coefficient of x^(64 j + i).
"""

from __future__ import annotations

import numpy as np

from kfp.tasks.zk.fields import Words

# Pairs of elements whose products are computed at once; their tables stay in the cache.
_BLOCK = 2000
_ONE, _TOP = np.uint64(1), np.uint64(63)
_NIBBLE, _FOUR, _SIXTY = np.uint64(15), np.uint64(4), np.uint64(60)


def multiply(a: Words, b: Words) -> Words:
    """The products of (n, 2) elements."""
    product: Words = np.empty(a.shape, np.uint64)
    for start in range(0, len(a), _BLOCK):
        block = slice(start, start + _BLOCK)
        product[block] = _reduce(_carryless(a[block], b[block])).T
    return product


def multiply_tower(a: Words, b: Words, alpha: Words) -> Words:
    """The products of (n, 4) elements a0 + a1 v with v^2 = v + alpha, an element of (2,)."""
    a0, a1, b0, b1 = a[:, :2], a[:, 2:], b[:, :2], b[:, 2:]
    low, high = multiply(a0, b0), multiply(a1, b1)
    # Karatsuba: the sum of the products across and of the high one.
    across = multiply(a0 ^ a1, b0 ^ b1) ^ low
    return np.concatenate([low ^ multiply(high, np.broadcast_to(alpha, high.shape)), across], axis=1)


def _carryless(a: Words, b: Words) -> Words:
    """(4, n): the polynomials of degree 254, four bits of b at a time from the top."""
    n = len(a)
    table: Words = np.zeros((16, 3, n), np.uint64)
    table[1, :2] = a.T
    for entry in range(2, 16, 2):
        half = table[entry // 2]
        np.left_shift(half, _ONE, out=table[entry])
        table[entry, 1:] |= half[:-1] >> _TOP
        np.bitwise_xor(table[entry], table[1], out=table[entry + 1])
    product: Words = np.zeros((5, n), np.uint64)
    columns = np.arange(n)
    for position in range(31, -1, -1):
        if position < 31:
            carried = product[:-1] >> _SIXTY
            product <<= _FOUR
            product[1:] |= carried
        nibbles = (b[:, position // 16] >> np.uint64(4 * (position % 16))) & _NIBBLE
        product[:3] ^= table[nibbles.astype(np.intp), :, columns].T
    return product[:4]


def _reduce(product: Words) -> Words:
    """(2, n): modulo the polynomial, from the top word down."""
    result: Words = product.copy()
    for word in (3, 2):
        high = result[word]
        for shift in (0, 1, 2, 7):
            result[word - 2] ^= high << np.uint64(shift)
            if shift:
                result[word - 1] ^= high >> np.uint64(64 - shift)
    low: Words = result[:2]
    return low
