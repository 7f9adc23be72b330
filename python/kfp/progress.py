"""What an evaluation is doing right now, for whoever waits for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True)
class Progress:
    """``configuration`` is empty for the stages that come before the first one."""

    stage: Literal["compile", "ceilings", "reference", "run", "check", "time"]
    configuration: str = ""
    number: int = 0
    total: int = 0

    def __str__(self) -> str:
        doing = {
            "compile": "compiling",
            "ceilings": "measuring this device's ceilings (once)",
            "reference": "computing the reference",
            "run": "running",
            "check": "checking",
            "time": "timing",
        }[self.stage]
        return f"{doing}: {self.configuration} ({self.number} of {self.total})" if self.configuration else doing


OnProgress: TypeAlias = Callable[[Progress], None]


def silent(progress: Progress) -> None:
    """Nobody waits."""
