"""A thread beside a worker's search: renews the lease, and ends the worker when it is lost or time is up."""

from __future__ import annotations

import os
import select
import signal
import sys
import threading
import time
from types import TracebackType
from typing import NoReturn

from kfp.errors import RunError
from kfp.sweeping.executors.base import HELD, OVERTIME, STOPPED
from kfp.sweeping.folder import Failure, UnitFolder
from kfp.sweeping.leases import Lease

RENEWALS = 4
# For a search to come to an end by itself after it was asked to.
PATIENCE_SECONDS = 20.0


class Stopped(BaseException):
    """The worker was asked to stop. Not an ``Exception``: nothing on the way may take it for an error."""


def stop_on(*signals: signal.Signals) -> None:
    """Lets the signals end the main thread with ``Stopped``, once."""

    def stop(number: int, frame: object) -> None:
        for one in signals:
            signal.signal(one, signal.SIG_IGN)
        raise Stopped(signal.Signals(number).name)

    for one in signals:
        signal.signal(one, stop)


class Keeper:
    """While it is entered, the lease is renewed. ``tether``: a descriptor that whoever started the worker holds the
    other end of; its end is a request to stop.
    """

    def __init__(self, lease: Lease, folder: UnitFolder, deadline_s: float | None, tether: int | None) -> None:
        self._lease, self._folder, self._deadline_s, self._tether = lease, folder, deadline_s, tether
        self._wake, self._waker = os.pipe()
        self._thread = threading.Thread(target=self._keep, daemon=True, name="kfp-keeper")

    def __enter__(self) -> Keeper:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        os.write(self._waker, b"x")
        self._thread.join()
        os.close(self._wake)
        os.close(self._waker)

    def _keep(self) -> None:
        interval = self._lease.record.lease_s / RENEWALS
        end = time.monotonic() + self._deadline_s if self._deadline_s is not None else float("inf")
        renewed, stop_by = time.monotonic(), float("inf")
        watched = [self._wake, *([self._tether] if self._tether is not None else [])]
        while True:
            now = time.monotonic()
            wait = max(0.0, min(renewed + interval, end, stop_by) - now)
            ready, _, _ = select.select(watched, [], [], wait)
            if self._wake in ready:
                return
            if self._tether in ready:
                watched, stop_by = [self._wake], time.monotonic() + PATIENCE_SECONDS
                os.kill(os.getpid(), signal.SIGTERM)
            if time.monotonic() >= stop_by:
                self._leave("it did not stop when it was asked to", STOPPED)
            if time.monotonic() >= end:
                self._overtime()
            if time.monotonic() >= renewed + interval:
                renewed = self._renew(renewed)

    def _renew(self, last: float) -> float:
        """A folder out of reach is no reason to stop before the lease's time is over."""
        try:
            if self._lease.superseded:
                self._leave("another worker has taken its lease", HELD)
            self._lease.renew()
        except RunError as error:
            if time.monotonic() - last > self._lease.record.lease_s:
                self._leave(f"its lease can't be renewed: {error}", HELD)
            # Tried again soon.
            return last + min(1.0, self._lease.record.lease_s / RENEWALS)
        return time.monotonic()

    def _overtime(self) -> NoReturn:
        reason = f"it took longer than the {self._deadline_s:g} s that an attempt may"
        try:
            if self._folder.done() is None:
                self._folder.write_failure(Failure(self._lease.generation, "deadline", reason))
                self._lease.release("failed")
        finally:
            self._leave(reason, OVERTIME)

    @staticmethod
    def _leave(reason: str, code: int) -> NoReturn:
        """At once: the main thread may be anywhere, and must not write any more."""
        try:
            print(f"kfp sweep: worker ended: {reason}", file=sys.stderr, flush=True)
        finally:
            os._exit(code)
