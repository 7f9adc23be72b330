"""Faults of sums on curves. The first two are seen only where words are zeros or ones, or equal."""

from __future__ import annotations

_SUM = (
    (
        "a borrow is dropped where the words are equal",
        "borrow = ulong(a.word[i] < b.word[i]) | ulong(partial < borrow);",
        "borrow = ulong(a.word[i] < b.word[i]);",
    ),
    (
        "a carry is dropped where the words are all ones",
        "carry = ulong(partial < a.word[i]) | ulong(result < partial);",
        "carry = ulong(partial < a.word[i]);",
    ),
    (
        "no final subtraction after a product",
        "return at_least(result, q.value) ? difference(result, q.value) : result;",
        "return result;",
    ),
    (
        "a sum is never reduced",
        "return at_least(total, q.value) ? difference(total, q.value) : total;",
        "return total;",
    ),
    (
        "equal points are not doubled",
        "if (is_zero(h)) return is_zero(s) ? twice(p, q) : infinity();",
        "if (is_zero(h)) return infinity();",
    ),
    (
        "opposite points are doubled",
        "if (is_zero(h)) return is_zero(s) ? twice(p, q) : infinity();",
        "if (is_zero(h)) return twice(p, q);",
    ),
    ("the second point is taken to have Z = 1", "Coordinate u1 = multiply(p.x, z2z2, q);", "Coordinate u1 = p.x;"),
    ("infinity on the right is not looked for", "if (is_zero(r.z)) return p;", ""),
    (
        "y of a double lacks a factor of two",
        "subtract(d, result.x, q), q), add(c4, c4, q), q);",
        "subtract(d, result.x, q), q), c4, q);",
    ),
    (
        "z of a sum lacks the difference",
        "result.z = multiply(multiply(p.z, r.z, q), h, q);",
        "result.z = multiply(p.z, r.z, q);",
    ),
    ("a difference of zero is the modulus", "return true;", "return false;"),
)

FAULTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "montgomery_msm": (
        *_SUM,
        ("the top bit of a scalar is left out", "for (uint bit = 256; bit-- > 0;)", "for (uint bit = 255; bit-- > 0;)"),
        ("the words of a scalar in reverse", "scalars[4 * idx + bit / 64]", "scalars[4 * idx + 3 - bit / 64]"),
        (
            "a reduction level reads next to itself",
            "load(scratch + 18 * (idx + half_count))",
            "load(scratch + 18 * (2 * idx + 1))",
        ),
        (
            "the modulus of BLS12-381 in the top word",
            "q.value = load_coordinate(words);",
            "q.value = load_coordinate(words); q.value.word[5] = 0x1a0111ea397fe69aul;",
        ),
    ),
    "pippenger_buckets": (
        *_SUM,
        ("bits from the next word are lost", "if (shift + bits > 64) value |= scalar[word + 1] << (64 - shift);", ""),
        ("digits count from zero", "uint wanted = idx % per_window + 1;", "uint wanted = idx % per_window;"),
        (
            "windows of sixteen bits",
            "uint first_bit = idx / per_window * window_bits;",
            "uint first_bit = idx / per_window * 16;",
        ),
        ("the first pair is left out", "for (uint i = 0; i < n_pairs; ++i)", "for (uint i = 1; i < n_pairs; ++i)"),
        (
            "at most sixty-four pairs",
            "for (uint i = 0; i < n_pairs; ++i)",
            "for (uint i = 0; i < min(n_pairs, 64u); ++i)",
        ),
    ),
}
