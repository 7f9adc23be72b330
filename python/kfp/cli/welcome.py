"""What ``kfp`` alone says: what can be done, and what to do next with what is there."""

from __future__ import annotations

from pathlib import Path

from kfp.errors import Error
from kfp.runs.index import Index, Row, runs_folder
from kfp.tables import Line, wrapped

_ABOUT = "kfp says what can be believed about a Metal compute kernel."

_COMMANDS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "a task and its kernel",
        (
            ("kfp tasks", "what can be computed"),
            ("kfp show hmc", "the contract of a task"),
            ("kfp show hmc --seed", "its naive kernel, to start from"),
        ),
    ),
    (
        "a kernel of your own",
        (
            ("kfp check my_kernel.metal", "does it compile? (--task hmc: does it fit?)"),
            ("kfp evaluate hmc my_kernel.metal", "is it right, how fast? (no file: the seed)"),
            ("kfp compare hmc my_kernel.metal", "is it faster than the seed, and how sure?"),
            ("kfp gate hmc my_kernel.metal", "does the gain hold where nobody looked?"),
            ("kfp audit hmc my_kernel.metal", "if it doesn't hold, by which mechanism?"),
        ),
    ),
    (
        "a search",
        (
            ("kfp evolve hmc --model demo", "let a model propose (here: a script)"),
            ("kfp sweep night.toml", "many searches: tasks × models × replicates"),
            ("kfp runs", "what searches have found"),
            ("kfp report RUN", "one page: what can be believed, and why"),
        ),
    ),
    (
        "this machine",
        (
            ("kfp devices", "where a kernel can run here"),
            ("kfp doctor", "what makes timings worse here"),
        ),
    ),
)


def welcome_lines() -> list[Line]:
    lines = [Line(_ABOUT, "bold")]
    for title, commands in _COMMANDS:
        lines += [Line(""), Line(title, "dim")]
        lines += [Line(f"  {command:<34}{what}") for command, what in commands]
    lines += [Line(""), *_next_lines(), Line("kfp COMMAND --help says more.", "dim")]
    return lines


def _next_lines() -> list[Line]:
    row = _newest()
    if row is None:
        return [*wrapped("Next: kfp evaluate saxpy, or all of it in two minutes: kfp evolve hmc --model demo")]
    name = Path(row.path).name if Path(row.path).parent == runs_folder() else row.path
    if row.status == "stopped":
        return [*wrapped(f"Next: {name} stopped after {row.done} of {row.iterations} iterations; "
                         f"kfp runs show {name} says how far it came")]  # fmt: skip
    return [*wrapped(f"Next: kfp report {name}, the newest of your runs")]


def _newest() -> Row | None:
    """Nothing that is wrong with the list of runs is worth failing a greeting for."""
    if not runs_folder().is_dir():
        return None
    try:
        return next(iter(Index().rows()), None)
    except (Error, OSError):
        return None
