"""Folders, and the project around the current folder, as what a command works on."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import GOOD, UNKNOWN_TARGET, call, document

pytestmark = pytest.mark.process

UNTIDY = GOOD.replace("## 2. Test\n\n", "## 2 - Test\n")
TRIED = """---
scenarios:
  built:
    commands: [rd run --prompted a.runbook.md, rd pass, rd pass]
    result: COMPLETE
---

"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with documents in three folders."""
    (tmp_path / "rdc.toml").touch()
    for name in ("x", "a/x", "b/deep/x"):
        document(tmp_path, f"{name}.runbook.md", UNTIDY)
    return tmp_path


def paths(found: str) -> list[str]:
    return sorted({one["path"] for one in json.loads(found)["diagnostics"]})


def below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_without_arguments_the_project_is_checked_and_formatted(project: Path) -> None:
    for folder in (project, project / "b"):
        assert call("check", cwd=folder).err.endswith("no problems in 3 files\n")
    result = call("fmt", "--check", "--format", "json", cwd=project / "b")
    assert (result.code, paths(result.out)) == (1, ["../a/x.runbook.md", "../x.runbook.md", "deep/x.runbook.md"])
    assert call("fmt", cwd=project / "a").code == 0
    assert {path.read_text() for path in project.rglob("*.runbook.md")} == {GOOD}


def test_the_project_is_the_nearest_folder_with_a_mark_and_git_decides_which_documents_it_has(project: Path) -> None:
    inner = project / "b"
    for marked, text in (("rdc.toml", ""), ("pyproject.toml", "[tool.rdc]\n"), (".git", None)):
        if text is None:
            subprocess.run(["git", "init", "-q", "."], cwd=inner, check=True)
        else:
            (inner / marked).write_text(text)
        assert call("check", cwd=inner / "deep").err.endswith("no problems in 1 file\n")
        shutil.rmtree(inner / marked) if text is None else (inner / marked).unlink()
    (project / "rdc.toml").unlink()
    assert call("check", cwd=project / "a").err.endswith("no problems in 1 file\n"), "a folder of no project"
    subprocess.run(["git", "init", "-q", "."], cwd=project, check=True)
    document(project, ".gitignore", "/a/\n")
    document(project, ".hidden/x.runbook.md", UNKNOWN_TARGET)
    assert call("check", cwd=inner).err.endswith("no problems in 2 files\n")


@pytest.mark.parametrize("command", ["check", "fmt", "test"])
def test_a_project_or_folder_without_documents_is_wrong_use(command: str, tmp_path: Path) -> None:
    endings = (
        "*.runbook.md or *.playbook.md or PLAYBOOK.md or *.workflow.yaml or *.workflow.yml or *.program.json "
        "or *.stepspec.yaml or *.stepspec.yml or *.stepspec.json"
    )
    (tmp_path / "rdc.toml").touch()
    for words, place in (((), f"project {tmp_path}"), ((".",), "folder .")):
        result = call(command, *words, cwd=tmp_path)
        assert (result.code, result.out) == (2, "")
        assert f"the {place} has no documents ({endings})" in result.err
        assert ("; write one, or name a file or folder (see " in result.err) == (not words)


def test_scenarios_of_the_project_are_tested_unless_a_document_has_errors(project: Path) -> None:
    document(project, "a/a.runbook.md", TRIED + GOOD)
    for words in ((), (".",), ("a", "b", "x.runbook.md")):
        result = call("test", *words, cwd=project)
        assert result.out.splitlines() == ["PASSED   a/a.runbook.md  built  semantics  COMPLETE", "1 passed"]
    assert call("test", cwd=project).err == "3 of 4 documents have no scenarios\n"
    assert call("test", "a", cwd=project).err == "1 of 2 documents has no scenarios\n"
    assert call("test", "x.runbook.md", cwd=project).err == "x.runbook.md has no scenarios\n"
    assert call("test", "-q", cwd=project).err == ""
    document(project, "b/b.runbook.md", UNKNOWN_TARGET)
    result = call("test", cwd=project)
    assert (result.code, result.out) == (1, "")
    assert "b/b.runbook.md:9" in result.err


