"""What an audit has found so far, and the items of evidence that follow from it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from kfp.auditing import steps
from kfp.auditing.evidence import context, geometry, held_out, item, not_possible, other_data
from kfp.auditing.lab import right, wrong
from kfp.auditing.places import Places
from kfp.auditing.points import Point
from kfp.auditing.results import EvidenceItem, EvidenceKind, Probe, Word
from kfp.gating.verdicts import CLEARLY_SLOWER, place


@dataclass
class Findings:
    """``untimed`` are runs for correctness and ``gains`` comparisons at configurations, by label; ``conditions`` are
    comparisons at measured ones under other conditions, and ``swept`` those at their neighbours.
    """

    places: Places
    threshold: float
    items: dict[EvidenceKind, EvidenceItem] = field(default_factory=dict)
    untimed: dict[str, Probe] = field(default_factory=dict)
    stopped: list[Probe] = field(default_factory=list)
    gains: dict[str, Probe] = field(default_factory=dict)
    conditions: dict[EvidenceKind, list[tuple[Point, Probe]]] = field(default_factory=dict)
    swept: list[tuple[Point, Probe]] = field(default_factory=list)
    beside: tuple[list[Word], list[str]] = field(default_factory=lambda: ([], []))

    def keep(self, found: EvidenceItem) -> None:
        self.items[found.kind] = found

    def words(self) -> set[Word]:
        return {word for one in self.items.values() if one.status == "run" for word in one.supports}

    def wrong_somewhere(self) -> bool:
        return any(word.startswith("wrong") or word == "dead parameter" for word in self.words())

    def wrong_of(self, points: Iterable[Point]) -> list[Point]:
        return [point for point in points if point.label in self.untimed and wrong(self.untimed[point.label])]

    def right_of(self, points: Iterable[Point]) -> list[Point]:
        return [point for point in points if point.label in self.untimed and right(self.untimed[point.label])]

    def untimed_of(self, points: Iterable[Point]) -> list[Probe]:
        return [self.untimed[point.label] for point in points if point.label in self.untimed]

    def judge_held_out(self) -> None:
        places = self.places

        def best(points: Sequence[Point]) -> list[Probe]:
            known = [point.label for point in points if point.label in self.gains or point.label in self.untimed]
            return [self.gains.get(label) or self.untimed[label] for label in known]

        self.items["E1"] = held_out(
            best(places.measured),
            best([places.published]),
            [self.gains[point.label] for point in places.timed if point.label in self.gains],
            self.untimed_of(places.untimed),
            self.threshold,
            complete=bool(self.gains),
            stopped=self.stopped,
        )

    def judge_condition(self, kind: EvidenceKind) -> None:
        places = self.places
        timed = [probe for _, probe in self.conditions.get(kind, ())]
        if kind == "E3d":
            same, others = self.untimed_of(places.same_law), self.untimed_of(places.other_laws)
            self.keep(other_data(same, others, timed, self.threshold))
        elif kind == "E3e":
            self.keep(context(timed, self.threshold))
        elif kind == "E3f":
            self.keep(geometry(self.untimed_of(places.padded), timed, self.threshold))

    def look_beside(self) -> None:
        places = self.places
        around = [(point, self.untimed[point.label]) for point in places.near() if point.label in self.untimed]
        centres = {probe.label for probe in self.untimed_of([*places.measured, places.published]) if right(probe)}
        self.beside = steps.beside(centres, places.published.label, places.secret, around)
        self.judge_neighbours()

    def judge_neighbours(self) -> None:
        words, texts = self.beside
        places, seen = self.places, self.swept
        centres = {point.beside: self.gains[point.beside] for point, _ in seen if point.beside in self.gains}
        known = {point.label for point, _ in seen}
        unseen = [point for point in places.near() if point.label not in known]
        more, others = steps.neighbour_sweep(
            centres, places.published.label, places.secret, seen, self.threshold, unseen
        )
        probes = [*centres.values(), *(probe for _, probe in seen)]
        if not seen:
            probes = self.untimed_of(places.near())
        if words or more:
            self.keep(item("E3a", "; ".join([*texts, *others][:3]), [*words, *more], probes))
        elif not probes:
            self.keep(not_possible("E3a", "no parameter of the task can be moved alone"))

    def doubtful(self, kinds: Collection[EvidenceKind]) -> dict[EvidenceKind, list[Point]]:
        """Where a gain was lost, but is not so clearly lost that a busy machine can't have done it; of these kinds."""
        places = self.places
        held = [
            (point, self.gains[point.label]) for point in (places.published, *places.timed) if point.label in self.gains
        ]
        comparisons = {"E1": held, **self.conditions, "E3a": self.swept}
        found = {
            kind: [point for point, probe in comparisons.get(kind, ()) if self._in_doubt(kind, probe)] for kind in kinds
        }
        return {kind: points for kind, points in found.items() if points}

    def _in_doubt(self, kind: EvidenceKind, probe: Probe) -> bool:
        if wrong(probe) or probe.interval is None or probe.interval.upper <= CLEARLY_SLOWER:
            return False
        centre = self._centre(kind, probe)
        part = centre is not None and steps.holds(centre, probe, self.threshold) is False
        return part or place(probe.interval, self.threshold) == "below"

    def _bears_out(self, kind: EvidenceKind, probe: Probe) -> bool:
        if wrong(probe):
            return False
        centre = self._centre(kind, probe)
        gain = centre.interval if centre is not None else None
        enough = self.threshold if gain is None else max(self.threshold, steps.half_of(gain))
        return probe.interval is None or probe.interval.ratio < enough

    def _centre(self, kind: EvidenceKind, probe: Probe) -> Probe | None:
        """What a neighbour's gain is held against: of that a part may be lost, of others' all of it."""
        return self.gains.get(probe.beside) if kind == "E3a" else None

    def measured_again(self, kind: EvidenceKind, probes: Sequence[Probe]) -> None:
        """In the place of the losses that were measured there before, but for those that it bears out: it comes from
        few processes, so that its own intervals are wide.
        """
        again = {probe.label: probe for probe in probes if not self._bears_out(kind, probe)}
        if kind == "E1":
            self.gains.update(again)
            self.judge_held_out()
        elif kind == "E3a":
            self.swept = [(point, again.get(point.label, probe)) for point, probe in self.swept]
            self.judge_neighbours()
        else:
            self.conditions[kind] = [(point, again.get(point.label, probe)) for point, probe in self.conditions[kind]]
            self.judge_condition(kind)
