"""Which process is meant: a number alone is given again to others, and says nothing on another machine."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

from kfp.records import Record

Life: TypeAlias = Literal["alive", "dead", "unknown"]


@dataclass(frozen=True, eq=False)
class Owner(Record):
    """A process, told apart from every other one.

    ``machine``: of a boot and of a namespace of process numbers; "" where the system has no word for it. ``started``:
    in the system's own words. ``token``: random, so that an owner is never mistaken for another one.
    """

    host: str
    machine: str
    pid: int
    started: str
    token: str

    @property
    def here(self) -> bool:
        return bool(self.machine) and self.machine == machine()

    def life(self) -> Life:
        """``unknown`` for a process of another machine."""
        if not self.here or not self.started:
            return "unknown"
        return "alive" if started(self.pid) == self.started else "dead"

    def end(self) -> None:
        """Kills the process if it is one of this machine, and of this user, and still the same one."""
        if self.life() == "alive" and self.pid != os.getpid():
            try:
                os.kill(self.pid, signal.SIGKILL)
            except OSError:
                return

    def describe(self) -> str:
        return f"process {self.pid} on {self.host}"


def this_process() -> Owner:
    pid = os.getpid()
    return Owner(socket.gethostname(), machine(), pid, started(pid), secrets.token_hex(8))


@cache
def machine() -> str:
    if sys.platform == "linux":
        try:
            boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
            return f"{boot} {os.readlink('/proc/self/ns/pid')}"
        except OSError:
            return ""
    return _said_by("sysctl", "-n", "kern.bootsessionuuid")


def started(pid: int) -> str:
    """When the process began, "" for one that there is not; one that only waits to be reaped has ended."""
    if sys.platform != "linux":
        return _said_by("ps", "-o", "lstart=", "-p", str(pid))
    stat = status(pid)
    return stat[19] if len(stat) > 19 and stat[0] not in ("Z", "X", "x") else ""


def status(pid: int) -> list[str]:
    """The fields of proc_pid_stat(5) from the state on; empty for no such process."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    # The name before them is in parentheses and may hold anything.
    return text.rpartition(")")[2].split()


def _said_by(*command: str) -> str:
    try:
        answer = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""


def sessions_of(name: str) -> set[int]:
    """The sessions of all processes of this machine that are called so."""
    found: set[int] = set()
    for pid in _called(name):
        with contextlib.suppress(OSError):
            found.add(os.getsid(pid))
    return found


def _called(name: str) -> list[int]:
    if sys.platform != "linux":
        lines = [line.split(None, 2) for line in _said_by("ps", "-axo", "pid=,stat=,comm=").splitlines()]
        return [int(pid) for pid, state, path in lines if Path(path).name == name and state[0] != "Z"]
    found = []
    for entry in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if entry.read_text(encoding="utf-8", errors="replace").strip() == name and started(int(entry.parent.name)):
                found.append(int(entry.parent.name))
    return found