def test_a_folder_is_compiled_or_drawn_beside_its_documents(project: Path) -> None:
    result = call("compile", ".", "--to", "python", cwd=project)
    assert result.err.splitlines() == ["wrote a/x.py", "wrote b/deep/x.py", "wrote x.py"]
    assert call("compile", ".", "--to", "python", "--check", cwd=project).exits(0).err.count("is up to date") == 3
    assert call("graph", "b", "x.runbook.md", cwd=project).err.splitlines() == ["wrote b/deep/x.svg", "wrote x.svg"]
    result = call("graph", ".", "--format", "dot", "-o", "pictures/", cwd=project)
    assert below(project / "pictures") == ["a/x.dot", "b/deep/x.dot", "x.dot"]


def test_an_output_folder_keeps_the_folders_below_the_one_that_holds_them_all(project: Path) -> None:
    for words, made in (
        ((".",), ["a/x.mk", "b/deep/x.mk", "x.mk"]),
        (("a",), ["x.mk"]),
        (("a", "b/deep"), ["a/x.mk", "b/deep/x.mk"]),
        (("x.runbook.md", "b", "./b/deep/x.runbook.md"), ["deep/x.mk", "x.mk"]),
    ):
        call("compile", *words, "--to", "make", "-o", "out/all/", cwd=project).exits(0)
        assert below(project / "out") == [f"all/{name}" for name in made]
        shutil.rmtree(project / "out")


def test_nothing_of_a_folder_is_written_if_one_document_has_an_error(project: Path) -> None:
    document(project, "b/bad.runbook.md", UNKNOWN_TARGET)
    before = below(project)
    for command in (["compile", "--to", "python"], ["graph", "--format", "dot"]):
        assert "b/bad.runbook.md:9" in call(*command, ".", "-o", "out/", cwd=project).exits(1).err
        assert below(project) == before


def test_documents_that_become_one_file_are_refused(project: Path) -> None:
    """GitHub reads no workflows in folders below `.github/workflows`."""
    workflows = ("--to", "github", "-o", ".github/workflows/")
    assert call("compile", "a", *workflows, cwd=project).err == "wrote .github/workflows/x.yml\n"
    result = call("compile", "a", "b", *workflows, cwd=project)
    assert "error[RD513]: a/x.runbook.md and b/deep/x.runbook.md would be written to the same file" in result.err
    document(project, "a/x.playbook.md", "# Play\n\n## STEP 1: Do\n\nDo it.\n")
    for more in ((), ("--check",)):
        result = call("compile", "a", "--to", "make", "-o", "out/", *more, cwd=project)
        same = "error[RD513]: a/x.playbook.md and a/x.runbook.md would be written to the same file out/x.mk"
        assert (result.code, same in result.err) == (1, True)
    assert not (project / "out").exists()
    document(project, "d/whole.runbook.md", "# Whole\n\n## 1. Part\n\n- part.runbook.md\n")
    document(project, "d/part.runbook.md", GOOD)
    assert call("compile", "d", "--to", "python", cwd=project).err == "wrote d/part.py\nwrote d/whole.py\n"


@pytest.mark.parametrize("command", [("compile", "--to", "python"), ("graph",)])
def test_an_output_that_cannot_take_a_folder_is_wrong_use(command: tuple[str, ...], project: Path) -> None:
    folder = call(*command, "a", "-o", "-", cwd=project)
    assert (folder.code, folder.out) == (2, "")
    assert "-o - accepts only one document, but a is a folder; choose a folder with -o" in folder.err
    both = call(*command, "x.runbook.md", "a/x.runbook.md", "-o", "-", cwd=project)
    assert "-o - accepts only one document, but you gave 2; choose a folder with -o" in both.err
    file = call(*command, "a", "-o", "x.svg", cwd=project).exits(2)
    assert "a is a folder, so the output must be one, too: use -o x.svg/" in file.err
    (project / "empty").mkdir()
    assert "the folder empty has no documents" in call(*command, "empty", cwd=project).err
