"""The search itself: ask, evaluate, compare, promote, record; a state that is rebuilt from records alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from kfp.errors import Error, ModelError
from kfp.progress import Progress
from kfp.results import Evaluation
from kfp.runs.folder import RunWriter
from kfp.runs.records import CandidateRecord, Decision, IterationRecord, Spec
from kfp.search.events import OnSearchProgress, SearchProgress
from kfp.search.judgement import Judgement
from kfp.search.models.base import Request
from kfp.search.prompt import HISTORY, Attempt, PromptWriter, history_line, stagnates
from kfp.search.proposals import CapReached, Proposal, Proposer
from kfp.search.trial import Savings, Trials, halved
from kfp.sources import source_hash

# A server that has not answered for so many iterations won't answer the next one either.
MOST_UNANSWERED = 3

ENDED_AT_CAP = "cap"


@dataclass
class State:
    """What the next iteration depends on. ``best`` is how many times as fast as the start, by the search's own word."""

    incumbent: Attempt
    incumbent_evaluation: Evaluation
    incumbent_sha256: str
    incumbent_iteration: int = 0
    best: float = 1.0
    previous: Attempt | None = None
    history: list[str] = field(default_factory=list)
    recent: list[CandidateRecord] = field(default_factory=list)
    tried: dict[str, int] = field(default_factory=dict)
    unanswered: int = 0


