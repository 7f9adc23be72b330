"""The integer functions against exact arithmetic: all operands of 8 bits, the edges of every wider type."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
from precompiled import Precompiled


@dataclass(frozen=True)
class Kind:
    name: str
    bits: int
    signed: bool

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(f"{'i' if self.signed else 'u'}{self.bits // 8}")

    @property
    def unsigned(self) -> Kind:
        return next(kind for kind in KINDS if kind.bits == self.bits and not kind.signed)

    @property
    def lowest(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        return (1 << (self.bits - self.signed)) - 1

    def wrapped(self, value: int) -> int:
        value &= (1 << self.bits) - 1
        return value - (1 << self.bits) if self.signed and value >> (self.bits - 1) else value

    def clamped(self, value: int) -> int:
        return min(max(value, self.lowest), self.highest)

    def pattern(self, value: int) -> str:
        return format(value & ((1 << self.bits) - 1), f"0{self.bits}b")

    def edges(self) -> list[int]:
        near = {
            0,
            1,
            2,
            3,
            5,
            0x55,
            0x7F,
            self.highest,
            self.highest - 1,
            self.lowest,
            self.lowest + 1,
            self.highest // 3,
        }
        near |= {-1, -2, -7} if self.signed else {self.highest // 2, self.highest // 2 + 1}
        return sorted(value for value in near if self.lowest <= value <= self.highest)


WIDTHS = {8: ("char", "uchar"), 16: ("short", "ushort"), 32: ("int", "uint"), 64: ("long", "ulong")}
KINDS = [Kind(name, bits, name == signed) for bits, (signed, other) in WIDTHS.items() for name in (signed, other)]

Oracle = Callable[..., int]
ONE: dict[str, Callable[[Kind, int], int]] = {
    "abs": lambda k, a: k.wrapped(abs(a)),
    "clz": lambda k, a: len(k.pattern(a)) - len(k.pattern(a).lstrip("0")),
    "ctz": lambda k, a: len(k.pattern(a)) - len(k.pattern(a).rstrip("0")),
    "popcount": lambda k, a: k.pattern(a).count("1"),
    "reverse_bits": lambda k, a: k.wrapped(int(k.pattern(a)[::-1], 2)),
}
TWO: dict[str, Callable[[Kind, int, int], int]] = {
    "min": lambda k, a, b: min(a, b),
    "max": lambda k, a, b: max(a, b),
    "absdiff": lambda k, a, b: abs(a - b),
    "addsat": lambda k, a, b: k.clamped(a + b),
    "subsat": lambda k, a, b: k.clamped(a - b),
    "hadd": lambda k, a, b: (a + b) >> 1,
    "rhadd": lambda k, a, b: (a + b + 1) >> 1,
    "mulhi": lambda k, a, b: (a * b) >> k.bits,
    "rotate": lambda k, a, b: k.wrapped(int(k.pattern(a)[b % k.bits :] + k.pattern(a)[: b % k.bits], 2)),
}
THREE: dict[str, Callable[[Kind, int, int, int], int]] = {
    "min3": lambda k, a, b, c: min(a, b, c),
    "max3": lambda k, a, b, c: max(a, b, c),
    "median3": lambda k, a, b, c: sorted((a, b, c))[1],
    "madhi": lambda k, a, b, c: k.wrapped(((a * b) >> k.bits) + c),
    "madsat": lambda k, a, b, c: k.clamped(a * b + c),
}
FUNCTIONS: list[tuple[str, int, Oracle]] = [
    *((name, 1, oracle) for name, oracle in ONE.items()),
    *((name, 2, oracle) for name, oracle in TWO.items()),
    *((name, 3, oracle) for name, oracle in THREE.items()),
]


def operands(kind: Kind, count: int) -> list[tuple[int, ...]]:
    every = range(kind.lowest, kind.highest + 1) if kind.bits == 8 and count < 3 else kind.edges()
    chosen = list(itertools.product(every, repeat=count))
    return chosen + chosen[: -len(chosen) % 4]


def loop(name: str, inputs: dict[str, str], result: str, value: str) -> str:
    """An exported function that applies `value` to the elements of its inputs."""
    parameters = "".join(f"device const {kind}* {letter}, " for letter, kind in inputs.items())
    once = '_Pragma("clang loop vectorize(disable) interleave(disable) unroll(disable)")'
    return f"""extern "C" __attribute__((visibility("default")))
