"""Where the workers of a sweep run: this machine, a dask cluster, Slurm."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from kfp.errors import UsageError
from kfp.sweeping.executors.base import Executor
from kfp.sweeping.spec import Spec

NAMES = ("local", "dask", "slurm")


def open_executor(name: str, spec: Spec, *, scheduler: str = "") -> Executor:
    """The executor called ``name``, as the spec's table of that name describes it.

    Raises ``kfp.UsageError`` for a table that it can't read or a package that is missing, ``kfp.ExecutorError`` for a
    cluster that can't be reached.
    """
    if scheduler and name != "dask":
        raise UsageError(f"scheduler: expected one with the executor 'dask' alone, this is {name!r}")
    if name == "local":
        from kfp.sweeping.executors.local import LocalExecutor

        return LocalExecutor(spec.jobs)
    if name == "dask":
        from kfp.sweeping.executors.dask import DaskExecutor

        _require_table("dask", spec.dask, ("scheduler",))
        address = scheduler or spec.dask.get("scheduler", "")
        if not isinstance(address, str) or not address:
            raise UsageError("dask: expected the address of a scheduler, --scheduler or [dask] scheduler in the spec")
        return DaskExecutor(address, jobs=spec.jobs)
    if name == "slurm":
        from kfp.sweeping.executors.slurm import SlurmExecutor, SlurmOptions

        _require_table("slurm", spec.slurm, tuple(field.name for field in fields(SlurmOptions)))
        return SlurmExecutor(SlurmOptions(**spec.slurm), deadline_s=spec.deadline_s, jobs=spec.jobs)
    raise UsageError(f"executor: expected one of {', '.join(NAMES)}, got {name!r}")


def _require_table(name: str, table: dict[str, Any], known: tuple[str, ...]) -> None:
    for key, value in table.items():
        if key not in known:
            raise UsageError(f"{name}.{key}: unknown key; there are: {', '.join(known)}")
        fits = isinstance(value, dict) if key == "sbatch" else isinstance(value, str)
        if not fits:
            raise UsageError(f"{name}.{key}: expected {'a table' if key == 'sbatch' else 'a text'}, got {value!r}")
        for option, chosen in value.items() if key == "sbatch" else ():
            if not isinstance(chosen, str | int):
                raise UsageError(f"{name}.{key}.{option}: expected a text, a whole number or true, got {chosen!r}")
