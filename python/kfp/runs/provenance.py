"""With what and where a run is made, gathered when it begins."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import subprocess
from pathlib import Path

from kfp import _core
from kfp.results import Device
from kfp.runs.records import Provenance
from kfp.search.models.prices import Price

_PACKAGES = ("numpy", "ziglang", "anthropic", "openai")


def gather(device: Device, price: Price | None, command: str) -> Provenance:
    revision, dirty = _git()
    return Provenance(
        kfp_version=_core.__version__,
        revision=revision,
        dirty=dirty,
        python=platform.python_version(),
        platform=platform.platform(),
        packages=tuple(f"{name} {version}" for name in _PACKAGES if (version := _version(name))),
        device=device,
        price=price,
        started=datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        command=command,
    )


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _git() -> tuple[str, bool]:
    """(revision, dirty) of the checkout that this package is run from; ("", False) for an installed one."""
    here = Path(__file__).resolve()
    # A checkout around an environment has nothing to do with the package inside it.
    if not _ask_git(here.parent, "ls-files", "--error-unmatch", here.name):
        return "", False
    revision = _ask_git(here.parent, "rev-parse", "HEAD")
    return revision, bool(revision and _ask_git(here.parent, "status", "--porcelain", "--untracked-files=no"))


def _ask_git(folder: Path, *arguments: str) -> str:
    try:
        answer = subprocess.run(
            ["git", *arguments], cwd=folder, capture_output=True, text=True, timeout=10, check=False
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return answer.stdout.strip() if answer.returncode == 0 else ""
