"""``kfp.sweep``: from a spec to units that are done, or say why not."""

from __future__ import annotations

import os
import re
import time
from dataclasses import replace
from pathlib import Path

from kfp.errors import RunError, UsageError
from kfp.sweeping.driver import Driver, file_system_time, status_of, strays
from kfp.sweeping.executors import open_executor
from kfp.sweeping.executors.base import Executor
from kfp.sweeping.folder import SweepFolder, is_sweep
from kfp.sweeping.reading import read_spec
from kfp.sweeping.results import OnSweepProgress, Sweep, silent
from kfp.sweeping.spec import Spec, out_folder, shard_of


def sweep(
    spec: str | os.PathLike[str] | Spec,
    *,
    out: str | os.PathLike[str] | None = None,
    shard: str | None = None,
    jobs: int | None = None,
    executor: str | Executor = "local",
    scheduler: str = "",
    retry: bool = False,
    progress: OnSweepProgress = silent,
) -> Sweep:
    """Runs a search for every unit of a sweep: task × model × replicate × device × arm.

    ``spec`` is a TOML file, a ``Spec``, or the folder of a sweep that has begun. The units go to folders below ``out``,
    each by a hash of what decides its result; the same call again goes on where it stopped, and several calls share the
    work. ``shard`` ``"i/n"`` does the i-th of n parts. ``executor`` is ``"local"`` with at most ``jobs`` processes,
    ``"dask"`` with the ``scheduler`` at an address, ``"slurm"``, or one of your own. ``retry`` gives units that have
    failed another chance.

    What becomes of a unit is in the ``Sweep``. Raises ``kfp.Error`` for a spec, a folder or an executor that can't be
    used.
    """
    wanted, folder = opened(spec, out)
    units = shard_of(wanted.units, parsed_shard(shard))
    if jobs is not None and jobs < 1:
        raise UsageError(f"jobs: expected at least 1, got {jobs}")
    if isinstance(executor, str):
        executor = open_executor(executor, wanted if jobs is None else replace(wanted, jobs=jobs), scheduler=scheduler)
    try:
        folder.begin(wanted)
        if retry:
            for unit in units:
                known = folder.unit_folder(unit.key)
                if known.path.is_dir():
                    known.forgive()
    except BaseException:
        executor.close(cancel=True)
        raise
    return Driver(wanted, folder, units, executor, progress).run()


def sweep_status(
    spec: str | os.PathLike[str] | Spec, *, out: str | os.PathLike[str] | None = None, shard: str | None = None
) -> Sweep:
    """How far a sweep is. Starts nothing; also of a folder that can only be read."""
    wanted, folder = opened(spec, out)
    units = shard_of(wanted.units, parsed_shard(shard))
    try:
        now = file_system_time(folder.path / "units")
    except RunError:
        now = time.time()
    return Sweep(
        name=wanted.name,
        folder=str(folder.path),
        units=tuple(status_of(folder.unit_folder(unit.key), unit, now, None) for unit in units),
        strays=strays(folder, wanted),
    )


def opened(spec: str | os.PathLike[str] | Spec, out: str | os.PathLike[str] | None) -> tuple[Spec, SweepFolder]:
    """The spec, and the folder that goes with it. Raises ``kfp.UsageError``."""
    if not isinstance(spec, Spec):
        path = Path(spec)
        if path.is_dir():
            if not is_sweep(path):
                raise UsageError(f"{path}: expected a spec (.toml) or the folder of a sweep, it has no sweep.json")
            if out is not None:
                raise UsageError(f"out: expected none with the folder of a sweep, got {os.fspath(out)!r}")
            folder = SweepFolder(path.absolute())
            return folder.spec(), folder
        if not path.exists():
            raise UsageError(f"{path}: there is no such spec")
        spec = read_spec(path)
    return spec, SweepFolder(out_folder(spec, None if out is None else Path(out)))


def parsed_shard(text: str | None) -> tuple[int, int] | None:
    if text is None:
        return None
    match = re.fullmatch(r"([1-9]\d{0,5})/([1-9]\d{0,5})", text)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"shard: expected i/n with i from 1 to n, as in 1/4, got {text!r}")
    return int(match[1]), int(match[2])
