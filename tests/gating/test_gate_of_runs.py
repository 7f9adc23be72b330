"""The gate of a run: committed to before the search, looked at once after it, and never seen by the model."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from kfp import Gate, Run, evolve
from kfp.errors import LedgerError, LookRefused, RunError, UsageError
from kfp.gating.draws import commitment, draw_all, seed_text
from kfp.gating.runs import LEDGER, commit, committed_seed, gate_of, gate_run
from kfp.ledger.ledger import Ledger
from kfp.ledger.policies import Ask, Once
from kfp.progress import silent
from kfp.search.models.base import Reply, Request
from kfp.sources import source_hash
from kfp.tasks import get_task
from kfp.transfer import cases_of, transfer_report
from search.scripted import ByComment, Scripted, costing, fenced

TASK = get_task("saxpy")
BROKEN = "kernel void saxpy() { nonsense }"


class Watching(Scripted):
    """Looks at the run's folder when it is asked for the first time."""

    seen: str = ""
    folder: Path

    def ask(self, request: Request) -> Reply:
        if not self.seen:
            self.seen = (self.folder / "gate-commitment.json").read_text()
        return super().ask(request)


def searched(folder: Path, model: Scripted, iterations: int) -> Run:
    return evolve("saxpy", model=model, iterations=iterations, scale="small", out=folder, referee=ByComment())


def gated(run: Run, source: str, told: list[str] | None = None) -> Gate | None:
    tell = (told if told is not None else []).append
    return gate_run(
        run.folder, run.spec, TASK, source, source_hash(source), run.reader.start, 2.0, tell, silent
    )  # fmt: skip


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return searched(tmp_path / "run", Scripted([fenced(costing(0.5))]), 1)


def test_the_seed_is_committed_to_before_the_model_is_asked(tmp_path: Path) -> None:
    model = Watching([fenced(costing(0.5))])
    model.folder = tmp_path / "run"
    run = searched(tmp_path / "run", model, 1)
    committed = json.loads(model.seen)["commitment"]
    assert commit(run.folder) == committed
    assert commitment(committed_seed(run.folder)) == committed
    assert seed_text(committed_seed(run.folder)) not in model.seen
    assert stat.S_IMODE((run.folder / "gate-seed").stat().st_mode) == 0o600


def test_the_record_reveals_what_was_committed_to(run: Run) -> None:
    before = commit(run.folder)
    gate = gated(run, BROKEN)
    assert gate is not None
    assert (gate.commitment, commitment(int(gate.gate_seed, 0))) == (before, before)
    assert gate_of(run.folder) == gate == run.gate
    assert gate.claimed == 2.0


def test_another_seed_than_the_committed_one_is_noticed(run: Run) -> None:
    (run.folder / "gate-seed").write_text(seed_text(1))
    with pytest.raises(RunError, match="committed to"):
        gated(run, BROKEN)
    (run.folder / "gate-seed").write_text("a secret")
    with pytest.raises(RunError, match="expected the seed"):
        gated(run, BROKEN)


def test_a_run_has_one_look(run: Run) -> None:
    first = gated(run, BROKEN)
    assert gated(run, BROKEN) == first
    told: list[str] = []
    assert gated(run, BROKEN.replace("nonsense", "other"), told) is None
    assert any("had its look" in line for line in told)
    entries = [entry for entry in Ledger(run.folder / LEDGER).entries() if entry.policy == "once"]
    assert [(entry.kind, entry.reason) for entry in entries[:2]] == [("look", "begun"), ("look", "finished")]
    assert entries[2].kind == "refusal"
    assert len(entries) == 3
    assert TASK.published_held_out("small").label in entries[0].configurations
    with pytest.raises(LookRefused, match="not over"):
        Ledger(run.folder / LEDGER).look(Once(), Ask("run", "c", "early", after_search=False), (), "peek", lambda: 1.0)


def test_what_the_search_learns_from_hidden_draws_is_on_the_books(tmp_path: Path) -> None:
    answers = [fenced(costing(0.5)), fenced(costing(0.25, elsewhere=2.0)), fenced(costing(0.4))]
    run = searched(tmp_path / "run", Scripted(answers), 3)
    entries = Ledger(run.folder / LEDGER).entries()
    vetoes = [entry for entry in entries if entry.policy == "veto"]
    judged = [candidate for record in run.iterations for candidate in record.candidates if candidate.selection]
    assert [entry.candidate for entry in vetoes] == [candidate.source_sha256 for candidate in judged]
    assert len(judged) == 3
    assert {entry.bits for entry in vetoes} == {1.0}
    finale = run.finale
    assert finale is not None
    looked = [entry.candidate for entry in entries if entry.policy == "retro"]
    assert looked == [finalist.source_sha256 for finalist in finale.finalists]
    # The same command again adds nothing.
    searched(run.folder, Scripted(answers), 3)
    assert Ledger(run.folder / LEDGER).entries() == entries


def test_a_changed_ledger_stops_the_gate(run: Run) -> None:
    gated(run, BROKEN)
    ledger = run.folder / LEDGER
    ledger.write_text(ledger.read_text().replace("saxpy", "heat2d").replace('"bits": 2.0', '"bits": 0.0'))
    with pytest.raises(LedgerError):
        gated(run, BROKEN.replace("nonsense", "other"))


def test_nothing_of_the_gate_reaches_the_model(run: Run) -> None:
    """Neither before the gate nor after it, in a run that is extended: prompts, system text, results, records."""
    gate = gated(run, BROKEN)
    assert gate is not None
    seed = committed_seed(run.folder)
    draws = draw_all(TASK, "small", seed, BROKEN, 3, 32)
    canaries = [seed_text(seed)[2:], str(seed), gate.reason, gate.verdict + ":", gate.commitment]
    for drawn in (*draws.timed, *draws.untimed):
        canaries += [drawn.configuration.label, f"N={drawn.configuration.integer('N')},", str(drawn.configuration.seed)]
    model = Scripted([fenced(costing(0.5)), fenced(costing(0.4)), fenced(costing(0.3, elsewhere=9.0)), "none"])
    extended = searched(run.folder, model, 4)
    assert len(list(extended.iterations)) == 4
    shown = [text for request in model.requests for text in (request.system, request.prompt)]
    shown += [file.read_text() for file in (run.folder / "iterations").rglob("*") if file.is_file()]
    shown += [(run.folder / name).read_text() for name in ("run.json", "system.md", "start.metal", "start.json")]
    assert len(model.requests) == 3
    for canary in canaries:
        assert not any(canary in text for text in shown), canary


def test_a_run_tells_its_transfer_once_it_is_gated(run: Run) -> None:
    with pytest.raises(UsageError, match="no gate"):
        cases_of(run.folder)
    gate = gated(run, BROKEN)
    assert gate is not None
    (case,) = cases_of(run.folder)
    assert (case.task, case.suite, case.model, case.outcome) == ("saxpy", "sci", "scripted", "wrong")
    # It was no win to begin with.
    assert transfer_report([case]).overall.wins == 0
    assert cases_of(run.folder / "gate" / "result.json")[0].outcome == "wrong"
