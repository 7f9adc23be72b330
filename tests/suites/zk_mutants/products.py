"""Faults of products of fractions and of sum-check, in both fields."""

from __future__ import annotations

_PRODUCT = (
    (
        "the products of Goldilocks are not reduced at the end",
        "return result >= GOLDILOCKS ? result - GOLDILOCKS : result;",
        "return result;",
    ),
    ("a borrow of the reduction is dropped", "if (low < top) reduced -= EPSILON;", ""),
    ("a carry of the reduction is dropped", "if (result < middle) result += EPSILON;", ""),
    (
        "a product of BabyBear is not reduced at the end",
        "return remainder >= BABYBEAR ? remainder - BABYBEAR : remainder;",
        "return remainder;",
    ),
    ("the reciprocal of BabyBear is too small", "0x22222221Dul", "0x22222211Dul"),
    (
        "Goldilocks whatever the field",
        "return prime_kind == 0 ? multiply_goldilocks(a, b) : multiply_babybear(a, b);",
        "return multiply_goldilocks(a, b);",
    ),
    ("a difference wraps around at 2^64", "a + (modulus_of(prime_kind) - b)", "a - b"),
)

FAULTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "logup_gkr": (
        *_PRODUCT,
        (
            "the table's fractions have no numerator",
            "multiply(ulong(multiplicities[entry]), inverse(denominator, prime_kind), prime_kind)",
            "inverse(denominator, prime_kind)",
        ),
        ("the table's fractions are left out", "} else if (gid < N + M) {", "} else if (gid < M) {"),
        (
            "counts are written, not added up",
            "atomic_fetch_add_explicit(&multiplicities[witness_idx[i]], 1u,",
            "atomic_store_explicit(&multiplicities[witness_idx[i]], 1u,",
        ),
        (
            "the signs of all differences are wrong",
            "subtract(alpha, table[witness_idx[gid]], prime_kind), prime_kind)",
            "subtract(table[witness_idx[gid]], alpha, prime_kind), prime_kind)",
        ),
        ("an inverse that isn't one", "modulus_of(prime_kind) - 2;", "modulus_of(prime_kind) - 3;"),
        ("the reduction leaves out the last level", "half_width > 0;", "half_width > 1;"),
        ("past the end the factor is 0", "ulong fraction = 1;", "ulong fraction = 0;"),
        ("the last witness is not counted", "if (i >= N) return;", "if (i + 1 >= N) return;"),
    ),
    "multilinear_sumcheck_round": (
        *_PRODUCT,
        ("a sum is not reduced", "return a >= room ? a - room : a + b;", "return a + b;"),
        (
            "a sum that is the modulus stays",
            "return a >= room ? a - room : a + b;",
            "return a > room ? a - room : a + b;",
        ),
        ("threads past the end count", "products[t] = gid < half_size ? 1 : 0;", "products[t] = 1;"),
        ("degree two whatever the degree", "for (uint i = 0; i < d_deg; ++i) {", "for (uint i = 0; i < 2; ++i) {"),
        (
            "the slope has the wrong sign",
            "ulong slope = subtract(hi, lo, prime_kind);",
            "ulong slope = subtract(lo, hi, prime_kind);",
        ),
        ("the partials lie three apart", "partial[tgid * (d_deg + 1) + t]", "partial[tgid * 3 + t]"),
        ("the reduction leaves out the last level", "width > 0;", "width > 1;"),
        (
            "the fold takes the other end",
            "add(lo, multiply(r, subtract(hi, lo, prime_kind), prime_kind), prime_kind)",
            "add(hi, multiply(r, subtract(hi, lo, prime_kind), prime_kind), prime_kind)",
        ),
        (
            "the fold reads neighbours",
            "ulong hi = f_in[(2 * i + 1) * half_size + j];",
            "ulong hi = f_in[2 * i * half_size + j + 1];",
        ),
    ),
}
