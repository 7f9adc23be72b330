"""Keccak on arrays, sponges and hash chains against hashlib, FIPS 202's tables and a permutation one lane at a time."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Number
from kfp.tasks.zk import keccak_f1600_batch, wots_chain
from kfp.tasks.zk.fields import Words
from kfp.tasks.zk.sponge import digests, permutations_per_message, permute, round_constants, sponge

MASK = 2**64 - 1
# FIPS 202, Table 2, x and y from -2 to 2 put in order 0 to 4; offsets below 64 are taken modulo 64.
OFFSETS = {
    (3, 2): 153, (4, 2): 231, (0, 2): 3, (1, 2): 10, (2, 2): 171,
    (3, 1): 55, (4, 1): 276, (0, 1): 36, (1, 1): 300, (2, 1): 6,
    (3, 0): 28, (4, 0): 91, (0, 0): 0, (1, 0): 1, (2, 0): 190,
    (3, 4): 120, (4, 4): 78, (0, 4): 210, (1, 4): 66, (2, 4): 253,
    (3, 3): 21, (4, 3): 136, (0, 3): 105, (1, 3): 45, (2, 3): 15,
}  # fmt: skip
MODES = {
    (144, 0x06): hashlib.sha3_224,
    (136, 0x06): hashlib.sha3_256,
    (104, 0x06): hashlib.sha3_384,
    (72, 0x06): hashlib.sha3_512,
}


def register_bit(t: int) -> int:
    """rc(t) of FIPS 202, Algorithm 5, on a string of bits."""
    r = [1, 0, 0, 0, 0, 0, 0, 0]
    for _ in range(t % 255):
        r = [0, *r]
        for i in (0, 4, 5, 6):
            r[i] ^= r[8]
        r = r[:8]
    return r[0]


CONSTANTS = [sum(register_bit(j + 7 * i) << (2**j - 1) for j in range(7)) for i in range(24)]


def keccak(lanes: list[int]) -> list[int]:
    """The steps theta, rho, pi, chi, iota of FIPS 202, 3.2, lane by lane."""
    a = {(x, y): lanes[x + 5 * y] for x in range(5) for y in range(5)}

    def rotated(lane: int, by: int) -> int:
        return (lane << by % 64 | lane >> -by % 64) & MASK if by % 64 else lane

    for constant in CONSTANTS:
        c = [a[x, 0] ^ a[x, 1] ^ a[x, 2] ^ a[x, 3] ^ a[x, 4] for x in range(5)]
        a = {(x, y): lane ^ c[x - 1] ^ rotated(c[(x + 1) % 5], 1) for (x, y), lane in a.items()}
        a = {(x, y): rotated(lane, OFFSETS[x, y]) for (x, y), lane in a.items()}
        a = {(x, y): a[(x + 3 * y) % 5, x] for x, y in a}
        a = {(x, y): a[x, y] ^ (~a[(x + 1) % 5, y] & a[(x + 2) % 5, y] & MASK) for x, y in a}
        a[0, 0] ^= constant
    return [a[x, y] for y in range(5) for x in range(5)]


def plain_sponge(message: bytes, rate: int, domain: int, length: int) -> bytes:
    state = bytearray(message.ljust(200, b"\0"))
    state[len(message)] ^= domain
    state[rate - 1] ^= 0x80
    out = b""
    while len(out) < length:
        lanes = keccak([int.from_bytes(state[i : i + 8], "little") for i in range(0, 200, 8)])
        state = bytearray(b"".join(lane.to_bytes(8, "little") for lane in lanes))
        out += state[:rate]
    return out[:length]


def words_of(messages: list[bytes]) -> Words:
    return np.frombuffer(b"".join(messages), "<u8").astype(np.uint64).reshape(len(messages), -1)


def bytes_of(row: Words) -> bytes:
    return row.astype("<u8").tobytes()


def small(name: str, **changes: Number) -> Configuration:
    first = get_task(name).configurations("small")[0]
    return replace(first, parameters={**first.parameters, **changes}, seed=11)


def test_the_constants_of_iota() -> None:
    assert round_constants().tolist() == CONSTANTS
    assert CONSTANTS[:3] == [0x1, 0x8082, 0x800000000000808A]
    assert CONSTANTS[23] == 0x8000000080008008


def test_the_permutation_of_zeros() -> None:
    """The first intermediate value of the Keccak team's reference vectors for Keccak-f[1600]."""
    states: Words = np.zeros((25, 3), np.uint64)
    permute(states)
    assert states[:3, 2].tolist() == [0xF1258F7940E1DDE7, 0x84D5CCF933C0478A, 0xD598261EA65AA9EE]


