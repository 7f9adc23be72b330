"""Kernel sources: the text that the caller gives, a file, or the task's own seed kernel."""

from __future__ import annotations

import hashlib
import inspect
import os
from pathlib import Path

from kfp import toolchain
from kfp.errors import TaskError, UsageError
from kfp.tasks.base import Task

MAX_SOURCE_BYTES = 4 << 20


def source_text(source: str | os.PathLike[str]) -> str:
    """Text is taken as it is; a path-like is read."""
    if isinstance(source, os.PathLike):
        return read_source(Path(source))
    if not isinstance(source, str):
        raise UsageError(f"source: expected the kernel's text or a path, got {type(source).__name__}")
    if "\n" not in source and source.endswith(".metal"):
        raise UsageError(f"source: {source!r} looks like a file name; pass pathlib.Path({source!r}) to read it")
    try:
        source.encode("utf-8")
    except UnicodeEncodeError as error:
        raise UsageError(
            f"source: expected text that UTF-8 can hold, character {error.start} is a lone surrogate"
        ) from None
    return source


def read_source(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from error
    return decode_source(data, str(path))


def decode_source(data: bytes, name: str) -> str:
    if len(data) > MAX_SOURCE_BYTES:
        raise UsageError(f"{name}: expected a kernel of at most {MAX_SOURCE_BYTES >> 20} MiB, this is larger")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{name}: expected UTF-8 text, byte {error.start} is 0x{data[error.start]:02x}") from error
    if "\0" in text:
        raise UsageError(f"{name}: expected text, byte {data.index(0)} is 0")
    return text


def source_hash(source: str) -> str:
    return hashlib.sha256(source.encode("utf-8")).hexdigest()


def seed_path(task: Task) -> Path:
    """A bundled task's seed is among the package's shaders; a user's lies beside the file that defines the task."""
    file = f"{task.name}.metal"
    if type(task).__module__.startswith("kfp."):
        return toolchain.shaders() / task.suite / file
    return Path(inspect.getfile(type(task))).parent / file


def seed_source(task: Task) -> str:
    path = seed_path(task)
    if not path.is_file():
        raise TaskError(f"task {task.name!r}: it has no seed kernel at {path}; name a kernel to evaluate")
    return read_source(path)
