"""The kernel in an answer: its largest fenced code block."""

from __future__ import annotations

import re

from kfp.sources import MAX_SOURCE_BYTES

_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})[^\n`]*$", re.MULTILINE)


def largest_block(text: str) -> str | None:
    """The longest fenced block with anything in it; a fence that is never closed reaches to the end.

    None for an answer without one, and for a block that no kernel source may be as long as.
    """
    blocks = [block for block in _blocks(text.replace("\r\n", "\n")) if block.strip()]
    if not blocks:
        return None
    longest = max(blocks, key=len)
    size = len(longest.encode("utf-8", errors="replace"))
    if size > MAX_SOURCE_BYTES or "\0" in longest:
        return None
    # A lone surrogate, as a broken escape leaves it, has no place in a file.
    return longest.encode("utf-8", errors="replace").decode("utf-8")


def _blocks(text: str) -> list[str]:
    blocks: list[str] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif _closes(fence, opened):
            blocks.append(text[opened.end() + 1 : fence.start()])
            opened = None
    if opened is not None:
        blocks.append(text[opened.end() + 1 :])
    return blocks


def _closes(fence: re.Match[str], opened: re.Match[str]) -> bool:
    """CommonMark's rule: the same character, at least as many of them, and nothing else on the line."""
    mark = fence.group(1)
    bare = fence.group(0).strip() == mark
    return bare and mark[0] == opened.group(1)[0] and len(mark) >= len(opened.group(1))
