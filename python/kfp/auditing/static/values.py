"""Arithmetic of the intermediate code on known values: whole numbers as Python's, unsigned; vectors as tuples."""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from kfp.auditing.program.types import Type, leading_type, split_list


class Pointer(NamedTuple):
    """``base``: what it points into; ``offset`` in bytes."""

    base: str
    offset: int


class _Unknown:
    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = _Unknown()
Known: TypeAlias = "int | float | Pointer | tuple[object, ...]"
Value: TypeAlias = "Known | _Unknown"

_FORMATS = {"half": "<e", "float": "<f", "double": "<d"}


def mask(bits: int) -> int:
    return (1 << bits) - 1


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def rounded(value: float, kind: str) -> float:
    """``value`` as the floating-point type ``kind`` holds it."""
    if kind == "double":
        return value
    try:
        if kind == "bfloat":
            return float(
                struct.unpack("<f", struct.pack("<I", struct.unpack("<I", struct.pack("<f", value))[0] & 0xFFFF0000))[0]
            )
        pattern = _FORMATS[kind]
        return float(struct.unpack(pattern, struct.pack(pattern, value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def constant(text: str, kind: Type) -> Value:
    """A literal of the intermediate code; UNKNOWN where it is none that can be read."""
    if text in ("poison", "undef"):
        return UNKNOWN
    if text in ("zeroinitializer", "null"):
        return zero(kind)
    if kind.kind == "int":
        if text in ("true", "false"):
            return int(text == "true")
        return int(text) & mask(kind.bits) if re.fullmatch(r"-?\d+", text) else UNKNOWN
    if kind.kind == "float":
        return _float(text, kind.text)
    if kind.kind == "pointer":
        return Pointer(text, 0) if text.startswith("@") else UNKNOWN
    if kind.kind == "vector" and text.startswith("splat ("):
        value = constant(text[7:-1].partition(" ")[2], kind.element)
        return UNKNOWN if value is UNKNOWN else (value,) * kind.count
    if kind.kind in ("vector", "array") and text[:1] in ("<", "["):
        parts = [constant(leading_type(part)[1], kind.element) for part in split_list(text[1:-1])]
        return UNKNOWN if any(part is UNKNOWN for part in parts) else tuple(parts)
    return UNKNOWN


def _float(text: str, kind: str) -> Value:
    try:
        if text.startswith(("0xH", "0xR")):
            bits = int(text[3:], 16)
            if text[2] == "R":
                return float(struct.unpack("<f", struct.pack("<I", bits << 16))[0])
            return float(struct.unpack("<e", struct.pack("<H", bits))[0])
        if text.startswith("0x"):
            return float(struct.unpack("<d", struct.pack("<Q", int(text[2:], 16)))[0])
        return float(text)
    except (ValueError, struct.error):
        return UNKNOWN


def zero(kind: Type) -> Value:
    if kind.kind == "int":
        return 0
    if kind.kind == "float":
        return 0.0
    if kind.kind == "pointer":
        return Pointer("null", 0)
    if kind.kind in ("vector", "array") and kind.count <= 64:
        element = zero(kind.element)
        return UNKNOWN if element is UNKNOWN else (element,) * kind.count
    return UNKNOWN


def load(memory: bytes, offset: int, kind: Type) -> Value:
    """A value of this type in memory; UNKNOWN beyond the end."""
    if offset < 0 or offset + kind.size > len(memory) or kind.size == 0:
        return UNKNOWN
    data = memory[offset : offset + kind.size]
    if kind.kind == "int":
        return int.from_bytes(data, "little") & mask(kind.bits)
    if kind.kind == "float":
        if kind.text == "bfloat":
            return float(struct.unpack("<f", b"\0\0" + data)[0])
        return float(struct.unpack(_FORMATS[kind.text], data)[0])
    if kind.kind == "vector" and (kind.element.kind != "int" or kind.element.bits >= 8):
        size = kind.element.size
        parts = [load(data, i * size, kind.element) for i in range(kind.count)]
        return UNKNOWN if any(part is UNKNOWN for part in parts) else tuple(parts)
    return UNKNOWN


def _quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def integer(opcode: str, a: int, b: int, bits: int) -> int | _Unknown:
    """One of the binary operations on whole numbers; UNKNOWN where it is undefined."""
    if opcode in ("udiv", "urem", "sdiv", "srem"):
        if b == 0:
            return UNKNOWN
        if opcode[0] == "u":
            return a // b if opcode == "udiv" else a % b
        x, y = signed(a, bits), signed(b, bits)
        quotient = _quotient(x, y)
        return (quotient if opcode == "sdiv" else x - quotient * y) & mask(bits)
    if opcode in ("shl", "lshr", "ashr"):
        if b >= bits:
            return UNKNOWN
        if opcode == "shl":
            return a << b & mask(bits)
        return (a if opcode == "lshr" else signed(a, bits)) >> b & mask(bits)
    return _PLAIN[opcode](a, b) & mask(bits)


_PLAIN: dict[str, Callable[[int, int], int]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "and": lambda a, b: a & b,
    "or": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}


def floating(opcode: str, a: float, b: float, kind: str) -> float:
    try:
        if opcode == "fdiv":
            if b == 0.0:
                return math.nan if a == 0.0 or a != a else math.copysign(math.inf, a) * math.copysign(1.0, b)
            return rounded(a / b, kind)
        if opcode == "frem":
            return rounded(math.fmod(a, b), kind)
        return rounded(a + b if opcode == "fadd" else a - b if opcode == "fsub" else a * b, kind)
    except (ValueError, OverflowError):
        return math.nan


def compare(predicate: str, a: object, b: object, bits: int) -> int | _Unknown:
    """Icmp or fcmp of two scalars."""
    if isinstance(a, Pointer) or isinstance(b, Pointer):
        if not isinstance(a, Pointer) or not isinstance(b, Pointer) or predicate not in ("eq", "ne"):
            return UNKNOWN
        decided = "null" in (a.base, b.base) or a.base == b.base
        return int((a == b) == (predicate == "eq")) if decided else UNKNOWN
    if isinstance(a, float) and isinstance(b, float):
        ordered = a == a and b == b
        if predicate in ("ord", "uno", "true", "false"):
            return int({"ord": ordered, "uno": not ordered, "true": True, "false": False}[predicate])
        truth = {"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[predicate[1:]]
        return int(truth and ordered if predicate[0] == "o" else truth or not ordered)
    if not isinstance(a, int) or not isinstance(b, int):
        return UNKNOWN
    if predicate[0] == "s":
        a, b = signed(a, bits), signed(b, bits)
    order = predicate if predicate in ("eq", "ne") else predicate[1:]
    return int({"eq": a == b, "ne": a != b, "lt": a < b, "le": a <= b, "gt": a > b, "ge": a >= b}[order])


def cast(opcode: str, value: object, source: Type, target: Type) -> Value:
    if opcode == "bitcast" and "vector" in (source.kind, target.kind):
        data = _bytes(value, source)
        return UNKNOWN if data is None or len(data) != target.size else load(data, 0, target)
    if isinstance(value, tuple) and not isinstance(value, Pointer):
        if target.kind != "vector" or source.kind != "vector" or len(value) != target.count:
            return UNKNOWN
        parts = [cast(opcode, part, source.element, target.element) for part in value]
        return UNKNOWN if any(part is UNKNOWN for part in parts) else tuple(parts)
    if isinstance(value, int):
        if opcode in ("trunc", "zext") and target.kind == "int":
            return value & mask(target.bits)
        if opcode == "sext" and target.kind == "int":
            return signed(value, source.bits) & mask(target.bits)
        if opcode in ("uitofp", "sitofp"):
            return rounded(float(signed(value, source.bits) if opcode[0] == "s" else value), target.text)
        if opcode == "bitcast" and target.kind == "float" and target.size * 8 == source.bits:
            return load(value.to_bytes(target.size, "little"), 0, target)
    if isinstance(value, float):
        if opcode in ("fptrunc", "fpext"):
            return rounded(value, target.text)
        if opcode in ("fptoui", "fptosi") and math.isfinite(value):
            whole = int(value)
            low, high = (
                (0, mask(target.bits)) if opcode == "fptoui" else (-(1 << target.bits - 1), mask(target.bits - 1))
            )
            return whole & mask(target.bits) if low <= whole <= high else UNKNOWN
        if opcode == "bitcast" and target.kind == "int" and source.text in _FORMATS:
            return int.from_bytes(struct.pack(_FORMATS[source.text], value), "little")
    if isinstance(value, Pointer) and opcode == "addrspacecast":
        return value
    return UNKNOWN


def _bytes(value: object, kind: Type) -> bytes | None:
    """As they lie in memory; None of what is not whole bytes."""
    if isinstance(value, tuple) and kind.kind == "vector":
        parts = [_bytes(part, kind.element) for part in value]
        return None if any(part is None for part in parts) else b"".join(part for part in parts if part is not None)
    if isinstance(value, int) and kind.kind == "int" and kind.bits % 8 == 0:
        return value.to_bytes(kind.bits // 8, "little")
    if isinstance(value, float) and kind.text in _FORMATS:
        return struct.pack(_FORMATS[kind.text], value)
    return None


def _rotate(a: int, b: int, by: int, bits: int, left: bool) -> int:
    both, by = a << bits | b, by % bits
    return (both >> (bits - by) if left else both >> by) & mask(bits)


def intrinsic(name: str, arguments: list[object], bits: int, kind: str) -> Value:
    """A call of one of the compiler's own functions on whole or floating-point numbers."""
    word = name.removeprefix("@llvm.").partition(".")[0]
    if all(isinstance(value, int) for value in arguments) and bits:
        a, *rest = [value for value in arguments if isinstance(value, int)]
        b = rest[0] if rest else 0
        if word in ("umin", "umax"):
            return (min if word == "umin" else max)(a, b)
        if word in ("smin", "smax"):
            return (min if word == "smin" else max)(a, b, key=lambda n: signed(n, bits))
        if word == "abs":
            return abs(signed(a, bits)) & mask(bits)
        if word == "ctpop":
            return a.bit_count()
        if word == "ctlz":
            return bits - a.bit_length()
        if word == "cttz":
            return (a & -a).bit_length() - 1 if a else bits
        if word in ("fshl", "fshr") and len(rest) == 2:
            return _rotate(a, rest[0], rest[1], bits, word == "fshl")
        if word == "bitreverse":
            return int(format(a, f"0{bits}b")[::-1], 2)
        if word == "bswap":
            return int.from_bytes(a.to_bytes(bits // 8, "little"), "big")
        if word == "usub":
            return max(0, a - b)
        if word == "uadd":
            return min(mask(bits), a + b)
        if word == "ucmp":
            return (a > b) - (a < b) & mask(bits)
    if arguments and all(isinstance(value, float) for value in arguments):
        numbers = [value for value in arguments if isinstance(value, float)]
        compute = _REAL.get(word)
        if compute is not None:
            try:
                return rounded(compute(*numbers), kind)
            except (ValueError, OverflowError, TypeError):
                return UNKNOWN
    return UNKNOWN


_REAL: dict[str, Callable[..., float]] = {
    "fabs": math.fabs,
    "floor": lambda a: float(math.floor(a)) if math.isfinite(a) else a,
    "ceil": lambda a: float(math.ceil(a)) if math.isfinite(a) else a,
    "trunc": lambda a: float(math.trunc(a)) if math.isfinite(a) else a,
    "rint": lambda a: float(round(a)) if math.isfinite(a) else a,
    "roundeven": lambda a: float(round(a)) if math.isfinite(a) else a,
    "sqrt": math.sqrt,
    "minnum": min,
    "maxnum": max,
    "fma": lambda a, b, c: a * b + c,
    "fmuladd": lambda a, b, c: a * b + c,
    "copysign": math.copysign,
}
