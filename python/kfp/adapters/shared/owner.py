"""The look at what is held out, after a foreign search: for the owner of the books, out of the search's reach."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from kfp.errors import UsageError
from kfp.gating.looks import Look, look
from kfp.tasks.base import Task


def look_at_best(task: str | Task, search: Path, program: str, books: str | os.PathLike[str], options: Any) -> Look:
    """Gates the one file in ``search`` that fits the pattern ``program``; everything found stays in ``books``.

    Raises ``kfp.UsageError`` where there is no such file, and where a search that goes on could find the books in its
    own folder.
    """
    home, owner = search.resolve(), Path(books).resolve()
    if owner == home or home in owner.parents or owner in home.parents:
        raise UsageError(f"books: {owner} and the search's folder {home} are within each other; keep them apart")
    found = sorted(home.glob(program))
    if len(found) != 1:
        what = "none" if not found else f"{len(found)} of them"
        raise UsageError(f"search: expected one best program, {home / program}; there is {what}")
    return look(task, found[0], owner, run=str(home), **options)
