"""Compiles small programs against the prelude with the compiler wheel's clang and loads them with ctypes."""

from __future__ import annotations

import functools
import platform
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import ziglang

ROOT = Path(__file__).resolve().parents[3]
INCLUDE = ROOT / "cpp" / "msl" / "include"
GLUE = ROOT / "cpp" / "msl" / "glue"
ZIG = Path(ziglang.__file__).parent / "zig"
MACHINE = platform.machine()

# As the front end compiles.
FAST_MATH = ("-D__FAST_MATH__=1", "-funsafe-math-optimizations", "-fno-signed-zeros", "-mreassociate")
FAST_MATH += ("-freciprocal-math", "-fapprox-func", "-ffp-contract=fast")
PRECISE_MATH = ("-D__KFP_PRECISE_MATH__=1", "-ffp-contract=off")
LANGUAGE = ("-x", "cl", "-cl-std=clc++2021", "-fdeclspec", "-cl-ext=+all", "-ffreestanding", "-nostdsysteminc")
LANGUAGE += ("-nobuiltininc", "-fnative-half-type", "-fnative-half-arguments-and-returns", "-fgnuc-version=4.2.1")
SEMANTICS = ("-cl-single-precision-constant", "-fwrapv", "-relaxed-aliasing", "-fno-strict-float-cast-overflow")
SEMANTICS += ("-fmax-type-align=8", "-mconstructor-aliases")
POSITION_INDEPENDENT = ("-mrelocation-model", "pic", "-pic-level", "2")
OPTIMISE = ("-O2", "-mllvm", "-unroll-runtime=0", "-vectorize-loops", "-vectorize-slp")


@dataclass(frozen=True)
class Target:
    machine: str
    cpu: str

    def arguments(self) -> list[str]:
        return ["-triple", f"{self.machine}-unknown-linux-gnu", "-target-cpu", self.cpu]


GENERIC = Target(MACHINE, "x86-64" if MACHINE == "x86_64" else "generic")
HOST = Target(MACHINE, "x86-64-v3") if "avx2" in Path("/proc/cpuinfo").read_text() else GENERIC


def frontend(*flags: str, target: Target = HOST, optimise: tuple[str, ...] = OPTIMISE) -> list[str]:
    code = [*optimise, *POSITION_INDEPENDENT, *flags, f"-I{INCLUDE}"]
    return [str(ZIG), "clang", "-cc1", *target.arguments(), *LANGUAGE, *SEMANTICS, *code]


@functools.cache
def frontend_with_prelude(*flags: str) -> list[str]:
    """The front end for this machine with the prelude precompiled: including it costs nothing."""
    precompiled = Path(_scratch.name) / f"{len(list(Path(_scratch.name).iterdir()))}.pch"
    checked_run([*frontend(*flags), "-emit-pch", "-o", str(precompiled), str(INCLUDE / "kfp_prelude.h")])
    return [*frontend(*flags), "-include-pch", str(precompiled)]


_scratch = tempfile.TemporaryDirectory(prefix="kfp-prelude-")


def checked_run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stderr


def diagnostics(source: str, folder: Path, *, with_prelude: bool = True) -> list[str]:
    """The errors that clang finds in `source`."""
    path = folder / "program.cl"
    path.write_text(source)
    command = frontend_with_prelude(*FAST_MATH) if with_prelude else frontend()
    command = [*command, "-fsyntax-only", "-ferror-limit", "0", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    errors = [line for line in done.stderr.splitlines() if " error: " in line]
    assert (done.returncode != 0) == bool(errors), done.stderr
    return errors


@dataclass(frozen=True)
class Glue:
    objects: tuple[Path, ...]


def compile_glue(folder: Path, target: Target = HOST) -> Glue:
    objects = []
    for source in sorted(GLUE.glob("*.c")):
        compiled = folder / f"{source.stem}.{target.machine}.{target.cpu}.o"
        language = ["-x", "c", "-std=gnu11", "-ffreestanding", "-fno-builtin", "-nostdsysteminc", f"-I{INCLUDE}"]
        code = ["-O2", *POSITION_INDEPENDENT, "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
        command = [str(ZIG), "clang", "-cc1", *target.arguments(), *language, *code, "-emit-obj"]
        checked_run([*command, "-o", str(compiled), str(source)])
        objects.append(compiled)
    return Glue(tuple(objects))


def build(
    name: str,
    source: str,
    glue: Glue,
    folder: Path,
    *flags: str,
    target: Target = HOST,
    optimise: tuple[str, ...] = OPTIMISE,
) -> Path:
    """Compiles `source` and links it with the glue and nothing else."""
    path, compiled, image = folder / f"{name}.cl", folder / f"{name}.o", folder / f"{name}.so"
    path.write_text(source)
    if target == HOST and optimise == OPTIMISE:
        command = frontend_with_prelude(*flags)
    else:
        command = frontend(*flags, target=target, optimise=optimise)
    checked_run([*command, "-emit-obj", "-o", str(compiled), str(path)])
    link = [str(ZIG), "ld.lld", "-shared", "-z", "defs", "-o", str(image), str(compiled)]
    checked_run([*link, *map(str, glue.objects)])
    return image
