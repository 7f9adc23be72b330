"""Arithmetic on whole arrays in the prime fields of the suite, and modulo any odd number of at most 64 bits.

Elements are uint64, canonical (below the modulus) on the way in and out. Large arrays are worked on in blocks that stay
in a core's cache.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, TypeAlias

import numpy as np

from kfp.tasks.zk import goldilocks
from kfp.tasks.zk.goldilocks import BLOCK, Operand
from kfp.tasks.zk.goldilocks import Words as Words

GOLDILOCKS_P = goldilocks.P
BABYBEAR_P = 2**31 - 2**27 + 1

# Writes the result into its last argument; all three are a block, or an operand is a single element.
_Operation: TypeAlias = Callable[[Operand, Operand, Words], None]

_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)


def words(values: object) -> Words:
    """Python integers (any nesting) as an array of uint64."""
    return np.array(values, dtype=np.uint64)


def wide_multiply(a: Operand, b: Operand) -> tuple[Words, Words]:
    """(high, low) 64 bits of the 128-bit products, from four products of 32-bit limbs."""
    a0, a1 = a & _LOW, a >> _HALF
    b0, b1 = b & _LOW, b >> _HALF
    middle = a0 * b0
    middle >>= _HALF
    middle += a1 * b0
    other = a0 * b1
    other += middle & _LOW
    middle >>= _HALF
    other >>= _HALF
    high = a1 * b1
    high += middle
    high += other
    return high, np.multiply(a, b)


class Field(ABC):
    """A prime field with a large power of two in its multiplicative order."""

    modulus: ClassVar[int]
    # The largest k such that 2^k divides modulus - 1, and an element of order 2^k.
    two_adicity: ClassVar[int]
    two_adic_root: ClassVar[int]

    def add(self, a: Operand, b: Operand) -> Words:
        """The sum a + b."""
        p = np.uint64(self.modulus)

        def add(left: Operand, right: Operand, out: Words) -> None:
            # left - (p - right) wraps around exactly where left + right is below p.
            room = p - right
            wrapped = np.less(left, room)
            np.subtract(left, room, out=out)
            out += wrapped * p

        return _blockwise(add, a, b)

    def sub(self, a: Operand, b: Operand) -> Words:
        """The difference a - b."""
        p = np.uint64(self.modulus)

        def subtract(left: Operand, right: Operand, out: Words) -> None:
            wrapped = np.less(left, right)
            np.subtract(left, right, out=out)
            out += wrapped * p

        return _blockwise(subtract, a, b)

    @abstractmethod
    def _multiplier(self, size: int) -> _Operation:
        """Multiplies blocks of at most ``size`` elements."""

    def mul(self, a: Operand, b: Operand) -> Words:
        """The product a * b, broadcast like numpy's own product."""
        size = math.prod(np.broadcast_shapes(np.shape(a), np.shape(b)))
        return _blockwise(self._multiplier(min(BLOCK, size)), a, b)

    def power(self, a: Operand, exponent: int) -> Words:
        """The elements to a whole power of at least 0, the same for every element."""
        if exponent < 0:
            raise ValueError(f"expected an exponent of at least 0, got {exponent}")
        result: Words = np.ones(np.shape(a), np.uint64)
        for bit in bin(exponent)[2:]:
            result = self.mul(result, result)
            if bit == "1":
                result = self.mul(result, a)
        return result

    def inverse(self, a: Operand) -> Words:
        """1 / a for every element, three products each; 0 for 0.

        Montgomery's trick over a tree of pairs: the inverse of a product gives the inverses of its factors.
        """
        values = np.asarray(a, np.uint64)
        flat = np.where(values == 0, np.uint64(1), values).reshape(-1)
        levels = [flat]
        while levels[-1].size > 1:
            level = levels[-1]
            if level.size % 2:
                level = levels[-1] = np.append(level, np.uint64(1))
            levels.append(self.mul(level[0::2], level[1::2]))
        inverses = self.power(levels[-1], self.modulus - 2)
        for level in reversed(levels[:-1]):
            below = np.empty_like(level)
            inverses = inverses[: level.size // 2]
            below[0::2] = self.mul(inverses, level[1::2])
            below[1::2] = self.mul(inverses, level[0::2])
            inverses = below
        return np.where(values == 0, np.uint64(0), inverses[: flat.size].reshape(values.shape))

    def total(self, a: Words) -> int:
        """The sum of all elements."""
        low, high = int(np.sum(a & _LOW, dtype=np.uint64)), int(np.sum(a >> _HALF, dtype=np.uint64))
        return (low + (high << 32)) % self.modulus

    def product(self, a: Words) -> int:
        """The product of all elements."""
        level = np.asarray(a, np.uint64).reshape(-1)
        while level.size > 1:
            if level.size % 2:
                level = np.append(level, np.uint64(1))
            level = self.mul(level[0::2], level[1::2])
        return int(level[0]) if level.size else 1

    def powers(self, base: int, count: int) -> Words:
        """base^0, base^1, ... by doubling."""
        result: Words = np.ones(1, np.uint64)
        while result.size < count:
            step = np.uint64(pow(base, result.size, self.modulus))
            result = np.concatenate([result, self.mul(result, step)])
        return result[:count]

    def root_of_unity(self, log_order: int, generator_power: int = 1) -> int:
        """An element of order 2^log_order; an odd ``generator_power`` picks another one of the same order."""
        if not 0 <= log_order <= self.two_adicity or generator_power % 2 == 0:
            raise ValueError(f"expected an order of 2^0 to 2^{self.two_adicity} and an odd power")
        root = pow(self.two_adic_root, 1 << (self.two_adicity - log_order), self.modulus)
        return pow(root, generator_power, self.modulus)


def _blockwise(operation: _Operation, a: Operand, b: Operand) -> Words:
    """The operation on every pair of elements of arrays that are broadcast as numpy does it."""
    result: Words = np.empty(np.broadcast_shapes(np.shape(a), np.shape(b)), np.uint64)
    flat, left, right = result.reshape(-1), _flat(a, result.shape), _flat(b, result.shape)
    for start in range(0, flat.size, BLOCK):
        block = slice(start, start + BLOCK)
        operation(left[block] if left.size > 1 else left, right[block] if right.size > 1 else right, flat[block])
    return result


def _flat(a: Operand, shape: tuple[int, ...]) -> Words:
    """All elements in order, or the only one."""
    array = np.asarray(a, np.uint64)
    return array.reshape(-1) if array.size == 1 else np.ascontiguousarray(np.broadcast_to(array, shape)).reshape(-1)


class Goldilocks(Field):
    """p = 2^64 - 2^32 + 1."""

    modulus = GOLDILOCKS_P
    two_adicity = 32
    two_adic_root = 1753635133440165772

    def _multiplier(self, size: int) -> _Operation:
        workspace = goldilocks.Workspace(size)

        def multiply(a: Operand, b: Operand, out: Words) -> None:
            workspace.multiply(a, b, out)
            goldilocks.canonical(out)

        return multiply


class BabyBear(Field):
    """p = 2^31 - 2^27 + 1."""

    modulus = BABYBEAR_P
    two_adicity = 27
    two_adic_root = 0x1A427A41

    def _multiplier(self, size: int) -> _Operation:
        def multiply(a: Operand, b: Operand, out: Words) -> None:
            out[:] = remainder(np.multiply(a, b), self.modulus)

        return multiply


GOLDILOCKS = Goldilocks()
BABYBEAR = BabyBear()

# Indexed by the prime_kind that kernels receive.
PRIME_KINDS: tuple[tuple[str, Field], ...] = (("Goldilocks", GOLDILOCKS), ("BabyBear", BABYBEAR))


def remainder(a: Words, modulus: int) -> Words:
    """Remainders by one modulus: numpy multiplies to divide by one number, but takes remainders by division."""
    n = np.uint64(modulus)
    quotient: Words = a // n
    quotient *= n
    np.subtract(a, quotient, out=quotient)
    return quotient


def negative_inverse(modulus: int, bits: int = 64) -> int:
    """-1 / modulus mod 2^bits, as Montgomery's reduction needs it; the modulus must be odd."""
    if modulus % 2 == 0:
        raise ValueError(f"expected an odd modulus, got {modulus}")
    return -pow(modulus, -1, 1 << bits) % (1 << bits)


def montgomery_multiply(a: Operand, b: Operand, modulus: int) -> Words:
    """The product a * b / 2^64 mod an odd modulus of at most 64 bits, canonical, for a and b below it."""
    n, inverse = np.uint64(modulus), np.uint64(pow(modulus, -1, 1 << 64))

    def multiply(left: Operand, right: Operand, out: Words) -> None:
        high, low = wide_multiply(left, right)
        # The low halves of the product and of quotient * n are the same, so only the high halves differ.
        low *= inverse
        subtrahend, _ = wide_multiply(low, n)
        borrow = high < subtrahend
        np.subtract(high, subtrahend, out=out)
        out += borrow * n

    return _blockwise(multiply, a, b)
