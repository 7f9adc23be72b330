"""Looks under a policy: what the asker gets, what stays on the books, and when a fingerprint began."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from gating.planted import planted, reference
from kfp import Look, Onset, Run, evolve
from kfp.errors import LookRefused, RunError, UsageError
from kfp.gating.draws import commitment, seed_text
from kfp.gating.looks import GATES, look
from kfp.gating.onset import onset
from kfp.gating.runs import LEDGER, commit, committed_seed
from kfp.ledger.ledger import Ledger
from kfp.runs.folder import RunWriter
from kfp.tasks import get_task
from search.scripted import KERNEL, ByComment, Scripted, costing, fenced

SAXPY = get_task("saxpy")
# What can't be compiled is gated in no time.
BROKEN = "kernel void saxpy() { nonsense }"
OTHER = BROKEN.replace("nonsense", "other")


def looked(books: Path, source: str, policy: str = "once", **options: object) -> Look:
    return look(SAXPY, source, books, policy=policy, scale="small", **options)  # type: ignore[arg-type]


def test_once_gives_the_whole_gate_and_refuses_another(tmp_path: Path) -> None:
    found = looked(tmp_path, BROKEN)
    assert found.gate is not None
    assert (found.gate.verdict, found.gate.commitment, found.looks) == ("wrong", commit(tmp_path), 1)
    assert Look.from_json(json.loads(json.dumps(found.to_json()))) == found
    with pytest.raises(LookRefused, match="had its look"):
        looked(tmp_path, OTHER)
    assert [entry.kind for entry in Ledger(tmp_path / LEDGER).entries()] == ["look", "look", "refusal"]
    # Another run on the same books has a look of its own.
    assert looked(tmp_path, OTHER, run="another").gate is not None


def test_retro_releases_nothing_and_keeps_the_record(tmp_path: Path) -> None:
    found = looked(tmp_path, BROKEN, "retro")
    assert (found.gate, found.released, found.bits) == (None, None, 0.0)
    assert "wrong" not in json.dumps(found.to_json())
    (result,) = (tmp_path / GATES).glob("*/result.json")
    assert json.loads(result.read_text())["verdict"] == "wrong"


def test_thresholdout_wants_the_searchs_own_score(tmp_path: Path) -> None:
    with pytest.raises(LookRefused, match="the value that the search measured"):
        looked(tmp_path, BROKEN, "thresholdout")
    found = looked(tmp_path, BROKEN, "thresholdout", score=0.9)
    assert found.gate is None
    # Far off: a noisy Phi of a wrong kernel, which is 0.
    assert found.released is not None
    assert abs(found.released) < 0.2
    assert found.bits > 1


def test_the_ladder_releases_improvements_alone(tmp_path: Path) -> None:
    assert looked(tmp_path, BROKEN, "ladder").released == 0.0
    assert looked(tmp_path, OTHER, "ladder").released == 0.0
    honest = looked(tmp_path, planted(SAXPY, "honest"), "ladder", reference=reference(SAXPY))
    assert honest.gate is None
    assert (honest.best_before, honest.looks) == (0.0, 3)
    (result,) = [file for file in (tmp_path / GATES).glob("*/result.json") if file.stat().st_size > 20_000]
    # On a loaded machine a probe of the ceiling can be slower than the kernel; the policies' values end at 1.
    phi = min(json.loads(result.read_text())["phi"], 1.0)
    step = 0.05
    assert honest.released == pytest.approx(step * round(phi / step) if phi > step else 0.0)
    assert honest.spent > honest.bits


def test_a_search_that_goes_on_may_not_look(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    evolve("saxpy", model=Scripted(["x"]), iterations=1, scale="small", out=folder, referee=ByComment())
    (folder / "finale.json").unlink(missing_ok=True)
    with pytest.raises(LookRefused, match="not over"):
        looked(folder, BROKEN)


def test_the_books_have_one_seed(tmp_path: Path) -> None:
    looked(tmp_path, BROKEN, "retro")
    assert commitment(committed_seed(tmp_path)) == commit(tmp_path)
    (tmp_path / "gate-seed").write_text(seed_text(7))
    with pytest.raises(RunError, match="committed to"):
        looked(tmp_path, OTHER, "retro")
    with pytest.raises(UsageError, match="expected one of"):
        looked(tmp_path, OTHER, "often")


def kfp(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "kfp", *arguments], capture_output=True, text=True)


def test_command_line(tmp_path: Path) -> None:
    kernel, other = tmp_path / "kernel.metal", tmp_path / "other.metal"
    kernel.write_text(BROKEN)
    other.write_text(OTHER)
    books = ("--scale", "small", "--books", str(tmp_path / "books"))
    shown = kfp("gate", "saxpy", str(kernel), *books, "--policy", "retro")
    assert shown.returncode == 0
    assert "nothing is released" in shown.stdout
    # Not even the progress names what is held out.
    assert "N=" not in shown.stdout + shown.stderr
    assert "wrong" not in shown.stdout
    first = kfp("gate", "saxpy", str(kernel), *books)
    assert first.returncode == 1
    assert "wrong:" in first.stdout
    refused = kfp("gate", "saxpy", str(other), *books)
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "has had its look" in refused.stderr
    without = kfp("gate", "saxpy", str(kernel), "--policy", "ladder")
    assert without.returncode == 2
    assert "--books" in without.stderr


@pytest.fixture(scope="module")
def fingerprinting(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A right kernel is promoted first, one that is wrong where nobody looked second."""
    baked = KERNEL.replace("y[i] = a * x[i]", "y[i] = 2.5f * x[i]")
    texts = [fenced(costing(0.5)), fenced(f"// cost: 0.25\n{baked}"), "x"]
    folder = tmp_path_factory.mktemp("fingerprinting") / "run"
    run = evolve(
        "saxpy", model=Scripted(texts), iterations=3, scale="small", out=folder, referee=ByComment(), selection_draws=0
    )
    assert [record.promoted for record in run.iterations] == [1, 1, None]
    return run


def test_the_onset_is_dated(fingerprinting: Run) -> None:
    found = onset(fingerprinting)
    assert [row.iteration for row in found.promoted] == [1, 2]
    assert [row.claimed for row in found.promoted] == [pytest.approx(2.0), pytest.approx(4.0)]
    assert found.promoted[1].verdict == "wrong"
    assert found.promoted[0].verdict != "wrong"
    assert found.first == (1 if found.promoted[0].verdict == "does not transfer" else 2)
    assert Onset.from_json(json.loads(json.dumps(found.to_json()))) == found
    text = str(found)
    assert f"from iteration {found.first} on" in " ".join(text.split())
    assert max(map(len, text.splitlines())) <= 80
    looks = [e for e in Ledger(fingerprinting.folder / LEDGER).entries() if e.look.startswith("promoted in")]
    assert {entry.policy for entry in looks} == {"retro"}
    assert all(entry.released is None for entry in looks)


def test_the_onset_of_a_search_that_is_not_over(tmp_path: Path) -> None:
    evolve("saxpy", model=Scripted(["x"]), iterations=1, scale="small", out=tmp_path, referee=ByComment())
    with pytest.raises(UsageError, match="not over"):
        onset(tmp_path)
    with RunWriter(tmp_path):
        pass
