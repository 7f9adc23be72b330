from __future__ import annotations

from pathlib import Path

import pytest
from kfp.errors import UsageError
from kfp.sources import MAX_SOURCE_BYTES, read_source, source_text


def test_text_is_taken_as_it_is() -> None:
    assert source_text("kernel void f() {}\r\n") == "kernel void f() {}\r\n"


def test_a_path_is_read_and_a_byte_order_mark_is_no_part_of_the_text(tmp_path: Path) -> None:
    file = tmp_path / "k.metal"
    file.write_bytes(b"\xef\xbb\xbfkernel void f() {}")
    assert source_text(file) == "kernel void f() {}"


def test_a_file_name_in_a_string_is_a_mistake() -> None:
    with pytest.raises(UsageError, match=r"pass pathlib\.Path\('k\.metal'\)"):
        source_text("k.metal")


def test_something_else_is_refused() -> None:
    with pytest.raises(UsageError, match="expected the kernel's text or a path, got bytes"):
        source_text(b"kernel")  # type: ignore[arg-type]


def test_text_that_no_file_can_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="character 3 is a lone surrogate"):
        source_text("// \ud800")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x7fELF\xff\xfe", "expected UTF-8 text, byte 4 is 0xff"),
        (b"abc\0def", "expected text, byte 3 is 0"),
        (b" " * (MAX_SOURCE_BYTES + 1), "at most 4 MiB"),
    ],
    ids=["binary", "nul", "huge"],
)
def test_files_that_are_no_source(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "k.metal"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=message):
        read_source(file)


def test_unreadable_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"missing\.metal: cannot be read: No such file"):
        read_source(tmp_path / "missing.metal")
    with pytest.raises(UsageError, match="cannot be read: Is a directory"):
        read_source(tmp_path)
