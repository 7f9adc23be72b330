"""``anthropic/…``: Claude models through the official SDK, always streamed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kfp.errors import ModelError
from kfp.search.models import failures
from kfp.search.models.answers import Answer, finished, require_package
from kfp.search.models.attempts import Transient, Watch, repeat
from kfp.search.models.base import Reply, Request, Stop, Usage
from kfp.search.models.prices import Price

if TYPE_CHECKING:
    import anthropic

PROVIDER = "anthropic"

_STOPS: dict[str, tuple[Stop, str]] = {
    "end_turn": ("end", ""),
    "stop_sequence": ("end", ""),
    "max_tokens": ("length", "the answer was cut off at the limit of output tokens"),
    "model_context_window_exceeded": ("length", "the answer was cut off at the end of the model's context window"),
    "refusal": ("refusal", "the model refused to answer"),
}


class AnthropicModel:
    """A Claude model. The key comes from where the SDK looks for it, ``ANTHROPIC_API_KEY`` first."""

    def __init__(self, name: str, model: str, url: str | None, price: Price | None) -> None:
        self.name, self.price, self._model = name, price, model
        self._sdk = require_package("anthropic", "anthropic")
        try:
            client = self._sdk.Anthropic(base_url=url, max_retries=0)
        except Exception as error:
            raise ModelError(f"{name}: {failures.shown(str(error))}") from None
        if client.api_key is None and client.auth_token is None and client.credentials is None:
            raise ModelError(f"{name}: no key; set ANTHROPIC_API_KEY")
        client.close()
        self._url = url

    def ask(self, request: Request) -> Reply:
        client: anthropic.Anthropic = self._sdk.Anthropic(base_url=self._url, max_retries=0, timeout=request.seconds)
        with client:
            attempts = repeat(lambda watch: self._attempt(client, request, watch), request.seconds, request.most_lost)
        return finished(attempts, self._model)

    def _attempt(self, client: anthropic.Anthropic, request: Request, watch: Watch) -> Answer:
        # Closing it is what ends an attempt whose time is up.
        watch.closes(client.close)
        streaming = False
        try:
            with client.messages.stream(**self._arguments(request)) as stream:
                streaming = True
                message = stream.get_final_message()
        except Exception as error:
            raise failures.sort(PROVIDER, self._sdk, error, streaming=streaming) from None
        if message.stop_reason is None:
            raise Transient(f"{PROVIDER}: the stream ended before the answer was complete", sent=True)
        return _answer(message)

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            # The part that never changes in a run is marked, so that it is paid for once.
            "system": [{"type": "text", "text": request.system, "cache_control": {"type": "ephemeral"}}],
            "messages": [{"role": "user", "content": request.prompt}],
        }
        if request.effort:
            arguments["thinking"] = {"type": "adaptive", "display": "summarized"}
            arguments["output_config"] = {"effort": request.effort}
        return arguments


def _answer(message: anthropic.types.Message) -> Answer:
    text = "".join(block.text for block in message.content if block.type == "text")
    thinking = "\n\n".join(block.thinking for block in message.content if block.type == "thinking")
    unknown: tuple[Stop, str] = ("end", f"stopped for an unknown reason: {message.stop_reason}")
    stop, detail = _STOPS.get(message.stop_reason or "", unknown)
    return Answer(message.model, text, thinking, stop, detail, _usage(message.usage), message.id)


def _usage(usage: anthropic.types.Usage) -> Usage:
    """Anthropic's input_tokens leave out what a cache gave or took; its output_tokens include the thinking."""
    cached = usage.cache_read_input_tokens or 0
    written = usage.cache_creation_input_tokens or 0
    details = usage.output_tokens_details
    return Usage(
        input=usage.input_tokens + cached + written,
        cached=cached,
        cache_written=written,
        output=usage.output_tokens,
        thinking=details.thinking_tokens if details else 0,
    )
