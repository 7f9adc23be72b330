"""scikit-build-core, with zig as the C++ compiler on machines that have none, and with metal-cpp where it is needed.

scikit-build-core takes CXX from Python's own build configuration even when that compiler is not installed, so the
choice is made here, before it looks. metal-cpp is a requirement of a build on macOS, from the wheel that carries it; a
source distribution has it already, so that building from it downloads nothing.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import sys
import tempfile
from pathlib import Path

import fetch_metal_cpp
from scikit_build_core import build as _skbuild
from scikit_build_core.build import *  # noqa: F403  (the hooks that need no compiler)

_BUNDLED = Path("third_party") / "metal-cpp"


def _has_cxx_compiler() -> bool:
    named = os.environ.get("CXX")
    if named:
        return shutil.which(named.split()[0]) is not None
    return any(shutil.which(name) for name in ("c++", "g++", "clang++"))


def _use_zig() -> None:
    if _has_cxx_compiler() or sys.platform != "linux":
        return
    try:
        import ziglang
    except ImportError:
        return
    zig = Path(ziglang.__file__).parent / "zig"
    folder = Path(tempfile.mkdtemp(prefix="kfp-zig-"))
    for name, command in {"cc": "cc", "c++": "c++", "ar": "ar", "ranlib": "ranlib"}.items():
        script = folder / f"zig-{name}"
        script.write_text(f'#!/bin/sh\nexec "{zig}" {command} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    os.environ["CC"] = str(folder / "zig-cc")
    os.environ["CXX"] = str(folder / "zig-c++")
    arguments = f"-DCMAKE_AR={folder / 'zig-ar'} -DCMAKE_RANLIB={folder / 'zig-ranlib'}"
    os.environ["CMAKE_ARGS"] = f"{os.environ.get('CMAKE_ARGS', '')} {arguments}".strip()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    _use_zig()
    return _skbuild.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    _use_zig()
    return _skbuild.build_editable(wheel_directory, config_settings, metadata_directory)


def _metal_cpp_requirement() -> list[str]:
    needed = sys.platform == "darwin" and not _BUNDLED.is_dir() and not os.environ.get("KFP_METAL_CPP_DIR")
    return [fetch_metal_cpp.REQUIREMENT] if needed else []


def get_requires_for_build_wheel(config_settings=None):
    return [*_skbuild.get_requires_for_build_wheel(config_settings), *_metal_cpp_requirement()]


def get_requires_for_build_editable(config_settings=None):
    return [*_skbuild.get_requires_for_build_editable(config_settings), *_metal_cpp_requirement()]


def get_requires_for_build_sdist(config_settings=None):
    # pip fetches metal-cpp, and an isolated build environment need not have it.
    return [*_skbuild.get_requires_for_build_sdist(config_settings), *([] if _BUNDLED.is_dir() else ["pip"])]


def build_sdist(sdist_directory, config_settings=None):
    if _BUNDLED.is_dir():
        return _skbuild.build_sdist(sdist_directory, config_settings)
    try:
        fetch_metal_cpp.fetch(_BUNDLED)
        return _skbuild.build_sdist(sdist_directory, config_settings)
    finally:
        shutil.rmtree(_BUNDLED, ignore_errors=True)
        with contextlib.suppress(OSError):  # not empty: it holds something that is not ours
            _BUNDLED.parent.rmdir()
