from __future__ import annotations

import json
from dataclasses import FrozenInstanceError, fields, is_dataclass
from typing import Any

import constructed
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kfp.errors import ResultFormatError
from kfp.results import (
    Ceiling,
    Ceilings,
    CheckReport,
    ConfigurationResult,
    Device,
    Diagnostic,
    Evaluation,
    KernelSignature,
    ParameterSignature,
    Timing,
)

RECORDS = (
    Ceiling,
    Ceilings,
    CheckReport,
    ConfigurationResult,
    Device,
    Diagnostic,
    Evaluation,
    KernelSignature,
    ParameterSignature,
    Timing,
)

any_text = st.text(st.characters(codec="utf-8"), max_size=20)
st.register_type_strategy(str, any_text)
# Lists of unlimited length would make examples slow, not better.
st.register_type_strategy(tuple, lambda kind: st.lists(st.from_type(kind.__args__[0]), max_size=3).map(tuple))


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_json_round_trip_is_exact(record: type[Any], data: st.DataObject) -> None:
    value = data.draw(st.from_type(record))
    document = json.dumps(value.to_json(), allow_nan=False)
    again = record.from_json(json.loads(document))
    assert again == value
    assert hash(again) == hash(value)
    assert json.dumps(again.to_json(), allow_nan=False) == document
    for field in fields(record):
        assert type(getattr(again, field.name)) is type(getattr(value, field.name)) or field.name == "parameters"


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_results_are_frozen(record: type[Any]) -> None:
    assert is_dataclass(record)
    with pytest.raises(FrozenInstanceError):
        constructed.RIGHT.task = "other"  # type: ignore[misc]


def test_the_json_of_an_evaluation_has_the_names_that_are_promised() -> None:
    document = constructed.RIGHT.to_json()
    for name in ("compile_ok", "pipeline_ok", "diagnostics", "correct", "score", "reason", "configurations"):
        assert name in document
    assert document["configurations"][0]["timing"]["cache"] == "warm"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("score"), r"Evaluation: expected a field 'score', it is missing"),
        (lambda d: d.update(extra=1), r"Evaluation: unknown field 'extra'"),
        (lambda d: d.update(seed="0"), r"Evaluation\.seed: expected a whole number, got '0'"),
        (lambda d: d.update(seed=True), r"Evaluation\.seed: expected a whole number, got True"),
        (lambda d: d.update(correct=1), r"Evaluation\.correct: expected true or false, got 1"),
        (lambda d: d.update(scale="huge"), r"Evaluation\.scale: expected one of 'small', 'full', got 'huge'"),
        (lambda d: d.update(configurations={}), r"Evaluation\.configurations: expected a list, got \{\}"),
        (
            lambda d: d["configurations"][1]["timing"].update(seconds=None),
            r"Evaluation\.configurations\[1\]\.timing\.seconds: expected a number, got None",
        ),
        (
            lambda d: d["configurations"][0]["parameters"].update(n="many"),
            r"Evaluation\.configurations\[0\]\.parameters\.n: expected a number, got 'many'",
        ),
        (lambda d: d.update(device=3), r"Evaluation\.device: expected an object, got 3"),
    ],
)
def test_a_faulty_document_names_the_path(change: Any, message: str) -> None:
    document = json.loads(json.dumps(constructed.RIGHT.to_json()))
    change(document)
    with pytest.raises(ResultFormatError, match=message):
        Evaluation.from_json(document)


def test_different_results_differ() -> None:
    assert constructed.RIGHT != constructed.WRONG
    assert constructed.RIGHT != "text"


def test_summary_is_one_line() -> None:
    for evaluation in (constructed.RIGHT, constructed.WRONG, constructed.UNCOMPILED, constructed.CHECKED):
        assert "\n" not in evaluation.summary()
    assert constructed.RIGHT.summary() == "saxpy on cpu: right, score 0.5000"


def test_feedback_holds_nothing_that_is_held_out() -> None:
    text = constructed.HELD_OUT.feedback()
    assert constructed.HELD_OUT_LABEL not in text
    assert "4194304" not in text
    # Nor can it be inferred: one configuration is shown, and that one is right.
    assert "INCORRECT" not in text
    assert "All 1 configurations right" in text
