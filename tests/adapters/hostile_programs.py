"""Programs that a search may come up with and that must end as a score of 0 with a reason, never as a lost search."""

from __future__ import annotations

from adapters.planted_task import SEED, Planted

RIGHT = SEED.read_bytes()

UNREADABLE = {
    "latin-1": "// für\n".encode("latin-1") + RIGHT,
    "utf-16": RIGHT.decode().encode("utf-16"),
    "a zero byte": RIGHT + b"// \0\n",
    "too large": b"// " + b"x" * (4 << 20) + b"\n" + RIGHT,
}
WITHOUT_A_KERNEL = {
    "nothing": b"",
    "prose": b"I would unroll the loop, and then it will be faster.\n",
    "half a diff": b"<<<<<<< SEARCH\n    y[i] = 0;\n=======\n" + RIGHT,
    "python": b"# EVOLVE-BLOCK-START\nimport os\nos.system('true')\n# EVOLVE-BLOCK-END\n",
    "another kernel": RIGHT.replace(b"planted", b"plant"),
}
BAD = {
    "wrong": RIGHT.replace(b"+ y[i]", b"- y[i]"),
    "not finite": RIGHT.replace(b"+ y[i]", b"/ 0.0f"),
    "out of bounds": RIGHT.replace(b"if (i >= N) return;", b"x -= 1u << 29;"),
    "an include": b'#include "/etc/passwd"\n' + RIGHT,
    "assembly": RIGHT.replace(b"if (i", b'asm volatile("nop"); if (i'),
    "deep recursion of templates": b"template <int n> struct D { D<n + 1> d; };\nD<0> d;\n" + RIGHT,
}
HANGS = RIGHT.replace(b"if (i >= N) return;", b"while (a == a) y[i] += x[i];")

# It knows nothing, but asks: a compiler quotes what it is told to.
GUESS = f"#error {Planted().published_held_out('small').label}"
GUESSES = RIGHT.replace(b"    if (i >= N) return;", GUESS.encode())
