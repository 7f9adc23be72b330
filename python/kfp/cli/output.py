"""Printing: colour only on a terminal that wants it, JSON when asked for it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable
from typing import Any, TextIO

from kfp.tables import Line, Style

_CODES: dict[Style, str] = {"": "", "bold": "1", "dim": "2", "good": "32", "bad": "31", "doubt": "33"}


def wants_colour(stream: TextIO | None) -> bool:
    """As https://no-color.org has it; and no escape sequences for a terminal that knows none."""
    return (
        stream is not None and stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def print_lines(lines: Iterable[Line]) -> None:
    colour = wants_colour(sys.stdout)
    for line in lines:
        code = _CODES[line.style]
        print(f"\x1b[{code}m{line.text}\x1b[0m" if colour and code and line.text else line.text)


def print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))
