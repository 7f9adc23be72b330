"""The parts that pages are made of: markup, sources, plots, figures, subjects."""

from __future__ import annotations

import json
import math
import struct
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import constructed
import kfp
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kfp import UsageError
from kfp.cli import main
from kfp.reporting.drawing import Band, Drawing, Mark, Stroke, Text
from kfp.reporting.kernels import MOST_COLUMNS, MOST_LINES, Sources, counts
from kfp.reporting.markup import element, visible
from kfp.reporting.page import page
from kfp.reporting.plots.axes import log_axis, plain_log_axis
from kfp.reporting.plots.curves import Measured, Try, best_so_far, divergence
from kfp.reporting.plots.forest import Row, forest
from kfp.reporting.plots.scatter import LOOKS, Point, scatter
from kfp.reporting.plots.strips import Strip, strips
from kfp.reporting.subjects import study_noise
from report import recorded

TEXTS = st.text(st.characters() | st.sampled_from("<>&\"'\u202e\x00\ud800{}/"), max_size=60)


class Reader(HTMLParser):
    """What a reader of HTML that is not ours finds: text, tags, attributes."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.values: list[str | None] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.values += [value for _, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data


@given(TEXTS, TEXTS)
def test_text_stays_text(text: str, value: str) -> None:
    read = Reader(element("p", text, element("b", [text, None]), title=value))
    assert read.tags == ["p", "b"]
    assert read.values == [visible(value)]
    assert read.text == 2 * visible(text)


@given(TEXTS)
def test_what_is_shown_can_be_seen_and_encoded(text: str) -> None:
    shown = visible(text)
    assert all(character.isprintable() or character in "\n\t" or character.isspace() for character in shown)
    shown.encode("utf-8")
    assert visible(shown) == shown


LINES = st.lists(st.sampled_from(["a", "b;", "  c", "", "}", "d = e;"]), max_size=25)


@given(LINES, LINES)
def test_changes_lead_from_one_source_to_the_other(before: list[str], after: list[str]) -> None:
    sources = Sources()
    sources.add("old", "\n".join(before))
    sources.add("new", "\n".join(after))
    data = json.loads(json.dumps(sources.to_json()))
    old, new = ([data["lines"][i] for i in data["kernels"][key]] for key in ("old", "new"))
    # A newline at the end begins no line.
    assert new == (after[:-1] if after[-1:] == [""] else after)
    assert len(set(data["lines"])) == len(data["lines"])
    changes = sources.changes("new", "old")
    assert changes is not None
    built, at = [], 0
    for i1, i2, j1, j2 in changes:
        built += old[at:i1] + new[j1:j2]
        at = i2
    assert built + old[at:] == new
    added, removed = (int(word[1:]) for word in counts(changes).split())
    assert len(new) - len(old) == added - removed


def test_lines_are_counted_as_a_compiler_counts_them() -> None:
    """Else a message would stand beside another line than its own."""
    sources = Sources()
    sources.add("k", "a\x0cb\x85c\u2028d\re\r\nf\n\ng")
    data = sources.to_json()
    assert [data["lines"][i] for i in data["kernels"]["k"]] == [visible("a\x0cb\x85c\u2028d"), "e", "f", "", "g"]


def test_a_source_without_end_is_cut_and_said_to_be() -> None:
    sources = Sources()
    sources.add("long", "x\n" * (MOST_LINES + 7))
    sources.add("wide", "y" * (MOST_COLUMNS + 5))
    data = sources.to_json()
    assert data["cut"]["long"].startswith("7 more lines")
    assert data["lines"][-1].endswith("(5 more characters)")
    for number in range(40):
        sources.add(f"big {number}", "\n".join(f"{number} {line} {'z' * 300}" for line in range(1000)))
    assert sources.left_out > 0
    assert len(json.dumps(sources.to_json())) < 5_000_000


VALUES = st.floats(allow_nan=False, min_value=0.0) | st.sampled_from([0.0, math.inf, 1e-300, 1e300])


@given(st.lists(VALUES, max_size=8))
def test_axes_hold_what_they_show(values: list[float]) -> None:
    for axis in (log_axis(values, 100.0, 500.0), plain_log_axis(values, 100.0, 500.0)):
        places = [axis(value) for value in sorted(values)]
        assert places == sorted(places)
        assert all(100.0 <= place <= 500.0 for place in places)
        ticks = axis.ticks()
        assert 1 <= len(ticks) <= 8
        assert all(axis.low * (1 - 1e-9) <= tick <= axis.high * (1 + 1e-9) for tick in ticks)


def inside(drawing: Drawing) -> bool:
    points: list[tuple[float, float]] = []
    for item in drawing.items:
        if isinstance(item, Stroke):
            points += item.points
        elif isinstance(item, Band):
            points += [(item.x, item.y), (item.x + item.width, item.y + item.height)]
        else:
            assert isinstance(item, Mark | Text)
            points.append((item.x, item.y))
    return all(0 <= x <= drawing.width and 0 <= y <= drawing.height for x, y in points)


RATIOS = st.floats(min_value=1e-9, max_value=1e9) | st.sampled_from([math.inf, math.nan])


@given(st.lists(st.tuples(RATIOS, RATIOS, RATIOS, st.sampled_from(sorted(LOOKS))), min_size=1, max_size=6))
def test_whatever_is_plotted_lies_on_the_paper(rows: list[tuple[float, float, float, Any]]) -> None:
    points = [Point("k", s, a, None if s == "wrong" else b, (min(a, c), max(a, c))) for a, b, c, s in rows]
    drawings = [
        scatter(points, 1.05),
        forest([Row("r", a, (min(a, b), max(a, b))) for a, b, _, _ in rows], name="f", title="t", description="d",
               threshold=1.05, margin=0.01),
        best_so_far([Try(i, a, "promoted", "") for i, (a, *_) in enumerate(rows, start=1)],
                    [Measured(len(rows), b, (b, c), "") for _, b, c, _ in rows], len(rows)),
        divergence([Measured(1, a, None, "") for a, *_ in rows], [Measured(1, None, None, "")], 1, 1.05, 1),
        strips([Strip("s", [a, b, c], margin=0.5) for a, b, c, _ in rows], name="s", title="t", description="d",
               axis="x"),
    ]  # fmt: skip
    for drawing in drawings:
        assert inside(drawing), drawing.name


def test_a_page_of_views_that_are_the_same_is_the_same(tmp_path: Path) -> None:
    folder = recorded.write_run(tmp_path / "run", recorded.gate())
    first, second = tmp_path / "1.html", tmp_path / "2.html"
    kfp.report(folder, out=first)
    kfp.report(folder, out=second)
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size < 5_000_000
    assert page("x", [], "1").count("<script") == 1


def test_figures_for_a_paper(tmp_path: Path) -> None:
    study = kfp.report("study", out=None, pdf=tmp_path / "pdf")
    assert {Path(path).stem for path in study.figures} == {"scatter", "rates", "noise"}
    for path in map(Path, study.figures):
        data = path.read_bytes()
        assert data.startswith(b"%PDF")
        # TrueType, embedded.
        assert b"/FontFile2" in data
    (png, *_) = kfp.report(constructed.RIGHT, out=None, png=tmp_path / "png").figures
    # At 300 dots per inch, a column of a journal and more.
    width, height = struct.unpack(">II", Path(png).read_bytes()[16:24])
    assert width > 2000
    assert height > 400


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    files = [kfp.report(constructed.RIGHT, out=None, pdf=tmp_path / name).figures[0] for name in ("1", "2")]
    assert Path(files[0]).read_bytes() == Path(files[1]).read_bytes()


def test_the_noise_of_the_study_is_of_sixteen_configurations() -> None:
    noise = study_noise()
    assert len(noise) == 16
    assert {len(samples) for samples in noise.values()} == {12}


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("missing", None, "there is no such run, record or table"),
        ("notes.txt", "hello", "expected the folder of a run"),
        ("other.json", '{"a": 1}', "its fields are those of none"),
        ("broken.json", "{", "expected JSON"),
        ("table.csv", "a,b\n1,2\n", "expected the columns"),
    ],
)
def test_what_is_nothing_to_report_on_is_named(name: str, content: str | None, said: str, tmp_path: Path) -> None:
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    with pytest.raises(kfp.Error, match=said):
        kfp.report(file, out=tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()


def test_a_folder_without_runs_and_no_subject_at_all_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is none"):
        kfp.report(tmp_path, out=None)
    with pytest.raises(UsageError, match="got none"):
        kfp.report(out=None)


def test_a_record_that_is_damaged_says_where(tmp_path: Path) -> None:
    data = constructed.RIGHT.to_json()
    data["score"] = "high"
    (tmp_path / "e.json").write_text(json.dumps(data))
    with pytest.raises(kfp.ResultFormatError, match=r"Evaluation\.score: expected a number"):
        kfp.report(tmp_path / "e.json", out=None)


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    recorded.write_run(tmp_path / "run", recorded.gate())
    monkeypatch.chdir(tmp_path)

    def called(*arguments: str) -> tuple[object, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(["report", *arguments])
        return stop.value.code, *capsys.readouterr()

    code, told, _ = called("run", "-o", "out.html")
    assert code == 0
    assert "Don't rely on the gain" in told
    assert told.endswith("written: out.html\n")
    assert max(map(len, told.splitlines())) <= 80
    assert (tmp_path / "out.html").read_text().startswith("<!doctype html>")
    _, told, _ = called("run", "--json")
    assert json.loads(told)["page"] == "report.html"
    assert called("nowhere") == (2, "", "kfp: nowhere: there is no such run, record or table\n")
