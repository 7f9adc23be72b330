"""How long a report takes: of one run, and of two hundred on one page.

    python bench/pages.py RUN [--samples N] [--json]

``RUN`` is the folder of a finished run, which is copied. Each sample is a command of its own, its start included.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from common import figure, report, samples

MANY = 200
TARGETS_MS = {1: 5e3, MANY: 60e3}
MOST_BYTES = 5_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("run", type=Path)
    parser.add_argument("--samples", type=int, default=3, help="commands per figure (default 3)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    figures: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as scratch:
        for count, target in TARGETS_MS.items():
            folder, page = Path(scratch) / f"{count}", Path(scratch) / f"{count}.html"
            for number in range(count):
                shutil.copytree(options.run, folder / f"run-{number}")
            command = [sys.executable, "-m", "kfp", "report", str(folder), "-o", str(page)]
            times = samples(partial(subprocess.run, command, check=True, capture_output=True), options.samples)
            found = figure(f"report of {count} run{'' if count == 1 else 's'}", times, target)
            figures.append({**found, "bytes_per_run": page.stat().st_size / count, "most_bytes": MOST_BYTES})
    report(figures, options.json)
    if not options.json:
        for found in figures:
            print(f"{found['name']}: {found['bytes_per_run'] / 1e3:.0f} kB a run, at most {MOST_BYTES / 1e3:.0f}")


if __name__ == "__main__":
    main()
