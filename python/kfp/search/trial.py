"""One candidate on trial: evaluated as far as it is worth, compared with the incumbent, held against hidden draws."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from kfp.evaluation import evaluate
from kfp.limits import Limits
from kfp.progress import Progress
from kfp.results import Evaluation, Math
from kfp.search.judgement import Judgement, Referee
from kfp.sources import source_hash
from kfp.tasks.base import Configuration, Scale, Task

# The times of an evaluation are those of a kernel alone, at another time than the incumbent's. The published harness
# had medians of one kernel up to 2.9 times apart; a candidate that is further off is not worth pairs. A kernel of
# microseconds can be any number of times slower while something else has the machine: pairs alone tell.
BELIEVED_WITHIN = 4.0
BELIEVED_FROM_SECONDS = 1e-3
HIDDEN_DRAWS = 0x5E1EC7


@dataclass
class Savings:
    """What adaptive evaluation left out: runs of configurations, and an estimate of their seconds."""

    runs: int = 0
    seconds: float = 0.0


@dataclass
class Trials:
    """Evaluates and compares candidates at the search configurations of one run."""

    task: Task
    device: str
    scale: Scale
    math: Math
    seed: int
    referee: Referee
    progress: Callable[[Progress], None]
    limits: Limits | None = None
    _cost: dict[str, float] = field(default_factory=dict)
    _compare_seconds: float = 1.0

    @property
    def configurations(self) -> tuple[Configuration, ...]:
        return tuple(replace(point, seed=self.seed) for point in self.task.configurations(self.scale))

    def begin(self, start: Evaluation) -> None:
        """Takes from the first evaluation which configurations are cheap."""
        self._cost = _seconds(start)

    def evaluate(self, source: str, savings: Savings) -> Evaluation:
        """Cheapest configuration first; the first failure ends it."""
        points = sorted(self.configurations, key=lambda point: self._cost.get(point.label, 0.0))
        started = time.monotonic()
        found = evaluate(
            self.task,
            source,
            device=self.device,
            scale=self.scale,
            seed=self.seed,
            math=self.math,
            limits=self.limits,
            configurations=points,
            stop_early=True,
            progress=self.progress,
        )
        done = len(found.configurations)
        left = len(points) - done
        if left and found.compile_ok:
            savings.runs += left
            savings.seconds += left * (time.monotonic() - started) / max(done, 1)
        order = [point.label for point in self.configurations]
        rows = sorted(found.configurations, key=lambda row: order.index(row.label))
        return replace(found, configurations=tuple(rows))

    def compare(
        self, source: str, evaluation: Evaluation, incumbent: str, incumbent_evaluation: Evaluation, savings: Savings
    ) -> tuple[Judgement, ...]:
        """Comparisons with the incumbent until one decides: for a doubtful candidate the most telling configuration
        alone, then all of them, then all once more if that left it undecided.
        """
        alone = _alone(evaluation, incumbent_evaluation)
        points = self.configurations
        judgements: list[Judgement] = []
        if alone and _mean(alone.values()) * BELIEVED_WITHIN < 1.0:
            savings.runs += len(points)
            savings.seconds += len(points) * self._compare_seconds
            return ()
        if len(alone) > 1 and _mean(alone.values()) < 1.0:
            telling = min(points, key=lambda point: alone[point.label])
            first = self._judge(source, incumbent, (telling,), "search")
            judgements.append(replace(first, complete=False))
            if _lost(first, telling.label, alone):
                savings.runs += len(points) - 1
                savings.seconds += (len(points) - 1) * self._compare_seconds
                return tuple(judgements)
        judgements.append(self._judge(source, incumbent, points, "search"))
        if judgements[-1].verdict == "undecided":
            judgements.append(self._judge(source, incumbent, points, "more"))
        return tuple(judgements)

    def on_hidden_draws(self, source: str, incumbent: str, draws: Sequence[Configuration]) -> Judgement:
        return self.referee.compare(source, incumbent, tuple(draws), "search")

    def hidden_draws(self, source: str, count: int) -> tuple[Configuration, ...]:
        """A function of the run's seed and of the source, so that nobody can know them before the source exists."""
        words = [self.seed, HIDDEN_DRAWS, *bytes.fromhex(source_hash(source))]
        rng = np.random.default_rng(np.random.SeedSequence(words))
        return tuple(self.task.draw(rng, self.scale) for _ in range(count))

    def _judge(self, source: str, incumbent: str, points: tuple[Configuration, ...], effort: str) -> Judgement:
        judgement = self.referee.compare(source, incumbent, points, "more" if effort == "more" else "search")
        if judgement.verdict != "wrong" and effort == "search":
            self._compare_seconds = 0.5 * (self._compare_seconds + judgement.seconds / len(points))
        return judgement


def halved(scores: dict[int, float]) -> list[list[int]]:
    """Successive halving: the rungs of candidates by their scores, each half as many as the one before, best first.

    The first rung holds all of them; the last, a single one.
    """
    rung = sorted(scores, key=lambda number: (-scores[number], number))
    rungs = [rung]
    while len(rung) > 1:
        rung = rung[: math.ceil(len(rung) / 2)]
        rungs.append(rung)
    return rungs


def _lost(first: Judgement, label: str, alone: dict[str, float]) -> bool:
    """Even if it did as well everywhere else as the most that its times alone allow, it could not win."""
    if first.verdict != "regression" or first.high is None:
        return first.verdict == "wrong"
    best = {name: ratio * BELIEVED_WITHIN for name, ratio in alone.items()} | {label: first.high}
    return _mean(best.values()) < 1.0


def _alone(evaluation: Evaluation, other: Evaluation) -> dict[str, float]:
    """How many times as fast by the times of either kernel alone, in the candidate's favour: its fastest sample against
    the incumbent's upper quartile. Empty where one has no times, or times too short to be believed.
    """
    mine = {row.label: min(row.timing.samples) for row in evaluation.configurations if row.timing is not None}
    theirs = {row.label: row.timing.upper_quartile for row in other.configurations if row.timing is not None}
    if mine.keys() != theirs.keys() or min(mine.values(), default=0.0) < BELIEVED_FROM_SECONDS:
        return {}
    return {label: theirs[label] / mine[label] for label in mine}


def _seconds(evaluation: Evaluation) -> dict[str, float]:
    return {row.label: row.timing.seconds for row in evaluation.configurations if row.timing is not None}


def _mean(ratios: Iterable[float]) -> float:
    values = [max(ratio, 1e-12) for ratio in ratios]
    return math.exp(math.fsum(map(math.log, values)) / len(values))
