"""The project builds itself: its workflows are what `rdc build` makes of its runbooks."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from compiler.version import __version__
from tests.conftest import ROOT
from tests.support import actions_engine as engine
from tests.support.cli import call
from tests.support.github.lint import findings
from tests.support.github.native import REVIEWERS, errors
from tests.support.published import commit_all

MAKE = "#!/bin/sh\nmkdir -p dist && echo notes > dist/NOTES.md && cd dist && sha256sum NOTES.md > SHA256SUMS\n"
"""Replaces `make test` and `make release`, which have tests of their own."""

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


@pytest.mark.parametrize(
    ("decisions", "conclusion", "says"),
    [
        (["approved", "approved"], "success", "COMPLETE The version is released"),
        (["rejected"], "failure", "STOP Nothing was released"),
        (["approved", "rejected"], "failure", "STOP Push the tag, or start again"),
        (["approved", "bypassed"], "failure", REVIEWERS),
    ],
)
def test_the_release_workflow_asks_before_the_tag(
    decisions: list[str], conclusion: str, says: str, tmp_path: Path
) -> None:
    tree = tmp_path / "rdc"
    shutil.copytree(ROOT / ".github", tree / ".github")
    (tree / ".gitignore").write_text("dist/\n", encoding="utf-8")
    commit_all(tree)
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "make").write_text(MAKE, encoding="utf-8")
    (programs / "make").chmod(0o755)
    text = (tree / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    env = {"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    run = engine.run(tree, text, history=tmp_path / "history", env=env, environments={"approval": decisions})
    assert run.conclusion == conclusion, run.log
    assert says in run.summary + errors(run), run.log
    assert ("COMPLETE" in run.summary) == (conclusion == "success")
    assert ("### Decide: 6. Is the tag pushed?" in run.summary) == (decisions[0] == "approved")
    assert "NOTES.md: OK" in run.log, "the release is built and checked before a person decides"
