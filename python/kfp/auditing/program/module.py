"""A reader of the compiler's textual intermediate code: functions, blocks, instructions, constants, places.

It reads what our compiler writes. A line that it can't make sense of becomes an instruction whose value nobody can say;
nothing that a candidate can bring about raises anything but ``Unreadable``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kfp.auditing.program.instructions import VALUE, Instruction, closing, read_instruction
from kfp.auditing.program.types import Type, Types, leading_type, split_list

# Reading takes about 10 us a line.
MAX_TEXT_BYTES = 6 << 20


class Unreadable(Exception):
    """The text is too large, or isn't the compiler's."""


@dataclass(slots=True)
class Block:
    name: str
    instructions: list[Instruction] = field(default_factory=list)

    @property
    def targets(self) -> tuple[str, ...]:
        return self.instructions[-1].labels if self.instructions and self.instructions[-1].is_terminator else ()


@dataclass(slots=True)
class Function:
    name: str
    parameters: tuple[tuple[str, str], ...]
    place: int
    first_line: int
    blocks: dict[str, Block] = field(default_factory=dict)

    def instructions(self) -> Iterator[Instruction]:
        for block in self.blocks.values():
            yield from block.instructions


@dataclass(slots=True)
class Global:
    type: str
    initializer: str
    constant: bool


@dataclass(frozen=True, slots=True)
class Place:
    """A line and column of the text that the compiler read, and the place that the code was put in line at."""

    line: int
    column: int
    scope: int
    inlined_at: int


@dataclass
class Module:
    text: str
    functions: dict[str, Function]
    globals: dict[str, Global]
    types: Types
    places: dict[int, Place]
    scopes: dict[int, tuple[int, str]]
    files: dict[int, str]

    def type(self, text: str) -> Type:
        return self.types.read(text)

    def file_of(self, scope: int) -> str:
        for _ in range(1000):
            entry = self.scopes.get(scope)
            if entry is None:
                return self.files.get(scope, "")
            scope = entry[0]
        return ""


_DEFINE = re.compile(r"define .*?@((?:\"[^\"]*\")|[\w.$-]+)\((.*)\).*\{\s*$")
_LABEL = re.compile(r"((?:\"[^\"]*\")|[\w.$-]+):")
_LOCATION = re.compile(
    r"!(\d+) = (?:distinct )?!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)(?:, inlinedAt: !(\d+))?"
)
_SCOPE = re.compile(r"!(\d+) = (?:distinct )?!DI(?:LexicalBlock|LexicalBlockFile|Subprogram)\((.*)\)$")
_FILE = re.compile(r'!(\d+) = !DIFile\(filename: "([^"]*)"')
_GLOBAL = re.compile(r"(@(?:\"[^\"]*\"|[\w.$-]+)) = (.*)$")
_NAMED_TYPE = re.compile(r"(%(?:\"[^\"]*\"|[\w.$-]+)) = type (.*)$")


def read_module(text: str) -> Module:
    """Raises ``Unreadable``."""
    if len(text) > MAX_TEXT_BYTES:
        raise Unreadable(f"{len(text)} bytes of intermediate code; at most {MAX_TEXT_BYTES} are read")
    module = Module(text, {}, {}, Types({}), {}, {}, {})
    named: dict[str, str] = {}
    function: Function | None = None
    block: Block | None = None
    for number, line in enumerate(text.split("\n")):
        if function is not None:
            if line == "}":
                function = None
            elif line.startswith("  "):
                if block is None:
                    block = function.blocks.setdefault("entry", Block("entry"))
                read = read_instruction(line.strip(), number, block.instructions)
                if read is not None:
                    block.instructions.append(read)
            elif match := _LABEL.match(line):
                block = Block(match[1].strip('"'))
                function.blocks[block.name] = block
        elif line.startswith("!"):
            _metadata(module, line)
        elif line.startswith("define "):
            function, block = _define(module, line, number), None
        elif line.startswith("@"):
            _global(module, line)
        elif line.startswith("%") and (match := _NAMED_TYPE.match(line)):
            named[match[1]] = match[2]
    module.types = Types(named)
    return module


def _define(module: Module, line: str, number: int) -> Function:
    match = _DEFINE.match(line)
    if match is None:
        raise Unreadable(f"line {number + 1} of the intermediate code: a function without a name")
    # The attribute `captures(none)` and its like bring parentheses of their own.
    head = line[match.start(2) :]
    parameters = []
    for part in split_list(head[: closing(head, 1)]):
        values = VALUE.findall(part)
        if values:
            parameters.append((values[-1], leading_type(part)[0]))
    place = re.search(r"!dbg !(\d+)", line)
    function = Function(match[1].strip('"'), tuple(parameters), int(place[1]) if place else -1, number)
    module.functions[function.name] = function
    return function


def _metadata(module: Module, line: str) -> None:
    if match := _LOCATION.match(line):
        inlined = int(match[5]) if match[5] else -1
        module.places[int(match[1])] = Place(int(match[2]), int(match[3] or 0), int(match[4]), inlined)
    elif match := _SCOPE.match(line):
        fields = dict(part.split(": ", 1) for part in split_list(match[2]) if ": " in part)
        name = fields.get("name", "").strip('"')
        up = fields.get("file") if name or "scope" not in fields else fields["scope"]
        module.scopes[int(match[1])] = (int(up[1:]) if up and up[1:].isdigit() else -1, name)
    elif match := _FILE.match(line):
        module.files[int(match[1])] = match[2]


def _global(module: Module, line: str) -> None:
    match = _GLOBAL.match(line)
    if match is None:
        return
    words = match[2]
    found = re.search(r"(?:^|\s)(constant|global) ", words)
    if found is None:
        return
    kind, value = leading_type(words[found.end() :])
    module.globals[match[1]] = Global(kind, _without_options(value), found[1] == "constant")


def _without_options(value: str) -> str:
    parts = split_list(value)
    return parts[0] if parts else ""
