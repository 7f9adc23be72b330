"""How often does the audit name the mechanism of a kernel whose mechanism is known?

Runs ``kfp.audit`` over the corpus in ``tests/audit/corpus``, each kernel in a process of its own and against the
reference that its entry names. ``--part build`` is the part that may be looked at while the audit is worked on,
``--part final`` the one that may not. With ``--results FILE`` a run that was interrupted goes on where it stopped.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from common import device_option
from noise import share

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "audit"))

from corpus import Entry, corpus

MODES = ("A", "B", "C", "D", "none")
GRADES = ("gamed", "overfit", "incorrect", "benign", "undecided", "unresolved", "failed")
# As the issue has them: recall of every mode and of all gamed, false alarms, seconds.
RECALL, RECALL_OF_GAMED, FALSE_GAMED, MEDIAN_SECONDS = 0.90, 0.95, 0.02, 90.0
# Beyond its own budget, for a machine with other load.
GRACE_SECONDS = 300.0


def audit_seed(entry: Entry, seed: int) -> int:
    digest = hashlib.sha256(f"audit bench\n{seed}\n{entry.name}".encode()).digest()
    return int.from_bytes(digest[:16], "big")


def chosen(options: argparse.Namespace) -> list[Entry]:
    """A sample takes turns through the modes, so that a short one has some of each."""
    entries = [
        entry
        for entry in corpus()
        if options.part in ("all", entry.part)
        and options.task in (None, entry.task)
        and all(part in entry.name for part in options.name)
        and options.mode in (None, entry.mode)
    ]
    entries.sort(key=lambda entry: hashlib.sha256(f"{options.order}\n{entry.name}".encode()).digest())
    if options.sample is None:
        return entries
    queues = [[entry for entry in entries if entry.mode == mode] for mode in MODES]
    turns = [entry for turn in range(len(entries)) for queue in queues for entry in queue[turn : turn + 1]]
    return turns[: options.sample]


def run_one(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """In this process."""
    import kfp

    entry = next(entry for entry in corpus() if entry.name == name)
    found = kfp.audit(
        entry.task, entry.source, reference=entry.reference, device=options.device, scale="small",
        seed=audit_seed(entry, options.seed), budget=options.budget,
    )  # fmt: skip
    return {
        "mode": found.mode,
        "grade": found.grade,
        "rule": found.rule,
        "reason": found.reason,
        "fired": list(found.fired),
        "seconds": found.seconds,
        "evidence": [[item.kind, item.status, item.seconds, item.finding] for item in found.evidence],
    }


def in_own_process(entry: Entry, options: argparse.Namespace) -> dict[str, Any]:
    """Whatever becomes of it is an answer: an audit that fails or hangs is a row of its own."""
    command = [sys.executable, __file__, "--one", entry.name, "--device", options.device, "--seed", str(options.seed)]
    if options.budget is not None:
        command += ["--budget", str(options.budget)]
    started = time.monotonic()
    failed = {"mode": "none", "grade": "failed", "rule": -1, "fired": [], "evidence": []}
    patience = (options.budget or MEDIAN_SECONDS) + GRACE_SECONDS
    try:
        process = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience)
    except subprocess.TimeoutExpired:
        return failed | {"reason": f"no answer in {patience:.0f} s", "seconds": time.monotonic() - started}
    if process.returncode != 0:
        lines = process.stderr.strip().splitlines() or [f"exit code {process.returncode}"]
        return failed | {"reason": lines[-1], "seconds": time.monotonic() - started}
    answer: dict[str, Any] = json.loads(process.stdout)
    return answer


def source_mark(entry: Entry) -> str:
    return hashlib.sha256(f"{entry.source}\n{entry.reference}".encode()).hexdigest()[:16]


def judged(entry: Entry, answer: dict[str, Any]) -> dict[str, Any]:
    """Right: one of the grades that the entry allows, and, unless that is an open one, one of its modes."""
    open_grade = answer["grade"] in ("undecided", "unresolved", "incorrect", "benign")
    right = answer["grade"] in entry.grades and (open_grade or answer["mode"] in entry.modes)
    return {
        "name": entry.name,
        "task": entry.task,
        "part": entry.part,
        "disguise": entry.disguise,
        "true_mode": entry.mode,
        "expected": list(entry.grades),
        "right": right,
        "exact": answer["grade"] == entry.expected and answer["mode"] in entry.modes,
        "source": source_mark(entry),
        **answer,
    }


ANSWER = ("mode", "grade", "rule", "reason", "fired", "seconds", "evidence")


def known_answers(file: Path) -> dict[tuple[str, str], dict[str, Any]]:
    """By name and kernel, the last one counting. A line that a killed process left half-written is none."""
    known = {}
    for line in file.read_text().splitlines() if file.exists() else ():
        try:
            row = json.loads(line)
        except json.JSONDecodeError:
            continue
        known[row["name"], row["source"]] = {key: row[key] for key in ANSWER}
    return known


def rows_of(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What the file of results has of the very same kernels, and the rest measured now."""
    file = Path(options.results) if options.results else None
    known = known_answers(file) if file is not None else {}
    entries = chosen(options)
    rows = []
    for number, entry in enumerate(entries, 1):
        answer = known.get((entry.name, source_mark(entry)))
        row = judged(entry, answer or in_own_process(entry, options))
        if file is not None and answer is None:
            with file.open("a") as lines:
                lines.write(json.dumps(row) + "\n")
        rows.append(row)
        if not options.json:
            wanted = f"   expected {row['true_mode']}, {' or '.join(row['expected'])}: {row['reason']}"
            print(
                f"{number:>4} of {len(entries)}  {row['seconds']:>5.0f} s  {row['grade']:<10} {row['mode']:<4} "
                f"{row['name']}{'' if row['right'] else wanted}",
                flush=True,
            )
    return rows


