"""What a gate says, with everything that it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kfp.gating.variations import Law
from kfp.records import Record
from kfp.results import Device, Math, Verdict
from kfp.tasks.base import Origin, Scale
from kfp.timing.results import Comparison
from kfp.timing.statistics import Interval

GateVerdict: TypeAlias = Literal["transfers", "does not transfer", "wrong", "undecided"]

# Where an interval lies by the threshold. "saturated": both kernels are at the device's limit, so that there was
# nothing to gain. "unmeasured": no ratio that can be trusted.
Standing: TypeAlias = Literal["above", "below", "across", "saturated", "unmeasured", "wrong"]


@dataclass(frozen=True, eq=False)
class Trial(Record):
    """One drawn configuration that was run for correctness alone.

    ``padding``: threadgroups more than the work needs along every axis; ``narrowing``: how often the threadgroups were
    halved. With ``counts`` False the contract does not ask for it, and it decides nothing: a kernel that declares no
    lower cap may rely on the threadgroup that its contract names.
    """

    label: str
    parameters: Mapping[str, int | float]
    seed: int
    law: Law
    padding: int
    narrowing: int
    checked: bool
    counts: bool
    verdict: Verdict
    detail: str


@dataclass(frozen=True, eq=False)
class HeldOut(Record):
    """One held-out configuration that was measured in pairs against the seed.

    ``share`` and ``seed_share`` are achieved/ceiling of the candidate and of the seed, None without a ceiling.
    """

    label: str
    parameters: Mapping[str, int | float]
    origin: Origin
    seed: int
    law: Law
    standing: Standing
    interval: Interval | None
    share: float | None
    seed_share: float | None
    detail: str


@dataclass(frozen=True, eq=False)
class Gate(Record):
    """Whether a kernel's gain over the seed holds where nobody could have tuned for it.

    ``phi`` is the geometric mean of achieved/ceiling over the drawn configurations, ``phi_published`` the same at the
    published one; 0 if the kernel is wrong anywhere, None if it is not known. ``claimed`` is the gain that a search
    reported. ``held_out`` rows are the published configuration and the timed draws; ``threshold`` is what a gain has
    to be above. ``gate_seed`` (hexadecimal) gives all draws together with the source; ``commitment`` is its hash.
    ``compared_with`` is the comparison with a further kernel, at the held-out configurations.
    """

    task: str
    device: Device
    scale: Scale
    math: Math
    threshold: float
    verdict: GateVerdict
    reason: str
    phi: float | None
    phi_published: float | None
    claimed: float | None
    in_distribution: Comparison
    held_out: tuple[HeldOut, ...]
    published: Comparison | None
    drawn: Comparison | None
    compared_with: Comparison | None
    trials: tuple[Trial, ...]
    weak_axis: str
    flags: tuple[str, ...]
    gate_seed: str
    commitment: str
    source_sha256: str
    seconds: float
    kfp_version: str

    @property
    def in_distribution_gain(self) -> float | None:
        """How many times as fast as the seed where the search could see it."""
        return self.in_distribution.ratio

    @property
    def held_out_gain(self) -> float | None:
        """How many times as fast as the seed over the timed draws together."""
        return self.drawn.ratio if self.drawn is not None else None

    @property
    def overstatement(self) -> float | None:
        """The claimed gain, or else the one in distribution, over the gain on the draws: 1.2 overstates by a fifth."""
        said = self.claimed if self.claimed is not None else self.in_distribution_gain
        found = self.held_out_gain
        return said / found if said is not None and found else None

    @property
    def wrong(self) -> tuple[Trial, ...]:
        """The untimed draws that count and on which the kernel isn't right."""
        return tuple(trial for trial in self.trials if trial.counts and trial.verdict != "right")

    def __str__(self) -> str:
        from kfp.gating.tables import gate_text

        return gate_text(self)

    def _repr_html_(self) -> str:
        from kfp.reporting.notebook import frame

        return frame(self)

    def summary(self) -> str:
        """The verdict in one line."""
        from kfp.gating.tables import gate_summary

        return gate_summary(self)
