"""``openai/…``: OpenAI's models through the official SDK and its Responses API, always streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kfp.errors import ModelError
from kfp.search.models import failures
from kfp.search.models.answers import Answer, finished, require_package
from kfp.search.models.attempts import Transient, Watch, repeat
from kfp.search.models.base import Reply, Request, Stop, Usage
from kfp.search.models.prices import Price

if TYPE_CHECKING:
    import openai
    from openai.types.responses import Response

PROVIDER = "openai"

_INCOMPLETE: dict[str, tuple[Stop, str]] = {
    "max_output_tokens": ("length", "the answer was cut off at the limit of output tokens"),
    "content_filter": ("refusal", "the provider's filter stopped the answer"),
}


class OpenAIModel:
    """An OpenAI model. The key comes from ``OPENAI_API_KEY``."""

    def __init__(self, name: str, model: str, url: str | None, price: Price | None) -> None:
        self.name, self.price, self._model, self._url = name, price, model, url
        self._sdk = require_package("openai", "openai")
        try:
            self._sdk.OpenAI(base_url=url, max_retries=0).close()
        except Exception as error:
            raise ModelError(f"{name}: no usable key; set OPENAI_API_KEY ({failures.shown(str(error))})") from None

    def ask(self, request: Request) -> Reply:
        client: openai.OpenAI = self._sdk.OpenAI(base_url=self._url, max_retries=0, timeout=request.seconds)
        with client:
            attempts = repeat(lambda watch: self._attempt(client, request, watch), request.seconds, request.most_lost)
        return finished(attempts, self._model)

    def _attempt(self, client: openai.OpenAI, request: Request, watch: Watch) -> Answer:
        watch.closes(client.close)
        streaming = False
        try:
            with client.responses.create(stream=True, **self._arguments(request)) as stream:
                streaming = True
                for event in stream:
                    if event.type in ("response.completed", "response.incomplete", "response.failed"):
                        return _answer(event.response)
                    if event.type == "error":
                        raise Transient(f"{PROVIDER}: {failures.shown(event.message)}", sent=True)
        except (Transient, ModelError):
            raise
        except Exception as error:
            raise failures.sort(PROVIDER, self._sdk, error, streaming=streaming) from None
        raise Transient(f"{PROVIDER}: the stream ended before the answer was complete", sent=True)

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "instructions": request.system,
            "input": request.prompt,
            "max_output_tokens": request.max_tokens,
            "store": False,
        }
        if request.effort:
            arguments["reasoning"] = {"effort": request.effort, "summary": "auto"}
        return arguments


def _answer(response: Response) -> Answer:
    texts, thoughts, refusals = [], [], []
    for item in response.output:
        if item.type == "reasoning":
            thoughts += [part.text for part in (*item.summary, *(item.content or ()))]
        elif item.type == "message":
            for part in item.content:
                if part.type == "output_text":
                    texts.append(part.text)
                elif part.type == "refusal":
                    refusals.append(part.refusal)
    stop, detail = _stop(response, refusals)
    text, thinking = "".join(texts), "\n\n".join(thoughts)
    return Answer(response.model, text, thinking, stop, detail, _usage(response), response.id)


def _stop(response: Response, refusals: list[str]) -> tuple[Stop, str]:
    if response.status == "failed":
        error = response.error
        message = f"{PROVIDER}: {failures.shown(error.message)}" if error else f"{PROVIDER}: the response failed"
        if error is not None and error.code not in ("server_error", "rate_limit_exceeded"):
            raise ModelError(message)
        raise Transient(message, sent=True)
    if response.status == "incomplete":
        reason = response.incomplete_details.reason if response.incomplete_details else None
        return _INCOMPLETE.get(reason or "", ("length", f"the answer is incomplete: {reason}"))
    if refusals:
        return "refusal", f"the model refused: {failures.shown(' '.join(refusals))}"
    return "end", ""


def _usage(response: Response) -> Usage:
    """OpenAI's input tokens include the cached ones, its output tokens the reasoning."""
    usage = response.usage
    if usage is None:
        return Usage()
    into, out = usage.input_tokens_details, usage.output_tokens_details
    return Usage(
        input=usage.input_tokens,
        cached=(into.cached_tokens or 0) if into else 0,
        cache_written=(getattr(into, "cache_write_tokens", 0) or 0) if into else 0,
        output=usage.output_tokens,
        thinking=(out.reasoning_tokens or 0) if out else 0,
    )