void {name}({parameters}device {result}* out, uint n) {{ {once} for (uint i = 0; i < n; ++i) out[i] = {value}; }}
"""


def loops() -> str:
    source = ""
    for kind, (name, count, _), suffix in itertools.product(KINDS, FUNCTIONS, ("", "4")):
        letters = "abc"[:count]
        result = kind.unsigned.name if name == "absdiff" else kind.name
        value = f"{name}({', '.join(f'{letter}[i]' for letter in letters)})"
        inputs = dict.fromkeys(letters, kind.name + suffix)
        source += loop(f"{name}_{kind.name}{suffix}", inputs, result + suffix, value)
    return source


@pytest.fixture(scope="module")
def library(prelude: Precompiled) -> ctypes.CDLL:
    return prelude.load(loops())


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy that starts where any vector may."""
    room = np.zeros(values.nbytes + 64, np.uint8)
    copy = room[-room.ctypes.data % 64 :][: values.nbytes].view(values.dtype)
    copy[:] = values
    return copy


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_against_exact_arithmetic(library: ctypes.CDLL, kind: Kind) -> None:
    for name, count, oracle in FUNCTIONS:
        given = operands(kind, count)
        columns = [aligned(np.array(column, kind.dtype)) for column in zip(*given, strict=True)]
        result = kind.unsigned.dtype if name == "absdiff" else kind.dtype
        expected = np.array([oracle(kind, *values) for values in given], result)
        for suffix, lanes in (("", 1), ("4", 4)):
            out = aligned(np.zeros(len(given), result))
            pointers = [ctypes.c_void_p(column.ctypes.data) for column in (*columns, out)]
            getattr(library, f"{name}_{kind.name}{suffix}")(*pointers, ctypes.c_uint(len(given) // lanes))
            wrong = np.flatnonzero(out != expected)
            assert wrong.size == 0, (name, kind.name + suffix, given[wrong[0]], out[wrong[0]], expected[wrong[0]])


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_bit_fields(prelude: Precompiled, kind: Kind) -> None:
    inputs = {"a": kind.name, "b": kind.name, "offset": "uint", "bits": "uint"}
    source = loop("extract", inputs, kind.name, "extract_bits(a[i], offset[i], bits[i])")
    source += loop("insert", inputs, kind.name, "insert_bits(a[i], b[i], offset[i], bits[i])")
    library = prelude.load(source)
    fields = [(offset, bits) for bits in range(kind.bits + 1) for offset in range(kind.bits - bits + 1)]
    edges = kind.edges()
    given = [(a, edges[-n % len(edges)], *field) for field in fields for n, a in enumerate(edges)]
    a, b = (aligned(np.array(column, kind.dtype)) for column in list(zip(*given, strict=True))[:2])
    offset, bits = (aligned(np.array(column, np.uint32)) for column in list(zip(*given, strict=True))[2:])

    def extracted(a: int, b: int, offset: int, bits: int) -> int:
        field = (a >> offset) & ((1 << bits) - 1)
        return field - (1 << bits) if kind.signed and bits and field >> (bits - 1) else field

    def inserted(a: int, b: int, offset: int, bits: int) -> int:
        mask = ((1 << bits) - 1) << offset
        return kind.wrapped((a & ~mask) | ((b << offset) & mask))

    for function, oracle in ((library.extract, extracted), (library.insert, inserted)):
        out = aligned(np.zeros(len(given), kind.dtype))
        function(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, offset, bits, out)), ctypes.c_uint(len(given)))
        expected = np.array([oracle(*values) for values in given], kind.dtype)
        wrong = np.flatnonzero(out != expected)
        assert wrong.size == 0, (given[wrong[0]], out[wrong[0]], expected[wrong[0]])
