"""OpenEvolve itself, from start to end, in its pool of processes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
from adapters.following import Reader, require_no_leak, require_same_verdicts
from adapters.hostile_programs import HANGS
from adapters.planted_task import NAME, SEED
from kfp.sweeping.turns import read_log, turns_folder

pytestmark = pytest.mark.neighbours


def test_a_search(reader: Reader) -> None:
    page = reader.follow("OpenEvolve")
    started = next(page)
    configuration = reader.folder / "search" / "config.yaml"
    text = configuration.read_text()
    assert "parallel_evaluations: 1\n" in text
    text = text.replace("parallel_evaluations: 1\n", "parallel_evaluations: 2\n")
    configuration.write_text(f"{text}full_rewrite_probability: 0.5\n")
    searched, evaluated, written, looked = page
    output = reader.folder / "search" / "output"
    best = json.loads((output / "best" / "best_program_info.json").read_text())
    assert best["metrics"]["correct"] == best["metrics"]["compiled"] == 1.0
    assert "\nright, score " in evaluated[1]
    (checkpoint,) = (output / "checkpoints").iterdir()
    programs = [json.loads(path.read_text()) for path in (checkpoint / "programs").glob("*.json")]
    metrics = [program["metrics"] for program in programs]
    require_same_verdicts((program["code"], program["metrics"]["correct"] == 1.0) for program in programs)
    assert all((values["combined_score"] > 0) == (values["correct"] == 1.0) for values in metrics)
    assert max(values["combined_score"] for values in metrics) == best["metrics"]["combined_score"]
    assert b"Score on planted" in reader.server.prompts
    assert written[1].endswith("search/evaluation.py")
    assert "planted" in looked[1]
    require_no_leak(reader, [text for _, text in (started, searched, evaluated)], reader.folder / "books-of-openevolve")
    marks = [mark.event for log in turns_folder().glob("*.log") for mark in read_log(log)]
    assert marks == ["begin", "end"] * max(len(programs), len(marks) // 2)


@pytest.mark.filterwarnings("ignore")
def test_a_search_that_waits_for_less_than_an_evaluation_may_take(tmp_path: Path) -> None:
    """It goes on at once, and what it left behind ends by itself and does not disturb the next."""
    from openevolve.config import EvaluatorConfig
    from openevolve.evaluator import Evaluator

    file = tmp_path / "evaluation.py"
    call = f"evaluator({NAME!r}, scale='small', timeout=24)"
    file.write_text(f"from kfp.adapters.openevolve import evaluator\n\nevaluate = {call}\n")
    patience = EvaluatorConfig(timeout=1, cascade_evaluation=False, max_retries=0)
    theirs = Evaluator(patience, str(file), suffix=".metal")
    assert asyncio.run(theirs.evaluate_program(HANGS.decode(), "hangs")) == {"error": 0.0, "timeout": True}
    patience.timeout = 60
    metrics = asyncio.run(theirs.evaluate_program(SEED.read_text(), "right"))
    assert metrics["correct"] == 1.0
    assert theirs.get_pending_artifacts("right")["verdict"].startswith("right, score ")
    assert [mark.event for log in turns_folder().glob("*.log") for mark in read_log(log)][-4:] == ["begin", "end"] * 2
