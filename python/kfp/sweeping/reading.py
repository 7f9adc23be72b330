"""From a TOML file to a ``Spec``, with the path to whatever is wrong in it."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from kfp.errors import Error, UsageError
from kfp.runs.files import read
from kfp.search.evolution import require_possible
from kfp.sources import source_hash, source_text
from kfp.sweeping.spec import DEFAULT_ATTEMPTS, DEFAULT_LEASE_S, Arm, SearchOptions, Spec
from kfp.tasks import SUITES, all_tasks, get_task

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_OPTIONS = tuple(field.name for field in fields(SearchOptions))
_LISTS = ("tasks", "models", "devices")
_KEYS = (
    "name", "out", "seed", *_LISTS, "replicates", "arms", "deadline_s", "lease_s", "attempts", "jobs", "dask", "slurm",
    *_OPTIONS,
)  # fmt: skip
_WHOLE = ("iterations", "candidates", "selection_draws", "budget_tokens", "max_tokens")
_REAL = ("budget_usd", "call_seconds")
MOST_UNITS = 100_000
SHORTEST_LEASE_S = 2.0


def read_spec(path: Path) -> Spec:
    """Raises ``kfp.UsageError`` for a key that there is not, or a value that it can't have."""
    text = read(path)
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: expected TOML: {error}") from None
    return spec_from(table, str(path), path.absolute().parent, path.stem)


def spec_from(table: Mapping[str, Any], where: str, base: Path, name: str) -> Spec:
    """A spec from what TOML makes of one; ``where`` begins every complaint."""
    keys = _Table(table, where, _KEYS, base)
    common = keys.options()
    arms = _arms(keys)
    tasks = _tasks(keys)
    lease_s = keys.real("lease_s", least=SHORTEST_LEASE_S)
    spec = Spec(
        name=keys.text("name") or name,
        out=keys.text("out") or "",
        base=str(base),
        seed=keys.whole("seed", least=0) or 0,
        tasks=tasks,
        models=keys.texts("models") or keys.missing("models", 'at least one, as in models = ["demo"]'),
        replicates=_or(keys.whole("replicates", least=1), 1),
        devices=keys.texts("devices") or ("auto",),
        arms=arms,
        options=common,
        sources=_sources(
            [*tasks, *(o.start for o in (common, *(arm.options for arm in arms)) if o.start)], where, base
        ),
        deadline_s=keys.real("deadline_s", least=1.0),
        lease_s=DEFAULT_LEASE_S if lease_s is None else lease_s,
        attempts=_or(keys.whole("attempts", least=1), DEFAULT_ATTEMPTS),
        jobs=keys.whole("jobs", least=1),
        dask_json=keys.table("dask"),
        slurm_json=keys.table("slurm"),
    )
    count = spec.replicates * len(spec.tasks) * len(spec.models) * len(spec.devices) * len(spec.arms)
    if count > MOST_UNITS:
        raise UsageError(f"{where}: expected at most {MOST_UNITS} units, the product has {count}")
    return spec


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _tasks(keys: _Table) -> tuple[str, ...]:
    named = keys.texts("tasks") or keys.missing("tasks", 'names of tasks or suites, as in tasks = ["sci"]')
    found: list[str] = []
    for name in named:
        found += [task.name for task in all_tasks(name)] if name in SUITES else [name]
    for name in found:
        try:
            get_task(name if ".py" not in name else str(keys.base / name))
        except Error as error:
            raise UsageError(f"{keys.where}: tasks: {error}") from None
    return tuple(dict.fromkeys(found))


def _arms(keys: _Table) -> tuple[Arm, ...]:
    tables = keys.value("arms")
    if tables is None:
        return (Arm("", SearchOptions()),)
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{keys.where}: arms: expected tables, [[arms]] with a name each, got {_shown(tables)}")
    arms: list[Arm] = []
    for number, table in enumerate(tables, start=1):
        arm = _Table(table, f"{keys.where}: arms[{number}]", ("name", *_OPTIONS), keys.base)
        options = arm.options()
        arms.append(Arm(arm.text("name") or arm.missing("name", "a name"), options))
        for other in arms[:-1]:
            if other.name == arms[-1].name:
                raise UsageError(f"{arm.where}: name: expected another one, there are two arms {other.name!r}")
            if other.options == options:
                raise UsageError(f"{arm.where}: expected another search than arm {other.name!r}, it is the same")
    return tuple(arms)