class Search:
    """One run's iterations, in order; those on record are taken from there."""

    def __init__(
        self,
        spec: Spec,
        folder: RunWriter,
        proposer: Proposer,
        trials: Trials,
        writer: PromptWriter,
        system: str,
        start: Evaluation,
        progress: OnSearchProgress,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._turn = turn
        self._spec, self._folder, self._proposer, self._trials = spec, folder, proposer, trials
        self._writer, self._system, self._progress = writer, system, progress
        source = folder.start
        seed = Attempt("The best kernel so far: the starting kernel", source, start, "", authored=True)
        self._first = seed
        self.state = State(seed, start, source_hash(source), tried={source_hash(source): 0})
        self._iterations = 0
        self._iteration = 0
        self._fresh_seconds: list[float] = []
        trials.begin(start)

    def run(self, iterations: int) -> str:
        """Up to ``iterations`` in all. Empty if they are complete, else why not."""
        self._iterations = iterations
        for number in range(1, iterations + 1):
            self._iteration = number
            known = self._folder.iteration(number)
            if known is not None:
                self._settle_again(known)
                self._take_over(known)
                continue
            try:
                record = self._iterate(number)
            except CapReached as cap:
                return f"stopped at the cap after {number - 1} of {iterations} iterations: {cap}"
            self._take_over(record)
            self.tell("recorded", record)
            if self.state.unanswered >= MOST_UNANSWERED:
                reason = record.candidates[-1].reason
                raise ModelError(f"{self._spec.model}: no answer for {MOST_UNANSWERED} iterations, the last: {reason}")
        return ""

    def request(self, iteration: int, prompt: str) -> Request:
        spec = self._spec
        return Request(self._system, prompt, iteration, 1, spec.max_tokens, spec.call_seconds, spec.effort)

    def prompt(self) -> tuple[str, tuple[str, ...]]:
        """The next prompt, and what was taken out of messages in it."""
        state = self.state
        if self._spec.strategy == "best-of-n":
            written = self._writer.write(self._first, None, (), stagnates=False)
        else:
            written = self._writer.write(state.incumbent, state.previous, state.history, stagnates(state.recent))
        return written.text, written.redactions

    def tell(self, doing: str, finished: IterationRecord | None = None) -> None:
        purse = self._proposer.purse
        left = None
        if self._fresh_seconds:
            each = sum(self._fresh_seconds) / len(self._fresh_seconds)
            left = each * (self._iterations - self._iteration + (finished is None))
        cost = purse.cost_usd if purse.price is not None else None
        self._progress(
            SearchProgress(self._iteration, self._iterations, doing, self.state.best, purse.usage, cost, left, finished)
        )

    def tell_stage(self, progress: Progress) -> None:
        self.tell(str(progress))

    def _iterate(self, number: int) -> IterationRecord:
        started, waited = time.monotonic(), 0.0
        prompt, redactions = self.prompt()
        self._folder.write_prompt(number, prompt)
        self.tell("waiting for the model")
        asked = time.monotonic()
        proposals = self._proposer.propose(self.request(number, prompt), self._spec.candidates)
        waited += time.monotonic() - asked
        savings = Savings()
        queued = time.monotonic()
        with self._turn():
            waited += time.monotonic() - queued
            judged = _Iteration(self, number, savings).judge(proposals)
        measured = sum(judged.kernel_seconds)
        promoted = next((c.number for c in judged.records if c.decision == "promoted"), None)
        incumbent = self.state.incumbent_sha256
        if promoted is not None:
            incumbent = next(c.source_sha256 for c in judged.records if c.number == promoted)
            self._folder.write_incumbent(self._source(number, promoted))
        seconds = time.monotonic() - started
        record = IterationRecord(
            number=number,
            candidates=judged.records,
            promoted=promoted,
            incumbent_sha256=incumbent,
            redactions=redactions,
            seconds=seconds,
            harness_seconds=max(0.0, seconds - waited - measured),
            saved_runs=savings.runs,
            saved_seconds=savings.seconds,
        )
        self._folder.write_record(record)
        self._fresh_seconds = [*self._fresh_seconds[-9:], seconds]
        return record

    def _source(self, iteration: int, candidate: int) -> str:
        source = self._folder.candidate(iteration, candidate)
        if source is None:
            raise Error(f"{self._folder.path}: iteration {iteration} has lost its candidate {candidate}")
        return source

    def _settle_again(self, record: IterationRecord) -> None:
        """What recorded iterations cost counts against the caps of this process too."""
        purse = self._proposer.purse
        for candidate in record.candidates:
            purse.usage += candidate.usage
            purse.cost_usd += candidate.cost_usd
            purse.bound_usd += candidate.cost_bound_usd

    def _take_over(self, record: IterationRecord) -> None:
        state = self.state
        several = len(record.candidates) > 1
        for candidate in record.candidates:
            state.history.append(history_line(record.number, candidate, several))
            if candidate.source_sha256 and candidate.decision != "duplicate":
                state.tried.setdefault(candidate.source_sha256, record.number)
            if candidate.selection:
                self._hide_draws(record.number, candidate.number)
        # Bounded: a long run must not grow.
        del state.history[: -max(HISTORY, len(record.candidates))]
        state.recent = [*state.recent, *record.candidates][-16:]
        answered = any(candidate.answer != "no answer" for candidate in record.candidates)
        state.unanswered = 0 if answered else state.unanswered + 1
        shown = _most_telling(record.candidates)
        if record.promoted is not None:
            self._promote(record)
            state.previous = None
        elif shown is not None:
            state.previous = self._attempt(record.number, shown)

    def _hide_draws(self, iteration: int, candidate: int) -> None:
        """No later prompt may name what a candidate was held against."""
        source = self._source(iteration, candidate)
        for draw in self._trials.hidden_draws(source, self._spec.selection_draws):
            self._writer.guard.hide(draw)

    def _promote(self, record: IterationRecord) -> None:
        assert record.promoted is not None
        state = self.state
        candidate = next(c for c in record.candidates if c.number == record.promoted)
        assert candidate.evaluation is not None
        title = f"The best kernel so far, from iteration {record.number}"
        source = self._source(record.number, candidate.number)
        state.incumbent = Attempt(title, source, candidate.evaluation, "", authored=False)
        state.incumbent_evaluation = candidate.evaluation
        state.incumbent_sha256 = candidate.source_sha256
        state.incumbent_iteration = record.number
        if candidate.gain is not None and candidate.gain.ratio is not None:
            state.best *= candidate.gain.ratio

    def _attempt(self, iteration: int, candidate: CandidateRecord) -> Attempt:
        source = self._folder.candidate(iteration, candidate.number) or ""
        title = f"The previous attempt, from iteration {iteration}, which was not promoted"
        remark = _remark(candidate)
        return Attempt(title, source, candidate.evaluation, remark, authored=False)

    @property
    def folder(self) -> Path:
        return self._folder.path


def _most_telling(candidates: Sequence[CandidateRecord]) -> CandidateRecord | None:
    """Of several candidates the one that got furthest: its result says most."""
    order: tuple[Decision, ...] = ("vetoed", "no gain", "undecided", "slower", "outrun", "wrong", "invalid")
    ranked = [c for c in candidates if c.decision in order]
    if ranked:
        return min(ranked, key=lambda c: order.index(c.decision))
    return candidates[0] if candidates else None


def _remark(candidate: CandidateRecord) -> str:
    """Beyond the result itself. Says nothing of hidden draws but that there was a veto."""
    if candidate.decision == "no kernel":
        return f"There was no kernel in the answer: {candidate.reason}."
    if candidate.decision == "duplicate":
        return "It is a kernel that had been tried before."
    gain = candidate.gain
    if gain is None or gain.ratio is None or gain.low is None or gain.high is None:
        return ""
    beside = (
        f"Measured beside the best kernel, it is {gain.ratio:.3f} times as fast over all configurations "
        f"(95 % interval {gain.low:.3f} to {gain.high:.3f}; above 1 is faster)."
    )
    if candidate.decision == "vetoed":
        return f"{beside} It was not promoted: it does not hold in general."
    return beside


@dataclass(frozen=True)
class _Judged:
    records: tuple[CandidateRecord, ...]
    kernel_seconds: list[float]


class _Iteration:
    """The candidates of one iteration, from proposals to records."""

    def __init__(self, search: Search, number: int, savings: Savings) -> None:
        self._search, self._number, self._savings = search, number, savings
        self._trials, self._state, self._spec = search._trials, search.state, search._spec
        self._kernel_seconds: list[float] = []

    def judge(self, proposals: Sequence[Proposal]) -> _Judged:
        evaluations = {p.number: self._evaluated(p) for p in proposals if self._is_new(p, proposals)}
        right = {number: evaluation.score or 0.0 for number, evaluation in evaluations.items() if evaluation.correct}
        records: dict[int, CandidateRecord] = {}
        promoted = False
        # Best first; the upper half of the candidates is compared, the rest is outrun.
        rungs = halved(right) if right else []
        compared = rungs[min(1, len(rungs) - 1)] if rungs else []
        by_number = {proposal.number: proposal for proposal in proposals}
        for number in compared:
            if promoted:
                continue
            records[number] = self._compared(by_number[number], evaluations[number])
            promoted = records[number].decision == "promoted"
        for proposal in proposals:
            if proposal.number not in records:
                records[proposal.number] = self._uncompared(proposal, evaluations.get(proposal.number))
        return _Judged(tuple(records[number] for number in sorted(records)), self._kernel_seconds)

    def _is_new(self, proposal: Proposal, proposals: Sequence[Proposal]) -> bool:
        if proposal.source is None or source_hash(proposal.source) in self._state.tried:
            return False
        return all(other.source != proposal.source for other in proposals if other.number < proposal.number)

    def _evaluated(self, proposal: Proposal) -> Evaluation:
        assert proposal.source is not None
        started = time.monotonic()
        evaluation = self._trials.evaluate(proposal.source, self._savings)
        self._kernel_seconds.append(time.monotonic() - started)
        return evaluation

    def _compared(self, proposal: Proposal, evaluation: Evaluation) -> CandidateRecord:
        assert proposal.source is not None
        state = self._state
        started = time.monotonic()
        judgements = self._trials.compare(
            proposal.source, evaluation, state.incumbent.source, state.incumbent_evaluation, self._savings
        )
        selection: tuple[Judgement, ...] = ()
        last = judgements[-1] if judgements else None
        if last is not None and last.complete and last.verdict == "win" and self._spec.selection_draws:
            self._search.tell("comparing on a hidden draw")
            draws = self._trials.hidden_draws(proposal.source, self._spec.selection_draws)
            selection = (self._trials.on_hidden_draws(proposal.source, state.incumbent.source, draws),)
        self._kernel_seconds.append(time.monotonic() - started)
        decision, reason = _decide(last, selection)
        return self._record(proposal, evaluation, decision, reason, judgements, selection)

    def _uncompared(self, proposal: Proposal, evaluation: Evaluation | None) -> CandidateRecord:
        if proposal.source is None:
            return self._record(proposal, None, "no kernel", _no_kernel(proposal))
        if evaluation is None:
            first = self._state.tried.get(source_hash(proposal.source), self._number)
            where = f"iteration {first}" if first else "the starting kernel"
            return self._record(proposal, None, "duplicate", f"the same kernel as {where}")
        if evaluation.correct:
            return self._record(proposal, evaluation, "outrun", "another candidate of the iteration was ahead")
        decision: Decision = "wrong" if evaluation.verdict == "wrong" else "invalid"
        return self._record(proposal, evaluation, decision, evaluation.reason)

    def _record(
        self,
        proposal: Proposal,
        evaluation: Evaluation | None,
        decision: Decision,
        reason: str,
        judgements: tuple[Judgement, ...] = (),
        selection: tuple[Judgement, ...] = (),
    ) -> CandidateRecord:
        reply = proposal.reply
        return CandidateRecord(
            number=proposal.number,
            model=reply.answered_by,
            answer=proposal.answer,
            source_sha256=source_hash(proposal.source) if proposal.source is not None else "",
            evaluation=evaluation,
            judgements=judgements,
            selection=selection,
            decision=decision,
            reason=reason,
            usage=reply.usage,
            cost_usd=proposal.cost_usd,
            cost_bound_usd=proposal.bound_usd,
            model_seconds=reply.seconds,
            attempts=reply.attempts,
        )


def _decide(last: Judgement | None, selection: Sequence[Judgement]) -> tuple[Decision, str]:
    if last is None:
        return "slower", "less than a quarter as fast as the incumbent by its own times; not compared in pairs"
    if last.verdict == "wrong":
        return "wrong", last.reason
    if not last.complete:
        return "slower", f"so slow at {last.ratios[0].label} that the others can't make up for it"
    if last.verdict == "regression":
        return "slower", "slower than the incumbent"
    if last.verdict == "no change":
        return "no gain", "as fast as the incumbent"
    if last.verdict == "undecided":
        return "undecided", "no clear difference from the incumbent, also with four times the samples"
    for judgement in selection:
        if judgement.verdict == "wrong":
            return "vetoed", f"faster, but wrong on a hidden draw: {judgement.reason}"
        if judgement.verdict == "regression":
            return "vetoed", f"faster, but {judgement.ratio:.2f} times as fast as the incumbent on a hidden draw"
    return "promoted", "faster than the incumbent"


def _no_kernel(proposal: Proposal) -> str:
    if proposal.reply.detail:
        return proposal.reply.detail
    return "the answer is empty" if proposal.answer == "empty" else "the answer has no code block"
