"""A result in a notebook shows its report, within a frame that can't reach the notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import kfp
from report import recorded
from report.browser import opened


def test_a_run_and_a_gate_show_themselves(tmp_path: Path, browser: Any) -> None:
    run = kfp.Run(recorded.write_run(tmp_path / "run", recorded.gate()))
    shown = (run._repr_html_(), recorded.gate("transfers")._repr_html_(), recorded.SEARCHED._repr_html_())
    notebook = tmp_path / "notebook.html"
    notebook.write_text(f"<!doctype html><title>notebook</title>{''.join(shown)}")
    with opened(browser, notebook) as seen:
        first, second, third = (seen.page.locator("iframe").nth(i).content_frame for i in range(3))
        assert "Don't rely on the gain" in first.locator(".headline").inner_text()
        first.get_by_role("tab", name="Kernels").click()
        first.get_by_role("link", name="4", exact=True).click()
        assert first.locator(".viewer h3").inner_text() == "Kernel 4: no gain"
        assert "The gain can be believed" in second.locator(".headline").inner_text()
        assert third.locator("h1").inner_text() == "Is it faster than the reference?"
        assert seen.page.title() == "notebook"
        assert not seen.complaints
