"""Shared by all tests. Helper modules live beside this file: pytest puts its folder on the path."""

from __future__ import annotations

import os

# Tests must not depend on, nor colour, the terminal that they are run in.
os.environ.pop("FORCE_COLOR", None)
os.environ["NO_COLOR"] = "1"
os.environ["TERM"] = "dumb"
os.environ["COLUMNS"] = "80"
