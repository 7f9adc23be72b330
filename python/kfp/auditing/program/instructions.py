"""One line of intermediate code: opcode, types, operands, labels, place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kfp.auditing.program.opcodes import AGGREGATES, BINARY, CASTS, COMPARISONS, UNARY
from kfp.auditing.program.types import leading_type, split_list

VALUE = re.compile(r"%(?:\"[^\"]*\"|[\w.$-]+)|@(?:\"[^\"]*\"|[\w.$-]+)")
_DBG = re.compile(r", !dbg !(\d+)")
_ASSIGN = re.compile(r"(%(?:\"[^\"]*\"|[\w.$-]+)) = (.*)$")
_LABEL_USE = re.compile(r"label %((?:\"[^\"]*\")|[\w.$-]+)")
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


def read_instruction(text: str, number: int, before: Sequence[Instruction]) -> Instruction | None:
    if before and before[-1].opcode == "switch" and not before[-1].detail:
        _switch_case(text, before[-1])
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
    kind, operands, labels, detail = reader(opcode, rest) if reader else ("", tuple(VALUE.findall(rest)), (), rest)
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
        return "", tuple(VALUE.findall(rest)), (), ""
    inside = rest[callee.end() :]
    arguments = tuple(_typed(part)[1] for part in split_list(inside[: closing(inside, 1)]))
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
    return "", tuple(VALUE.findall(rest)), (), rest


_READERS = {
    **dict.fromkeys(BINARY, _binary),
    **dict.fromkeys(COMPARISONS, _compare),
    **dict.fromkeys(CASTS, _cast),
    **dict.fromkeys(UNARY, _unary),
    **dict.fromkeys(AGGREGATES, _aggregate),
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


def closing(text: str, depth: int) -> int:
    """Where the parentheses that are open close."""
    for i, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return i
    return len(text)
