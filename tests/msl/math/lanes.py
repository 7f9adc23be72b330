"""A reference runtime for programs with barriers and simdgroup functions: one Python thread per lane.

An exchange completes when every lane that hasn't returned waits in one, which is all that the tests need of divergence.
"""

from __future__ import annotations

import ctypes
import threading

import numpy as np
import numpy.typing as npt

WIDTH = 32
SLOT_BYTES = 16


class Frame(ctypes.Structure):
    _fields_ = [("slots", ctypes.c_ubyte * SLOT_BYTES * WIDTH), ("active", ctypes.c_uint)]


Barrier = ctypes.CFUNCTYPE(None)
Exchange = ctypes.CFUNCTYPE(
    ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint, ctypes.POINTER(ctypes.c_uint)
)


class RuntimeTable(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_uint), ("threadgroup_barrier", Barrier), ("simd_exchange", Exchange)]


class Lanes:
    """Runs one function of an image in 32 lanes at a time."""

    def __init__(self, image: ctypes.CDLL) -> None:
        self._changed = threading.Condition()
        self._own = threading.local()
        self._image = image
        self._table = RuntimeTable(1, Barrier(self._barrier), Exchange(self._exchange))
        ctypes.c_void_p.in_dll(image, "__kfp_runtime").value = ctypes.addressof(self._table)

    def run(self, name: str, *arrays: npt.NDArray[np.generic], lanes: int = WIDTH) -> None:
        """Calls name(arrays..., lane) in every lane and waits for all of them."""
        self._running = lanes
        self._waiting: dict[int, tuple[bytes, int]] = {}
        self._frames: list[Frame] = []
        function = getattr(self._image, name)
        pointers = [a.ctypes.data_as(ctypes.c_void_p) for a in arrays]

        def lane(number: int) -> None:
            self._own.lane = number
            function(*pointers, ctypes.c_uint(number))
            with self._changed:
                self._running -= 1
                self._complete_if_all_wait()

        threads = [threading.Thread(target=lane, args=(n,)) for n in range(lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=60)
            assert not thread.is_alive()

    def _barrier(self) -> None:
        self._meet(b"", WIDTH)

    def _exchange(self, value: int, size: int, width: int, lane: ctypes._Pointer[ctypes.c_uint]) -> int:
        lane[0] = self._own.lane
        self._own.frame = self._meet(ctypes.string_at(value, size), width)
        return ctypes.addressof(self._own.frame)

    def _meet(self, value: bytes, width: int) -> Frame:
        number: int = self._own.lane
        with self._changed:
            self._waiting[number] = (value, width)
            turn = self._frames
            self._complete_if_all_wait()
            while self._frames is turn:
                assert self._changed.wait(timeout=60)
            return self._frames[number]

    def _complete_if_all_wait(self) -> None:
        if len(self._waiting) < self._running or not self._waiting:
            return
        frames = [Frame() for _ in range(WIDTH)]
        for receiver, (_, width) in self._waiting.items():
            for sender, (value, _) in self._waiting.items():
                if sender // width == receiver // width:
                    ctypes.memmove(frames[receiver].slots[sender], value, len(value))
                    frames[receiver].active |= 1 << sender
        self._frames = frames
        self._waiting = {}
        self._changed.notify_all()