@settings(max_examples=20, deadline=None)
@given(lanes=st.lists(st.integers(0, MASK), min_size=25, max_size=25))
def test_the_permutation_lane_by_lane(lanes: list[int]) -> None:
    states = np.array([lanes, lanes[::-1]], np.uint64).T.copy()
    permute(states)
    assert states[:, 0].tolist() == keccak(lanes)
    assert states[:, 1].tolist() == keccak(lanes[::-1])


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_sponges_of_any_mode(data: st.DataObject) -> None:
    rate = 8 * data.draw(st.integers(9, 21))
    domain = data.draw(st.integers(0, 255))
    length = 8 * data.draw(st.integers(1, 50))
    size = 8 * data.draw(st.integers(1, rate // 8 - 1))
    messages = data.draw(st.lists(st.binary(min_size=size, max_size=size), min_size=1, max_size=2))
    for function in (sponge, digests):
        found = function(words_of(messages), rate, domain, length)
        for message, row in zip(messages, found, strict=True):
            assert bytes_of(row) == plain_sponge(message, rate, domain, length)


@pytest.mark.parametrize(("rate", "domain"), MODES)
def test_sponges_of_the_standard_hashes(rate: int, domain: int) -> None:
    rng = np.random.default_rng(rate)
    longest = MODES[rate, domain]().digest_size // 8 * 8
    for size in range(8, rate, 8):
        message = rng.bytes(size)
        wanted = MODES[rate, domain](message).digest()[:longest]
        for function in (sponge, digests):
            assert bytes_of(function(words_of([message]), rate, domain, longest)[0]) == wanted


@pytest.mark.parametrize(("rate", "name"), [(168, "shake_128"), (136, "shake_256")])
def test_sponges_of_the_extendable_output_functions(rate: int, name: str) -> None:
    rng = np.random.default_rng(rate)
    for length in (8, rate - 8, rate, rate + 8, 2 * rate, 400):
        messages = [rng.bytes(32) for _ in range(3)]
        for function in (sponge, digests):
            found = function(words_of(messages), rate, 0x1F, length)
            assert [bytes_of(row) for row in found] == [hashlib.new(name, m).digest(length) for m in messages]
        assert permutations_per_message(rate, length) == sum(1 for _ in range(0, length, rate))


def test_blocks_join_without_seams() -> None:
    messages = np.arange(2 * 9000, dtype=np.uint64).reshape(-1, 2)
    np.testing.assert_array_equal(sponge(messages, 136, 0x06, 32), digests(messages, 136, 0x06, 32))


def test_a_message_of_a_whole_block_is_refused() -> None:
    with pytest.raises(ValueError, match="shorter than the rate of 72 bytes, got 72"):
        sponge(np.zeros((1, 9), np.uint64), 72, 0x06, 8)


def test_keccak_repeats_messages_of_large_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keccak_f1600_batch, "_DISTINCT", 7)
    task, configuration = get_task("keccak_f1600_batch"), small("keccak_f1600_batch", batch=50)
    inputs = task.inputs(configuration)
    assert len({row.tobytes() for row in inputs["in_data"]}) == 7
    found = task.reference(configuration, inputs)["out_data"]
    for message, row in zip(inputs["in_data"], found, strict=True):
        assert bytes_of(row) == hashlib.sha3_256(bytes_of(message)).digest()


@pytest.mark.parametrize("n_bytes", [8, 16, 32, 40, 128])
def test_chains(n_bytes: int) -> None:
    task, configuration = get_task("wots_chain"), small("wots_chain", n_bytes=n_bytes, n_chains=3, w=5, law=1)
    inputs = task.inputs(configuration)
    for seed, tip in zip(inputs["seeds"], task.reference(configuration, inputs)["tips"], strict=True):
        value = bytes_of(seed)
        for _ in range(5):
            if n_bytes <= 32:
                value = hashlib.sha3_256(value).digest()[:n_bytes]
            else:
                value = plain_sponge(value, 136, 0x06, n_bytes)
        assert bytes_of(tip) == value


@pytest.mark.parametrize(("chains", "w", "hashes"), [(64, 16, 300), (33, 100, 500), (50, 3, 60), (9, 1, 2)])
def test_families_of_seeds_have_the_tips_of_their_own_chains(
    monkeypatch: pytest.MonkeyPatch, chains: int, w: int, hashes: int
) -> None:
    monkeypatch.setattr(wots_chain, "_HASHES", hashes)
    task, configuration = get_task("wots_chain"), small("wots_chain", n_chains=chains, w=w)
    inputs = task.inputs(configuration)
    assert len({row.tobytes() for row in inputs["seeds"]}) == chains
    expected = task.reference(configuration, inputs)
    monkeypatch.setattr(wots_chain, "_HASHES", 1 << 20)
    alone = task.reference(configuration, {"seeds": inputs["seeds"]})
    np.testing.assert_array_equal(expected["tips"], alone["tips"])


@pytest.mark.parametrize("seed", range(3))
def test_drawn_chains_are_never_families(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task = get_task("wots_chain")
    for configuration in (task.draw(rng, "full") for _ in range(200)):
        assert configuration.integer("n_chains") * configuration.integer("w") <= 1 << 20
