"""Runs for other tools: rows of candidates, and trajectories with all texts for training."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

from kfp.errors import RunError, UsageError
from kfp.runs.files import refusals
from kfp.runs.records import CandidateRecord, IterationRecord, Spec
from kfp.runs.run import Run

# Of every row, in this order; raised when a column changes its meaning.
SCHEMA = 1
COLUMNS = (
    "schema", "run", "task", "device", "scale", "strategy", "replicate", "seed", "disclose", "iteration", "candidate",
    "model", "answer", "decision", "promoted", "reason", "verdict", "score", "ratio", "ratio_low", "ratio_high",
    "vetoed_ratio", "input_tokens", "cached_tokens", "output_tokens", "thinking_tokens", "cost_usd", "model_seconds",
    "source_sha256",
)  # fmt: skip


def rows(run: Run) -> Iterator[dict[str, Any]]:
    """One row per candidate, plain values only; None where there is nothing to say."""
    spec = run.spec
    for record in run.iterations:
        for candidate in record.candidates:
            yield _row(run, spec, record, candidate)


def _all_rows(runs: Iterable[Run]) -> Iterator[dict[str, Any]]:
    for run in runs:
        yield from rows(run)


def _row(run: Run, spec: Spec, record: IterationRecord, candidate: CandidateRecord) -> dict[str, Any]:
    evaluation, gain = candidate.evaluation, candidate.gain
    hidden = candidate.selection[-1] if candidate.selection else None
    values = (
        SCHEMA, run.name, spec.task, spec.device, spec.scale, spec.strategy, spec.replicate, spec.seed,
        spec.disclose, record.number, candidate.number, candidate.model, candidate.answer, candidate.decision,
        candidate.decision == "promoted", candidate.reason, evaluation.verdict if evaluation else None,
        evaluation.score if evaluation else None, gain.ratio if gain else None, gain.low if gain else None,
        gain.high if gain else None, hidden.ratio if hidden else None, candidate.usage.input, candidate.usage.cached,
        candidate.usage.output, candidate.usage.thinking, candidate.cost_usd, candidate.model_seconds,
        candidate.source_sha256,
    )  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def jsonl_lines(*runs: Run) -> Iterator[str]:
    for row in _all_rows(runs):
        yield json.dumps(row, ensure_ascii=False)


def csv_lines(*runs: Run) -> Iterator[str]:
    yield _csv_line(COLUMNS)
    for row in _all_rows(runs):
        yield _csv_line(["" if row[name] is None else row[name] for name in COLUMNS])


def _csv_line(values: Iterable[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(values)
    return text.getvalue()


def trajectory_lines(*runs: Run) -> Iterator[str]:
    """One question and answer a line, with the verdict: what training on runs needs."""
    for run in runs:
        yield from _trajectory_lines(run)


def _trajectory_lines(run: Run) -> Iterator[str]:
    reader = run.reader
    system = reader.system
    for record in run.iterations:
        prompt = reader.prompt(record.number)
        for candidate in record.candidates:
            reply = reader.reply(record.number, candidate.number)
            if reply is None:
                continue
            yield json.dumps(
                {
                    **_row(run, run.spec, record, candidate),
                    "messages": [
                        {"role": "system", "content": system},
                        {"role": "user", "content": prompt},
                        {"role": "assistant", "content": reply.text, "thinking": reply.thinking},
                    ],
                    "source": reader.candidate(record.number, candidate.number),
                },
                ensure_ascii=False,
            )


def write_lines(lines: Iterable[str], out: Path | None) -> None:
    if out is None:
        for line in lines:
            print(line)
        return
    with refusals(out), out.open("w", encoding="utf-8", newline="\n") as file:
        for line in lines:
            file.write(f"{line}\n")


def write_parquet(*runs: Run, out: Path | None) -> None:
    """Needs pyarrow, from ``kfp[frames]``."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise RunError("Parquet needs pyarrow; python -m pip install 'kfp[frames]'") from None
    table = pyarrow.Table.from_pylist(list(_all_rows(runs)))
    if out is None:
        if sys.stdout.isatty():
            raise UsageError("parquet: it is binary; name a file with --out")
        pyarrow.parquet.write_table(table, sys.stdout.buffer)
        return
    with refusals(out):
        pyarrow.parquet.write_table(table, out)


def frame(run: Run, library: Literal["pandas", "polars"] = "pandas") -> Any:
    """The rows as a data frame of ``library``, which comes with ``kfp[frames]``."""
    import importlib

    try:
        module = importlib.import_module(library)
    except ImportError:
        raise RunError(f"{library} is not installed; python -m pip install 'kfp[frames]'") from None
    return module.DataFrame(list(rows(run)))
