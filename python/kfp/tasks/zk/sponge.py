"""Keccak-f[1600] on arrays of states, and the sponge over it for messages of one block (FIPS 202)."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from kfp.tasks.zk.fields import Words, words

ROUNDS = 24
# Of one round: 76 exclusive ors of whole lanes, 25 complements and 25 conjunctions, 29 rotations.
OPERATIONS_PER_ROUND = 155
ROTATES_PER_ROUND = 29
STATE_BYTES = 200

# Few enough that a block stays in the cache, enough that numpy's own time per call doesn't matter.
_BLOCK = 8200

# (rate in bytes, domain byte): the standard function of that mode and its longest output in bytes.
_STANDARD: dict[tuple[int, int], tuple[str, int]] = {
    (144, 0x06): ("sha3_224", 28),
    (136, 0x06): ("sha3_256", 32),
    (104, 0x06): ("sha3_384", 48),
    (72, 0x06): ("sha3_512", 64),
    (168, 0x1F): ("shake_128", 1 << 30),
    (136, 0x1F): ("shake_256", 1 << 30),
}


def round_constants() -> Words:
    """The constants of iota: bit 2^j - 1 of round i is bit 7 i + j of the shift register of FIPS 202, 3.2.5."""
    constants, register = [], 1
    for _ in range(ROUNDS):
        value = 0
        for j in range(7):
            value |= (register & 1) << ((1 << j) - 1)
            register = (register << 1) ^ (0x171 if register & 0x80 else 0)
        constants.append(value)
    return words(constants)


def _rotations() -> tuple[list[int], list[int]]:
    """For every lane x + 5 y after rho and pi: the lane that it comes from, and by how much it is rotated left."""
    offsets = [0] * 25
    x, y = 1, 0
    for t in range(24):
        offsets[x + 5 * y] = (t + 1) * (t + 2) // 2 % 64
        x, y = y, (2 * x + 3 * y) % 5
    origins = [0] * 25
    for y in range(5):
        for x in range(5):
            origins[y + 5 * ((2 * x + 3 * y) % 5)] = x + 5 * y
    return origins, [offsets[origin] for origin in origins]


_CONSTANTS = round_constants()
_ORIGINS, _SHIFTS = _rotations()
_LEFT = words(_SHIFTS)[:, None]
# A shift by 64 has no meaning: lane 0 is not rotated, and x | x is x.
_RIGHT = (np.uint64(64) - _LEFT) % np.uint64(64)
_ORIGIN_INDEX = np.array(_ORIGINS)


def permute(states: Words) -> None:
    """Keccak-f[1600], in place, on (25, n) lanes; lane x + 5 y of the standard is row x + 5 y."""
    n = states.shape[1]
    planes = states.reshape(5, 5, n)
    moved = np.empty_like(states)
    rows = moved.reshape(5, 5, n)
    spare = np.empty_like(states)
    parity, change = np.empty((5, n), np.uint64), np.empty((5, n), np.uint64)
    rotated = spare[:5]
    for constant in _CONSTANTS:
        np.bitwise_xor(planes[0], planes[1], out=parity)
        for y in (2, 3, 4):
            np.bitwise_xor(parity, planes[y], out=parity)
        np.left_shift(parity, np.uint64(1), out=rotated)
        np.right_shift(parity, np.uint64(63), out=change)
        np.bitwise_or(rotated, change, out=rotated)
        np.bitwise_xor(parity[:3], rotated[2:], out=change[1:4])
        np.bitwise_xor(parity[4], rotated[1], out=change[0])
        np.bitwise_xor(parity[3], rotated[0], out=change[4])
        np.bitwise_xor(planes, change, out=planes)
        np.take(states, _ORIGIN_INDEX, axis=0, out=moved, mode="clip")
        np.right_shift(moved, _RIGHT, out=spare)
        np.left_shift(moved, _LEFT, out=moved)
        np.bitwise_or(moved, spare, out=moved)
        for x in range(5):
            lane = planes[:, x]
            np.invert(rows[:, (x + 1) % 5], out=lane)
            np.bitwise_and(lane, rows[:, (x + 2) % 5], out=lane)
            np.bitwise_xor(lane, rows[:, x], out=lane)
        states[0] ^= constant


def sponge(messages: Words, rate_bytes: int, domain: int, out_bytes: int) -> Words:
    """(n, out_bytes / 8) words squeezed from (n, m) words of message, 8 m < rate_bytes."""
    n, lanes = messages.shape
    if not 8 * lanes < rate_bytes:
        raise ValueError(f"expected a message shorter than the rate of {rate_bytes} bytes, got {8 * lanes}")
    output: Words = np.empty((n, out_bytes // 8), np.uint64)
    rate = rate_bytes // 8
    for start in range(0, n, _BLOCK):
        block = messages[start : start + _BLOCK]
        states: Words = np.zeros((25, len(block)), np.uint64)
        states[:lanes] = block.T
        states[lanes] ^= np.uint64(domain)
        states[rate - 1] ^= np.uint64(1 << 63)
        for squeezed in range(0, output.shape[1], rate):
            permute(states)
            part = output[start : start + _BLOCK, squeezed : squeezed + rate]
            part[:] = states[: part.shape[1]].T
    return output


def digests(messages: Words, rate_bytes: int, domain: int, out_bytes: int) -> Words:
    """What ``sponge`` gives, by hashlib where this is a standard mode and no longer than its digest."""
    name, longest = _STANDARD.get((rate_bytes, domain), ("", 0))
    if out_bytes > longest:
        return sponge(messages, rate_bytes, domain, out_bytes)
    function: Any = getattr(hashlib, name)
    length = 8 * messages.shape[1]
    data = np.ascontiguousarray(messages).astype("<u8", copy=False).tobytes()
    pieces = (data[start : start + length] for start in range(0, len(data), length))
    if name.startswith("shake"):
        found = b"".join([function(piece).digest(out_bytes) for piece in pieces])
    else:
        found = b"".join([function(piece).digest()[:out_bytes] for piece in pieces])
    return np.frombuffer(found, "<u8").astype(np.uint64).reshape(len(messages), out_bytes // 8)


def permutations_per_message(rate_bytes: int, out_bytes: int) -> int:
    """One after the block of the message, and one more for every further block of output."""
    return -(-out_bytes // rate_bytes)
