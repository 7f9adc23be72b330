"""kfp as the evaluator inside OpenEvolve.

The whole of an evaluation file::

    from kfp.adapters.openevolve import evaluator
    evaluate = evaluator("hmc", scale="small")

``python -m kfp.adapters.openevolve hmc FOLDER`` writes it, with the program to start from and a configuration.
"""

from __future__ import annotations

from kfp.adapters.openevolve.evaluating import evaluator as evaluator
from kfp.adapters.openevolve.evaluating import look_at_best as look_at_best
from kfp.adapters.openevolve.starting import start as start

__all__ = ["evaluator", "look_at_best", "start"]
