"""Puts metal-cpp where a build can include it: python cmake/fetch_metal_cpp.py [FOLDER].

metal-cpp is Apple's, under Apache-2.0, and not kept in this repository. It comes out of the mlx-metal wheel, which
carries it unchanged: the installed one (on macOS it is a requirement of the build) or one that pip downloads. The
wheel is pinned by version and hash, and so is every file that is taken from it.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

REQUIREMENT = "mlx-metal==0.32.4"
WHEEL_SHA256 = "8019b2db622599267d66cc168b2f0dbf5af929790a6c3b3913e00eabc42a7947"
TREE_SHA256 = "784c17eae8eb308c23e043d99a54afa0259b0d3cefbe05fc980180aa4c6fd41c"
_INSIDE = "mlx/include/metal_cpp/"
_WANTED = ("Foundation/", "Metal/", "LICENSE.txt")


def cache_folder() -> Path:
    """Where it is kept between builds when no folder is named."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "kfp" / REQUIREMENT.replace("==", "-")


def at_hand() -> Path | None:
    """A copy that is there already: the one that KFP_METAL_CPP_DIR names, or the cached one."""
    named = os.environ.get("KFP_METAL_CPP_DIR")
    folder = Path(named) if named else cache_folder()
    return folder if (folder / "Metal" / "Metal.hpp").is_file() else None


def digest(folder: Path) -> str:
    """One hash over names and contents."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name.startswith(_WANTED):
            total.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return total.hexdigest()


def _installed() -> Path | None:
    try:
        distribution = importlib.metadata.distribution("mlx-metal")
    except importlib.metadata.PackageNotFoundError:
        return None
    folder = Path(str(distribution.locate_file(_INSIDE)))
    return folder if folder.is_dir() else None


def _download(folder: Path) -> Path:
    wanted = folder / "requirement.txt"
    wanted.write_text(f"{REQUIREMENT} --hash=sha256:{WHEEL_SHA256}\n")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    platform = ["--platform", "macosx_14_0_arm64", "--only-binary=:all:"]
    result = subprocess.run([*pip, *platform, "--require-hashes", "--dest", folder, "-r", wanted], check=False)
    if result.returncode != 0:
        raise SystemExit(
            f"metal-cpp: expected pip to download {REQUIREMENT}, it failed with status {result.returncode}; "
            "KFP_METAL_CPP_DIR can name a folder that has it"
        )
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder, [name for name in wheel.namelist() if name.startswith(_INSIDE)])
    return folder / _INSIDE


def fetch(folder: Path) -> Path:
    """Makes ``folder`` hold the pinned copy, and says where it is."""
    if folder.is_dir() and digest(folder) == TREE_SHA256:
        return folder
    with tempfile.TemporaryDirectory() as scratch:
        source = _installed() or _download(Path(scratch))
        found = digest(source)
        if found != TREE_SHA256:
            raise SystemExit(f"metal-cpp: expected files of {REQUIREMENT} with hash {TREE_SHA256}, got {found}")
        for name in _WANTED:
            if name.endswith("/"):
                shutil.copytree(source / name, folder / name, dirs_exist_ok=True)
            else:
                shutil.copy(source / name, folder / name)
    return folder


if __name__ == "__main__":
    print(fetch(Path(sys.argv[1]) if len(sys.argv) > 1 else cache_folder()))
