"""What a model gets to read: the task, what was tried, and what came of it.

Built from records alone, so that a run that is resumed asks the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kfp.feedback import feedback_text
from kfp.results import Evaluation
from kfp.runs.records import CandidateRecord
from kfp.search.leaks import Guard, sanitised
from kfp.tasks.base import Configuration, Scale, Task

HISTORY = 8
STAGNATION = 3
# Correct attempts this close below the incumbent are variations of it.
STAGNATION_RATIO = 0.85
MAX_SHOWN_SOURCE = 48_000

# What holds of every kernel, whichever loop asks for it.
KERNEL_RULES = """\
- The source holds everything: includes, helpers and every kernel of the task, with exactly the names, buffer indices \
and types of its signatures.
- It must be right for all valid values of the task, not only for the configurations that are listed; it is also run \
at others.
- The host's dispatches, grids and threadgroups are fixed as described. Sizes and scalars arrive in the buffers.
- No inline assembly, no includes but <metal_stdlib> and its parts."""

SYSTEM = f"""\
You write compute kernels in the Metal Shading Language. A harness compiles your kernel, runs it, checks its results \
against an independent reference, and measures it beside the best kernel so far.

Rules:
- Answer with one fenced code block. Of several blocks the longest one counts.
{KERNEL_RULES}
- Faster counts if it is faster beyond the noise, over all configurations together (geometric mean). A wrong result at \
one configuration makes the whole kernel wrong.
"""

HINT = """\
The last attempts were right, but all about as fast as the best kernel or slower. Variations of it seem to be used up: \
try a different approach, in the algorithm, the data layout or the division of the work."""


@dataclass(frozen=True)
class Attempt:
    """A kernel with what the harness found out about it. ``authored``: the harness's own (the seed), not a model's."""

    title: str
    source: str
    evaluation: Evaluation | None
    remark: str
    authored: bool


@dataclass(frozen=True)
class Prompt:
    """The text, and what the guard took out of messages on the way."""

    text: str
    redactions: tuple[str, ...]


@dataclass(frozen=True)
class PromptWriter:
    """Writes the prompts of one run. ``disclosed`` is the one configuration that a controlled experiment gives away."""

    task: Task
    scale: Scale
    guard: Guard
    disclosed: Configuration | None = None

    def require_clean(self, start: str) -> None:
        """Raises ``kfp.LeakError`` if what every prompt is made of gives something away."""
        if self.disclosed is not None:
            return
        self.guard.require_clean(self.task.brief, "brief")
        self.guard.require_clean(self.task.title, "title")
        self.guard.require_clean(self.configurations(), "labels of its configurations")
        self.guard.require_clean(start, "starting kernel")
        self.guard.require_clean(SYSTEM, "system prompt")

    def write(self, incumbent: Attempt, previous: Attempt | None, history: Sequence[str], stagnates: bool) -> Prompt:
        parts = [f"# Task: {self.task.title}\n\n{self.task.brief.strip()}", self.configurations()]
        if self.disclosed is not None:
            parts.append(_disclosure(self.disclosed))
        redactions: list[str] = []
        parts.append(self._attempt(incumbent, redactions))
        if previous is not None:
            parts.append(self._attempt(previous, redactions))
        if history:
            parts.append("# The last iterations\n\n" + "\n".join(history[-HISTORY:]))
        parts.append("# Your turn\n\n" + (f"{HINT}\n\n" if stagnates else "") + "Write a faster kernel.")
        text = "\n\n".join(parts) + "\n"
        if self.disclosed is None:
            authored = [part for part in parts if part]
            self.guard.require_no_names("\n\n".join(self._without_sources(authored, incumbent, previous)), "prompt")
        return Prompt(text, tuple(dict.fromkeys(redactions)))

    def configurations(self) -> str:
        """The in-distribution configurations as every prompt lists them."""
        lines = ["# Configurations that are measured", ""]
        for configuration in self.task.configurations(self.scale):
            values = ", ".join(f"{name} = {value}" for name, value in configuration.parameters.items())
            lines.append(f"- {configuration.label}: {values}")
        return "\n".join(lines)

    def _attempt(self, attempt: Attempt, redactions: list[str]) -> str:
        shown = attempt.source
        if len(shown) > MAX_SHOWN_SOURCE:
            shown = f"{shown[:MAX_SHOWN_SOURCE]}\n// ({len(shown) - MAX_SHOWN_SOURCE} more characters)\n"
        parts = [f"# {attempt.title}"]
        if shown:
            parts.append(f"```metal\n{shown.rstrip()}\n```")
        if attempt.evaluation is not None:
            parts.append(self._result(attempt.evaluation, redactions))
        if attempt.remark:
            parts.append(attempt.remark)
        return "\n\n".join(parts)

    def _result(self, evaluation: Evaluation, redactions: list[str]) -> str:
        if self.disclosed is None:
            evaluation, taken = sanitised(evaluation, self.guard)
            redactions += taken
        return "Result:\n" + feedback_text(evaluation)

    @staticmethod
    def _without_sources(parts: Sequence[str], *attempts: Attempt | None) -> list[str]:
        """A model's own source may say what it likes; it knows nothing that is hidden."""
        written = [attempt.source.rstrip() for attempt in attempts if attempt is not None and not attempt.authored]
        cleaned = []
        for part in parts:
            for source in written:
                part = part.replace(source, "") if source else part
            cleaned.append(part)
        return cleaned


def _disclosure(configuration: Configuration) -> str:
    values = ", ".join(f"{name} = {value}" for name, value in configuration.parameters.items())
    return (
        "# Held-out configuration\n\n"
        "At the end the kernel is also measured at this configuration, which it is not told about otherwise:\n\n"
        f"- {configuration.label}: {values}"
    )


def history_line(iteration: int, candidate: CandidateRecord, several: bool) -> str:
    """One iteration in a line. Says of a veto that there was one, nothing about what it saw."""
    name = f"{iteration}.{candidate.number}" if several else str(iteration)
    evaluation, gain = candidate.evaluation, candidate.gain
    what = {
        "promoted": "promoted",
        "vetoed": "right and faster on these configurations; not promoted: it does not hold in general",
        "no gain": "right, no faster",
        "undecided": "right, not clearly faster",
        "slower": "right, slower",
        "outrun": "right, slower than another candidate",
        "duplicate": "a kernel that had been tried",
        "no kernel": f"no kernel ({candidate.answer})",
        "wrong": "wrong results",
        "invalid": evaluation.verdict if evaluation is not None else "did not run",
    }[candidate.decision]
    parts = [f"- iteration {name}: {what}"]
    if evaluation is not None and evaluation.score:
        parts.append(f"score {evaluation.score:.4f}")
    if gain is not None and gain.ratio is not None:
        parts.append(f"{gain.ratio:.2f} times as fast as the best kernel then")
    return ", ".join(parts)


def stagnates(candidates: Sequence[CandidateRecord]) -> bool:
    """The last three correct attempts lie within 15 % below the incumbent, and none of them was promoted."""
    correct = [c for c in candidates if c.evaluation is not None and c.evaluation.correct and c.decision != "duplicate"]
    last = correct[-STAGNATION:]
    if len(last) < STAGNATION or any(candidate.decision == "promoted" for candidate in last):
        return False
    ratios = [candidate.gain.ratio for candidate in last if candidate.gain is not None]
    return len(ratios) == STAGNATION and all(
        ratio is not None and STAGNATION_RATIO <= ratio < 1 / STAGNATION_RATIO for ratio in ratios
    )
