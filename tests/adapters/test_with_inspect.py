"""Inspect itself: its command line with a model on loopback, its scorers and logs with its own scripted model."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import kfp
import pytest
from adapters.following import LINE, Reader, require_no_leak, require_same_verdicts
from adapters.hostile_programs import BAD, GUESS
from adapters.planted_task import FILE, NAME, SEED, Planted, leaks, needles
from kfp.errors import TaskError, UsageError

pytestmark = [pytest.mark.neighbours, pytest.mark.filterwarnings("ignore")]

RIGHT = SEED.read_text()
ANSWERS = {
    "right": f"```metal\n{RIGHT}```",
    "wrong": f"```metal\n{RIGHT.replace('+ y[i]', '- y[i]')}```",
    "guess": f"```\n{RIGHT.replace(LINE, GUESS)}```",
    "out of bounds": f"~~~metal\n{BAD['out of bounds'].decode()}~~~",
    "prose": "I would unroll the loop.",
    "nothing": "",
}


def test_the_command(reader: Reader) -> None:
    if sys.version_info < (3, 14):
        # Their logs are archives of a kind that Python can't read before; Inspect brings what teaches it.
        importlib.import_module("zipfile_zstd")
    evaluated, _ = reader.follow("Inspect")
    assert len(reader.server.requests) == 1
    assert "Score on planted" not in evaluated[1]
    assert kfp.evaluate(NAME, reader.folder / "0-right.metal", scale="small").correct
    require_no_leak(reader, [evaluated[1]])


def evaluated(folder: Path, answers: list[str], task: str = NAME) -> Any:
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from kfp.adapters.inspect import kernels

    outputs = [ModelOutput.from_content("scripted", answer) for answer in answers]
    for output in outputs:
        # Else they are counted with an encoding from the network.
        output.usage = ModelUsage(input_tokens=100, output_tokens=40, total_tokens=140)
    tasks = kernels(tasks=[task], scale="small")
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = evaluate(tasks, model=model, epochs=len(answers), log_dir=str(folder), display="none", max_samples=1)
    return log


def test_whatever_is_answered_is_scored(tmp_path: Path) -> None:
    from kfp.adapters.inspect import answers

    log = evaluated(tmp_path, list(ANSWERS.values()))
    assert log.status == "success"
    scores = {name: sample.scores["verdict"] for name, sample in zip(ANSWERS, log.samples, strict=True)}
    assert {name: score.value["right"] for name, score in scores.items()} == {
        **dict.fromkeys(ANSWERS, 0.0),
        "right": 1.0,
    }
    assert all((score.value["score"] > 0) == (name == "right") for name, score in scores.items())
    assert {name: score.metadata["verdict"] for name, score in scores.items()} == {
        "right": "right", "wrong": "wrong", "guess": "compile error", "out of bounds": "fault",
        "prose": "no kernel", "nothing": "no kernel",
    }  # fmt: skip
    assert all(score.explanation for score in scores.values())
    _, right = log.results.scores
    means = {metric.name: metric.value for metric in right.metrics.values()}
    assert means["mine"] == means["all"] == pytest.approx(1 / len(ANSWERS))
    assert not leaks(needles([Planted().published_held_out("small")]), tmp_path, ignoring=GUESS.encode())
    found = list(answers(log.location))
    assert [answer.verdict for answer in found] == ["right", "wrong", "compile error", "fault"]
    assert found[0].source == RIGHT
    require_same_verdicts((answer.source, answer.verdict == "right") for answer in found)


def test_a_fault_of_the_machine_leaves_the_answer_to_be_scored_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from inspect_ai import score as score_again
    from kfp.adapters.inspect import verdict

    monkeypatch.setenv("PLANTED_FAULT", "no reference today")
    log = evaluated(tmp_path, [ANSWERS["right"]], task=f"{FILE}:Faulty")
    assert log.status == "success"
    (scored,) = log.samples[0].scores.values()
    assert scored.reason == "scoring_failed"
    assert scored.answer == RIGHT
    assert "no reference today" in scored.explanation
    monkeypatch.delenv("PLANTED_FAULT")
    again = score_again(log, verdict(scale="small"), action="overwrite")
    assert again.samples[0].scores["verdict"].value["right"] == 1.0


def test_what_cannot_work_is_said_before_a_model_is_asked() -> None:
    from kfp.adapters.inspect import kernels

    for options, error in (
        ({"suite": "none"}, UsageError),
        ({"tasks": "none"}, TaskError),
        ({"tasks": NAME, "scale": "tiny"}, UsageError),
    ):
        with pytest.raises(error):
            kernels(**options)


def test_a_sample_per_task_with_its_brief_and_its_seed() -> None:
    from kfp.adapters.inspect import kernels

    for suite in ("sci", "zk"):
        samples = list(kernels(suite=suite, scale="small").dataset)
        assert [sample.id for sample in samples] == [task.name for task in kfp.tasks() if task.suite == suite]
        for sample in samples:
            said = "\n".join(message.text for message in sample.input)
            task = kfp.tasks.get_task(str(sample.id))
            assert task.brief.strip() in said
            assert kfp.seed_source(task).strip() in said
            assert sample.metadata["suite"] == suite
