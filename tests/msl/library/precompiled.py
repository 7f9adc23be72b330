"""The prelude as a precompiled header, as the front end uses it, and what the tests do with it."""

from __future__ import annotations

import ctypes
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from prelude_image import INCLUDE, OPTIMISE, POSITION_INDEPENDENT, ZIG, Glue, checked_run, compile_glue, frontend

FLAGS = (*OPTIMISE, *POSITION_INDEPENDENT)


@dataclass(frozen=True)
class Precompiled:
    folder: Path
    header: Path
    glue: Glue

    @classmethod
    def build(cls, folder: Path) -> Precompiled:
        header = folder / "prelude.pch"
        pch = ["-emit-pch", "-fpch-instantiate-templates", "-o", str(header), str(INCLUDE / "kfp_prelude.h")]
        checked_run([*frontend(*FLAGS, "-Wall", "-Wextra", "-Werror", "-Wno-unused-parameter"), *pch])
        return cls(folder, header, compile_glue(folder))

    def _compile(self, source: str, *flags: str) -> subprocess.CompletedProcess[str]:
        path = self.folder / "program.cl"
        path.write_text("using namespace metal;\n" + source)
        command = [*frontend(*FLAGS), "-include-pch", str(self.header), "-ferror-limit", "0", *flags, str(path)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120)

    def errors(self, source: str) -> list[str]:
        """The compiler's errors, by line of `source`."""
        done = self._compile(source, "-fsyntax-only")
        found = re.findall(r"program\.cl:(\d+):\d+: error: (.*)", done.stderr)
        assert len(found) == done.stderr.count(" error: "), done.stderr  # none in the prelude itself
        assert (done.returncode != 0) == bool(found), done.stderr
        return [f"{int(line) - 1}: {message}" for line, message in found]

    def code(self, source: str) -> str:
        """The optimised program in the compiler's intermediate language."""
        result = self.folder / "program.ll"
        done = self._compile(source, "-emit-llvm", "-o", str(result))
        assert done.returncode == 0, done.stderr
        return result.read_text()

    def load(self, source: str) -> ctypes.CDLL:
        number = len(list(self.folder.glob("image*.so")))
        compiled, image = self.folder / "program.o", self.folder / f"image{number}.so"
        done = self._compile(source, "-emit-obj", "-o", str(compiled))
        assert done.returncode == 0, done.stderr
        link = [str(ZIG), "ld.lld", "-shared", "-z", "defs", "-o", str(image), str(compiled)]
        checked_run([*link, *map(str, self.glue.objects)])
        return ctypes.CDLL(str(image))
