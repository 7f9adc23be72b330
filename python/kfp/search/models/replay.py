"""``replay/DIR``: the answers of a recorded run once more, at no cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from kfp.errors import ModelError
from kfp.runs.files import read_json
from kfp.runs.folder import reply_path
from kfp.search.models.base import Reply, Request
from kfp.search.models.prices import FREE, Price


class ReplayModel:
    """Answers by the number of iteration and candidate. A recorded run that is shorter ends the new one there."""

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder).expanduser().resolve()
        self.name = f"replay/{folder}"
        self.price: Price | None = FREE
        if not reply_path(self._folder, 1, 1).is_file():
            raise ModelError(f"model {self.name!r}: expected a run with recorded answers at {self._folder}")

    def ask(self, request: Request) -> Reply:
        path = reply_path(self._folder, request.iteration, request.candidate)
        if not path.is_file():
            raise ModelError(
                f"{self.name}: the recorded run has no answer for iteration {request.iteration}, "
                f"candidate {request.candidate}"
            )
        return replace(Reply.from_json(read_json(path)), seconds=0.0, attempts=1, lost_attempts=0)
