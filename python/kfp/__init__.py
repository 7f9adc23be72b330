"""A Metal kernel goes in, a verdict that can be trusted comes out.

>>> import kfp
>>> print(kfp.evaluate("saxpy", scale="small"))  # doctest: +SKIP
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kfp._core import __version__ as __version__
    from kfp.auditing.audit import audit as audit
    from kfp.auditing.results import Audit as Audit
    from kfp.auditing.results import EvidenceItem as EvidenceItem
    from kfp.checking import check as check
    from kfp.comparison import compare as compare
    from kfp.conditions import Finding as Finding
    from kfp.diagnosis import Diagnosis as Diagnosis
    from kfp.diagnosis import doctor as doctor
    from kfp.errors import BudgetError as BudgetError
    from kfp.errors import DeviceUnavailable as DeviceUnavailable
    from kfp.errors import Error as Error
    from kfp.errors import LeakError as LeakError
    from kfp.errors import LedgerError as LedgerError
    from kfp.errors import LookRefused as LookRefused
    from kfp.errors import ModelError as ModelError
    from kfp.errors import PipelineError as PipelineError
    from kfp.errors import PlanError as PlanError
    from kfp.errors import ResultFormatError as ResultFormatError
    from kfp.errors import RunError as RunError
    from kfp.errors import TaskError as TaskError
    from kfp.errors import ToolchainError as ToolchainError
    from kfp.errors import UsageError as UsageError
    from kfp.evaluation import evaluate as evaluate
    from kfp.gating.gate import gate as gate
    from kfp.gating.looks import Look as Look
    from kfp.gating.looks import look as look
    from kfp.gating.onset import Onset as Onset
    from kfp.gating.onset import onset as onset
    from kfp.gating.results import Gate as Gate
    from kfp.gating.results import HeldOut as HeldOut
    from kfp.gating.results import Trial as Trial
    from kfp.limits import Limits as Limits
    from kfp.machine import devices as devices
    from kfp.progress import Progress as Progress
    from kfp.reporting.report import Report as Report
    from kfp.reporting.report import report as report
    from kfp.results import Ceiling as Ceiling
    from kfp.results import Ceilings as Ceilings
    from kfp.results import CheckReport as CheckReport
    from kfp.results import ConfigurationResult as ConfigurationResult
    from kfp.results import Device as Device
    from kfp.results import Diagnostic as Diagnostic
    from kfp.results import Evaluation as Evaluation
    from kfp.results import KernelSignature as KernelSignature
    from kfp.results import ParameterSignature as ParameterSignature
    from kfp.results import Timing as Timing
    from kfp.runs.run import Run as Run
    from kfp.search.evolution import evolve as evolve
    from kfp.sources import seed_source as seed_source
    from kfp.sweeping.results import Sweep as Sweep
    from kfp.sweeping.results import UnitStatus as UnitStatus
    from kfp.sweeping.sweep import sweep as sweep
    from kfp.tasks import all_tasks as tasks
    from kfp.tasks.base import Configuration as Configuration
    from kfp.tasks.base import Task as Task
    from kfp.timing.looks import Policy as Policy
    from kfp.timing.results import ArmTiming as ArmTiming
    from kfp.timing.results import Comparison as Comparison
    from kfp.timing.results import ConfigurationComparison as ConfigurationComparison
    from kfp.timing.results import Series as Series
    from kfp.timing.statistics import Interval as Interval

# Imported when first used: `import kfp` alone costs next to nothing.
_HOMES = {
    "__version__": "kfp._core",
    "audit": "kfp.auditing.audit",
    "Audit": "kfp.auditing.results",
    "EvidenceItem": "kfp.auditing.results",
    "check": "kfp.checking",
    "compare": "kfp.comparison",
    "Finding": "kfp.conditions",
    "Diagnosis": "kfp.diagnosis",
    "doctor": "kfp.diagnosis",
    "BudgetError": "kfp.errors",
    "DeviceUnavailable": "kfp.errors",
    "Error": "kfp.errors",
    "LeakError": "kfp.errors",
    "LedgerError": "kfp.errors",
    "LookRefused": "kfp.errors",
    "ModelError": "kfp.errors",
    "PipelineError": "kfp.errors",
    "PlanError": "kfp.errors",
    "ResultFormatError": "kfp.errors",
    "RunError": "kfp.errors",
    "TaskError": "kfp.errors",
    "ToolchainError": "kfp.errors",
    "UsageError": "kfp.errors",
    "evaluate": "kfp.evaluation",
    "gate": "kfp.gating.gate",
    "Look": "kfp.gating.looks",
    "look": "kfp.gating.looks",
    "Onset": "kfp.gating.onset",
    "onset": "kfp.gating.onset",
    "Gate": "kfp.gating.results",
    "HeldOut": "kfp.gating.results",
    "Trial": "kfp.gating.results",
    "Limits": "kfp.limits",
    "devices": "kfp.machine",
    "Progress": "kfp.progress",
    "Report": "kfp.reporting.report",
    "report": "kfp.reporting.report",
    "Ceiling": "kfp.results",
    "Ceilings": "kfp.results",
    "CheckReport": "kfp.results",
    "ConfigurationResult": "kfp.results",
    "Device": "kfp.results",
    "Diagnostic": "kfp.results",
    "Evaluation": "kfp.results",
    "KernelSignature": "kfp.results",
    "ParameterSignature": "kfp.results",
    "Timing": "kfp.results",
    "Run": "kfp.runs.run",
    "evolve": "kfp.search.evolution",
    "seed_source": "kfp.sources",
    "Sweep": "kfp.sweeping.results",
    "UnitStatus": "kfp.sweeping.results",
    "sweep": "kfp.sweeping.sweep",
    "Configuration": "kfp.tasks.base",
    "Task": "kfp.tasks.base",
    "Policy": "kfp.timing.looks",
    "ArmTiming": "kfp.timing.results",
    "Comparison": "kfp.timing.results",
    "ConfigurationComparison": "kfp.timing.results",
    "Series": "kfp.timing.results",
    "Interval": "kfp.timing.statistics",
}

__all__ = [*_HOMES, "tasks"]


def __getattr__(name: str) -> Any:
    if name == "tasks":
        # The package of the tasks, which can be called: kfp.tasks() lists them.
        return import_module("kfp.tasks")
    if name not in _HOMES:
        raise AttributeError(f"module 'kfp' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
