"""What the tasks of the suite share: values that break wrong arithmetic, and a check of every bit."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from kfp.tasks.base import Array, Arrays, Check
from kfp.tasks.zk.fields import Words, words

METRIC = "wrong elements"

# How the elements of an input are spread over the field; a configuration names one by its index here.
LAWS = ("uniform", "edges", "small", "constant", "near the modulus", "sparse", "blocks", "cancelling")
# Those that are most unlike the uniform one.
DATA_LAWS = tuple(LAWS.index(name) for name in ("small", "sparse", "near the modulus", "edges"))

# Sentences that several briefs share.
GOLDILOCKS_TEXT = "Elements of the Goldilocks field are integers modulo p = 2^64 - 2^32 + 1, canonical: 0 to p - 1."
EXACT_TEXT = (
    "Right: every output element has the expected bits; a value that is right modulo p but not canonical is wrong."
)
EDGES_TEXT = "Inputs may be any canonical values, 0, 1, p - 1 and those around 2^32 among them."

# One in so many elements of a uniform input is an edge value instead.
_EDGE_EVERY = 8


def edge_values(modulus: int) -> Words:
    """The canonical values at which carries, borrows and final subtractions go wrong, in increasing order."""
    bits = modulus.bit_length()
    candidates = {0, 1, 2, modulus - 1, modulus - 2, modulus // 2, modulus // 2 + 1}
    for shift in (8, 16, 31, 32, 33, 63, bits - 1, bits // 2):
        candidates |= {(1 << shift) - 1, 1 << shift, (1 << shift) + 1, modulus - (1 << shift)}
    for limbs in (0xFFFFFFFF, 0xFFFFFFFF00000000, 0xFFFFFFFFFFFFFFFF, 0xFFFFFFFE00000001, 0xFFFFFFFE):
        # Limbs of all ones, or the largest canonical value where that isn't one.
        candidates.add(min(limbs, modulus - 1))
    return words(sorted(value for value in candidates if 0 <= value < modulus))


def elements(rng: np.random.Generator, shape: int | tuple[int, ...], modulus: int, law: int = 0) -> Words:
    """Canonical values below ``modulus`` (at most 2^64); edge values are among them whatever the law."""
    count = int(np.prod(shape, dtype=np.int64))
    return _spread(rng, count, modulus, LAWS[law]).reshape(shape)


def _spread(rng: np.random.Generator, count: int, modulus: int, law: str) -> Words:
    few = min(modulus, 1 << 16)
    values: Words
    if law == "edges":
        return _edges(rng, count, modulus)
    if law == "constant":
        one = (_below(rng, 1, modulus), _below(rng, 1, few), _edges(rng, 1, modulus))[int(rng.integers(3))]
        return np.repeat(one, count)
    if law == "cancelling":
        # The second half is the first one with the other sign, so that sums are the modulus before they are reduced.
        half = _spread(rng, -(-count // 2), modulus, "uniform")
        return np.concatenate([half, np.where(half == 0, half, np.uint64(modulus - 1) - half + np.uint64(1))])[:count]
    if law == "small":
        values = _below(rng, count, few)
    elif law == "near the modulus":
        values = np.uint64(modulus - 1) - _below(rng, count, few)
    elif law == "sparse":
        values = np.where(rng.random(count) < 0.9, np.uint64(0), _below(rng, count, modulus))
    elif law == "blocks":
        # Runs of one value: a kernel that mixes up neighbours in a small window still differs at the seams.
        values = np.repeat(_below(rng, -(-count // 8), modulus), 8)[:count]
    else:
        values = _below(rng, count, modulus)
    chosen = rng.integers(0, count, -(-count // _EDGE_EVERY))
    values[chosen] = _edges(rng, chosen.size, modulus)
    return values


def _edges(rng: np.random.Generator, count: int, modulus: int) -> Words:
    edges = edge_values(modulus)
    return edges[rng.integers(0, edges.size, count)]


def _below(rng: np.random.Generator, count: int, modulus: int) -> Words:
    return rng.integers(0, modulus - 1, count, dtype=np.uint64, endpoint=True)


def draw_law(rng: np.random.Generator) -> int:
    """A law of the data: uniform half of the time."""
    return 0 if rng.random() < 0.5 else int(rng.integers(1, len(LAWS)))


def draw_seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1, 1 << 31))


def draw_odd(rng: np.random.Generator, low: int, high: int) -> int:
    """An odd number of [low, high]: no multiple of a threadgroup, no power of two."""
    return int(rng.integers(low // 2, (high - 1) // 2 + 1)) * 2 + 1


def exact_check(outputs: Arrays, expected: Arrays, names: Sequence[str], modulus: int | None = None) -> Check:
    """Every element of every named output has the expected bits; ``error`` counts those that have not.

    With a ``modulus`` a value that is right but not canonical is named as such.
    """
    count, detail, total = 0, "", 0
    for name in names:
        output, right = outputs[name], expected[name]
        if output.shape != right.shape or output.dtype != right.dtype:
            detail = f"{name}: expected {right.dtype}{list(right.shape)}, got {output.dtype}{list(output.shape)}"
            return Check(False, float("inf"), 0.0, METRIC, detail)
        wrong = output != right
        total += right.size
        here = int(np.count_nonzero(wrong))
        if here and not count:
            detail = _difference(name, output, right, wrong, modulus)
        count += here
    if count:
        detail = f"{count} of {total} elements differ; first {detail}"
    return Check(count == 0, float(count), 0.0, METRIC, detail)


def _difference(name: str, output: Array, right: Array, wrong: Array, modulus: int | None) -> str:
    index = np.unravel_index(int(np.argmax(wrong)), right.shape)
    where = ", ".join(str(int(i)) for i in index)
    got, wanted = int(output[index]), int(right[index])
    text = f"at {name}[{where}]: expected {wanted:#x}, got {got:#x}"
    if modulus is not None and got >= modulus:
        same = (got - wanted) % modulus == 0
        text += f", which is not canonical{' (the right residue class)' if same else ''}"
    return text


def bit_reversed(bits: int) -> npt.NDArray[np.int64]:
    """The numbers 0 to 2^bits - 1 with their bits in reverse."""
    order = np.zeros(1, np.int64)
    for _ in range(bits):
        order = np.concatenate([2 * order, 2 * order + 1])
    return order


def is_prime(n: int) -> bool:
    """Miller and Rabin's test with bases that leave no doubt below 2^64, as good as sure above."""
    if n < 2:
        return False
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
    if any(n % base == 0 for base in bases):
        return n in bases
    twos = ((n - 1) & (1 - n)).bit_length() - 1
    for base in bases:
        x = pow(base, (n - 1) >> twos, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True
