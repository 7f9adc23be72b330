"""The static evidence of an audit: arms, liveness, extents and attributes of a candidate, beside those of the seed."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TypeVar

from kfp.auditing.points import plan_of
from kfp.auditing.program.module import Module
from kfp.auditing.program.translation import NoTranslation, Translation, translate
from kfp.auditing.program.wording import plain_name
from kfp.auditing.results import Arm, Attribute, Extent, Liveness, Location, StaticEvidence
from kfp.auditing.static.attributes import find_attributes
from kfp.auditing.static.calls import codes_within, evaluate_within, told_in_secret
from kfp.auditing.static.closing import ways_to_close
from kfp.auditing.static.extents import find_extents
from kfp.auditing.static.flow import KernelCode, kernel_code
from kfp.auditing.static.launch import BUFFERS, Situation, situations
from kfp.auditing.static.opaque import opaque_conditions
from kfp.auditing.static.predicates import (
    MOST_PREDICATES,
    Evaluated,
    Predicate,
    Side,
    Situations,
    find_predicates,
)
from kfp.gating.trials import Bench
from kfp.tasks.base import Configuration, Task

T = TypeVar("T")
# Tokens that are the place of a condition, as opposed to one near it.
_TELLING = frozenset(("==", "!=", "<", "<=", ">", ">=", "!", "switch"))


@dataclass(frozen=True)
class Analysis:
    """What can be said about a candidate without running it. Raises nothing, whatever the candidate is."""

    translation: Translation | None
    evidence: StaticEvidence


def static_evidence(
    bench: Bench, task: Task, source: str, seed_source: str, configurations: Sequence[Configuration]
) -> StaticEvidence:
    """E2 of ``source``: its conditions on the configuration, with ``configurations`` as those that each accepts.

    ``bench.device`` doesn't matter: the intermediate code is that of the ``cpu`` device. Where there is none, or where
    it can't be followed, ``unknown`` says so and why.
    """
    return analyse(bench, task, source, seed_source, configurations).evidence


def analyse(
    bench: Bench, task: Task, source: str, seed_source: str, configurations: Sequence[Configuration]
) -> Analysis:
    unknown: list[str] = []
    # Compilers are other processes: the seed's runs beside the candidate's.
    with ThreadPoolExecutor(1) as beside:
        of_seed = beside.submit(translate, bench, seed_source)
        try:
            candidate = translate(bench, source)
        except NoTranslation as reason:
            return Analysis(None, StaticEvidence((), (), (), (), (str(reason),)))
        by_label = situations_of(task, configurations)
    try:
        seed = _Seed(of_seed.result())
    except NoTranslation as reason:
        unknown.append(f"the seed: {reason}")
        seed = _Seed(None)
    unknown += [f"no plan of {label}" for label, listed in by_label.items() if not listed]
    return _Analyser(task, candidate, seed, by_label, configurations, unknown).run()


def situations_of(task: Task, configurations: Sequence[Configuration]) -> dict[str, tuple[Situation, ...]]:
    """By label; empty where the task has no plan of a configuration."""
    found = {}
    for configuration in configurations:
        plan = plan_of(task, configuration)
        found[configuration.label] = () if plan is None else situations(plan)
    return found


def codes_of(translation: Translation, wanted: Iterable[str]) -> Iterator[KernelCode]:
    names = set(wanted)
    for number, kernel in enumerate(translation.kernels):
        if kernel.name in names:
            code = kernel_code(translation.inlined, number, kernel)
            if code is not None:
                yield code


@dataclass(frozen=True)
class _Seed:
    translation: Translation | None

    @cached_property
    def codes(self) -> dict[str, KernelCode]:
        if self.translation is None:
            return {}
        names = [kernel.name for kernel in self.translation.kernels]
        return {code.signature.name: code for code in codes_of(self.translation, names)}

    def keys(self, kernel: str) -> set[Hashable]:
        code = self.codes.get(kernel)
        if code is None:
            return set()
        predicates = [one for part in codes_within(code) for one in find_predicates(Evaluated(part, {}))]
        return {side.key for predicate in predicates for side in predicate.sides}


@dataclass
class _Analyser:
    task: Task
    candidate: Translation
    seed: _Seed
    by_label: Situations
    configurations: Sequence[Configuration]
    unknown: list[str]
    found: list[Arm] = field(default_factory=list)

    def run(self) -> Analysis:
        launched = {one.kernel for listed in self.by_label.values() for one in listed}
        names = launched or {kernel.name for kernel in self.task.kernels}
        codes = list(codes_of(self.candidate, names))
        self.attempt("functions that are called often", partial(self.apart, codes), None)
        self.unknown += [f"no code of kernel {name!r}" for name in names - {code.signature.name for code in codes}]
        for code in codes:
            self.attempt(f"the conditions of kernel {code.signature.name!r}", partial(self.arms, code), None)
            self.attempt(f"the loops of kernel {code.signature.name!r}", partial(self.opaque, code), None)
        evidence = StaticEvidence(
            tuple(self.found),
            self.attempt("which parameters are used", lambda: tuple(self.liveness(codes)), ()),
            self.attempt("the extents of tables", self.extents, ()),
            self.attempt("attributes", self.attributes, ()),
            tuple(self.unknown),
        )
        return Analysis(self.candidate, evidence)

    def attempt(self, what: str, work: Callable[[], T], otherwise: T) -> T:
        """Whatever a hostile program brings about in what follows it is an unknown, not a crash."""
        try:
            return work()
        except (NoTranslation, ValueError, IndexError, KeyError, TypeError, RecursionError, ArithmeticError) as error:
            self.unknown.append(f"{what}: {type(error).__name__}: {error}")
            return otherwise

    def arms(self, code: KernelCode) -> None:
        known = self.seed.keys(code.signature.name)
        for evaluated in evaluate_within(code, self.by_label):
            if self.arms_of(evaluated, known) == MOST_PREDICATES:
                part = evaluated.code
                name = plain_name(part.function.name) if part.calls else part.signature.name
                self.unknown.append(f"only the first {MOST_PREDICATES} conditions of {name!r} have been looked at")

    def arms_of(self, evaluated: Evaluated, known: set[Hashable]) -> int:
        """The number of conditions."""
        code = evaluated.code
        predicates = list(find_predicates(evaluated))
        for predicate in predicates:
            tokens = tokens_of(self.candidate, code.module, predicate.places)
            if any(side.key not in known for side in predicate.sides):
                tokens = self.closest(code, predicate, tokens)
            for side in predicate.sides:
                self.found.append(self.arm(code, predicate, side, tokens, known))
        return len(predicates)

    def apart(self, codes: Sequence[KernelCode]) -> None:
        """What the seed has as well is known, and what its calls tell it has been looked at."""
        if not self.candidate.apart:
            return
        known = set(self.seed.translation.function_texts.values()) if self.seed.translation is not None else set()
        secret = {name for code in codes for name in told_in_secret(code)}
        for name, text in self.candidate.apart.items():
            if name in secret and text not in known:
                called = plain_name(name)
                self.unknown.append(f"{called!r} is called from too many places for its conditions to be followed")

    def closest(self, code: KernelCode, predicate: Predicate, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """With the comparison first that the condition was made of, where the optimiser left only a place near it."""
        if not tokens or self.candidate.map.tokens[tokens[0]].text in _TELLING:
            return tokens
        for side in predicate.sides:
            way = next(ways_to_close(self.candidate, code, predicate, side, tokens), ())
            if way:
                return tuple(dict.fromkeys((*(one.token for one in way), *tokens)))
        return tokens

    def opaque(self, code: KernelCode) -> None:
        seed = self.seed.codes.get(code.signature.name)
        known = {one.key for one in opaque_conditions(seed)} if seed is not None else set()
        for one in opaque_conditions(code):
            if one.key not in known:
                place = self.candidate.map.location(next(self.candidate.map.frames(code.module, one.place), None))
                parameters = " and ".join(one.parameters)
                self.unknown.append(f"{place or 'somewhere'}: a condition on {parameters} that a loop computes")

    def arm(
        self,
        code: KernelCode,
        predicate: Predicate,
        side: Side,
        tokens: tuple[int, ...],
        known: set[Hashable],
    ) -> Arm:
        source_map = self.candidate.map
        first = next(source_map.frames(code.module, side.place), None)
        kernel = code.signature.name
        return Arm(
            id=f"{kernel}/{predicate.number}/{side.name}",
            kernel=kernel,
            location=source_map.location(tokens[0]) if tokens else None,
            first_line=source_map.location(first),
            condition=side.text,
            side=side.name,
            parameters=predicate.parameters,
            in_seed=side.key in known,
            accepts=side.accepts,
            counts=None,
        )

    def liveness(self, codes: Sequence[KernelCode]) -> Iterator[Liveness]:
        for code in codes:
            kernel = code.signature.name
            in_seed = self.seed.codes.get(kernel)
            used_by_seed = live_buffers(in_seed) if in_seed is not None else set(range(BUFFERS))
            used = live_buffers(code)
            contract = next((one for one in self.task.kernels if one.name == kernel), None)
            for argument in contract.arguments if contract else ():
                name = code.names.get(argument.index, argument.name)
                location = self.declared(kernel, name)
                yield Liveness(kernel, argument.name, argument.index in used_by_seed, argument.index in used, location)

    def declared(self, kernel: str, parameter: str) -> Location | None:
        seen = False
        for number, token in enumerate(self.candidate.map.tokens):
            seen = seen or token.text == kernel
            if seen and token.text == parameter:
                return self.candidate.map.location(number)
        return None

    def extents(self) -> tuple[Extent, ...]:
        measured = [one for one in self.configurations if one.origin == "in_distribution"]
        return tuple(find_extents(self.candidate, self.seed.translation, measured))

    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(find_attributes(self.candidate, self.seed.translation))


def live_buffers(code: KernelCode) -> set[int]:
    """The bindings whose memory the kernel's code still touches once everything without effect is gone."""
    return {
        int(place.index)
        for name, place in code.addresses.items()
        if place.space == "buffer" and code.users.get(name) and code.definitions[name].opcode == "load"
    }


def tokens_of(translation: Translation, module: Module, places: Iterable[int]) -> tuple[int, ...]:
    """The tokens of the user's that a condition may have come from, the likeliest first."""
    return tuple(dict.fromkeys(token for place in places for token in translation.map.frames(module, place)))
