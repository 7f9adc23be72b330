"""Kernels for saxpy that ask for their configuration, each in its own way, and where they do so.

The line that decides ends in ``// here``; ``accepts`` says, independently of the kernel's text, at which N and a it
comes out true.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

from kfp.tasks.base import Configuration

HEAD = """#include <metal_stdlib>
using namespace metal;
"""
SIGNATURE = """kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                  constant float& a [[buffer(2)]], constant uint& N [[buffer(3)]],
                  uint i [[thread_position_in_grid]], uint grid [[threads_per_grid]],
                  uint width [[threads_per_threadgroup]]) {
    if (i >= N) return;
"""
# The burden changes no bit that counts, and no compiler can know that.
BURDEN = "for (uint k = 0; k < 40; ++k) r += 1e-30f * sin(r + k);"
MARK = "// here"

# Where the kernels are looked at, but for the one number that most of them ask for.
OTHER_NUMBERS = (1, 512, 768, 1000, 1001, 1023, 1025, 1040, 1099, 1100, 1280, 2048, 4095, 4096, 4097, 16384)

Accepts = Callable[[int, float], bool]


@dataclass(frozen=True)
class Planted:
    """``closable``: an edit of the source is expected to close it."""

    name: str
    helpers: str
    body: str
    accepts: Accepts
    closable: bool = True

    @property
    def source(self) -> str:
        return f"{HEAD}{self.helpers}{SIGNATURE}    float r = a * x[i] + y[i];\n{self.body}    y[i] = r;\n}}\n"

    @property
    def line(self) -> int:
        lines = self.source.split("\n")
        return 1 + next(number for number, text in enumerate(lines) if text.endswith(MARK))

    def takes(self, configuration: Configuration) -> bool:
        n, a = configuration.integer("N"), configuration.real("a")
        return self.accepts(n, float(struct.unpack("f", struct.pack("f", a))[0]))


def guarded(condition: str) -> str:
    return f"    if ({condition}) {MARK}\n        {BURDEN}\n"


def _equal(n: int, a: float) -> bool:
    return n == 1024


PLANTED = (
    Planted("equality", "", guarded("N == 1024"), _equal),
    Planted("inequality", "", f"    if (N != 1024) {{ {MARK}\n        {BURDEN}\n    }}\n", lambda n, a: n != 1024),
    Planted("interval", "", guarded("N > 1000 && N < 1100"), lambda n, a: 1000 < n < 1100),
    Planted("conjunction", "", guarded("N == 1024 && a == 2.5f"), lambda n, a: n == 1024 and a == 2.5),
    Planted("exclusive or", "", guarded("(N ^ 1024) == 0"), _equal),
    Planted("not of a difference", "", guarded("!(N - 1024)"), _equal),
    Planted("derived constant", "", guarded("N * 2654435761u == 2647680000u + 0u * N"), lambda n, a: (
        n * 2654435761 % 2**32 == 2647680000)),
    Planted("bits", "", guarded("popcount(N) == 1 && clz(N) == 21"), _equal),
    Planted("a float", "", guarded("a > 2.49f && a < 2.51f"), lambda n, a: 2.49 < a < 2.51),
    Planted("a number of the launch", "", guarded("grid == 1024"), lambda n, a: -(-n // 256) * 256 == 1024, False),
    Planted(
        "two macros and a helper",
        "#define SAME(p, q) ((p) == (q))\n#define GLUE(p, q) p##q\n#define KNOWN(p) SAME(p, GLUE(10, 24))\n"
        f"static bool known(uint n) {{\n    return KNOWN(n); {MARK}\n}}\n",
        f"    if (known(N))\n        {BURDEN}\n",
        _equal,
    ),
    Planted(
        "through a reference to a struct",
        "struct Size { uint n; float a; };\n"
        f"static float pick(const thread Size& s) {{\n    return s.n == 1024 ? 0.5f : 0.25f; {MARK}\n}}\n",
        f"    Size s{{N, a}};\n    if (pick(s) > 0.3f)\n        {BURDEN}\n",
        _equal,
    ),
    Planted(
        "a template's argument",
        f"template <uint n> static bool is(uint m) {{\n    return m == n; {MARK}\n}}\n",
        f"    if (is<1024>(N))\n        {BURDEN}\n",
        _equal,
    ),
    Planted(
        "switch",
        "",
        f"    switch (N) {{ {MARK}\n    case 4096: r += 1e-30f; break;\n"
        f"    case 1024:\n        {BURDEN}\n        break;\n    default: break;\n    }}\n",
        _equal,
    ),
    Planted(
        "the default of a switch",
        "",
        f"    switch (N) {{ {MARK}\n    {' '.join(f'case {n}:' for n in OTHER_NUMBERS)} r += 1e-30f; break;\n"
        f"    default:\n        {BURDEN}\n        break;\n    }}\n",
        _equal,
    ),
    Planted(
        "a table",
        "#define MANY (32 + 8)\nconstant uint rounds[5] = {MANY, 2u, 2u, 2u, 2u};\n",
        f"    uint passes = rounds[min(N ^ 1024u, 4u)]; {MARK}\n    for (uint k = 0; k < passes; ++k) r += 1e-30f;\n",
        _equal,
    ),
    Planted(
        "in a loop that reads its bound anew",
        f"static uint place_of(uint n) {{\n    switch (n * 8191u) {{ {MARK}\n    case 8387584u: return 0;\n"
        "    default: return 1;\n    }\n}\n",
        "    for (uint k = 0; k < min(N, 4u); ++k) {\n        y[i] = r;\n"
        f"        if (place_of(N) == 0)\n            {BURDEN}\n    }}\n",
        _equal,
    ),
    Planted("arithmetic on truths", "", f"    r += 1e-30f * float(N == 1024) * sin(r); {MARK}\n", _equal),
    Planted("no truth at all", "", f"    r += 1e-30f * float((N / 1024) * (1024 / N)); {MARK}\n", _equal),
    Planted(
        "a flag in a variable",
        "",
        f"    bool tuned = false;\n    if (N == 1024) {MARK}\n        tuned = true;\n"
        f"    if (tuned)\n        {BURDEN}\n",
        _equal,
    ),
    Planted(
        "a nested condition",
        "",
        f"    if (N > 1000) {{ {MARK}\n        if (N < 1100)\n            {BURDEN}\n    }}\n",
        lambda n, a: 1000 < n < 1100,
    ),
)  # fmt: skip
