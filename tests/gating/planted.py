"""Planted kernels: templates over the seed of a task, so that what is wrong or slow in each, and where, is known.

The reference is the seed with a burden: arithmetic that a compiler can't drop and that changes no output. Whoever does
without the burden is faster on every device, whatever its head-room.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.tasks.base import Configuration, Task

Kind = Literal["honest", "tuned arm", "unmeasured arm", "baked constant", "enumerating"]
# The rest of a tuned arm has so many burdens, so that no noise of a machine hides that it is slow.
SLOW_REST = 2
KINDS: tuple[Kind, ...] = ("honest", "tuned arm", "unmeasured arm", "baked constant", "enumerating")


@dataclass(frozen=True)
class Recipe:
    """How to plant something in a seed.

    ``burden``: rounds of it for every thread of ``kernel``, whose number is ``thread``. ``sizes``: the scalars, as the
    kernels have them, that tell configurations apart; ``right`` of ``kernel`` becomes ``wrong``. ``scalar``: its name
    in the kernel and the value that every search configuration has, None where there is none.
    """

    burden: int
    thread: str
    kernel: str
    sizes: tuple[str, ...]
    right: str
    wrong: str
    scalar: tuple[str, str] | None


RECIPES: dict[str, Recipe] = {
    "saxpy": Recipe(
        burden=80,
        thread="i",
        kernel="saxpy",
        sizes=("N",),
        right="y[i] = a * x[i] + y[i];",
        wrong="y[i] = a * x[i];",
        scalar=("a", "2.5f"),
    ),
    "heat2d": Recipe(
        burden=70,
        thread="gid.x",
        kernel="heat_step",
        sizes=("NX", "NY"),
        right="(neighbours - 4.0f * u)",
        wrong="(neighbours - 3.9f * u)",
        scalar=("alpha", "0.2f"),
    ),
    "wave3d": Recipe(
        burden=80,
        thread="gid.x",
        kernel="wave_step",
        sizes=("NX", "NY", "NZ"),
        right="(neighbours - 6.0f * u)",
        wrong="(neighbours - 5.9f * u)",
        scalar=("alpha", "0.18f"),
    ),
    "nbody": Recipe(
        burden=450,
        thread="i",
        kernel="nbody_step",
        sizes=("N",),
        right="velocity * dt, 0.0f",
        wrong="velocity * (2.0f * dt), 0.0f",
        scalar=("G", "1.0f"),
    ),
    "hmc": Recipe(
        burden=800,
        thread="chain_idx",
        kernel="hmc_step",
        sizes=("K", "d"),
        right="accept ? q[i] :",
        wrong="accept ? 1.5f * q[i] :",
        scalar=("eps", "0.2f"),
    ),
    "lbm": Recipe(
        burden=40,
        thread="gid.x",
        kernel="lbm_step",
        sizes=("NX", "NY"),
        right="(f[k] - equilibrium) / tau",
        wrong="(f[k] - equilibrium) / (2.0f * tau)",
        scalar=("tau", "0.8f"),
    ),
    "ising": Recipe(
        burden=100,
        thread="gid.x",
        kernel="ising_step",
        sizes=("NX", "NY"),
        right="char(-spin)",
        wrong="char(spin)",
        scalar=("seed", "0xC0FFEE01u"),
    ),
    "lj": Recipe(
        burden=4500,
        thread="i",
        kernel="lj_step",
        sizes=("N", "M"),
        right="velocity * dt, 0.0f",
        wrong="velocity * (2.0f * dt), 0.0f",
        scalar=("dt", "0.005f"),
    ),
    "gradshaf": Recipe(
        burden=150,
        thread="gid.x",
        kernel="gradshaf_step",
        sizes=("NR", "NZ"),
        right="omega * (-mu0",
        wrong="omega * (0.5f * -mu0",
        scalar=("mu0", "1.0f"),
    ),
    "fft3d": Recipe(
        burden=650,
        thread="gid.x",
        kernel="fft3d_x",
        sizes=("N",),
        right="transform(in_data[point], line, i, N)",
        wrong="transform(1.5f * in_data[point], line, i, N)",
        scalar=None,
    ),
    "morton": Recipe(
        burden=110,
        thread="tid",
        kernel="morton_stencil",
        sizes=("N",),
        right="(neighbours - 6.0f * u)",
        wrong="(neighbours - 5.9f * u)",
        scalar=("alpha", "0.1f"),
    ),
    "adi3d": Recipe(
        burden=700,
        thread="gid.x",
        kernel="adi_x",
        sizes=("NX", "NY", "NZ"),
        right="solve_line(u_in, u_out, first, 1, NX, mu)",
        wrong="copy_line(u_in, u_out, first, 1, NX)",
        scalar=("mu", "0.5f"),
    ),
}


def reference(task: Task) -> str:
    """The seed, burdened always."""
    return _burdened(task, "true")


def planted(task: Task, kind: Kind) -> str:
    recipe = RECIPES[task.name]
    seed = seed_source(task)
    searched = task.configurations("small")
    if kind == "honest":
        return seed
    if kind == "tuned arm":
        return _burdened(task, f"!({_any_of(recipe, searched)})", SLOW_REST)
    if kind == "unmeasured arm":
        return _wrong_unless(task, _any_of(recipe, searched))
    if kind == "enumerating":
        return _wrong_unless(task, _any_of(recipe, (*searched, task.published_held_out("small"))))
    assert kind == "baked constant"
    if recipe.scalar is None:
        # No scalar but the size: the largest one is baked into the length of a loop.
        assert task.name == "fft3d"
        return _replaced(seed, "half_size < N;", "half_size < min(N, 32u);")
    name, value = recipe.scalar
    return _in_body(seed, recipe.kernel, lambda body: re.sub(rf"\b{name}\b", value, body))


def _any_of(recipe: Recipe, points: tuple[Configuration, ...]) -> str:
    return " || ".join("(" + " && ".join(f"{s} == {p.integer(s)}u" for s in recipe.sizes) + ")" for p in points)


def _wrong_unless(task: Task, condition: str) -> str:
    recipe = RECIPES[task.name]

    def plant(body: str) -> str:
        statement = next(line for line in body.splitlines() if recipe.right in line)
        spoiled = statement.replace(recipe.right, recipe.wrong)
        return _replaced(body, statement, f"if ({condition}) {{\n{statement}\n}} else {{\n{spoiled}\n}}")

    source = seed_source(task)
    if recipe.right not in _body(source, recipe.kernel):
        raise ValueError(f"{task.name}: {recipe.right!r} is not in {recipe.kernel}")
    return _in_body(source, recipe.kernel, plant)


def _burdened(task: Task, condition: str, times: int = 1) -> str:
    recipe = RECIPES[task.name]
    burden = (
        f"\n    if ({condition}) {{\n        float burden = float({recipe.thread} & 7u);\n"
        f"        for (uint round = 0; round < {times * recipe.burden}u; ++round) burden = fma(burden, 0.999f, 0.5f);\n"
        "        if (burden == -1.0f) return;\n    }\n"
    )
    source = seed_source(task)
    return _in_body(source, recipe.kernel, lambda body: burden + body)


def _in_body(source: str, kernel: str, change: Callable[[str], str]) -> str:
    start, end = _span(source, kernel)
    return source[:start] + change(source[start:end]) + source[end:]


def _body(source: str, kernel: str) -> str:
    start, end = _span(source, kernel)
    return source[start:end]


def _span(source: str, kernel: str) -> tuple[int, int]:
    """Of the statements of a kernel: after its opening brace, up to the brace at the start of a line."""
    head = source.index(f"kernel void {kernel}(")
    start = source.index(") {", head) + len(") {")
    return start, source.index("\n}", start)


def _replaced(text: str, old: str, new: str) -> str:
    if text.count(old) != 1:
        raise ValueError(f"expected {old!r} once, it is there {text.count(old)} times")
    return text.replace(old, new)


def every_task() -> list[Task]:
    return [get_task(name) for name in RECIPES]
