"""Runs many mutated kernels and counts their verdicts.

    python bench/fuzz.py [COUNT] [FIRST] [--json]

Stops with exit code 1 at the first that has no verdict, or one without a reason.
"""

from __future__ import annotations

import argparse
import collections
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hostile.cage import OUTCOMES, Cage, attempt
from hostile.fuzzer import mutant
from kfp import toolchain
from peers import positive


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=positive, nargs="?", default=2000, help="mutants (default 2000)")
    parser.add_argument("first", type=int, nargs="?", default=0, help="number of the first (default 0)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of text")
    options = parser.parse_args()
    count, first = options.count, options.first
    tools = toolchain.find()
    verdicts: collections.Counter[str] = collections.Counter()
    started = time.perf_counter()
    with Cage() as cage:
        for number in range(first, first + count):
            verdict = attempt(tools, mutant(number))
            verdicts[verdict.outcome] += 1
            if verdict.outcome not in OUTCOMES or not (verdict.text or verdict.outcome == "ran"):
                print(f"mutant {number}: {verdict}")
                return 1
            if "crash" in verdict.text or "without a reason" in verdict.text:
                print(f"mutant {number}: {verdict.outcome}: {verdict.text[:300]}")
        cage.assert_empty()
    seconds = time.perf_counter() - started
    if options.json:
        print(json.dumps({"mutants": count, "first": first, "seconds": seconds, "verdicts": dict(verdicts)}, indent=2))
        return 0
    summary = ", ".join(f"{outcome} {n}" for outcome, n in verdicts.most_common())
    print(f"{count} mutants in {seconds:.0f} s ({1e3 * seconds / count:.0f} ms each): {summary}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
