"""The documentation does what it says: its commands and programs run, its links lead somewhere, its lists are whole."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from kfp.cli import main
from kfp.tasks import all_tasks

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.glob("*.md"))
FENCE = re.compile(r"^( *)```(.*?)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
# What a block's file ends in, where its first line is a comment that names one.
SUFFIXES = {"python": ".py", "metal": ".metal", "toml": ".toml"}
# A command may say with what it ends, where that is not 0.
EXIT = re.compile(r"  # exit ([\d or]+)$")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language with what follows it, and its lines."""

    info: str
    lines: tuple[str, ...]

    @property
    def full(self) -> bool:
        return self.info.endswith(" full")

    @property
    def elsewhere(self) -> bool:
        """What needs the neighbours' packages is followed by their tests."""
        return self.info.endswith(" neighbours")


def blocks(page: Path) -> Iterator[Block]:
    for indent, info, body in FENCE.findall(page.read_text(encoding="utf-8")):
        yield Block(info, tuple(line.removeprefix(indent) for line in body.splitlines()))


def commands(block: Block) -> Iterator[tuple[str, list[str]]]:
    """Each with the lines that are shown of what it prints."""
    shown: list[tuple[str, list[str]]] = []
    for line in block.lines:
        if line.startswith("$ "):
            shown.append((line[2:], []))
        else:
            shown[-1][1].append(line)
    return iter(shown)


def run(command: str, shown: list[str]) -> None:
    found = EXIT.search(command)
    expected = {int(code) for code in found[1].split(" or ")} if found else {0}
    command = EXIT.sub("", command)
    if not command.startswith("kfp "):
        subprocess.run(["sh", "-c", command], check=True, timeout=60)
        return
    words, _, file = command.partition(" > ")
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said), pytest.raises(SystemExit) as stop:
        main(shlex.split(words)[1:])
    assert stop.value.code in expected, f"{command}\n{printed.getvalue()}{said.getvalue()}"
    if file:
        Path(file).write_text(printed.getvalue())
    for line in shown:
        assert line == "…" or line in printed.getvalue().splitlines(), command


def follow(page: Path, *, full: bool) -> None:
    """Everything on a page in order, as a reader would type it; what is a file is written."""
    for block in blocks(page):
        if block.elsewhere:
            continue
        language = block.info.partition(" ")[0]
        name = block.lines[0].partition(" ")[2] if block.lines else ""
        if language == "console" and (full or not block.full):
            for command, shown in commands(block):
                run(command, shown)
        elif language in SUFFIXES and name == f"{Path(name).stem}{SUFFIXES[language]}":
            Path(name).write_text("\n".join(block.lines) + "\n")
        elif language == "python":
            exec(compile("\n".join(block.lines), str(page), "exec"), {})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_works_as_it_is_written(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))
    follow(page, full=False)


@pytest.mark.full
@pytest.mark.parametrize("page", [p for p in PAGES if any(b.full for b in blocks(p))], ids=lambda page: page.stem)
def test_a_page_works_as_it_is_written_in_full(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KFP_RUNS_DIR", str(tmp_path / "runs"))
    follow(page, full=True)


def test_every_block_says_what_it_is() -> None:
    known = {"console", "console full", "console neighbours", "python", "python neighbours", "metal", "toml"}
    for page in PAGES:
        assert {block.info for block in blocks(page)} <= known, page.name


def anchors(page: Path) -> set[str]:
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "http://")):
            continue
        path, _, anchor = target.partition("#")
        file = page.parent / path if path else page
        assert file.exists(), f"{page.name}: {target}"
        assert not anchor or anchor in anchors(file), f"{page.name}: {target}"


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.stem)
def test_commands_that_are_mentioned_exist(page: Path) -> None:
    """Those within a sentence: the command is one, and has the options."""
    for mention in re.findall(r"`kfp ([a-z][^`]*)`", page.read_text(encoding="utf-8")):
        words = mention.split()
        path = words[:2] if words[0] == "runs" and len(words) > 1 and words[1].islower() else words[:1]
        if words[0] == "COMMAND":
            continue
        help_text = io.StringIO()
        with contextlib.redirect_stdout(help_text), contextlib.redirect_stderr(help_text), pytest.raises(SystemExit):
            main([*path, "--help"])
        assert "Usage: kfp" in help_text.getvalue(), mention
        for option in re.findall(r"(--[a-z-]+)", mention):
            assert option in help_text.getvalue(), mention


def test_every_task_and_every_page_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)` \|", (DOCS / "suites.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(task.name for task in all_tasks())
    index, site = (DOCS / "index.md").read_text(), (ROOT / "mkdocs.yml").read_text()
    for page in PAGES:
        assert page.name in site
        assert page.name == "index.md" or f"({page.name})" in index
