"""A task whose held-out values are like nothing else, and a search for them: where one is found, it has leaked."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import numpy as np
from kfp.plan import Dispatch, Plan, given, linear
from kfp.tasks.base import (
    Argument,
    Arrays,
    Check,
    Configuration,
    Demand,
    Kernel,
    Origin,
    Range,
    Scale,
    Task,
    contract,
    max_abs_check,
)

FILE = Path(__file__)
SEED = FILE.with_name("planted.metal")
NAME = f"{FILE}:Planted"
WORD = "zqcanary"


class Planted(Task):
    """y += a x, some times over."""

    name, suite, title = "planted", "mine", "y += a x, again and again"
    regime, unit = "bandwidth", "GB/s"
    kernels = (
        Kernel(
            "planted",
            (
                Argument(0, "x", "float", "read"),
                Argument(1, "y", "float", "read_write"),
                Argument(2, "a", "float", "constant"),
                Argument(3, "N", "uint", "constant"),
            ),
            (64, 1, 1),
            inputs=("uint i [[thread_position_in_grid]]",),
            idle_threads=True,
        ),
    )
    ranges = (
        Range("N", 1, 2**20, "number of elements"),
        Range("steps", 1, 64, "how often it is done"),
        Range("a", -100, 100, "the factor", step=0),
    )
    free_sizes = ("N",)
    brief = contract("y[i] = a * x[i] + y[i] for i < N, `steps` times over; one thread per element.", kernels, ranges)

    def configurations(self, scale: Scale) -> tuple[Configuration, ...]:
        return (_point(2**14, 4, 0.5), _point(2**16, 8, 0.5))

    def published_held_out(self, scale: Scale) -> Configuration:
        return _point(61_357, 11, 0.583917, "published_held_out", f"{WORD}: ")

    def draw(self, rng: np.random.Generator, scale: Scale) -> Configuration:
        a = round(float(rng.uniform(0.6, 0.9)), 5) + 1e-6
        return _point(int(rng.integers(61_500, 65_000)), int(rng.integers(9, 14)), round(a, 6), "drawn")

    def inputs(self, configuration: Configuration) -> dict[str, np.ndarray]:
        rng = np.random.default_rng(configuration.seed)
        return {name: rng.random(configuration.integer("N"), dtype=np.float32) for name in ("x", "y")}

    def plan(self, configuration: Configuration, inputs: Arrays, caps: Mapping[str, int]) -> Plan:
        n = configuration.integer("N")
        arguments = {0: "x", 1: "y", 2: np.float32(configuration.real("a")), 3: np.uint32(n)}
        once = Dispatch("planted", arguments, *linear(n, 64, caps["planted"]))
        return Plan(
            (given("x", inputs["x"]), given("y", inputs["y"], "state")),
            (once,) * configuration.integer("steps"),
            {"y": "y"},
        )

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, np.ndarray]:
        factor = configuration.integer("steps") * float(np.float32(configuration.real("a")))
        return {"y": factor * inputs["x"].astype(np.float64) + inputs["y"]}

    def check(self, configuration: Configuration, inputs: Arrays, outputs: Arrays, expected: Arrays) -> Check:
        return max_abs_check(outputs["y"], expected["y"], 0.0, 1e-5)

    def demands(self, configuration: Configuration, expected: Arrays) -> tuple[Demand, ...]:
        return (Demand("dram", 12.0 * configuration.integer("N") * configuration.integer("steps")),)


class Faulty(Planted):
    """Its reference can't be computed while ``PLANTED_FAULT`` says why."""

    def reference(self, configuration: Configuration, inputs: Arrays) -> dict[str, np.ndarray]:
        if why := os.environ.get("PLANTED_FAULT"):
            raise RuntimeError(why)
        return super().reference(configuration, inputs)


def _point(n: int, steps: int, a: float, origin: Origin = "in_distribution", word: str = "") -> Configuration:
    parameters = {"N": n, "steps": steps, "a": a}
    return Configuration(f"{word}N={n}, {steps} steps, a={a:g}", parameters, origin)


def needles(points: Iterable[Configuration]) -> list[bytes]:
    """Patterns of what gives a configuration away: its label's word, its literal in digits and in bits, its sizes and
    step counts by their names.
    """
    found = [rb"(?i)" + WORD.encode()]
    for point in points:
        n, steps, a = point.integer("N"), point.integer("steps"), point.real("a")
        literals = [f"{a:.6f}".partition(".")[2].encode(), np.float32(a).tobytes(), np.float64(a).tobytes()]
        literals += [np.float32(a).view(np.uint32).item().to_bytes(4, "big"), float(a).hex().encode()]
        found += [re.escape(literal) for literal in literals]
        found.append(rb"(?<!\w)N\W{1,4}%d(?!\d)" % n)
        found.append(rb"(?<![\w.])%d[ -]steps?(?!\w)|(?<!\w)steps\W{1,4}%d(?!\d)" % (steps, steps))
    return found


def leaks(patterns: Iterable[bytes], *places: Path | bytes, ignoring: bytes = b"") -> list[str]:
    """Where one of the patterns is found: every byte of every file below the places, of archives what is in them.

    ``ignoring``: words that a model wrote itself, which are in every database.
    """
    compiled = [re.compile(pattern) for pattern in patterns]
    found = []
    for place in places:
        for name, data in _contents(place):
            kept = data.replace(ignoring, b"") if ignoring else data
            found += [f"{name}: {match[0]!r}" for pattern in compiled for match in pattern.finditer(kept)]
    return found


def _contents(place: Path | bytes) -> Iterator[tuple[str, bytes]]:
    if isinstance(place, bytes):
        yield "bytes", place
        return
    for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if not path.is_file():
            continue
        yield str(path), str(path).encode() + b"\n" + path.read_bytes()
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for member in archive.namelist():
                    yield f"{path}, {member}", archive.read(member)
