"""Workers of a sweep as jobs of Slurm, submitted through submitit; a licence may stand for the device."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import re
import shutil
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

    Raises ``kfp.UsageError`` where submitit is not installed, ``kfp.ExecutorError`` where Slurm's commands are not.
    """

    name = "slurm"
    capacity: int | None = None

    def __init__(self, options: SlurmOptions, *, deadline_s: float | None = None) -> None:
        try:
            import submitit
        except ImportError:
            raise UsageError("the executor 'slurm' needs submitit; python -m pip install 'kfp[slurm]'") from None
        missing = [command for command in ("sbatch", "srun", "squeue", "scancel") if shutil.which(command) is None]
        if missing:
            raise ExecutorError(
                f"{', '.join(missing)}: not on PATH; the executor 'slurm' works where Slurm's own commands do"
            )
        self._submitit: Any = submitit
        self._options = options
        self._minutes = math.ceil((deadline_s + MARGIN_SECONDS) / 60) if deadline_s is not None else None
        self._queue = Queue()
        self._jobs: list[SlurmJob] = []

    def start(self, unit: Path, device: str) -> SlurmJob:
        unit = unit.resolve()
        name = self._job_name(unit, device)
        number = self._queue.find(name)
        if number is None:
            number = self._submit(unit, device, name)
            self._queue.submitted(number)
        job = SlurmJob(self._queue, number)
        self._jobs = [*(known for known in self._jobs if not known.ended), job]
        return job

    def close(self, cancel: bool) -> None:
        if cancel:
            self._queue.cancel([job.number for job in self._jobs if job.state() != "ended"])

    def _job_name(self, unit: Path, device: str) -> str:
        """Tells units of other folders, and other ways to submit, apart."""
        asked = [str(unit), device, self._options.partition, self._options.licence, self._options.time]
        rest = json.dumps([*asked, dict(self._options.sbatch)], sort_keys=True)
        return f"kfp-{unit.name}-{hashlib.sha256(rest.encode()).hexdigest()[:8]}"

    def _submit(self, unit: Path, device: str, name: str) -> str:
        if "%" in str(unit):
            raise UsageError(f"{unit}: a folder for Slurm can't have a % in its path, which Slurm would replace")
        said = io.StringIO()
        try:
            # What sbatch says is in the exception; submitit prints it as well.
            with contextlib.redirect_stderr(said):
                executor = self._submitit.SlurmExecutor(folder=unit / "slurm")
                executor.update_parameters(**self._parameters(device, name))
                return str(executor.submit(run_worker, str(unit)).job_id)
        except (self._submitit.core.utils.FailedJobError, self._submitit.core.utils.FailedSubmissionError) as error:
            raise ExecutorError(f"sbatch refused a job: {self._explained(str(error))}") from None

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
        message = "; ".join(line.removeprefix("sbatch: ").removeprefix("error: ") for line in message.splitlines())
        if "license" in message.lower():
            return f"{message} (licence {self._options.licence!r}; `scontrol show licenses` lists what there is)"
        if "partition" in message.lower():
            return f"{message} (partition {self._options.partition!r}; `sinfo` lists what there is)"
        return message


class SlurmJob:
    """A unit that is a job of Slurm's."""

    def __init__(self, queue: Queue, number: str) -> None:
        self._queue, self.number = queue, number
        self.ended = False

    def state(self) -> JobState:
        if not self.ended:
            state = self._queue.state(self.number)
            self.ended = state == "ended"
            return state
        return "ended"

    def cancel(self) -> None:
        if self.state() != "ended":
            self._queue.cancel([self.number])

    def describe(self) -> str:
        reason = "" if self.ended else self._queue.reason(self.number)
        return f"Slurm job {self.number}{reason and f': {reason}'}"
