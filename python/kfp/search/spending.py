"""Caps on money and tokens. What is in flight counts as spent, at the most that it can cost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from kfp.errors import BudgetError
from kfp.search.models.base import Model, Reply, Request, Usage
from kfp.search.models.prices import Price

MANY = 1000


class CapReached(Exception):
    """The next call could go beyond a cap; nothing was asked."""


class Purse:
    """What a run may spend and has spent. Safe to use from several threads."""

    def __init__(self, price: Price | None, budget_usd: float | None, budget_tokens: int | None) -> None:
        self.price = price
        self.budget_usd = budget_usd
        self.budget_tokens = budget_tokens
        self.usage = Usage()
        # What the answers cost, and the same with every attempt that was lost counted at its most.
        self.cost_usd = 0.0
        self.bound_usd = 0.0
        self._in_flight = 0.0
        self._lock = threading.Lock()

    def require_enough_for(self, model: Model, request: Request, candidates: int) -> None:
        """Before anything is spent. Raises ``kfp.BudgetError``."""
        if self.budget_tokens is not None and self.budget_tokens < 1:
            raise BudgetError(f"token budget: expected at least 1, got {self.budget_tokens}")
        if self.budget_usd is None:
            return
        if not 0 < self.budget_usd < float("inf"):
            raise BudgetError(f"budget: expected a finite amount above 0, got {self.budget_usd}")
        if self.price is None:
            raise BudgetError(
                f"budget: no price is known for {model.name}, so a cap of ${self.budget_usd:.2f} can't be kept; "
                "name a list that has it with KFP_PRICES, or leave out the cap"
            )
        need = candidates * self.most(request)
        if need > self.budget_usd:
            raise BudgetError(
                f"budget: ${self.budget_usd:.2f} can't pay for one iteration, which may cost ${need:.2f} "
                f"({candidates} call{'s' if candidates > 1 else ''} with up to {request.max_tokens} output tokens); "
                "raise the cap or lower --max-tokens"
            )

    def most(self, request: Request) -> float:
        return self.price.most(request.most_input_tokens, request.max_tokens) if self.price else 0.0

    @contextmanager
    def reserved(self, request: Request) -> Iterator[int]:
        """Holds back what an attempt may cost; gives the number of attempts that may be lost before the cap is in
        danger. Raises ``CapReached`` instead of going beyond a cap.
        """
        most = self.most(request)
        with self._lock:
            if self.budget_tokens is not None and self.usage.total >= self.budget_tokens:
                raise CapReached(f"{self.usage.total} of {self.budget_tokens} tokens are used")
            committed = self.bound_usd + self._in_flight
            if self.budget_usd is not None and committed + most > self.budget_usd:
                raise CapReached(
                    f"${committed:.2f} of ${self.budget_usd:.2f} are spent, and the next call may cost ${most:.2f}"
                )
            free = MANY if self.budget_usd is None or not most else int((self.budget_usd - committed) / most)
            alone = self._in_flight == 0.0
            self._in_flight += most
        try:
            yield free if alone else 1
        finally:
            with self._lock:
                self._in_flight -= most

    def settle(self, request: Request, reply: Reply) -> tuple[float, float]:
        """Books an answer, a recorded one too; (what it cost, the most that it and its lost attempts can have cost)."""
        cost = self.cost(reply.usage)
        bound = cost + reply.lost_attempts * self.most(request)
        with self._lock:
            self.usage += reply.usage
            self.cost_usd += cost
            self.bound_usd += bound
        return cost, bound

    def cost(self, usage: Usage) -> float:
        if self.price is None:
            return 0.0
        fresh = max(usage.input - usage.cached - usage.cache_written, 0)
        return self.price.cost(fresh=fresh, cached=usage.cached, cache_written=usage.cache_written, output=usage.output)
