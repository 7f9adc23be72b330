"""A ledger on disk: a line per look, appended under a lock, each line tied to the one before."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from kfp.errors import LedgerError, LookRefused
from kfp.ledger.entries import ORIGIN, Entry, line_of, parse
from kfp.ledger.policies import Answer, Ask, Policy
from kfp.runs.files import read, refusals, write


class Ledger:
    """``look`` asks the policy, makes the look and records it; a refusal is recorded, too.

    A look is on the books before it is made, so that whoever is killed in between has still looked. Beside the file
    lies ``<name>.head`` with the number and the digest of the last entry: lines that were cut off at the end are
    missed. Raises ``kfp.LedgerError`` for a ledger that has been changed, ``kfp.LookRefused`` for what the policy does
    not allow.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._head = path.with_name(path.name + ".head")

    def entries(self, run: str | None = None) -> tuple[Entry, ...]:
        """All entries, or those of one run, after the chain has been followed to its end."""
        if not self.path.is_file():
            if self._head.is_file():
                raise LedgerError(f"{self.path}: the ledger is missing, only its head is there")
            return ()
        entries = parse(read(self.path), str(self.path))
        last = entries[-1] if entries else None
        expected = read(self._head).split() if self._head.is_file() else []
        found = [str(last.number), last.digest] if last else ["0", ORIGIN]
        # A process that was killed between the two files leaves the head one entry behind.
        behind = [str(last.number - 1), last.previous] if last else []
        if expected not in (found, behind) and not (len(entries) <= 1 and not expected):
            raise LedgerError(f"{self.path}: it ends with entry {found[0]}, its head says {' '.join(expected)[:80]!r}")
        return tuple(entry for entry in entries if run is None or entry.run == run)

    def look(
        self,
        policy: Policy,
        ask: Ask,
        configurations: Sequence[str],
        purpose: str,
        measure: Callable[[], float],
    ) -> Answer:
        """What ``measure`` finds, as far as ``policy`` releases it."""
        with self._locked():
            looks = self._looks(policy, ask.run)
            reason = policy.refusal(ask, looks)
            if reason:
                self._append(self._entry(policy.name, ask, configurations, purpose), kind="refusal", reason=reason)
                raise LookRefused(f"run {ask.run!r}: {policy.name}: {reason}")
            if not any(entry.look == ask.look for entry in looks):
                begun = self._entry(policy.name, ask, configurations, purpose)
                self._append(begun, kind="look", reason="begun")
        found = measure()
        with self._locked():
            looks = [entry for entry in self._looks(policy, ask.run) if entry.reason != "begun"]
            answer = policy.answer(ask, looks, found)
            finished = self._entry(policy.name, ask, configurations, purpose)
            self._append(replace(finished, bits=answer.bits, released=answer.released), kind="look", reason="finished")
        return answer

    def note(
        self, ask: Ask, configurations: Sequence[str], purpose: str, policy: str, bits: float, released: float | None
    ) -> None:
        """Records a look that no policy here was asked about; once, however often it is noted."""
        with self._locked():
            if any(entry.look == ask.look and entry.policy == policy for entry in self.entries(ask.run)):
                return
            entry = self._entry(policy, ask, configurations, purpose)
            self._append(replace(entry, bits=bits, released=released), kind="look", reason="noted")

    def _looks(self, policy: Policy, run: str) -> list[Entry]:
        return [entry for entry in self.entries(run) if entry.kind == "look" and entry.policy == policy.name]

    @staticmethod
    def _entry(policy: str, ask: Ask, configurations: Sequence[str], purpose: str) -> Entry:
        return Entry(
            number=0,
            time=datetime.now(timezone.utc).isoformat(timespec="seconds"),
            kind="look",
            run=ask.run,
            candidate=ask.candidate,
            look=ask.look,
            configurations=tuple(configurations),
            purpose=purpose,
            policy=policy,
            bits=0.0,
            released=None,
            reason="",
            previous="",
            digest="",
        )

    def _append(self, entry: Entry, *, kind: str, reason: str) -> None:
        entries = self.entries()
        previous = entries[-1].digest if entries else ORIGIN
        linked = replace(entry, kind=kind, reason=reason, number=len(entries) + 1, previous=previous)  # type: ignore[arg-type]
        linked = replace(linked, digest=linked.computed_digest())
        with refusals(self.path), self.path.open("a", encoding="utf-8") as file:
            file.write(line_of(linked))
            file.flush()
            os.fsync(file.fileno())
        write(self._head, f"{linked.number} {linked.digest}\n")

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with refusals(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path.with_name(self.path.name + ".lock"), os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)
