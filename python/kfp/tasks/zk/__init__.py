"""The tasks of suite ``zk``, in the order of its specification; the last one, modmul_montgomery, is the smoke task."""

from __future__ import annotations

from kfp.tasks.base import Task

TASKS: tuple[type[Task], ...] = ()
