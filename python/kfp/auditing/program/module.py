"""A reader of the compiler's textual intermediate code: functions, blocks, instructions, constants, places.

It reads what our compiler writes. A line that it can't make sense of becomes an instruction whose value nobody can say;
nothing that a candidate can bring about raises anything but ``Unreadable``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from kfp.auditing.program.types import Type, Types, leading_type, split_list

# Reading takes about 10 us a line.
MAX_TEXT_BYTES = 6 << 20


class Unreadable(Exception):
    """The text is too large, or isn't the compiler's."""


@dataclass(slots=True, eq=False)
class Instruction:
    """``operands`` are values as written (``%x``, ``@table``, ``42``), ``labels`` the blocks that a branch names."""

    name: str
    opcode: str
    type: str
    operands: tuple[str, ...]
    labels: tuple[str, ...]
    detail: str
    place: int
    line: int

    @property
    def is_terminator(self) -> bool:
        return self.opcode in ("br", "switch", "ret", "unreachable", "indirectbr")


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
_DBG = re.compile(r", !dbg !(\d+)")
_LABEL = re.compile(r"((?:\"[^\"]*\")|[\w.$-]+):")
_ASSIGN = re.compile(r"(%(?:\"[^\"]*\"|[\w.$-]+)) = (.*)$")
_VALUE = re.compile(r"%(?:\"[^\"]*\"|[\w.$-]+)|@(?:\"[^\"]*\"|[\w.$-]+)")
_LABEL_USE = re.compile(r"label %((?:\"[^\"]*\")|[\w.$-]+)")
_LOCATION = re.compile(
    r"!(\d+) = (?:distinct )?!DILocation\(line: (\d+)(?:, column: (\d+))?, scope: !(\d+)(?:, inlinedAt: !(\d+))?"
)
_SCOPE = re.compile(r"!(\d+) = (?:distinct )?!DI(?:LexicalBlock|LexicalBlockFile|Subprogram)\((.*)\)$")
_FILE = re.compile(r'!(\d+) = !DIFile\(filename: "([^"]*)"')
_GLOBAL = re.compile(r"(@(?:\"[^\"]*\"|[\w.$-]+)) = (.*)$")
_NAMED_TYPE = re.compile(r"(%(?:\"[^\"]*\"|[\w.$-]+)) = type (.*)$")
_FLAGS = frozenset(
    [
        "nuw",
        "nsw",
        "exact",
        "disjoint",
        "inbounds",
        "nusw",
        "nneg",
        "samesign",
        "fast",
        "nnan",
        "ninf",
        "nsz",
        "arcp",
        "contract",
        "afn",
        "reassoc",
        "volatile",
        "tail",
        "musttail",
        "notail",
        "atomic",
    ]
)


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
                read = _instruction(line.strip(), number, block)
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
    for part in split_list(head[: _closing(head, 1)]):
        values = _VALUE.findall(part)
        if values:
            parameters.append((values[-1], leading_type(part)[0]))
    place = re.search(r"!dbg !(\d+)", line)
    function = Function(match[1].strip('"'), tuple(parameters), int(place[1]) if place else -1, number)
    module.functions[function.name] = function
    return function


def _closing(text: str, depth: int) -> int:
    """Where the parentheses that are open close."""
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i
    return len(text)


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


def _instruction(text: str, number: int, block: Block) -> Instruction | None:
    if block.instructions and block.instructions[-1].opcode == "switch" and not block.instructions[-1].detail:
        _switch_case(text, block.instructions[-1])
        return None
    name = ""
    if match := _ASSIGN.match(text):
        name, text = match[1], match[2]
    place = -1
    if found := _DBG.search(text):
        place, text = int(found[1]), text[: found.start()]
    elif (at := text.find(", !")) >= 0:
        text = text[:at]
    opcode, _, rest = text.partition(" ")
    while opcode in _FLAGS:
        opcode, _, rest = rest.partition(" ")
    reader = _READERS.get(opcode)
    if opcode.startswith("#dbg") or opcode == ";":
        return None
    kind, operands, labels, detail = reader(opcode, rest) if reader else ("", tuple(_VALUE.findall(rest)), (), rest)
    return Instruction(name, opcode, kind, operands, labels, detail, place, number)


def _switch_case(text: str, switch: Instruction) -> None:
    if text.startswith("]"):
        found = _DBG.search(text)
        switch.place = int(found[1]) if found else -1
        switch.detail = "closed"
        return
    kind, rest = leading_type(text)
    value, _, _ = rest.partition(",")
    target = _LABEL_USE.search(rest)
    if kind and target:
        switch.operands = (*switch.operands, value.strip())
        switch.labels = (*switch.labels, target[1].strip('"'))


Parts = tuple[str, tuple[str, ...], tuple[str, ...], str]


def _skip_flags(text: str) -> str:
    while True:
        word, _, rest = text.partition(" ")
        if word not in _FLAGS and not word.startswith("samesign"):
            return text
        text = rest


def _typed(text: str) -> tuple[str, str]:
    """(type, value) of ``i32 noundef %x``."""
    kind, rest = leading_type(text)
    return kind, _bare(rest)


_ATTRIBUTE = re.compile(
    r"(?:noundef|nonnull|returned|signext|zeroext|inreg|noalias|readonly|writeonly|readnone|nofree|immarg|"
    r"captures\([^)]*\)|align \d+|dereferenceable(?:_or_null)?\(\d+\)|range\([^)]*\)|initializes\(.*?\)\)|"
    r"nofpclass\([^)]*\)|dead_on_unwind|writable|byval\([^)]*\)|sret\([^)]*\))\s+"
)


def _bare(text: str) -> str:
    text = text.strip()
    while match := _ATTRIBUTE.match(text):
        text = text[match.end() :]
    return text


def _binary(_: str, rest: str) -> Parts:
    kind, rest = leading_type(_skip_flags(rest))
    return kind, tuple(split_list(rest)), (), ""


def _compare(_: str, rest: str) -> Parts:
    rest = _skip_flags(rest)
    predicate, _, rest = rest.partition(" ")
    kind, rest = leading_type(rest)
    return kind, tuple(split_list(rest)), (), predicate


def _cast(_: str, rest: str) -> Parts:
    value, _, to = _skip_flags(rest).rpartition(" to ")
    kind, value = leading_type(value)
    return to.strip(), (value.strip(),), (), kind


def _unary(_: str, rest: str) -> Parts:
    kind, rest = leading_type(_skip_flags(rest))
    return kind, (rest.strip(),), (), ""


def _branch(_: str, rest: str) -> Parts:
    labels = tuple(label.strip('"') for label in _LABEL_USE.findall(rest))
    condition = split_list(rest)[0].removeprefix("i1 ") if len(labels) == 2 else ""
    return "i1", (condition,) if condition else (), labels, ""


def _switch(_: str, rest: str) -> Parts:
    head, _, tail = rest.partition("[")
    kind, value = leading_type(split_list(head)[0] if split_list(head) else "")
    labels = tuple(label.strip('"') for label in _LABEL_USE.findall(head))
    return kind, (value.strip(),), labels, "closed" if "]" in tail else ""


def _select(_: str, rest: str) -> Parts:
    parts = [_typed(part) for part in split_list(_skip_flags(rest))]
    kind = parts[1][0] if len(parts) == 3 else ""
    return kind, tuple(value for _, value in parts), (), parts[0][0] if parts else ""


def _load(_: str, rest: str) -> Parts:
    parts = split_list(_skip_flags(rest))
    pointer = _typed(parts[1])[1] if len(parts) > 1 else ""
    return parts[0] if parts else "", (pointer,), (), "volatile" if rest.startswith("volatile") else ""


def _store(_: str, rest: str) -> Parts:
    parts = [_typed(part) for part in split_list(_skip_flags(rest))[:2]]
    return parts[0][0] if parts else "", tuple(value for _, value in parts), (), ""


def _element(_: str, rest: str) -> Parts:
    while (word := rest.partition(" "))[0] in _FLAGS or word[0].startswith("inrange("):
        rest = word[2]
    parts = split_list(rest)
    operands = tuple(_typed(part)[1] for part in parts[1:])
    return "ptr", operands, (), parts[0] if parts else ""


def _phi(_: str, rest: str) -> Parts:
    kind, rest = leading_type(_skip_flags(rest))
    values, labels = [], []
    for part in split_list(rest):
        value, _, label = part.strip("[] ").rpartition(",")
        values.append(value.strip())
        labels.append(label.strip().lstrip("%").strip('"'))
    return kind, tuple(values), tuple(labels), ""


def _call(_: str, rest: str) -> Parts:
    rest = _skip_flags(rest)
    callee = re.search(r"(@(?:\"[^\"]*\"|[\w.$-]+)|%(?:\"[^\"]*\"|[\w.$-]+))\(", rest)
    if callee is None:
        return "", tuple(_VALUE.findall(rest)), (), ""
    inside = rest[callee.end() :]
    arguments = tuple(_typed(part)[1] for part in split_list(inside[: _closing(inside, 1)]))
    head = _bare(rest[: callee.start()])
    while True:
        word, _, more = head.partition(" ")
        if word in ("fastcc", "spir_func") or word.startswith("cc"):
            head = _bare(more)
        else:
            break
    return leading_type(head)[0], (*arguments,), (), callee[1]


def _aggregate(opcode: str, rest: str) -> Parts:
    parts = split_list(rest)
    typed = [_typed(part) for part in parts]
    if opcode in ("extractvalue", "insertvalue"):
        count = 1 if opcode == "extractvalue" else 2
        return typed[0][0], tuple(value for _, value in typed[:count]), (), ",".join(parts[count:])
    if opcode == "extractelement":
        element = typed[0][0].partition(" x ")[2].removesuffix(">")
        return element, tuple(value for _, value in typed), (), typed[0][0]
    return typed[0][0], tuple(value for _, value in typed), (), typed[-1][0]


def _alloca(_: str, rest: str) -> Parts:
    parts = split_list(rest)
    return "ptr", (), (), parts[0] if parts else ""


def _return(_: str, rest: str) -> Parts:
    kind, value = _typed(rest)
    return kind, (value,) if value else (), (), ""


def _memory(_: str, rest: str) -> Parts:
    return "", tuple(_VALUE.findall(rest)), (), rest


_READERS = {
    **dict.fromkeys(
        [
            "add",
            "sub",
            "mul",
            "udiv",
            "sdiv",
            "urem",
            "srem",
            "shl",
            "lshr",
            "ashr",
            "and",
            "or",
            "xor",
            "fadd",
            "fsub",
            "fmul",
            "fdiv",
            "frem",
        ],
        _binary,
    ),
    **dict.fromkeys(["icmp", "fcmp"], _compare),
    **dict.fromkeys(
        [
            "trunc",
            "zext",
            "sext",
            "fptrunc",
            "fpext",
            "fptoui",
            "fptosi",
            "uitofp",
            "sitofp",
            "bitcast",
            "ptrtoint",
            "inttoptr",
            "addrspacecast",
        ],
        _cast,
    ),
    **dict.fromkeys(["freeze", "fneg"], _unary),
    **dict.fromkeys(["extractelement", "insertelement", "shufflevector", "extractvalue", "insertvalue"], _aggregate),
    "br": _branch,
    "switch": _switch,
    "select": _select,
    "load": _load,
    "store": _store,
    "getelementptr": _element,
    "phi": _phi,
    "call": _call,
    "alloca": _alloca,
    "ret": _return,
    "unreachable": _memory,
}
