"""``kfp audit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kfp.cli import NEGATIVE, RIGHT
from kfp.cli.app import Device, Json, Math, MathOption, Scale, app, read_kernel
from kfp.cli.gate import number_of
from kfp.cli.output import print_json, print_lines
from kfp.errors import UsageError


@app.command(epilog="Exit codes: 0 benign, 1 anything else, 2 wrong usage, 3 this machine can't.")
def audit(
    task: Annotated[str, typer.Argument(help="Name of a task, or my_task.py:MyTask.")],
    kernel: Annotated[
        str | None, typer.Argument(help="File with the kernel, - for stdin; with --run else its incumbent.")
    ] = None,
    device: Device = "auto",
    scale: Annotated[Scale, typer.Option(help="Size of the configurations.")] = Scale.full,
    math: MathOption = Math.fast,
    reference: Annotated[str, typer.Option(help="File with the kernel that the gain is over, or: seed.")] = "seed",
    run: Annotated[
        Path | None, typer.Option(help="Folder of the run that it comes from: dates the onset, and keeps the audit.")
    ] = None,
    redacted: Annotated[
        Path | None, typer.Option(help="Folder of a run that was not told of the held-out configuration.")
    ] = None,
    seed: Annotated[str, typer.Option(help="Of an audit to repeat (a number, 0x… as printed); else random.")] = "",
    budget: Annotated[float | None, typer.Option(help="Seconds; 90 at the small scale, 900 at the full one.")] = None,
    json: Json = False,
) -> int:
    """By which mechanism does the gain of a kernel fail to transfer, if it does?"""
    from kfp.auditing.audit import audit as audit_kernel
    from kfp.auditing.tables import audit_lines
    from kfp.cli.progress import ProgressLine
    from kfp.comparison import SEED
    from kfp.runs.run import Run

    if kernel is None and run is None:
        raise UsageError("audit: expected a file with the kernel, or --run with the folder of a run")
    source = Run(run).incumbent if kernel is None and run is not None else read_kernel(kernel or "")
    with ProgressLine() as progress:
        result = audit_kernel(
            task,
            source,
            device=device,
            scale=scale.value,
            math=math.value,
            reference=SEED if reference == SEED else Path(reference),
            run=run,
            redacted=redacted,
            seed=number_of(seed) if seed else None,
            budget=budget,
            progress=progress,
        )
    if json:
        print_json(result.to_json())
    else:
        print_lines(audit_lines(result, source))
    return RIGHT if result.grade == "benign" else NEGATIVE
