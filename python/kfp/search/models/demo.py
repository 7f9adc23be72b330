"""``demo``: a scripted proposer with kernels of our own, so that the whole loop can be seen without a key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kfp.errors import ModelError
from kfp.search.models.base import Reply, Request, Usage
from kfp.search.models.prices import FREE, Price
from kfp.tasks.base import Task

FOLDER = Path(__file__).resolve().parent.parent / "demo"


@dataclass(frozen=True)
class Scene:
    """One proposal of a script: what is said, a kernel's file, and edits that break it as a model would."""

    kind: str
    says: str
    source: str


class DemoModel:
    """Proposes a kernel that does not compile, a wrong one, an honest gain and a fingerprint; then nothing more."""

    name = "demo"

    def __init__(self, task: Task) -> None:
        self.price: Price | None = FREE
        self._task = task.name
        self._scenes = script(task.name)

    @property
    def start(self) -> str | None:
        """Where the device leaves nothing to gain over the seed, the demo has a slower kernel to start from."""
        path = FOLDER / self._task / "start.metal"
        return path.read_text(encoding="utf-8") if path.is_file() else None

    @property
    def script_length(self) -> int:
        return len(self._scenes)

    def ask(self, request: Request) -> Reply:
        if request.iteration > len(self._scenes):
            text = "The script of the demo is over; there is nothing more to propose."
        else:
            scene = self._scenes[request.iteration - 1]
            text = f"{scene.says}\n\n```metal\n{scene.source.rstrip()}\n```\n"
        return Reply(
            answered_by="demo",
            text=text,
            thinking="",
            stop="end",
            detail="",
            usage=Usage(),
            seconds=0.0,
            attempts=1,
            lost_attempts=0,
            request_id="",
        )


def script(task: str) -> list[Scene]:
    """The scenes for a task, in order. Raises ``kfp.ModelError`` for a task that has no script."""
    folder = FOLDER / task
    if not (folder / "script.json").is_file():
        known = ", ".join(sorted(path.parent.name for path in FOLDER.glob("*/script.json")))
        raise ModelError(f"model 'demo': it has no script for task {task!r}; it has one for: {known}")
    entries: list[dict[str, Any]] = json.loads((folder / "script.json").read_text(encoding="utf-8"))
    return [Scene(entry["kind"], entry["says"], _source(folder, entry)) for entry in entries]


def _source(folder: Path, entry: dict[str, Any]) -> str:
    source: str = (folder / entry["kernel"]).read_text(encoding="utf-8")
    for old, new in entry.get("edits", ()):
        if source.count(old) != 1:
            raise ModelError(
                f"{folder / entry['kernel']}: expected {old!r} once, it is there {source.count(old)} times"
            )
        source = source.replace(old, new)
    return source
