"""No command of rdc writes or reads through a link of a repository: it may lead to a hook, or out of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import call, document, spawn

pytestmark = pytest.mark.process

RUNBOOK = "# T\n\n## 1. Work\n\n```bash\ntrue\n```\n"
CHANGED = "# T\n\n## 1. Work\n\n```bash\nfalse\n```\n"
WORKFLOW = """\
name: a
steps:
  - {name: draft, agent: writer, prompt: Write it., end: true}
"""
ENDS = {"a hook": ".git/hooks/post-commit", "outside": "../outside/file", "inside": "other/file"}


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A repository with two documents, beside a folder that doesn't belong to it."""
    (tmp_path / "outside").mkdir()
    (folder := tmp_path / "clone").mkdir()
    (folder / ".git/hooks").mkdir(parents=True)
    (folder / "other").mkdir()
    document(folder, "deploy.runbook.md", RUNBOOK)
    document(folder, "new.runbook.md", CHANGED)
    return folder


WRITERS = {
    "compile": (("compile", "deploy.runbook.md", "--to", "python"), "deploy.py"),
    "compile with -o": (("compile", "deploy.runbook.md", "--to", "make", "--force", "-o", "Makefile"), "Makefile"),
    "compile beside": (("compile", "deploy.runbook.md", "--to", "python", "-o", "./deploy.py"), "deploy.py"),
    "graph": (("graph", "deploy.runbook.md", "--format", "dot", "-o", "a.dot"), "a.dot"),
    "graph beside": (("graph", "deploy.runbook.md"), "deploy.svg"),
    "diff": (("diff", "deploy.runbook.md", "new.runbook.md", "-o", "a.diff.txt", "--format", "text"), "a.diff.txt"),
}


@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("writer", WRITERS)
def test_no_command_writes_through_a_file_that_is_a_link(writer: str, end: str, clone: Path) -> None:
    words, name = WRITERS[writer]
    (clone / name).symlink_to(ENDS[end])
    result = call(*words, cwd=clone)
    assert (result.code, "RD511" in result.err) == (1, True), result.err
    assert f"cannot write {name}: it is a link" in result.err.replace("./", "")
    assert not (clone / ENDS[end]).exists()
    (clone / name).unlink()  # the remedy
    assert call(*words, cwd=clone).code == 0
    assert (clone / name).is_file()


@pytest.mark.parametrize(
    ("end", "problem"), [("../outside", "leads out of the project"), (".git/hooks", "leads to the folder .git")]
)
def test_no_command_writes_through_a_folder_that_is_a_link(end: str, problem: str, clone: Path) -> None:
    (clone / "out").symlink_to(end)
    before = sorted((clone / end).iterdir())
    for out in ("out/", "out/post-commit", str(clone / "out/post-commit")):
        result = call("compile", "deploy.runbook.md", "--to", "python", "-o", out, cwd=clone)
        assert (result.code, problem in result.err) == (1, True), result.err
    assert sorted((clone / end).iterdir()) == before


def test_a_link_in_another_project_that_the_user_names_leads_nowhere_either(clone: Path) -> None:
    (clone / "out").symlink_to("../outside")
    result = call(
        "compile", str(clone / "deploy.runbook.md"), "--to", "python", "-o", str(clone / "out/a.py"), cwd=clone.parent
    )
    assert (result.code, "leads out of the project" in result.err) == (1, True), result.err


def test_links_inside_the_project_and_links_of_the_user_lead_to_folders(clone: Path, tmp_path: Path) -> None:
    (clone / "inner").symlink_to("other")
    (tmp_path / "way").symlink_to(clone)
    words = ("compile", "deploy.runbook.md", "--to", "python", "-o")
    assert call(*words, "inner/a.py", cwd=clone).code == 0
    assert call(*words, str(tmp_path / "way/b.py"), cwd=clone).code == 0
    assert call(*words, str(tmp_path / "way/c.py"), cwd=tmp_path / "way").code == 0
    assert [(clone / name).is_file() for name in ("other/a.py", "b.py", "c.py")] == [True, True, True]


@pytest.mark.parametrize("name", ["mocks.json", "mocks.json.calls"])
def test_mocks_follow_no_link_out_of_the_project(name: str, clone: Path) -> None:
    outside = clone.parent / "outside" / "file"
    given = '{"agents": {"draft": ["private"]}}'
    (outside if name == "mocks.json" else clone / "mocks.json").write_text(given)
    (clone / name).symlink_to("../outside/file")
    done = spawn("mock", "mocks.json", cwd=clone, RDC_STEP="draft", RDC_AGENT_TYPE="", RDC_RUN_ID="1")
    assert (done.code, "private" in done.out, "link" in done.err) == (1, False, True), done
    assert outside.exists() is (name == "mocks.json")


def test_a_mock_run_follows_no_link_out_of_the_project(clone: Path) -> None:
    document(clone, "a.workflow.yaml", WORKFLOW)
    (clone.parent / "outside.yaml").write_text("agents:\n  draft: private-text\n")
    (clone / "mocks.yaml").symlink_to("../outside.yaml")
    result = spawn("run", "a.workflow.yaml", "--mock", "mocks.yaml", cwd=clone)
    assert (result.code, "private" in result.err) == (2, False), result.err
    assert "mocks.yaml: it leads out of the project through a link; remove the link" in result.err
    (clone / "mocks.yaml").unlink()
    (clone / "mocks.yaml").write_text("agents:\n  draft: private-text\n")
    assert spawn("run", "a.workflow.yaml", "--mock", "mocks.yaml", cwd=clone).code == 0
