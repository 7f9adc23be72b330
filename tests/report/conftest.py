"""One browser for all tests of a process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from report.browser import chromium


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Before marks select what is run: pages are looked at where a browser is part of the bargain."""
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker("browser")


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with chromium() as browser:
        yield browser
