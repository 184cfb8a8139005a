"""The generated pages of the documentation are current."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.regenerate import PAGES


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_generated_pages_are_current(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == PAGES[path](), "run `make golden`"
