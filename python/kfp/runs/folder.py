"""One run's folder. Its files are the truth; whatever is not there has not happened.

run.json                    format, spec and provenance, written when the run begins
start.metal, system.md      the kernel that the search starts from; what every prompt begins with
start.json                  the evaluation of that kernel
iterations/0001/            prompt.md, reply-1.json, candidate-1.metal, record.json (last: the iteration is complete)
incumbent.metal             the kernel that the search holds best, for convenience
finale.json                 the measurements at the end
lock                        held while a process works on the run
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from kfp.errors import ResultFormatError, RunError
from kfp.results import Evaluation
from kfp.runs.files import TEMPORARY, Reservation, is_there, read, read_json, refusals, write, write_json
from kfp.runs.records import FORMAT, Finale, IterationRecord, Provenance, Spec
from kfp.search.models.base import Reply

# What JSON makes of a token at most: a long word, escaped.
BYTES_PER_TOKEN = 8


def iteration_path(folder: Path, iteration: int) -> Path:
    return folder / "iterations" / f"{iteration:04d}"


def reply_path(folder: Path, iteration: int, candidate: int) -> Path:
    return iteration_path(folder, iteration) / f"reply-{candidate}.json"


class RunReader:
    """What a run's folder says. Raises ``kfp.RunError`` for a folder of another format, or none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        file = path / "run.json"
        if not is_there(file):
            raise RunError(f"{path}: expected the folder of a run, it has no run.json")
        head = read_json(file)
        found = head.get("format")
        if found != FORMAT:
            age = "newer" if isinstance(found, int) and found > FORMAT else "different"
            raise RunError(f"{path}: made by a {age} kfp (format {found!r}); this one reads format {FORMAT}")
        with _faults_of(file):
            self.spec = Spec.from_json(head.get("spec", {}))
            self.provenance = Provenance.from_json(head.get("provenance", {}))

    @property
    def start(self) -> str:
        return read(self.path / "start.metal")

    @property
    def system(self) -> str:
        return read(self.path / "system.md")

    def iterations(self) -> Iterator[IterationRecord]:
        """The complete iterations, in order, one at a time: a long run is never in memory as a whole."""
        number = 1
        while (record := self.iteration(number)) is not None:
            yield record
            number += 1

    def iteration(self, number: int) -> IterationRecord | None:
        file = iteration_path(self.path, number) / "record.json"
        if not is_there(file):
            return None
        with _faults_of(file):
            return IterationRecord.from_json(read_json(file))

    def reply(self, iteration: int, candidate: int) -> Reply | None:
        file = reply_path(self.path, iteration, candidate)
        if not is_there(file):
            return None
        with _faults_of(file):
            return Reply.from_json(read_json(file))

    def prompt(self, iteration: int) -> str:
        return read(iteration_path(self.path, iteration) / "prompt.md")

    def candidate(self, iteration: int, candidate: int) -> str | None:
        file = iteration_path(self.path, iteration) / f"candidate-{candidate}.metal"
        return read(file) if is_there(file) else None

    def start_evaluation(self) -> Evaluation | None:
        file = self.path / "start.json"
        if not is_there(file):
            return None
        with _faults_of(file):
            return Evaluation.from_json(read_json(file))

    def finale(self) -> Finale | None:
        file = self.path / "finale.json"
        if not is_there(file):
            return None
        with _faults_of(file):
            return Finale.from_json(read_json(file))


class RunWriter(RunReader):
    """The same folder, locked by this process and open for writing."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._lock = _Lock(path)
        try:
            self._remove_leftovers()
        except BaseException:
            self._lock.release()
            raise

    @classmethod
    def create(cls, path: Path, spec: Spec, provenance: Provenance, start: str, system: str) -> RunWriter:
        """A new run; ``run.json`` comes last, so that a folder without it is no run yet and may be begun again."""
        with refusals(path):
            path.mkdir(parents=True, exist_ok=True)
            strangers = [entry.name for entry in path.iterdir() if entry.name not in _BEGINNING]
            if strangers:
                raise RunError(f"{path}: expected a run or an empty folder, it holds {sorted(strangers)[0]!r}")
            (path / "iterations").mkdir(exist_ok=True)
        with _Lock(path):
            if not is_there(path / "run.json"):
                write(path / "start.metal", start)
                write(path / "system.md", system)
                head = {"format": FORMAT, "spec": spec.to_json(), "provenance": provenance.to_json()}
                write_json(path / "run.json", head)
        return cls(path)

    def __enter__(self) -> RunWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._lock.release()

    def write_start_evaluation(self, evaluation: Evaluation) -> None:
        write_json(self.path / "start.json", evaluation.to_json())

    def write_prompt(self, iteration: int, prompt: str) -> None:
        folder = iteration_path(self.path, iteration)
        # Without parents: a run whose folder was taken away under this process must not come back as half a run.
        with refusals(folder):
            folder.mkdir(exist_ok=True)
        write(folder / "prompt.md", prompt)

    def reserve_reply(self, iteration: int, candidate: int, tokens: int) -> Reservation:
        return Reservation(reply_path(self.path, iteration, candidate), BYTES_PER_TOKEN * tokens)

    def write_candidate(self, iteration: int, candidate: int, source: str) -> None:
        write(iteration_path(self.path, iteration) / f"candidate-{candidate}.metal", source)

    def write_record(self, record: IterationRecord) -> None:
        write_json(iteration_path(self.path, record.number) / "record.json", record.to_json())

    def write_incumbent(self, source: str) -> None:
        write(self.path / "incumbent.metal", source)

    def write_finale(self, finale: Finale) -> None:
        write_json(self.path / "finale.json", finale.to_json())

    def _remove_leftovers(self) -> None:
        """What a process that was killed had begun to write."""
        iterations = sorted((self.path / "iterations").iterdir()) if (self.path / "iterations").is_dir() else []
        for folder in (self.path, *iterations[-2:]):
            for file in folder.glob(f"*{TEMPORARY}"):
                with refusals(file):
                    file.unlink()


_BEGINNING = {"run.json", "start.metal", "system.md", "iterations", "lock"}
_BEGINNING |= {name + TEMPORARY for name in ("run.json", "start.metal", "system.md")}


def is_in_use(folder: Path) -> bool:
    """Whether a process works on the run right now."""
    try:
        descriptor = os.open(folder / "lock", os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


class _Lock:
    """Held by the process, so that its end releases it, however it comes."""

    def __init__(self, folder: Path) -> None:
        path = folder / "lock"
        with refusals(path):
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            holder = os.read(self._file, 200).decode(errors="replace").strip() or "another process"
            os.close(self._file)
            raise RunError(f"{folder}: in use by {holder}; nothing was changed") from None
        with contextlib.suppress(OSError):
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, f"process {os.getpid()} on {socket.gethostname()}\n".encode(), 0)

    def release(self) -> None:
        os.close(self._file)

    def __enter__(self) -> _Lock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.release()


@contextlib.contextmanager
def _faults_of(file: Path) -> Iterator[None]:
    try:
        yield
    except ResultFormatError as error:
        raise RunError(f"{file}: {error}") from None
