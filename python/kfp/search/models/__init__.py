"""Language models by name: ``anthropic/…``, ``openai/…``, ``gemini/…``, ``local/…@URL``, ``replay/DIR``, ``demo``."""

from __future__ import annotations

from urllib.parse import urlsplit

from kfp.errors import ModelError
from kfp.search.models.base import Model
from kfp.search.models.prices import FREE, price_of
from kfp.tasks.base import Task

FORMS = "anthropic/MODEL, openai/MODEL, gemini/MODEL, local/MODEL@URL, replay/DIR or demo"


def open_model(name: str, task: Task) -> Model:
    """The model called ``name``; ``PROVIDER/MODEL@URL`` asks another server than the provider's own.

    Raises ``kfp.ModelError`` for an unknown form, a missing package or a missing key, before anything is asked.
    """
    provider, _, rest = name.partition("/")
    if name == "demo":
        from kfp.search.models.demo import DemoModel

        return DemoModel(task)
    if not rest:
        raise ModelError(f"model {name!r}: expected {FORMS}")
    if provider == "replay":
        from kfp.search.models.replay import ReplayModel

        return ReplayModel(rest)
    model, url = _split(name, rest)
    price = price_of(f"{provider}/{model}")
    if provider == "anthropic":
        from kfp.search.models.anthropic import AnthropicModel

        return AnthropicModel(name, model, url, price)
    if provider == "openai":
        from kfp.search.models.openai import OpenAIModel

        return OpenAIModel(name, model, url, price)
    if provider in ("gemini", "local"):
        from kfp.search.models.compatible import GEMINI_URL, CompatibleModel

        if provider == "gemini":
            keys = ("GEMINI_API_KEY", "GOOGLE_API_KEY")
            return CompatibleModel(name, model, url or GEMINI_URL, price, keys, key_needed=True)
        if url is None:
            raise ModelError(f"model {name!r}: expected local/MODEL@URL, as in local/my-model@http://127.0.0.1:8000/v1")
        return CompatibleModel(name, model, url, FREE, ("KFP_LOCAL_API_KEY",), key_needed=False)
    raise ModelError(f"model {name!r}: unknown provider {provider!r}; expected {FORMS}")


def _split(name: str, rest: str) -> tuple[str, str | None]:
    """(model, URL or None). A URL with a password in it would end up in every record of the run."""
    model, at, url = rest.partition("@")
    if not model:
        raise ModelError(f"model {name!r}: expected a model's name before the @")
    if not at:
        return model, None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ModelError(f"model {model!r}: expected a URL with http or https after the @")
    if parts.username or parts.password or parts.query:
        raise ModelError(f"model {model!r}: a key doesn't belong into the URL, which is recorded; set it as a variable")
    return model, url
