"""Looking up tasks: the suites that come with the package, and a user's own ``path/to/file.py:ClassName``."""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import inspect
import sys
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType

from kfp.errors import TaskError
from kfp.tasks import sci, zk
from kfp.tasks.base import Task

SUITES: MappingProxyType[str, tuple[type[Task], ...]] = MappingProxyType({"sci": sci.TASKS, "zk": zk.TASKS})


@cache
def _by_name() -> dict[str, Task]:
    return {task.name: task() for suite in SUITES.values() for task in suite}


def all_tasks(suite: str | None = None) -> tuple[Task, ...]:
    """The tasks of one suite, or of all, in the order of their suite."""
    if suite is not None and suite not in SUITES:
        raise TaskError(f"unknown suite {suite!r}; there are: {', '.join(SUITES)}")
    return tuple(task for task in _by_name().values() if suite in (None, task.suite))


def get_task(spec: str | Task | type[Task]) -> Task:
    """The task called ``spec``, or the one that ``path/to/file.py:ClassName`` defines; a task is returned as it is."""
    if isinstance(spec, Task):
        return spec
    if isinstance(spec, type):
        return _instance(spec, spec.__name__)
    tasks = _by_name()
    if spec in tasks:
        return tasks[spec]
    path, separator, class_name = spec.rpartition(":")
    if separator and path.endswith(".py"):
        return _load(Path(path), class_name)
    if spec.endswith(".py"):
        return _load(Path(spec), None)
    close = difflib.get_close_matches(spec, tasks, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"there are: {', '.join(tasks)}"
    raise TaskError(f"unknown task {spec!r}; {hint} (a task of your own: path/to/file.py:ClassName)")


def _load(path: Path, class_name: str | None) -> Task:
    module = _execute(path)
    if class_name is not None:
        found = getattr(module, class_name, None)
        if found is None:
            raise TaskError(f"{path}: expected a class {class_name!r}, but the file defines no such name")
        return _instance(found, f"{path}:{class_name}")
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Task) and value.__module__ == module.__name__
    ]
    concrete = [value for value in own if not inspect.isabstract(value)]
    if len(concrete) != 1:
        names = ", ".join(value.__name__ for value in concrete) or "none"
        raise TaskError(f"{path}: expected one task class, found {names}; name it as {path}:ClassName")
    return _instance(concrete[0], str(path))


def _execute(path: Path) -> ModuleType:
    if not path.is_file():
        raise TaskError(f"{path}: no such file")
    # Dataclasses and pickling look a module up by name, so it must be registered, and under a name of its own.
    name = f"_kfp_task_{path.stem}_{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise TaskError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise TaskError(f"{path}: {type(error).__name__}: {error}") from error
    return module


def _instance(found: object, where: str) -> Task:
    if not (isinstance(found, type) and issubclass(found, Task)):
        raise TaskError(f"{where}: expected a subclass of kfp.tasks.base.Task, got {found!r}")
    if inspect.isabstract(found):
        missing = ", ".join(sorted(found.__abstractmethods__))
        raise TaskError(f"{where}: the task does not define {missing}")
    for attribute in ("name", "suite", "title", "regime", "unit", "kernels", "brief"):
        if not hasattr(found, attribute):
            raise TaskError(f"{where}: the task does not define {attribute!r}")
    return found()


class _Tasks(ModuleType):
    """This package is also the function that the public API promises: ``kfp.tasks()`` lists the tasks."""

    def __call__(self, suite: str | None = None) -> tuple[Task, ...]:
        return all_tasks(suite)


sys.modules[__name__].__class__ = _Tasks
