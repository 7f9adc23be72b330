"""A Slurm of one node, on loopback, from Debian's packages slurmctld, slurmd, munge and slurm-client.

``python tests/sweeping/single_node_slurm.py COMMAND…`` runs a command that finds it, and ends it afterwards.
"""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType

PACKAGES = "slurmctld slurmd munge slurm-client"

# linuxproc instead of cgroups, which belong to whoever runs the machine. No accounting: only squeue knows of jobs.
CONFIGURATION = """\
ClusterName=kfp
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdParameters=config_overrides
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=0,batch_sched_delay=0,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
PriorityType=priority/basic
ReturnToService=2
InactiveLimit=0
MessageTimeout=2
KillWait=5
MinJobAge=10
Licenses={licences}
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
PartitionName=closed Nodes={host} MaxTime=INFINITE State=DOWN
"""


class SingleNodeSlurm:
    """While it is entered, ``environment`` lets a process find it. Everything that it started is ended at the exit."""

    def __init__(self, *, licences: str = "kfp_cpu:1", cpus: int = 4) -> None:
        self.folder = Path()
        self._licences, self._cpus = licences, cpus
        self._daemons: dict[str, subprocess.Popen[bytes]] = {}
        self._stack = ExitStack()

    @property
    def environment(self) -> dict[str, str]:
        return os.environ | {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def __enter__(self) -> SingleNodeSlurm:
        missing = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if program(name) is None]
        if missing:
            raise RuntimeError(f"{', '.join(missing)}: not installed; apt-get install {PACKAGES}")
        # Not below pytest's folders: munge's clients must get in, and a socket's path is short.
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="kfp-slurm-")))
        with self._stack:
            self.folder.chmod(0o711)
            self._configure()
            self._stack.callback(self._end)
            self._start_munge()
            self.start_controller()
            self._start("slurmd", "-D", "-f", str(self.folder / "slurm.conf"))
            self._until_ready()
            self._stack = self._stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._stack.close()

    def call(self, *command: str) -> str:
        """What a command of Slurm prints; raises with what it says."""
        done = subprocess.run(command, env=self.environment, capture_output=True, text=True, timeout=60)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr.strip()}")
        return done.stdout

    def start_controller(self) -> None:
        self._start("slurmctld", "-D", "-i", "-f", str(self.folder / "slurm.conf"))

    def end_controller(self) -> None:
        end(self._daemons.pop("slurmctld"))

    def _configure(self) -> None:
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        with free_port() as controller_port, free_port() as node_port:
            text = CONFIGURATION.format(
                host=socket.gethostname().partition(".")[0],
                controller_port=controller_port.getsockname()[1],
                node_port=node_port.getsockname()[1],
                user=pwd.getpwuid(os.geteuid()).pw_name,
                folder=self.folder,
                licences=self._licences,
                cpus=self._cpus,
            )
        (self.folder / "slurm.conf").write_text(text)

    def _start_munge(self) -> None:
        key = self.folder / "munge.key"
        key.touch(0o600)
        key.write_bytes(secrets.token_bytes(128))
        options = ("socket", "key-file", "pid-file", "log-file", "seed-file")
        paths = [f"--{option}={self.folder}/munge.{option.partition('-')[0]}" for option in options]
        # --force: the folder for temporary files is everybody's.
        self._start("munged", "--foreground", "--force", "--num-threads=1", *paths)
        wait_for((self.folder / "munge.socket").exists, "munged", self)

    def _start(self, name: str, *arguments: str) -> None:
        with (self.folder / f"{name}.said").open("ab") as said:
            self._daemons[name] = subprocess.Popen(
                [str(program(name)), *arguments],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def _until_ready(self) -> None:
        def idle() -> bool:
            asked = subprocess.run(
                ["sinfo", "--noheader", "--format=%T", "--partition=main"],
                env=self.environment,
                capture_output=True,
                text=True,
            )
            return asked.stdout.strip() == "idle"

        wait_for(idle, "slurmctld and slurmd", self)

    def log(self) -> str:
        """The ends of what the daemons say."""
        files = [*self.folder.glob("*.log"), *self.folder.glob("*.said")]
        return "\n".join(f"{file.name}:\n{file.read_text(errors='replace')[-3000:]}" for file in files)

    def check(self) -> None:
        for name, daemon in self._daemons.items():
            if daemon.poll() is not None:
                raise RuntimeError(f"{name} ended with {daemon.returncode}\n{self.log()}")

    def _end(self) -> None:
        for name in ("slurmctld", "slurmd", "munged"):
            if name in self._daemons:
                end(self._daemons.pop(name))
        # A step outlives slurmd, so that slurmd can be restarted, and is no child of ours.
        for _ in range(50):
            left = self._left()
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    continue
            if not left:
                return
            time.sleep(0.1)

    def _left(self) -> list[int]:
        """Processes of jobs and steps: they were given our configuration."""
        mark = f"SLURM_CONF={self.folder}/slurm.conf".encode()
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                told = mark in (entry / "environ").read_bytes().split(b"\0")
                step = (entry / "cmdline").read_bytes().startswith(b"slurmstepd")
                job = b"\0SLURM_JOB_ID=" in (entry / "environ").read_bytes()
            except OSError:
                continue
            if told and (step or job):
                found.append(int(entry.name))
        return found


def program(name: str) -> str | None:
    """Debian keeps the daemons where only root's PATH leads."""
    return shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def free_port() -> socket.socket:
    held = socket.socket()
    held.bind(("127.0.0.1", 0))
    return held


def end(daemon: subprocess.Popen[bytes]) -> None:
    daemon.terminate()
    try:
        daemon.wait(10)
    except subprocess.TimeoutExpired:
        daemon.kill()
        daemon.wait()


def wait_for(condition: Callable[[], bool], what: str, slurm: SingleNodeSlurm, seconds: float = 30) -> None:
    give_up = time.monotonic() + seconds
    while not condition():
        slurm.check()
        if time.monotonic() > give_up:
            raise RuntimeError(f"{what}: not ready after {seconds:.0f} s\n{slurm.log()}")
        time.sleep(0.05)


if __name__ == "__main__":
    with SingleNodeSlurm() as slurm:
        code = subprocess.run(sys.argv[1:], env=slurm.environment, check=False).returncode
    sys.exit(code)
