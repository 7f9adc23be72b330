"""A model behind an OpenAI-compatible interface on loopback: it proposes from a list, in the form that is asked for."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from search.loopback import Behaviour, Loopback, raw

WATCH = """\
import sys


def watch(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        host = str(arguments[1][0])
    elif event == "socket.getaddrinfo":
        host = str(arguments[0])
    else:
        return
    if host not in ("127.0.0.1", "::1", "localhost"):
        with open({log!r}, "a") as file:
            file.write(host + "\\n")
        raise OSError(f"{{host}} is not loopback")


sys.addaudithook(watch)
"""


class Proposer(Loopback):
    """Answers each request with the next of ``edits`` to ``line``, and after the last with the first again.

    Where SEARCH/REPLACE blocks are asked for, the answer is one; otherwise the whole of ``program``, edited. An edit of
    None is an answer in prose.
    """

    def __init__(self, program: str, line: str, edits: Sequence[str | None]) -> None:
        super().__init__()
        self._program, self._line, self._edits = program, line, edits
        self._lock = threading.Lock()

    @property
    def prompts(self) -> bytes:
        return "\n".join(json.dumps(body, ensure_ascii=False) for _, _, body in self.requests).encode()

    def next_behaviour(self, path: str, headers: dict[str, str], body: Any) -> Behaviour:
        with self._lock:
            edit = self._edits[len(self.requests) % len(self._edits)]
            self.requests.append((path, headers, body))
            number = len(self.requests)
        message = {"role": "assistant", "content": self._answer(json.dumps(body), edit)}
        answer = {
            "id": f"chat-{number}", "object": "chat.completion", "created": 1, "model": "scripted",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 40, "total_tokens": 140},
        }  # fmt: skip
        return raw(200, "application/json", json.dumps(answer).encode())

    def _answer(self, prompt: str, edit: str | None) -> str:
        said = "<NAME>\nedit\n</NAME>\n\n<DESCRIPTION>\nAnother line.\n</DESCRIPTION>\n\n"
        if edit is None:
            return "I would rather think about it."
        if "<<<<<<< SEARCH" in prompt:
            block = f"<<<<<<< SEARCH\n{self._line}\n=======\n{edit}\n>>>>>>> REPLACE"
            return f"{said}<DIFF>\n{block}\n\n</DIFF>"
        fence = "cpp" if "```cpp" in prompt else "metal"
        return f"{said}<CODE>\n```{fence}\n{self._program.replace(self._line, edit)}```\n</CODE>"


def environment(folder: Path) -> Mapping[str, str]:
    """In which processes reach nothing but loopback; the file ``outside`` in ``folder`` says whom else they tried."""
    (folder / "sitecustomize.py").write_text(WATCH.format(log=str(folder / "outside")))
    path = os.pathsep.join(part for part in (str(folder), os.environ.get("PYTHONPATH", "")) if part)
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_PROXY", "_proxy"))}
    return kept | {
        "PYTHONPATH": path,
        "OPENAI_API_KEY": "none",
        "HERE_API_KEY": "none",
        "HOME": str(folder),
        "INSPECT_DISPLAY": "plain",
    }
