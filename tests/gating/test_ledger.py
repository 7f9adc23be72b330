"""The books: chained, locked, tampering noticed; and what each policy gives away to an optimiser that listens."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.errors import LedgerError, LookRefused, RunError, UsageError
from kfp.ledger.entries import Entry
from kfp.ledger.ledger import Ledger
from kfp.ledger.policies import Ask, Ladder, Once, Policy, Retro, Thresholdout, policy_named


def ask(run: str = "run-1", look: str = "look-1", *, after: bool = True, own: float | None = None) -> Ask:
    return Ask(run, candidate="c" * 64, look=look, after_search=after, in_distribution=own)


def look(ledger: Ledger, policy: Policy, asked: Ask, found: float = 1.5) -> float | None:
    return ledger.look(policy, asked, ("N=101",), "verdict", lambda: found).released


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.jsonl")


def test_a_look_is_recorded_before_it_is_made(ledger: Ledger) -> None:
    def measure() -> float:
        (entry,) = ledger.entries()
        assert (entry.kind, entry.reason, entry.released) == ("look", "begun", None)
        return 1.25

    assert ledger.look(Once(), ask(), ("N=101", "draw 1"), "verdict", measure).released == 1.25
    begun, finished = ledger.entries()
    assert (begun.bits, finished.bits) == (0.0, 2.0)
    assert finished.configurations == ("N=101", "draw 1")
    assert finished.previous == begun.digest
    assert finished.released == 1.25


def test_once_is_once_and_the_refusal_is_on_the_books(ledger: Ledger) -> None:
    assert look(ledger, Once(), ask()) == 1.5
    with pytest.raises(LookRefused, match="had its look"):
        look(ledger, Once(), ask(look="look-2"))
    assert [entry.kind for entry in ledger.entries()] == ["look", "look", "refusal"]
    assert look(ledger, Once(), ask(run="run-2", look="look-2")) == 1.5


def test_a_look_that_was_interrupted_goes_on(ledger: Ledger) -> None:
    def killed() -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ledger.look(Once(), ask(), (), "verdict", killed)
    assert look(ledger, Once(), ask()) == 1.5
    assert [entry.reason for entry in ledger.entries()] == ["begun", "finished"]


@pytest.mark.parametrize("policy", [Once(), Retro()])
def test_nothing_is_looked_at_while_the_search_goes_on(ledger: Ledger, policy: Policy) -> None:
    with pytest.raises(LookRefused, match="not over"):
        look(ledger, policy, ask(after=False))
    (entry,) = ledger.entries()
    assert entry.kind == "refusal"


def test_retro_tells_nobody(ledger: Ledger) -> None:
    for number in range(3):
        assert look(ledger, Retro(), ask(look=f"incumbent-{number}")) is None
    assert all(entry.released is None and entry.bits == 0 for entry in ledger.entries())


CHANGES: dict[str, Callable[[list[str]], list[str]]] = {
    "a figure": lambda lines: [*lines[:1], lines[1].replace("1.5", "2.5"), *lines[2:]],
    "a line left out": lambda lines: lines[:1] + lines[2:],
    "two lines swapped": lambda lines: [lines[1], lines[0], *lines[2:]],
    "the last line left out": lambda lines: lines[:-1],
    "the last two left out": lambda lines: lines[:-2],
    "everything left out": lambda lines: [],
    "a line twice": lambda lines: [*lines, lines[-1]],
    "no JSON": lambda lines: [*lines, "hello\n"],
    "cut in a line": lambda lines: [*lines[:-1], lines[-1][:40]],
    "a further field": lambda lines: [lines[0].replace('{"number"', '{"extra": 1, "number"'), *lines[1:]],
    "a new digest": lambda lines: [_rewritten(lines[0]), *lines[1:]],
}


def _rewritten(line: str) -> str:
    """Changed, with a digest that fits: the next line gives it away."""
    entry = replace(Entry.from_json(json.loads(line)), purpose="nothing at all")
    return json.dumps(replace(entry, digest=entry.computed_digest()).to_json()) + "\n"


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_tampering_is_noticed(ledger: Ledger, change: Callable[[list[str]], list[str]]) -> None:
    for number in range(3):
        look(ledger, Once(), ask(run=f"run-{number}"))
    lines = ledger.path.read_text().splitlines(keepends=True)
    ledger.path.write_text("".join(change(lines)))
    with pytest.raises(LedgerError, match=r"ledger\.jsonl"):
        ledger.entries()
    with pytest.raises(LedgerError):
        look(ledger, Once(), ask(run="run-9"))


def test_a_ledger_that_was_removed_is_missed(ledger: Ledger) -> None:
    look(ledger, Once(), ask())
    ledger.path.unlink()
    with pytest.raises(LedgerError, match="missing"):
        ledger.entries()


@settings(max_examples=40, deadline=None)
@given(place=st.floats(0, 1, exclude_max=True), value=st.integers(1, 255))
def test_no_byte_can_be_changed(tmp_path_factory: pytest.TempPathFactory, place: float, value: int) -> None:
    ledger = Ledger(tmp_path_factory.mktemp("ledger") / "ledger.jsonl")
    look(ledger, Once(), ask())
    data = bytearray(ledger.path.read_bytes())
    before = ledger.entries()
    data[int(place * len(data))] ^= value
    ledger.path.write_bytes(bytes(data))
    try:
        found = ledger.entries()
    except (LedgerError, RunError):
        return
    # White space between JSON's words is nobody's content.
    assert found == before


def test_processes_take_turns(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from kfp.ledger.ledger import Ledger\n"
        "from kfp.ledger.policies import Ask, Retro\n"
        "for i in range(4):\n"
        "    a = Ask(sys.argv[2], 'c', f'look-{i}', True)\n"
        "    Ledger(Path(sys.argv[1])).look(Retro(), a, (), 'onset', lambda: 1.0)\n"
    )
    path = tmp_path / "ledger.jsonl"
    processes = [subprocess.Popen([sys.executable, "-c", script, str(path), f"run-{n}"]) for n in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert len(Ledger(path).entries()) == 24


# An optimiser that only listens: labels are coin flips, so whatever it seems to learn about them is inflation.

SAMPLES = 1000
STEPS = 1000


class Books:
    """Answers of a policy, with looks in memory instead of on disk."""

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.looks: list[Entry] = []

    def ask(self, found: float, own: float) -> float | None:
        asked = ask(look=f"look-{len(self.looks)}", own=own)
        if self.policy.refusal(asked, self.looks):
            return None
        answer = self.policy.answer(asked, self.looks, found)
        entry = Entry(1, "", "look", "r", "c", asked.look, (), "", self.policy.name, answer.bits, answer.released,
                      "finished", "", "")  # fmt: skip
        self.looks.append(entry)
        return answer.released


def climb(answer: Callable[[float, float], float | None], seed: int) -> tuple[float, float]:
    """(best value that was released, accuracy on the held-out labels) of 1,000 steps up the answers.

    Each step flips some predictions and keeps them where the answer went up. True accuracy is one half throughout.
    """
    rng = np.random.default_rng(seed)
    labels, own_labels = rng.integers(0, 2, (2, SAMPLES))
    guess = rng.integers(0, 2, SAMPLES)
    best, current = -math.inf, guess
    for _ in range(STEPS):
        flips = rng.random(SAMPLES) < 0.01
        trial = np.where(flips, 1 - current, current)
        told = answer(float(np.mean(trial == labels)), float(np.mean(trial == own_labels)))
        if told is None:
            break
        if told > best:
            best, current = told, trial
    return best, float(np.mean(current == labels))


def test_without_a_policy_the_optimiser_learns_what_is_held_out() -> None:
    best, _ = climb(lambda found, own: found, 0)
    assert best > 0.7


@pytest.mark.parametrize("seed", range(3))
def test_the_ladder_keeps_inflation_within_its_bound(seed: int) -> None:
    ladder = Ladder(step=0.05)
    best, _ = climb(Books(ladder).ask, seed)
    assert best - 0.5 <= ladder.bound(SAMPLES, STEPS, error=1e-3)
    # The bound is a worst case; what this optimiser gets is a step or two.
    assert best - 0.5 <= 2 * ladder.step


@pytest.mark.parametrize("seed", range(2))
def test_thresholdout_keeps_inflation_within_its_tolerance(seed: int) -> None:
    """The constants of theorem 25 of Dwork et al., Generalization in adaptive data analysis (NIPS 2015)."""
    tolerance, error = 0.1, 0.05
    noise = tolerance / (96 * math.log(4 * STEPS / error))
    policy = Thresholdout(threshold=0.75 * tolerance, noise=noise, budget=200, seed=seed)
    books = Books(policy)
    # The asker's own data say nothing: one half.
    best, _ = climb(lambda found, own: books.ask(found, 0.5), seed)
    assert abs(best - 0.5) <= tolerance
    assert sum(entry.bits > 1 for entry in books.looks) <= policy.budget


def test_thresholdout_runs_out() -> None:
    policy = Thresholdout(budget=3)
    books = Books(policy)
    answers = [books.ask(0.9, 0.1) for _ in range(6)]
    assert [answer is None for answer in answers] == [False, False, False, True, True, True]
    assert policy.refusal(ask(), []) == "it needs the value that the search measured itself"


def test_the_ladder_says_nothing_of_small_steps() -> None:
    books = Books(Ladder(step=0.1))
    assert [books.ask(found, 0.0) for found in (0.52, 0.55, 0.59, 0.64, 0.2)] == pytest.approx(
        [0.5, 0.5, 0.5, 0.6, 0.6]
    )


@pytest.mark.parametrize("name", ["once", "ladder", "thresholdout", "retro"])
def test_policies_have_names(name: str) -> None:
    assert policy_named(name).name == name


def test_other_policies_are_refused() -> None:
    with pytest.raises(UsageError, match="'ladder'"):
        policy_named("always")
    for wrong in (lambda: Ladder(step=0.0), lambda: Thresholdout(budget=0), lambda: Thresholdout(noise=0.0)):
        with pytest.raises(UsageError):
            wrong()
