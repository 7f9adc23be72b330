"""What a search with ShinkaEvolve starts from: a program, an evaluation script, a configuration."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from kfp.adapters.shared.starting import Start, block, write_all

EVALUATION = """\
from kfp.adapters.shinka import main

main({arguments})
"""

# Their languages have no Metal; its grammar and comments are those of C++.
CONFIGURATION = """\
# What a search for Metal kernels needs to be told; the rest is ShinkaEvolve's own.
evo:
  language: cpp
  use_text_feedback: true
  embedding_model: null
  task_sys_msg: |
{brief}
job:
  # Longer than the evaluator's own {timeout:g} s, and its start; with n evaluation jobs, n times as long.
  time: "{theirs}"
"""


def start(task: str, folder: str | os.PathLike[str], **options: Any) -> tuple[Path, ...]:
    """Writes ``initial.cpp``, ``evaluate.py`` and ``shinka.yaml`` into ``folder``; overwrites nothing.

    ``options`` are those of ``evaluate``. Raises ``kfp.Error`` for a task or options that can't work.
    """
    chosen = Start(task, options)
    minutes = math.ceil(chosen.timeout / 60) + 1
    return write_all(
        Path(folder),
        {
            "initial.cpp": chosen.program,
            "evaluate.py": EVALUATION.format(arguments=chosen.arguments),
            "shinka.yaml": CONFIGURATION.format(
                brief=block(chosen.brief, 4),
                timeout=chosen.timeout,
                theirs=f"{minutes // 60:02}:{minutes % 60:02}:00",
            ),
        },
    )
