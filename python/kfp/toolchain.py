"""Where the parts that ship beside the package are, and the compiler of the software device."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from pathlib import Path

from kfp import _core
from kfp.errors import ToolchainError


def find() -> _core.Toolchain:
    """What the native core needs to know; a missing compiler is left for the devices to report."""
    clang, is_zig = compiler()
    return _core.Toolchain(
        clang=str(clang) if clang else "",
        clang_is_zig=is_zig,
        msl_include=str(_native() / "msl"),
        cache=str(cache_folder() / "msl"),
        sandbox=str(_native() / "kfp-worker"),
    )


def compiler() -> tuple[Path | None, bool]:
    """(path, whether it is zig): ``KFP_CLANG`` if set, else the ``ziglang`` package's, else (None, False)."""
    named = os.environ.get("KFP_CLANG")
    if named:
        path = Path(named).resolve()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise ToolchainError(f"KFP_CLANG: expected the path of a clang or zig program, got {named!r}")
        return path, path.stem == "zig"
    zig = _zig()
    return zig, zig is not None


def shaders() -> Path:
    """The folder of the bundled kernels: ``sci/`` and ``probes/``."""
    return _native() / "shaders"


def cache_folder() -> Path:
    """Private to the user: ``KFP_CACHE_DIR``, else the system's place for caches."""
    named = os.environ.get("KFP_CACHE_DIR")
    if named:
        folder = Path(named)
    elif sys.platform == "darwin":
        folder = Path.home() / "Library" / "Caches" / "kfp"
    else:
        xdg = os.environ.get("XDG_CACHE_HOME", "")
        base = Path(xdg) if Path(xdg).is_absolute() else Path.home() / ".cache"
        folder = base / "kfp"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ToolchainError(f"the cache folder {folder} can't be made: {error.strerror}; set KFP_CACHE_DIR") from error
    return folder.resolve()


@functools.cache
def _native() -> Path:
    # Beside the extension, which an editable installation keeps elsewhere than the Python files.
    folder = Path(_core.__file__).resolve().parent / "native"
    if not folder.is_dir():
        raise ToolchainError(f"kfp's own files are missing from {folder}; install the package again")
    return folder


@functools.cache
def _zig() -> Path | None:
    # Not imported: only the location matters, and the package's __init__ is free to change.
    spec = importlib.util.find_spec("ziglang")
    if spec is None or not spec.submodule_search_locations:
        return None
    zig = Path(next(iter(spec.submodule_search_locations))) / "zig"
    return zig.resolve() if os.access(zig, os.X_OK) else None
