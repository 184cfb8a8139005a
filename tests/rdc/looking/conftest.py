"""A page about a document in the current folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cli import document
from tests.support.looking import DEPLOY, NAME, Client, serving


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, a project with a document."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rdc.toml").touch()
    document(tmp_path, NAME, DEPLOY)
    return tmp_path


@pytest.fixture
def client(folder: Path) -> Iterator[Client]:
    with serving(NAME) as found:
        yield found
