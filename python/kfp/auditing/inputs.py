"""Which arguments matter: each is changed alone, in the plan of one configuration, for the candidate and the seed."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kfp import _core, bridge, interface, machine
from kfp.auditing.results import InputUse
from kfp.compiling import Compilation, compile_source
from kfp.errors import Error
from kfp.gating.trials import Bench
from kfp.plan import Plan
from kfp.running import digest_of, references
from kfp.tasks.base import Argument, Configuration, Kernel, Task

# A kernel that is taken down by a changed argument is started again, so often.
_RESTARTS = 6


@dataclass(frozen=True)
class Change:
    """One argument with another content than the configuration gives it; everything else is as it was."""

    kernel: str
    argument: str
    plan: Plan


def uses_of(
    bench: Bench,
    task: Task,
    source: str,
    reference: str,
    at: Configuration,
    others: Sequence[Configuration],
    *,
    until: float = math.inf,
) -> tuple[InputUse, ...]:
    """``others`` are configurations whose scalars are tried in place of those of ``at``. After ``until``, by the
    monotonic clock, nothing more is tried. No kernel makes it raise.
    """
    found: dict[tuple[str, str], tuple[list[bool], list[bool]]] = {}
    for number, kernel in enumerate((source, reference)):
        for change, response in _responses(bench, task, kernel, at, others, until):
            answers = found.setdefault((change.kernel, change.argument), ([], []))
            if response is not None:
                answers[number].append(response)
    return tuple(
        InputUse(kernel, argument, None, _any(mine), _any(theirs), "")
        for (kernel, argument), (mine, theirs) in found.items()
    )


def plan_or_none(task: Task, configuration: Configuration, caps: Mapping[str, int]) -> Plan | None:
    try:
        return task.plan(configuration, references.inputs(task, configuration), caps)
    except Exception:
        return None


def changes_of(task: Task, plan: Plan, others: Sequence[Plan | None]) -> list[Change]:
    known = [other for other in others if other is not None]
    changes: list[Change] = []
    for kernel in task.kernels:
        for argument in kernel.arguments:
            if argument.access == "constant":
                changes += _scalar_changes(plan, known, kernel, argument)
            elif argument.access != "write":
                changes += _buffer_changes(plan, kernel, argument)
    return changes


def _scalar_changes(plan: Plan, others: Sequence[Plan], kernel: Kernel, argument: Argument) -> list[Change]:
    values = bound_values(plan, kernel, argument)
    if not values:
        return []
    if len(set(values)) > 1:
        # Another one for every dispatch: in the reverse order they are others, and all legal.
        return [Change(kernel.name, argument.name, _rebound(plan, kernel, argument, values[::-1]))]
    # Smaller ones first: a larger size leads beyond the buffers, or nowhere.
    usual = values[0]
    found = {value for other in others for value in bound_values(other, kernel, argument)} - {usual}
    smaller = [value for value in found if float(value) < float(usual)]
    if not smaller and np.issubdtype(usual.dtype, np.integer) and int(usual) > 1:
        smaller = [usual.dtype.type(int(usual) // 2)]
    larger = sorted(found - set(smaller), key=float)
    chosen = [*sorted(smaller, key=float, reverse=True), *larger][:2]
    return [
        Change(kernel.name, argument.name, _rebound(plan, kernel, argument, [value] * len(values))) for value in chosen
    ]


def bound_values(plan: Plan, kernel: Kernel, argument: Argument) -> list[np.generic]:
    """What the dispatches of the kernel receive for a scalar, in order."""
    found = [one.arguments.get(argument.index) for one in plan.dispatches if one.kernel == kernel.name]
    return [value for value in found if isinstance(value, np.generic)]


def _rebound(plan: Plan, kernel: Kernel, argument: Argument, values: Sequence[np.generic]) -> Plan:
    left = iter(values)
    return replace(
        plan,
        dispatches=tuple(
            replace(one, arguments={**one.arguments, argument.index: next(left)})
            if one.kernel == kernel.name and isinstance(one.arguments.get(argument.index), np.generic)
            else one
            for one in plan.dispatches
        ),
    )


def _buffer_changes(plan: Plan, kernel: Kernel, argument: Argument) -> list[Change]:
    """The initial content of the buffer that the kernel's first dispatch binds, turned round: its values stay legal."""
    first = next((one for one in plan.dispatches if one.kernel == kernel.name), None)
    name = first.arguments.get(argument.index) if first is not None else None
    buffer = next((one for one in plan.buffers if one.name == name), None)
    if buffer is None or buffer.initial is None:
        return []
    flat = buffer.initial.reshape(-1)
    for other in (flat[::-1], np.roll(flat, 1)):
        content = np.ascontiguousarray(other).reshape(buffer.shape)
        if content.tobytes() != buffer.initial.tobytes():
            changed = replace(buffer, initial=content)
            buffers = tuple(changed if one is buffer else one for one in plan.buffers)
            return [Change(kernel.name, argument.name, replace(plan, buffers=buffers))]
    return []


