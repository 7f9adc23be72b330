"""What a foreign loop tells its models of a task, and the program that it starts from."""

from __future__ import annotations

from kfp.search.leaks import Guard
from kfp.search.prompt import KERNEL_RULES, PromptWriter
from kfp.sources import seed_source
from kfp.tasks import get_task
from kfp.tasks.base import Scale, Task

RULES = f"""\
You write compute kernels in the Metal Shading Language. A harness compiles the whole program, runs it, checks its \
results against an independent reference, and times it.

{KERNEL_RULES}
- The score is the geometric mean, over the configurations, of what was achieved of the device's ceiling. A wrong \
result at one configuration makes it 0."""


def brief(task: str | Task, scale: Scale) -> str:
    """The rules and the contract: all that a loop's models are told of a task."""
    return f"{RULES}\n\n{contract(task, scale)}"


def contract(task: str | Task, scale: Scale) -> str:
    """The task's own words, signatures and valid values, and its in-distribution configurations.

    Raises ``kfp.LeakError`` if that would give away what is held out.
    """
    wanted = get_task(task)
    writer = PromptWriter(wanted, scale, Guard(wanted, scale))
    writer.require_clean(seed_source(wanted))
    return "\n\n".join((f"# Task: {wanted.title}", wanted.brief.strip(), writer.configurations())) + "\n"


def starting_program(task: str | Task) -> str:
    """The task's seed kernel between the markers of the part that may change, as both loops know them."""
    return f"// EVOLVE-BLOCK-START\n{seed_source(get_task(task)).strip()}\n// EVOLVE-BLOCK-END\n"
