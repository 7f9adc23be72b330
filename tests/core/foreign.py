"""A worker program that an attacker has taken over: it answers as it is told to."""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from kfp import _core

MAGIC = 0x6B667031
OK = 0

_PROGRAM = """#!{python} -ISs
import os, socket, struct, sys, time
channel = socket.socket(fileno=3)
def take(size):
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more: os._exit(0)
        data += more
    return data
answers = {answers!r}
for answer in answers:
    magic, kind, length = struct.unpack("<IIQ", take(16))
    take(length)
    if isinstance(answer, bytes): channel.sendall(answer)
    else: exec(answer)
time.sleep(60)
"""


def answer(payload: bytes = b"", *, status: int = OK, magic: int = MAGIC, length: int | None = None) -> bytes:
    return struct.pack("<IIQ", magic, status, len(payload) if length is None else length) + payload


def text(value: bytes) -> bytes:
    return struct.pack("<Q", len(value)) + value


def make(folder: Path, *answers: bytes | str) -> _core.Toolchain:
    """A toolchain whose worker gives ``answers`` in turn: bytes are sent as they are, text is executed.

    It opens and warms up properly before that.
    """
    program = folder / "worker"
    program.write_text(_PROGRAM.format(python=sys.executable, answers=(answer(), answer(), *answers)))
    program.chmod(0o700)
    return _core.Toolchain(clang="", clang_is_zig=False, msl_include="", cache=str(folder), sandbox=str(program))
