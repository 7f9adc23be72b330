"""What a Mac would compile compiles and links for arm64 macOS here: a wrong name or type is an error."""

from __future__ import annotations

import os
import shutil
import stat
import struct
import subprocess
from pathlib import Path

import pytest
from kfp import toolchain
from standin import ROOT, alone_in, metal_cpp

pytestmark = pytest.mark.slow

FOLDER = Path(os.environ.get("KFP_MACOS_BUILD") or ROOT / "build" / "macos")
STUBS = ROOT / "tests" / "metal_standin" / "macos" / "stubs"
MACH_O_64, ARM64, DYLIB = 0xFEEDFACF, 0x0100000C, 6


@pytest.fixture(scope="module")
def zig_tools() -> Path:
    """Wrappers of zig, under the names that CMake looks for."""
    zig, is_zig = toolchain.compiler()
    if not is_zig:
        pytest.skip("building for macOS needs zig, and KFP_CLANG names another compiler")
    folder = FOLDER / "zig"
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("cc", "c++", "ar", "ranlib"):
        target = " -target aarch64-macos.14.0" if name in ("cc", "c++") else ""
        script = folder / f"zig-{name}"
        script.write_text(f'#!/bin/sh\nexec "{zig}" {name}{target} "$@"\n')
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return folder


@pytest.fixture(scope="module")
def objects(zig_tools: Path) -> list[str]:
    """The core, compiled as on a Mac, warnings as errors."""
    options = {
        "CMAKE_TOOLCHAIN_FILE": ROOT / "tests" / "metal_standin" / "macos" / "toolchain.cmake",
        "CMAKE_BUILD_TYPE": "Debug",
        "KFP_METAL_CPP_DIR": metal_cpp(),
        "KFP_PYTHON": "OFF",
        "KFP_WERROR": "ON",
    }
    environment = {**os.environ, "KFP_ZIG_TOOLS": str(zig_tools)}
    commands = (
        ["cmake", "-S", ROOT, "-B", FOLDER, *(f"-D{name}={value}" for name, value in options.items())],
        ["cmake", "--build", FOLDER, "--parallel", "2", "--target", "kfp_core"],
    )
    with alone_in(FOLDER):
        for command in commands:
            result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-6000:]
    found = sorted(str(path) for path in (FOLDER / "CMakeFiles" / "kfp_core.dir").rglob("*.o"))
    assert any("device/metal/execution" in path for path in found)
    return found


def link(zig_tools: Path, objects: list[str], stubs: Path, library: Path) -> subprocess.CompletedProcess[str]:
    frameworks = ["-framework", "Metal", "-framework", "Foundation", "-lobjc"]
    command = [str(zig_tools / "zig-c++"), "-shared", "-o", str(library), *objects, f"-F{stubs}", f"-L{stubs}"]
    return subprocess.run([*command, *frameworks], capture_output=True, text=True, check=False)


def test_the_core_links_to_an_arm64_dylib(zig_tools: Path, objects: list[str], tmp_path: Path):
    library = tmp_path / "libkfp.dylib"
    result = link(zig_tools, objects, STUBS, library)
    assert result.returncode == 0, result.stderr[-6000:]
    magic, processor, _, kind = struct.unpack("<4I", library.read_bytes()[:16])
    assert (magic, processor, kind) == (MACH_O_64, ARM64, DYLIB)


def test_a_symbol_that_no_library_has_is_an_error(zig_tools: Path, objects: list[str], tmp_path: Path):
    stubs = tmp_path / "stubs"
    shutil.copytree(STUBS, stubs)
    objc = stubs / "libobjc.tbd"
    objc.write_text(objc.read_text().replace("_objc_msgSend", "_objc_msgSent"))
    result = link(zig_tools, objects, stubs, tmp_path / "libkfp.dylib")
    assert result.returncode != 0
    assert "objc_msgSend" in result.stderr
