"""A thousand iterations: the page stays small, quick to build and usable."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import kfp
import pytest
from kfp.reporting.page import page, prefix
from kfp.reporting.run_view import view
from kfp.reporting.views import run as run_views
from report import recorded
from report.browser import opened

ITERATIONS = 1000


@pytest.mark.full
def test_a_thousand_iterations_stay_usable(tmp_path: Path, browser: Any) -> None:
    short = view(kfp.Run(recorded.write_run(tmp_path / "run", recorded.gate())))
    rng = random.Random(1)
    records, sources = [], {"start": recorded.START}
    for number in range(1, ITERATIONS + 1):
        source, found = recorded.CANDIDATES[2] if number % 50 == 3 else rng.choice(recorded.CANDIDATES)
        lines = source.splitlines()
        for _ in range(20):
            lines[rng.randrange(len(lines))] += f" // {number} {rng.random()}"
        decision = "promoted" if number % 50 == 3 else "no gain" if found.decision == "promoted" else found.decision
        records.append(recorded.iteration(number, replace(found, decision=decision, source_sha256=f"{number:064x}")))
        sources[f"{number}.1"] = "\n".join(lines)
    long = replace(short, records=tuple(records), sources=sources)
    path = tmp_path / "long.html"
    path.write_text(page("long", [run_views.of(long, "long", prefix(0))], "0"))
    assert path.stat().st_size < 5_000_000
    with opened(browser, path) as seen:
        seen.page.get_by_role("tab", name="Kernels").click()
        panel = seen.page.locator("section:visible")
        panel.locator("select").select_option("promoted")
        rows = panel.locator(".filterable tbody tr:visible")
        assert rows.count() == ITERATIONS / 50
        rows.last.locator("a").press("Enter")
        assert panel.locator(".viewer h3").inner_text() == "Kernel 953: promoted"
        panel.get_by_role("button", name="changes to kernel 903.1, its parent").click()
        assert panel.locator(".viewer tr.added").count() > 0
        assert seen.page.evaluate("document.querySelectorAll('*').length") < 30_000
        assert not seen.complaints
