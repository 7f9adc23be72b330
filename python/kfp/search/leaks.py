"""The guard on everything that the harness writes into a prompt: nothing of a hidden configuration may be in it.

What a model wrote is never looked at: it can't leak what it does not know.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from kfp.errors import LeakError
from kfp.results import ConfigurationResult, Evaluation
from kfp.tasks.base import Configuration, Scale, Task

WITHHELD = "[withheld]"

# Below this a number on its own says nothing: every text has a 4 in it. With its name it does.
_TELLING = 10
# Of words, simdgroups and threadgroups: no text about kernels does without them. With their names they do tell.
_EVERYWHERE = (16, 32, 64)
# A contract can't be told without saying what its switches do.
_SWITCHES = (0, 1)
# In a message that is made up while a kernel runs, counts and indices coincide with small sizes.
_TELLING_IN_MESSAGES = 100

_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d(?:[\d_']*\d)?)"
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_END = r"(?:(?![A-Za-z0-9_⁰¹²³⁴⁵⁶⁷⁸⁹])|(?=[xX×]\d))"
_NUMBER = re.compile(
    # Either of its own, or the second of a pair as in 32x32.
    r"(?:(?<![\w.])|(?<=\d[xX×]))(?:"
    r"0[xX](?P<hex>[0-9a-fA-F_']+)[uUlL]*"
    rf"|(?P<base>{_DIGITS})(?:[uUlL]*\s*(?P<operator><<|\*\*|\^|\*)\s*\{{?\s*(?P<power>{_DIGITS})[uUlL]*\}}?"
    r"|(?P<superscript>[⁰¹²³⁴⁵⁶⁷⁸⁹]+))"
    rf"|(?P<decimal>(?:{_DIGITS}(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?P<unit>[kKMG]i?)?(?:[fFhHuUlL]*)"
    rf"){_END}"
)
# A 64-bit product is one of words, whatever else there are 64 of.
_WORD_SIZE = re.compile(r"[\s-]?bits?(?!\w)", re.IGNORECASE)
_UNITS = {"k": 10**3, "K": 2**10, "Ki": 2**10, "ki": 2**10, "M": 2**20, "Mi": 2**20, "G": 2**30, "Gi": 2**30}


@dataclass(frozen=True)
class Leak:
    """Something hidden at a place in a text; ``what`` says what it gives away."""

    start: int
    end: int
    what: str


@dataclass(frozen=True)
class _Secret:
    name: str
    value: float
    # Not telling without its name: a number that a search configuration or the contract shows, or a very small one.
    only_by_name: bool


class Guard:
    """Knows what is hidden: the published held-out configuration, its stand-in at the scale of the run, and what is
    added later.
    """

    def __init__(self, task: Task, scale: Scale) -> None:
        self._task = task
        self._visible = task.configurations(scale)
        self._labels: list[str] = []
        self._secrets: list[_Secret] = []
        for hidden in dict.fromkeys((task.published_held_out("full"), task.published_held_out(scale))):
            self._hide(hidden, by_name=False)

    def hide(self, configuration: Configuration) -> None:
        """A drawn one: its label, and its values together with their names."""
        self._hide(configuration, by_name=True)

    def _hide(self, configuration: Configuration, *, by_name: bool) -> None:
        seen = {value for visible in self._visible for value in visible.parameters.values()}
        # The bounds of what a kernel must handle are the contract's own numbers.
        seen |= {bound for entry in self._task.ranges for bound in (entry.low, entry.high)}
        if configuration.label not in {visible.label for visible in self._visible}:
            self._labels.append(configuration.label)
        for name, value in configuration.parameters.items():
            if value in _SWITCHES or value in {visible.parameters.get(name) for visible in self._visible}:
                continue
            quiet = by_name or abs(value) < _TELLING or value in _EVERYWHERE or value in seen
            self._secrets.append(_Secret(name, float(value), quiet))

    def require_clean(self, text: str, where: str) -> None:
        """Raises ``kfp.LeakError`` for text that is written before a run: a brief, a label, a seed kernel."""
        for leak in self.leaks(text, _TELLING):
            line = text.count("\n", 0, leak.start) + 1
            raise LeakError(
                f"task {self._task.name!r}, {where}, line {line}: it holds {leak.what} of the held-out configuration, "
                "which no model may see"
            )

    def require_no_names(self, text: str, where: str) -> None:
        """The same for a finished prompt, whose measured times are numbers of their own: labels and named values."""
        for leak in (*self._label_leaks(text), *self._named_leaks(text)):
            raise LeakError(f"task {self._task.name!r}, {where}: it holds {leak.what} of a hidden configuration")

    def redacted(self, text: str) -> tuple[str, tuple[str, ...]]:
        """A message without what is hidden, and what was taken out: a run must not end because a count coincides."""
        found = sorted(self.leaks(text, _TELLING_IN_MESSAGES), key=lambda leak: leak.start)
        taken: list[str] = []
        clean, position = [], 0
        for leak in found:
            if leak.start < position:
                continue
            clean += [text[position : leak.start], WITHHELD]
            position = leak.end
            taken.append(leak.what)
        return "".join([*clean, text[position:]]), tuple(taken)

    def leaks(self, text: str, telling: float) -> Iterator[Leak]:
        yield from self._label_leaks(text)
        yield from self._named_leaks(text)
        secrets = {secret.value: secret for secret in self._secrets if not secret.only_by_name}
        for match, value in _numbers(text):
            secret = secrets.get(value)
            if secret is not None and abs(value) >= telling and not _WORD_SIZE.match(text, match.end()):
                yield Leak(match.start(), match.end(), f"{match.group(0)!r}, the value of {secret.name}")

    def _label_leaks(self, text: str) -> Iterator[Leak]:
        for label in self._labels:
            pattern = r"\s*".join(re.escape(part) for part in re.findall(r"\w+|[^\w\s]", label))
            for match in re.finditer(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE):
                yield Leak(match.start(), match.end(), f"the label {label!r}")

    def _named_leaks(self, text: str) -> Iterator[Leak]:
        by_name: dict[str, set[float]] = {}
        for secret in self._secrets:
            by_name.setdefault(secret.name, set()).add(secret.value)
        for match, value in _numbers(text):
            for name, values in by_name.items():
                if value in values and _is_named(text, match, name):
                    yield Leak(match.start(), match.end(), f"{name} = {value:g}, the value")


def sanitised(evaluation: Evaluation, guard: Guard) -> tuple[Evaluation, tuple[str, ...]]:
    """An evaluation whose words may be shown, and what was taken out of them."""
    taken: list[str] = []

    def clean(text: str) -> str:
        shown, found = guard.redacted(text)
        taken.extend(found)
        return shown

    def clean_row(row: ConfigurationResult) -> ConfigurationResult:
        return replace(row, detail=clean(row.detail), flags=tuple(clean(flag) for flag in row.flags))

    shown = replace(
        evaluation,
        reason=clean(evaluation.reason),
        diagnostics=tuple(replace(entry, message=clean(entry.message)) for entry in evaluation.diagnostics),
        configurations=tuple(clean_row(row) for row in evaluation.configurations if row.origin == "in_distribution"),
    )
    return shown, tuple(dict.fromkeys(taken))


def _is_named(text: str, number: re.Match[str], name: str) -> bool:
    """``d = 24``, ``d: 24``, ``d is 24``, ``d of 24``, and for words ``75 steps``, ``75-step``."""
    before, after = text[max(0, number.start() - 40) : number.start()], text[number.end() : number.end() + 40]
    if re.search(rf"(?<!\w){re.escape(name)}\W{{0,2}}\s*(?:==?|:|is|of|at|to)\s*$", before):
        return True
    word = name[:-1] if name.endswith("s") else name
    return len(word) > 2 and re.match(rf"[\s-]{{1,2}}{re.escape(word)}s?(?!\w)", after, re.IGNORECASE) is not None


def _numbers(text: str) -> Iterable[tuple[re.Match[str], float]]:
    """Every number in the text with its value, however it is written: 4194304, 4_194_304, 0x400000, 2^22, 1u << 22, 4M.

    Of a product or a power the parts count too, at the place of the whole.
    """
    for match in _NUMBER.finditer(text):
        yield from ((match, value) for value in _values(match) if math.isfinite(value))


def _values(match: re.Match[str]) -> tuple[float, ...]:
    if match["hex"]:
        digits = re.sub(r"[_']", "", match["hex"])
        return (float(int(digits, 16)),) if 0 < len(digits) <= 16 else ()
    if match["base"]:
        base = _whole(match["base"])
        power = _whole(match["power"] or match["superscript"].translate(_SUPERSCRIPTS))
        if match["operator"] == "*":
            return base * power, base, power
        if power > 64 or base > 2**10:
            return base, power
        return base * 2.0**power if match["operator"] == "<<" else base**power, base
    return (float(re.sub(r"[_,']", "", match["decimal"])) * _UNITS.get(match["unit"] or "", 1),)


def _whole(digits: str) -> float:
    return float(re.sub(r"[_,']", "", digits))
