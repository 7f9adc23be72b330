"""The commands. Each turns its arguments into one call of the API, prints the answer and returns an exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from kfp.cli import INTERRUPTED, NEGATIVE, RIGHT, USAGE
from kfp.cli.output import print_json, print_lines
from kfp.errors import UsageError
from kfp.tables import check_lines, device_lines, evaluation_lines

app = typer.Typer(
    name="kfp",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

EXIT_CODES = "Exit codes: 0 right, 1 a negative verdict, 2 wrong usage, 3 this machine can't."


class Scale(str, Enum):
    """Sizes of the configurations."""

    small = "small"
    full = "full"


class Math(str, Enum):
    """Floating-point rules for the compiler."""

    fast = "fast"
    precise = "precise"


class Grade(str, Enum):
    """How sure a comparison has to be."""

    search = "search"
    claim = "claim"


Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Device = Annotated[str, typer.Option(metavar="auto|cpu|metal|cuda", help="Where to run; auto: the best there is.")]
MathOption = Annotated[Math, typer.Option("--math", help="Fast math as in Metal's default, or precise.")]


def run(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code. Raises ``kfp.Error``."""
    try:
        code = app(args=list(arguments), prog_name="kfp", standalone_mode=False)
    except typer.Abort:
        raise KeyboardInterrupt from None
    except typer.Exit as stop:
        return stop.exit_code
    except SystemExit:
        # How the argument parser answers a closed stdout; its exit code would read as a verdict.
        raise BrokenPipeError from None
    except Exception as error:
        return _usage(error)
    if code == INTERRUPTED:
        raise KeyboardInterrupt
    return code if isinstance(code, int) else RIGHT


def _usage(error: Exception) -> int:
    """What the argument parser raises for a wrong command line; everything else goes on."""
    if not callable(getattr(error, "format_message", None)):
        raise error
    context = getattr(error, "ctx", None)
    if context is not None:
        print(context.get_usage(), file=sys.stderr)
    print(f"kfp: {cast(Any, error).format_message()}", file=sys.stderr)
    return USAGE


@app.callback(invoke_without_command=True, epilog=EXIT_CODES)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    """Says what can be believed about a Metal compute kernel."""
    if version:
        import kfp

        print(f"kfp {kfp.__version__}")
        raise typer.Exit(RIGHT)
    if context.invoked_subcommand is None:
        from kfp.cli.welcome import welcome_lines

        print_lines(welcome_lines())


@app.command(epilog=EXIT_CODES)
def evaluate(
    task: Annotated[str, typer.Argument(help="Name of a task, or my_task.py:MyTask.")],
    kernel: Annotated[str | None, typer.Argument(help="File with the kernel, - for stdin; else the seed.")] = None,
    device: Device = "auto",
    scale: Annotated[Scale, typer.Option(help="Size of the configurations.")] = Scale.full,
    seed: Annotated[int, typer.Option(min=0, help="Feeds the random inputs.")] = 0,
    math: MathOption = Math.fast,
    checked: Annotated[bool, typer.Option("--checked", help="Look for races and wild accesses; no timing.")] = False,
    published_held_out: Annotated[
        bool, typer.Option("--published-held-out", help="At the paper's held-out configuration instead.")
    ] = False,
    json: Json = False,
) -> int:
    """Compile a kernel, run it, check it against the task's reference, time it and score it."""
    from dataclasses import replace

    from kfp.cli.progress import ProgressLine
    from kfp.evaluation import evaluate as evaluate_kernel
    from kfp.sources import seed_source
    from kfp.tasks import get_task

    wanted = get_task(task)
    source = seed_source(wanted) if kernel is None else read_kernel(kernel)
    held_out = (replace(wanted.published_held_out(scale.value), seed=seed),) if published_held_out else None
    with ProgressLine() as progress:
        result = evaluate_kernel(
            wanted,
            source,
            device=device,
            scale=scale.value,
            seed=seed,
            math=math.value,
            checked=checked,
            configurations=held_out,
            progress=progress,
        )
    if json:
        print_json(result.to_json())
    else:
        print_lines(evaluation_lines(result, source))
    return RIGHT if result.correct else NEGATIVE


