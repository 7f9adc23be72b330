"""A server on the loopback interface that behaves as a model's API does on good days and on bad ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeAlias

Behaviour: TypeAlias = "Callable[[Handler], None]"


class Handler(BaseHTTPRequestHandler):
    """Answers each request with the next behaviour of its server."""

    protocol_version = "HTTP/1.1"
    server: Loopback

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        behaviour = self.server.next_behaviour(self.path, dict(self.headers), json.loads(body))
        behaviour(self)

    def log_message(self, format: str, *args: object) -> None:
        return

    def begin(self, status: int, kind: str, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True


class Loopback(ThreadingHTTPServer):
    """``behaviours`` are used up one by one; ``requests`` is what came: (path, headers, body)."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.behaviours: list[Behaviour] = []
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        self.released = threading.Event()
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def __enter__(self) -> Loopback:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.released.set()
        self.shutdown()
        self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is what some tests are about."""

    def next_behaviour(self, path: str, headers: dict[str, str], body: Any) -> Behaviour:
        self.requests.append((path, headers, body))
        return self.behaviours.pop(0) if self.behaviours else error(500, "no behaviour is left")


def error(status: int, message: str, kind: str = "api_error", headers: dict[str, str] | None = None) -> Behaviour:
    """An error of either API: the fields of both."""

    def answer(handler: Handler) -> None:
        handler.begin(status, "application/json", headers)
        body = {"type": "error", "error": {"type": kind, "message": message, "code": kind}}
        handler.wfile.write(json.dumps(body).encode())

    return answer


def raw(status: int, kind: str, text: bytes) -> Behaviour:
    def answer(handler: Handler) -> None:
        handler.begin(status, kind)
        handler.wfile.write(text)

    return answer


def stream(events: list[bytes], *, drop: bool = False) -> Behaviour:
    """Server-sent events; ``drop`` breaks the connection off in the middle of a chunk after them."""

    def answer(handler: Handler) -> None:
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        handler.send_header("transfer-encoding", "chunked")
        handler.end_headers()
        handler.close_connection = True
        for event in events:
            handler.wfile.write(f"{len(event):x}\r\n".encode() + event + b"\r\n")
        handler.wfile.write(b"ffff\r\nhalf" if drop else b"0\r\n\r\n")

    return answer


def silence(events: list[bytes]) -> Behaviour:
    """Begins well, then trickles comments, each of which would restart a client's own time-out."""

    def answer(handler: Handler) -> None:
        handler.begin(200, "text/event-stream")
        for event in events:
            handler.wfile.write(event)
        while not handler.server.released.wait(0.05):
            handler.wfile.write(b": still here\n\n")
            handler.wfile.flush()

    return answer


# Anthropic's Messages API


def anthropic_events(
    text: str, *, thinking: str = "", stop: str | None = "end_turn", usage: dict[str, Any] | None = None
) -> list[bytes]:
    """A streamed message; with ``stop`` None it breaks off before its end."""
    counts = {"input_tokens": 100, "output_tokens": 40, **(usage or {})}
    message = {
        "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-test-answering", "content": [],
        "stop_reason": None, "stop_sequence": None, "usage": {**counts, "output_tokens": 1},
    }  # fmt: skip
    events: list[dict[str, Any]] = [{"type": "message_start", "message": message}]
    index = 0
    if thinking:
        events += _block(index, {"type": "thinking", "thinking": "", "signature": ""}, "thinking_delta", thinking)
        index += 1
    events += _block(index, {"type": "text", "text": ""}, "text_delta", text)
    if stop is not None:
        delta = {"stop_reason": stop, "stop_sequence": None}
        events += [{"type": "message_delta", "delta": delta, "usage": counts}, {"type": "message_stop"}]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


def _block(index: int, start: dict[str, Any], kind: str, text: str) -> list[dict[str, Any]]:
    name = "thinking" if kind == "thinking_delta" else "text"
    half = len(text) // 2
    deltas = [{"type": kind, name: part} for part in (text[:half], text[half:])]
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


# OpenAI's Responses API


def openai_events(
    text: str, *, thinking: str = "", status: str | None = "completed", refusal: str = "", reason: str = ""
) -> list[bytes]:
    """A streamed response; with ``status`` None it breaks off before its end."""
    output: list[dict[str, Any]] = []
    if thinking:
        summary = [{"type": "summary_text", "text": thinking}]
        output.append({"id": "rs_1", "type": "reasoning", "summary": summary})
    part: dict[str, Any] = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    if refusal:
        part = {"type": "refusal", "refusal": refusal}
    output.append({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]})
    response: dict[str, Any] = {
        "id": "resp_1", "object": "response", "created_at": 1, "model": "gpt-test-answering", "output": output,
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "status": status, "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "usage": {
            "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 0},
            "output_tokens": 40, "output_tokens_details": {"reasoning_tokens": 25}, "total_tokens": 140,
        },
    }  # fmt: skip
    created = {"type": "response.created", "sequence_number": 0, "response": {**response, "output": []}}
    delta = {
        "type": "response.output_text.delta", "sequence_number": 1, "item_id": "msg_1", "output_index": 0,
        "content_index": 0, "delta": text[:10], "logprobs": [],
    }  # fmt: skip
    events: list[dict[str, Any]] = [created, delta]
    if status is not None:
        events.append({"type": f"response.{status}", "sequence_number": 2, "response": response})
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events]


# Chat completions, as vLLM, llama.cpp, Ollama and Gemini's compatible endpoint have them


def chat_events(
    text: str, *, thinking: str = "", field: str = "reasoning", finish: str | None = "stop", total: int = 140
) -> list[bytes]:
    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {
            "id": "chat_1", "object": "chat.completion.chunk", "created": 1, "model": "local-answering",
            "choices": [choice],
        }  # fmt: skip

    half = len(text) // 2
    chunks = [chunk({"role": "assistant"})]
    if thinking:
        chunks.append(chunk({field: thinking}))
    chunks += [chunk({"content": text[:half]}), chunk({"content": text[half:]})]
    if finish is not None:
        usage = {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": total}
        chunks += [chunk({}, finish), {**chunk({}), "choices": [], "usage": usage}]
    events = [f"data: {json.dumps(entry)}\n\n".encode() for entry in chunks]
    return [*events, b"data: [DONE]\n\n"] if finish is not None else events
