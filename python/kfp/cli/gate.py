"""``kfp gate`` and ``kfp transfer``."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from kfp.cli import NEGATIVE, RIGHT
from kfp.cli.app import Device, Json, Math, MathOption, Scale, app, read_kernel
from kfp.cli.output import print_json, print_lines
from kfp.errors import UsageError


class PolicyChoice(str, Enum):
    """What is released of a look at held-out information."""

    once = "once"
    ladder = "ladder"
    thresholdout = "thresholdout"
    retro = "retro"


@app.command(epilog="Exit codes: 0 transfers, 1 anything else, 2 wrong usage or a refused look, 3 this machine can't.")
def gate(
    task: Annotated[str, typer.Argument(help="Name of a task, or my_task.py:MyTask.")],
    kernel: Annotated[str, typer.Argument(help="File with the kernel, - for stdin.")],
    device: Device = "auto",
    scale: Annotated[Scale, typer.Option(help="Size of the configurations.")] = Scale.full,
    math: MathOption = Math.fast,
    against: Annotated[Path | None, typer.Option(help="Measure it against this kernel, too.")] = None,
    draws: Annotated[int, typer.Option(min=3, help="Timed draws.")] = 3,
    seed: Annotated[str, typer.Option(help="Of a gate to repeat (a number, 0x… as printed); else random.")] = "",
    threshold: Annotated[float, typer.Option(help="A gain is one by more than this ratio.")] = 1.05,
    claimed: Annotated[float | None, typer.Option(help="The gain that the search reported, to be held up to.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the gate: the same command again goes on.")] = None,
    books: Annotated[
        Path | None, typer.Option(help="Folder with seed and ledger of the looks; a run's own will do.")
    ] = None,
    policy: Annotated[PolicyChoice, typer.Option(help="With --books: what a look may release.")] = PolicyChoice.once,
    score: Annotated[float | None, typer.Option(help="With --policy thresholdout: the S that the search has.")] = None,
    json: Json = False,
) -> int:
    """Does the gain hold at configurations that nobody could have tuned for?"""
    from kfp.cli.progress import ProgressLine
    from kfp.gating.gate import gate as gate_kernel
    from kfp.gating.tables import gate_lines, look_lines

    options: dict[str, Any] = {
        "device": device, "scale": scale.value, "math": math.value, "against": against, "draws": draws,
        "threshold": threshold, "claimed": claimed,
    }  # fmt: skip
    if books is not None:
        from kfp.gating.looks import look

        if seed or out is not None:
            raise UsageError("books: the folder has its own seed and keeps the gate; leave out --seed and --out")
        with ProgressLine() as progress:
            found = look(
                task, read_kernel(kernel), books, policy=policy.value, score=score, progress=progress, **options
            )
        if json:
            print_json(found.to_json())
        else:
            print_lines(look_lines(found))
        return RIGHT if found.gate is None or found.gate.verdict == "transfers" else NEGATIVE
    if policy != PolicyChoice.once or score is not None:
        raise UsageError("policy: expected --books with it, the folder whose ledger counts the looks")
    with ProgressLine() as progress:
        result = gate_kernel(
            task, read_kernel(kernel), seed=number_of(seed) if seed else None, out=out, progress=progress, **options
        )
    if json:
        print_json(result.to_json())
    else:
        print_lines(gate_lines(result))
    return RIGHT if result.verdict == "transfers" else NEGATIVE


def number_of(text: str) -> int:
    try:
        return int(text, 0)
    except ValueError:
        raise UsageError(f"seed: expected a whole number, got {text!r}") from None


@app.command(epilog="Exit codes: 0 a rate, 2 wrong usage, or a run without a gate.")
def transfer(
    runs: Annotated[list[Path], typer.Argument(help="Folders of runs, records of gates (.json), tables (.csv).")],
    seed: Annotated[int, typer.Option(min=0, help="Feeds the bootstrap.")] = 0,
    json: Json = False,
) -> int:
    """How many gains transfer: the rate with its interval, per model and suite."""
    from kfp.transfer import cases_of, transfer_lines, transfer_report

    report = transfer_report([case for run in runs for case in cases_of(run)], seed=seed)
    if json:
        print_json(report.to_json())
    else:
        print_lines(transfer_lines(report))
    return RIGHT
