"""`[mcp]` in rdc.toml: which documents agents get, and the approval of each of their versions."""

import re
import shlex
from pathlib import Path

import pytest

from rdc import api
from tests.rdc.projects import GITHUB, RUNBOOK, Project
from tests.support.cli import call, document

pytestmark = pytest.mark.process

SERVED = '[mcp]\ndocuments = ["ops/**/*.runbook.md", "!ops/drafts/**"]\n'
DEPLOY = "ops/deploy.runbook.md"
INCLUDING = "# Deploy\n\n## 1. Check\n\n- check.runbook.md\n"


def served(root: Path) -> api.ServedDocuments:
    return api.served(root / "ops")


def present(project: Project, path: str = DEPLOY) -> str:
    program = api.check(project.root / path).program
    assert program
    return api.program_hash(program)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop", SERVED)
    made.write(DEPLOY, INCLUDING)
    made.write("ops/check.runbook.md", RUNBOOK.format("Check", "true"))
    made.write("ops/drafts/new.runbook.md", "no steps yet")
    made.runbook("other")
    assert made.build().code == 0
    return made


def approve(project: Project) -> None:
    """Approve all new items, with the command that the build prints."""
    refused = project.build()
    command = re.search(r"then run: (rdc build .*)", refused.err)
    assert command, refused.err
    assert project.build(*shlex.split(command[1])[2:]).code == 0


def test_the_lock_has_the_hash_of_each_served_document(project: Project) -> None:
    check = "ops/check.runbook.md"
    lines = [f"{check} mcp {present(project, check)}", f"{DEPLOY} mcp {present(project)}"]
    assert project.text("rdc.lock").splitlines()[1:] == lines
    assert served(project.root).approved == {check: present(project, check), DEPLOY: present(project)}
    assert project.build().err == "0 files up to date\n"
    assert project.build("--check").code == 0


def test_each_edit_needs_an_approval_also_of_a_document_that_is_included(project: Project) -> None:
    before = project.text("rdc.lock")
    project.write("ops/check.runbook.md", RUNBOOK.format("Check", "false"))
    assert f"new and not approved: mcp {present(project)} in {DEPLOY}" in project.build().exits(1).err
    assert project.text("rdc.lock") == before
    assert served(project.root).approved[DEPLOY] != present(project)
    approve(project)
    assert served(project.root).approved[DEPLOY] == present(project)
    project.write(DEPLOY, INCLUDING.replace("Deploy", "Deploy the shop"))
    assert f"new and not approved: mcp {present(project)} in {DEPLOY}" in project.build("--check").err


def test_options_of_the_project_count_its_folder_does_not(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    before = present(project)
    with monkeypatch.context() as patch:
        patch.chdir(project.root / "ops")
        program = api.check("deploy.runbook.md").program
        assert program
        assert api.program_hash(program) == before
    project.write("rdc.toml", f'notify = "mail.sh"\n\n{SERVED}')
    assert present(project) != before
    assert "new and not approved: mcp " in project.build().err


def test_a_document_that_is_served_from_now_on_needs_an_approval(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop")
    project.runbook("deploy")
    assert project.build().code == 0
    project.write("rdc.toml", f'{GITHUB}\n[mcp]\ndocuments = ["docs/deploy.runbook.md"]\n')
    assert api.served(project.root).approved == {"docs/deploy.runbook.md": ""}
    assert "new and not approved: mcp " in project.build().err
    approve(project)
    assert api.served(project.root).approved == {"docs/deploy.runbook.md": present(project, "docs/deploy.runbook.md")}
    project.write("rdc.toml", GITHUB)
    assert project.build().err == "wrote rdc.lock\n"
    assert " mcp " not in project.text("rdc.lock")


def test_an_error_in_a_served_document_fails_the_build_and_leaves_the_lock(project: Project) -> None:
    before = project.text("rdc.lock")
    project.write(DEPLOY, "## 2. No\n")
    assert "RD102" in project.build().exits(1).err
    assert project.text("rdc.lock") == before


def test_documents_of_the_same_name_are_served_and_files_beside_them_not_left_over(project: Project) -> None:
    project.write("ops/deploy.workflow.yaml", "name: a\nsteps:\n  - {name: ship, prompt: Ship it., end: true}\n")
    project.write("rdc.toml", SERVED.replace('**"]', '**", "ops/*.yaml"]'))
    approve(project)
    assert set(served(project.root).approved) == {DEPLOY, "ops/check.runbook.md", "ops/deploy.workflow.yaml"}
    gone = project.write("ops/gone.runbook.md", RUNBOOK.format("Gone", "true"))
    call("compile", "gone.runbook.md", "--to", "python", cwd=project.root / "ops")
    gone.unlink()
    assert project.build("--prune").code == 0
    assert (project.root / "ops/gone.py").exists()


def test_without_the_table_no_document_is_served(tmp_path: Path) -> None:
    project = Project(tmp_path / "shop")
    project.runbook("deploy")
    project.build()
    assert api.served(project.root).approved == {}
    assert api.served(project.root).output == "tail"
    project.write("rdc.toml", f'{GITHUB}\n[mcp]\noutput = "none"\n')
    assert api.served(project.root).output == "none"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("mcp = 1", 1, "`mcp` must be a table"),
        ("[mcp]\ndocument = []", 2, "unknown key `document` in `mcp`; did you mean `documents`?"),
        *(
            (f"[mcp]\ndocuments = {value}", 2, "`documents` must be a list of at most 100 paths")
            for value in ('"a.runbook.md"', '["/etc/*"]', '["a/../../b"]', '["[z-a]"]', "[1]")
        ),
        *((f"[mcp]\noutput = {value}", 2, "`output` must be tail or none") for value in ('"all"', "[]")),
    ],
)
def test_a_wrong_table_is_an_error_and_serves_nothing(tmp_path: Path, text: str, line: int, message: str) -> None:
    document(tmp_path, "rdc.toml", f"{text}\n")
    document(tmp_path, "a.runbook.md", RUNBOOK.format("A", "true"))
    result = call("check", "a.runbook.md", cwd=tmp_path).exits(1)
    assert f"rdc.toml:{line}:1: error[RD501]: the configuration is not valid: {message}" in result.err
    found = api.served(tmp_path)
    assert (found.approved, [one.code for one in found.diagnostics]) == ({}, ["RD501"])


def test_a_project_that_only_serves_may_say_so_in_pyproject(tmp_path: Path) -> None:
    document(tmp_path, "a.runbook.md", RUNBOOK.format("A", "true"))
    document(tmp_path, "pyproject.toml", '[tool.rdc.mcp]\ndocuments = ["a.runbook.md"]\n')
    assert call("build", cwd=tmp_path).code == 0
    assert list(api.served(tmp_path).approved) == ["a.runbook.md"]
    (tmp_path / "pyproject.toml").unlink()
    document(tmp_path, "rdc.toml", '[mcp]\ndocuments = ["a.runbook.md"]\n')
    assert "add these lines to rdc.toml" in call("init", cwd=tmp_path).err


def test_an_agent_that_removes_the_lock_approves_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    (project.root / "rdc.lock").unlink()
    monkeypatch.setenv("CLAUDECODE", "1")
    assert f"{DEPLOY}: error[RD546]: new and not approved: mcp " in project.build().exits(1).err
    assert served(project.root).approved[DEPLOY] == ""
    monkeypatch.delenv("CLAUDECODE")
    assert project.build().code == 0
    assert served(project.root).approved[DEPLOY] == present(project)
