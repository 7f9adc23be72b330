"""Root as an ordinary user: file modes bind it again."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

# linux/capability.h: version 3 passes two 32-bit words a set; CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH are bits 1, 2.
VERSION_3 = 0x20080522
OVERRIDES = 0b110


class Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class Data(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


@contextmanager
def bound_by_file_modes() -> Iterator[None]:
    """The calling thread can't write where modes forbid it, though it may be root's.

    It stays the same user, and so still reads what that user installed.
    """
    if os.geteuid() != 0 or sys.platform != "linux":
        yield
        return
    libc = ctypes.CDLL(None, use_errno=True)
    header, data = Header(VERSION_3, 0), (Data * 2)()

    def call(name: str) -> None:
        if getattr(libc, name)(ctypes.byref(header), data) != 0:
            raise OSError(ctypes.get_errno(), name)

    call("capget")
    before = data[0].effective
    data[0].effective = before & ~OVERRIDES
    call("capset")
    try:
        yield
    finally:
        data[0].effective = before
        call("capset")
