from __future__ import annotations

import sys
from pathlib import Path

import pytest

# One description of how the front end calls the compiler serves both folders of prelude tests.
sys.path.append(str(Path(__file__).resolve().parents[1] / "math"))

from precompiled import Precompiled


@pytest.fixture(scope="session")
def prelude(tmp_path_factory: pytest.TempPathFactory) -> Precompiled:
    return Precompiled.build(tmp_path_factory.mktemp("prelude"))
