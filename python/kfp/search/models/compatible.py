"""``gemini/…`` and ``local/…``: any server with OpenAI's chat completions, through OpenAI's SDK, always streamed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from kfp.errors import ModelError
from kfp.search.models import failures
from kfp.search.models.answers import Answer, finished, require_package
from kfp.search.models.attempts import Transient, Watch, repeat
from kfp.search.models.base import Reply, Request, Stop, Usage
from kfp.search.models.prices import Price

if TYPE_CHECKING:
    import openai
    from openai.types import CompletionUsage

GEMINI_URL = "https://generativelanguage.googleapis.com/v1beta/openai/"

_STOPS: dict[str, tuple[Stop, str]] = {
    "stop": ("end", ""),
    "length": ("length", "the answer was cut off at the limit of output tokens"),
    "content_filter": ("refusal", "the provider's filter stopped the answer"),
}


class CompatibleModel:
    """A model behind chat completions at ``url``, which ends in /v1 for vLLM, llama.cpp and Ollama.

    ``keys`` are the environment variables that may hold a key, the first one that is set wins.
    """

    def __init__(
        self, name: str, model: str, url: str, price: Price | None, keys: tuple[str, ...], *, key_needed: bool
    ) -> None:
        self.name, self.price, self._model, self._url = name, price, model, url
        self._provider = name.partition("/")[0]
        self._sdk = require_package("openai", "openai")
        key = next((os.environ[variable] for variable in keys if os.environ.get(variable)), None)
        if key is None and key_needed:
            raise ModelError(f"{name}: no key; set {' or '.join(keys)}")
        self._key = key or "none"

    def ask(self, request: Request) -> Reply:
        client: openai.OpenAI = self._sdk.OpenAI(
            base_url=self._url, api_key=self._key, max_retries=0, timeout=request.seconds
        )
        with client:
            attempts = repeat(lambda watch: self._attempt(client, request, watch), request.seconds, request.most_lost)
        return finished(attempts, self._model)

    def _attempt(self, client: openai.OpenAI, request: Request, watch: Watch) -> Answer:
        watch.closes(client.close)
        streaming = False
        try:
            with client.chat.completions.create(**self._arguments(request)) as stream:
                streaming = True
                collected = _Collected()
                for chunk in stream:
                    collected.add(chunk)
        except Exception as error:
            raise failures.sort(self._provider, self._sdk, error, streaming=streaming) from None
        return collected.answer(self._provider)

    def _arguments(self, request: Request) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.prompt},
            ],
            "max_tokens": request.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
        }
        if request.effort:
            arguments["reasoning_effort"] = request.effort
        return arguments


class _Collected:
    """The chunks of one stream, put together."""

    def __init__(self) -> None:
        self._model = self._id = self._finish = ""
        self._text: list[str] = []
        self._thinking: list[str] = []
        self._refusal: list[str] = []
        self._usage = Usage()

    def add(self, chunk: Any) -> None:
        self._model, self._id = chunk.model or self._model, chunk.id or self._id
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        for choice in chunk.choices or ():
            self._finish = choice.finish_reason or self._finish
            delta = choice.delta
            if delta is None:
                continue
            self._text.append(delta.content or "")
            self._refusal.append(getattr(delta, "refusal", None) or "")
            # vLLM's name today, and the older one that others still use.
            thought = getattr(delta, "reasoning", None) or getattr(delta, "reasoning_content", None)
            self._thinking.append(thought if isinstance(thought, str) else "")

    def answer(self, provider: str) -> Answer:
        if not self._finish:
            raise Transient(f"{provider}: the stream ended before the answer was complete", sent=True)
        stop, detail = _STOPS.get(self._finish, ("end", f"stopped for an unknown reason: {self._finish}"))
        refusal = "".join(self._refusal)
        if refusal:
            stop, detail = "refusal", f"the model refused: {failures.shown(refusal)}"
        text, thinking = "".join(self._text), "".join(self._thinking)
        return Answer(self._model, text, thinking, stop, detail, self._usage, self._id)


def _usage(usage: CompletionUsage) -> Usage:
    """Gemini leaves the thinking out of completion_tokens, but not out of the total, which is what is paid for."""
    into, out = usage.prompt_tokens_details, usage.completion_tokens_details
    prompt = usage.prompt_tokens or 0
    output = max(usage.completion_tokens or 0, (usage.total_tokens or 0) - prompt)
    hidden = output - (usage.completion_tokens or 0)
    return Usage(
        input=prompt,
        cached=(into.cached_tokens or 0) if into else 0,
        output=output,
        thinking=max((out.reasoning_tokens or 0) if out else 0, hidden),
    )
