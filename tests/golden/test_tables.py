"""What a reader sees of results, to the letter."""

from __future__ import annotations

from dataclasses import replace

import constructed
import pytest
from golden_files import assert_golden
from kfp.results import CheckReport, Evaluation, KernelSignature, ParameterSignature
from kfp.tables import WIDTH, check_lines, device_lines, diagnostic_lines, evaluation_lines, plain, sparkline
from report import recorded

EVALUATIONS = {
    "right": constructed.RIGHT,
    "wrong": constructed.WRONG,
    "uncompiled": constructed.UNCOMPILED,
    "hung": constructed.HUNG,
    "checked": constructed.CHECKED,
}


@pytest.mark.parametrize("name", EVALUATIONS)
def test_evaluation(name: str) -> None:
    assert_golden(f"evaluation-{name}.txt", str(EVALUATIONS[name]) + "\n")


@pytest.mark.parametrize("name", EVALUATIONS)
def test_feedback(name: str) -> None:
    assert_golden(f"feedback-{name}.txt", EVALUATIONS[name].feedback() + "\n")


def test_html() -> None:
    assert_golden("evaluation-wrong.html", constructed.WRONG._repr_html_() + "\n")


def test_compile_errors_show_the_line_and_a_caret() -> None:
    text = plain(evaluation_lines(constructed.UNCOMPILED, constructed.SOURCE))
    assert_golden("evaluation-uncompiled-source.txt", text + "\n")


def test_check() -> None:
    kernel = KernelSignature(
        "saxpy",
        (
            ParameterSignature("x", "device const float*", "buffer", 0, ""),
            ParameterSignature("y", "device float*", "buffer", 5, ""),
            ParameterSignature("i", "uint", "input", 0, "thread_position_in_grid"),
        ),
        256,
        32,
        1024,
        "",
    )
    report = CheckReport(
        device=constructed.DEVICE,
        task="saxpy",
        math="fast",
        compile_ok=True,
        pipeline_ok=False,
        reason="saxpy: parameter 'y' (device float*) is at buffer(5), where the task binds nothing",
        diagnostics=constructed.DIAGNOSTICS[1:2],
        kernels=(kernel, replace(kernel, name="big", pipeline_error="33792 bytes of threadgroup memory, 32768 exist")),
        problems=("saxpy: parameter 'y' (device float*) is at buffer(5), where the task binds nothing",),
        seconds=0.04,
        source_sha256="0" * 64,
        kfp_version="0.1.0",
    )
    assert_golden("check.txt", plain(check_lines(report, constructed.SOURCE)) + "\n")


def test_gate() -> None:
    text = str(recorded.gate())
    assert_golden("gate.txt", text + "\n")
    assert max(map(len, text.splitlines())) <= WIDTH


def test_devices() -> None:
    missing = replace(
        constructed.DEVICE, name="metal", description="", available=False, reason="Metal needs macOS; this is Linux"
    )
    virtual = replace(constructed.DEVICE, name="metal", description="Apple Paravirtual device", is_virtual=True)
    assert_golden("devices.txt", plain(device_lines((constructed.DEVICE, missing, virtual))) + "\n")


def _stretched(evaluation: Evaluation) -> Evaluation:
    """Labels, details and numbers as long as they get."""
    rows = tuple(
        replace(row, label="a configuration with an endless label " * 3, detail="word " * 60 + "x" * 200)
        for row in evaluation.configurations
    )
    device = replace(evaluation.device, description="A processor with a name of its own " * 4)
    return replace(evaluation, configurations=rows, device=device, reason="y" * 300)


@pytest.mark.parametrize("name", EVALUATIONS)
@pytest.mark.parametrize("stretch", [False, True], ids=["plain", "stretched"])
def test_nothing_is_wider_than_a_terminal(name: str, stretch: bool) -> None:
    evaluation = _stretched(EVALUATIONS[name]) if stretch else EVALUATIONS[name]
    lines = evaluation_lines(evaluation, constructed.SOURCE)
    assert max(len(line.text) for line in lines) <= WIDTH


@pytest.mark.parametrize(
    ("values", "width", "bars"),
    [
        ([], 5, ""),
        ([2.0, 2.0], 5, "▁▁"),
        ([1.0, 2.0, 4.0], 5, "▁▅█"),
        ([4.0, 1.0], 5, "█▁"),
        # The last one of each stretch, so that the end is the end.
        ([1.0, 1.0, 2.0, 2.0, 1.0, 4.0], 3, "▁▅█"),
        ([1.0] * 999 + [8.0], 2, "▁█"),
    ],
)
def test_a_sparkline_goes_by_factors(values: list[float], width: int, bars: str) -> None:
    assert sparkline(values, width) == bars


def test_a_caret_stays_below_its_column_in_a_long_line() -> None:
    source = "\t" + "a + " * 60 + "culprit;"
    column = source.index("culprit") + 1
    diagnostic = replace(constructed.DIAGNOSTICS[0], line=1, column=column)
    _, text, caret = (line.text for line in diagnostic_lines((diagnostic,), source))
    assert text[caret.index("^") :].startswith("culprit")
    assert len(text) <= WIDTH
    assert len(caret) <= WIDTH
