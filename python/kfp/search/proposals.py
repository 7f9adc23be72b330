"""From a question to kernels: ask, keep the answer before anything else happens, take the code out of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from kfp.errors import ModelError
from kfp.runs.folder import RunWriter
from kfp.runs.records import Answer
from kfp.search.extraction import largest_block
from kfp.search.models.base import Model, Reply, Request
from kfp.search.spending import CapReached, Purse

MOST_AT_ONCE = 8


@dataclass(frozen=True)
class Proposal:
    """What a model answered, and the kernel in it if there is one. ``fresh``: asked for now, not found on disk."""

    number: int
    reply: Reply
    answer: Answer
    source: str | None
    cost_usd: float
    bound_usd: float
    fresh: bool


@dataclass(frozen=True)
class Proposer:
    """Asks one model for the candidates of an iteration. An answer that is on disk is not paid for again."""

    model: Model
    purse: Purse
    folder: RunWriter

    def propose(self, request: Request, candidates: int) -> list[Proposal]:
        """Raises ``CapReached`` before a call that a cap can't pay for, ``kfp.ModelError`` when asking is no use."""
        requests = [replace(request, candidate=number) for number in range(1, candidates + 1)]
        missing = [r for r in requests if self.folder.reply(r.iteration, r.candidate) is None]
        fresh = {r.candidate for r in missing}
        if len(missing) == 1:
            self._ask(missing[0])
        elif missing:
            self._ask_at_once(missing)
        return [self._proposal(r, r.candidate in fresh) for r in requests]

    def _ask_at_once(self, requests: list[Request]) -> None:
        """Every answer that comes is kept, also when another call fails or the user interrupts."""
        failures: list[BaseException] = []
        stopped = threading.Event()

        def ask(request: Request) -> None:
            if stopped.is_set():
                return
            try:
                self._ask(request)
            except BaseException as error:
                failures.append(error)

        pool = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="kfp-propose")
        try:
            for future in [pool.submit(ask, request) for request in requests]:
                future.result()
        except BaseException:
            stopped.set()
            raise
        finally:
            pool.shutdown(wait=not stopped.is_set(), cancel_futures=True)
        # A call that can never work says more than a cap that another one ran into.
        for error in sorted(failures, key=lambda failure: not isinstance(failure, ModelError)):
            raise error

    def _ask(self, request: Request) -> None:
        with self.purse.reserved(request) as affordable:
            room = self.folder.reserve_reply(request.iteration, request.candidate, request.max_tokens)
            try:
                reply = self.model.ask(replace(request, most_lost=affordable))
                room.fill(reply.to_json())
            finally:
                room.release()
            self.purse.settle(request, reply)

    def _proposal(self, request: Request, fresh: bool) -> Proposal:
        reply = self.folder.reply(request.iteration, request.candidate)
        assert reply is not None
        cost = self.purse.cost(reply.usage)
        bound = cost + reply.lost_attempts * self.purse.most(request)
        if not fresh:
            self.purse.settle(request, reply)
        answer, source = _kernel_in(reply)
        if source is not None:
            self.folder.write_candidate(request.iteration, request.candidate, source)
        return Proposal(request.candidate, reply, answer, source, cost, bound, fresh)


def _kernel_in(reply: Reply) -> tuple[Answer, str | None]:
    """A cut-off answer may still hold a complete block; a refused one is taken at its word."""
    if reply.stop == "no answer":
        return "no answer", None
    if reply.stop == "refusal":
        return "refusal", None
    source = largest_block(reply.text)
    if source is not None:
        return ("truncated" if reply.stop == "length" else "kernel"), source
    if reply.stop == "length":
        return "truncated", None
    return ("no code" if reply.text.strip() else "empty"), None


__all__ = ["CapReached", "Proposal", "Proposer"]
