"""A loop over threads that calls the fast math functions is turned into vector code, with no library call left."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from prelude_image import FAST_MATH, MACHINE, checked_run, frontend_with_prelude

FUNCTIONS = ["sin", "cos", "tan", "exp", "exp2", "exp10", "log", "log2", "log10", "rsqrt", "sqrt", "tanh", "atan"]
FUNCTIONS += ["asin", "sinh", "cosh", "sinpi", "floor", "rint", "round", "fract"]
PAIRS = ["pow", "powr", "atan2", "fmod", "fmax", "min", "divide"]
CALLS = [f"{f}(x[i])" for f in FUNCTIONS] + [f"{f}(x[i], y[i])" for f in PAIRS]

LOOP = """
extern "C" void loop(__global float* o, __global const float* x, __global const float* y, int n) {
    #pragma clang loop vectorize(assume_safety)
    for (int i = 0; i < n; ++i) o[i] = metal::CALL;
}"""


@dataclass(frozen=True)
class Compiled:
    remarks: str
    assembly: str


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Compiled:
    folder = tmp_path_factory.mktemp("loops")
    source, assembly = folder / "loops.cl", folder / "loops.s"
    loops = [LOOP.replace("loop(", f"loop_{n}(").replace("CALL", call) for n, call in enumerate(CALLS)]
    source.write_text('#include "kfp_prelude.h"' + "".join(loops))
    command = [*frontend_with_prelude(*FAST_MATH), "-Rpass=loop-vectorize", "-S", "-o", str(assembly), str(source)]
    return Compiled(checked_run(command), assembly.read_text())


@pytest.mark.parametrize("call", CALLS)
def test_loop_is_vectorised(compiled: Compiled, call: str) -> None:
    number = CALLS.index(call)
    line = 4 + number * 4
    width = re.search(rf"loops\.cl:{line}:\d+: remark: vectorized loop \(vectorization width: (\d+)", compiled.remarks)
    assert width is not None, f"{call} at line {line}: {compiled.remarks}"
    assert int(width[1]) >= 4
    body = compiled.assembly.split(f"\nloop_{number}:", 1)[1].split(".Lfunc_end", 1)[0]
    assert re.search(r"^\s+(call\w*|bl)\s", body, re.MULTILINE) is None
    if MACHINE == "x86_64":
        assert re.search(r"%[xyz]mm", body)
