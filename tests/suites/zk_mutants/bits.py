"""Faults of Keccak sponges, hash chains and binary fields."""

from __future__ import annotations

FAULTS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "keccak_f1600_batch": (
        (
            "the end of the padding is set, not xored",
            "state[rate_lanes - 1] ^= 0x8000000000000000ul;",
            "state[rate_lanes - 1] = 0x8000000000000000ul;",
        ),
        ("no permutation between blocks of output", "if (i != 0 && i % rate_lanes == 0) keccak_f1600(state);", ""),
        ("a round constant is wrong in one bit", "0x000000008000808bul,", "0x000000008000808aul,"),
        ("one rotation is off by one", "62, 28, 27, 36, 44", "62, 28, 26, 36, 44"),
        ("a round too few", "round < 24;", "round < 23;"),
        (
            "the domain byte of SHA3 whatever the mode",
            "state[message_lanes] ^= ulong(domain);",
            "state[message_lanes] ^= 0x06ul;",
        ),
        ("the rate of SHA3-256 whatever the mode", "uint rate_lanes = rate_bytes / 8;", "uint rate_lanes = 17;"),
        ("the padding ends in the last lane of the state", "state[rate_lanes - 1] ^=", "state[24] ^="),
        ("theta rotates by two", "rotate_left(parity[(x + 1) % 5], 1)", "rotate_left(parity[(x + 1) % 5], 2)"),
        (
            "chi takes its neighbours the other way round",
            "(~moved[(x + 1) % 5 + 5 * y] & moved[(x + 2) % 5 + 5 * y])",
            "(moved[(x + 1) % 5 + 5 * y] & ~moved[(x + 2) % 5 + 5 * y])",
        ),
        ("pi mixes up its axes", "moved[y + 5 * ((2 * x + 3 * y) % 5)]", "moved[x + 5 * ((2 * x + 3 * y) % 5)]"),
        ("messages lie four lanes apart", "in_data[idx * message_lanes + i]", "in_data[idx * 4 + i]"),
    ),
    "wots_chain": (
        (
            "the end of the padding is set, not xored",
            "state[16] ^= 0x8000000000000000ul;",
            "state[16] = 0x8000000000000000ul;",
        ),
        ("at most sixty-four steps", "step < w;", "step < min(w, 64u);"),
        ("a step too few", "step < w;", "step + 1 < w;"),
        (
            "the rest of the state is not cleared between steps",
            "for (uint i = lanes; i < 25; ++i) state[i] = 0;",
            "for (uint i = lanes; i < 25 && step == 0; ++i) state[i] = 0;",
        ),
        (
            "the rest of the state is cleared from the fifth lane on",
            "for (uint i = lanes; i < 25; ++i)",
            "for (uint i = 4; i < 25; ++i)",
        ),
        (
            "the padding ends in the lane of SHAKE128",
            "state[16] ^= 0x8000000000000000ul;",
            "state[20] ^= 0x8000000000000000ul;",
        ),
        ("the domain byte of SHAKE", "state[lanes] ^= 0x06ul;", "state[lanes] ^= 0x1Ful;"),
        ("the domain byte in the third lane", "state[lanes] ^= 0x06ul;", "state[2] ^= 0x06ul;"),
        (
            "the last round constant is that of the round before",
            "0x0000000080000001ul, 0x8000000080008008ul,",
            "0x0000000080000001ul, 0x0000000080000001ul,",
        ),
        (
            "rotation by zero by way of sixty-four",
            "return by == 0 ? value : (value << by) | (value >> (64 - by));",
            "return (value << by) | (value >> (63 - by));",
        ),
        ("tips are two lanes each", "tips[idx * lanes + i] = state[i];", "tips[idx * 2 + i] = state[i];"),
    ),
    "binius_clmul": (
        ("the low word for bit 64 too", "bit < 64 ? b.low : b.high", "bit <= 64 ? b.low : b.high"),
        (
            "only the low word of alpha",
            "Element alpha = Element{alpha_lo, alpha_hi};",
            "Element alpha = Element{alpha_lo, 0};",
        ),
        ("the reduction polynomial lacks x^7", "(overflow * 0x87ul)", "(overflow * 0x07ul)"),
        ("no carry into the high word", "(a.high << 1) | (a.low >> 63)", "(a.high << 1)"),
        ("the top bit of the factor is left out", "for (uint i = 0; i < 128; ++i)", "for (uint i = 1; i < 128; ++i)"),
        (
            "the words of alpha are swapped",
            "Element alpha = Element{alpha_lo, alpha_hi};",
            "Element alpha = Element{alpha_hi, alpha_lo};",
        ),
        ("no alpha", "multiply(alpha, high)", "high"),
        (
            "v squared is alpha",
            "add(add(multiply(a0, b1), multiply(a1, b0)), high)",
            "add(multiply(a0, b1), multiply(a1, b0))",
        ),
        ("always the extension's layout", "uint at = 2 * idx;", "uint at = 4 * idx;"),
        ("never the extension", "if (tower == 0) {", "if (tower < 2) {"),
        (
            "a carry where numbers are added",
            "Element{a.low ^ b.low, a.high ^ b.high}",
            "Element{a.low ^ b.low, a.high + b.high}",
        ),
        ("overflow of the other word", "ulong overflow = a.high >> 63;", "ulong overflow = a.low >> 63;"),
    ),
}
