"""The real SDKs against a server on this machine: what comes back, what is tried again, what is given up and why."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from kfp.errors import ModelError
from kfp.search.extraction import largest_block
from kfp.search.models import open_model
from kfp.search.models.base import Model, Request
from kfp.tasks import get_task
from search import loopback as api
from search.conftest import KEY
from search.loopback import Behaviour, Loopback

ANSWER = "Here it is.\n\n```metal\nkernel void saxpy() {}\n```\n"


@dataclass(frozen=True)
class Provider:
    """One way to ask, and how its server says the same things."""

    form: str
    good: Callable[..., list[bytes]]
    length: dict[str, Any]
    refusal: dict[str, Any]
    broken_off: dict[str, Any]


PROVIDERS = {
    "anthropic": Provider(
        "anthropic/claude-test@{url}",
        api.anthropic_events,
        {"stop": "max_tokens"},
        {"stop": "refusal"},
        {"stop": None},
    ),
    "openai": Provider(
        "openai/gpt-test@{url}/v1",
        api.openai_events,
        {"status": "incomplete", "reason": "max_output_tokens"},
        {"refusal": "I would rather not."},
        {"status": None},
    ),
    "local": Provider(
        "local/some-model@{url}/v1",
        api.chat_events,
        {"finish": "length"},
        {"finish": "content_filter"},
        {"finish": None},
    ),
    "gemini": Provider(
        "gemini/gemini-test@{url}/v1",
        api.chat_events,
        {"finish": "length"},
        {"finish": "content_filter"},
        {"finish": None},
    ),
}
NAMES = list(PROVIDERS)


def model_of(name: str, server: Loopback) -> Model:
    return open_model(PROVIDERS[name].form.format(url=server.url), get_task("saxpy"))


def request(seconds: float = 20.0, effort: str = "") -> Request:
    return Request("You write kernels.", "Write one.", 1, 1, 32_000, seconds, effort)


def good(name: str, text: str = ANSWER, **changes: Any) -> Behaviour:
    return api.stream(PROVIDERS[name].good(text, **changes))


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kfp.search.models.attempts.FIRST_WAIT_SECONDS", 0.01)


@pytest.mark.parametrize("name", NAMES)
def test_an_answer(name: str, loopback: Loopback) -> None:
    loopback.behaviours = [good(name, thinking="Let me see.")]
    reply = model_of(name, loopback).ask(request())
    assert (reply.text, reply.thinking, reply.stop, reply.detail) == (ANSWER, "Let me see.", "end", "")
    assert reply.answered_by.endswith("-answering")
    assert (reply.usage.input, reply.usage.output) == (100, 40)
    assert (reply.attempts, reply.lost_attempts) == (1, 0)
    ((_, headers, body),) = loopback.requests
    assert body["stream"] is True
    assert "Write one." in json.dumps(body)
    assert "You write kernels." in json.dumps(body)
    if name != "local":
        assert KEY in json.dumps(headers)


def test_anthropic_counts_cached_tokens_as_input_and_thinking_as_output(loopback: Loopback) -> None:
    usage = {
        "input_tokens": 100, "cache_read_input_tokens": 1000, "cache_creation_input_tokens": 50, "output_tokens": 40,
        "output_tokens_details": {"thinking_tokens": 25},
    }  # fmt: skip
    loopback.behaviours = [good("anthropic", usage=usage)]
    found = model_of("anthropic", loopback).ask(request()).usage
    assert (found.input, found.cached, found.cache_written, found.output, found.thinking) == (1150, 1000, 50, 40, 25)


def test_openai_counts_cached_tokens_as_part_of_input(loopback: Loopback) -> None:
    loopback.behaviours = [good("openai")]
    found = model_of("openai", loopback).ask(request()).usage
    assert (found.input, found.cached, found.output, found.thinking) == (100, 60, 40, 25)


def test_thinking_that_only_the_total_counts_is_paid_for(loopback: Loopback) -> None:
    loopback.behaviours = [good("gemini", total=200)]
    found = model_of("gemini", loopback).ask(request()).usage
    assert (found.input, found.output, found.thinking) == (100, 100, 60)


def test_the_older_name_of_reasoning(loopback: Loopback) -> None:
    loopback.behaviours = [good("local", thinking="Hm.", field="reasoning_content")]
    assert model_of("local", loopback).ask(request()).thinking == "Hm."


def test_effort_is_passed_on(loopback: Loopback) -> None:
    loopback.behaviours = [good("anthropic"), good("openai"), good("local")]
    for name in ("anthropic", "openai", "local"):
        model_of(name, loopback).ask(request(effort="high"))
    first, second, third = (body for _, _, body in loopback.requests)
    assert first["output_config"] == {"effort": "high"}
    assert first["thinking"]["type"] == "adaptive"
    assert second["reasoning"]["effort"] == "high"
    assert third["reasoning_effort"] == "high"


OVERLOADED = {429: "rate_limit_error", 529: "overloaded_error"}


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", OVERLOADED)
def test_what_passes_is_tried_again_once_a_time(name: str, status: int, loopback: Loopback) -> None:
    busy = api.error(status, "too busy", OVERLOADED[status])
    loopback.behaviours = [busy, busy, good(name)]
    reply = model_of(name, loopback).ask(request())
    assert (reply.stop, reply.attempts, reply.lost_attempts) == ("end", 3, 0)
    # One retry layer: the SDKs add none of their own.
    assert len(loopback.requests) == 3


@pytest.mark.parametrize(
    ("name", "header", "value"), [("anthropic", "retry-after", "0.3"), ("openai", "retry-after-ms", "300")]
)
def test_retry_after_is_waited_for(name: str, header: str, value: str, loopback: Loopback) -> None:
    loopback.behaviours = [api.error(429, "slow down", "rate_limit_error", {header: value}), good(name)]
    started = time.monotonic()
    reply = model_of(name, loopback).ask(request())
    assert reply.attempts == 2
    assert time.monotonic() - started >= 0.3


@pytest.mark.parametrize(
    ("name", "value"),
    [("anthropic", "86400"), ("openai", "1e12"), ("local", "86400"), ("gemini", "Fri, 31 Dec 2999 23:59:59 GMT")],
)
def test_an_absurd_retry_after_is_a_refusal(name: str, value: str, loopback: Loopback) -> None:
    loopback.behaviours = [api.error(529, "come back later", "overloaded_error", {"retry-after": value}), good(name)]
    reply = model_of(name, loopback).ask(request())
    assert reply.stop == "no answer"
    assert "come back later" in reply.detail
    assert "would have to wait" in reply.detail
    assert reply.seconds < 5


@pytest.mark.parametrize("value", ["soon", "-5", "nan", ""])
def test_a_senseless_retry_after_is_ignored(value: str, loopback: Loopback) -> None:
    loopback.behaviours = [api.error(429, "busy", "rate_limit_error", {"retry-after": value}), good("anthropic")]
    assert model_of("anthropic", loopback).ask(request()).attempts == 2


@pytest.mark.parametrize("name", NAMES)
def test_a_server_that_trickles_is_left_at_the_deadline(name: str, loopback: Loopback) -> None:
    loopback.behaviours = [api.silence(PROVIDERS[name].good(ANSWER, **PROVIDERS[name].broken_off)[:2])]
    started = time.monotonic()
    reply = model_of(name, loopback).ask(request(seconds=0.8))
    assert time.monotonic() - started < 5
    assert (reply.stop, reply.lost_attempts) == ("no answer", 1)
    assert "no complete answer within" in reply.detail


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("drop", [True, False], ids=["dropped", "ended early"])
def test_a_stream_that_breaks_off_is_lost_and_tried_again(name: str, drop: bool, loopback: Loopback) -> None:
    half = PROVIDERS[name].good(ANSWER, **PROVIDERS[name].broken_off)
    loopback.behaviours = [api.stream(half, drop=drop), good(name)]
    reply = model_of(name, loopback).ask(request())
    assert (reply.stop, reply.text) == ("end", ANSWER)
    assert (reply.attempts, reply.lost_attempts) == (2, 1)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "body", [b"data: {not json}\n\n", b'event: response.completed\ndata: {"type": "response.completed"}\n\n'],
    ids=["no JSON", "another shape"],
)  # fmt: skip
def test_a_malformed_body_is_tried_again_and_then_given_up(name: str, body: bytes, loopback: Loopback) -> None:
    loopback.behaviours = [api.raw(200, "text/event-stream", body)] * 6
    reply = model_of(name, loopback).ask(request())
    assert reply.stop == "no answer"
    assert reply.attempts == 6
    assert reply.detail


@pytest.mark.parametrize("name", NAMES)
def test_truncation_and_refusal_are_told_apart(name: str, loopback: Loopback) -> None:
    loopback.behaviours = [good(name, **PROVIDERS[name].length), good(name, **PROVIDERS[name].refusal)]
    model = model_of(name, loopback)
    cut, refused = model.ask(request()), model.ask(request())
    assert cut.stop == "length"
    assert "cut off" in cut.detail
    assert refused.stop == "refusal"
    assert refused.detail


@pytest.mark.parametrize("name", NAMES)
def test_a_block_of_200_kb_arrives_whole(name: str, loopback: Loopback) -> None:
    code = "".join(f"// line {i}\n" for i in range(15_000))[:200_000]
    loopback.behaviours = [good(name, f"```metal\n{code}\n```\n")]
    block = largest_block(model_of(name, loopback).ask(request()).text)
    assert block is not None
    assert block.rstrip("\n") == code.rstrip("\n")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("status", [400, 401])
def test_what_can_never_work_ends_at_once_and_shows_no_key(name: str, status: int, loopback: Loopback) -> None:
    loopback.behaviours = [api.error(status, f"no such thing for {KEY}", "invalid_request_error")]
    with pytest.raises(ModelError) as caught:
        model_of(name, loopback).ask(request())
    assert str(status) in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(loopback.requests) == 1


def test_an_empty_account_is_not_a_rate_limit(loopback: Loopback) -> None:
    loopback.behaviours = [api.error(429, "you have no money left", "insufficient_quota")]
    with pytest.raises(ModelError, match="no money left"):
        model_of("openai", loopback).ask(request())


@pytest.mark.parametrize("name", ["anthropic", "openai", "gemini"])
def test_a_missing_key_is_said_before_anything_is_asked(
    name: str, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(f"{name.upper()}_API_KEY")
    with pytest.raises(ModelError, match=f"{name.upper()}_API_KEY"):
        model_of(name, loopback)
    assert not loopback.requests


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("gpt-5", "expected anthropic/MODEL"),
        ("mystery/model", "unknown provider"),
        ("local/model", "local/MODEL@URL"),
        ("local/model@localhost:80", "http or https"),
        ("local/model@http://user:secret@127.0.0.1/v1", "doesn't belong into the URL"),
        ("openai/@http://127.0.0.1", "before the @"),
        ("replay/nowhere", "recorded answers"),
    ],
)
def test_names_that_name_nothing(name: str, words: str) -> None:
    with pytest.raises(ModelError, match=words) as caught:
        open_model(name, get_task("saxpy"))
    assert "secret" not in str(caught.value)
