"""Faults of transforms, Poseidon2 and what is built of it, and Montgomery chains."""

from __future__ import annotations

# Without the last subtraction of a product a permutation is still right: every further sum or product makes up for it.
_LAST_SUBTRACTION = (
    "no final subtraction",
    "sum += EPSILON;\n    return sum >= P ? sum - P : sum;",
    "sum += EPSILON;\n    return sum;",
)

_PRODUCT = (
    ("no borrow in the reduction", "if (low < top) difference -= EPSILON;", ""),
    ("no carry in the reduction", "if (sum < middle) sum += EPSILON;", ""),
    ("a carry of the sum is lost", "if (sum < a) return sum + EPSILON;", ""),
    ("a sum that is p", "EPSILON;\n    return sum >= P ?", "EPSILON;\n    return sum > P ?"),
    ("a sum is not reduced", "EPSILON;\n    return sum >= P ? sum - P : sum;", "EPSILON;\n    return sum;"),
    ("the high word is taken whole", "(high & 0xFFFFFFFFul) * EPSILON", "high * EPSILON"),
    ("2^64 modulo p is off by one", "EPSILON = 0xFFFFFFFFul", "EPSILON = 0xFFFFFFFEul"),
    ("the top word is added", "low - top;", "low + top;"),
)

_PERMUTATION = (
    ("the last full round is missing", "r = r_f / 2; r < r_f; ++r", "r = r_f / 2; r + 1 < r_f; ++r"),
    (
        "round constants start again in the second half",
        "rc_ext + r * t, ext_mds, t);\n}",
        "rc_ext + (r - r_f / 2) * t, ext_mds, t);\n}",
    ),
    ("constants of the round before", "rc_int[r], int_diag", "rc_int[r > 0 ? r - 1 : 0], int_diag"),
    ("the constants are rotated", "add(state[i], rc[i])", "add(state[i], rc[(i + 1) % t])"),
    ("the matrix is transposed", "ext_mds[i * t + j]", "ext_mds[j * t + i]"),
    (
        "no matrix before the rounds",
        "    multiply_by_matrix(state, ext_mds, t);\n    for (uint r = 0; r < r_f / 2",
        "    for (uint r = 0; r < r_f / 2",
    ),
    ("the sum leaves out the last lane", "i < t; ++i) sum = add", "i + 1 < t; ++i) sum = add"),
    ("the fifth power", "return multiply(multiply(square, square), cube);", "return multiply(square, cube);"),
    ("the diagonal replaces the sum", "add(sum, multiply(int_diag[i], state[i]))", "multiply(int_diag[i], state[i])"),
    ("one partial round too few", "r < r_p; ++r", "r + 1 < r_p; ++r"),
)

