"""The tasks of suite ``zk``, in the order of its specification; the last one, modmul_montgomery, is the smoke task."""

from __future__ import annotations

from kfp.tasks.base import Task
from kfp.tasks.zk.binius import Binius
from kfp.tasks.zk.keccak import Keccak
from kfp.tasks.zk.wots import Wots

TASKS: tuple[type[Task], ...] = (
    Keccak,
    Wots,
    Binius,
)
