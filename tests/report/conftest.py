"""One browser for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from report.browser import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser
