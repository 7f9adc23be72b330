"""What is secret of the published configuration: what no kernel could have seen in the search."""

from __future__ import annotations

import pytest
from kfp import machine
from kfp.auditing.lab import Lab
from kfp.auditing.places import Places, places_of
from kfp.gating.draws import draw_all
from kfp.gating.trials import Bench
from kfp.limits import Limits
from kfp.progress import silent
from kfp.tasks import get_task
from kfp.timing.looks import SEARCH

# By hand from the tasks' small configurations: (axes, arguments of the kernels).
SECRETS: dict[str, tuple[set[str], set[str]]] = {
    "saxpy": ({"N"}, {"N"}),
    "heat2d": ({"NX", "NY", "all sizes"}, {"NX", "NY"}),
    "nbody": ({"N"}, {"N"}),
    # Half of the evaluations are folded by four, so that as many come out as at a measured configuration.
    "fri_round": ({"fold"}, {"fold", "inv_fold"}),
    "kyber_ntt": ({"batch", "context"}, {"batch", "n_levels", "q"}),
    # The rounds are sizes, too, and those of the search: what is lost with all sizes moved may be due to them.
    "poseidon2_hash": ({"batch", "t"}, {"batch", "t"}),
    "keccak_f1600_batch": (
        {"batch", "rate_bytes", "out_bytes", "domain"},
        {"batch", "rate_bytes", "out_bytes", "domain"},
    ),
}


def places(name: str, seed: int = 1) -> Places:
    task = get_task(name)
    bench = Bench(machine.resolve("cpu"), "fast", Limits())
    lab = Lab(bench, task, "small", "a source", "another", seed, SEARCH, silent)
    return places_of(lab, draw_all(task, "small", seed, "a source", 3, 32))


@pytest.mark.parametrize("name", SECRETS)
def test_secrets(name: str) -> None:
    found = places(name)
    axes, arguments = SECRETS[name]
    assert found.secret - {"context"} == axes - {"context"}
    assert {argument for _, argument in found.secret_arguments} == arguments


def test_the_same_seed_gives_the_same_places() -> None:
    one, other, another = places("heat2d"), places("heat2d"), places("heat2d", 2)
    for found in (one.same_law, one.untimed, one.timed, one.measured):
        assert found
    assert [point.label for point in one.same_law] == [point.label for point in other.same_law]
    assert [point.configuration for point in one.measured] == [point.configuration for point in other.measured]
    assert [point.configuration for point in one.untimed] != [point.configuration for point in another.untimed]
    assert one.measured[0].configuration.seed != another.measured[0].configuration.seed


@pytest.mark.parametrize("name", ["heat2d", "poseidon2_hash", "logup_gkr"])
def test_labels_tell_all_places_apart(name: str) -> None:
    found = places(name)
    groups = (
        found.measured,
        found.same_law,
        found.other_laws,
        found.padded,
        found.narrowed,
        found.untimed,
        found.timed,
    )
    points = [found.published, *found.near(), *(point for group in groups for point in group)]
    labels = [point.label for point in points]
    draws = {point.label for point in (*found.untimed, *found.timed)}
    assert len({label for label in labels if label not in draws}) == len([one for one in labels if one not in draws])


def test_every_law_of_the_data_is_run_and_the_most_telling_ones_are_timed() -> None:
    found = places("logup_gkr")
    wanted = {(name, value) for name, values in get_task("logup_gkr").data_laws.items() for value in values}
    for centre in found.measured:
        own = dict(centre.configuration.parameters)
        moved = [
            {name: value for name, value in point.configuration.parameters.items() if own[name] != value}
            for point in found.other_laws
            if point.label.startswith(f"{centre.label}, data of")
        ]
        assert all(len(changed) == 1 for changed in moved)
        assert {next(iter(changed.items())) for changed in moved} == wanted
    timed = {point.label.partition("data of ")[2].partition("=")[0] for point in found.laws_at(found.measured[0])}
    assert timed == set(get_task("logup_gkr").data_laws)


def test_one_parameter_at_a_time_as_it_is_elsewhere() -> None:
    found = places("wots_chain")
    centre = found.measured[0]
    own = dict(centre.configuration.parameters)
    moved = [
        {name: value for name, value in point.configuration.parameters.items() if own[name] != value}
        for point in found.heavier_at(centre)
    ]
    assert all(len(changed) == 1 for changed in moved)
    published = found.published.configuration.parameters
    assert {"n_bytes": published["n_bytes"]} in moved
    drawn = [point.configuration.parameters["n_bytes"] for point in found.timed]
    furthest = max(drawn, key=lambda value: max(value / own["n_bytes"], own["n_bytes"] / value))
    assert {"n_bytes": furthest} in moved or furthest in (own["n_bytes"], published["n_bytes"])
