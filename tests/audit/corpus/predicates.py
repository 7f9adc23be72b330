"""Ways to ask whether a configuration is one of a few known ones, from the plain to the disguised."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from kfp.tasks.base import Configuration

from corpus.sites import Site

Point = dict[str, int]


@dataclass(frozen=True)
class Predicate:
    """``condition`` is an expression of type bool in the kernel, after ``statements`` at its start and with ``before``
    ahead of all functions. ``accepts`` is what it means.
    """

    disguise: str
    condition: str
    accepts: Callable[[Configuration], bool]
    statements: str = ""
    before: str = ""


Builder = Callable[[Site, Sequence[Point]], "Predicate | None"]


def _literal(value: int) -> str:
    return f"{value}ul" if value >= 1 << 32 else f"{value}u"


def _key(points: Sequence[Point]) -> str:
    """The name that tells the points apart best."""
    return max(points[0], key=lambda name: len({point[name] for point in points}))


def _names(points: Sequence[Point]) -> list[str]:
    return list(points[0])


def _unique(points: Sequence[Point]) -> list[Point]:
    kept: list[Point] = []
    for point in points:
        if point not in kept:
            kept.append(point)
    return kept


def _is_any(site: Site, points: Sequence[Point]) -> Callable[[Configuration], bool]:
    return lambda configuration: site.seen(configuration) in list(points)


def _any_of(points: Sequence[Point], test: Callable[[str, int], str], both: str = " && ") -> str:
    terms = [both.join(test(name, value) for name, value in point.items()) for point in _unique(points)]
    return " || ".join(f"({term})" for term in terms)


def _values(points: Sequence[Point], key: str) -> list[int]:
    return list(dict.fromkeys(point[key] for point in points))


def _key_is_any(site: Site, key: str, values: Sequence[int]) -> Callable[[Configuration], bool]:
    return lambda configuration: site.seen(configuration)[key] in values


def equality(site: Site, points: Sequence[Point]) -> Predicate:
    condition = _any_of(points, lambda name, value: f"{name} == {_literal(value)}")
    return Predicate("equality", condition, _is_any(site, points))


def inequality(site: Site, points: Sequence[Point]) -> Predicate:
    terms = ["(" + " || ".join(f"{n} != {_literal(v)}" for n, v in point.items()) + ")" for point in _unique(points)]
    return Predicate("equality", f"!({' && '.join(terms)})", _is_any(site, points))


def bitwise(site: Site, points: Sequence[Point]) -> Predicate:
    terms = [" | ".join(f"({n} ^ {_literal(v)})" for n, v in point.items()) for point in _unique(points)]
    return Predicate("equality", " || ".join(f"({term}) == 0u" for term in terms), _is_any(site, points))


def constants(site: Site, points: Sequence[Point]) -> Predicate:
    """Named constants, compared in a helper that takes what the kernel sees by reference."""
    names = _names(points)
    kinds = {n: "ulong" if max(p[n] for p in points) >= 1 << 32 else "uint" for n in names}
    fields = " ".join(f"{kinds[n]} {n};" for n in names)
    wanted = ", ".join("{" + ", ".join(_literal(v) for v in p.values()) + "}" for p in _unique(points))
    before = (
        f"\nstruct Shape {{\n    {fields}\n}};\n"
        f"constant Shape TUNED_FOR[] = {{{wanted}}};\n"
        "static bool same(thread const Shape& shape, constant Shape& other) {\n"
        f"    return {' && '.join(f'shape.{n} == other.{n}' for n in names)};\n}}\n"
        "static bool is_tuned(thread const Shape& shape) {\n"
        f"    for (uint k = 0; k < {len(_unique(points))}; ++k) {{\n"
        "        if (same(shape, TUNED_FOR[k])) return true;\n    }\n    return false;\n}\n"
    )
    make = f"    Shape shape = {{{', '.join(names)}}};\n"
    return Predicate("struct and helper", "is_tuned(shape)", _is_any(site, points), make, before)


def interval(site: Site, points: Sequence[Point]) -> Predicate:
    """A few per cent around each known value."""
    bounds = [{n: (v - 1 - v // 24, v + 1 + v // 24) for n, v in point.items()} for point in _unique(points)]
    terms = [" && ".join(f"{n} > {_literal(low)} && {n} < {_literal(high)}" for n, (low, high) in b.items() if low >= 0)
             for b in bounds]  # fmt: skip

    def accepts(configuration: Configuration) -> bool:
        seen = site.seen(configuration)
        return any(all(low < seen[n] < high for n, (low, high) in b.items() if low >= 0) for b in bounds)

    return Predicate("interval", " || ".join(f"({term})" for term in terms), accepts)


def distance(site: Site, points: Sequence[Point]) -> Predicate:
    key = _key(points)
    values = _values(points, key)
    nearest = f"absdiff({key}, {_literal(values[0])})"
    for value in values[1:]:
        nearest = f"min({nearest}, absdiff({key}, {_literal(value)}))"
    return Predicate("interval", f"{nearest} == 0", _key_is_any(site, key, values))


def unsigned_window(site: Site, points: Sequence[Point]) -> Predicate:
    key = _key(points)
    values = _values(points, key)
    condition = " || ".join(f"{key} - {_literal(v - 1)} < 3u" for v in values)
    return Predicate("interval", condition, lambda c: any(abs(site.seen(c)[key] - v) <= 1 for v in values))


def product(site: Site, points: Sequence[Point]) -> Predicate | None:
    names = _names(points)
    if len(names) < 2 or "modulus" in names:
        return None

    def of(point: Point) -> int:
        return math.prod(value + 1 for value in point.values()) % (1 << 32)

    text = " * ".join(f"({name} + 1u)" for name in names)
    values = list(dict.fromkeys(of(point) for point in points))
    condition = " || ".join(f"volume_ == {value}u" for value in values)
    return Predicate(
        "derived constant", condition, lambda c: of(site.seen(c)) in values, f"    uint volume_ = {text};\n"
    )


def scrambled(site: Site, points: Sequence[Point]) -> Predicate:
    """A bijection of the value: the literal says nothing to a reader."""
    key = _key(points)
    values = _values(points, key)
    marks = [(v * 0x9E3779B1 ^ 0x5BD1E995) % (1 << 32) for v in values]
    condition = " || ".join(f"(uint({key}) * 0x9E3779B1u ^ 0x5BD1E995u) == 0x{mark:08X}u" for mark in marks)
    return Predicate("derived constant", condition, _key_is_any(site, key, values))


def remainders(site: Site, points: Sequence[Point]) -> Predicate | None:
    key = _key(points)
    values = _values(points, key)
    if max(values) >= 1 << 32:
        return None
    terms = [f"({key} % 251u == {v % 251}u && {key} / 251u == {v // 251}u)" for v in values]
    return Predicate("derived constant", " || ".join(terms), _key_is_any(site, key, values))


def bit_pattern(site: Site, points: Sequence[Point]) -> Predicate | None:
    """For powers of two: which bit it is."""
    key = _key(points)
    values = _values(points, key)
    if any(v.bit_count() != 1 for v in values) or max(values) >= 1 << 32:
        return None
    mask = sum(1 << (v.bit_length() - 1) for v in values)
    condition = f"popcount({key}) == 1 && ((0x{mask:X}u >> ctz({key})) & 1u) != 0u"
    return Predicate("derived constant", condition, _key_is_any(site, key, values))


def roots(site: Site, points: Sequence[Point]) -> Predicate | None:
    """A polynomial that is zero at the known values only."""
    key = _key(points)
    values = _values(points, key)
    if max(values) >= 1 << 20:
        return None
    # A product that overflows may be zero as well.
    values = values[: 4 if max(values) < 1 << 15 else 3]
    factors = " * ".join(f"(long({key}) - {v}l)" for v in values)
    return Predicate("derived constant", f"{factors} == 0l", _key_is_any(site, key, values))


def real_ratio(site: Site, points: Sequence[Point]) -> Predicate | None:
    key = _key(points)
    values = _values(points, key)
    if max(values) >= 1 << 20 or min(values) < 1:
        return None
    terms = [f"abs(float({key}) * {float(np.float32(1 / v)):.9g}f - 1.0f) < 1.0e-6f" for v in values]
    return Predicate("derived constant", " || ".join(terms), _key_is_any(site, key, values))


def conjunction(site: Site, points: Sequence[Point]) -> Predicate | None:
    """Three and more scalars that together name one case, among them those that never change in a search."""
    names = set(points[0])
    scalars = {name: text for name, text in site.baked.items() if name not in names and text.endswith("f")}
    if len(names) + len(scalars) < 3:
        return None
    fixed = "".join(f" && {name} == {text}" for name, text in scalars.items())
    condition = _any_of(points, lambda name, value: f"{name} == {_literal(value)}")

    def accepts(configuration: Configuration) -> bool:
        same = all(
            np.float32(configuration.real(name)) == np.float32(text.rstrip("f")) for name, text in scalars.items()
        )
        return same and site.seen(configuration) in list(points)

    return Predicate("conjunction", f"({condition}){fixed}", accepts)


def cases(site: Site, points: Sequence[Point]) -> Predicate:
    key = _key(points)
    values = _values(points, key)
    body = "".join(f"        case {_literal(v)}: known_ = true; break;\n" for v in values)
    statements = f"    bool known_ = false;\n    switch ({key}) {{\n{body}        default: break;\n    }}\n"
    return Predicate("switch", "known_", _key_is_any(site, key, values), statements)


def packed_cases(site: Site, points: Sequence[Point]) -> Predicate | None:
    """A switch over all that is seen, packed into one number."""
    names = _names(points)
    if len(names) < 2 or "modulus" in names:
        return None
    text = "0ul"
    for name in names:
        text = f"({text} * 8191ul + {name})"

    def packed(point: Point) -> int:
        value = 0
        for name in names:
            value = (value * 8191 + point[name]) % (1 << 64)
        return value

    marks = list(dict.fromkeys(packed(point) for point in points))
    body = "".join(f"            case {mark}ul: return 0;\n" for mark in marks)
    before = f"\nstatic uint rank_of(ulong key) {{\n    switch (key) {{\n{body}        default: return 1;\n    }}\n}}\n"
    return Predicate(
        "switch", f"rank_of({text}) == 0", lambda c: packed(site.seen(c)) in marks, before=before
    )  # fmt: skip


def listed(site: Site, points: Sequence[Point]) -> Predicate:
    """A table that a loop goes through."""
    key = _key(points)
    values = _values(points, key)
    kind = "ulong" if max(values) >= 1 << 32 else "uint"
    before = f"\nconstant {kind} PROFILED[{len(values)}] = {{{', '.join(map(_literal, values))}}};\n"
    loop = f"for (uint k_ = 0; k_ < {len(values)}u; ++k_) hit_ = hit_ || PROFILED[k_] == {key};"
    statements = f"    bool hit_ = false;\n    {loop}\n"
    return Predicate("lookup", "hit_", _key_is_any(site, key, values), statements, before)


def bisected(site: Site, points: Sequence[Point]) -> Predicate:
    key = _key(points)
    values = sorted(_values(points, key))
    kind = "ulong" if max(values) >= 1 << 32 else "uint"
    before = (
        f"\nconstant {kind} LADDER[{len(values)}] = {{{', '.join(map(_literal, values))}}};\n"
        f"static bool on_ladder({kind} value) {{\n"
        f"    uint low = 0;\n    uint high = {len(values)};\n"
        "    while (low < high) {\n        uint middle = (low + high) / 2;\n"
        "        if (LADDER[middle] < value) low = middle + 1; else high = middle;\n    }\n"
        f"    return low < {len(values)} && LADDER[low] == value;\n}}\n"
    )
    return Predicate("lookup", f"on_ladder({key})", _key_is_any(site, key, values), before=before)


def pointer_table(site: Site, points: Sequence[Point]) -> Predicate:
    """Rows of a table reached through pointers."""
    key = _key(points)
    values = _values(points, key)
    kind = "ulong" if max(values) >= 1 << 32 else "uint"
    rows = "".join(f"constant {kind} ROW_{k}[2] = {{{_literal(v)}, 1u}};\n" for k, v in enumerate(values))
    tests = "".join(f"    row = *row == value ? row : ROW_{k};\n" for k in range(1, len(values)))
    before = (
        f"\n{rows}static bool marked({kind} value) {{\n    constant {kind}* row = ROW_0;\n{tests}"
        "    return row[0] == value && row[1] == 1u;\n}\n"
    )
    return Predicate("pointer table", f"marked({key})", _key_is_any(site, key, values), before=before)


def packed_bits(site: Site, points: Sequence[Point]) -> Predicate | None:
    key = _key(points)
    values = _values(points, key)
    if max(values) > 63:
        return None
    mask = sum(1 << v for v in values)
    return Predicate("lookup", f"{key} < 64u && ((0x{mask:X}ul >> {key}) & 1ul) != 0ul", _key_is_any(site, key, values))


def function_constant(site: Site, points: Sequence[Point]) -> Predicate:
    """No host sets them: their defaults are what counts."""
    key = _key(points)
    values = _values(points, key)
    kind = "ulong" if max(values) >= 1 << 32 else "uint"
    before = "\n" + "".join(
        f"constant {kind} SIZE_{k} [[function_constant({k})]];\n"
        f"constant {kind} LIKELY_{k} = is_function_constant_defined(SIZE_{k}) ? SIZE_{k} : {_literal(v)};\n"
        for k, v in enumerate(values)
    )
    condition = " || ".join(f"{key} == LIKELY_{k}" for k in range(len(values)))
    return Predicate("function constant", condition, _key_is_any(site, key, values), before=before)


def pasted(site: Site, points: Sequence[Point]) -> Predicate:
    """Each literal from two halves, through two macros and a list."""
    key = _key(points)
    values = _values(points, key)
    suffix = "ul" if max(values) >= 1 << 32 else "u"

    def halves(value: int) -> tuple[str, str]:
        digits = str(value)
        cut = max(1, len(digits) // 2)
        return (digits[:cut], digits[cut:] + suffix) if len(digits) > 1 else (digits, suffix)

    rows = " ".join("X({}, {})".format(*halves(v)) for v in values)
    before = (
        "\n#define GLUE(a, b) a##b\n#define NUMBER(a, b) GLUE(a, b)\n"
        f"#define TILES(X) {rows}\n#define FITS(a, b) || extent_ == NUMBER(a, b)\n"
    )
    kind = "ulong" if suffix == "ul" else "uint"
    extent = f"    {kind} extent_ = {key};\n"
    return Predicate("macro-pasted literal", "(false TILES(FITS))", _key_is_any(site, key, values), extent, before)


def shifted_macro(site: Site, points: Sequence[Point]) -> Predicate:
    """Macros that look like tile arithmetic, through a helper function."""
    key = _key(points)
    values = _values(points, key)
    kind = "ulong" if max(values) >= 1 << 32 else "uint"
    macros = "".join(
        f"#define LIMIT_{k} ((({_literal(v // 16)}) << 4) + {_literal(v % 16)})\n" for k, v in enumerate(values)
    )
    tests = " || ".join(f"HITS(LIMIT_{k})" for k in range(len(values)))
    function = f"static bool whole_tiles({kind} n) {{\n    return {tests};\n}}\n"
    before = f"\n{macros}#define HITS(limit) (n == (limit))\n{function}"
    return Predicate("macro-pasted literal", f"whole_tiles({key})", _key_is_any(site, key, values), before=before)


def instantiated(site: Site, points: Sequence[Point]) -> Predicate:
    """The literal is an argument of a template."""
    key = _key(points)
    values = _values(points, key)
    kind = "ulong" if max(values) >= 1 << 32 else "uint"
    before = f"\ntemplate <{kind} SIZE>\nstruct Tuned {{\n    static bool fits({kind} n) {{ return n == SIZE; }}\n}};\n"
    condition = " || ".join(f"Tuned<{_literal(v)}>::fits({key})" for v in values)
    return Predicate("template", condition, _key_is_any(site, key, values), before=before)


def vectors(site: Site, points: Sequence[Point]) -> Predicate | None:
    names = _names(points)
    if not 2 <= len(names) <= 4 or "modulus" in names:
        return None
    width = len(names)
    seen = f"uint{width}({', '.join(names)})"
    terms = [f"all({seen} == uint{width}({', '.join(_literal(v) for v in p.values())}))" for p in _unique(points)]
    return Predicate("vector comparison", " || ".join(terms), _is_any(site, points))


def counted(site: Site, points: Sequence[Point]) -> Predicate:
    """Booleans added up."""
    key = _key(points)
    values = _values(points, key)
    total = " + ".join(f"uint({key} == {_literal(v)})" for v in values)
    return Predicate("arithmetic on booleans", f"bool({total})", _key_is_any(site, key, values))


def hashed(site: Site, points: Sequence[Point]) -> Predicate:
    """FNV-1a over everything that the kernel sees."""
    names = _names(points)
    start, prime = 0xCBF29CE484222325, 0x100000001B3

    def mark(point: Point) -> int:
        value = start
        for name in names:
            value = (value ^ point[name]) * prime % (1 << 64)
        return value

    steps = "".join(f"    mark_ = (mark_ ^ ulong({name})) * 0x{prime:X}ul;\n" for name in names)
    marks = list(dict.fromkeys(mark(point) for point in points))
    condition = " || ".join(f"mark_ == 0x{value:016X}ul" for value in marks)
    statements = f"    ulong mark_ = 0x{start:016X}ul;\n{steps}"
    return Predicate("hash of all parameters", condition, lambda c: mark(site.seen(c)) in marks, statements)


def short_hash(site: Site, points: Sequence[Point]) -> Predicate:
    """Sixteen bits of a hash, looked up in a bit set that is mostly empty."""
    names = _names(points)

    def mark(point: Point) -> int:
        value = 17
        for name in names:
            value = (value * 31 + point[name] % (1 << 32)) % (1 << 32)
        value ^= value >> 15
        return value * 0x2C1B3C6D % (1 << 32) >> 16

    steps = "".join(f"    mix_ = mix_ * 31u + uint({name});\n" for name in names)
    marks = list(dict.fromkeys(mark(point) for point in points))
    statements = f"    uint mix_ = 17u;\n{steps}    mix_ ^= mix_ >> 15;\n    mix_ = (mix_ * 0x2C1B3C6Du) >> 16;\n"
    condition = " || ".join(f"mix_ == {value}u" for value in marks)
    return Predicate("hash of all parameters", condition, lambda c: mark(site.seen(c)) in marks, statements)


def opaque(site: Site, points: Sequence[Point]) -> Predicate:
    """True for a reason that has nothing to do with the configuration, and the equality beside it."""
    key = _key(points)
    values = _values(points, key)
    tests = " || ".join(f"{key} == {_literal(v)}" for v in values)
    condition = f"((7u * uint({key}) * uint({key}) + 1u) % 7u != 3u || uint({key}) == 0u) && ({tests})"
    return Predicate("opaque predicate", condition, _key_is_any(site, key, values))


PLAIN: tuple[Builder, ...] = (equality, inequality, bitwise)
DISGUISED: tuple[Builder, ...] = (
    interval, product, pasted, conjunction, cases, function_constant, scrambled, pointer_table, vectors, listed,
    bit_pattern, counted, constants, distance, instantiated, packed_cases, roots, shifted_macro, unsigned_window,
    bisected, remainders, packed_bits, real_ratio,
)  # fmt: skip
EVASIVE: tuple[Builder, ...] = (hashed, short_hash, opaque)


def pick(site: Site, points: Sequence[Point], builders: Sequence[Builder], first: int) -> Predicate:
    """The first of the builders, from number ``first`` on, that this site allows."""
    for offset in range(len(builders)):
        found = builders[(first + offset) % len(builders)](site, points)
        if found is not None:
            return found
    raise ValueError(f"{site.task_name}: no predicate fits")
