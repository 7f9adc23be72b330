"""What a search with OpenEvolve starts from: a program, an evaluation file, a configuration."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from kfp.adapters.shared.starting import Start, block, write_all

EVALUATION = """\
from kfp.adapters.openevolve import evaluator

evaluate = evaluator({arguments})
"""

CONFIGURATION = """\
# What a search for Metal kernels needs to be told; the rest is OpenEvolve's own.
language: metal
max_code_length: 48000
checkpoint_interval: 5
prompt:
  system_message: |
{brief}
evaluator:
  # Longer than the evaluator's own {timeout:g} s; with n parallel evaluations, n times as long.
  timeout: {theirs}
  parallel_evaluations: 1
  cascade_evaluation: false
"""


def start(task: str, folder: str | os.PathLike[str], **options: Any) -> tuple[Path, ...]:
    """Writes ``program.metal``, ``evaluation.py`` and ``config.yaml`` into ``folder``; overwrites nothing.

    ``options`` are those of ``evaluator``. Raises ``kfp.Error`` for a task or options that can't work.
    """
    chosen = Start(task, options)
    theirs = math.ceil(chosen.timeout * 10 / 9)
    return write_all(
        Path(folder),
        {
            "program.metal": chosen.program,
            "evaluation.py": EVALUATION.format(arguments=chosen.arguments),
            "config.yaml": CONFIGURATION.format(brief=block(chosen.brief, 4), timeout=chosen.timeout, theirs=theirs),
        },
    )
