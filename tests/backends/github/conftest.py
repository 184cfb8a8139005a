"""What the tests of the workflow target share."""

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends.github.workflow import limits
from tests.backends.github.walking import Clean, Engine
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github.lint import findings


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


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clean]:
    """Has the linters look at the workflows of a module, at its end: to begin takes them longer than to look."""
    folder, paths = tmp_path_factory.mktemp("clean"), list[Path]()

    def noted(text: str) -> None:
        test = re.sub(r"\W+", "_", os.environ["PYTEST_CURRENT_TEST"].rpartition("::")[2])
        paths.append(folder / f"{len(paths)}_{test[:80]}.yml")
        paths[-1].write_text(text, encoding="utf-8")

    yield noted
    assert not paths or findings(paths) == []
