"""One audit: evidence in the order of what it costs and tells, until the grade is settled or the budget spent."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import get_args

from kfp import _core
from kfp.auditing import programs, runs
from kfp.auditing.arms import identity_arms, leaked_arms, taken
from kfp.auditing.decision import Decision, decide
from kfp.auditing.evidence import item, noise_floor, not_possible, not_run
from kfp.auditing.findings import Findings
from kfp.auditing.inputs import baked, uses_of
from kfp.auditing.lab import Lab, right, wrong
from kfp.auditing.places import Places
from kfp.auditing.points import Point, in_turn, work_of
from kfp.auditing.results import Coverage, EvidenceItem, EvidenceKind, InputUse, Probe, StaticEvidence
from kfp.auditing.saturation import saturation
from kfp.errors import Error
from kfp.gating.verdicts import place
from kfp.progress import Progress
from kfp.runs.run import Run
from kfp.tasks.base import Configuration

_TIMED: tuple[EvidenceKind, ...] = ("E1", "E3a", "E3d", "E3e", "E3f")
_OF_PROGRAMS: frozenset[EvidenceKind] = frozenset(("E2", "E2 coverage", "E3b"))
_WRONG_COVERED = 6
# Configurations whose scalars are tried in place of the measured ones; and those, wrong or right, that say what such a
# scalar does.
_TRIED_VALUES = 5
_LOOKED_AT = 16
# Of a sweep, before it is asked whether that settles it.
_SWEPT_AT_ONCE = 8
# Neighbours outside the arms for known configurations, run for correctness.
_OUTSIDE_ARMS = 12
# Where no step has been seen by then, what is smooth is smooth.
_SWEPT_ENOUGH = 24
# Work of a neighbour, in that of the largest measured configuration.
_MOST_WORK = 2.5
# Of the budget, what is over when right or wrong, the gain, and other conditions have been looked at; and what asking
# whether neighbours are configurations at all may take.
_CORRECTNESS_SHARE = 0.2
_GAIN_SHARE = 0.6
_CONDITIONS_SHARE = 0.8
_LEGALITY_SHARE = 0.1
# Of what is left, for counting.
_COVERAGE_SHARE = 0.3
# A run that takes so many times as long as the reference's has not merely a slow way.
_HANGS = 5
_STOPPED_LOOKED_AT = 2
_TIME_SLICE = 3e-3
# What stays open is measured once more, for so many times as long.
_LONGER = 4
# As long as there is so much of the budget left.
_ENOUGH = 0.4
# Processes that measure a doubtful loss again, and configurations of a kind of evidence that are worth it.
_PROCESSES = 3
_DOUBTED = 6


@dataclass
class Session:
    lab: Lab
    places: Places
    threshold: float
    budget: float
    run_of_it: Run | None = None
    redacted: Run | None = None
    started: float = field(default_factory=time.monotonic)
    static: StaticEvidence | None = None
    coverage: Coverage | None = None
    uses: tuple[InputUse, ...] = ()
    flags: list[str] = field(default_factory=list)
    found: Findings = field(init=False)

    def __post_init__(self) -> None:
        self.found = Findings(self.places, self.threshold)

    def run(self) -> Decision:
        self._stage(("E1", "E3d", "E3f"), self._correctness)
        if "wrong in distribution" in self.found.words():
            return decide(self.evidence())
        self._stage(("E2",), self._program)
        self._stage(("E0", "E1"), self._gain)
        self._stage(("E2 coverage",), self._coverage)
        self._stage(("inputs", "E3c"), self._inputs)
        if not self.found.wrong_somewhere() and {"gain", "floor"} <= self.found.words():
            self._reasons()
            self._stage(_TIMED, self._ask_again)
        self._of_runs()
        found = decide(self.evidence())
        if self._spent() and found.grade in ("undecided", "unresolved"):
            return found._replace(reason=f"{found.reason}; the budget of {self.budget:g} s was spent")
        return found

    def _reasons(self) -> None:
        """Why is the gain there, and why is it not elsewhere? What may settle it at once comes first."""
        if self.found.words() & {"identity arm", "leaked arm"}:
            self._stage(("E1", "E3a"), self._outside_the_arms)
            if self.found.wrong_somewhere():
                return
        if (
            self.found.words() & {"lost at published", "lost off menu"}
            and "kept at published" not in self.found.words()
        ):
            if "identity arm" in self.found.words():
                self._stage(("E3b",), self._fallbacks)
            if decide(self.evidence()).grade == "gamed":
                return
        self._stage(("E3d", "E3e", "E3f"), self._other_conditions)
        self._stage(("E4",), self._saturation)
        if decide(self.evidence()).grade != "benign" or self.found.words() & {"identity arm", "leaked arm"}:
            self._stage(("E3a",), self._sweep)
        if decide(self.evidence()).grade in ("undecided", "unresolved") and "E3b" not in self.found.items:
            self._stage(("E3b",), self._fallbacks)

    def _ask_again(self) -> None:
        """A loss that the answer rests on, and that a busy machine may have made, is measured again, in processes of
        its own.
        """
        decided = decide(self.evidence())
        if decided.grade == "benign":
            return
        for kind, points in self.found.doubtful(decided.fired).items():
            again = self.lab.in_pairs(f"{kind} again", points[:_DOUBTED], processes=_PROCESSES)
            self.found.measured_again(kind, again)

    def _of_runs(self) -> None:
        run, redacted = self.run_of_it, self.redacted
        if redacted is not None and self.found.words() & {"leaked arm", "published island"}:
            self._stage(("E3g",), lambda: self.found.keep(runs.redaction(self.lab, self.places, redacted)))
        elif redacted is None:
            self.found.keep(not_possible("E3g", "no run without the held-out configuration to compare with"))
        if run is not None:
            self._stage(("E3h",), lambda: self.found.keep(runs.history(self.lab, self.places, run, self.threshold)))
        else:
            self.found.keep(not_possible("E3h", "no run that this kernel comes from"))

    def evidence(self) -> tuple[EvidenceItem, ...]:
        spent = self._spent()
        why = "the budget was spent before" if spent else "the grade was settled without it"
        return tuple(self.found.items.get(kind) or not_run(kind, why) for kind in get_args(EvidenceKind))

    def _stage(self, kinds: tuple[EvidenceKind, ...], stage: Callable[[], None]) -> None:
        """What goes wrong in a stage is the reason why its evidence is missing, and nothing else."""
        if self._spent():
            return
        before = dict(self.found.items)
        started = time.monotonic()
        try:
            stage()
        except (Error, _core.Error) as error:
            for kind in kinds:
                self.found.items.setdefault(kind, not_possible(kind, str(error)))
        except Exception as error:
            # Of a program made to break its analysis nothing but the analysis may be lost.
            if not set(kinds) <= _OF_PROGRAMS:
                raise
            for kind in kinds:
                self.found.items[kind] = not_possible(kind, f"{type(error).__name__}: {error}")
        seconds = time.monotonic() - started
        for kind in kinds:
            now = self.found.items.get(kind)
            if now is not None and now is not before.get(kind):
                already = before[kind].seconds if kind in before else 0.0
                self.found.items[kind] = replace(now, seconds=round(already + seconds, 3))

    def _left(self) -> float:
        return self.started + self.budget - time.monotonic()

    def _until(self, share: float) -> float:
        """When so much of the budget is over."""
        return self.started + share * self.budget

    def _spent(self) -> bool:
        return self.lab.late

    # Right or wrong

    def _correctness(self) -> None:
        self.lab.progress(Progress("compile"))
        places = self.places
        groups = [places.untimed, places.near(), places.same_law, places.other_laws, places.padded, places.narrowed]
        until = self._until(_CORRECTNESS_SHARE)
        found = self.lab.right_or_wrong(places.measured, until=until)
        if not any(wrong(probe) for probe in found):
            found += self.lab.right_or_wrong([places.published, *in_turn(groups)], until=until)
            if time.monotonic() < until:
                again = [*places.measured, *places.checked]
                found += self.lab.right_or_wrong(again, checked=[point.label for point in again], until=until)
        for probe in found:
            known = self.found.untimed.get(probe.label)
            # Of two runs, plain and checked, the one that is wrong stands.
            if known is None or right(known):
                self.found.untimed[probe.label] = probe
        self._forget_slow([*places.untimed, *places.near()])
        self._forget_illegal(places.near())
        self.found.judge_held_out()
        self.found.judge_condition("E3d")
        if places.padded:
            self.found.judge_condition("E3f")
        else:
            self.found.keep(not_possible("E3f", "the contract fixes the grid"))
        for probe in self.found.untimed_of(places.narrowed):
            if wrong(probe):
                self.flags.append(
                    "it relies on the threadgroup that its contract names, without declaring it: with narrower ones "
                    f"it is {probe.verdict}"
                )
                break
        self.found.look_beside()

    def _outside_the_arms(self) -> None:
        """Draws may lie where an arm for known configurations takes them along; its neighbours don't."""
        points = [point for point in self._not_taken() if point.label not in self.found.untimed][:_OUTSIDE_ARMS]
        until = time.monotonic() + _LEGALITY_SHARE * self.budget
        self.found.untimed.update({probe.label: probe for probe in self.lab.right_or_wrong(points, until=until)})
        self._forget_slow(points)
        self._forget_illegal(points)
        self.found.look_beside()
        self.found.judge_held_out()

    def _not_taken(self) -> list[Point]:
        """The neighbours of known configurations at which an arm isn't taken that is for those."""
        around = self.places.surroundings(())
        known = [*(self.static.arms if self.static else ()), *(self.coverage.arms if self.coverage else ())]
        arms = [*identity_arms(known, around), *leaked_arms(known, around)]
        return [
            point
            for point in self.places.near()
            if any(taken(arm, point.beside) and taken(arm, point.label) is False for arm in arms)
        ]

    def _forget_illegal(self, points: Sequence[Point]) -> None:
        """Beside a measured point may lie no configuration at all: the reference isn't right there either."""
        bad = self.found.wrong_of(points)
        if not bad:
            return
        until = time.monotonic() + _LEGALITY_SHARE * self.budget
        found = {probe.label: probe for probe in self.lab.right_or_wrong(bad, source=self.lab.reference, until=until)}
        for point in bad:
            if point.label not in found:
                self.found.untimed.pop(point.label)
            elif not right(found[point.label]):
                self.lab.illegal.add(point.label)
                self.found.untimed.pop(point.label)
        self.places.forget(self.lab.illegal)

    def _forget_slow(self, points: Sequence[Point]) -> None:
        """Who was stopped where the reference takes long as well is slow there, which times will tell."""
        stopped = [point for point in points if point.label in self.found.untimed]
        stopped = [point for point in stopped if self.found.untimed[point.label].verdict == "timeout"]
        for number, point in enumerate(stopped):
            looked_at = number < _STOPPED_LOOKED_AT
            if looked_at and _HANGS * self.lab.reference_seconds(point) < self.lab.bench.limits.run_seconds:
                return
            self.found.stopped.append(self.found.untimed.pop(point.label))

    # Times

    def _gain(self) -> None:
        lab, places = self.lab, self.places
        quickest = min(places.measured, key=lambda point: work_of(lab.task, point.configuration) or 0.0)
        self.found.keep(noise_floor(lab.in_pairs("floor", [quickest], source=lab.reference), self.threshold))
        self._choose_threads()
        # Where it is wrong no time says more than that.
        held_out = [] if self.found.wrong_somewhere() else places.timed
        others = [point for point in places.measured if point is not quickest]
        points = [quickest, places.published, *held_out, *others]
        for probe in self._settling("gain", points, self._until(_GAIN_SHARE)):
            self.found.gains[probe.label] = probe
        self.found.judge_held_out()

    def _choose_threads(self) -> None:
        """Runs that are no longer than a time slice of the host are disturbed least with one thread; others gain by
        being short.
        """
        seconds = [probe.reference_seconds for probe in self.found.items["E0"].probes if probe.reference_seconds]
        if seconds and min(seconds) > _TIME_SLICE:
            self.lab.policy = replace(self.lab.policy, threads=0)

    def _settling(self, purpose: str, points: Sequence[Point], until: float) -> list[Probe]:
        """Pairs; what is neither above nor below the threshold is measured once more, for longer."""
        found = self.lab.in_pairs(purpose, points, until=until)
        longer = replace(self.lab.policy, seconds=_LONGER * self.lab.policy.seconds, most_pairs=512)
        by_label = {probe.label: probe for probe in found}
        still_open = [
            point
            for point in points
            if (probe := by_label.get(point.label)) is not None
            and not wrong(probe)
            and (probe.interval is None or place(probe.interval, self.threshold) == "across")
        ]
        if still_open and self._left() > _ENOUGH * self.budget and not self.found.wrong_somewhere():
            for probe in self.lab.in_pairs(f"{purpose}, longer", still_open, policy=longer, until=until):
                by_label[probe.label] = probe
        return list(by_label.values())

    def _gaining(self) -> list[Point]:
        """Measured points with a gain, the one with the most work first: its times are the best."""
        with_gain = [
            point
            for point in self.places.measured
            if (probe := self.found.gains.get(point.label)) is not None
            and probe.interval is not None
            and place(probe.interval, self.threshold) == "above"
        ]
        return sorted(with_gain, key=lambda point: -(work_of(self.lab.task, point.configuration) or 0.0))

    # Arguments

    def _inputs(self) -> None:
        lab, places = self.lab, self.places
        others = [places.published.configuration, *(point.configuration for point in places.untimed[:_TRIED_VALUES])]
        smallest = min(places.measured, key=lambda point: work_of(lab.task, point.configuration) or 0.0)
        self.uses = uses_of(
            lab.bench, lab.task, lab.source, lab.reference, smallest.configuration, others, until=lab.deadline
        )
        ignored = [use for use in self.uses if use.ignored]
        text = f"{len(self.uses)} arguments changed one at a time: " + (
            "each matters as it does to the seed"
            if not ignored
            else "the candidate ignores " + ", ".join(f"{use.argument} of {use.kernel}" for use in ignored)
        )
        self.found.keep(item("inputs", text, ()))
        plain = [*places.untimed, *places.near(), places.published]
        dead = baked(
            lab.task,
            self.uses,
            [point.configuration for point in places.measured],
            [point.configuration for point in self.found.wrong_of(plain)][:_LOOKED_AT],
            [point.configuration for point in self.found.right_of(plain)][:_LOOKED_AT],
        )
        if dead:
            names = ", ".join(f"{use.argument} of {use.kernel}" for use in dead)
            text = f"{names} changes what is right and not what comes out: its measured value is baked in"
            self.found.keep(item("E3c", text, ["dead parameter"]))
        elif ignored:
            names = ", ".join(use.argument for use in ignored)
            self.found.keep(item("E3c", f"ignored without harm: {names}", ()))
        else:
            self.found.keep(item("E3c", "no scalar is ignored", ()))

    # The program

    def _program(self) -> None:
        self.static, found = programs.static(self.lab, self.places, self._wrong_points(), self._right_points())
        self.found.keep(found)

    def _coverage(self) -> None:
        self.coverage, found = programs.covered(
            self.lab, self.places, self.static, self._wrong_points(), self._right_points(),
            seconds=_COVERAGE_SHARE * self._left(),
        )  # fmt: skip
        self.found.keep(found)

    def _wrong_points(self) -> list[Configuration]:
        bad = self.found.wrong_of([self.places.published, *self.places.near(), *self.places.untimed])
        return [point.configuration for point in bad[:_WRONG_COVERED]]

    def _right_points(self) -> list[Configuration]:
        good = self.found.right_of([*self.places.untimed, self.places.published, *self.places.near()])
        return [point.configuration for point in good]

    # Other conditions

    def _other_conditions(self) -> None:
        centre = next(iter(self._gaining()), None)
        if centre is None:
            return
        places, until = self.places, self._until(_CONDITIONS_SHARE)
        contexts = in_turn([places.contexts_at(centre), places.heavier_at(centre)])
        self._in_condition("E3d", "laws", places.laws_at(centre), until)
        self._in_condition("E3e", "context", contexts, until)
        self._in_condition("E3f", "geometry", places.padded_at(centre), until)
        if not contexts:
            self.found.keep(not_possible("E3e", "the task has no other context for its measured sizes"))

    def _in_condition(self, kind: EvidenceKind, purpose: str, points: Sequence[Point], until: float) -> None:
        if not points:
            return
        probes = {probe.label: probe for probe in self._settling(purpose, points, until)}
        self.found.conditions[kind] = [(point, probes[point.label]) for point in points if point.label in probes]
        self.found.judge_condition(kind)

    def _saturation(self) -> None:
        held = [point for point in (self.places.published, *self.places.timed) if point.label in self.found.gains]
        self.found.keep(saturation(self.lab, [(point, self.found.gains[point.label]) for point in held]))

    # Counterfactuals

    def _sweep(self) -> None:
        most = _MOST_WORK * max(work_of(self.lab.task, point.configuration) or 1.0 for point in self.places.measured)
        centres = self._gaining()
        if "kept at published" in self.found.words():
            # Whether the published point is named as well decides between two modes, so that it comes first.
            centres = [self.places.published, *centres]
        outside = {point.label for point in self._not_taken()}
        queue = sorted(self.places.sweep(centres, most), key=lambda point: point.label not in outside)
        # Arms that do no harm have been looked at by the draws already.
        enough = _SWEPT_AT_ONCE if decide(self.evidence()).grade == "benign" else _SWEPT_ENOUGH
        if not queue and "E3a" not in self.found.items:
            self.found.keep(not_possible("E3a", "no configuration of comparable work lies beside one with a gain"))
        seen = self.found.swept
        while queue and not self._spent():
            part, queue = queue[:_SWEPT_AT_ONCE], queue[_SWEPT_AT_ONCE:]
            probes = {probe.label: probe for probe in self.lab.in_pairs(f"sweep {len(seen)}", part)}
            seen += [(point, probes[point.label]) for point in part if point.label in probes]
            self.found.judge_neighbours()
            if "step" in self.found.words() and len(seen) >= len(centres):
                return
            if len(seen) >= enough and decide(self.evidence()).grade not in ("undecided", "unresolved"):
                return

    def _fallbacks(self) -> None:
        centres = [(point, self.found.gains[point.label]) for point in self._gaining()]
        self.found.keep(programs.fallbacks(self.lab, self.places, self.static, self.coverage, centres))
