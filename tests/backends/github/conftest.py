"""What the tests of the workflow target share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from backends.github.workflow import limits
from tests.backends.github.walking import Engine
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun


@pytest.fixture
def walk(tmp_path: Path) -> Engine:
    """Runs a workflow, in an empty repository if no other is given."""
    (tmp_path / "repository").mkdir()

    def walked(text: str, **given: Any) -> EngineRun:
        return engine.run(tmp_path / "repository", text, history=tmp_path / "history", **given)

    return walked


@pytest.fixture
def any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets a workflow have its whole program in itself, which is larger than GitHub takes for agents behind gates."""
    monkeypatch.setattr(limits, "LARGEST_FILE", 1 << 20)
