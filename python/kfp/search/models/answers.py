"""What the providers have in common: a complete answer, and the reply that the search gets to see."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import Any

from kfp.errors import ModelError
from kfp.search.models.attempts import Attempts
from kfp.search.models.base import Reply, Stop, Usage


@dataclass(frozen=True)
class Answer:
    """One complete answer of a server."""

    answered_by: str
    text: str
    thinking: str
    stop: Stop
    detail: str
    usage: Usage
    request_id: str = ""


def finished(attempts: Attempts[Answer], model: str) -> Reply:
    answer = attempts.answer or Answer(model, "", "", "no answer", attempts.reason, Usage())
    return Reply(
        answered_by=answer.answered_by or model,
        text=answer.text,
        thinking=answer.thinking,
        stop=answer.stop,
        detail=answer.detail,
        usage=answer.usage,
        seconds=attempts.seconds,
        attempts=attempts.count,
        lost_attempts=attempts.lost,
        request_id=answer.request_id,
    )


def require_package(package: str, extra: str) -> Any:
    """The SDK, imported when a model first needs it."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        if error.name != package:
            raise ModelError(f"the package {package!r} can't be imported: {error}") from None
        raise ModelError(f"the package {package!r} is not installed; python -m pip install 'kfp[{extra}]'") from None
