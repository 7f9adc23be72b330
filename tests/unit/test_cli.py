"""The command line as a user meets it: exit codes, one line for what is wrong, never a traceback."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from golden_files import assert_golden
from kfp.cli import main
from kfp.sources import seed_source
from kfp.tables import WIDTH
from kfp.tasks import all_tasks
from kfp.tasks.base import Task

USAGE = 2


class Kfp:
    """Runs command lines through the script's own entry point."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        captured = self._capsys.readouterr()
        assert isinstance(stop.value.code, int)
        return stop.value.code, captured.out, captured.err

    def refuses(self, *arguments: str) -> str:
        """What a command that is wrong usage says on stderr."""
        code, out, error = self(*arguments)
        assert (code, out) == (USAGE, "")
        return error


@pytest.fixture
def kfp(capsys: pytest.CaptureFixture[str]) -> Kfp:
    return Kfp(capsys)


def test_bare_kfp_says_what_can_be_done_next(kfp: Kfp) -> None:
    code, out, error = kfp()
    assert (code, error) == (0, "")
    for command in ("tasks", "show", "check", "evaluate", "devices"):
        assert f"kfp {command}" in out


def test_version(kfp: Kfp) -> None:
    code, out, _ = kfp("--version")
    assert code == 0
    assert out == f"kfp {version('kfp')}\n"


@pytest.mark.parametrize("command", [(), ("evaluate",), ("check",)])
def test_help_names_the_exit_codes(kfp: Kfp, command: tuple[str, ...]) -> None:
    code, out, _ = kfp(*command, "--help")
    assert code == 0
    assert "0 right, 1 a negative verdict, 2 wrong usage, 3" in " ".join(out.split())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("bogus",), "No such command 'bogus'"),
        (("evaluate",), "Missing argument"),
        (("evaluate", "heat2"), "unknown task 'heat2'; did you mean 'heat2d'?"),
        (("evaluate", "saxpy", "/no/such.metal"), "/no/such.metal: cannot be read: No such file or directory"),
        (("evaluate", "saxpy", "."), "Is a directory"),
        (("evaluate", "saxpy", "--scale", "huge"), "huge"),
        (("evaluate", "saxpy", "--seed", "-1"), "--seed"),
        (("evaluate", "saxpy", "--frobnicate"), "No such option"),
        (("evaluate", "no_such.py:Task"), "no_such.py: no such file"),
        (("check", "/no/such.metal"), "No such file"),
        (("show", "saxpy", "--seed", "--json"), "leave out --json"),
        (("show",), "Missing argument"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_is_a_line_and_exit_code_2(kfp: Kfp, arguments: tuple[str, ...], message: str) -> None:
    assert message in kfp.refuses(*arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"\xff\xfe\x00", "expected UTF-8 text, byte 0 is 0xff"), (b"kernel\0", "expected text, byte 6 is 0")],
    ids=["binary", "nul"],
)
def test_files_and_stdin_that_are_no_text(
    kfp: Kfp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str
) -> None:
    file = tmp_path / "kernel.metal"
    file.write_bytes(content)
    assert message in kfp.refuses("check", str(file))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    assert f"stdin: {message}" in kfp.refuses("check", "-")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        ("def broken(:\n", ":Mine", "SyntaxError"),
        ("raise RuntimeError('no luck')\n", ":Mine", "RuntimeError: no luck"),
        ("x = 1\n", ":Mine", "expected a class 'Mine'"),
        ("Mine = 3\n", ":Mine", "expected a subclass of"),
        ("from kfp.tasks.base import Task\nclass Mine(Task):\n    name = 'mine'\n", ":Mine", "does not define"),
        ("x = 1\n", "", "expected one task class, found none"),
    ],
)
def test_a_broken_task_file_is_named(kfp: Kfp, tmp_path: Path, text: str, name: str, message: str) -> None:
    file = tmp_path / "my_task.py"
    file.write_text(text)
    error = kfp.refuses("evaluate", f"{file}{name}")
    assert str(file) in error
    assert message in error


@pytest.mark.parametrize("arguments", ["show heat2d", "--help"])
def test_a_reader_that_leaves_early_is_no_error(arguments: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    try:
        command = [sys.executable, "-m", "kfp", *arguments.split()]
        process = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, timeout=60, check=False)
    finally:
        os.close(writer)
    assert process.stderr == b""
    assert process.returncode == 128 + 13


def test_without_any_stdout() -> None:
    command = f"'{sys.executable}' -m kfp tasks >&-"
    process = subprocess.run(command, shell=True, capture_output=True, timeout=60, check=False)
    assert process.returncode == 0
    assert process.stderr == b""


def test_tasks(kfp: Kfp) -> None:
    code, out, _ = kfp("tasks")
    assert code == 0
    assert_golden("tasks.txt", out)


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_show(kfp: Kfp, task: Task) -> None:
    code, out, _ = kfp("show", task.name)
    assert code == 0
    assert_golden(f"show-{task.name}.txt", out)
    assert max(map(len, out.splitlines())) <= WIDTH


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_the_seed_is_printed_as_it_is(kfp: Kfp, task: Task) -> None:
    code, out, _ = kfp("show", task.name, "--seed")
    assert code == 0
    assert out == seed_source(task)
    assert all(f"kernel void {kernel.name}(" in out for kernel in task.kernels)


@pytest.mark.parametrize("task", all_tasks(), ids=lambda task: task.name)
def test_what_is_shown_of_a_task_holds_nothing_that_is_held_out(kfp: Kfp, task: Task) -> None:
    _, out, _ = kfp("show", task.name)
    _, document, _ = kfp("show", task.name, "--json")
    held_out = task.published_held_out("full")
    for text in (out, document):
        assert held_out.label not in text
        assert "held" not in text
    assert held_out.parameters not in [c["parameters"] for c in json.loads(document)["configurations"]]


def test_json_of_tasks_and_show(kfp: Kfp) -> None:
    _, out, _ = kfp("tasks", "--json")
    listed = json.loads(out)
    assert [task["name"] for task in listed] == [task.name for task in all_tasks()]
    _, out, _ = kfp("show", "lj", "--json")
    shown = json.loads(out)
    assert [kernel["name"] for kernel in shown["kernels"]] == ["lj_clear_cells", "lj_build_cells", "lj_step"]
    assert shown in listed
