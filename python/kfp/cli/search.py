"""``kfp evolve`` and ``kfp runs``."""

from __future__ import annotations

import shlex
import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Any

import typer

from kfp.cli import NEGATIVE, RIGHT
from kfp.cli.app import EXIT_CODES, Device, Json, Math, MathOption, Scale, app
from kfp.cli.output import print_json, print_lines
from kfp.cli.searching import SearchLine, resume_hint


class StrategyName(str, Enum):
    """What the model gets to see."""

    evolve = "evolve"
    best_of_n = "best-of-n"


class ExportFormat(str, Enum):
    """Of an exported run."""

    jsonl = "jsonl"
    csv = "csv"
    parquet = "parquet"
    trajectories = "trajectories"


@app.command(epilog=EXIT_CODES)
def evolve(
    task: Annotated[str, typer.Argument(help="Name of a task, or my_task.py:MyTask.")],
    model: Annotated[
        str,
        typer.Option(help="anthropic/M, openai/M, gemini/M, local/M@URL, replay/DIR, or demo (needs no key)."),
    ],
    iterations: Annotated[
        int | None, typer.Option(help="In all; more extend a run. Default: 10, some tasks more.")
    ] = None,
    device: Device = "auto",
    scale: Annotated[Scale | None, typer.Option(help="Size of the configurations; default full (demo: small).")] = None,
    math: MathOption = Math.fast,
    seed: Annotated[int, typer.Option(min=0, help="Feeds inputs, orders of samples and hidden draws.")] = 0,
    replicate: Annotated[int, typer.Option(min=1, help="Tells runs apart that are equal otherwise.")] = 1,
    strategy: Annotated[
        StrategyName, typer.Option(help="best-of-n: independent samples, no feedback.")
    ] = StrategyName.evolve,
    candidates: Annotated[int, typer.Option(min=1, help="Kernels asked for in each iteration.")] = 1,
    disclose: Annotated[
        bool, typer.Option("--disclose/--redact", help="Show the held-out configuration, for a controlled experiment.")
    ] = False,
    selection_draws: Annotated[int, typer.Option(min=0, help="Hidden configurations that may veto a promotion.")] = 1,
    budget_usd: Annotated[float | None, typer.Option(help="Cap in US dollars, calls in flight included.")] = None,
    budget_tokens: Annotated[int | None, typer.Option(help="End once so many tokens are used.")] = None,
    max_tokens: Annotated[int, typer.Option(help="Output tokens of one answer.")] = 32_000,
    call_seconds: Annotated[float, typer.Option(help="Deadline of one call, retries included.")] = 900.0,
    effort: Annotated[str, typer.Option(help="Effort of thinking: low, medium, high, …")] = "",
    start: Annotated[Path | None, typer.Option(help="Kernel to begin with; else the task's seed.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the run; else one below KFP_RUNS_DIR.")] = None,
    dry_run_prompt: Annotated[
        bool, typer.Option("--dry-run-prompt", help="Print the first prompt, ask nothing.")
    ] = False,
    json: Json = False,
) -> int:
    """Let a model propose kernels, and keep what is faster beyond the noise. The same command again goes on."""
    from kfp.runs.run import Run
    from kfp.search import evolution
    from kfp.search.story import end_lines, heading_lines, iteration_lines

    chosen = evolution.options(
        task,
        model=model,
        iterations=iterations,
        device=device,
        scale=scale.value if scale is not None else None,
        math=math.value,
        seed=seed,
        replicate=replicate,
        strategy=strategy.value,
        candidates=candidates,
        disclose=disclose,
        selection_draws=selection_draws,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_tokens=max_tokens,
        call_seconds=call_seconds,
        effort=effort,
        start=start,
        out=out,
    )
    if dry_run_prompt:
        system, prompt = evolution.first_prompt(chosen)
        if json:
            print_json({"system": system, "prompt": prompt})
        else:
            print(f"{system}\n---\n\n{prompt}", end="")
        return RIGHT
    command = shlex.join(["kfp", *sys.argv[1:]])
    with SearchLine(quiet=json) as line:

        def begun() -> None:
            if not json:
                run = Run(chosen.folder)
                print_lines(heading_lines(run))
                for record in run.iterations:
                    print_lines(iteration_lines(record))

        try:
            run = evolution.run(chosen, progress=line, command=command, begun=begun)
        except KeyboardInterrupt:
            line.close()
            if (chosen.folder / "run.json").is_file():
                print(resume_hint(chosen.folder, command), file=sys.stderr)
            raise
    if json:
        print_json(run.to_json())
    else:
        print_lines(end_lines(run))
    return NEGATIVE if run.ended else RIGHT


