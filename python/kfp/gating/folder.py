"""A gate on disk, so that one that was killed goes on where it stopped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kfp.errors import ResultFormatError, RunError
from kfp.gating.results import Gate, Trial
from kfp.records import Record
from kfp.results import Math
from kfp.runs.files import read_json, refusals, write_json
from kfp.tasks.base import Scale
from kfp.timing.results import Comparison

FORMAT = 1

R = TypeVar("R", bound=Record)


@dataclass(frozen=True, eq=False)
class Request(Record):
    """What makes a gate the gate that it is. The seed is kept beside it until the gate's record reveals it."""

    task: str
    device: str
    scale: Scale
    math: Math
    threshold: float
    timed: int
    untimed: int
    claimed: float | None
    source_sha256: str
    reference_sha256: str
    against_sha256: str
    processes: int
    commitment: str


@dataclass(frozen=True, eq=False)
class Trials(Record):
    """The untimed stage."""

    trials: tuple[Trial, ...]


class GateFolder:
    """``gate.json`` says what was asked; a file per finished stage; ``result.json`` comes last."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def begin(self, request: Request, seed: str) -> str:
        """The seed to work with: that of the gate which is already there, if it is the same gate."""
        with refusals(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
        file = self.path / "gate.json"
        if not file.is_file():
            write_json(file, {"format": FORMAT, "request": request.to_json(), "seed": seed})
            return seed
        head = read_json(file)
        if head.get("format") != FORMAT:
            raise RunError(f"{self.path}: made by a different kfp (format {head.get('format')!r}), this one: {FORMAT}")
        known = self._decode(Request, head.get("request", {}), file)
        found, wanted = known.to_json(), request.to_json()
        different = [name for name in wanted if name != "commitment" and wanted[name] != found[name]]
        if different:
            name = different[0]
            raise RunError(f"{self.path}: another gate: its {name} is {found[name]!r}, not {wanted[name]!r}")
        return str(head.get("seed", ""))

    def trials(self) -> tuple[Trial, ...] | None:
        found = self._read(Trials, "trials")
        return found.trials if found is not None else None

    def write_trials(self, trials: tuple[Trial, ...]) -> None:
        self._write("trials", Trials(trials))

    def comparison(self, stage: str) -> Comparison | None:
        return self._read(Comparison, stage)

    def write_comparison(self, stage: str, comparison: Comparison) -> None:
        self._write(stage, comparison)

    def result(self) -> Gate | None:
        return self._read(Gate, "result")

    def write_result(self, gate: Gate) -> None:
        self._write("result", gate)

    def _read(self, kind: type[R], name: str) -> R | None:
        file = self.path / f"{name}.json"
        return self._decode(kind, read_json(file), file) if file.is_file() else None

    def _write(self, name: str, value: Record) -> None:
        write_json(self.path / f"{name}.json", value.to_json())

    @staticmethod
    def _decode(kind: type[R], data: object, file: Path) -> R:
        try:
            return kind.from_json(data)  # type: ignore[arg-type]
        except ResultFormatError as error:
            raise RunError(f"{file}: {error}") from None
