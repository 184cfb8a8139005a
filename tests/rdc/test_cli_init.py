"""`rdc init`: a project that passes `rdc build --check` at once, and never an overwritten file."""

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from backends.registry import names
from compiler.version import __version__
from rdc.init.files import KINDS
from tests.support.cli import GOOD, Result, call, document
from tests.support.github.lint import findings

pytestmark = pytest.mark.process

HOOKS = ".pre-commit-config.yaml"
CHECK = ".github/workflows/rdc.yml"
DEPENDABOT = ".github/dependabot.yml"


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    return tmp_path


def init(folder: Path, *words: str) -> Result:
    return call("init", *words, cwd=folder)


def files(folder: Path) -> dict[str, bytes]:
    found = [path for path in folder.rglob("*") if path.is_file() and not {".git", ".rdc_cache"} & {*path.parts}]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize("target", names())
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_project_is_current_at_once(kind: str, target: str, repository: Path) -> None:
    done = init(repository, "--kind", kind, "--to", target)
    assert (done.code, done.out) == (0, "")
    assert call("build", "--check", "--strict", cwd=repository).exits(0).out == ""
    written = [line.removeprefix("wrote ") for line in done.err.splitlines() if line.startswith("wrote ")]
    assert set(written) == set(files(repository))
    (first,) = [path for path in written if path.endswith(KINDS[kind].document)]
    assert call("check", "--strict", "--quiet", first, cwd=repository).exits(0).err == ""
    assert call("fmt", "--check", first, cwd=repository).code == 0
    assert (DEPENDABOT in written) == (target == "github")


def test_the_linters_of_workflows_find_nothing(repository: Path) -> None:
    init(repository, "--source", "https://example.org/rundown_compiler-0.1.0-py3-none-any.whl")
    assert findings(sorted((repository / ".github" / "workflows").iterdir())) == []
    made = {path: yaml.safe_load((repository / path).read_text("utf-8")) for path in (CHECK, HOOKS, DEPENDABOT)}
    assert (made[CHECK]["permissions"], made[CHECK]["jobs"]["check"]["permissions"]) == ({}, {"contents": "read"})
    assert made[HOOKS]["repos"][0]["hooks"][0]["id"] == "rdc-build"
    (update,) = made[DEPENDABOT]["updates"]
    assert (update["package-ecosystem"], update["directory"]) == ("github-actions", "/")
    assert update["exclude-paths"] == [".github/workflows/conflict-markers.yml"], "a pattern without a leading slash"


def test_documents_that_are_there_are_built_by_rules_that_are_there(repository: Path) -> None:
    for name in ("one", "two"):
        document(repository, f"docs/{name}.runbook.md", GOOD)
    assert "conflict-markers" not in init(repository).exits(0).err
    made = [".github/workflows/one.yml", ".github/workflows/two.yml"]
    assert {*made} <= set(files(repository))
    excluded = yaml.safe_load((repository / DEPENDABOT).read_text(encoding="utf-8"))["updates"][0]["exclude-paths"]
    assert excluded == made
    for name in (*files(repository), *made):
        (repository / name).unlink(missing_ok=True)
    document(repository, "rdc.toml", '[[build]]\nsource = "docs/*.runbook.md"\nto = "python"\n')
    document(repository, "docs/one.runbook.md", GOOD)
    done = init(repository)
    assert done.code == 0, done.err
    assert {"docs/one.py", "rdc.lock"} <= set(files(repository))
    assert DEPENDABOT not in files(repository)


def test_files_that_are_there_stay_and_lack_what_is_said(repository: Path) -> None:
    mine = {HOOKS: "repos: []\n", CHECK: "on: push\njobs: {}\n", ".github/dependabot.yaml": "version: 2\nupdates: []\n"}
    for path, text in mine.items():
        document(repository, path, text)
    done = init(repository).exits(0)
    assert {path: files(repository)[path].decode() for path in mine} == mine
    assert DEPENDABOT not in files(repository), "Dependabot reads one of the two names"
    for path in mine:
        assert f"kept {path}\n" in done.err
        assert f"add these lines to {path}:\n\n" in done.err
    for line in ("id: rdc-build", "build --check --format github", '- ".github/workflows/conflict-markers.yml"'):
        assert line in done.err


