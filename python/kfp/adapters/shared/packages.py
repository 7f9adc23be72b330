"""The packages of the neighbours, which are extras."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from kfp.errors import UsageError


def required(module: str, extra: str) -> ModuleType:
    """The module, or ``kfp.UsageError`` with the command that installs it."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        if (error.name or "").partition(".")[0] != package:
            raise
        raise UsageError(f"kfp.adapters.{extra} needs {package}: python -m pip install 'kfp[{extra}]'") from None
