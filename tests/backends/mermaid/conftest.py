"""What the tests of the mermaid target share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.mermaid import Mermaid, running


@pytest.fixture(scope="session")
def mermaid() -> Iterator[Mermaid]:
    with running() as parser:
        yield parser
