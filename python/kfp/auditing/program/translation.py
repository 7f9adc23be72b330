"""A candidate's intermediate code, got from the confined compiler and read."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

from kfp import _core, bridge, machine
from kfp.auditing.program.module import Module, Unreadable, read_module
from kfp.auditing.program.source_map import Origin, SourceMap, Token
from kfp.compiling import clipped, failure_reason
from kfp.errors import Error
from kfp.gating.trials import Bench
from kfp.results import KernelSignature

# The device whose compiler's intermediate code can be had, whatever the device that is audited.
DEVICE = "cpu"


class NoTranslation(Error):
    """There is no intermediate code of this source here; the message says why."""


@dataclass(frozen=True)
class Translation:
    """``program`` as written, function by function, ``text`` its text; ``inlined`` with one function per kernel."""

    source: str
    kernels: tuple[KernelSignature, ...]
    text: str
    inlined: Module
    map: SourceMap
    threadgroup_arrays: tuple[tuple[int | None, int], ...]

    @cached_property
    def program(self) -> Module:
        """Raises ``NoTranslation``."""
        return _read(self.text)


@lru_cache(maxsize=6)
def translate(bench: Bench, source: str) -> Translation:
    """Raises ``NoTranslation``, whatever the source does."""
    try:
        device = machine.resolve(DEVICE)
        with machine.open_worker(device, bench.limits) as worker:
            made = worker.intermediate(source, math=bench.math)
    except _core.WorkerFailure as failure:
        raise NoTranslation(failure_reason(failure)) from failure
    except (_core.Error, Error) as error:
        raise NoTranslation(clipped(str(error))) from error
    return read_translation(source, made)


def read_translation(source: str, made: _core.Intermediate) -> Translation:
    """Raises ``NoTranslation``."""
    if not made.report.compile_ok:
        errors = [d for d in bridge.diagnostics(made.report) if d.severity == "error"]
        raise NoTranslation(f"it doesn't compile: {errors[0].message}" if errors else "it doesn't compile")
    if made.reason:
        raise NoTranslation(made.reason)
    source_map = SourceMap(
        [Token(*token) for token in made.tokens], [Origin(*origin) for origin in made.origins], made.lines
    )
    return Translation(
        source,
        bridge.kernels(made.report),
        made.program,
        _read(made.inlined),
        source_map,
        tuple(made.threadgroup_arrays),
    )


def _read(text: str) -> Module:
    try:
        return read_module(text)
    except (Unreadable, ValueError, IndexError, RecursionError) as error:
        raise NoTranslation(f"its intermediate code can't be read: {error}") from error
