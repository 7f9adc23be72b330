"""The audits that a run's folder holds."""

from __future__ import annotations

from pathlib import Path

from kfp.auditing.results import Audit
from kfp.errors import Error
from kfp.runs.files import read_json, refusals, write_json

AUDITS = "audits"


def audits_of(run: Path) -> dict[str, Audit]:
    """By the hash of the audited source. A file that holds none is left out."""
    found = {}
    for file in sorted((run / AUDITS).glob("*.json")):
        try:
            audit = Audit.from_json(read_json(file))
        except Error:
            continue
        found[audit.source_sha256] = audit
    return found


def keep(run: Path, audit: Audit) -> Path:
    """Writes it to the run's folder; that of the same kernel before is replaced."""
    file = run / AUDITS / f"{audit.source_sha256[:16]}.json"
    with refusals(file):
        file.parent.mkdir(exist_ok=True)
    write_json(file, audit.to_json())
    return file
