"""What a candidate may use before it is stopped."""

from __future__ import annotations

from dataclasses import dataclass

from kfp.errors import UsageError


@dataclass(frozen=True)
class Limits:
    """Seconds of wall time; bytes of memory, for a run beyond the buffers of its plan; bytes of compiler output."""

    compile_seconds: float = 20.0
    run_seconds: float = 60.0
    compile_memory_bytes: int = 2 << 30
    memory_bytes: int = 4 << 30
    output_bytes: int = 1 << 20

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not value > 0:
                raise UsageError(f"limits: expected {name} above 0, got {value!r}")
