"""kfp as the evaluator inside ShinkaEvolve.

The whole of an ``evaluate.py``::

    from kfp.adapters.shinka import main
    main("hmc", scale="small")

``python -m kfp.adapters.shinka hmc FOLDER`` writes it, with the program to start from and a configuration. Nothing here
needs ShinkaEvolve: its evaluations are processes that are told of files.
"""

from __future__ import annotations

from kfp.adapters.shinka.evaluating import evaluate as evaluate
from kfp.adapters.shinka.evaluating import look_at_best as look_at_best
from kfp.adapters.shinka.evaluating import main as main
from kfp.adapters.shinka.starting import start as start

__all__ = ["evaluate", "look_at_best", "main", "start"]