FAULTS = {
    "goldilocks_ntt": (
        *_PRODUCT,
        _LAST_SUBTRACTION,
        ("equal numbers differ by p", "a >= b ? a - b", "a > b ? a - b"),
        ("a borrow is lost", "a - b + P", "a - b"),
        ("the twiddle of the next stage", "N >> (stage_idx + 1)", "N >> stage_idx"),
        ("sum and difference are swapped", "width] = subtract(a, b)", "width] = subtract(b, a)"),
        ("all products have the first twiddle", "r * (N >>", "0 * (N >>"),
        ("the second half is one short", "+ N / 2]", "+ N / 2 - 1]"),
        ("a width too much", "j * 2 * width + r + width]", "j * 2 * width + r + 2 * width - 1]"),
    ),
    "poseidon2_hash": (
        *_PRODUCT,
        *_PERMUTATION,
        ("the last state is left out", "if (idx >= batch) return;", "if (idx + 1 >= batch) return;"),
        ("states of three lanes", "in_state[idx * t + i]", "in_state[idx * 3 + i]"),
        ("eight full rounds", "uint t, uint r_f, uint r_p) {", "uint t, uint, uint r_p) {\n    uint r_f = 8;"),
        ("twenty-two partial rounds", "uint t, uint r_f, uint r_p) {", "uint t, uint r_f, uint) {\n    uint r_p = 22;"),
    ),
    "merkle_build": (
        *_PRODUCT,
        *_PERMUTATION,
        ("an absent child is whatever lies there", "i < arity && child < child_count", "i < arity"),
        (
            "an absent child repeats the last",
            "tree[in_offset + child] : 0",
            "tree[in_offset + child] : tree[in_offset + child_count - 1]",
        ),
        ("incomplete parents are left out", "(child_count + arity - 1) / arity", "child_count / arity"),
        ("the level above begins one late", "tree[out_offset + p] = state[0]", "tree[out_offset + p + 1] = state[0]"),
        ("lane 1 is the digest", "= state[0];", "= state[1];"),
        ("two children whatever the arity", "p * arity + i", "p * 2 + i"),
        ("the last parent is left out", "p >= parents", "p + 1 >= parents"),
    ),
    "fri_round": (
        *_PRODUCT,
        _LAST_SUBTRACTION,
        *(fault for fault in _PERMUTATION if fault[0] != "one partial round too few"),
        ("twenty-one partial rounds", "PARTIAL_ROUNDS = 22", "PARTIAL_ROUNDS = 21"),
        ("six full rounds", "FULL_ROUNDS = 8", "FULL_ROUNDS = 6"),
        ("without the factor 1 / fold", "multiply(inv_fold, total)", "total"),
        ("the series ends early", "uint p = 1; p < fold; ++p", "uint p = 1; p + 1 < fold; ++p"),
        ("always two", "uint m = 0; m < fold; ++m", "uint m = 0; m < 2; ++m"),
        ("neighbours are folded", "evals_in[j + m * n_out]", "evals_in[j * fold + m]"),
        ("all points have one sign", "zeta_inv_pow[m]", "zeta_inv_pow[0]"),
        ("the last output is left out", "if (j >= n_out) return;", "if (j + 1 >= n_out) return;"),
        ("the challenge is missing", "multiply(alpha, inv_x_base[j])", "inv_x_base[j]"),
        ("children are swapped", "{tree[in_offset + 2 * p], pair", "{tree[in_offset + 2 * p + 1], pair"),
    ),
    "kyber_ntt": (
        ("a sum that is q", "sum >= q ? sum - q", "sum > q ? sum - q"),
        ("equal numbers differ by q", "low >= t ? low - t", "low > t ? low - t"),
        ("the product has 32 bits", "uint(z * a[j + len] % q)", "uint(z) * a[j + len] % q"),
        ("no reduction of the sum", "sum >= q ? sum - q : sum", "sum"),
        ("one level too few", "level < n_levels", "level + 1 < n_levels"),
        ("seven levels", "level < n_levels", "level < 7"),
        ("the zeta of the next group", "zetas[(1u << level) + group]", "zetas[(1u << level) + group + 1]"),
        ("one zeta a level", "(1u << level) + group", "1u << level"),
        ("256 coefficients", "tgid * n", "tgid * 256"),
        ("the modulus of Kyber", "% q)", "% 3329)"),
        (
            "Barrett's constant for Kyber",
            "uint(z * a[j + len] % q)",
            "uint(z * a[j + len] - ((z * a[j + len] * 20159) >> 26) * q)",
        ),
        ("sum and difference are swapped", "low >= t ? low - t : low + q - t", "t >= low ? t - low : t + q - low"),
        ("halves overlap", "group * 2 * len", "group * len"),
        ("no barrier that orders memory", "threadgroup_barrier(mem_flags::mem_device);", ""),
    ),
    # A product that is the modulus before the last subtraction is no fault: the sum after it comes out right.
    "modmul_montgomery": (
        ("a carry of the high words is lost", "bool overflow = sum < high;", "bool overflow = false;"),
        ("no final subtraction", "overflow || sum >= n ? sum - n : sum", "sum"),
        ("a carry for low words that are zero", "low != 0 ? 1 : 0", "1"),
        ("no carry of the low words", "low != 0 ? 1 : 0", "0"),
        ("a sum that is the modulus", "addend >= room", "addend > room"),
        ("sums of 64 bits", "addend >= room ? addend - room : square + addend", "(square + addend) % modulus"),
        ("one round too few", "round < rounds", "round + 1 < rounds"),
        ("eight rounds", "round < rounds", "round < 8"),
        ("the last chain is left out", "if (idx >= N) return;", "if (idx + 1 >= N) return;"),
        (
            "the modulus is Goldilocks'",
            "ulong n, ulong neg_inv) {",
            "ulong, ulong neg_inv) {\n    ulong n = 0xFFFFFFFF00000001ul;",
        ),
        ("the inverse has 32 bits", "low * neg_inv;", "low * (neg_inv & 0xFFFFFFFFul);"),
        ("the sign of the inverse", "low * neg_inv;", "low * (0 - neg_inv);"),
    ),
}
