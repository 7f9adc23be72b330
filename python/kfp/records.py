"""Frozen result classes that round-trip through JSON, and say where a document departs from what they expect."""

from __future__ import annotations

import dataclasses
import json
import math
import types
from collections.abc import Mapping
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from kfp.errors import ResultFormatError

R = TypeVar("R", bound="Record")

# JSON has no word for these.
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Record:
    """Base of the frozen result dataclasses. Equal when their JSON is, so that a NaN equals its own round trip."""

    def to_json(self) -> dict[str, Any]:
        """A dict of plain JSON values; numbers that JSON lacks become "nan", "inf" and "-inf"."""
        return {name: _encode(getattr(self, name)) for name in _field_types(type(self))}

    @classmethod
    def from_json(cls: type[R], data: Mapping[str, Any]) -> R:
        """The inverse of ``to_json``. Raises ``kfp.ResultFormatError`` that names the path to the fault."""
        return _decode_record(cls, data, cls.__name__)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record) or type(other) is not type(self):
            return NotImplemented
        return self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(json.dumps(self.to_json(), sort_keys=True))


# Resolving annotations is slow and never changes.
_KNOWN_TYPES: dict[type, dict[str, Any]] = {}


def _field_types(cls: type[Any]) -> dict[str, Any]:
    if cls not in _KNOWN_TYPES:
        hints = get_type_hints(cls)
        _KNOWN_TYPES[cls] = {field.name: hints[field.name] for field in dataclasses.fields(cls)}
    return _KNOWN_TYPES[cls]


def _encode(value: Any) -> Any:
    if isinstance(value, Record):
        return value.to_json()
    if isinstance(value, tuple):
        return [_encode(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _encode(item) for key, item in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def _decode_record(cls: type[R], data: Any, path: str) -> R:
    if not isinstance(data, Mapping):
        raise _fault(path, "an object", data)
    wanted = _field_types(cls)
    for name in wanted:
        if name not in data:
            raise ResultFormatError(f"{path}: expected a field {name!r}, it is missing")
    for name in data:
        if name not in wanted:
            raise ResultFormatError(f"{path}: unknown field {name!r}; expected {', '.join(wanted)}")
    return cls(**{name: _decode(hint, data[name], f"{path}.{name}") for name, hint in wanted.items()})


def _decode(hint: Any, value: Any, path: str) -> Any:
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType) and set(arguments) == {int, float}:
        return value if type(value) is int else _decode(float, value, path)
    if origin in (Union, types.UnionType):
        if value is None and type(None) in arguments:
            return None
        (inner,) = (argument for argument in arguments if argument is not type(None))
        return _decode(inner, value, path)
    if origin is tuple:
        if not isinstance(value, list | tuple):
            raise _fault(path, "a list", value)
        return tuple(_decode(arguments[0], item, f"{path}[{i}]") for i, item in enumerate(value))
    if origin is Mapping:
        if not isinstance(value, Mapping):
            raise _fault(path, "an object", value)
        return types.MappingProxyType(
            {key: _decode(arguments[1], item, f"{path}.{key}") for key, item in value.items()}
        )
    if origin is Literal:
        if value not in arguments:
            raise _fault(path, f"one of {', '.join(map(repr, arguments))}", value)
        return value
    if isinstance(hint, type) and issubclass(hint, Record):
        return _decode_record(hint, value, path)
    if hint is float:
        if isinstance(value, str) and value in _NON_FINITE:
            return _NON_FINITE[value]
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise _fault(path, "a number", value)
        return float(value)
    if hint is int and isinstance(value, bool):
        raise _fault(path, "a whole number", value)
    if hint in (bool, int, str):
        if not isinstance(value, hint):
            raise _fault(path, {bool: "true or false", int: "a whole number", str: "a string"}[hint], value)
        return value
    raise TypeError(f"{path}: records hold no {hint!r}")


def _fault(path: str, expected: str, value: Any) -> ResultFormatError:
    shown = repr(value)
    return ResultFormatError(f"{path}: expected {expected}, got {shown if len(shown) <= 60 else shown[:57] + '...'}")
