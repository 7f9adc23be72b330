"""One search, to be killed: ``python killed.py FOLDER LOG [MAX_TOKENS]``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from kfp import evolve
from search.scripted import KERNEL, UNCOMPILED, WRONG, ByComment, Scripted, costing, fenced

TEXTS = [
    "nothing yet", fenced(UNCOMPILED), fenced(WRONG), fenced(costing(0.5)), "", fenced(costing(0.5)), fenced(KERNEL),
    fenced(costing(0.25)),
]  # fmt: skip

if __name__ == "__main__":
    folder, log = map(Path, sys.argv[1:3])
    tokens = int(sys.argv[3]) if len(sys.argv) > 3 else 32_000
    model = Scripted(TEXTS, log=log)
    evolve(
        "saxpy", model=model, iterations=len(TEXTS), scale="small", out=folder, referee=ByComment(), max_tokens=tokens
    )
