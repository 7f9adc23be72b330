"""What a gate looks at: a function of its secret, of the candidate's source, and of nothing else.

The secret is committed to before a search begins and revealed after it. The source goes in too: nobody, not even who
knows the secret, can know a draw before the kernel that it is meant for exists.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kfp.errors import UsageError
from kfp.gating.variations import PLAIN, Law, Variation, laws_of, may_be_padded
from kfp.running import references
from kfp.sources import source_hash
from kfp.tasks.base import Configuration, Demand, Number, Range, Scale, Task

SECRET_BITS = 128
FEWEST_TIMED = 3
FEWEST_UNTIMED = 32
CHECKED = 4
NARROWED = 2
# An axis is far from so many times the longest measured one on, and needs at most so many times the work of the largest
# search configuration at small scale.
_FAR_FROM = 2
_FAR_WORK = 4.0

# A timed draw needs at least half the work of the smallest search configuration and at most twice that of the largest.
COMPARABLE = 2.0
_TRIES = 48


def new_seed() -> int:
    return secrets.randbits(SECRET_BITS)


def require_seed(seed: int) -> int:
    if not 0 <= seed < 1 << SECRET_BITS:
        raise UsageError(f"seed: expected a whole number of at most {SECRET_BITS} bits, got {seed}")
    return seed


def seed_text(seed: int) -> str:
    return f"0x{seed:032x}"


def commitment(seed: int) -> str:
    """What is published before a search: says nothing of the seed, and fits no other one."""
    return hashlib.sha256(f"kfp gate, commitment\n{seed_text(seed)}".encode()).hexdigest()


def randomness(seed: int, source: str, task: Task, scale: Scale, purpose: str) -> np.random.Generator:
    text = f"kfp gate, {purpose}\n{seed_text(seed)}\n{source_hash(source)}\n{task.name}\n{scale}"
    digest = hashlib.sha256(text.encode()).digest()
    return np.random.default_rng(np.random.SeedSequence(int.from_bytes(digest, "big")))


@dataclass(frozen=True)
class Drawn:
    """A configuration that was drawn, with its data and geometry; ``checked``: also in checked mode."""

    configuration: Configuration
    variation: Variation = PLAIN
    checked: bool = False


@dataclass(frozen=True)
class Draws:
    timed: tuple[Drawn, ...]
    untimed: tuple[Drawn, ...]


def draw_all(task: Task, scale: Scale, seed: int, source: str, timed: int, untimed: int) -> Draws:
    """Raises ``kfp.UsageError`` for fewer draws than a gate needs."""
    for name, count, fewest in (("draws", timed, FEWEST_TIMED), ("untimed", untimed, FEWEST_UNTIMED)):
        if count < fewest:
            raise UsageError(f"{name}: expected at least {fewest}, got {count}")
    return Draws(
        tuple(_timed(task, scale, randomness(seed, source, task, scale, "timed draws"), timed)),
        tuple(_untimed(task, randomness(seed, source, task, scale, "untimed draws"), untimed)),
    )


def _timed(task: Task, scale: Scale, rng: np.random.Generator, count: int) -> Sequence[Drawn]:
    """Own data first, then other laws: who lives off the statistics of the data shows it in the times."""
    wanted = [_work(task, point) for point in task.configurations(scale)]
    published = published_points(task, scale)
    laws = laws_of(task)
    found: list[Drawn] = []
    while len(found) < count:
        configuration = _comparable(task, scale, rng, wanted, published)
        law: Law = laws[int(rng.integers(len(laws)))] if found and laws else "own"
        # Constant or extreme data can be as light for a processor as they are rare.
        law = "own" if law in ("constant", "extremes") else law
        found.append(Drawn(_named(configuration, len(found) + 1, law), Variation(law)))
    return found


def published_points(task: Task, scale: Scale) -> set[tuple[tuple[str, Number], ...]]:
    points = (*task.configurations(scale), task.published_held_out(scale))
    return {tuple(point.parameters.items()) for point in points}


def _comparable(
    task: Task,
    scale: Scale,
    rng: np.random.Generator,
    wanted: Sequence[float],
    published: set[tuple[tuple[str, Number], ...]],
) -> Configuration:
    """The first draw whose work is comparable; of many that are not, the nearest."""
    low, high = min(wanted) / COMPARABLE, max(wanted) * COMPARABLE
    nearest: tuple[float, Configuration] | None = None
    for _ in range(_TRIES):
        configuration = task.draw(rng, scale)
        if tuple(configuration.parameters.items()) in published:
            continue
        work = _work(task, configuration)
        distance = max(low / work, work / high, 1.0)
        if distance == 1.0:
            return configuration
        if nearest is None or distance < nearest[0]:
            nearest = (distance, configuration)
    return nearest[1] if nearest is not None else task.draw(rng, scale)


def demands_of(task: Task, configuration: Configuration) -> tuple[Demand, ...]:
    """Most tasks know their demands without the reference, which takes long."""
    try:
        return task.demands(configuration, {})
    except KeyError:
        return task.demands(configuration, references.get(task, configuration)[1])


def _work(task: Task, configuration: Configuration) -> float:
    """The sum over resources of what the configuration needs; only ratios of it mean something."""
    return max(sum(demand.amount for demand in demands_of(task, configuration)), 1.0)


def _untimed(task: Task, rng: np.random.Generator, count: int) -> Sequence[Drawn]:
    """Small ones, over the whole contract: what it allows of sizes, data and geometry. Then narrower threadgroups, then
    axes far beyond the measured ones.
    """
    laws: tuple[Law, ...] = ("own", *laws_of(task))
    padded = may_be_padded(task)
    stride = count // CHECKED
    checked = {group * stride + (group + 1) % min(4, stride) for group in range(CHECKED)}
    found = []
    for number in range(count):
        configuration = task.draw(rng, "small")
        if number % 2:
            configuration = _at_the_edges(task, configuration, rng)
        law = laws[number % len(laws)]
        padding = int(rng.integers(1, 4)) if padded and number % 4 >= 2 else 0
        found.append(Drawn(_named(configuration, number + 1, law), Variation(law, padding), number in checked))
    for narrowing in range(1, NARROWED + 1):
        configuration = _named(task.draw(rng, "small"), count + narrowing, "own")
        found.append(Drawn(configuration, Variation(narrowing=narrowing)))
    for number, configuration in enumerate(_far(task, rng), start=1):
        found.append(Drawn(_named(configuration, count + NARROWED + number, "own"), checked=number == 1))
    return found


def _far(task: Task, rng: np.random.Generator) -> Iterator[Configuration]:
    """For each axis: far beyond the measured ones, the others as short as the contract allows, so that it stays small.

    A table with as many elements as the largest measured size, or an index of too few bits, is right on all that is
    near. Not for axes that make too much work even so.
    """
    measured = task.configurations("small")
    axes = [entry for entry in task.ranges if entry.name in task.free_sizes]
    most = _FAR_WORK * max(_work(task, point) for point in measured) if axes else 0.0
    for axis in axes:
        far_from = _FAR_FROM * max(point.integer(axis.name) for point in measured)
        drawn = task.draw(rng, "small")
        parameters = dict(drawn.parameters) | {entry.name: _near_the_low_end(entry, rng) for entry in axes}
        length = int(rng.integers(int(axis.high) // 2, int(axis.high), endpoint=True))
        while (length := _allowed(axis, length)) >= far_from:
            far = replace(drawn, parameters=parameters | {axis.name: length})
            if _work(task, far) <= most:
                yield task.conditioned(far)
                break
            length = length * 2 // 3


def _allowed(entry: Range, value: int) -> int:
    """The greatest value up to ``value`` that the range holds."""
    if entry.powers_of_two:
        return 1 << value.bit_length() - 1
    return value - value % (entry.step or 1)


def _near_the_low_end(entry: Range, rng: np.random.Generator) -> int:
    value = int(entry.low)
    for _ in range(int(rng.integers(0, 3))):
        value = _next_to(entry, value, up=True)
    return value


def _at_the_edges(task: Task, configuration: Configuration, rng: np.random.Generator) -> Configuration:
    """Sizes next to those that are measured, or as small as the contract allows."""
    ranges = {entry.name: entry for entry in task.ranges}
    parameters = dict(configuration.parameters)
    measured = task.configurations("small")
    for name in task.free_sizes:
        entry, choice = ranges[name], rng.random()
        if choice < 0.5:
            near = measured[int(rng.integers(len(measured)))].integer(name)
            parameters[name] = _next_to(entry, near, up=rng.random() < 0.5)
        elif choice < 0.75:
            parameters[name] = _near_the_low_end(entry, rng)
    return task.conditioned(replace(configuration, parameters=parameters))


def _next_to(entry: Range, value: int, *, up: bool) -> int:
    """The next value that the range holds, or the same at its end."""
    if entry.powers_of_two:
        other = 2 * value if up else value // 2
    else:
        other = value + entry.step if up else value - entry.step
    return min(max(other, int(entry.low)), int(entry.high))


def _named(configuration: Configuration, number: int, law: Law) -> Configuration:
    shown = ", ".join(f"{name}={value:.6g}" for name, value in configuration.parameters.items())
    data = "" if law == "own" else f", {law} data"
    return replace(configuration, label=f"draw {number}: {shown}{data}")
