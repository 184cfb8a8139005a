"""`rdc diff`: two documents, or a document and a revision of git, compared as flows."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.rdc.cli_support import call

OLD = """\
# Deploy

## 1. Build

```bash
make
```

## 2. Install

```bash
make install
```

- PASS: COMPLETE "Done"
"""

NEW = OLD.replace("## 2. Install", "## 2. Test\n\n```bash\nmake check\n```\n\n## 3. Install").replace(
    "make\n", "make all\n", 1
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "old.runbook.md").write_text(OLD, encoding="utf-8")
    (tmp_path / "new.runbook.md").write_text(NEW, encoding="utf-8")
    return tmp_path


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=Test", "-c", "user.email=test@example.org"]
    subprocess.run(["git", "-C", str(folder), *identity, *words], check=True, capture_output=True)


@pytest.fixture
def repository(folder: Path) -> Path:
    (folder / "shared").mkdir()
    (folder / "shared" / "lint.runbook.md").write_text("## 1. Lint\n\n```bash\nmake lint\n```\n", encoding="utf-8")
    document = OLD + "\n## Extra\n\n- shared/lint.runbook.md\n"
    (folder / "deploy.runbook.md").write_text(
        document.replace("PASS: COMPLETE", "FAIL: GOTO Extra\n- PASS: COMPLETE"), encoding="utf-8"
    )
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def test_two_files(folder: Path) -> None:
    result = call("diff", "old.runbook.md", "new.runbook.md", cwd=folder)
    assert result.code == 0
    assert result.out.splitlines() == [
        "--- old.runbook.md",
        "+++ new.runbook.md",
        "+ 2 Test",
        "~ 1 Build: command",
        "    -make",
        "    +make all",
        "> 1 Build: PASS: 2 Install -> PASS: 2 Test",
        "= 2 is now 3",
    ]


def test_the_same_document(folder: Path) -> None:
    result = call("diff", "--exit-code", "old.runbook.md", "old.runbook.md", cwd=folder)
    assert (result.code, result.out) == (0, "old.runbook.md and old.runbook.md flow the same\n")
    assert call("diff", "--exit-code", "old.runbook.md", "new.runbook.md", cwd=folder).code == 1


def test_json(folder: Path) -> None:
    found = json.loads(call("diff", "old.runbook.md", "new.runbook.md", "--format", "json", cwd=folder).out)
    assert found["added"] == [{"id": "2", "title": "Test", "line": 9}]
    assert found["changed"] == [{"id": "1", "title": "Build", "line": 3, "was": "1", "parts": ["command"]}]
    assert found["renumbered"] == [{"old": "2", "new": "3"}]
    assert found["ends"] == {"opened": [], "closed": []}
    assert found["redirected"][0]["after"] == {"says": "PASS", "target": "2", "called": "2 Test"}


def test_a_revision(repository: Path) -> None:
    path = repository / "deploy.runbook.md"
    path.write_text(path.read_text(encoding="utf-8").replace('"Done"', '"Installed"'), encoding="utf-8")
    for old in ("HEAD", "HEAD:deploy.runbook.md"):
        lines = call("diff", old, "deploy.runbook.md", cwd=repository).out.splitlines()
        assert lines[0] == "--- HEAD:deploy.runbook.md"
        assert '! now reached: COMPLETE "Installed"' in lines
        assert '! no longer reached: COMPLETE "Done"' in lines


def test_what_is_included_is_that_of_the_revision(repository: Path) -> None:
    (repository / "shared" / "lint.runbook.md").write_text(
        "## 1. Lint\n\n```bash\nmake lint-all\n```\n", encoding="utf-8"
    )
    out = call("diff", "HEAD", "deploy.runbook.md", cwd=repository).out
    assert "~ Extra/shared/lint.runbook.md/1 Lint: command" in out


def test_from_a_folder_in_the_repository(repository: Path) -> None:
    assert call("diff", "HEAD", "lint.runbook.md", cwd=repository / "shared").out.endswith("flow the same\n")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["nowhere", "deploy.runbook.md"], "Not a valid object name nowhere"),
        (["HEAD", "new2.runbook.md"], "there is no `new2.runbook.md` in the revision HEAD"),
        (["--upload-pack=x:deploy.runbook.md", "deploy.runbook.md"], "no such option"),
    ],
)
def test_what_is_not_there(words: list[str], problem: str, repository: Path) -> None:
    result = call("diff", *words, cwd=repository)
    assert result.code == 2
    assert problem in result.err


def test_outside_of_a_repository(folder: Path) -> None:
    result = call("diff", "HEAD", "new.runbook.md", cwd=folder)
    assert result.code == 2
    assert "not a git repository" in result.err


def test_a_document_with_errors(repository: Path) -> None:
    path = repository / "deploy.runbook.md"
    fine = path.read_text(encoding="utf-8")
    path.write_text(fine.replace("GOTO Extra", "GOTO Nowhere"), encoding="utf-8")
    git(repository, "commit", "--quiet", "--all", "--message", "broken")
    path.write_text(fine, encoding="utf-8")
    result = call("diff", "HEAD", "deploy.runbook.md", cwd=repository)
    assert (result.code, result.out) == (1, "")
    assert "HEAD:deploy.runbook.md:15" in result.err
    assert "RD201" in result.err


def test_nothing_in_the_repository_is_run_or_changed(repository: Path) -> None:
    """Filters and hooks of the repository are for those who check it out."""
    (repository / ".gitattributes").write_text("*.md filter=evil diff=evil\n", encoding="utf-8")
    git(repository, "config", "filter.evil.smudge", "touch canary")
    git(repository, "config", "diff.evil.textconv", "touch canary; cat")
    before = sorted(repository.rglob("*.md"))
    assert call("diff", "HEAD", "deploy.runbook.md", cwd=repository).code == 0
    assert sorted(repository.rglob("*.md")) == before
    assert not (repository / "canary").exists()
