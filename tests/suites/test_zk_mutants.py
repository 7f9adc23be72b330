"""Drawn configurations find one-line faults of the seeds within a few draws."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from kfp import machine
from kfp.compiling import compile_source
from kfp.limits import Limits
from kfp.running import run_configuration
from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.tasks.base import Configuration
from zk_mutants import FAULTS, Fault

DRAWS = 64
QUICK = 2


@cache
def draws(task: str) -> list[Configuration]:
    rng = np.random.default_rng(2026)
    return [get_task(task).draw(rng, "small") for _ in range(DRAWS)]


def draws_to_catch(task_name: str, faults: Sequence[Fault]) -> dict[str, int | None]:
    """Of every fault the number of the first drawn configuration that is not right, None if all are."""
    task = get_task(task_name)
    seed = seed_source(task)
    device = machine.resolve("cpu")
    caught: dict[str, int | None] = {}
    with machine.open_worker(device, Limits()) as worker:
        compiled = {}
        for what, text, fault in faults:
            assert text in seed, f"{what}: the seed has no {text!r}"
            assert text != fault
            compilation = compile_source(worker, device, seed.replace(text, fault, 1), math="fast")
            assert compilation.library is not None, f"{what}: {compilation.reason}"
            compiled[what] = compilation.library, compilation.kernels
        for what, (library, kernels) in compiled.items():
            caught[what] = None
            for number, configuration in enumerate(draws(task_name), 1):
                run = run_configuration(
                    worker, library, kernels, task, configuration, None, checked=False, progress=lambda stage: None
                )
                if run.verdict != "right":
                    assert run.verdict == "wrong", f"{what}: {run.result.detail}"
                    caught[what] = number
                    break
    return caught


def missed(caught: dict[str, int | None]) -> list[str]:
    return [what for what, number in caught.items() if number is None]


@pytest.mark.parametrize("task", FAULTS)
def test_there_are_at_least_eight_faults(task: str) -> None:
    assert len({(text, fault) for _, text, fault in FAULTS[task]}) == len(FAULTS[task]) >= 8


@pytest.mark.parametrize("task", FAULTS)
def test_the_faults_that_random_data_miss(task: str) -> None:
    assert not missed(draws_to_catch(task, FAULTS[task][:QUICK]))


@pytest.mark.full
@pytest.mark.parametrize("task", FAULTS)
def test_every_fault(task: str) -> None:
    assert not missed(draws_to_catch(task, FAULTS[task]))
