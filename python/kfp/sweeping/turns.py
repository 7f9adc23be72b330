"""A device is used by one unit at a time: whoever uses it has its turn, a lock that ends with its process.

One file a device and machine, in ``KFP_TURNS_DIR`` or else in a folder of the user's in /tmp. Beside it a
log: a line when a turn begins and one when it ends, on the clock that all processes of a machine share.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kfp.errors import ResultFormatError, RunError
from kfp.records import Record
from kfp.runs.files import refusals
from kfp.sweeping.processes import sessions_of

# Not TMPDIR: a cluster may set another one for each job, and the jobs of a machine have to meet here.
TEMPORARY = Path("/tmp")
MOST_LOG_BYTES = 8 << 20
# The device's process of a killed worker notices that within milliseconds.
LEFTOVER_SECONDS = 5.0
DEVICE_PROCESS = "kfp-worker"
SECONDS_BETWEEN_TRIES = 0.025


@dataclass(frozen=True, eq=False)
class Mark(Record):
    """A line of the log. ``seconds``: CLOCK_MONOTONIC. A turn without an end was a killed process's."""

    event: str
    seconds: float
    device: str
    unit: str
    pid: int
    session: int


@dataclass(frozen=True)
class Turns:
    """Turns of one unit at one device: ``with turns(): …``. Not for two threads at once, nor one within another."""

    device: str
    unit: str

    @contextmanager
    def __call__(self) -> Iterator[None]:
        folder = turns_folder()
        file = folder / f"{self.device}.lock"
        descriptor = _opened(file)
        try:
            with refusals(file):
                _wait_for(descriptor)
            _outlive_leftovers(folder, self.device)
            self._log(folder, "begin")
            try:
                yield
            finally:
                self._log(folder, "end")
                # A process that was forked meanwhile has the descriptor too: closing it here would not end the turn.
                fcntl.flock(descriptor, fcntl.LOCK_UN)
        finally:
            os.close(descriptor)

    def _log(self, folder: Path, event: str) -> None:
        """One write a line, which no end of the process can cut in two."""
        mark = Mark(event, time.monotonic(), self.device, self.unit, os.getpid(), os.getsid(0))
        file = log_file(folder, self.device)
        # A full disk must not cost the turn.
        with contextlib.suppress(OSError, RunError):
            if event == "begin" and file.is_file() and file.stat().st_size > MOST_LOG_BYTES:
                file.replace(file.with_suffix(".old"))
            descriptor = _opened(file)
            try:
                os.lseek(descriptor, 0, os.SEEK_END)
                os.write(descriptor, json.dumps(mark.to_json()).encode() + b"\n")
            finally:
                os.close(descriptor)


def _wait_for(descriptor: int) -> None:
    """Not one call that blocks: a signal that comes just before it, or to another thread, would not interrupt it."""
    while True:
        try:
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(SECONDS_BETWEEN_TRIES)


def turns_folder() -> Path:
    """Raises ``kfp.RunError`` for a folder that others could have prepared."""
    named = os.environ.get("KFP_TURNS_DIR")
    if named:
        folder = Path(named).expanduser().absolute()
        with refusals(folder):
            folder.mkdir(parents=True, exist_ok=True)
        return folder
    folder = TEMPORARY / f"kfp-turns-{os.getuid()}"
    with refusals(folder):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
        about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
        raise RunError(f"{folder}: expected a folder of your own that nobody else can use; name one with KFP_TURNS_DIR")
    return folder


def log_file(folder: Path, device: str) -> Path:
    return folder / f"{device}.log"


def read_log(file: Path) -> list[Mark]:
    """The lines that are whole."""
    try:
        text = file.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    marks = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError, ResultFormatError):
            marks.append(Mark.from_json(json.loads(line)))
    return marks


def _outlive_leftovers(folder: Path, device: str) -> None:
    """Waits for what a killed holder of the turn still has running on the device."""
    last = _last_mark(log_file(folder, device))
    if last is None or last.event != "begin":
        return
    end = time.monotonic() + LEFTOVER_SECONDS
    while last.session in sessions_of(DEVICE_PROCESS) and time.monotonic() < end:
        time.sleep(0.01)


def _last_mark(file: Path) -> Mark | None:
    with contextlib.suppress(OSError, ValueError, ResultFormatError), file.open("rb") as log:
        log.seek(max(0, log.seek(0, os.SEEK_END) - 4096))
        lines = log.read().splitlines()
        return Mark.from_json(json.loads(lines[-1])) if lines else None
    return None


def _opened(file: Path) -> int:
    """For reading and writing; for whoever may use the folder, which the user has named then."""
    with refusals(file):
        # Without O_CREAT first: a file of somebody else in a shared folder is not to be made again.
        with contextlib.suppress(FileNotFoundError):
            return os.open(file, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if os.environ.get("KFP_TURNS_DIR"):
            with contextlib.suppress(OSError):
                os.fchmod(descriptor, 0o666)
        return descriptor
