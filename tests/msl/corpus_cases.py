"""The corpus of small Metal programs: what the front end must accept, and what it must refuse, where and why.

A case starts at a line `//# accept NAME`, `//# refuse NAME [@ LINE][: MESSAGE]` or `//# no pipeline NAME: MESSAGE`;
LINE counts from the line after it. The standard library's two customary lines are put before it, unless NAME ends in
`bare`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent / "corpus"
PREAMBLE = "#include <metal_stdlib>\nusing namespace metal;\n"
_HEAD = re.compile(r"//# (accept|refuse|no pipeline) ([^:@\n]*?)(?: @ (\d+))?(?:: (.*))?\n")


@dataclass(frozen=True)
class Case:
    verdict: str
    name: str
    source: str
    line: int | None
    message: str | None


def cases() -> list[Case]:
    found = []
    for path in sorted(FOLDER.glob("*.metal")):
        text = path.read_text()
        heads = list(_HEAD.finditer(text))
        if len(heads) != text.count("//# "):
            raise ValueError(f"{path}: a line that begins with //# is not the head of a case")
        for head, following in zip(heads, [*heads[1:], None], strict=True):
            verdict, name, line, message = head.groups()
            body = text[head.end() : following.start() if following else len(text)]
            bare = name.endswith(" bare")
            offset = 0 if bare else PREAMBLE.count("\n")
            source = body if bare else PREAMBLE + body
            found.append(Case(verdict, f"{path.stem}: {name}", source, int(line) + offset if line else None, message))
    names = [case.name for case in found]
    if len(set(names)) != len(names):
        raise ValueError("two cases have the same name")
    return found


def programs() -> list[Path]:
    return sorted((FOLDER / "programs").glob("*.metal"))
