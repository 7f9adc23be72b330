"""What a sweep is: a product of tasks, models, replicates, devices and arms, each point of which is a unit."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from kfp.records import Record
from kfp.results import Math
from kfp.runs.records import Strategy
from kfp.tasks.base import Scale

DEFAULT_LEASE_S = 60.0
DEFAULT_ATTEMPTS = 3
KEY_DIGITS = 16


@dataclass(frozen=True, eq=False)
class SearchOptions(Record):
    """Options of ``kfp.evolve`` that an arm, or all of a sweep, may set; None: left to ``kfp.evolve``."""

    iterations: int | None = None
    scale: Scale | None = None
    math: Math | None = None
    strategy: Strategy | None = None
    candidates: int | None = None
    disclose: bool | None = None
    selection_draws: int | None = None
    budget_usd: float | None = None
    budget_tokens: int | None = None
    max_tokens: int | None = None
    call_seconds: float | None = None
    effort: str | None = None
    start: str | None = None

    @property
    def given(self) -> dict[str, Any]:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in values.items() if value is not None}

    def over(self, other: SearchOptions) -> SearchOptions:
        """These options, and where they say nothing the other ones."""
        return SearchOptions(**{**other.given, **self.given})


@dataclass(frozen=True, eq=False)
class Arm(Record):
    """A way to search that is compared with the other arms. The name is for people."""

    name: str
    options: SearchOptions


@dataclass(frozen=True, eq=False)
class Unit(Record):
    """One point of the product: one run of the search. ``seed`` is the same for all models, devices and arms, so that
    they are compared on the same inputs. ``sources``: SHA-256 of the files that it names. ``base``: the folder that
    relative paths begin at.
    """

    task: str
    model: str
    replicate: int
    seed: int
    device: str
    arm: str
    options: SearchOptions
    sources: tuple[str, ...]
    base: str
    deadline_s: float | None
    lease_s: float
    attempts: int

    @property
    def key(self) -> str:
        """Of all that decides its result: the first 16 hexadecimal digits of the SHA-256 of its canonical JSON."""
        decisive = {
            "task": self.task,
            "model": self.model,
            "replicate": self.replicate,
            "seed": self.seed,
            "device": self.device,
            "options": self.options.given,
            "sources": list(self.sources),
        }
        return digest(decisive)[:KEY_DIGITS]

    @property
    def name(self) -> str:
        """What tells it from the other units, for people."""
        parts = [self.task, self.model, self.arm, self.device if self.device != "auto" else "", f"#{self.replicate}"]
        return " ".join(part for part in parts if part)


@dataclass(frozen=True, eq=False)
class Spec(Record):
    """A sweep as it was asked for. ``dask`` and ``slurm`` are for the executor of that name, as JSON."""

    name: str
    out: str
    base: str
    seed: int
    tasks: tuple[str, ...]
    models: tuple[str, ...]
    replicates: int
    devices: tuple[str, ...]
    arms: tuple[Arm, ...]
    options: SearchOptions
    sources: Mapping[str, str]
    deadline_s: float | None
    lease_s: float
    attempts: int
    jobs: int | None
    dask_json: str
    slurm_json: str

    @property
    def dask(self) -> dict[str, Any]:
        return dict(json.loads(self.dask_json))

    @property
    def slurm(self) -> dict[str, Any]:
        return dict(json.loads(self.slurm_json))

    @property
    def units(self) -> tuple[Unit, ...]:
        """The product, replicates outermost: whoever stops early has some of everything."""
        return tuple(
            self._unit(task, model, replicate, device, arm)
            for replicate in range(1, self.replicates + 1)
            for task in self.tasks
            for model in self.models
            for device in self.devices
            for arm in self.arms
        )

    def _unit(self, task: str, model: str, replicate: int, device: str, arm: Arm) -> Unit:
        options = arm.options.over(self.options)
        named = [name for name in (task, options.start) if name is not None and name in self.sources]
        return Unit(
            task=task,
            model=model,
            replicate=replicate,
            seed=int(digest([self.seed, task, replicate])[:8], 16),
            device=device,
            arm=arm.name,
            options=options,
            sources=tuple(self.sources[name] for name in named),
            base=self.base,
            deadline_s=self.deadline_s,
            lease_s=self.lease_s,
            attempts=self.attempts,
        )


def digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def shard_of(units: tuple[Unit, ...], shard: tuple[int, int] | None) -> tuple[Unit, ...]:
    """Part i of n, by the units' keys: a unit stays in its part when the spec grows."""
    if shard is None:
        return units
    number, of = shard
    return tuple(unit for unit in units if int(unit.key, 16) % of == number - 1)


def out_folder(spec: Spec, out: str | Path | None) -> Path:
    """What was asked for, else what the spec says (from its own folder on), else a folder beside the runs."""
    from kfp.runs.index import runs_folder

    if out is not None:
        return Path(out).expanduser().absolute()
    if spec.out:
        return Path(spec.base, Path(spec.out).expanduser()).absolute()
    slug = "".join(c if c.isalnum() or c in "-_" else "-" for c in spec.name)[:40]
    return runs_folder() / "sweeps" / f"{slug}-{digest(spec.name)[:8]}"
