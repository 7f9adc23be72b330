"""Products modulo p = 2^64 - 2^32 + 1 on blocks, as few passes over memory as numpy allows.

Arguments may be any 64-bit number, so results are residues below 2^64 that need not be canonical until ``canonical``
is called. With e = 2^32 - 1: 2^64 = e and 2^96 = -1 modulo p.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

Words: TypeAlias = npt.NDArray[np.uint64]
Operand: TypeAlias = "Words | np.uint64"

P = 2**64 - 2**32 + 1
# Five arrays of this many words stay in a core's second cache; numpy's own overhead is a tenth of the work.
BLOCK = 1 << 14

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_EPSILON = np.uint64(2**32 - 1)


class Workspace:
    """Room for the products of up to ``size`` elements at once; for one thread only."""

    def __init__(self, size: int) -> None:
        self._words = np.empty((5, size), np.uint64)
        self._flags = np.empty((2, size), np.bool_)

    def multiply(self, a: Operand, b: Operand, out: Words) -> None:
        """Writes a * b; ``out`` may be one of the factors."""
        a1, b1, middle, other, high = self._words[:, : out.size]
        b0 = other
        np.bitwise_and(b, _LOW, out=b0)
        np.right_shift(b, _HALF, out=b1)
        np.right_shift(a, _HALF, out=a1)
        np.bitwise_and(a, _LOW, out=high)
        np.multiply(high, b0, out=middle)
        middle >>= _HALF
        high *= b1
        b1 *= a1
        # The three middle terms need 65 bits: one of the products waits until the other's carry is out of the way.
        b0 *= a1
        middle += b0
        np.bitwise_and(middle, _LOW, out=other)
        middle >>= _HALF
        high += other
        high >>= _HALF
        high += middle
        high += b1
        np.multiply(a, b, out=out)
        self._reduce(high, out, a1)

    def square(self, a: Words, out: Words) -> None:
        """Writes a * a; ``out`` may be ``a``."""
        top, low, middle, _, _ = self._words[:, : out.size]
        np.right_shift(a, _HALF, out=top)
        np.bitwise_and(a, _LOW, out=low)
        np.multiply(low, top, out=middle)
        low *= low
        # The middle term counts twice, so everything below is halved to keep it within 64 bits.
        low >>= np.uint64(33)
        middle += low
        middle >>= np.uint64(31)
        top *= top
        top += middle
        np.multiply(a, a, out=out)
        self._reduce(top, out, low)

    def _reduce(self, high: Words, out: Words, spare: Words) -> None:
        """Adds 2^64 high to ``out``; the carry and the borrow of the sum are settled together."""
        borrow, carry = self._flags[:, : out.size]
        np.right_shift(high, _HALF, out=spare)
        high &= _LOW
        high *= _EPSILON
        np.less(out, spare, out=borrow)
        out -= spare
        out += high
        np.less(out, high, out=carry)
        settled = carry.view(np.int8)
        settled -= borrow.view(np.int8)
        signed = spare.view(np.int64)
        np.copyto(signed, settled)
        spare *= _EPSILON
        out += spare

    def join(self, low: Words, high: Words, out: Words) -> None:
        """Writes low + 2^32 high, for both below 2^62; they are overwritten."""
        carry = self._flags[0, : out.size]
        np.left_shift(high, _HALF, out=out)
        high >>= _HALF
        high *= _EPSILON
        low += high
        out += low
        np.less(out, low, out=carry)
        np.copyto(high, carry)
        high *= _EPSILON
        out += high


def canonical(a: Words) -> None:
    """The residues below p, in place: a - p wraps around to something larger where it isn't due."""
    np.minimum(a, a - np.uint64(P), out=a)


def split(a: Words, limbs: Words) -> None:
    """Limbs of 22, 21 and 21 bits: products with 32-bit numbers leave room to add up hundreds."""
    np.bitwise_and(a, np.uint64(0x3FFFFF), out=limbs[0])
    np.right_shift(a, np.uint64(22), out=limbs[1])
    limbs[1] &= np.uint64(0x1FFFFF)
    np.right_shift(a, np.uint64(43), out=limbs[2])


def weighted(constant: int) -> tuple[tuple[np.uint64, np.uint64], ...]:
    """(low, high) halves of the constant times the weight of each limb of ``split``, modulo p."""
    return tuple(halves((constant << shift) % P) for shift in (0, 22, 43))


def halves(constant: int) -> tuple[np.uint64, np.uint64]:
    return np.uint64(constant & 0xFFFFFFFF), np.uint64(constant >> 32)
