"""Workers of a sweep as tasks of a dask cluster; dask's workers offer a resource for each device they have."""

from __future__ import annotations

import json
import logging
import time
import uuid
from pathlib import Path
from typing import Any

from kfp.errors import ExecutorError, UsageError
from kfp.sweeping.executors.base import JobState
from kfp.sweeping.executors.remote import run_worker, stop_worker

TOPIC = "kfp-sweep"
# How long what the scheduler said of its workers is believed.
BELIEVED_SECONDS = 2.0
LOGGERS = ("distributed", "distributed.client")


def resource(device: str) -> str:
    """The resource that a dask worker offers for a device, as in ``dask worker … --resources kfp-cpu=1``."""
    return f"kfp-{device}"


def run_task(unit: str, name: str) -> int:
    """What dask runs: tells where it runs, then does the unit."""
    from distributed import get_worker

    worker = get_worker()
    worker.log_event(TOPIC, {"task": name, "worker": worker.address})
    return run_worker(unit)


async def stop_task(unit: str) -> None:
    """What dask runs on its workers for a unit that is to stop; of a coroutine it does not wait for the end."""
    stop_worker(unit)


class DaskExecutor:
    """Hands units to the scheduler at ``tcp://HOST:PORT``, or to the one that a scheduler file names.

    Raises ``kfp.UsageError`` where dask is not installed, ``kfp.ExecutorError`` where no scheduler answers within
    ``seconds``.
    """

    name = "dask"

    def __init__(self, scheduler: str, *, jobs: int | None = None, seconds: float = 10.0) -> None:
        try:
            import distributed
        except ImportError:
            raise UsageError("the executor 'dask' needs dask; python -m pip install 'kfp[dask]'") from None
        self.capacity = jobs
        self._distributed: Any = distributed
        # A scheduler that goes away is told of by ``start``, in a sentence and not in tracebacks.
        self._log_levels = {name: logging.getLogger(name).level for name in LOGGERS}
        for name in LOGGERS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._scheduler, self._seconds = scheduler, seconds
        self._jobs: list[DaskJob] = []
        self._began: dict[str, str] = {}
        self._refusal: str | None = None
        self._offers: tuple[float, list[dict[str, float]]] = (float("-inf"), [])
        self._client: Any = self._connect()

    def start(self, unit: Path, device: str) -> DaskJob:
        if self._refusal is not None:
            raise ExecutorError(self._refusal)
        if device == "auto":
            raise UsageError("the executor 'dask' has to know the device; name it, as in devices = [\"cpu\"]")
        self._reconnect()
        job = DaskJob(self, unit.resolve(), device)
        self._jobs = [*(known for known in self._jobs if not known.ended), job]
        return job

    def close(self, cancel: bool) -> None:
        if cancel:
            for job in self._jobs:
                job.cancel()
        self._client.close(timeout=self._seconds)
        for name, level in self._log_levels.items():
            logging.getLogger(name).setLevel(level)

    @property
    def connected(self) -> bool:
        return bool(self._client.status == "running")

    def submit(self, unit: Path, device: str) -> Any:
        """Dask's future of a task that does the unit."""
        name = f"kfp-{unit.name}-{uuid.uuid4().hex[:8]}"
        wanted = {resource(device): 1}
        return self._client.submit(run_task, str(unit), name, key=name, pure=False, retries=0, resources=wanted)

    def stop(self, future: Any, unit: Path) -> None:
        """Dask can't end a task that runs: the worker that has its process ends it."""
        if self.connected:
            future.cancel(force=True)
            self._client.run(stop_task, str(unit), wait=False, on_error="ignore")

    def runs_on(self, name: str) -> str | None:
        return self._began.get(name)

    def offered(self, device: str) -> tuple[int, int]:
        """How many workers the cluster has, and how many of them offer the device."""
        asked, offers = self._offers
        if self.connected and time.monotonic() - asked > BELIEVED_SECONDS:
            workers = self._client.sync(self._client.scheduler.identity)["workers"].values()
            offers = [worker["resources"] for worker in workers]
            self._offers = (time.monotonic(), offers)
        return len(offers), sum(resource(device) in offer for offer in offers)

    def died_waiting(self, future: Any) -> bool:
        """Whether the error is that a worker died which the task was queued at; dask blames all of them alike.

        Any other error would come again and again: it is what the next ``start`` raises.
        """
        error = future.exception(timeout=self._seconds)
        if isinstance(error, self._distributed.KilledWorker):
            return self.connected and future.key not in self._began
        self._refusal = f"a dask worker can't do a unit: {error or type(error).__name__}"
        return False

    def _connect(self) -> Any:
        # What a constructor leaves half made would wait for its end at the exit, unless it is told that it is closed.
        client = self._distributed.Client.__new__(self._distributed.Client)
        try:
            client.__init__(_address(self._scheduler), timeout=self._seconds, set_as_default=False, name="kfp-sweep")
        except (OSError, ValueError, TypeError, ImportError) as error:
            client.status = "closed"
            raise ExecutorError(
                f"no dask scheduler at {self._scheduler!r}: {error or type(error).__name__}; "
                "expected the address that `dask scheduler` printed, as in tcp://127.0.0.1:8786, or its scheduler file"
            ) from None
        client.subscribe_topic(TOPIC, self._note)
        return client

    def _reconnect(self) -> None:
        give_up = time.monotonic() + self._seconds
        while self._client.status == "connecting" and time.monotonic() < give_up:
            time.sleep(0.1)
        if not self.connected:
            self._client.close(timeout=self._seconds)
            try:
                self._client = self._connect()
            except ExecutorError:
                raise ExecutorError(
                    f"the dask scheduler at {self._scheduler!r} is gone, and none answers there; what is done is kept, "
                    "and the same command goes on once there is one"
                ) from None

    def _note(self, event: tuple[float, dict[str, str]]) -> None:
        self._began[event[1]["task"]] = event[1]["worker"]


def _address(scheduler: str) -> str:
    """Raises ``ValueError`` or ``OSError`` for a file that is none of a scheduler's."""
    if not Path(scheduler).is_file():
        return scheduler
    said = json.loads(Path(scheduler).read_text(encoding="utf-8"))
    if not isinstance(said, dict) or not isinstance(said.get("address"), str):
        raise ValueError("no scheduler's file")
    return str(said["address"])


class DaskJob:
    """A unit that is a task of dask's."""

    def __init__(self, executor: DaskExecutor, unit: Path, device: str) -> None:
        self._executor, self._unit, self._device = executor, unit, device
        self._future = executor.submit(unit, device)
        self.ended = False

    def state(self) -> JobState:
        if self.ended:
            return "ended"
        status = self._future.status
        if status == "error" and self._executor.died_waiting(self._future):
            self._future = self._executor.submit(self._unit, self._device)
            status = "pending"
        if status != "pending":
            self.ended = True
            return "ended"
        if not self._executor.connected:
            return "unknown"
        return "running" if self._executor.runs_on(self._future.key) else "waiting"

    def cancel(self) -> None:
        if self.state() != "ended":
            self._executor.stop(self._future, self._unit)

    def describe(self) -> str:
        worker = self._executor.runs_on(self._future.key)
        if worker is not None:
            return f"dask worker {worker}"
        workers, offering = self._executor.offered(self._device)
        if self.ended or offering:
            return "dask"
        wanted = resource(self._device)
        return f"dask: none of {workers} workers offers {wanted} (dask worker … --resources {wanted}=1)"
