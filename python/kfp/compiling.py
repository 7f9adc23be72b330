"""The first stage: source text in, a library in a worker or the reasons why not out."""

from __future__ import annotations

from dataclasses import dataclass

from kfp import _core, bridge, machine
from kfp.errors import DeviceUnavailable
from kfp.results import Device, Diagnostic, KernelSignature, Math, Verdict

MAX_REASON = 2000


@dataclass(frozen=True)
class Compilation:
    """``library`` is the worker's number for it, None when there is none; ``failure`` says how the worker was lost."""

    ok: bool
    library: int | None
    diagnostics: tuple[Diagnostic, ...]
    kernels: tuple[KernelSignature, ...]
    seconds: float
    verdict: Verdict
    reason: str


def compile_source(
    worker: _core.Worker, device: Device, source: str, *, math: Math, checked: bool = False, check_only: bool = False
) -> Compilation:
    """Raises ``kfp.Error`` only where the machine, not the source, is at fault."""
    try:
        library, report = worker.compile(source, math=math, checked=checked, check_only=check_only)
    except _core.WorkerFailure as failure:
        return Compilation(False, None, (), (), 0.0, failure.kind, failure_reason(failure))
    except _core.DeviceUnavailable as error:
        raise DeviceUnavailable(str(error)) from error
    except _core.Error as error:
        # No failure that a source should be able to cause, so see first whether anything can be compiled here.
        machine.require_working(device, str(error))
        return Compilation(False, None, (), (), 0.0, "protocol", clipped(str(error)))
    diagnostics = bridge.diagnostics(report)
    if not report.compile_ok:
        return Compilation(False, None, diagnostics, (), report.seconds, "compile error", _first_error(diagnostics))
    return Compilation(True, library, diagnostics, bridge.kernels(report), report.seconds, "right", "it compiles")


def _first_error(diagnostics: tuple[Diagnostic, ...]) -> str:
    errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
    if not errors:
        return "the compiler gave no reason"
    first = errors[0]
    place = f" at line {first.line}, column {first.column}" if first.line else ""
    if len(errors) == 1:
        return f"one error{place}: {first.message}"
    return f"{len(errors)} errors, the first{place}: {first.message}"


def failure_reason(failure: _core.WorkerFailure) -> str:
    where = []
    if failure.kernel is not None and failure.kernel not in failure.message:
        where.append(f"kernel {failure.kernel!r}")
    if failure.dispatch is not None and "dispatch" not in failure.message:
        where.append(f"dispatch {failure.dispatch}")
    message = clipped(failure.message)
    return f"{message} (in {', '.join(where)})" if where else message


def clipped(message: str) -> str:
    return message if len(message) <= MAX_REASON else message[:MAX_REASON] + "…"
