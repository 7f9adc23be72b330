"""What a report can be about, found by what lies at a path."""

from __future__ import annotations

import csv
import dataclasses
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TypeAlias

from kfp.auditing.results import Audit
from kfp.errors import Error, UsageError
from kfp.gating.folder import GateFolder
from kfp.gating.looks import Look
from kfp.gating.results import Gate
from kfp.records import Record
from kfp.reporting.run_view import RunView, view
from kfp.results import Evaluation
from kfp.runs.files import read_json
from kfp.runs.run import Run
from kfp.sweeping.folder import SweepFolder, is_sweep
from kfp.timing.results import Comparison
from kfp.transfer import Case, read_table

STUDY = "study"
# A folder with runs may have them some folders further down.
DEEPEST = 4


@dataclass(frozen=True)
class Table:
    """A table of gains; ``grades`` go with the cases, empty where the table has none."""

    cases: tuple[Case, ...]
    grades: tuple[str, ...]


@dataclass(frozen=True)
class Unreadable:
    """A run among others that can't be read: it must not cost the report of the others, nor be left out in silence."""

    reason: str


Subject: TypeAlias = RunView | Evaluation | Comparison | Gate | Audit | Table | Unreadable
_RECORDS: tuple[type[Record], ...] = (Evaluation, Comparison, Gate, Audit, Look)
Wanted: TypeAlias = "str | os.PathLike[str] | Run | Record"


@dataclass(frozen=True)
class Named:
    name: str
    subject: Subject


def gather(wanted: Iterable[Wanted]) -> tuple[Named, ...]:
    """Raises ``kfp.UsageError`` for what is nothing to report on, and ``kfp.Error`` for files that are damaged."""
    found = [named for one in wanted for named in _subjects(one)]
    if not found:
        raise UsageError("report: expected runs, records (.json) or tables (.csv), got none")
    return tuple(found)


def _subjects(one: Wanted) -> Iterator[Named]:
    if isinstance(one, Run):
        yield Named(one.folder.name, view(one))
    elif isinstance(one, Record):
        yield _of_record(one, type(one).__name__.lower())
    elif os.fspath(one) == STUDY and not Path(one).exists():
        yield Named("the published study", study())
    else:
        yield from _at(Path(one))


def _at(path: Path) -> Iterator[Named]:
    if path.is_dir():
        yield from _in_folder(path)
    elif path.suffix == ".csv":
        yield Named(path.name, _table(path))
    elif path.suffix == ".json":
        yield _of_record(_record(path), path.name)
    elif not path.exists():
        raise UsageError(f"{path}: there is no such run, record or table")
    else:
        raise UsageError(f"{path}: expected the folder of a run or of a gate, a record (.json) or a table (.csv)")


def _in_folder(path: Path) -> Iterator[Named]:
    if (path / "run.json").is_file():
        yield Named(path.resolve().name, view(Run(path)))
        return
    gate = GateFolder(path).result() if (path / "gate.json").is_file() else None
    if gate is not None:
        yield Named(path.resolve().name, gate)
        return
    if is_sweep(path):
        units = tuple(SweepFolder(path).runs())
        if not units:
            raise UsageError(f"{path}: no unit of this sweep has begun; kfp sweep {path} goes on with it")
        yield from (Named(unit.name, _view_or_reason(folder, unit.name)) for unit, folder in units)
        return
    folders = sorted(file.parent for depth in range(1, DEEPEST + 1) for file in path.glob("*/" * depth + "run.json"))
    if not folders:
        raise UsageError(f"{path}: expected a run, a finished gate, or a folder with runs in it; there is none")
    for folder in folders:
        yield Named(str(folder.relative_to(path)), _view_or_reason(folder))


def _view_or_reason(folder: Path, name: str = "") -> RunView | Unreadable:
    try:
        return view(Run(folder), name)
    except Error as error:
        return Unreadable(str(error))


def _of_record(record: Record, name: str) -> Named:
    if isinstance(record, Look):
        if record.gate is None:
            raise UsageError(f"{name}: a look under {record.policy} releases nothing that a report could show")
        return Named(name, record.gate)
    if isinstance(record, Evaluation | Comparison | Gate | Audit):
        return Named(name, record)
    raise UsageError(f"{name}: no report is made of a {type(record).__name__}")


def _record(path: Path) -> Record:
    """By its fields; what comes nearest is read as that, so that the error names what is wrong with it."""
    data = read_json(path)
    names = set(data)

    def strangers(kind: type[Record]) -> int:
        return len(names ^ {field.name for field in dataclasses.fields(kind)})  # type: ignore[arg-type]

    kind = min(_RECORDS, key=strangers)
    if strangers(kind) > len(names) / 2:
        known = ", ".join(kind.__name__ for kind in _RECORDS)
        raise UsageError(f"{path}: expected the JSON of one of {known}; its fields are those of none")
    return kind.from_json(data)


def _table(path: Path) -> Table:
    cases = read_table(path)
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    grades = tuple(row.get("grade") or "" for row in csv.DictReader(lines))
    return Table(cases, grades)


def study() -> Table:
    """The table of arXiv 2608.08722, which comes with kfp."""
    return _table(Path(str(files("kfp.reporting") / "study" / "ratios.csv")))


def study_noise() -> Mapping[str, tuple[float, ...]]:
    """Seconds of twelve runs of one kernel at each configuration, on an Apple M1 Pro (arXiv 2608.08722)."""
    text = (files("kfp.reporting") / "study" / "noise.csv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    rows = csv.DictReader(lines)
    return {
        f"{row['task']} {row['configuration']}": tuple(
            float(value) for key, value in row.items() if key.startswith("s")
        )
        for row in rows
    }
