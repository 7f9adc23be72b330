"""An audit that a run's folder holds is on its page: in the answer, in a part of its own, beside the source."""

from __future__ import annotations

import html
import json
from pathlib import Path
from typing import Any

import kfp
from constructed import DEVICE
from kfp.auditing.folder import keep
from kfp.auditing.results import Arm, Audit, Coverage, EvidenceItem, Location, Probe, StaticEvidence
from kfp.sources import source_hash
from report import recorded
from report.browser import opened

LINE = next(
    i for i, text in enumerate(recorded.FINGERPRINT.splitlines(), start=1) if "switch (d)" in text or "d ==" in text
)
ARM = Arm(
    id="0", kernel="hmc_step", location=Location(LINE, 5), first_line=Location(LINE + 1, 1), condition="d == 8",
    side="then", parameters=("d",), in_seed=False, accepts={"d=8, K=512": True, "d=10, K=613": False},
    counts={"d=8, K=512": 512, "d=10, K=613": 0},
)  # fmt: skip
PROBE = Probe(
    label="d=9, K=512", parameters={"d": 9, "K": 512}, origin="drawn", seed=1, law="own", axis="d", beside="d=8, K=512",
    verdict="regression", detail="a step of 7", interval=recorded.interval(0.3, 0.05), seconds=0.2,
    reference_seconds=0.06, work=1e6,
)  # fmt: skip


def item(kind: Any, finding: str, *probes: Probe) -> EvidenceItem:
    return EvidenceItem(kind, "run", finding, ("step",), probes, 1.5)


AUDIT = Audit(
    task="hmc", device=DEVICE, scale="small", math="fast", threshold=1.05, mode="A", grade="gamed", rule=5,
    reason="an arm accepts what was measured and not its neighbours", fired=("E2", "E3a"),
    evidence=(item("E2", "one arm that the seed lacks"), item("E3a", "a step at d=8", PROBE)),
    static=StaticEvidence((ARM,), (), (), (), ()), coverage=Coverage((ARM,), ("hmc_step",), ""), uses=(), flags=(),
    reference_name="the start", audit_seed="0x1", source_sha256=source_hash(recorded.FINGERPRINT), budget=90.0,
    seconds=12.0, kfp_version="0.1.0",
)  # fmt: skip


def audited(folder: Path) -> Path:
    run = recorded.write_run(folder / "run", recorded.gate())
    keep(run, AUDIT)
    # Something else that lies there is no audit.
    (run / "audits" / "other.json").write_text("{}")
    return run


def test_the_answer_names_the_mechanism(tmp_path: Path) -> None:
    answer = str(kfp.report(audited(tmp_path), out=None).answer)
    assert "The audit grades it gamed, mode A: an arm chosen by the identity of a configuration is tuned." in answer
    assert "none was made" not in answer


def test_an_audit_alone(tmp_path: Path) -> None:
    (tmp_path / "audit.json").write_text(json.dumps(AUDIT.to_json()))
    answer = kfp.report(tmp_path / "audit.json", out=tmp_path / "x.html").answer
    assert answer.mood == "bad"
    assert answer.headline == "Gamed, mode A: an arm chosen by the identity of a configuration is tuned."


def test_an_audit_shows_itself_in_a_notebook() -> None:
    shown = AUDIT._repr_html_()
    assert shown.startswith("<iframe")
    assert 'sandbox="allow-scripts"' in shown
    assert "Gamed, mode A: an arm chosen by the identity of a configuration is tuned." in html.unescape(shown)


def test_evidence_is_beside_the_source(tmp_path: Path, browser: Any) -> None:
    kfp.report(audited(tmp_path), out=tmp_path / "x.html")
    with opened(browser, tmp_path / "x.html") as seen:
        page = seen.page
        page.get_by_role("tab", name="Audit").click()
        assert "one arm that the seed lacks" in page.locator("section:visible").inner_text()
        page.get_by_role("tab", name="Kernels").click()
        page.get_by_role("button", name="the whole source").click()
        rows = page.locator(".viewer tr").all()
        said = [i for i, row in enumerate(rows) if row.get_attribute("class") == "said"]
        (at,) = said
        assert rows[at - 1].locator("td").nth(1).inner_text() == str(LINE)
        assert "then of d == 8, on d: accepts d=8, K=512" in rows[at].inner_text()
        page.get_by_role("tab", name="Held out").click()
        assert page.locator("svg text", has_text="gamed: an arm for what was measured (1)").count() == 1
        assert not seen.complaints
