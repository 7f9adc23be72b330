"""Workers of a sweep as jobs of Slurm, submitted through submitit; a licence may stand for the device."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import re
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kfp.errors import ExecutorError, UsageError
from kfp.sweeping.executors.base import JobState
from kfp.sweeping.executors.remote import run_worker
from kfp.sweeping.executors.squeue import Queue

# A job is told by them from others, and its output lies in the unit's folder.
_NOT_TO_CHOOSE = ("array", "chdir", "error", "job-name", "output", "requeue", "wait", "wrap")
# What a job may take beyond the unit's deadline: to begin, and to tell its end.
MARGIN_SECONDS = 300.0
# Of what sbatch says: that a later try may be accepted.
PASSING = ("ontact slurm controller", "accounting/QOS policy", "temporarily unable", "timed out")
SECONDS_BETWEEN_TRIES = 30.0


@dataclass(frozen=True)
class SlurmOptions:
    """How jobs are submitted. ``licence`` and the values of ``sbatch`` may hold ``{device}``, the unit's device.

    ``time`` as sbatch takes it, by default the unit's deadline and some minutes, or the partition's own limit where a
    unit has none; ``sbatch``: more of its long options, where true stands for an option without a value.

    Raises ``kfp.UsageError`` for a value that can't be.
    """

    partition: str = ""
    licence: str = ""
    time: str = ""
    sbatch: Mapping[str, str | int | bool] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("partition", "licence", "time"):
            _require_one_line(name, getattr(self, name))
        for name, value in self.sbatch.items():
            if not re.fullmatch(r"[a-z][a-z0-9-]*", name):
                raise UsageError(
                    f"slurm.sbatch: expected long options of sbatch, as in account or cpus-per-task, got {name!r}"
                )
            if name in _NOT_TO_CHOOSE:
                raise UsageError(
                    f"slurm.sbatch.{name}: expected an option that kfp leaves alone; it needs this one itself"
                )
            own = {"partition": "partition", "licenses": "licence", "time": "time"}.get(name)
            if own is not None:
                raise UsageError(f"slurm.sbatch.{name}: expected it as slurm.{own}")
            if isinstance(value, str):
                _require_one_line(f"sbatch.{name}", value)


def _require_one_line(name: str, value: str) -> None:
    """Another line in the script of a job would be a command."""
    if value and not value.isprintable():
        raise UsageError(f"slurm.{name}: expected a text that can be printed, got {value!r}")


class SlurmExecutor:
    """Submits units to Slurm. A job of the same unit and options that is still in the queue is taken over instead.

    What Slurm refuses once it has accepted a job, because it is away or has enough of them, is tried again.
    Raises ``kfp.UsageError`` where submitit is not installed, ``kfp.ExecutorError`` where Slurm's commands are not.
    """

    name = "slurm"

    def __init__(self, options: SlurmOptions, *, deadline_s: float | None = None, jobs: int | None = None) -> None:
        try:
            import submitit
        except ImportError:
            raise UsageError("the executor 'slurm' needs submitit; python -m pip install 'kfp[slurm]'") from None
        missing = [command for command in ("sbatch", "srun", "squeue", "scancel") if shutil.which(command) is None]
        if missing:
            raise ExecutorError(
                f"{', '.join(missing)}: not on PATH; the executor 'slurm' works where Slurm's own commands do"
            )
        self.capacity = jobs
        self._submitit: Any = submitit
        self._options = options
        self._minutes = math.ceil((deadline_s + MARGIN_SECONDS) / 60) if deadline_s is not None else None
        self._queue = Queue()
        self._jobs: list[SlurmJob] = []
        self._accepted = False
        self._refused, self._try_again = "", float("-inf")

    def start(self, unit: Path, device: str) -> SlurmJob:
        unit = unit.resolve()
        if "%" in str(unit):
            raise UsageError(f"{unit}: a folder for Slurm can't have a % in its path, which Slurm would replace")
        job = SlurmJob(self, self._queue, unit, device)
        job.submit()
        self._jobs = [*(known for known in self._jobs if not known.ended), job]
        return job

    def close(self, cancel: bool) -> None:
        if cancel:
            self._queue.cancel([job.number for job in self._jobs if job.number is not None and not job.ended])

    @property
    def refused(self) -> str:
        """Why Slurm takes no jobs at the moment."""
        return self._refused

    def submitted(self, unit: Path, device: str) -> str | None:
        """The number of the unit's job; None where Slurm takes none at the moment."""
        if time.monotonic() < self._try_again:
            return None
        name = self._job_name(unit, device)
        number = self._queue.find(name)
        if number is None:
            try:
                number = self._submit(unit, device, name)
            except _Refused as refused:
                if not self._accepted or not any(words in str(refused) for words in PASSING):
                    raise ExecutorError(f"sbatch refused a job: {self._explained(str(refused))}") from None
                self._refused, self._try_again = str(refused), time.monotonic() + SECONDS_BETWEEN_TRIES
                return None
            self._queue.submitted(number)
        self._accepted, self._refused = True, ""
        return number

    def _job_name(self, unit: Path, device: str) -> str:
        """Tells units of other folders, and other ways to submit, apart."""
        asked = [str(unit), device, self._options.partition, self._options.licence, self._options.time]
        rest = json.dumps([*asked, dict(self._options.sbatch)], sort_keys=True)
        return f"kfp-{unit.name}-{hashlib.sha256(rest.encode()).hexdigest()[:8]}"

    def _submit(self, unit: Path, device: str, name: str) -> str:
        said = io.StringIO()
        try:
            # What sbatch says is in the exception; submitit prints it as well.
            with contextlib.redirect_stderr(said):
                executor = self._submitit.SlurmExecutor(folder=unit / "slurm")
                executor.update_parameters(**self._parameters(device, name))
                return str(executor.submit(run_worker, str(unit)).job_id)
        except (self._submitit.core.utils.FailedJobError, self._submitit.core.utils.FailedSubmissionError) as error:
            lines = [line.removeprefix("sbatch: ").removeprefix("error: ") for line in str(error).splitlines()]
            raise _Refused("; ".join(lines)) from None

    def _parameters(self, device: str, name: str) -> dict[str, Any]:
        options = self._options
        more: dict[str, Any] = {"no-requeue": True}
        if options.licence:
            more["licenses"] = options.licence.replace("{device}", device)
        if options.time:
            more["time"] = options.time
        for option, value in options.sbatch.items():
            if value is not False:
                more[option] = value.replace("{device}", device) if isinstance(value, str) else value
        return {
            "job_name": name,
            "partition": options.partition or None,
            "time": self._minutes,
            "wckey": None,
            # The worker is the only step, and its output goes to the unit's folder.
            "use_srun": False,
            "stderr_to_stdout": True,
            "additional_parameters": more,
        }

    def _explained(self, message: str) -> str:
        if "license" in message.lower():
            return f"{message} (licence {self._options.licence!r}; `scontrol show licenses` lists what there is)"
        if "partition" in message.lower():
            return f"{message} (partition {self._options.partition!r}; `sinfo` lists what there is)"
        return message


class _Refused(Exception):
    """What sbatch said."""


class SlurmJob:
    """A unit that is a job of Slurm's, or is to become one."""

    def __init__(self, executor: SlurmExecutor, queue: Queue, unit: Path, device: str) -> None:
        self._executor, self._queue, self._unit, self._device = executor, queue, unit, device
        self.number: str | None = None
        self.ended = False

    def submit(self) -> None:
        self.number = self._executor.submitted(self._unit, self._device)

    def state(self) -> JobState:
        if self.ended:
            return "ended"
        if self.number is None:
            try:
                self.submit()
            except ExecutorError:
                # Refused for good: the next start says so.
                self.ended = True
                return "ended"
            return "waiting"
        state = self._queue.state(self.number)
        self.ended = state == "ended"
        return state

    def cancel(self) -> None:
        if self.number is None:
            self.ended = True
        elif self.state() != "ended":
            self._queue.cancel([self.number])

    def describe(self) -> str:
        if self.number is None:
            return f"Slurm takes no job now: {self._executor.refused}"
        if self.ended:
            return f"Slurm job {self.number}, {self._unit}/slurm/{self.number}_0_log.out"
        reason = self._queue.reason(self.number)
        return f"Slurm job {self.number}{reason and f': {reason}'}"
