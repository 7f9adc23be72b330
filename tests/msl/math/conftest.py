from __future__ import annotations

import pytest
from prelude_image import Glue, compile_glue


@pytest.fixture(scope="session")
def glue(tmp_path_factory: pytest.TempPathFactory) -> Glue:
    return compile_glue(tmp_path_factory.mktemp("glue"))
