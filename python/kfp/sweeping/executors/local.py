"""Workers as processes of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from kfp.runs.files import refusals
from kfp.sweeping.executors.base import JobState, worker_command

# For a worker to give its lease back after it was asked to stop.
GRACE_SECONDS = 30.0


class Tethered:
    """A process that is asked to stop when this one ends, however it ends: it reads from a pipe that nobody writes to.

    It has a session of its own, so that an interrupt at the terminal reaches the driver alone.
    """

    def __init__(self, command: Sequence[str], log: Path) -> None:
        theirs, self._ours = os.pipe()
        try:
            with refusals(log), log.open("ab") as output:
                self._process = subprocess.Popen(
                    [*command, "--tether", str(theirs)],
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                    pass_fds=(theirs,),
                )
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)

    @property
    def pid(self) -> int:
        return self._process.pid

    def poll(self) -> int | None:
        """The exit code, None while it runs."""
        code = self._process.poll()
        if code is not None and self._ours >= 0:
            os.close(self._ours)
            self._ours = -1
        return code

    def wait(self, timeout: float | None = None) -> int:
        """Raises ``subprocess.TimeoutExpired``."""
        self._process.wait(timeout)
        code = self.poll()
        assert code is not None
        return code

    def stop(self) -> None:
        """Asks; a process that is stopped by a signal is woken to hear it."""
        if self.poll() is None:
            for number in (signal.SIGTERM, signal.SIGCONT):
                with contextlib.suppress(ProcessLookupError):
                    self._process.send_signal(number)

    def kill(self) -> None:
        if self.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                self._process.kill()


class LocalJob:
    """A worker of this machine."""

    def __init__(self, process: Tethered) -> None:
        self._process = process
        self._stop_by: float | None = None

    def state(self) -> JobState:
        if self._process.poll() is not None:
            return "ended"
        if self._stop_by is not None and time.monotonic() > self._stop_by:
            self._process.kill()
        return "running"

    def cancel(self) -> None:
        if self._stop_by is None:
            self._stop_by = time.monotonic() + GRACE_SECONDS
            self._process.stop()

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def describe(self) -> str:
        return f"pid {self._process.pid}"


class LocalExecutor:
    """At most ``jobs`` processes at once, by default as many as there are processors."""

    name = "local"

    def __init__(self, jobs: int | None = None) -> None:
        self.capacity: int | None = jobs or _processors()
        self._jobs: list[LocalJob] = []

    def start(self, unit: Path, device: str) -> LocalJob:
        job = LocalJob(Tethered(worker_command(unit), unit / "worker.log"))
        self._jobs = [*(one for one in self._jobs if one.state() != "ended"), job]
        return job

    def close(self, cancel: bool) -> None:
        """Every worker has ended when this returns: with ``cancel`` soon, else those that have done their unit.

        An interrupt meanwhile kills those that are left.
        """
        end = time.monotonic() + GRACE_SECONDS
        try:
            while left := [job for job in self._jobs if job.state() != "ended"]:
                for job in left:
                    if cancel or time.monotonic() > end:
                        job.cancel()
                time.sleep(0.05)
        except BaseException:
            for job in self._jobs:
                job.kill()
            raise


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1
