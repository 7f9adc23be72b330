"""Random kernels whose lanes part and meet, against an interpreter that runs all lanes of a simdgroup in lockstep."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pytest
from kfp import _core

LANES = 32
Mask: TypeAlias = npt.NDArray[np.bool_]
Values: TypeAlias = npt.NDArray[np.uint32]
lane = np.arange(LANES, dtype=np.uint32)


@dataclass
class Machine:
    """What every lane holds, and which lanes have left the innermost loop, its iteration, or the function."""

    acc: Values = field(default_factory=lambda: lane * np.uint32(2654435761))
    broken: Mask = field(default_factory=lambda: np.zeros(LANES, bool))
    continued: Mask = field(default_factory=lambda: np.zeros(LANES, bool))
    returned: Mask = field(default_factory=lambda: np.zeros(LANES, bool))

    def running(self, mask: Mask) -> Mask:
        return mask & ~self.broken & ~self.continued & ~self.returned


# A statement as MSL, and what it does to the lanes of a mask.
Statement: TypeAlias = tuple[str, Callable[[Machine, Mask], None]]
Condition: TypeAlias = tuple[str, Callable[[Machine], Mask]]


def together(kind: str, values: Values, mask: Mask) -> Values:
    active = values[mask]
    if kind == "sum":
        return np.full(LANES, active.sum(dtype=np.uint32))
    if kind == "max":
        return np.full(LANES, active.max())
    if kind == "count":
        return np.full(LANES, mask.sum(), dtype=np.uint32)
    exclusive = np.zeros(LANES, dtype=np.uint32)
    exclusive[mask] = np.cumsum(active, dtype=np.uint32) - active
    return exclusive


OPERATIONS = {
    "sum": "simd_sum({})",
    "max": "simd_max({})",
    "count": "uint(popcount(uint(ulong(simd_ballot(({} | 1u) != 0u)))))",
    "prefix": "simd_prefix_exclusive_sum({})",
}


class Author:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = 0
        self.helpers: list[str] = []

    def condition(self) -> Condition:
        shift, modulus = self.random.randrange(6), self.random.randrange(2, 5)
        rest, by_lane = self.random.randrange(modulus), self.random.random() < 0.5
        value = "lane" if by_lane else f"(acc >> {shift})"
        text = f"{value} % {modulus}u == {rest}u"

        def holds(m: Machine) -> Mask:
            operand = lane if by_lane else m.acc >> np.uint32(shift)
            return np.asarray(operand % np.uint32(modulus) == rest)

        return text, holds

    def operation(self) -> Statement:
        kind = self.random.choice(list(OPERATIONS))
        factor = self.random.randrange(3, 99, 2)

        def run(m: Machine, mask: Mask) -> None:
            if mask.any():
                value = m.acc * np.uint32(factor) + together(kind, m.acc & np.uint32(255), mask)
                m.acc = np.where(mask, value, m.acc)

        return f"acc = acc * {factor}u + {OPERATIONS[kind].format('(acc & 255u)')};", run

    def choice_in_expression(self) -> Statement:
        text, holds = self.condition()

        def run(m: Machine, mask: Mask) -> None:
            chosen = mask & holds(m)
            if chosen.any():
                m.acc = np.where(chosen, m.acc + together("sum", m.acc & np.uint32(15), chosen), m.acc)
            m.acc = np.where(mask & ~chosen, m.acc + np.uint32(7), m.acc)

        return f"acc += {text} ? simd_sum(acc & 15u) : 7u;", run

    def block(self, depth: int, loops: bool, size: int) -> Statement:
        statements = [self.statement(depth, loops) for _ in range(self.random.randint(1, size))]

        def run(m: Machine, mask: Mask) -> None:
            for _, each in statements:
                each(m, m.running(mask))

        return " ".join(text for text, _ in statements), run

    def branch(self, depth: int, loops: bool) -> Statement:
        text, holds = self.condition()
        guarded = self.random.random() < 0.3
        then_text, then = self.block(depth - 1, loops, 2)
        else_text, otherwise = self.block(depth - 1, loops, 2)
        with_else = self.random.random() < 0.7
        shown = f"({text}) && simd_any((acc & 1u) != 0u)" if guarded else text

        def run(m: Machine, mask: Mask) -> None:
            yes = mask & holds(m)
            if guarded and yes.any():
                yes = yes & bool(((m.acc & np.uint32(1)) != 0)[yes].any())
            then(m, yes)
            if with_else:
                otherwise(m, m.running(mask & ~yes))

        return f"if ({shown}) {{ {then_text} }}" + (f" else {{ {else_text} }}" if with_else else ""), run

    def loop(self, depth: int) -> Statement:
        self.names += 1
        name, most, least = f"i{self.names}", self.random.randrange(1, 4), self.random.randrange(0, 2)
        kind = self.random.choice(["for", "while", "do"])
        text, body = self.block(depth - 1, True, 3)

        def run(m: Machine, mask: Mask) -> None:
            trips = lane % np.uint32(most + 1) + np.uint32(least)
            outer_broken, outer_continued = m.broken, m.continued
            m.broken, m.continued = np.zeros(LANES, bool), np.zeros(LANES, bool)
            count = 0
            while True:
                now = m.running(mask) & ((count < trips) if kind != "do" or count else True)
                if not now.any():
                    break
                body(m, now)
                m.continued = np.zeros(LANES, bool)
                count += 1
            m.broken, m.continued = outer_broken, outer_continued

        trips = f"lane % {most + 1}u + {least}u"
        if kind == "for":
            return f"for (uint {name} = 0; {name} < {trips}; ++{name}) {{ {text} }}", run
        if kind == "while":
            return f"uint {name} = 0; while ({name}++ < {trips}) {{ {text} }}", run
        return f"uint {name} = 0; do {{ {text} }} while (++{name} < {trips});", run

    def leaving(self) -> Statement:
        text, holds = self.condition()
        word = self.random.choice(["break", "continue"])

        def run(m: Machine, mask: Mask) -> None:
            gone = mask & holds(m)
            if word == "break":
                m.broken = m.broken | gone
            else:
                m.continued = m.continued | gone

        return f"if ({text}) {word};", run

    def switch(self, depth: int) -> Statement:
        cases = [self.block(depth - 1, False, 2) for _ in range(3)]

        def run(m: Machine, mask: Mask) -> None:
            chosen = m.acc % np.uint32(3)
            for number, (_, each) in enumerate(cases):
                each(m, m.running(mask & (chosen == number)))

        labels = ["case 0u:", "case 1u:", "default:"]
        return "switch (acc % 3u) { " + " ".join(
            f"{label} {{ {text} }} break;" for label, (text, _) in zip(labels, cases, strict=True)
        ) + " }", run  # fmt: skip

    def call(self, depth: int) -> Statement:
        name = f"helper_{len(self.helpers)}_{self.random.randrange(10**6)}"
        early_text, early = self.block(1, False, 2)
        text, holds = self.condition()
        rest_text, rest = self.block(depth - 1, False, 2)
        self.helpers.append(
            f"static uint {name}(uint acc, uint lane) {{ "
            f"if ({text}) {{ {early_text} return acc + 1u; }} {rest_text} return acc; }}"
        )

        def run(m: Machine, mask: Mask) -> None:
            gone = mask & holds(m)
            early(m, gone)
            m.acc = np.where(gone, m.acc + np.uint32(1), m.acc)
            rest(m, m.running(mask & ~gone))

        return f"acc = {name}(acc, lane);", run

    def statement(self, depth: int, loops: bool) -> Statement:
        if depth == 0:
            return self.operation()
        chance = self.random.random()
        if chance < 0.3:
            return self.operation()
        if chance < 0.38:
            return self.choice_in_expression()
        if chance < 0.6:
            return self.branch(depth, loops)
        if chance < 0.78:
            return self.loop(depth)
        if chance < 0.86:
            return self.switch(depth)
        if chance < 0.94 or not loops:
            return self.call(depth)
        return self.leaving()


def programs(seed: int, count: int) -> tuple[str, list[Values]]:
    """The text of a library of ``count`` kernels, and what each leaves in its buffer."""
    parts = ["#include <metal_stdlib>\nusing namespace metal;"]
    expected = []
    for number in range(count):
        author = Author(seed * 1000 + number)
        text, run = author.block(4, False, 4)
        machine = Machine()
        with np.errstate(over="ignore"):
            run(machine, np.ones(LANES, bool))
        parts += author.helpers
        parts.append(
            f"kernel void k{number}(device uint* out [[buffer(0)]], uint lane [[thread_position_in_grid]]) {{ "
            f"uint acc = lane * 2654435761u; {text} out[lane] = acc + simd_sum(1u); }}"
        )
        expected.append(machine.acc + np.uint32(LANES))
    return "\n".join(parts), expected


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("checked", [False, True], ids=["plain", "checked"])
def test_random_control_flow(toolchain: _core.Toolchain, seed: int, checked: bool) -> None:
    source, expected = programs(seed, 12)
    with _core.Worker("cpu", toolchain, _core.Limits()) as worker:
        library, report = worker.compile(source, checked=checked)
        assert report.compile_ok, [d.message for d in report.diagnostics]
        wrong = []
        for number, values in enumerate(expected):
            plan = _core.Plan(
                [f"k{number}"],
                [("out", LANES * 4, "output", None)],
                [(0, [("buffer", 0, 0, 0)], (LANES, 1, 1), (LANES, 1, 1))],
            )
            execution = worker.prepare(library, plan, checked=checked, order_seed=seed)
            worker.run(execution)
            if not np.array_equal(worker.read(execution, 0).view(np.uint32), values):
                wrong.append(number)
    assert wrong == [], source.splitlines()[-1][:2000]