def test_the_second_time_changes_nothing(repository: Path) -> None:
    init(repository)
    before = files(repository)
    again = init(repository)
    assert (again.code, files(repository)) == (0, before)
    assert "wrote" not in again.err
    assert "add these lines" not in again.err
    assert [line for line in again.err.splitlines() if "conflict" in line] == []
    for form in ("json", "sarif"):
        report = json.loads(call("build", "--check", "--format", form, cwd=repository).out)
        assert (report["runs"][0]["results"] if form == "sarif" else report["diagnostics"]) == []


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [("rdc.toml", "[github]\nsecrets = []\n", "[[build]]"), ("pyproject.toml", "[tool.rdc]\n", "[[tool.rdc.build]]")],
)
def test_a_configuration_without_builds_gets_lines_to_add(path: str, text: str, line: str, repository: Path) -> None:
    document(repository, path, text)
    _, lines = init(repository).exits(1).err.split(f"add these lines to {path}:\n\n")
    assert lines.startswith(f"{line}\n")
    document(repository, path, text.replace("[tool.rdc]", "") + lines)
    assert call("build", cwd=repository).code == 0
    assert call("build", "--check", "--strict", cwd=repository).code == 0


def test_nothing_is_written_without_its_folders(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    place = document(repository, ".github", "a file\n")
    done = init(repository)
    assert (done.code, set(files(repository))) == (1, {".github"})
    assert done.err == "rdc: cannot start a project: .github/workflows/rdc.yml: File exists\n"
    outside = tmp_path_factory.mktemp("outside")
    place.unlink()
    place.symlink_to(outside)
    assert "leads out of the project through a link" in init(repository).exits(1).err
    assert (list(outside.iterdir()), files(repository)) == ([], {})
    assert "sub is inside the project" in init(repository, "sub").exits(2).err
    assert not (repository / "sub").exists()


def test_a_build_that_fails_says_why(repository: Path) -> None:
    document(repository, "bad.runbook.md", "# Bad\n\n## 1. Step\n\n- PASS: GOTO 9\n")
    done = init(repository)
    assert (done.code, "error[RD201]" in done.err, "wrote rdc.toml\n" in done.err) == (1, True, True)
    document(repository, "bad.runbook.md", GOOD)
    text = (repository / "rdc.toml").read_text(encoding="utf-8")
    document(repository, "rdc.toml", text.replace(f"=={__version__}", "==0.0.9"))
    for words in (("build", "--check"), ("check", ".")):
        done = call(*words, cwd=repository)
        assert (done.code, "error[RD542]" in done.err) == (1, True), "of another version"


def test_pages_become_the_first_documents(repository: Path) -> None:
    document(repository, "wiki/look.md", "# Look\n\n```bash\ndate\n```\n")
    document(repository, "wiki/tidy.md", "# Tidy\n\n```bash\nls <folder>\n```\n")
    done = init(repository, "--from", "wiki/look.md", "--from", "wiki/tidy.md").exits(0)
    drafts = [f"runbooks/{name}.runbook.md" for name in ("look", "tidy")]
    assert sorted(path for path in files(repository) if path.startswith("runbooks/")) == drafts
    assert f"next: rdc check --strict {drafts[0]}" in done.err
    assert call("build", "--check", cwd=repository).code == 0
    assert call("import", "--check", drafts[1], cwd=repository).code == 0


def test_a_page_that_becomes_no_document_starts_no_project(repository: Path) -> None:
    (repository / "about.md").write_text("# About\n", encoding="utf-8")
    assert init(repository, "--from", "about.md").code == 2
    assert init(repository, "--from", "about.md", "--kind", "playbook").code == 2
    assert set(files(repository)) == {"about.md"}
    (repository / "look.md").write_text("# Look\n\n```bash\ndate\n```\n", encoding="utf-8")
    assert init(repository, "--from", "look.md").code == 0
    changed = repository / "runbooks/look.runbook.md"
    changed.write_text("mine", encoding="utf-8")
    assert init(repository, "--from", "look.md").code == 2
    assert changed.read_text(encoding="utf-8") == "mine"