Response = tuple[Change, "bool | None"]


def _responses(
    bench: Bench, task: Task, source: str, at: Configuration, others: Sequence[Configuration], until: float
) -> list[Response]:
    """Of each change whether it changes the outputs; None where it takes the process down, or nothing is repeatable."""
    found: list[Response] = []
    for _ in range(_RESTARTS):
        more, complete = _in_one_process(bench, task, source, at, others, len(found), until)
        found += more
        if complete:
            break
    return found


def _in_one_process(
    bench: Bench,
    task: Task,
    source: str,
    at: Configuration,
    others: Sequence[Configuration],
    done: int,
    until: float,
) -> tuple[list[Response], bool]:
    """The answers to all changes but the first ``done``, as far as the process lives."""
    with machine.open_worker(bench.device, bench.limits) as worker:
        compilation = compile_source(worker, bench.device, source, math=bench.math)
        if compilation.library is None or interface.problems(task, compilation.kernels):
            return [], True
        caps = {kernel.name: kernel.max_total_threads_per_threadgroup for kernel in compilation.kernels}
        plan = plan_or_none(task, at, caps)
        if plan is None:
            return [], True
        changes = changes_of(task, plan, [plan_or_none(task, other, caps) for other in others])
        found: list[Response] = []
        try:
            usual = _outputs(worker, compilation, plan)
            repeatable = usual == _outputs(worker, compilation, plan)
            for change in changes[done:]:
                if time.monotonic() > until:
                    break
                found.append((change, None))
                if repeatable:
                    found[-1] = (change, _outputs(worker, compilation, change.plan) != usual)
        except (Error, _core.Error):
            # The last change stays without an answer.
            return found, not found or done + len(found) == len(changes)
        return found, True


def _outputs(worker: _core.Worker, compilation: Compilation, plan: Plan) -> bytes:
    assert compilation.library is not None
    execution = worker.prepare(compilation.library, bridge.plan(plan))
    worker.run(execution)
    return digest_of(bridge.read_outputs(worker, execution, plan))


def _any(answers: Sequence[bool]) -> bool | None:
    return any(answers) if answers else None


def baked(
    task: Task,
    uses: Sequence[InputUse],
    measured: Sequence[Configuration],
    wrong: Sequence[Configuration],
    right: Sequence[Configuration],
) -> tuple[InputUse, ...]:
    """Of the ignored scalars those with which it goes wrong: at other values than the measured ones it never is right,
    and at some it is wrong.
    """
    found = []
    for use in uses:
        kernel = next(kernel for kernel in task.kernels if kernel.name == use.kernel)
        argument = next(argument for argument in kernel.arguments if argument.name == use.argument)
        if not use.ignored or argument.access != "constant":
            continue
        known = {value for one in measured for value in values_of(task, one, kernel, argument)}

        def elsewhere(
            points: Sequence[Configuration], kernel: Kernel = kernel, argument: Argument = argument,
            known: set[np.generic] = known,
        ) -> bool:  # fmt: skip
            return any(not known.issuperset(values_of(task, one, kernel, argument)) for one in points)

        if elsewhere(wrong) and not elsewhere(right):
            found.append(use)
    return tuple(found)


def values_of(task: Task, configuration: Configuration, kernel: Kernel, argument: Argument) -> list[np.generic]:
    plan = plan_or_none(task, configuration, {kernel.name: 1024 for kernel in task.kernels})
    return bound_values(plan, kernel, argument) if plan is not None else []
