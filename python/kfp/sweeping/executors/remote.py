"""The cluster's side: one unit in a process of its own, which ends when whatever started it does."""

from __future__ import annotations

import signal
import socket
import threading
from pathlib import Path

from kfp.errors import ExecutorError
from kfp.sweeping.executors.base import worker_command
from kfp.sweeping.executors.local import Tethered

_running: dict[str, Tethered] = {}


def run_worker(unit: str) -> int:
    """Does the unit, and returns the worker's exit code. What the worker prints is in the unit's ``worker.log``.

    Raises ``kfp.ExecutorError`` where the unit's folder can't be seen from this machine.
    """
    folder = Path(unit)
    if not folder.is_dir():
        raise ExecutorError(
            f"{unit}: no such folder on {socket.gethostname()}; a sweep's folder has to be one that all machines share"
        )
    process = Tethered(worker_command(folder), folder / "worker.log")
    _running[unit] = process
    try:
        if threading.current_thread() is threading.main_thread():
            # Of a job that is cancelled, only some of Slurm's process trackers tell more than the first process.
            signal.signal(signal.SIGTERM, lambda *_: process.stop())
        return process.wait()
    finally:
        _running.pop(unit, None)


def stop_worker(unit: str) -> None:
    """Asks the unit's worker to stop, if this process has started one."""
    process = _running.get(unit)
    if process is not None:
        process.stop()
