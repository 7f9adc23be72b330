"""The one retry layer: attempts with a deadline of our own over all of them, whatever a server or an SDK does."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kfp.errors import ModelError

T = TypeVar("T")

MOST_ATTEMPTS = 6
FIRST_WAIT_SECONDS = 1.0
# Beyond this a server's retry-after is no longer a wait but a refusal.
LONGEST_WAIT_SECONDS = 120.0


class Transient(Exception):
    """An attempt failed in a way that another one may not. ``sent`` says whether it may have cost money."""

    def __init__(self, reason: str, retry_after: float | None = None, *, sent: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after = retry_after
        self.sent = sent


@dataclass
class Attempts(Generic[T]):
    """What ``repeat`` did: ``answer`` is None when nothing worked, and ``reason`` says why."""

    answer: T | None = None
    count: int = 0
    lost: int = 0
    reason: str = ""
    started: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.started


def repeat(attempt: Callable[[Watch], T], seconds: float, most_lost: int) -> Attempts[T]:
    """Calls ``attempt`` until it answers, fails for good (``kfp.ModelError`` passes through), or time is up."""
    attempts: Attempts[T] = Attempts()
    while True:
        left = seconds - attempts.seconds
        attempts.count += 1
        try:
            attempts.answer = within(attempt, left)
            return attempts
        except Transient as failure:
            attempts.lost += failure.sent
            attempts.reason = failure.reason
            wait = _wait_seconds(failure.retry_after, attempts.count)
        left = seconds - attempts.seconds
        if attempts.lost >= most_lost:
            attempts.reason += "; another attempt could go beyond the cap"
            return attempts
        if attempts.count >= MOST_ATTEMPTS:
            attempts.reason += f"; gave up after {attempts.count} attempts"
            return attempts
        if wait > min(left, LONGEST_WAIT_SECONDS):
            rest = f"of {seconds:.0f} s {max(left, 0.0):.0f} s are left"
            attempts.reason += f"; the next attempt would have to wait {wait:.0f} s, {rest}"
            return attempts
        time.sleep(wait)


def _wait_seconds(asked: float | None, count: int) -> float:
    """What the server asked for, if that is a time to wait; else twice as long each time, with jitter."""
    if asked is not None and asked >= 0:
        return asked
    return FIRST_WAIT_SECONDS * 2.0 ** (count - 1) * random.uniform(0.75, 1.25)


class Watch:
    """Handed to an attempt: how long it may take, and where it leaves what closes its connection."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._close: Callable[[], None] = lambda: None

    def closes(self, close: Callable[[], None]) -> None:
        self._close = close

    def close(self) -> None:
        # From another thread than the one that reads: whatever that raises is no longer of interest.
        try:
            self._close()
        except Exception:
            return


def within(attempt: Callable[[Watch], T], seconds: float) -> T:
    """Runs an attempt in a thread of its own and stops waiting when its time is up.

    A client's own time-out restarts with every byte, so a server that trickles would hold it for ever.
    """
    watch = Watch(seconds)
    outcome: list[T] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            outcome.append(attempt(watch))
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    threading.Thread(target=run, daemon=True, name="kfp-model-call").start()
    try:
        finished = done.wait(max(seconds, 0.0))
    except BaseException:
        watch.close()
        raise
    if not finished:
        watch.close()
        raise Transient(f"no complete answer within {seconds:.0f} s", sent=True)
    if not failure:
        return outcome[0]
    if isinstance(failure[0], Transient | ModelError):
        raise failure[0]
    raise ModelError(f"{type(failure[0]).__name__}: {failure[0]}") from None
