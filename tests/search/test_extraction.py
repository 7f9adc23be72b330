"""The largest fenced block of an answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kfp.search.extraction import largest_block


@pytest.mark.parametrize(
    ("text", "block"),
    [
        ("no code at all", None),
        ("", None),
        ("```\n\n```", None),
        ("```metal\nkernel\n```", "kernel\n"),
        ("```\na\n```\nand\n```cpp\nlonger\n```\nand\n```\nb\n```", "longer\n"),
        ("~~~\ntilde\n~~~", "tilde\n"),
        ("````\n```\ninner\n```\n````", "```\ninner\n```\n"),
        ("```metal\ncut off in the mid", "cut off in the mid"),
        ("text ``` not a fence\n", None),
        ("  ```metal\n  indented\n  ```", "  indented\n"),
        ("```metal\r\nwindows\r\n```\r\n", "windows\n"),
        ("```metal\nx ``` y\n```", "x ``` y\n"),
        ("```metal\n\0\n```", None),
        ("```metal\nlone \ud800 surrogate\n```", "lone ? surrogate\n"),
    ],
)
def test_blocks(text: str, block: str | None) -> None:
    assert largest_block(text) == block


def test_a_block_beyond_every_source_is_none() -> None:
    assert largest_block("```\n" + "x" * (5 << 20) + "\n```") is None


@given(st.text(), st.text(alphabet=st.characters(exclude_characters="`~\r\0", exclude_categories=["Cs"]), min_size=1))
def test_what_is_fenced_comes_out(around: str, code: str) -> None:
    before = around.replace("`", "").replace("~", "")
    found = largest_block(f"{before}\n```metal\n{code}\n```\n")
    assert found == (f"{code}\n" if code.strip() else None)


@given(st.text(alphabet="`~ \nab"))
def test_any_text_is_survived(text: str) -> None:
    found = largest_block(text)
    assert found is None or found in text
