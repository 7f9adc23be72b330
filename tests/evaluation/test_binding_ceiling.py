"""The ceiling that binds is chosen for every configuration, named, and doubted where a kernel exceeds it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kfp import _core, machine
from kfp.compiling import Compilation, compile_source
from kfp.limits import Limits
from kfp.results import Ceiling, Ceilings, ConfigurationResult
from kfp.running import run_configuration
from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.tasks.base import Configuration

TASK = get_task("modmul_montgomery")
ONE_ROUND, MANY_ROUNDS = (
    Configuration(f"{rounds} rounds", {"N": 4096, "modulus": 2**64 - 59, "rounds": rounds, "law": 0}, scale="small")
    for rounds in (1, 64)
)


@pytest.fixture(scope="module")
def compiled() -> Iterator[tuple[_core.Worker, Compilation]]:
    device = machine.resolve("cpu")
    with machine.open_worker(device, Limits()) as worker:
        yield worker, compile_source(worker, device, seed_source(TASK), math="fast")


def result(
    compiled: tuple[_core.Worker, Compilation], configuration: Configuration, *limits: Ceiling, invalid: str = ""
) -> ConfigurationResult:
    worker, compilation = compiled
    assert compilation.library is not None
    ceilings = Ceilings("cpu", "", "", limits, 1e-6, (invalid,) if invalid else ())
    return run_configuration(
        worker, compilation.library, compilation.kernels, TASK, configuration, ceilings,
        checked=False, progress=lambda stage: None,
    ).result  # fmt: skip


def test_the_tighter_ceiling_binds(compiled: tuple[_core.Worker, Compilation]) -> None:
    """At 24 bytes a chain and as many bytes a second as 240 products, ten rounds divide memory from arithmetic."""
    limits = Ceiling("dram", 240e12, "a figure"), Ceiling("u64_multiply", 100e12, "another")
    memory, arithmetic = (result(compiled, configuration, *limits) for configuration in (ONE_ROUND, MANY_ROUNDS))
    assert (memory.unit, memory.ceiling, memory.ceiling_source) == ("GB/s", 240e3, "dram, a figure")
    assert (arithmetic.unit, arithmetic.ceiling) == ("Gop/s", 100e3)
    assert arithmetic.ceiling_source == "u64_multiply, another"
    assert arithmetic.timing is not None
    assert arithmetic.achieved == pytest.approx(64 * 4096 / arithmetic.timing.seconds / 1e9)
    assert arithmetic.fraction == pytest.approx(64 * 4096 / arithmetic.timing.seconds / 100e12)
    assert not any("suspect" in flag for flag in memory.flags + arithmetic.flags)


def test_more_than_the_ceiling_is_suspect(compiled: tuple[_core.Worker, Compilation]) -> None:
    row = result(compiled, MANY_ROUNDS, Ceiling("dram", 1e15, "a figure"), Ceiling("u64_multiply", 1e3, "another"))
    assert row.correct
    assert row.fraction is not None
    assert row.fraction > 1.05
    assert any(flag.startswith("suspect: ") for flag in row.flags)


def test_a_ceiling_without_a_figure_is_explained(compiled: tuple[_core.Worker, Compilation]) -> None:
    reason = "probe u64_multiply is invalid: loop: twice the work took 1.00 times as long"
    row = result(compiled, MANY_ROUNDS, Ceiling("dram", 1e15, "a figure"), invalid=reason)
    assert row.correct
    assert (row.fraction, row.ceiling) == (None, None)
    assert f"no ceiling: {reason}" in row.flags
