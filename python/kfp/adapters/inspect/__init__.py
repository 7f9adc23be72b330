"""The suites as a task set for Inspect.

``inspect eval kfp/kernels -T suite=sci -T scale=small --model PROVIDER/MODEL``, or from Python::

    from inspect_ai import eval
    from kfp.adapters.inspect import kernels
    eval(kernels(suite="sci", scale="small"), model="PROVIDER/MODEL")

Importing this needs ``inspect_ai``, which registers what it finds here.
"""

from __future__ import annotations

from kfp.adapters.shared.packages import required

required("inspect_ai", "inspect")

from kfp.adapters.inspect.answers import Answer as Answer  # noqa: E402
from kfp.adapters.inspect.answers import answers as answers  # noqa: E402
from kfp.adapters.inspect.scoring import verdict as verdict  # noqa: E402
from kfp.adapters.inspect.taskset import kernels as kernels  # noqa: E402

__all__ = ["Answer", "answers", "kernels", "verdict"]
