"""Caps on money and tokens, and the one layer that tries again."""

from __future__ import annotations

import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kfp.errors import ModelError
from kfp.search.models.attempts import Transient, Watch, repeat, within
from kfp.search.models.base import Reply, Request, Usage
from kfp.search.models.prices import Price
from kfp.search.spending import CapReached, Purse

PRICE = Price(3.0, 0.3, 3.75, 15.0, "2026-01-01")


def request(prompt: int = 1000, output: int = 1000) -> Request:
    return Request("", "x" * prompt, 1, 1, output, 10.0)


def reply(usage: Usage, lost: int = 0) -> Reply:
    return Reply("m", "", "", "end", "", usage, 0.0, 1 + lost, lost, "")


@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(1, 5000), st.integers(0, 2)), max_size=30),
    st.floats(0.01, 1.0),
)
def test_a_cap_is_never_exceeded(calls: list[tuple[int, int, int]], cap: float) -> None:
    purse = Purse(PRICE, cap, None)
    for prompt, output, lost in calls:
        asked = request(prompt, output)
        try:
            with purse.reserved(asked) as affordable:
                assert affordable >= 1
                # An attempt that is lost may be followed by another one only while the cap allows both.
                lost = min(lost, affordable - 1)
                used = Usage(input=prompt, output=output)
                purse.settle(asked, reply(used, lost))
        except CapReached:
            continue
        assert purse.cost_usd <= purse.bound_usd <= cap * (1 + 1e-9)


def test_calls_in_flight_count() -> None:
    asked = request(output=10_000)
    purse = Purse(PRICE, 2.5 * PRICE.most(1000, 10_000), None)
    with purse.reserved(asked), purse.reserved(asked) as affordable:
        # With another one in flight an attempt that is lost ends the call.
        assert affordable == 1
        with pytest.raises(CapReached, match="the next call may cost"), purse.reserved(asked):
            pass
    with purse.reserved(asked):
        pass


def test_cached_tokens_are_cheaper_and_thinking_is_output() -> None:
    purse = Purse(PRICE, None, None)
    usage = Usage(input=1_000_000, cached=600_000, cache_written=100_000, output=100_000, thinking=90_000)
    assert purse.cost(usage) == pytest.approx(0.3 * 3.0 + 0.6 * 0.3 + 0.1 * 3.75 + 0.1 * 15.0)


def test_tokens_are_counted() -> None:
    purse = Purse(None, None, 100)
    with purse.reserved(request()):
        purse.settle(request(), reply(Usage(input=80, output=30)))
    with pytest.raises(CapReached, match="110 of 100 tokens"), purse.reserved(request()):
        pass


def test_attempts_end_with_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kfp.search.models.attempts.FIRST_WAIT_SECONDS", 0.001)

    def busy(watch: Watch) -> str:
        raise Transient("busy")

    attempts = repeat(busy, 10.0, 1000)
    assert attempts.answer is None
    assert attempts.count == 6
    assert "gave up after 6 attempts" in attempts.reason


def test_lost_attempts_end_with_the_money() -> None:
    def lost(watch: Watch) -> str:
        raise Transient("dropped", sent=True)

    attempts = repeat(lost, 10.0, 1)
    assert (attempts.count, attempts.lost) == (1, 1)
    assert "beyond the cap" in attempts.reason


def test_what_fails_for_good_passes_through() -> None:
    def hopeless(watch: Watch) -> str:
        raise ModelError("no such model")

    with pytest.raises(ModelError, match="no such model"):
        repeat(hopeless, 10.0, 1000)


def test_an_attempt_that_hangs_is_closed_and_left() -> None:
    closed = threading.Event()

    def hanging(watch: Watch) -> str:
        watch.closes(closed.set)
        closed.wait(30)
        return "too late"

    started = time.monotonic()
    with pytest.raises(Transient, match="no complete answer") as caught:
        within(hanging, 0.1)
    assert caught.value.sent
    assert closed.is_set()
    assert time.monotonic() - started < 10


def test_a_connection_that_does_not_close_is_left_all_the_same() -> None:
    release = threading.Event()

    def stubborn(watch: Watch) -> str:
        watch.closes(lambda: (_ for _ in ()).throw(OSError("will not")))
        release.wait(30)
        return "too late"

    with pytest.raises(Transient):
        within(stubborn, 0.1)
    release.set()
