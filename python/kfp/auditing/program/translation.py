"""A candidate's intermediate code, got from the confined compiler and read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from kfp import _core, bridge, machine
from kfp.auditing.program.instructions import Instruction
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

    @cached_property
    def comparisons(self) -> list[tuple[int, Instruction]]:
        """All comparisons of the user's own text, with the token of each. Raises ``NoTranslation``."""
        found = []
        for function in self.program.functions.values():
            for one in function.instructions():
                token = next(self.map.frames(self.program, one.place), None) if one.opcode in ("icmp", "fcmp") else None
                if token is not None:
                    found.append((token, one))
        return found

    @cached_property
    def apart(self) -> dict[str, str]:
        """The functions that were called from too many places to be put in line, with their ``function_texts``. Raises
        ``NoTranslation``.
        """
        names = [name for name in self.inlined.functions if not name.startswith("__kfp_")]
        return {name: self.function_texts.get(name, "") for name in names}

    @cached_property
    def function_texts(self) -> dict[str, str]:
        """Of every function of the program, without what differs between two programs that have the same one. Raises
        ``NoTranslation``.
        """
        lines = self.text.split("\n")
        found = {}
        for name, function in self.program.functions.items():
            last = lines.index("}", function.first_line)
            found[name] = "\n".join(_NUMBERED.sub("", line) for line in lines[function.first_line : last])
        return found

    @cached_property
    def bodies(self) -> dict[str, range]:
        """By name, the tokens between the braces of the program's helper functions."""
        tokens = self.map.tokens
        others = {kernel.name for kernel in self.kernels} | _STATEMENTS
        found: dict[str, range] = {}
        for index, token in enumerate(tokens[:-1]):
            is_name = token.text[:1].isalpha() or token.text[:1] == "_"
            if is_name and tokens[index + 1].text == "(" and token.text not in found and token.text not in others:
                opening = _behind(tokens, index + 1, "(", ")")
                while opening < len(tokens) and tokens[opening].text in ("const", "thread", "device", "constant"):
                    opening += 1
                if opening < len(tokens) and tokens[opening].text == "{":
                    found[token.text] = range(opening, _behind(tokens, opening, "{", "}"))
        return found


# References to attributes and places, which are numbered through.
_NUMBERED = re.compile(r",? ![\w.]+ !\d+|,? !\w+ !\d+| #\d+")
_STATEMENTS = frozenset(("if", "for", "while", "switch", "catch", "return"))


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


def _behind(tokens: Sequence[Token], index: int, opening: str, closing: str) -> int:
    depth = 0
    while index < len(tokens):
        depth += (tokens[index].text == opening) - (tokens[index].text == closing)
        index += 1
        if depth == 0:
            break
    return index
