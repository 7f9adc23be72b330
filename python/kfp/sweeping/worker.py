"""``python -m kfp.sweeping.worker UNIT_FOLDER``: does one unit of a sweep, or goes on with it."""

from __future__ import annotations

import sys
from pathlib import Path

from kfp.errors import UsageError


def run_unit(unit: Path) -> int:
    """Takes the unit's lease, begins or resumes its run, and marks it done. Returns an exit code of ``executors.base``."""
    raise UsageError(f"{unit}: no worker yet")


if __name__ == "__main__":
    sys.exit(run_unit(Path(sys.argv[1])))
