"""Builds the Metal backend against the Objective-C stand-in, with sanitizers, and runs its programs.

``python standin.py`` builds them all, and the C++ tests of the whole core.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from kfp import toolchain
from kfp.plan import Buffer, Plan, ThreadgroupMemory

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("KFP_STANDIN_BUILD") or ROOT / "build" / "metal_standin")
SANITIZERS = "address,undefined"
# A leak is found at exit, an undefined operation ends the process; nothing is suppressed.
ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:abort_on_error=0:exitcode=97",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
}
TIMEOUT_SECONDS = 120

sys.path.insert(0, str(ROOT / "cmake"))
import fetch_metal_cpp  # noqa: E402


@functools.cache
def metal_cpp() -> Path:
    """The folder of Apple's headers, or a skipped test: they are not part of this repository."""
    folder = fetch_metal_cpp.at_hand()
    if folder is None:
        pytest.skip("metal-cpp is not there: run python cmake/fetch_metal_cpp.py, or set KFP_METAL_CPP_DIR")
    return folder


def _clang() -> tuple[str, str]:
    """(C++, C): a clang with the sanitizers' runtime. metal-cpp's blocks are beyond g++."""
    for version in ("-19", "-20", "-18", "-17", "-16", ""):
        cxx, c = shutil.which(f"clang++{version}"), shutil.which(f"clang{version}")
        if cxx and c:
            return cxx, c
    pytest.skip("the stand-in needs clang, which is not installed")


@contextlib.contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Two processes of a run of tests would spoil each other's build."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@functools.cache
def build(target: str) -> Path:
    """The program ``target`` of the stand-in; what is up to date is not built again."""
    if sys.platform != "linux":
        pytest.skip("the stand-in takes Metal's place on Linux only")
    headers = metal_cpp()
    cxx, c = _clang()
    options = {
        "CMAKE_CXX_COMPILER": cxx,
        "CMAKE_C_COMPILER": c,
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_CXX_FLAGS_DEBUG": "-O0 -gline-tables-only",
        "KFP_CPP_TESTS": "ON",
        "KFP_METAL_STANDIN": "ON",
        "KFP_METAL_CPP_DIR": str(headers),
        "KFP_PYTHON": "OFF",
        "KFP_SANITIZE": SANITIZERS,
        "KFP_WERROR": "ON",
    }
    arguments = [f"-D{name}={value}" for name, value in options.items()]
    with alone_in(BUILD):
        _run_tool(["cmake", "-S", str(ROOT), "-B", str(BUILD), *arguments])
        _run_tool(["cmake", "--build", str(BUILD), "--parallel", "2", "--target", target])
    return BUILD / "tests" / "metal_standin" / target


def _run_tool(command: list[str]) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, f"{' '.join(command)}\n{result.stdout[-6000:]}\n{result.stderr[-6000:]}"


def run_program(command: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        timeout=TIMEOUT_SECONDS,
        env={**os.environ, **ENVIRONMENT},
    )


@dataclass(frozen=True)
class Report:
    """What the driver printed: the rest of each line under its first word."""

    status: int
    lines: Mapping[str, list[str]]
    errors: str
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)

    def only(self, word: str) -> str:
        (line,) = self.lines[word]
        return line


def drive(folder: Path, source: str, plan: Plan | None = None, **options: str) -> Report:
    """Runs ``source``, and ``plan`` if there is one, through the Metal backend; ``folder`` takes the files."""
    driver = build("standin_driver")
    (folder / "source.metal").write_bytes(source.encode("utf-8", "surrogateescape"))
    found = toolchain.find()
    arguments = {
        "source": str(folder / "source.metal"),
        "clang": found.clang,
        "clang_is_zig": str(int(found.clang_is_zig)),
        "msl_include": str(ROOT / "cpp" / "msl" / "include"),
        "cache": found.cache,
        "sandbox": found.sandbox,
        **options,
    }
    if plan is not None:
        write_plan(plan, folder)
        arguments |= {"plan": str(folder / "plan"), "contents": str(folder / "contents"), "out": str(folder)}
    result = run_program([str(driver), *(f"{name}={value}" for name, value in arguments.items())])
    lines: dict[str, list[str]] = {}
    for line in result.stdout.splitlines():
        word, _, rest = line.partition(" ")
        lines.setdefault(word, []).append(rest)
    ran = plan is not None and result.returncode == 0 and "run" in lines
    outputs = read_outputs(plan, folder) if ran and plan is not None else {}
    return Report(result.returncode, lines, result.stderr, outputs)


def write_plan(plan: Plan, folder: Path) -> None:
    """The files ``plan`` and ``contents``, in the form that plan_file.hpp describes."""
    kernels = list(dict.fromkeys(dispatch.kernel for dispatch in plan.dispatches))
    numbers = {buffer.name: number for number, buffer in enumerate(plan.buffers)}
    lines = [f"kernel {name}" for name in kernels]
    with (folder / "contents").open("wb") as contents:
        for buffer in plan.buffers:
            lines.append(f"buffer {buffer.name} {buffer.role} {buffer.nbytes} {contents.tell()}")
            if buffer.initial is not None:
                contents.write(buffer.initial.tobytes())
    for dispatch in plan.dispatches:
        geometry = " ".join(str(length) for length in (*dispatch.grid, *dispatch.threadgroup))
        lines.append(f"dispatch {kernels.index(dispatch.kernel)} {geometry}")
        for index, argument in dispatch.arguments.items():
            if isinstance(argument, str):
                lines.append(f"bind buffer {index} {numbers[argument]} 0")
            elif isinstance(argument, ThreadgroupMemory):
                lines.append(f"bind threadgroup {index} {argument.nbytes}")
            else:
                lines.append(f"bind bytes {index} {argument.tobytes().hex()}")
    (folder / "plan").write_text("\n".join(lines) + "\n")


def read_outputs(plan: Plan, folder: Path) -> dict[str, np.ndarray]:
    numbers = {buffer.name: number for number, buffer in enumerate(plan.buffers)}

    def read(buffer: Buffer) -> np.ndarray:
        data = np.fromfile(folder / str(numbers[buffer.name]), dtype=buffer.dtype)
        return data.reshape(buffer.shape)

    by_name = {buffer.name: buffer for buffer in plan.buffers}
    return {output: read(by_name[name]) for output, name in plan.outputs.items()}


if __name__ == "__main__":
    build("all")