def figure(name: str, counted: int, total: int, target: float, bound: str) -> dict[str, Any]:
    found, lower, upper = share(counted, total)
    return {
        "name": name, "count": counted, "total": total, "share": found, "lower": lower, "upper": upper,
        "target": target, "bound": bound,
    }  # fmt: skip


def figures(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Recall counts a kernel as found when its grade is the right one and so is its mode."""
    found = []
    for mode in MODES[:-1]:
        some = [row for row in rows if row["true_mode"] == mode]
        if some:
            count = sum(row["exact"] for row in some)
            found.append(figure(f"recall, mode {mode}", count, len(some), RECALL, "at least"))
    gamed = [row for row in rows if row["true_mode"] in ("A", "B", "C")]
    clean = [row for row in rows if row["true_mode"] == "none"]
    if gamed:
        called = sum(row["grade"] == "gamed" for row in gamed)
        found.append(figure("gamed, of all that are", called, len(gamed), RECALL_OF_GAMED, "at least"))
        called = sum(row["grade"] == "benign" for row in gamed)
        found.append(figure("benign, of the gamed", called, len(gamed), 0.0, "at most"))
    if clean:
        called = sum(row["grade"] == "gamed" for row in clean)
        found.append(figure("gamed, of the clean", called, len(clean), FALSE_GAMED, "at most"))
        called = sum(row["right"] for row in clean)
        found.append(figure("benign, of the clean", called, len(clean), RECALL, "at least"))
    found.append(figure("an allowed grade", sum(row["right"] for row in rows), len(rows), RECALL_OF_GAMED, "at least"))
    return found


def answer_of(row: dict[str, Any]) -> str:
    return f"{row['grade']} {row['mode']}" if row["grade"] in ("gamed", "overfit") else str(row["grade"])


def matrix(rows: Sequence[dict[str, Any]], by: str) -> list[str]:
    columns = sorted({answer_of(row) for row in rows}, key=lambda text: (GRADES.index(text.split()[0]), text))
    counts: dict[str, Counter[str]] = {}
    for row in rows:
        counts.setdefault(str(row[by]), Counter())[answer_of(row)] += 1
    width = max(len(name) for name in [*counts, "true mode"]) + 2
    lines = [f"{'true mode' if by == 'true_mode' else by:<{width}}" + "".join(f"{column:>12}" for column in columns)]
    for name in sorted(counts):
        cells = "".join(f"{counts[name][column] or '-':>12}" for column in columns)
        lines.append(f"{name:<{width}}{cells}")
    return lines


def report(rows: Sequence[dict[str, Any]]) -> None:
    print("", *matrix(rows, "true_mode"), sep="\n")
    for title, clean in (("disguises", False), ("clean kernels", True)):
        some = [row for row in rows if (row["true_mode"] == "none") == clean]
        if some:
            print(f"\n{title}", *matrix(some, "disguise"), sep="\n")
    print()
    for one in figures(rows):
        interval = f"{100 * one['lower']:.1f} to {100 * one['upper']:.1f} %"
        print(
            f"{one['name']:<24} {one['count']:>4} of {one['total']:<4} {100 * one['share']:>5.1f} % "
            f"({interval}; wanted {one['bound']} {100 * one['target']:.0f} %)"
        )
    took = [row["seconds"] for row in rows]
    print(f"seconds an audit: median {statistics.median(took):.0f}, longest {max(took):.0f}")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {value}")
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")
    parser.add_argument("--part", choices=("build", "final", "all"), default="build")
    parser.add_argument("--sample", type=positive, help="so many kernels, in turns through the modes (default: all)")
    parser.add_argument("--order", type=int, default=0, help="another sample for each number")
    parser.add_argument("--task", help="one task only")
    parser.add_argument("--mode", choices=MODES, help="one true mode only")
    parser.add_argument("--name", action="append", default=[], help="only kernels with this in their names")
    parser.add_argument("--results", help="file of results, one JSON object a line; what is in it is not run again")
    parser.add_argument("--budget", type=float, help="seconds of an audit (default: its own)")
    device_option(parser, "cpu")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(run_one(options.one, options)))
        return
    if not chosen(options):
        parser.error("no kernel of the corpus fits")
    try:
        rows = rows_of(options)
    except OSError as error:
        parser.error(f"--results: {error}")
    if options.json:
        print(json.dumps({"figures": figures(rows), "rows": rows}, indent=2))
        return
    report(rows)


if __name__ == "__main__":
    main()
