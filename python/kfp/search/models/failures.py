"""What the official SDKs raise, sorted into what may pass and what won't. Both are generated from one mould."""

from __future__ import annotations

import email.utils
import json
import os
import time
from collections.abc import Mapping
from typing import Any

from kfp.errors import ModelError
from kfp.search.models.attempts import Transient

_PASSING_STATUS = (408, 409, 425, 429)
# In the body of a stream that had begun well: the status is 200 then.
_PASSING_TYPES = ("overloaded_error", "api_error", "rate_limit_error", "timeout_error", "server_error")
_EMPTY_PURSE = ("insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active")
MAX_MESSAGE = 400


def sort(provider: str, sdk: Any, error: Exception, *, streaming: bool) -> Exception:
    """``Transient`` or ``kfp.ModelError``. ``sdk`` is the SDK's module, ``streaming`` whether a stream had begun."""
    if isinstance(error, sdk.APIStatusError):
        return _status(provider, error, streaming=streaming)
    if isinstance(error, sdk.APITimeoutError):
        return Transient(f"{provider}: the connection timed out", sent=True)
    if isinstance(error, sdk.APIConnectionError):
        return Transient(f"{provider}: {_cause(error)}", sent=streaming)
    if isinstance(error, sdk.APIResponseValidationError | json.JSONDecodeError | UnicodeDecodeError):
        return Transient(f"{provider}: the answer is not the JSON that the API promises", sent=True)
    if isinstance(error, sdk.APIError):
        kind = str(getattr(error, "type", "") or getattr(error, "code", "") or "")
        if kind in _EMPTY_PURSE:
            return ModelError(f"{provider}: {shown(str(error))}")
        return Transient(f"{provider}: {shown(str(error))}", sent=True)
    if type(error).__module__.partition(".")[0] in ("httpx", "httpx2", "httpcore", "httpcore2", "ssl", "socket"):
        return Transient(f"{provider}: {_cause(error)}", sent=True)
    if isinstance(error, OSError):
        return Transient(f"{provider}: {_cause(error)}", sent=streaming)
    if isinstance(error, AttributeError | LookupError | TypeError | ValueError | AssertionError | RuntimeError):
        # How a body that is JSON, but not of the promised shape, shows inside the SDKs.
        return Transient(f"{provider}: the answer is not of the shape that the API promises", sent=True)
    return ModelError(f"{provider}: {type(error).__name__}: {shown(str(error))}")


def _status(provider: str, error: Any, *, streaming: bool) -> Exception:
    status = int(error.status_code)
    message = f"{provider}: {status}: {shown(_message(error))}"
    kinds = _kinds(error.body)
    if any(kind in _EMPTY_PURSE for kind in kinds):
        return ModelError(message)
    passing = status in _PASSING_STATUS or status >= 500 or any(kind in _PASSING_TYPES for kind in kinds)
    if not passing:
        return ModelError(message)
    return Transient(message, retry_after(error.response.headers), sent=streaming)


def _message(error: Any) -> str:
    body = error.body
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    text = inner.get("message") if isinstance(inner, Mapping) else None
    return text if isinstance(text, str) and text else str(error)


def _kinds(body: Any) -> tuple[str, ...]:
    inner = body.get("error", body) if isinstance(body, Mapping) else None
    return tuple(str(inner.get(key)) for key in ("type", "code")) if isinstance(inner, Mapping) else ()


def _cause(error: BaseException) -> str:
    cause = error.__cause__ or error
    return shown(f"{type(cause).__name__}: {cause}" if str(cause) else type(cause).__name__)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait, from any form of the header; None where it says nothing sensible."""
    for name, unit in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) * unit
        except ValueError:
            parsed = email.utils.parsedate_tz(value)
            seconds = email.utils.mktime_tz(parsed) - time.time() if parsed else -1.0
        # Written so that a NaN is no time to wait.
        if seconds >= 0:
            return seconds
    return None


def shown(text: str) -> str:
    """Without any key that this process knows, and not longer than a reader wants."""
    text = without_keys(text)
    return text if len(text) <= MAX_MESSAGE else text[: MAX_MESSAGE - 1] + "…"


def without_keys(text: str) -> str:
    for name, value in os.environ.items():
        if len(value) >= 8 and name.endswith(("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")):
            text = text.replace(value, f"[{name}]")
    return text
