from __future__ import annotations

import sys

import pytest

if sys.platform == "linux":
    from prelude_image import Glue, compile_glue

    @pytest.fixture(scope="session")
    def glue(tmp_path_factory: pytest.TempPathFactory) -> Glue:
        return compile_glue(tmp_path_factory.mktemp("glue"))
else:
    # Where there is Metal, neither the prelude nor the compiler that it needs is installed.
    collect_ignore_glob = ["test_*.py"]
