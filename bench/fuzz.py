"""Runs many mutated kernels and counts their verdicts: ``python bench/fuzz.py [COUNT] [FIRST]``.

Stops with exit code 1 at the first that has no verdict, or one without a reason.
"""

from __future__ import annotations

import collections
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from hostile.cage import OUTCOMES, Cage, attempt
from hostile.fuzzer import mutant
from kfp import toolchain


def main() -> int:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    first = int(sys.argv[2]) if len(sys.argv) > 2 else 0
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
    summary = ", ".join(f"{outcome} {n}" for outcome, n in verdicts.most_common())
    print(f"{count} mutants in {seconds:.0f} s ({1e3 * seconds / count:.0f} ms each): {summary}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
