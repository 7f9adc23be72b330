"""The page in a real browser: it says what it has to say, needs nothing but itself, and can be used by anyone."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import constructed
import kfp
import pytest
from golden_files import assert_golden
from report import recorded
from report.browser import CONTRAST, opened

TEXT, MARK = 4.5, 3.0


def run(folder: Path) -> list[object]:
    return [recorded.write_run(folder / "demo", recorded.gate())]


def several(folder: Path) -> list[object]:
    lost = recorded.write_run(folder / "sweep" / "a", recorded.gate())
    recorded.write_run(folder / "sweep" / "b", recorded.gate("transfers"))
    recorded.write_run(folder / "sweep" / "c", None)
    return [lost.parent]


def comparison(folder: Path) -> list[object]:
    (folder / "comparison.json").write_text(json.dumps(recorded.SEARCHED.to_json()))
    return [folder / "comparison.json"]


Pages: TypeAlias = Callable[[str], Path]
SUBJECTS: dict[str, Callable[[Path], list[Any]]] = {
    "run": run,
    "several": several,
    "evaluation": lambda folder: [constructed.UNCOMPILED],
    "comparison": comparison,
    "gate": lambda folder: [recorded.gate("transfers")],
    "study": lambda folder: ["study"],
}


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Pages:
    """A page of each kind, made once."""

    @functools.cache
    def made(kind: str) -> Path:
        folder = tmp_path_factory.mktemp(kind)
        path = folder / f"{kind}.html"
        kfp.report(*SUBJECTS[kind](folder), out=path)
        return path

    return made


def every_tab(page: Any) -> list[str]:
    """Opens each tab once, and gives their names."""
    names = []
    for tab in page.get_by_role("tab").all():
        tab.click()
        names.append(tab.inner_text())
    return names


@pytest.mark.parametrize("kind", SUBJECTS)
def test_it_loads_alone_without_complaint_and_can_be_read(kind: str, pages: Pages, browser: Any) -> None:
    path = pages(kind)
    with opened(browser, path) as seen:
        for tab in seen.page.get_by_role("tab").all():
            tab.click()
            for scheme in ("light", "dark"):
                seen.page.emulate_media(color_scheme=scheme)
                rows = seen.page.evaluate(CONTRAST)
                assert rows
                assert not [row for row in rows if row[2] < (TEXT if row[0] == "text" else MARK)]
        assert seen.requests == [path.as_uri()]
        assert not seen.complaints


def test_the_first_screen_answers_the_question(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("run")) as seen:
        answer = seen.page.locator(".answer")
        assert_golden("report-first-screen.txt", answer.inner_text() + "\n")
        box = answer.bounding_box()
        assert box["y"] + box["height"] <= 800


def test_a_narrow_screen_has_nothing_beside_it(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("run"), width=360) as seen:
        for tab in seen.page.get_by_role("tab").all():
            tab.click()
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 360


def test_tabs_show_one_part_each_also_by_keyboard(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("run")) as seen:
        page = seen.page
        names = every_tab(page)
        assert names == ["Held out", "Search", "Kernels", "Measurements", "Provenance"]
        page.get_by_role("tab", name="Held out").focus()
        for name in [*names[1:], names[0]]:
            page.keyboard.press("ArrowRight")
            assert page.evaluate("document.activeElement.textContent") == name
            assert page.locator("section:visible").count() == 1
            assert page.locator("section:visible h2").text_content() == name
        page.keyboard.press("End")
        assert page.get_by_role("tab", selected=True).inner_text() == names[-1]


def test_everything_can_be_reached_by_keyboard(pages: Pages, browser: Any) -> None:
    wanted = "a, button, input, select, summary, [data-open]:not(g)"
    with opened(browser, pages("run")) as seen:
        page = seen.page
        page.get_by_role("tab", name="Kernels").click()
        page.evaluate("document.activeElement.blur()")
        visible = page.evaluate(f"[...document.querySelectorAll('{wanted}')].filter((n) => n.checkVisibility()).length")
        reached = set()
        for _ in range(3 * visible):
            page.keyboard.press("Tab")
            place = page.evaluate(
                "(() => { const all = [...document.querySelectorAll('*')], n = document.activeElement;"
                " return [all.indexOf(n), n.matches(`" + wanted + "`), n === document.body,"
                " getComputedStyle(n).outlineStyle]; })()"
            )
            number, is_wanted, left_the_page, outline = place
            assert left_the_page or outline != "none"
            if is_wanted:
                reached.add(number)
        # Of the tabs, one takes the focus; arrows lead to the others.
        assert len(reached) == visible - 4


def test_filters_leave_what_fits(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("run")) as seen:
        page = seen.page
        page.get_by_role("tab", name="Kernels").click()
        panel = page.locator("section:visible")
        rows = panel.locator(".filterable tbody tr:visible")
        assert rows.count() == 5
        panel.locator("select").select_option("promoted")
        assert rows.count() == 1
        assert "faster than the incumbent" in rows.inner_text()
        panel.locator("select").select_option("")
        panel.locator("input").fill("UNDECLARED")
        assert rows.count() == 1
        assert panel.locator("output").inner_text() == "1 of 5 kernels"


def test_a_kernel_is_shown_beside_what_it_came_from(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("run")) as seen:
        page = seen.page
        page.get_by_role("tab", name="Kernels").click()
        viewer = page.locator(".viewer")
        # The winner comes first.
        assert viewer.locator("h3").inner_text() == "Kernel 3: promoted"
        page.locator("section:visible").get_by_role("link", name="4", exact=True).press("Enter")
        assert viewer.locator("h3").inner_text() == "Kernel 4: no gain"
        assert viewer.get_by_role("button").all_inner_texts() == [
            "changes to the start", "changes to kernel 3.1, its parent", "the whole source"
        ]  # fmt: skip
        viewer.get_by_role("button", name="the whole source").click()
        lines = viewer.locator("td.text").all_text_contents()
        assert lines == recorded.GAIN.splitlines()
        page.locator("section:visible").get_by_role("link", name="1", exact=True).click()
        said = viewer.locator("tr.said td.text").all_text_contents()
        assert [text for text in said if "undeclared identifier" in text]
        assert not seen.complaints


def test_a_link_leads_to_a_run_and_back(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("several")) as seen:
        page = seen.page
        assert page.locator("h1:visible").inner_text() == "What can be believed of these 3 runs?"
        page.locator("section:visible").get_by_role("link", name="b", exact=True).press("Enter")
        assert "holds where nobody" in page.locator(".headline:visible").inner_text()
        page.get_by_role("link", name="all of them").click()
        assert page.locator("h1:visible").inner_text() == "What can be believed of these 3 runs?"
        page.go_back()
        assert "holds where nobody" in page.locator(".headline:visible").inner_text()
        page.goto(page.url.partition("#")[0] + "#v1-kernel-3.1")
        page.reload()
        assert page.locator(".viewer:visible h3").inner_text() == "Kernel 3: promoted"


def test_print_has_every_part(pages: Pages, browser: Any) -> None:
    with opened(browser, pages("run"), width=718) as seen:
        seen.page.emulate_media(media="print")
        assert seen.page.locator("section:visible").count() == 5
        assert seen.page.locator(".tabs:visible, .filters:visible").count() == 0
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= 718


HOSTILE = (
    "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    "'\"&lt;<!--<svg/onload=document.title='owned'>{{7*7}}\u202e\u2028\x00\ud800javascript:alert(1)"
)


def test_nothing_that_others_wrote_becomes_a_part_of_the_page(tmp_path: Path, pages: Pages, browser: Any) -> None:
    source = f"// {HOSTILE}\n".encode("utf-8", "replace").decode() + recorded.GAIN
    hostile = replace(
        recorded.candidate("promoted", source, constructed.UNCOMPILED, HOSTILE, recorded.judged(2.0, 1.9, 2.1)),
        model=HOSTILE,
        evaluation=replace(
            constructed.UNCOMPILED,
            diagnostics=tuple(replace(d, message=HOSTILE) for d in constructed.UNCOMPILED.diagnostics),
        ),
    )
    gate = replace(
        recorded.gate(source=source),
        reason=HOSTILE,
        weak_axis=HOSTILE,
        held_out=tuple(replace(row, label=HOSTILE, detail=HOSTILE) for row in recorded.gate().held_out),
        device=replace(constructed.DEVICE, description=HOSTILE),
    )
    path = recorded.write_run(tmp_path / "run", None, ((source, _utf8(hostile)),), over=False)
    owned = tmp_path / "owned.html"
    kfp.report(path, gate, out=owned, title=HOSTILE)
    with opened(browser, pages("several")) as seen:
        seen.page.get_by_role("link", name="a", exact=True).first.click()
        every_tab(seen.page.locator("article:visible"))
        kinds = set(seen.page.evaluate("[...document.querySelectorAll('*')].map((n) => n.tagName)"))
        scripts = seen.page.locator("script:not([type])").count()
    with opened(browser, owned) as seen:
        page = seen.page
        page.get_by_role("link", name="run", exact=True).first.click()
        every_tab(page.locator("article:visible"))
        page.locator("article:visible").get_by_role("tab", name="Kernels").click()
        found = page.evaluate("[...document.querySelectorAll('*')].map((n) => n.tagName)")
        assert set(found) <= kinds
        assert page.locator("script:not([type])").count() == scripts
        assert page.title() != "owned"
        assert "⟨U+202E⟩" in page.locator(".viewer:visible").inner_text()
        assert "\u202e" not in page.content()
        assert seen.requests == [owned.as_uri()]
        assert not seen.complaints


def _utf8(record: Any) -> Any:
    """Files of a run are UTF-8, which has no lone surrogates; JSON that is read has them."""
    clean = HOSTILE.encode("utf-8", "replace").decode()
    diagnostics = tuple(replace(d, message=clean) for d in record.evaluation.diagnostics)
    return replace(record, model=clean, reason=clean, evaluation=replace(record.evaluation, diagnostics=diagnostics))


def test_what_slips_past_the_escaping_can_do_nothing(tmp_path: Path, pages: Pages, browser: Any) -> None:
    path = tmp_path / "changed.html"
    attack = "<script>document.title='owned'</script><img src='http://127.0.0.1:9/x' onerror='document.title=1'>"
    path.write_text(pages("gate").read_text().replace("<footer>", f"<footer>{attack}"))
    with opened(browser, path) as seen:
        assert seen.page.title() == "gate"
        assert seen.requests == [path.as_uri(), "http://127.0.0.1:9/x"]
        assert seen.refused == ["csp http://127.0.0.1:9/x"]
        assert any("Content Security Policy" in text for text in seen.complaints)
