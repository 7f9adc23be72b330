"""Shared by all tests. Helper modules live beside this file: pytest puts its folder on the path."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest
from hostile.cage import Cage
from hypothesis import settings
from kfp import _core
from kfp import toolchain as installed

# Tests must not depend on, nor colour, the terminal that they are run in.
os.environ.pop("FORCE_COLOR", None)
os.environ["NO_COLOR"] = "1"
os.environ["TERM"] = "dumb"
os.environ["COLUMNS"] = "80"

# How long an example takes is the machine's business.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell starts what runs in its background with interrupts ignored, and children inherit that.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def toolchain() -> _core.Toolchain:
    return installed.find()


@pytest.fixture
def cage() -> Iterator[Cage]:
    with Cage() as cage:
        yield cage
