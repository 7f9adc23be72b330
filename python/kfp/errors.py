"""One error type per cause, all under ``kfp.Error``. A candidate's failure is a verdict, never one of these."""

from __future__ import annotations


class Error(Exception):
    """Base of everything that kfp raises on purpose."""


class UsageError(Error):
    """The caller asked for something that does not exist or makes no sense: an option, a scale, a file."""


class TaskError(Error):
    """A task is unknown, can't be loaded, or breaks its own contract."""


class PlanError(Error):
    """A plan can't be made or run as declared: a cap below what the geometry needs, an index out of range."""


class PipelineError(Error):
    """The source compiled, but no pipeline can be made of a kernel, or a dispatch breaks the pipeline's limits."""


class DeviceUnavailable(Error):
    """This machine, or this build, can't provide the device that was asked for."""


class ToolchainError(Error):
    """A part that the devices need is missing from the installation: the compiler, the headers, the worker."""


class ResultFormatError(Error):
    """A JSON document is not what a result class writes; the message has the path to the fault."""


class ModelError(Error):
    """A language model can't be asked: an unknown name, a missing package or key, a request refused for good."""


class BudgetError(Error):
    """The cap on money or tokens can't pay for what was asked, or no price is known to hold it against."""


class RunError(Error):
    """A run's folder can't be used: in use by another process, not writable, of another version, of another search."""


class LeakError(Error):
    """Text that was about to be shown to a model holds something of a configuration that must stay unseen."""


class LedgerError(Error):
    """The ledger of held-out looks is not as it was written: a line changed, missing, or not an entry."""


class LookRefused(Error):
    """The policy does not allow this look at held-out information; the refusal is on the books."""


class ExecutorError(Error):
    """What was to start a sweep's workers is missing, does not answer or refuses: a scheduler, a partition."""
