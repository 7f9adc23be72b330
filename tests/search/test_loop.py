"""The loop: what is promoted and what is not, what the model gets to see, what money can do, and how a run goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from kfp import BudgetError, LeakError, ModelError, Run, RunError, UsageError, evolve
from kfp.runs.folder import RunWriter, iteration_path
from kfp.runs.records import IterationRecord
from kfp.search.models.prices import Price
from kfp.search.trial import halved
from kfp.tasks import get_task
from search.scripted import KERNEL, UNCOMPILED, WRONG, ByComment, Scripted, costing, fenced

PRICE = Price(3.0, 0.3, 3.75, 15.0, "2026-01-01")


def search(model: Scripted, iterations: int, out: Path, referee: ByComment | None = None, **options: Any) -> Run:
    return evolve(
        "saxpy", model=model, iterations=iterations, scale="small", out=out, referee=referee or ByComment(), **options
    )


def decisions(run: Run) -> list[str]:
    return [candidate.decision for record in run.iterations for candidate in record.candidates]


def prompt(run: Run, iteration: int) -> str:
    return run.reader.prompt(iteration)


def test_a_search_from_the_first_answer_to_the_last(tmp_path: Path) -> None:
    answers = [
        "I would rather talk about it.",
        fenced(UNCOMPILED),
        fenced(WRONG),
        fenced(costing(0.5)),
        fenced(costing(0.5)),
        fenced(costing(0.52)),
        fenced(costing(0.25, elsewhere=2.0)),
        "",
        fenced(costing(0.4)),
    ]
    model, referee = Scripted(answers), ByComment(doubt=0.05)
    run = search(model, len(answers), tmp_path, referee)
    assert decisions(run) == [
        "no kernel", "invalid", "wrong", "promoted", "duplicate", "undecided", "vetoed", "no kernel", "promoted"
    ]  # fmt: skip
    assert run.incumbent == costing(0.4)
    assert run.ended == ""
    records = list(run.iterations)
    assert [record.candidates[0].model for record in records] == ["scripted-1"] * len(answers)
    assert records[0].candidates[0].answer == "no code"
    assert records[7].candidates[0].answer == "empty"
    # What is undecided is measured once more, with more samples, and only once.
    assert [judgement.effort for judgement in records[5].candidates[0].judgements[-2:]] == ["search", "more"]
    finale = run.finale
    assert finale is not None
    assert (finale.finalists[0].name, finale.finalists[0].iteration) == ("incumbent", 9)
    assert finale.look == 1
    held_out = get_task("saxpy").published_held_out("small").label
    assert sum(labels == (held_out,) for _, labels in referee.calls) == len(finale.finalists)
    assert (tmp_path / "incumbent.metal").read_text() == costing(0.4)


def test_what_the_model_gets_to_see(tmp_path: Path) -> None:
    texts = [fenced(UNCOMPILED), fenced(WRONG), fenced(costing(0.5))]
    texts += [fenced(costing(cost)) for cost in (0.55, 0.56, 0.57)]
    run = search(Scripted(texts), 7, tmp_path)
    first = prompt(run, 1)
    assert get_task("saxpy").brief.strip() in first
    assert run.reader.start.strip() in first
    assert "previous attempt" not in first
    second = prompt(run, 2)
    assert "use of undeclared identifier 'j'" in second
    assert "program_source:7:9" in second
    assert "INCORRECT" in prompt(run, 3)
    fourth = prompt(run, 4)
    assert "// cost: 0.5" in fourth
    assert "from iteration 3" in fourth
    assert "previous attempt" not in fourth
    assert "- iteration 2: wrong results" in fourth
    assert "different approach" not in prompt(run, 6)
    assert "different approach" in prompt(run, 7)
    assert "0.877 times as fast" in prompt(run, 7)


def test_history_holds_the_last_eight(tmp_path: Path) -> None:
    run = search(Scripted(["nothing"] * 12), 12, tmp_path)
    lines = [line for line in prompt(run, 12).splitlines() if line.startswith("- iteration")]
    assert [line.split(":")[0] for line in lines] == [f"- iteration {n}" for n in range(4, 12)]


def test_hidden_draws_are_in_no_prompt(tmp_path: Path) -> None:
    referee = ByComment()
    texts = [fenced(costing(0.5, elsewhere=9.0)), fenced(costing(0.4, elsewhere=9.0)), "x"]
    run = search(Scripted(texts), 3, tmp_path, referee, selection_draws=2)
    assert decisions(run) == ["vetoed", "vetoed", "no kernel"]
    visible = {point.label for point in get_task("saxpy").configurations("small")}
    hidden = {label for _, labels in referee.calls for label in labels} - visible
    drawn = hidden - {get_task("saxpy").published_held_out("small").label}
    # Two for each winner, and another two for another source.
    assert len(drawn) == 4
    for number in (1, 2, 3):
        shown = prompt(run, number)
        assert "hold in general" in shown or number == 1
        for label in hidden:
            assert label not in shown
            assert label.split(",")[0].removeprefix("N=") not in shown


def test_a_regression_at_the_most_telling_configuration_saves_the_rest(tmp_path: Path) -> None:
    # So slow that the times of the evaluation alone are enough, or one comparison is.
    work = "float z = 0.0f; for (uint k = 0; k < 3000; ++k) z = fma(z, 0.5f, x[(i + k) % N]);"
    slow = KERNEL.replace("if (i >= N)", f"{work}\n    if (i >= N || z >= 1e30f)")
    referee = ByComment()
    run = search(Scripted([fenced(slow)]), 1, tmp_path, referee)
    (record,) = run.iterations
    assert record.candidates[0].decision == "slower"
    assert record.candidates[0].gain is None
    assert record.saved_runs >= 2
    assert record.saved_seconds > 0


def test_a_wrong_kernel_is_dropped_at_the_cheapest_configuration(tmp_path: Path) -> None:
    (record,) = search(Scripted([fenced(WRONG)]), 1, tmp_path).iterations
    evaluation = record.candidates[0].evaluation
    assert evaluation is not None
    assert len(evaluation.configurations) == 1
    assert record.saved_runs == 2


def test_of_several_candidates_the_better_half_is_compared(tmp_path: Path) -> None:
    texts = [
        fenced(costing(0.5)),
        "none",
        fenced(WRONG),
        fenced(costing(0.5)),
        fenced(costing(0.6)),
        fenced(costing(0.7)),
    ]
    model = Scripted(texts, candidates=6)
    run = search(model, 1, tmp_path, candidates=6)
    (record,) = run.iterations
    found = {candidate.number: candidate.decision for candidate in record.candidates}
    assert found[2] == "no kernel"
    assert found[3] == "wrong"
    assert found[4] == "duplicate"
    assert sorted(found[number] for number in (1, 5, 6)) == ["outrun", "outrun", "promoted"]
    assert len({request.prompt for request in model.requests}) == 1


def test_halving() -> None:
    assert halved({1: 0.1, 2: 0.4, 3: 0.2, 4: 0.3, 5: 0.4}) == [[2, 5, 4, 3, 1], [2, 5, 4], [2, 5], [2]]


def test_best_of_n_asks_the_same_question_each_time(tmp_path: Path) -> None:
    model = Scripted([fenced(costing(0.5)), fenced(WRONG), "x"])
    run = search(model, 3, tmp_path, strategy="best-of-n")
    assert len({request.prompt for request in model.requests}) == 1
    assert decisions(run)[0] == "promoted"


def test_tokens_end_a_run_and_more_of_them_go_on(tmp_path: Path) -> None:
    model = Scripted(["x"] * 5)
    run = search(model, 5, tmp_path, budget_tokens=3000)
    assert "3000 tokens are used" in run.ended
    assert run.totals.iterations == 2
    again = search(model, 5, tmp_path, budget_tokens=100_000)
    assert again.ended == ""
    assert len(model.requests) == 5


def test_a_cap_that_cannot_pay_for_one_iteration_is_refused_before_anything(tmp_path: Path) -> None:
    model = Scripted(["x"], price=PRICE)
    with pytest.raises(BudgetError, match=r"can't pay for one iteration, which may cost \$0\.\d\d"):
        search(model, 1, tmp_path / "run", budget_usd=0.05)
    with pytest.raises(BudgetError, match="no price is known"):
        search(Scripted(["x"]), 1, tmp_path / "run", budget_usd=100.0)
    assert not model.requests
    assert not (tmp_path / "run").exists()


def test_a_cap_is_kept(tmp_path: Path) -> None:
    model = Scripted(["x"] * 20, price=PRICE)
    run = search(model, 20, tmp_path, budget_usd=0.6)
    assert "stopped at the cap" in run.ended
    assert 0 < run.totals.cost_usd <= 0.6
    each = (800 * 3.0 + 200 * 0.3 + 500 * 15.0) / 1e6
    assert run.totals.cost_usd == pytest.approx(each * len(model.requests))
    # Spent money is remembered by the next process.
    with_less = len(model.requests)
    search(model, 20, tmp_path, budget_usd=0.6)
    assert len(model.requests) == with_less


def test_a_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    texts = [fenced(costing(0.5)), fenced(WRONG), fenced(costing(0.4)), "x"]
    model = Scripted(texts)
    search(model, 2, tmp_path)
    run = search(model, 4, tmp_path)
    assert [request.iteration for request in model.requests] == [1, 2, 3, 4]
    assert decisions(run) == ["promoted", "wrong", "promoted", "no kernel"]
    finale = run.finale
    assert finale is not None
    assert (finale.iterations, finale.look) == (4, 2)
    search(model, 4, tmp_path)
    assert len(model.requests) == 4
    assert Run(tmp_path).finale == finale


def test_an_answer_on_disk_is_not_asked_for_again(tmp_path: Path) -> None:
    model = Scripted([fenced(costing(0.5)), "x"])
    run = search(model, 2, tmp_path)
    (iteration_path(tmp_path, 2) / "record.json").unlink()
    (tmp_path / "finale.json").unlink()
    search(model, 2, tmp_path)
    assert [request.iteration for request in model.requests] == [1, 2]
    assert run.totals.usage == Run(tmp_path).totals.usage


def test_another_search_does_not_take_over_a_folder(tmp_path: Path) -> None:
    search(Scripted(["x"]), 1, tmp_path)
    with pytest.raises(RunError, match="its seed is 0, not 5"):
        search(Scripted(["x"]), 1, tmp_path, seed=5)


def test_two_processes_do_not_share_a_run(tmp_path: Path) -> None:
    search(Scripted(["x"]), 1, tmp_path)
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    with RunWriter(tmp_path), pytest.raises(RunError, match="in use by process"):
        search(Scripted(["x", "y"]), 2, tmp_path)
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def test_a_model_that_never_answers_ends_the_run_with_a_word(tmp_path: Path) -> None:
    model = Scripted([""] * 9, stop="no answer")
    with pytest.raises(ModelError, match="no answer for 3 iterations"):
        search(model, 9, tmp_path)
    assert decisions(Run(tmp_path)) == ["no kernel"] * 3


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"iterations": 0}, "iterations: expected 1 to 9999, got 0"),
        ({"candidates": 65}, "candidates: expected 1 to 64"),
        ({"scale": "huge"}, "scale: expected one of 'small', 'full'"),
        ({"strategy": "magic"}, "strategy: expected one of"),
        ({"effort": "enormous"}, "effort: expected one of"),
        ({"call_seconds": float("nan")}, "call_seconds"),
        ({"max_tokens": 5}, "max_tokens: expected at least 256"),
    ],
)
def test_wrong_options(options: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=words):
        evolve("saxpy", model=Scripted([]), out=tmp_path, **options)


def test_a_start_that_is_wrong_or_leaks(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="start: expected a kernel that is right, got wrong"):
        search(Scripted([]), 1, tmp_path / "a", start=WRONG)
    with pytest.raises(LeakError, match="starting kernel, line 1"):
        search(Scripted([]), 1, tmp_path / "b", start=f"// tuned for 65536 elements\n{KERNEL}")


def test_disclosure_adds_one_paragraph_and_nothing_else(tmp_path: Path) -> None:
    texts = ["x", "x"]
    redacted = search(Scripted(texts), 1, tmp_path / "redacted")
    disclosed = search(Scripted(texts), 1, tmp_path / "disclosed", disclose=True)
    held_out = get_task("saxpy").published_held_out("small")

    def paragraphs(run: Run) -> list[str]:
        # Times differ from run to run.
        return [part for part in prompt(run, 1).split("\n\n") if not part.startswith("Result:")]

    added = [part for part in paragraphs(disclosed) if part not in paragraphs(redacted)]
    assert [part for part in paragraphs(redacted) if part not in paragraphs(disclosed)] == []
    assert len(added) <= 3
    assert held_out.label in "".join(added)
    assert held_out.label not in prompt(redacted, 1)


def test_records_round_trip(tmp_path: Path) -> None:
    run = search(Scripted([fenced(costing(0.5)), fenced(UNCOMPILED)]), 2, tmp_path)
    for record in run.iterations:
        assert IterationRecord.from_json(record.to_json()) == record


def test_draws_are_those_of_the_source(tmp_path: Path) -> None:
    """The same seed and source give the same hidden draws, so that a resumed run decides the same."""
    one, two = ByComment(), ByComment()
    search(Scripted([fenced(costing(0.5))]), 1, tmp_path / "1", one)
    search(Scripted([fenced(costing(0.5))]), 1, tmp_path / "2", two)
    visible = {point.label for point in get_task("saxpy").configurations("small")}
    drawn = [[labels for _, labels in referee.calls if not visible & set(labels)] for referee in (one, two)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn[0])) == 2