def _sources(names: Iterable[str], where: str, base: Path) -> dict[str, str]:
    """SHA-256 of the files among the names: they decide what comes out, so a unit with another text is another unit."""
    found: dict[str, str] = {}
    for name in names:
        file, _, _ = name.rpartition(":") if ".py:" in name else (name, "", "")
        if not file.endswith(".py") and file in {task.name for task in all_tasks()}:
            continue
        try:
            text = read(base / file) if file.endswith(".py") else source_text(base / file)
        except Error as error:
            raise UsageError(f"{where}: {error}") from None
        found[name] = source_hash(text)
    return found


class _Table:
    """A table of TOML whose values are asked for by key and kind."""

    def __init__(self, table: Mapping[str, Any], where: str, known: tuple[str, ...], base: Path | None = None) -> None:
        self.where, self.base, self._table = where, base or Path(), table
        for name in table:
            if name not in known:
                close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
                hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(known)}"
                raise UsageError(f"{where}: unknown key {_shown(name)}; {hint}")

    def value(self, name: str) -> Any:
        return self._table.get(name)

    def missing(self, name: str, expected: str) -> Any:
        raise UsageError(f"{self.where}: {name}: expected {expected}, it is missing")

    def whole(self, name: str, least: int | None = None) -> int | None:
        value = self.value(name)
        if value is None:
            return None
        if isinstance(value, bool) or not isinstance(value, int) or (least is not None and value < least):
            limit = "a whole number" if least is None else f"a whole number of at least {least}"
            raise self._fault(name, limit, value)
        return value

    def real(self, name: str, least: float | None = None) -> float | None:
        value = self.value(name)
        if value is None:
            return None
        fits = not isinstance(value, bool) and isinstance(value, int | float) and abs(value) < float("inf")
        if not fits or (least is not None and value < least):
            raise self._fault(name, "a finite number" if least is None else f"at least {least:g}", value)
        return float(value)

    def text(self, name: str) -> str | None:
        value = self.value(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value.isprintable() or not value.strip():
            raise self._fault(name, "a text that can be printed", value)
        return value

    def texts(self, name: str) -> tuple[str, ...]:
        values = self.value(name)
        if values is None:
            return ()
        fits = isinstance(values, list) and values and all(isinstance(value, str) for value in values)
        if not fits or not all(value.isprintable() and value.strip() for value in values):
            raise self._fault(name, "a list of texts that can be printed", values)
        if len(set(values)) < len(values):
            raise self._fault(name, "each of them once", values)
        return tuple(values)

    def table(self, name: str) -> str:
        value = self.value(name)
        if value is not None and not isinstance(value, dict):
            raise self._fault(name, "a table", value)
        try:
            return json.dumps(value or {}, allow_nan=False)
        except (TypeError, ValueError):
            raise self._fault(name, "texts, numbers and lists of them", value) from None

    def options(self) -> SearchOptions:
        disclose = self.value("disclose")
        if disclose is not None and not isinstance(disclose, bool):
            raise self._fault("disclose", "true or false", disclose)
        chosen: dict[str, Any] = {name: self.text(name) for name in ("scale", "math", "strategy", "effort", "start")}
        chosen |= {name: self.whole(name) for name in _WHOLE} | {name: self.real(name) for name in _REAL}
        try:
            require_possible(**chosen)
        except UsageError as error:
            raise UsageError(f"{self.where}: {error}") from None
        return SearchOptions(disclose=disclose, **chosen)

    def _fault(self, name: str, expected: str, value: object) -> UsageError:
        return UsageError(f"{self.where}: {name}: expected {expected}, got {_shown(value)}")


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
