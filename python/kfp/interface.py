"""Does a compiled source offer what the task's host code will launch and bind?"""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from kfp.results import KernelSignature
from kfp.tasks.base import Kernel, Task


def problems(task: Task, kernels: Sequence[KernelSignature]) -> tuple[str, ...]:
    """In words, each on its own; empty when the source fits.

    A kernel may leave out arguments of the contract and may have helper kernels of its own. It can't have arguments
    that nobody binds.
    """
    found = {kernel.name: kernel for kernel in kernels}
    complaints: list[str] = []
    for wanted in task.kernels:
        kernel = found.get(wanted.name)
        if kernel is None:
            complaints.append(_missing(wanted.name, list(found)))
            continue
        complaints += _parameters(wanted, kernel)
        if kernel.pipeline_error:
            complaints.append(f"{kernel.name}: {kernel.pipeline_error}")
        elif kernel.max_total_threads_per_threadgroup < wanted.min_threads:
            complaints.append(
                f"{kernel.name}: a threadgroup needs at least {wanted.min_threads} threads, the kernel allows "
                f"{kernel.max_total_threads_per_threadgroup}"
            )
    return tuple(complaints)


def _missing(name: str, found: list[str]) -> str:
    if not found:
        return f"expected a kernel {name!r}; the source defines no kernel"
    close = difflib.get_close_matches(name, found, n=1)
    hint = f" (is it {close[0]!r}?)" if close else ""
    return f"expected a kernel {name!r}; the source defines {', '.join(map(repr, found))}{hint}"


def _parameters(wanted: Kernel, kernel: KernelSignature) -> list[str]:
    indices = {argument.index for argument in wanted.arguments}
    known = ", ".join(f"{argument.index} {argument.name}" for argument in wanted.arguments)
    complaints = []
    for parameter in kernel.parameters:
        what = f"{kernel.name}: parameter {parameter.name!r} ({parameter.type})"
        if parameter.kind == "buffer" and parameter.index not in indices:
            complaints.append(f"{what} is at buffer({parameter.index}), where the task binds nothing; it binds {known}")
        elif parameter.kind == "threadgroup":
            complaints.append(f"{what} is threadgroup memory whose length the task never sets; declare it in the body")
        elif parameter.kind in ("texture", "sampler"):
            complaints.append(f"{what} is a {parameter.kind}; the task binds buffers only: {known}")
    return complaints
