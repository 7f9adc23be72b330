"""One index over all runs of a user: what ``kfp runs`` lists. Folders are the truth; the index can be lost."""

from __future__ import annotations

import contextlib
import datetime
import os
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from kfp.errors import RunError
from kfp.runs.folder import RunReader, is_in_use
from kfp.runs.records import IterationRecord
from kfp.search.events import OnSearchProgress, SearchProgress

# Of the tables; another one is thrown away and built anew from the folders.
VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  path TEXT PRIMARY KEY, task TEXT, model TEXT, device TEXT, scale TEXT, strategy TEXT, replicate INTEGER,
  status TEXT, done INTEGER, iterations INTEGER, promotions INTEGER, best REAL, tokens INTEGER, cost_usd REAL,
  started TEXT, updated TEXT);
CREATE TABLE IF NOT EXISTS candidates (
  path TEXT, iteration INTEGER, candidate INTEGER, model TEXT, decision TEXT, answer TEXT, verdict TEXT, score REAL,
  ratio REAL, low REAL, high REAL, tokens INTEGER, cost_usd REAL, source_sha256 TEXT,
  PRIMARY KEY (path, iteration, candidate));
"""


@dataclass(frozen=True)
class Row:
    """A run in the list. ``best`` is how many times as fast as its start, by the search's own comparisons."""

    path: str
    task: str
    model: str
    device: str
    scale: str
    status: str
    done: int
    iterations: int
    promotions: int
    best: float
    tokens: int
    cost_usd: float
    started: str


def runs_folder() -> Path:
    """Where runs go by default: ``KFP_RUNS_DIR``, else the system's place for a user's data."""
    named = os.environ.get("KFP_RUNS_DIR")
    if named:
        return Path(named).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "kfp" / "runs"
    xdg = os.environ.get("XDG_DATA_HOME", "")
    base = Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".local" / "share"
    return base / "kfp" / "runs"


class Index:
    """The SQLite file beside the runs, in WAL mode so that several searches can write. Never worth failing a run."""

    def __init__(self, root: Path | None = None) -> None:
        self._root = root or runs_folder()
        self._file = self._root / "index.sqlite"

    def update(self, folder: RunReader, iterations: int, status: str) -> None:
        """Brings the row of a run, and those of its candidates, up to date with its folder."""
        with contextlib.suppress(sqlite3.Error, OSError), self._open() as database:
            self._write_run(database, folder, iterations, status)

    def following(self, folder: RunReader, iterations: int, then: OnSearchProgress) -> OnSearchProgress:
        """A listener that notes every finished iteration before it passes it on."""
        totals = [0, 0, 1.0, 0, 0.0]
        for record in folder.iterations():
            _add(totals, record)

        def note(progress: SearchProgress) -> None:
            record = progress.finished
            if record is not None:
                _add(totals, record)
                with contextlib.suppress(sqlite3.Error, OSError), self._open() as database:
                    self._write_row(database, folder, iterations, "running", totals)
                    self._write_candidates(database, folder, record)
            then(progress)

        return note

    def rows(self) -> list[Row]:
        """Newest first; runs whose folder is gone are left out, runs that the index does not know are added."""
        try:
            with self._open() as database:
                known = {str(path) for (path,) in database.execute("SELECT path FROM runs")}
                for path in self._folders():
                    if str(path) not in known:
                        with contextlib.suppress(RunError):
                            self._write_run(database, RunReader(path), 0, "unknown")
                columns = ", ".join(Row.__dataclass_fields__)
                rows = [Row(*row) for row in database.execute(f"SELECT {columns} FROM runs ORDER BY started DESC")]
        except (sqlite3.Error, OSError) as error:
            raise RunError(f"{self._file}: cannot be used: {error}; it may be deleted, it is built anew") from None
        return [_as_it_is(row) for row in rows if (Path(row.path) / "run.json").is_file()]

    def _folders(self) -> list[Path]:
        return sorted(file.parent for file in self._root.glob("*/run.json"))

    @contextlib.contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        self._root.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(self._file, timeout=5.0)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            (version,) = database.execute("PRAGMA user_version").fetchone()
            if version not in (0, VERSION):
                database.executescript("DROP TABLE IF EXISTS runs; DROP TABLE IF EXISTS candidates;")
            if version != VERSION:
                database.executescript(_SCHEMA)
                database.execute(f"PRAGMA user_version = {VERSION}")
            with database:
                yield database
        finally:
            database.close()

    def _write_run(self, database: sqlite3.Connection, folder: RunReader, iterations: int, status: str) -> None:
        totals = [0, 0, 1.0, 0, 0.0]
        for record in folder.iterations():
            _add(totals, record)
            self._write_candidates(database, folder, record)
        self._write_row(database, folder, max(iterations, int(totals[0])), status, totals)

    def _write_row(
        self, database: sqlite3.Connection, folder: RunReader, iterations: int, status: str, totals: list[float]
    ) -> None:
        spec = folder.spec
        done, promotions, best, tokens, cost = totals
        now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
        values = (
            str(folder.path), spec.task, spec.model, spec.device, spec.scale, spec.strategy, spec.replicate, status,
            int(done), iterations, int(promotions), best, int(tokens), cost, folder.provenance.started, now,
        )  # fmt: skip
        database.execute(f"INSERT OR REPLACE INTO runs VALUES ({', '.join('?' * len(values))})", values)

    def _write_candidates(self, database: sqlite3.Connection, folder: RunReader, record: IterationRecord) -> None:
        for c in record.candidates:
            verdict = c.evaluation.verdict if c.evaluation is not None else None
            score = c.evaluation.score if c.evaluation is not None else None
            ratio, low, high = (c.gain.ratio, c.gain.low, c.gain.high) if c.gain is not None else (None, None, None)
            values = (
                str(folder.path), record.number, c.number, c.model, c.decision, c.answer, verdict, score, ratio, low,
                high, c.usage.total, c.cost_usd, c.source_sha256,
            )  # fmt: skip
            database.execute(f"INSERT OR REPLACE INTO candidates VALUES ({', '.join('?' * len(values))})", values)


def _as_it_is(row: Row) -> Row:
    """A process that was killed could not say so."""
    if row.status != "running" or is_in_use(Path(row.path)):
        return row
    return replace(row, status="stopped")


def _add(totals: list[float], record: IterationRecord) -> None:
    """done, promotions, best, tokens, cost."""
    totals[0] += 1
    totals[1] += record.promoted is not None
    for candidate in record.candidates:
        totals[3] += candidate.usage.total
        totals[4] += candidate.cost_usd
        if candidate.number == record.promoted and candidate.gain is not None and candidate.gain.ratio is not None:
            totals[2] *= candidate.gain.ratio
