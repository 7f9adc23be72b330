"""How many gains transfer: rates over runs or over a published table, with intervals and the list behind each.

A win is a kernel at least 1.05 times as fast as the seed in distribution. It transfers if it is right at the held-out
configurations and at least 1.05 times as fast there (arXiv 2608.08722).
"""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np

from kfp.auditing.folder import audits_of
from kfp.auditing.results import Audit
from kfp.errors import TaskError, UsageError
from kfp.gating.results import Gate
from kfp.records import Record
from kfp.runs.files import read_json
from kfp.runs.run import Run
from kfp.sweeping.folder import SweepFolder, is_sweep
from kfp.tables import Line, grid, wrapped
from kfp.tasks import get_task

THRESHOLD = 1.05
CONFIDENCE = 0.95
RESAMPLES = 4000

# "open": the interval holds the threshold, or nothing could be measured. Never counted as either.
Outcome: TypeAlias = Literal["transfers", "does not transfer", "wrong", "open"]

COLUMNS = ("suite", "task", "model", "in_distribution", "held_out", "held_out_correct")


@dataclass(frozen=True, eq=False)
class Case(Record):
    """The gain of one kernel: in distribution, and where it was held out (None where it is wrong there).

    ``grade`` is what an audit says of it, with the mode ("gamed, mode A"); empty where none was made.
    """

    suite: str
    task: str
    model: str
    source: str
    in_distribution: float
    held_out: float | None
    outcome: Outcome
    grade: str = ""

    @property
    def win(self) -> bool:
        return self.in_distribution >= THRESHOLD


@dataclass(frozen=True, eq=False)
class Rate(Record):
    """``failures`` of ``wins`` do not transfer. ``wilson``: the score interval, which takes every win for independent.

    ``clustered``: percentile bootstrap over tasks, whose kernels are alike; None with a single task.
    """

    name: str
    wins: int
    failures: int
    wrong: int
    open: int
    wilson_lower: float
    wilson_upper: float
    clustered_lower: float | None
    clustered_upper: float | None

    @property
    def share(self) -> float:
        return self.failures / self.wins if self.wins else math.nan


@dataclass(frozen=True, eq=False)
class TransferReport(Record):
    """Rates of failure to transfer: over all wins, per suite and per model; ``cases`` are behind every number."""

    overall: Rate
    suites: tuple[Rate, ...]
    models: tuple[Rate, ...]
    cases: tuple[Case, ...]
    confidence: float
    resamples: int
    seed: int


def outcome_of(held_out: float | None, correct: bool) -> Outcome:
    if not correct:
        return "wrong"
    if held_out is None or math.isnan(held_out):
        return "open"
    return "transfers" if held_out >= THRESHOLD else "does not transfer"


