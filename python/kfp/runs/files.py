"""Files that are there whole or not at all, and errors that say what the file system said."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kfp.errors import RunError

TEMPORARY = ".tmp"

_ADVICE = {
    errno.ENOSPC: "the disk is full; nothing recorded is lost: make room and run the same command again",
    errno.EDQUOT: "the disk quota is used up; nothing recorded is lost: make room and run the same command again",
    errno.EFBIG: "files may not grow that large here (ulimit -f); nothing recorded is lost",
    errno.EROFS: "the file system is read-only; choose another folder with --out",
    errno.EACCES: "no permission to write; choose another folder with --out",
    errno.EPERM: "no permission to write; choose another folder with --out",
}


@contextlib.contextmanager
def refusals(path: Path) -> Iterator[None]:
    """What the system refuses, as ``kfp.RunError`` with the path and what to do."""
    try:
        yield
    except OSError as error:
        why = _ADVICE.get(error.errno or 0, error.strerror or str(error))
        raise RunError(f"{path}: {why}") from None


def is_there(path: Path) -> bool:
    """Whether the file exists; a folder that may not even be looked into is refused."""
    with refusals(path):
        return path.is_file()


def write(path: Path, text: str) -> None:
    """Replaces the file in one step; after a crash it holds the old text or the new one."""
    with refusals(path):
        temporary = path.with_name(path.name + TEMPORARY)
        try:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise


def create(path: Path, value: Mapping[str, Any]) -> bool:
    """Writes the file whole unless there is one already; of several processes, on several machines, one succeeds.

    A link is the one step that network file systems, too, refuse to a second comer.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    with refusals(path):
        temporary = path.with_name(f"{path.name}.{secrets.token_hex(8)}{TEMPORARY}")
        try:
            with temporary.open("x", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            return linked(temporary, path)
        finally:
            with contextlib.suppress(OSError):
                temporary.unlink()


def linked(source: Path, path: Path) -> bool:
    """Gives ``source`` a second name; False if that name is taken. Raises ``OSError``."""
    try:
        os.link(source, path)
    except FileExistsError:
        # A server may have made the link and lost the answer; the client then asks again and is refused.
        with contextlib.suppress(OSError):
            return os.path.samefile(source, path)
        return False
    return True


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    write(path, json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> dict[str, Any]:
    text = read(path)
    try:
        value = json.loads(text)
    except ValueError as error:
        raise RunError(f"{path}: expected JSON: {error}") from None
    if not isinstance(value, dict):
        raise RunError(f"{path}: expected a JSON object, got {type(value).__name__}")
    return value


def read(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise RunError(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise RunError(
            f"{path}: expected UTF-8 text, byte {error.start} is 0x{error.object[error.start]:02x}"
        ) from None


class Reservation:
    """Room on the disk for an answer that is about to be paid for; a full disk shows before the call, not after."""

    def __init__(self, path: Path, nbytes: int) -> None:
        self._path = path
        self._temporary = path.with_name(path.name + TEMPORARY)
        with refusals(path):
            try:
                with self._temporary.open("wb") as file:
                    _allocate(file.fileno(), nbytes)
                    os.fsync(file.fileno())
            except OSError:
                self.release()
                raise

    def fill(self, value: Mapping[str, Any]) -> None:
        """Writes into the room and gives the file its name."""
        data = json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False).encode() + b"\n"
        with refusals(self._path):
            with self._temporary.open("r+b") as file:
                file.write(data)
                file.truncate()
                file.flush()
                os.fsync(file.fileno())
            self._temporary.replace(self._path)

    def release(self) -> None:
        with contextlib.suppress(OSError):
            self._temporary.unlink()


def _allocate(descriptor: int, nbytes: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, nbytes)
        return
    # macOS: blocks are taken when something is written to them.
    for _ in range(0, nbytes, 1 << 16):
        os.write(descriptor, b"\0" * (1 << 16))
