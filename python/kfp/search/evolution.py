"""``kfp.evolve``: from a task and a model's name to a run that is complete, or says why not."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias, get_args

from kfp import machine
from kfp.errors import RunError, UsageError
from kfp.evaluation import evaluate
from kfp.gating.runs import book_finalists, book_vetoes, commit, gate_run
from kfp.progress import Progress
from kfp.results import Device, Evaluation, Math
from kfp.runs.files import is_there
from kfp.runs.folder import RunReader, RunWriter
from kfp.runs.index import Index, runs_folder
from kfp.runs.provenance import gather
from kfp.runs.records import Spec, Strategy
from kfp.runs.run import Run
from kfp.search.events import OnSearchProgress, silent
from kfp.search.finale import conclude, finalists
from kfp.search.judgement import Referee
from kfp.search.leaks import Guard
from kfp.search.loop import Search
from kfp.search.models import open_model
from kfp.search.models.base import Model
from kfp.search.models.prices import Price
from kfp.search.prompt import SYSTEM, PromptWriter
from kfp.search.proposals import Proposer
from kfp.search.referee import CompareReferee
from kfp.search.spending import Purse
from kfp.search.trial import Savings, Trials
from kfp.sources import seed_source, source_hash, source_text
from kfp.tasks import get_task
from kfp.tasks.base import Scale, Task

# As published: more where a step of the search is small.
ITERATIONS = {"wave3d": 15, "keccak_f1600_batch": 15, "lbm": 25}
DEFAULT_ITERATIONS = 10
MAX_TOKENS = 32_000
CALL_SECONDS = 900.0
EFFORTS = ("", "none", "minimal", "low", "medium", "high", "xhigh", "max")
_LEAST = {"iterations": 1, "replicate": 1, "candidates": 1, "selection_draws": 0, "max_tokens": 256, "seed": 0}
_MOST = {"candidates": 64, "selection_draws": 8, "iterations": 9999}
_CHOICES: dict[str, tuple[str, ...]] = {
    "scale": get_args(Scale), "math": get_args(Math), "strategy": get_args(Strategy), "effort": EFFORTS,
}  # fmt: skip


# Entered around whatever uses the device; models are asked outside of it.
Turn: TypeAlias = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class Options:
    """What ``evolve`` was asked for, checked."""

    task: Task
    model: Model
    device: Device
    scale: Scale
    math: Math
    iterations: int
    seed: int
    replicate: int
    strategy: Strategy
    candidates: int
    disclose: bool
    selection_draws: int
    budget_usd: float | None
    budget_tokens: int | None
    max_tokens: int
    call_seconds: float
    effort: str
    start: str
    out: Path | None

    @property
    def spec(self) -> Spec:
        return Spec(
            task=self.task.name,
            model=self.model.name,
            device=self.device.name,
            scale=self.scale,
            math=self.math,
            seed=self.seed,
            replicate=self.replicate,
            strategy=self.strategy,
            candidates=self.candidates,
            disclose=self.disclose,
            selection_draws=self.selection_draws,
            max_tokens=self.max_tokens,
            call_seconds=self.call_seconds,
            effort=self.effort,
            start_sha256=source_hash(self.start),
        )

    @property
    def folder(self) -> Path:
        if self.out is not None:
            return self.out.expanduser().absolute()
        spec = self.spec
        slug = "".join(c if c.isalnum() or c in ".-" else "-" for c in spec.model)[:40].strip("-")
        digest = source_hash(str(sorted(spec.to_json().items())))[:8]
        return runs_folder() / f"{spec.task}-{slug}-{digest}"


def require_possible(**options: Any) -> None:
    """Raises ``kfp.UsageError`` for an option of ``evolve`` that is out of its range; None stands for the default."""
    for name, least in _LEAST.items():
        number, most = options.get(name), _MOST.get(name, sys.maxsize)
        if number is not None and not least <= number <= most:
            limit = f"at least {least}" if most == sys.maxsize else f"{least} to {most}"
            raise UsageError(f"{name}: expected {limit}, got {number}")
    for name, allowed in _CHOICES.items():
        value = options.get(name)
        if value is not None and value not in allowed:
            raise UsageError(f"{name}: expected one of {', '.join(repr(a) for a in allowed if a)}, got {value!r}")
    seconds = options.get("call_seconds")
    if seconds is not None and not 0 < seconds < float("inf"):
        raise UsageError(f"call_seconds: expected a finite time above 0, got {seconds!r}")


def options(
    task: str | Task,
    *,
    model: str | Model,
    iterations: int | None = None,
    device: str = "auto",
    scale: Scale | None = None,
    math: Math = "fast",
    seed: int = 0,
    replicate: int = 1,
    strategy: Strategy = "evolve",
    candidates: int = 1,
    disclose: bool = False,
    selection_draws: int = 1,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    max_tokens: int = MAX_TOKENS,
    call_seconds: float = CALL_SECONDS,
    effort: str = "",
    start: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
) -> Options:
    """The arguments of ``evolve``, each held against what it may be. Raises ``kfp.Error``; asks nothing of a model."""
    wanted = get_task(task)
    require_possible(
        iterations=iterations, seed=seed, replicate=replicate, candidates=candidates, selection_draws=selection_draws,
        max_tokens=max_tokens, scale=scale, math=math, strategy=strategy, effort=effort, call_seconds=call_seconds,
    )  # fmt: skip
    opened = open_model(model, wanted) if isinstance(model, str) else model
    scripted = getattr(opened, "script_length", None)
    return Options(
        task=wanted,
        model=opened,
        device=machine.resolve(device),
        scale=scale or ("small" if scripted else "full"),
        math=math,
        iterations=iterations or scripted or ITERATIONS.get(wanted.name, DEFAULT_ITERATIONS),
        seed=seed,
        replicate=replicate,
        strategy=strategy,
        candidates=candidates,
        disclose=disclose,
        selection_draws=selection_draws,
        budget_usd=budget_usd,
        budget_tokens=budget_tokens,
        max_tokens=max_tokens,
        call_seconds=call_seconds,
        effort=effort,
        start=_start_source(wanted, opened, start),
        out=Path(out) if out is not None else None,
    )


class _Relay:
    """Passes on what an evaluation is doing, once there is a search that can say so."""

    def __init__(self) -> None:
        self.to: Callable[[Progress], None] = lambda progress: None

    def __call__(self, progress: Progress) -> None:
        self.to(progress)


def _start_source(task: Task, model: Model, start: str | os.PathLike[str] | None) -> str:
    """What was named, else the demo's own where it has one, else the task's seed."""
    if start is not None:
        return source_text(start)
    scripted: str | None = getattr(model, "start", None)
    return scripted if scripted is not None else seed_source(task)


def run(
    chosen: Options,
    *,
    referee: Referee | None = None,
    progress: OnSearchProgress = silent,
    command: str = "",
    begun: Callable[[], None] = lambda: None,
    turn: Turn = nullcontext,
) -> Run:
    """Begins the run, or goes on with it, and measures its best kernels at the end. ``begun``: the folder is there.

    Everything that uses the device is done within a ``turn``, everything that asks the model outside of one.

    A complete run ends with the gate of its incumbent, unless ``referee`` says that nothing is to be measured here.
    """
    purse = Purse(chosen.model.price, chosen.budget_usd, chosen.budget_tokens)
    writer = prompt_writer(chosen)
    writer.require_clean(chosen.start)
    folder_path = chosen.folder
    if not is_there(folder_path / "run.json"):
        _require_budget(chosen, purse, writer)
    with _open(chosen, command) as folder:
        commit(folder.path)
        index = Index()
        stages = _Relay()
        gated = referee is None
        referee = referee or CompareReferee(
            chosen.task, chosen.device.name, chosen.scale, chosen.math, chosen.seed, stages
        )
        trials = Trials(chosen.task, chosen.device.name, chosen.scale, chosen.math, chosen.seed, referee, stages)
        with turn():
            start = _start_evaluation(folder, trials)
        begun()
        proposer = Proposer(chosen.model, purse, folder)
        listener = index.following(folder, chosen.iterations, progress)
        search = Search(chosen.spec, folder, proposer, trials, writer, folder.system, start, listener, turn)
        stages.to = search.tell_stage
        purse.require_enough_for(chosen.model, search.request(1, search.prompt()[0]), chosen.candidates)
        try:
            ended = search.run(chosen.iterations)
            done = 0
            for record in folder.iterations():
                done += 1
                book_vetoes(folder.path, record)
            hashes = [entry.candidate.source_sha256 for entry in finalists(folder)]
            book_finalists(folder.path, hashes, chosen.task.published_held_out(chosen.scale).label)
            with turn():
                conclude(folder, chosen.task, referee, done, search.tell)
                if gated and not ended:
                    _gate(chosen, folder, search)
        except BaseException:
            index.update(folder, chosen.iterations, "stopped")
            raise
        index.update(folder, chosen.iterations, "stopped" if ended else "complete")
    return Run(folder_path, chosen.iterations, ended)


def _gate(chosen: Options, folder: RunWriter, search: Search) -> None:
    incumbent = next((entry for entry in finalists(folder) if entry.name == "incumbent"), None)
    if incumbent is None:
        return
    source = folder.candidate(incumbent.iteration, incumbent.candidate.number) or ""
    sha256 = incumbent.candidate.source_sha256
    gate_run(
        folder.path, folder.spec, chosen.task, source, sha256, folder.start, incumbent.search, search.tell,
        search.tell_stage,
    )  # fmt: skip


def evolve(
    task: str | Task,
    *,
    model: str | Model,
    iterations: int | None = None,
    device: str = "auto",
    scale: Scale | None = None,
    math: Math = "fast",
    seed: int = 0,
    replicate: int = 1,
    strategy: Strategy = "evolve",
    candidates: int = 1,
    disclose: bool = False,
    selection_draws: int = 1,
    budget_usd: float | None = None,
    budget_tokens: int | None = None,
    max_tokens: int = MAX_TOKENS,
    call_seconds: float = CALL_SECONDS,
    effort: str = "",
    start: str | os.PathLike[str] | None = None,
    out: str | os.PathLike[str] | None = None,
    referee: Referee | None = None,
    progress: OnSearchProgress = silent,
) -> Run:
    """Lets ``model`` propose kernels for ``task``, and keeps what is faster beyond the noise.

    ``model`` is a name (``anthropic/…``, ``openai/…``, ``gemini/…``, ``local/…@URL``, ``replay/DIR``, ``demo``) or an
    object with ``name``, ``price`` and ``ask``. Each of the ``iterations`` asks for ``candidates`` kernels;
    ``strategy`` ``"best-of-n"`` asks without feedback. A candidate is promoted when a paired comparison with the
    incumbent calls it a win and ``selection_draws`` configurations that no prompt ever shows don't object.
    ``disclose`` puts the published held-out configuration into the prompts. ``start`` is the kernel to begin with,
    the task's seed by default.

    ``budget_usd`` caps money, calls in flight included; ``budget_tokens`` ends the run once so many are used.
    ``max_tokens`` is per answer, ``call_seconds`` the deadline of a call with its retries, ``effort`` that of thinking.

    The run is the folder ``out`` (by default one of its own below ``KFP_RUNS_DIR``). The same call again goes on where
    it stopped, more ``iterations`` extend it. Raises ``kfp.Error`` for a call that can't be made; whatever models and
    kernels do is in the ``Run``.
    """
    chosen = options(
        task, model=model, iterations=iterations, device=device, scale=scale, math=math, seed=seed,
        replicate=replicate, strategy=strategy, candidates=candidates, disclose=disclose,
        selection_draws=selection_draws, budget_usd=budget_usd, budget_tokens=budget_tokens, max_tokens=max_tokens,
        call_seconds=call_seconds, effort=effort, start=start, out=out,
    )  # fmt: skip
    return run(chosen, referee=referee, progress=progress)


def prompt_writer(chosen: Options) -> PromptWriter:
    guard = Guard(chosen.task, chosen.scale)
    held_out = chosen.task.published_held_out(chosen.scale)
    return PromptWriter(chosen.task, chosen.scale, guard, held_out if chosen.disclose else None)


def first_prompt(chosen: Options) -> tuple[str, str]:
    """(system, prompt) of the first iteration, exactly as they would be sent; evaluates the starting kernel for it."""
    from kfp.search.prompt import Attempt

    writer = prompt_writer(chosen)
    writer.require_clean(chosen.start)
    known = RunReader(chosen.folder).start_evaluation() if is_there(chosen.folder / "run.json") else None
    start = known or _evaluate_start(chosen)
    attempt = Attempt("The best kernel so far: the starting kernel", chosen.start, start, "", authored=True)
    return SYSTEM, writer.write(attempt, None, (), stagnates=False).text


def _evaluate_start(chosen: Options) -> Evaluation:
    points = [replace(point, seed=chosen.seed) for point in chosen.task.configurations(chosen.scale)]
    return evaluate(
        chosen.task, chosen.start, device=chosen.device.name, scale=chosen.scale, seed=chosen.seed, math=chosen.math,
        configurations=points,
    )  # fmt: skip


def _start_evaluation(folder: RunWriter, trials: Trials) -> Evaluation:
    start = folder.start_evaluation()
    if start is None:
        start = trials.evaluate(folder.start, Savings())
        if not start.correct:
            raise UsageError(f"start: expected a kernel that is right, got {start.verdict}: {start.reason}")
        folder.write_start_evaluation(start)
    return start


def _require_budget(chosen: Options, purse: Purse, writer: PromptWriter) -> None:
    """Refused before anything is run or written: the first prompt is at least this long."""
    from kfp.search.models.base import Request

    text = f"{writer.task.brief}{chosen.start}"
    request = Request(SYSTEM, text, 1, 1, chosen.max_tokens, chosen.call_seconds, chosen.effort)
    purse.require_enough_for(chosen.model, request, chosen.candidates)


def _open(chosen: Options, command: str) -> RunWriter:
    path, spec = chosen.folder, chosen.spec
    if not is_there(path / "run.json"):
        price: Price | None = chosen.model.price
        provenance = gather(chosen.device, price, command)
        return RunWriter.create(path, spec, provenance, chosen.start, SYSTEM)
    folder = RunWriter(path)
    wanted, found = spec.to_json(), folder.spec.to_json()
    different = [name for name in wanted if wanted[name] != found[name]]
    if different:
        folder.__exit__(None, None, None)
        name = different[0]
        raise RunError(
            f"{path}: another search: its {name} is {found[name]!r}, not {wanted[name]!r}; choose another folder"
        )
    return folder