@app.command(epilog="Exit codes: 0 win or no change, 1 anything else, 2 wrong usage, 3 this machine can't.")
def compare(
    task: Annotated[str, typer.Argument(help="Name of a task, or my_task.py:MyTask.")],
    kernel: Annotated[str, typer.Argument(help="File with the kernel, - for stdin.")],
    reference: Annotated[str, typer.Argument(help="File with the kernel to compare with, or: seed.")] = "seed",
    device: Device = "auto",
    scale: Annotated[Scale, typer.Option(help="Size of the configurations.")] = Scale.full,
    seed: Annotated[int, typer.Option(min=0, help="Feeds the random inputs, and the order of the samples.")] = 0,
    math: MathOption = Math.fast,
    grade: Annotated[Grade, typer.Option(help="search: one process, quick; claim: several fresh processes.")] = (
        Grade.search
    ),
    cold: Annotated[bool, typer.Option("--cold", help="Every run starts with its buffers in no cache.")] = False,
    json: Json = False,
) -> int:
    """Measure a kernel against another one in pairs: the ratio, its interval, a verdict."""
    from kfp.cli.progress import ProgressLine
    from kfp.comparison import SEED
    from kfp.comparison import compare as compare_kernels
    from kfp.timing.tables import comparison_lines

    source = read_kernel(kernel)
    with ProgressLine() as progress:
        result = compare_kernels(
            task,
            source,
            SEED if reference == SEED else Path(reference),
            device=device,
            scale=scale.value,
            seed=seed,
            math=math.value,
            grade=grade.value,
            cache="cold" if cold else "warm",
            progress=progress,
        )
    if json:
        print_json(result.to_json())
    else:
        print_lines(comparison_lines(result, source))
    return RIGHT if result.verdict in ("win", "no change") else NEGATIVE


@app.command(epilog=EXIT_CODES)
def check(
    kernel: Annotated[str, typer.Argument(help="File with the kernel, or - for stdin.")],
    task: Annotated[str | None, typer.Option(help="Hold it against the interface of this task.")] = None,
    device: Device = "auto",
    math: MathOption = Math.fast,
    json: Json = False,
) -> int:
    """Compile a kernel and show its signatures and limits. Nothing is run."""
    from kfp.checking import check as check_kernel

    source = read_kernel(kernel)
    report = check_kernel(source, task=task, device=device, math=math.value)
    if json:
        print_json(report.to_json())
    else:
        print_lines(check_lines(report, source))
    return RIGHT if report.compile_ok and report.pipeline_ok else NEGATIVE


@app.command()
def tasks(json: Json = False) -> int:
    """List the tasks."""
    from kfp.cli.descriptions import task_json, task_list_lines
    from kfp.tasks import all_tasks

    if json:
        print_json([task_json(task) for task in all_tasks()])
    else:
        print_lines(task_list_lines(all_tasks()))
    return RIGHT


@app.command()
def show(
    task: Annotated[str, typer.Argument(help="Name of a task, or my_task.py:MyTask.")],
    seed: Annotated[bool, typer.Option("--seed", help="Print the seed kernel, nothing else.")] = False,
    json: Json = False,
) -> int:
    """Show the contract of a task: mathematics, signatures, valid values, configurations."""
    from kfp.cli.descriptions import task_json, task_lines
    from kfp.sources import seed_source
    from kfp.tasks import get_task

    wanted = get_task(task)
    if seed and json:
        raise UsageError("show: --seed prints the kernel as it is; leave out --json")
    if seed:
        print(seed_source(wanted), end="")
    elif json:
        print_json(task_json(wanted))
    else:
        print_lines(task_lines(wanted))
    return RIGHT


@app.command()
def devices(json: Json = False) -> int:
    """List the devices of this machine, and those that it lacks with the reason."""
    from kfp.machine import devices as list_devices

    found = list_devices()
    if json:
        print_json([device.to_json() for device in found])
    else:
        print_lines(device_lines(found))
    return RIGHT


@app.command(epilog="Exit codes: 0 nothing to mend, 1 something makes timings worse, 3 this machine can't.")
def doctor(device: Device = "auto", json: Json = False) -> int:
    """Say what about this machine makes timings worse, and measure its A/A floor."""
    from kfp.diagnosis import doctor as diagnose
    from kfp.timing.tables import diagnosis_lines

    result = diagnose(device)
    if json:
        print_json(result.to_json())
    else:
        print_lines(diagnosis_lines(result))
    return RIGHT if result.healthy else NEGATIVE


def read_kernel(kernel: str) -> str:
    from kfp.sources import MAX_SOURCE_BYTES, decode_source, read_source

    if kernel == "-":
        return decode_source(sys.stdin.buffer.read(MAX_SOURCE_BYTES + 1), "stdin")
    return read_source(Path(kernel))
