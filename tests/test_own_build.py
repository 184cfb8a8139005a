"""The project builds itself: its workflows are what `rdc build` makes of its runbooks."""

from __future__ import annotations

import pytest

from compiler.version import __version__
from tests.conftest import ROOT
from tests.rdc.cli_support import call
from tests.workflows.lint import findings

RUNBOOKS = ROOT / ".github" / "runbooks"


def test_the_workflows_are_current(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")  # nothing that an earlier build noted counts
    done = call("build", "--check", cwd=ROOT)
    assert done.code == 0, f"run `make golden`\n{done.err}"


def test_the_runbooks_do_what_they_should() -> None:
    for runbook in RUNBOOKS.iterdir():
        done = call("test", str(runbook), cwd=ROOT)
        assert done.code == 0, done.out + done.err


def test_the_linters_find_nothing() -> None:
    assert findings(sorted((ROOT / ".github" / "workflows").iterdir())) == []


def test_the_changelog_has_the_version_that_is_next() -> None:
    assert __version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
