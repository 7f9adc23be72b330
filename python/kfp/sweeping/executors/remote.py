"""The cluster's side: one unit in a process of its own, which ends when whatever started it does."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from kfp.errors import ExecutorError
from kfp.sweeping.executors.base import STOPPED

LOG = "worker.log"
# For the worker to stop its own work and give its lease back.
GRACE_SECONDS = 20.0

_running: dict[str, subprocess.Popen[bytes]] = {}


def run_worker(unit: str) -> int:
    """Does the unit, and returns the worker's exit code. What the worker prints is in the unit's ``worker.log``.

    Raises ``kfp.ExecutorError`` where the unit's folder can't be seen from this machine.
    """
    folder = Path(unit)
    if not folder.is_dir():
        raise ExecutorError(
            f"{unit}: no such folder on {socket.gethostname()}; a sweep's folder has to be one that all machines share"
        )
    with (folder / LOG).open("ab") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, unit],
            # Nothing is ever written: the pipe breaks when this process ends, however it does.
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    _running[unit] = process
    try:
        if threading.current_thread() is threading.main_thread():
            # Of a job that is cancelled, only some of Slurm's process trackers tell more than the first process.
            signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        return process.wait()
    finally:
        _running.pop(unit, None)
        if process.stdin is not None:
            process.stdin.close()


def stop_worker(unit: str) -> None:
    """Asks the unit's worker to stop, if this process has started one."""
    process = _running.get(unit)
    if process is not None:
        process.terminate()


def _end_with_starter() -> None:
    while os.read(0, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(STOPPED)


def _main(unit: str) -> int:
    from kfp.sweeping.worker import run_unit

    threading.Thread(target=_end_with_starter, daemon=True).start()
    return run_unit(Path(unit))


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1]))
