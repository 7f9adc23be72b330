"""``kfp sweep``."""

from __future__ import annotations

import shlex
import sys
import time
from enum import Enum
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated

import typer

from kfp.cli import NEGATIVE, RIGHT, UNAVAILABLE
from kfp.cli.app import Json, app
from kfp.cli.output import print_json, print_lines, wants_colour
from kfp.tables import WIDTH

if TYPE_CHECKING:
    from rich.live import Live

    from kfp.sweeping.results import Sweep, SweepProgress


# Where lines can't be written over, what is going on is told again only after this long.
SECONDS_BETWEEN_LINES = 60.0


class ExecutorName(str, Enum):
    """Where the workers run."""

    local = "local"
    dask = "dask"
    slurm = "slurm"


@app.command(epilog="Exit codes: 0 all units done, 1 not all, 2 wrong usage, 3 this machine can't.")
def sweep(
    spec: Annotated[Path, typer.Argument(help="The sweep: a TOML file, or the folder of one that has begun.")],
    out: Annotated[Path | None, typer.Option(help="Folder of the sweep; else the spec's, or one beside the runs.")] = (
        None
    ),
    shard: Annotated[str | None, typer.Option(metavar="I/N", help="The I-th of N parts, for as many machines.")] = None,
    jobs: Annotated[int | None, typer.Option(min=1, help="Workers at once; local: default one a processor.")] = None,
    executor: Annotated[ExecutorName, typer.Option(help="Where the workers run.")] = ExecutorName.local,
    scheduler: Annotated[str, typer.Option(help="Of dask: its address, as in tcp://127.0.0.1:8786.")] = "",
    retry: Annotated[bool, typer.Option("--retry", help="Try units that have failed once more.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Say how far it is, start nothing.")] = False,
    json: Json = False,
) -> int:
    """Run a search for every task × model × replicate × device × arm. The same command again goes on."""
    from kfp.sweeping.overview import sweep_lines
    from kfp.sweeping.sweep import opened, sweep_status
    from kfp.sweeping.sweep import sweep as run_sweep

    if status:
        found = sweep_status(spec, out=out, shard=shard)
    else:
        with _Overview(quiet=json) as overview:
            try:
                found = run_sweep(
                    spec, out=out, shard=shard, jobs=jobs, executor=executor.value, scheduler=scheduler,
                    retry=retry, progress=overview,
                )  # fmt: skip
            except KeyboardInterrupt:
                overview.close()
                _, folder = opened(spec, out)
                command = shlex.join(["kfp", *sys.argv[1:]])
                print(f"kfp: stopped; what is complete is in {folder.path}. To go on:\n  {command}", file=sys.stderr)
                raise
    if json:
        print_json(found.to_json())
    else:
        print_lines(sweep_lines(found))
        if found.of("failed"):
            print("\nkfp sweep … --retry tries the failed ones once more")
    return exit_code(found)


def exit_code(found: Sweep) -> int:
    failed = found.of("failed")
    if failed and all(unit.cause == "unavailable" for unit in failed):
        return UNAVAILABLE
    return RIGHT if found.complete else NEGATIVE


class _Overview:
    """On a terminal an overview that is written over; elsewhere a line for every unit that is settled, and now and then
    one on stderr while none is.
    """

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._live: Live | None = None
        self._last = time.monotonic()
        if wants_colour(sys.stderr):
            from rich.console import Console
            from rich.live import Live

            console = Console(file=sys.stderr, width=WIDTH, highlight=False)
            self._live = Live(console=console, auto_refresh=False, transient=True)

    def __enter__(self) -> _Overview:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: SweepProgress) -> None:
        from kfp.sweeping.overview import live_lines, settled_line, waiting_line

        if self._live is not None:
            from rich.text import Text

            self._live.update(Text("\n".join(line.text for line in live_lines(progress))), refresh=True)
            return
        if not self._quiet:
            print_lines(settled_line(unit) for unit in progress.settled)
            sys.stdout.flush()
        if progress.settled:
            self._last = time.monotonic()
        elif time.monotonic() - self._last > SECONDS_BETWEEN_LINES:
            self._last = time.monotonic()
            print(waiting_line(progress).text, file=sys.stderr, flush=True)
