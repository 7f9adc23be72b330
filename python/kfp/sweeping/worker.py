"""``python -m kfp.sweeping.worker UNIT_FOLDER``: does one unit of a sweep, or goes on with it."""

from __future__ import annotations

import argparse
import contextlib
import errno
import os
import shlex
import signal
import sys
import time
import traceback
from collections.abc import Sequence
from pathlib import Path

from kfp.errors import BudgetError, DeviceUnavailable, Error, ToolchainError
from kfp.runs.index import Index
from kfp.runs.run import Run
from kfp.search import evolution
from kfp.sweeping.executors.base import DONE, FAILED, HELD, STOPPED
from kfp.sweeping.folder import Cause, Done, Failure, UnitFolder
from kfp.sweeping.keeper import Keeper, Stopped, stop_on
from kfp.sweeping.leases import Lease, Outcome, held_by_this_process, take
from kfp.sweeping.spec import Unit
from kfp.sweeping.turns import Turns

# Not the unit's fault, and no attempt of it: another one will find the same until somebody makes room.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS)


def run_unit(path: Path, tether: int | None = None) -> int:
    """Takes the unit's lease, begins or resumes its run, and marks it done. Returns an exit code of ``executors.base``.

    Raises ``kfp.RunError`` for a folder that can't be read or written. Ends the process when its lease is lost.
    """
    folder = UnitFolder(path.absolute())
    unit = folder.unit()
    if folder.done() is not None:
        return DONE
    try:
        lease = take(folder.path, unit.lease_s)
        return HELD if lease is None else _leased(folder, unit, lease, tether)
    except Stopped:
        # It may have come before the lease had a name here, or after the unit's last word, as an error may.
        done = folder.done() is not None
        mine = held_by_this_process(folder.path)
        if mine is not None:
            mine.release("done" if done else "stopped")
        return DONE if done else STOPPED


def _leased(folder: UnitFolder, unit: Unit, lease: Lease, tether: int | None) -> int:
    with Keeper(lease, folder, unit.deadline_s, tether):
        try:
            return _work(folder, unit, lease)
        except Exception as error:
            # Whoever has lost the unit finds its folder gone, which says nothing of the unit.
            if lease.superseded:
                return HELD
            if folder.done():
                return _ended(lease, "done", DONE)
            if _is_full(error):
                lease.release("stopped")
                raise
            if not isinstance(error, Error):
                traceback.print_exc()
            return _failed(folder, unit, lease, error)


def _failed(folder: UnitFolder, unit: Unit, lease: Lease, error: Exception) -> int:
    reason = str(error) if isinstance(error, Error) else f"{type(error).__name__}: {error}"
    folder.write_failure(Failure(lease.generation, _cause(error), reason))
    print(f"kfp sweep: {unit.name}: {reason}", file=sys.stderr)
    return _ended(lease, "failed", FAILED)


def _ended(lease: Lease, outcome: Outcome, code: int) -> int:
    if lease.superseded:
        return HELD
    lease.release(outcome)
    return code


def _work(folder: UnitFolder, unit: Unit, lease: Lease) -> int:
    # The holder before may have finished after the first look.
    if folder.done() is None:
        started = time.monotonic()
        place = folder.enter(lease)
        with contextlib.suppress(OSError):
            os.chdir(unit.base)
        try:
            chosen = evolution.options(
                unit.task, model=unit.model, device=unit.device, seed=unit.seed, replicate=unit.replicate, out=place,
                **unit.options.given,
            )  # fmt: skip
        except (DeviceUnavailable, ToolchainError):
            raise
        except Error as error:
            raise _Hopeless(str(error)) from None
        command = evolve_command(unit, folder.run)
        run = evolution.run(chosen, command=command, turn=Turns(chosen.device.name, unit.key))
        if run.ended:
            raise _Hopeless(run.ended)
        if lease.superseded:
            return HELD
        folder.leave(lease)
        finished = Run(folder.run)
        Index().update(finished.reader, chosen.iterations, "complete")
        folder.write_done(_done(unit.key, lease.generation, finished, time.monotonic() - started))
    return _ended(lease, "done", DONE)


class _Hopeless(Error):
    """Another attempt would end in the same way."""


def _cause(error: Exception) -> Cause:
    if isinstance(error, DeviceUnavailable | ToolchainError):
        return "unavailable"
    return "usage" if isinstance(error, _Hopeless | BudgetError) else "error"


def _is_full(error: BaseException) -> bool:
    return any(isinstance(one, OSError) and one.errno in _NO_ROOM for one in (error, error.__context__))


def _done(key: str, generation: int, run: Run, seconds: float) -> Done:
    totals, finale, gate = run.totals, run.finale, run.gate
    incumbent = finale.of("incumbent") if finale is not None else None
    return Done(
        key=key,
        generation=generation,
        iterations=totals.iterations,
        promotions=totals.promotions,
        incumbent_sha256=incumbent.source_sha256 if incumbent is not None else "",
        gain=incumbent.claim.ratio if incumbent is not None else None,
        gain_low=incumbent.claim.low if incumbent is not None else None,
        gain_high=incumbent.claim.high if incumbent is not None else None,
        held_out=incumbent.held_out.ratio if incumbent is not None else None,
        gate=gate.verdict if gate is not None else "",
        cost_usd=totals.cost_usd,
        seconds=seconds,
    )


def evolve_command(unit: Unit, out: Path) -> str:
    """The unit as a search of its own."""
    words = ["kfp", "evolve", unit.task, "--model", unit.model, "--device", unit.device, "--seed", str(unit.seed)]
    words += ["--replicate", str(unit.replicate)]
    for name, value in unit.options.given.items():
        if name == "disclose":
            words.append("--disclose" if value else "--redact")
        else:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join([*words, "--out", str(out)])


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m kfp.sweeping.worker", description="Does one unit of a sweep.")
    parser.add_argument("unit", type=Path, help="the unit's folder")
    parser.add_argument("--tether", type=int, help="descriptor whose other end the starter holds")
    chosen = parser.parse_args(arguments)
    try:
        stop_on(signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        return run_unit(chosen.unit, chosen.tether)
    except Stopped:
        return STOPPED
    except Error as error:
        print(f"kfp sweep: {error}", file=sys.stderr)
        return FAILED


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
