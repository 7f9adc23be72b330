"""The scorer: kfp's verdict on the kernel in an answer, whatever solver wrote it."""

from __future__ import annotations

from anyio import to_thread
from inspect_ai.scorer import Score, Scorer, Target, grouped, mean, scorer, stderr
from inspect_ai.solver import TaskState
from inspect_ai.util import concurrency

from kfp.adapters.shared.assessment import TIMEOUT, Assessment, Assessor
from kfp.errors import Error
from kfp.results import Math
from kfp.search.extraction import largest_block
from kfp.tasks.base import Scale

_BY_SUITE = [grouped(mean(), "suite"), stderr()]


@scorer(metrics={"score": _BY_SUITE, "right": _BY_SUITE})  # type: ignore[untyped-decorator]
def verdict(
    scale: Scale = "full",
    device: str = "auto",
    seed: int = 0,
    math: Math = "fast",
    timeout: float = TIMEOUT,
) -> Scorer:
    """Evaluates the longest code block of the answer: ``score`` is S, ``right`` 0 or 1; means are per suite and of all.

    The score's answer is the kernel, its explanation what could be told the model; its metadata has the verdict. An
    answer without a code block scores 0. Where this machine, not the kernel, is at fault the sample stays unscored, so
    that the answer is kept and can be scored again. One evaluation at a time.
    """
    known: dict[str, Assessor] = {}

    def assess(task: str, source: str) -> Assessment:
        if task not in known:
            known[task] = Assessor(task, device=device, scale=scale, seed=seed, math=math, timeout=timeout)
        return known[task].assess(source)

    async def score(state: TaskState, target: Target) -> Score:
        source = largest_block(state.output.completion)
        if source is None:
            return Score(
                value={"score": 0.0, "right": 0.0},
                explanation="The answer holds no code block with a kernel in it.",
                reason="no_response" if not state.output.completion.strip() else "invalid_response_format",
                metadata={"verdict": "no kernel"},
            )
        async with concurrency("kfp", 1):
            try:
                found = await to_thread.run_sync(assess, state.metadata["task"], source)
            except Error as fault:
                return Score.unscored(reason="scoring_failed", answer=source, explanation=str(fault))
        return Score(
            value={"score": found.score, "right": float(found.correct)},
            answer=source,
            explanation=found.feedback,
            metadata={
                "verdict": found.verdict,
                "reason": found.reason,
                "device": found.device,
                "source_sha256": found.source_sha256,
            },
        )

    return score
