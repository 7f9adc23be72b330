"""The folder that a foreign search starts from, and the command that writes it."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from kfp.adapters.shared.assessment import TIMEOUT, Assessor
from kfp.adapters.shared.briefing import brief, starting_program
from kfp.errors import DeviceUnavailable, Error, ToolchainError, UsageError
from kfp.results import Math
from kfp.runs.files import refusals, write
from kfp.tasks.base import Scale


class Start:
    """What goes into the files: ``task`` and ``options`` as given to the evaluator, which are tried out here."""

    def __init__(self, task: str, options: Mapping[str, Any]) -> None:
        path, colon, name = task.rpartition(":")
        # The search may have another working folder than whoever starts it.
        self.task = f"{Path(path).resolve()}:{name}" if colon else task
        self.options = dict(options)
        assessor = Assessor(self.task, **self.options)
        self.brief = brief(assessor.task, assessor.scale)
        self.program = starting_program(assessor.task)

    @property
    def timeout(self) -> float:
        return float(self.options.get("timeout", TIMEOUT))

    @property
    def arguments(self) -> str:
        """As in a call, with what is not the default."""
        given = [f"{name}={_literal(value)}" for name, value in self.options.items()]
        return ", ".join([_literal(self.task), *given])


def _literal(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def block(text: str, indent: int) -> str:
    """The lines of a YAML block scalar."""
    return textwrap.indent(text.rstrip("\n"), " " * indent)


def write_all(folder: Path, files: Mapping[str, str]) -> tuple[Path, ...]:
    """Raises ``kfp.UsageError`` before anything is written if one of the files is there already."""
    paths = tuple(folder / name for name in files)
    for path in paths:
        if path.exists():
            raise UsageError(f"{path}: is there already; choose another folder")
    with refusals(folder):
        folder.mkdir(parents=True, exist_ok=True)
    for path, text in zip(paths, files.values(), strict=True):
        write(path, text)
    return paths


def command(
    module: str, start: Callable[..., tuple[Path, ...]], advice: str, arguments: Sequence[str] | None = None
) -> int:
    """``python -m MODULE TASK FOLDER``. ``advice`` is printed afterwards, with FOLDER filled in."""
    parser = argparse.ArgumentParser(prog=f"python -m {module}", description="Writes what a search starts from.")
    parser.add_argument("task", help="name of a task, or path/to/file.py:ClassName")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scale", choices=get_args(Scale))
    parser.add_argument("--device")
    parser.add_argument("--seed", type=int)
    parser.add_argument("--math", choices=get_args(Math))
    parser.add_argument("--timeout", type=float, help=f"seconds that one evaluation may take ({TIMEOUT:g})")
    given = {name: value for name, value in vars(parser.parse_args(arguments)).items() if value is not None}
    task, folder = given.pop("task"), given.pop("folder")
    try:
        for path in start(task, folder, **given):
            print(path)
    except (DeviceUnavailable, ToolchainError) as error:
        print(f"kfp: {error}", file=sys.stderr)
        return 3
    except Error as error:
        print(f"kfp: {error}", file=sys.stderr)
        return 2
    print(f"\n{advice.format(folder=folder)}")
    return 0
