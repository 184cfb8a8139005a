"""Sources from bytes, such as the buffer of an editor: the same as from a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.text.files import LARGEST_FILE, read_source, source_of
from compiler.text.source import Source


@pytest.mark.parametrize(
    "data", [b"", b"a\r\nb", "\ufeffé🚀\n".encode(), b"\xff", b"a\0b", b"a" * (LARGEST_FILE + 1), b"x\n" * 500_001]
)
def test_bytes_are_read_as_from_a_file(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a.runbook.md"
    path.write_bytes(data)
    assert source_of(data, "shown.md", "name.md") == read_source(path, "shown.md", "name.md")


def test_a_source_has_its_bytes_again() -> None:
    data = "\ufeff# Té\r\n".encode()
    found = source_of(data, "a.md", "b.md")
    assert isinstance(found, Source)
    assert (found.path, found.name, found.data, found.has_mark) == ("a.md", "b.md", data, True)