def read_table(path: Path) -> tuple[Case, ...]:
    """A table as CSV with the columns of ``COLUMNS``; lines that begin with # are left out.

    Raises ``kfp.UsageError`` with the line that is none.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    numbered = [(number, line) for number, line in enumerate(lines, start=1) if line and not line.startswith("#")]
    reader = csv.DictReader(line for _, line in numbered)
    missing = [name for name in COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise UsageError(f"{path}: expected the columns {', '.join(COLUMNS)}; {missing[0]!r} is missing")
    return tuple(_case(row, path, number) for row, (number, _) in zip(reader, numbered[1:], strict=True))


def _case(row: dict[str, str], path: Path, line: int) -> Case:
    try:
        gain = float(row["in_distribution"])
        held_out = float(row["held_out"]) if row["held_out"] else None
        correct = {"0": False, "1": True}[row["held_out_correct"]]
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path}, line {line}: expected ratios, and 0 or 1 for held_out_correct: {error}") from None
    return Case(
        suite=row["suite"],
        task=row["task"],
        model=row["model"],
        source=f"{path.name}, line {line}",
        in_distribution=gain,
        held_out=held_out,
        outcome=outcome_of(held_out, correct),
    )


def wilson(successes: int, trials: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """The score interval of a proportion (Wilson, JASA 1927); everything where there are no trials."""
    if not 0 <= successes <= trials:
        raise ValueError(f"expected 0 to {trials} successes, got {successes}")
    if trials == 0:
        return 0.0, 1.0
    z = NormalDist().inv_cdf(0.5 + confidence / 2)
    share, weight = successes / trials, z * z / trials
    centre = (share + weight / 2) / (1 + weight)
    reach = z / (1 + weight) * math.sqrt(share * (1 - share) / trials + weight / (4 * trials))
    # Rounding must not leave a bound beside its end.
    lower = 0.0 if successes == 0 else centre - reach
    return lower, 1.0 if successes == trials else centre + reach


def clustered_bootstrap(
    clusters: Sequence[tuple[int, int]], confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = 0
) -> tuple[float, float] | None:
    """Percentile interval of successes over trials, of which each cluster has (successes, trials); clusters are drawn.

    None with fewer than two clusters. (Field & Welsh, JRSS B 2007: whole clusters, since their members are alike.)
    """
    counts = np.array([cluster for cluster in clusters if cluster[1] > 0], dtype=np.int64).reshape(-1, 2)
    if len(counts) < 2:
        return None
    rng = np.random.default_rng(seed)
    drawn = counts[rng.integers(len(counts), size=(resamples, len(counts)))].sum(axis=1)
    shares = drawn[:, 0] / drawn[:, 1]
    tail = (1 - confidence) / 2
    lower, upper = np.quantile(shares, (tail, 1 - tail))
    return float(lower), float(upper)


def transfer_report(
    cases: Iterable[Case], *, confidence: float = CONFIDENCE, resamples: int = RESAMPLES, seed: int = 0
) -> TransferReport:
    """Raises ``kfp.UsageError`` without any case."""
    listed = tuple(cases)
    if not listed:
        raise UsageError("transfer: expected at least one gated kernel, got none")

    def rate(name: str, members: Sequence[Case]) -> Rate:
        wins = [case for case in members if case.win and case.outcome != "open"]
        failed = [case for case in wins if case.outcome != "transfers"]
        tasks = dict.fromkeys((case.suite, case.task) for case in wins)
        clusters = [
            (sum((c.suite, c.task) == task for c in failed), sum((c.suite, c.task) == task for c in wins))
            for task in tasks
        ]
        lower, upper = wilson(len(failed), len(wins), confidence)
        clustered = clustered_bootstrap(clusters, confidence, resamples, seed)
        return Rate(
            name=name,
            wins=len(wins),
            failures=len(failed),
            wrong=sum(case.outcome == "wrong" for case in failed),
            open=sum(case.win and case.outcome == "open" for case in members),
            wilson_lower=lower,
            wilson_upper=upper,
            clustered_lower=clustered[0] if clustered else None,
            clustered_upper=clustered[1] if clustered else None,
        )

    def each(names: Iterable[str], of: str) -> tuple[Rate, ...]:
        return tuple(rate(name, [c for c in listed if getattr(c, of) == name]) for name in dict.fromkeys(names))

    return TransferReport(
        overall=rate("all", listed),
        suites=each((case.suite for case in listed), "suite"),
        models=each((case.model for case in listed), "model"),
        cases=listed,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )


def cases_of(path: Path) -> tuple[Case, ...]:
    """Of a run's folder its gate, of a sweep's those of its runs that have one, of a CSV file the rows of its table, of
    a JSON file the gate that it records.

    Raises ``kfp.Error`` for something else, and for a run that was not gated.
    """
    if path.is_dir() and is_sweep(path):
        return tuple(_cases_of_sweep(path))
    if path.is_dir():
        run = Run(path)
        if run.gate is None:
            raise UsageError(f"{path}: this run has no gate, so there is nothing to say of its transfer")
        return (case_of(run.gate, run.spec.model, path.name, audits_of(path).get(run.gate.source_sha256)),)
    if path.suffix == ".json":
        return (case_of(Gate.from_json(read_json(path)), "", path.name),)
    return read_table(path)


def _cases_of_sweep(path: Path) -> Iterator[Case]:
    """A unit whose search found nothing to gate is no case."""
    for unit, folder in SweepFolder(path).runs():
        run = Run(folder)
        if run.gate is not None:
            yield case_of(run.gate, run.spec.model, unit.name, audits_of(folder).get(run.gate.source_sha256))


def case_of(gate: Gate, model: str, source: str, audit: Audit | None = None) -> Case:
    outcomes: dict[str, Outcome] = {
        "transfers": "transfers",
        "does not transfer": "does not transfer",
        "wrong": "wrong",
    }
    return Case(
        suite=_suite_of(gate.task),
        task=gate.task,
        model=model,
        source=source,
        in_distribution=gate.in_distribution_gain or 0.0,
        held_out=gate.held_out_gain,
        outcome=outcomes.get(gate.verdict, "open"),
        grade="" if audit is None else audit.verdict,
    )


def _suite_of(name: str) -> str:
    """A task of the user's own is in no suite of ours; its record has its name alone."""
    try:
        return get_task(name).suite
    except TaskError:
        return "own"


def transfer_lines(report: TransferReport) -> list[Line]:
    rates = (report.overall, *report.suites, *report.models)
    rows = [
        (
            rate.name or "unnamed model",
            f"{rate.failures} of {rate.wins}",
            f"{100 * rate.share:.1f} %" if rate.wins else "-",
            _percents(rate.wilson_lower, rate.wilson_upper),
            _percents(rate.clustered_lower, rate.clustered_upper),
            str(rate.wrong),
            str(rate.open),
        )
        for rate in rates
    ]
    heading = ("", "don't transfer", "share", "Wilson", "by task", "wrong", "open")
    texts = grid(heading, rows)
    lines = [Line(texts[0], "dim"), *(Line(text) for text in texts[1:]), Line("")]
    lines += wrapped(
        f"of wins, kernels at least {THRESHOLD:g} times as fast as the seed in distribution; "
        f"{100 * report.confidence:.0f} % intervals: Wilson, and a bootstrap over tasks ({report.resamples} resamples, "
        f"seed {report.seed}); open: wins that are undecided, not counted",
        style="dim",
    )
    failed = [case for case in report.cases if case.win and case.outcome in ("does not transfer", "wrong")]
    if failed:
        lines += [Line(""), Line("don't transfer:")]
        graded = any(case.grade for case in failed)
        listed = [
            (case.task, case.model or "-", f"{case.in_distribution:.2f}", _held_out(case))
            + ((case.grade or "no audit",) if graded else ())
            + (case.source,)
            for case in failed
        ]
        columns = ("", "model", "gain", "held out", *(("grade",) if graded else ()), "from")
        left = (0, 1, 4, 5) if graded else (0, 1, 4)
        lines += [Line(text) for text in grid(columns, listed, left=left)]
        if graded:
            counts = Counter(case.grade or "without an audit" for case in failed)
            text = ", ".join(f"{count} {grade}" for grade, count in counts.most_common())
            lines += [Line(""), *wrapped(f"by mechanism: {text}")]
    return lines


def _percents(lower: float | None, upper: float | None) -> str:
    return "-" if lower is None or upper is None else f"{100 * lower:.1f} to {100 * upper:.1f} %"


def _held_out(case: Case) -> str:
    return "wrong" if case.outcome == "wrong" or case.held_out is None else f"{case.held_out:.2f}"