runs_app = typer.Typer(
    help="List runs of the search, show one, export one.", invoke_without_command=True, no_args_is_help=False
)
app.add_typer(runs_app, name="runs")


@runs_app.callback()
def _list(context: typer.Context, json: Json = False) -> int | None:
    """List the runs, newest first."""
    from dataclasses import asdict

    from kfp.runs.index import Index, runs_folder
    from kfp.search.story import list_lines

    if context.invoked_subcommand is not None:
        return None
    rows = Index().rows()
    if json:
        print_json([asdict(row) for row in rows])
        return RIGHT
    if not rows:
        print(f"no runs in {runs_folder()}; kfp evolve hmc --model demo makes one")
        return RIGHT
    cells: list[tuple[str, ...]] = [
        (
            Path(row.path).name if Path(row.path).parent == runs_folder() else row.path,
            row.task,
            row.model,
            row.status,
            f"{row.done}/{row.iterations}",
            f"{row.best:.2f}",
            f"${row.cost_usd:.2f}",
        )
        for row in rows
    ]
    print_lines(list_lines(cells))
    return RIGHT


@runs_app.command()
def show(
    folder: Annotated[Path, typer.Argument(help="Folder of a run or a sweep, or a run's name in the list.")],
    json: Json = False,
) -> int:
    """Show a run: every iteration, and what is left at the end."""
    from kfp.runs.run import Run
    from kfp.search.story import run_lines
    from kfp.sweeping.folder import is_sweep

    named = run_named(folder)
    if is_sweep(named):
        return _show_sweep(named, json)
    run = Run(named)
    if json:
        print_json(run.to_json())
    else:
        print_lines(run_lines(run))
    return RIGHT


def _show_sweep(folder: Path, json: bool) -> int:
    from kfp.sweeping.overview import sweep_lines
    from kfp.sweeping.sweep import sweep_status

    found = sweep_status(folder)
    if json:
        print_json(found.to_json())
    else:
        print_lines(sweep_lines(found))
    return RIGHT


@runs_app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder of a run or a sweep, or a run's name in the list.")],
    format: Annotated[
        ExportFormat, typer.Option(help="A row per candidate; trajectories: with all texts.")
    ] = ExportFormat.jsonl,
    out: Annotated[Path | None, typer.Option(help="File to write; else stdout.")] = None,
) -> int:
    """Export the candidates of a run, or of a sweep's runs, as JSON lines, CSV, Parquet or training trajectories."""
    from kfp.runs import export as exporting
    from kfp.runs.run import Run
    from kfp.sweeping.folder import SweepFolder, is_sweep

    named = run_named(folder)
    runs = [Run(found, name=unit.key) for unit, found in SweepFolder(named).runs()] if is_sweep(named) else [Run(named)]
    if format == ExportFormat.parquet:
        exporting.write_parquet(*runs, out=out)
    else:
        writer: Any = {
            ExportFormat.jsonl: exporting.jsonl_lines,
            ExportFormat.csv: exporting.csv_lines,
            ExportFormat.trajectories: exporting.trajectory_lines,
        }[format]
        exporting.write_lines(writer(*runs), out)
    return RIGHT


@runs_app.command(epilog="Exit codes: 0 no onset, 1 the gain ceased to transfer, 2 wrong usage.")
def onset(
    folder: Annotated[Path, typer.Argument(help="Folder of a run, or its name in the list.")], json: Json = False
) -> int:
    """Gate every promoted kernel of a finished run: from which iteration on does the gain not transfer?"""
    from kfp.cli.progress import ProgressLine
    from kfp.gating.onset import onset as date_onset
    from kfp.gating.onset import onset_lines

    with ProgressLine() as progress:
        result = date_onset(run_named(folder), progress=progress)
    if json:
        print_json(result.to_json())
    else:
        print_lines(onset_lines(result))
    return RIGHT if result.first is None else NEGATIVE


def run_named(folder: Path) -> Path:
    from kfp.runs.index import runs_folder

    named = runs_folder() / folder
    return named if not folder.exists() and named.exists() else folder
