"""A dask cluster of processes on loopback, by the commands of the README: a scheduler, and workers for ``cpu``."""

from __future__ import annotations

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

from sweeping.readme import commands

# No memory limits, no version chatter, and nothing that listens beside the protocol itself.
ENVIRONMENT = {"DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "false", "DASK_LOGGING__DISTRIBUTED": "warning"}


class DaskCluster:
    """While it is entered, ``address`` is its scheduler's. All its processes have the environment of that moment, and
    are ended at the exit.
    """

    def __init__(self, folder: Path, *, workers: int = 2) -> None:
        self.folder, self.address = folder, ""
        self.workers: list[subprocess.Popen[bytes]] = []
        self.scheduler: subprocess.Popen[bytes] | None = None
        self._wanted = workers
        self._ports: list[int] = []
        self._environment: dict[str, str] = {}
        self._stack = ExitStack()

    def __enter__(self) -> DaskCluster:
        self._environment = os.environ | ENVIRONMENT
        with self._stack:
            self._stack.callback(self._end)
            self.start_scheduler()
            for _ in range(self._wanted):
                self.start_worker()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stack.close()

    @property
    def file(self) -> Path:
        return self.folder / "scheduler.json"

    def start_scheduler(self) -> None:
        """At the address of the one before, if there was one."""
        self.file.unlink(missing_ok=True)
        port = self.address.rpartition(":")[2] or "0"
        command = commands("dask scheduler")[0].replace("8786", port)
        self.scheduler = self._start(command, "--no-dashboard", "--scheduler-file", str(self.file))
        give_up = time.monotonic() + 30
        while not (address := self._written_address()):
            if time.monotonic() > give_up or self.scheduler.poll() is not None:
                raise RuntimeError(f"dask's scheduler does not start\n{(self.folder / 'scheduler.log').read_text()}")
            time.sleep(0.05)
        self.address = address

    def _written_address(self) -> str:
        """Empty as long as the file is not whole."""
        try:
            return str(json.loads(self.file.read_text())["address"])
        except (OSError, ValueError):
            return ""

    def start_worker(self) -> subprocess.Popen[bytes]:
        port = free_port()
        worker = self._start(
            commands("dask worker")[0].replace("tcp://127.0.0.1:8786", self.address),
            *("--host", "127.0.0.1", "--worker-port", str(port), "--no-nanny", "--no-dashboard"),
            *("--memory-limit", "0", "--death-timeout", "10", "--local-directory", str(self.folder)),
        )
        self.workers.append(worker)
        self._ports.append(port)
        return worker

    def addresses(self) -> list[str]:
        """Of the workers, in their order."""
        return [f"tcp://127.0.0.1:{port}" for port in self._ports]

    def kill_worker(self, number: int) -> None:
        worker = self.workers.pop(number)
        self._ports.pop(number)
        worker.kill()
        worker.wait()

    def kill_scheduler(self) -> None:
        assert self.scheduler is not None
        self.scheduler.kill()
        self.scheduler.wait()

    def _start(self, command: str, *more: str) -> subprocess.Popen[bytes]:
        _, name, *arguments = shlex.split(command)
        with (self.folder / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", "dask", name, *arguments, *more],
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def _end(self) -> None:
        """At once: a worker that is asked to end waits for its tasks."""
        for process in [*self.workers, *([self.scheduler] if self.scheduler else [])]:
            process.kill()
            process.wait()


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])
