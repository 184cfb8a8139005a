"""`rdc diff`: two documents, or a document and a revision of git, compared as flows."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from backends.base import MARK
from rdc.documents.git import LARGEST
from tests.support.cli import MISSING_TITLE, Result, call, document
from tests.support.graphviz import seen
from tests.support.published import commit_all, git

pytestmark = [pytest.mark.process, pytest.mark.usefixtures("drawn_once")]

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

TESTED = "## 2. Test\n\n```bash\nmake check\n```\n\n## 3. Install"
NEW = OLD.replace("make\n", "make all\n", 1).replace("## 2. Install", TESTED)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document(tmp_path, "old.runbook.md", OLD)
    document(tmp_path, "new.runbook.md", NEW)
    return tmp_path


@pytest.fixture
def repository(folder: Path) -> Path:
    document(folder, "shared/lint.runbook.md", "## 1. Lint\n\n```bash\nmake lint\n```\n")
    text = OLD.replace("PASS: COMPLETE", "FAIL: GOTO Extra\n- PASS: COMPLETE")
    document(folder, "deploy.runbook.md", f"{text}\n## Extra\n\n- shared/lint.runbook.md\n")
    commit_all(folder)
    return folder


def test_two_files(folder: Path) -> None:
    result = call("diff", "old.runbook.md", "new.runbook.md", cwd=folder).exits(0)
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
    found = json.loads(call("diff", "old.runbook.md", "new.runbook.md", "--format", "json", cwd=folder).out)
    assert found["added"] == [{"id": "2", "title": "Test", "line": 6}]
    assert found["changed"] == [{"id": "1", "title": "Build", "line": 2, "was": "1", "parts": ["command"]}]
    assert (found["renumbered"], found["ends"]) == ([{"old": "2", "new": "3"}], {"opened": [], "closed": []})
    assert found["redirected"][0]["after"] == {"says": "PASS", "target": "2", "called": "2 Test"}


SETTINGS = """\
---
rdc:
  inputs: {HOST: {default: db1, pattern: "[a-z]+[0-9]"}}
  secrets: [TOKEN]
  github:
    permissions: {contents: read}
    runs-on: ubuntu-24.04
    setup: [{run: npm ci}]
    agent: {run: claude -p, secrets: [TOKEN]}
  steps: {1: {timeout: 60s, env: {MODE: slow}}}
---
"""


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("contents: read", "contents: write", ["* github permissions.contents: read -> write"]),
        ("    runs-on: ubuntu-24.04\n", "", ["* github runs-on: ubuntu-24.04 -> unset"]),
        ("npm ci", "curl x | sh", ["* github setup.1.run: npm ci -> curl x | sh"]),
        ("claude -p", "codex", ["* github agent.run: claude -p -> codex"]),
        ("    runs-on", "    on: push\n    runs-on", ["* github on: unset -> push"]),
        ("    runs-on", "    environment: live\n    runs-on", ["* github environment: unset -> live"]),
        ("[a-z]+[0-9]", ".*", ["* input HOST pattern: [a-z]+[0-9] -> .*"]),
        ("60s", "90s", ["~ 1 Build: settings", "    -timeout: 60", "    +timeout: 90", "     delay: 0"]),
    ],
)
def test_a_setting_is_a_change(folder: Path, old: str, new: str, lines: list[str]) -> None:
    assert old in SETTINGS
    document(folder, "a.runbook.md", SETTINGS + OLD)
    document(folder, "b.runbook.md", SETTINGS.replace(old, new) + OLD)
    result = call("diff", "--exit-code", "a.runbook.md", "b.runbook.md", cwd=folder)
    assert (result.code, result.out.splitlines()[2:]) == (1, lines), result.err


def test_settings_of_the_project_and_of_a_specification(repository: Path) -> None:
    (repository / "rdc.toml").write_text('[github]\nprompts = "environment"\n', encoding="utf-8")
    lines = call("diff", "HEAD", "deploy.runbook.md", cwd=repository).out.splitlines()
    assert lines[2:] == ["* github prompts: unset -> environment"]
    text = (
        "step_specs:\n  - {id: draft, phase: x, tools: [{name: getCurrentTime, risk: high}]}\n"
        "config: {hitl: {policy: {required_phases: [x]}}}\n"
    )
    (repository / "a.stepspec.yaml").write_text(text, encoding="utf-8")
    (repository / "b.stepspec.yaml").write_text(text.replace("high", "low").replace("[x]", "[y]"), encoding="utf-8")
    lines = call("diff", "a.stepspec.yaml", "b.stepspec.yaml", cwd=repository).out.splitlines()
    assert "* step draft tools.1.risk: high -> low" in lines
    assert [line for line in lines if line.startswith("- ") and "draft:hitl" in line], "the gate is gone"


def test_json_has_settings_and_new_loops(folder: Path) -> None:
    document(folder, "a.runbook.md", SETTINGS + OLD)
    looping = (SETTINGS.replace("npm ci", "npm i") + OLD).replace("- PASS: C", "- FAIL: GOTO 1\n- PASS: C")
    document(folder, "b.runbook.md", looping)
    found = json.loads(call("diff", "a.runbook.md", "b.runbook.md", "--format", "json", cwd=folder).out)
    assert found["settings"] == [{"name": "github setup.1.run", "before": "npm ci", "after": "npm i"}]
    assert found["loops"] == [["1", "2"]]
    text = call("diff", "a.runbook.md", "b.runbook.md", cwd=folder).out
    assert "! new loop: 1 Build, 2 Install\n" in text
    assert "new loop" not in call("diff", "b.runbook.md", "b.runbook.md", cwd=folder).out


def test_a_revision(repository: Path) -> None:
    path, included = repository / "deploy.runbook.md", repository / "shared" / "lint.runbook.md"
    path.write_text(path.read_text(encoding="utf-8").replace('"Done"', '"Installed"'), encoding="utf-8")
    included.write_text(included.read_text(encoding="utf-8").replace("lint\n`", "lint-all\n`"), encoding="utf-8")
    for old in ("HEAD", "HEAD:deploy.runbook.md"):
        lines = call("diff", old, "deploy.runbook.md", cwd=repository).out.splitlines()
        assert lines[0] == "--- HEAD:deploy.runbook.md"
        assert '! now reached: COMPLETE "Installed"' in lines
        assert '! no longer reached: COMPLETE "Done"' in lines
        assert "~ Extra/shared/lint.runbook.md/1 Lint: command" in lines, "what is included is that of the revision"


def test_what_is_not_there(repository: Path) -> None:
    for words, problem in (
        (["nowhere", "deploy.runbook.md"], "Not a valid object name nowhere"),
        (["HEAD", "new2.runbook.md"], "the revision HEAD has no file `new2.runbook.md`"),
        (["--upload-pack=x:deploy.runbook.md", "deploy.runbook.md"], "no such option"),
        (["--", "--output=canary", "deploy.runbook.md"], "valid object name"),
        (["--", "-x", "deploy.runbook.md"], "valid object name"),
    ):
        assert problem in call("diff", *words, cwd=repository).exits(2).err
    assert not (repository / "canary").exists(), "a word with a dash is no option of git"


def test_a_revision_with_errors(repository: Path) -> None:
    path = repository / "deploy.runbook.md"
    fine = path.read_text(encoding="utf-8")
    document(repository, path.name, fine.replace("GOTO Extra", "GOTO Nowhere"))
    configuration = document(repository, "shared/rdc.toml", "nonsense = 1\n")
    commit_all(repository)
    document(repository, path.name, fine)
    configuration.write_text("", encoding="utf-8")
    result = call("diff", "HEAD", "deploy.runbook.md", cwd=repository)
    assert (result.code, result.out) == (1, "")
    assert ("HEAD:deploy.runbook.md:10" in result.err, "RD201" in result.err) == (True, True)
    assert "HEAD:shared/rdc.toml:1" in call("diff", "HEAD", "lint.runbook.md", cwd=repository / "shared").exits(1).err


def test_nothing_in_the_repository_is_run_or_changed_and_nothing_is_written_outside(repository: Path) -> None:
    """Filters and hooks of the repository are for those who check it out."""
    (repository / ".gitattributes").write_text("*.md filter=evil diff=evil\n", encoding="utf-8")
    git(repository, "config", "filter.evil.smudge", "touch canary")
    git(repository, "config", "diff.evil.textconv", "touch canary; cat")
    before = sorted(repository.rglob("*.md"))
    assert call("diff", "HEAD", "deploy.runbook.md", cwd=repository).code == 0
    paths = (str(repository / "canary.md"), "../../canary.md", "deploy.runbook.md/x.md", "x" * 300 + ".md")
    tree = hostile_tree(repository, *paths)
    result = call("diff", tree, "deploy.runbook.md", cwd=repository)
    assert result.out.startswith(f"--- {tree}:deploy.runbook.md"), result.err
    assert sorted(repository.rglob("*.md")) == before
    assert not (repository / "canary").exists()


@pytest.mark.parametrize(("form", "suffix"), [("svg", ".svg"), ("png", ".png"), ("dot", ".dot"), ("mermaid", ".mmd")])
def test_a_picture_stands_beside_the_new_document_and_shows_both_versions(form: str, suffix: str, folder: Path) -> None:
    document(folder, "x/new.runbook.md", NEW)
    words = ("diff", "old.runbook.md", "x/new.runbook.md", "--format", form)
    result = call(*words, cwd=folder)
    assert (result.code, result.out, result.err) == (0, "", f"wrote x/new.diff{suffix}\n")
    picture = (folder / "x" / f"new.diff{suffix}").read_bytes()
    assert MARK.encode() in picture[:200]
    assert form == "png" or "removed" in picture.decode()
    assert call(*words, cwd=folder).err == f"x/new.diff{suffix} is up to date\n"
    if form == "svg":
        found = seen(picture)
        assert {"1 Build ~ changed: command", "2 Test + added", "3 Install"} <= {box.label for box in found.boxes}
        assert {arrow.label for arrow in found.arrows} >= {"+ worked", "− worked"}


def test_the_ending_of_the_output_chooses_the_format(folder: Path) -> None:
    beginnings = {"x.svg": b"<?xml", "x.gv": b"// ", "x.mmd": b"%% ", "x.json": b"{", "x.txt": b"# ", "x": b"# "}
    for name, beginning in beginnings.items():
        assert call("diff", "old.runbook.md", "new.runbook.md", "-o", name, cwd=folder).code == 0
        assert (folder / name).read_bytes().startswith(beginning)
    printed = call("diff", "old.runbook.md", "new.runbook.md", cwd=folder).out
    assert (folder / "x.txt").read_text(encoding="utf-8").partition("\n")[2] == printed
    assert call("diff", "old.runbook.md", "new.runbook.md", "-o", "x.txt", cwd=folder).err == "x.txt is up to date\n"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("-o", "x.jpg"), "cannot write .jpg files; use .txt, .json, .svg, .png, .dot, .mmd or .gv"),
        (("--theme", "dark"), ""),
        (("--format", "json", "--link-base", "https://example.org"), ""),
        (("--format", "dot", "--link-base", "javascript:alert(1)"), ""),
    ],
)
def test_options_that_are_of_no_use_are_told(words: tuple[str, ...], problem: str, folder: Path) -> None:
    result = call("diff", "old.runbook.md", "new.runbook.md", *words, cwd=folder)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
    assert problem in result.err
    assert not (folder / "x.jpg").exists()


@pytest.mark.parametrize("name", ["x.svg", "x.txt", "x.json", "old.runbook.md"])
def test_a_foreign_file_is_not_overwritten(name: str, folder: Path) -> None:
    path = folder / name
    before = path.read_text(encoding="utf-8") if path.exists() else "mine"
    path.write_text(before, encoding="utf-8")
    words = ("diff", "old.runbook.md", "new.runbook.md", "--format", "svg", "-o", name)
    assert "error[RD510]" in call(*words, cwd=folder).exits(1).err
    assert path.read_text(encoding="utf-8") == before
    forced = call(*words, "--force", cwd=folder)
    assert forced.code == (1 if name == "old.runbook.md" else 0), "a source is never overwritten"


def test_the_exit_code_is_the_same_for_every_format(folder: Path) -> None:
    for form in ("text", "json", "dot", "mermaid"):
        words = ("--format", form, "-o", "-", "--exit-code")
        assert call("diff", "old.runbook.md", "new.runbook.md", *words, cwd=folder).code == 1
        assert call("diff", "old.runbook.md", "old.runbook.md", *words, cwd=folder).code == 0
    same = call("diff", "old.runbook.md", "old.runbook.md", cwd=folder).out
    assert same == "old.runbook.md and old.runbook.md have the same flow\n"
    document(folder, "odd.runbook.md", MISSING_TITLE)
    assert call("diff", "odd.runbook.md", "odd.runbook.md", cwd=folder).err == ""
    strict = call("diff", "odd.runbook.md", "odd.runbook.md", "--strict", cwd=folder)
    assert (strict.code, strict.out, "RD036" in strict.err) == (1, "", True)


def test_a_command_cannot_command_the_terminal(folder: Path) -> None:
    document(folder, "odd.runbook.md", OLD.replace("make\n", "-- \x1b[2J\n", 1))
    out = call("diff", "old.runbook.md", "odd.runbook.md", cwd=folder).out
    assert ("\x1b" in out, "    +-- " in out) == (False, True)
    assert "    --- " in call("diff", "odd.runbook.md", "old.runbook.md", cwd=folder).out


def test_a_file_of_a_revision_is_named_as_git_does(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(old: str, new: str, cwd: Path = repository, *words: str) -> Result:
        return call("diff", old, new, *words, cwd=cwd)

    lines = compared("HEAD:old.runbook.md", "HEAD:new.runbook.md").out.splitlines()
    assert lines[:3] == ["--- HEAD:old.runbook.md", "+++ HEAD:new.runbook.md", "+ 2 Test"]
    shared = repository / "shared"
    for old in ("HEAD", "HEAD:shared/lint.runbook.md", "HEAD:./lint.runbook.md", "@{0}:../shared/lint.runbook.md"):
        result = compared(old, "lint.runbook.md", shared)
        assert result.out.endswith("have the same flow\n"), result.err
    assert "has no file `lint.runbook.md`" in compared("HEAD:lint.runbook.md", "lint.runbook.md", shared).err
    name = "HEAD@{2100-01-01 10:30:00}:deploy.runbook.md"
    assert compared(name, "deploy.runbook.md").out.startswith(f"{name} and deploy.runbook.md have")
    for name in ("shared", "old.runbook.md"):  # a file comes before a revision, and a revision before a folder
        git(repository, "branch", name)
    assert compared("shared", "deploy.runbook.md").out.startswith("shared:deploy.runbook.md and")
    assert compared("old.runbook.md", "new.runbook.md").out.startswith("--- old.runbook.md\n")
    picture = compared("HEAD", "HEAD:shared/lint.runbook.md", repository, "--format", "dot")
    assert picture.err == "wrote lint.diff.dot\n", "in the current folder"
    assert "nothing changed" in (repository / "lint.diff.dot").read_text(encoding="utf-8")
    monkeypatch.setenv("GIT_DIR", ".git")  # as in a hook
    assert compared("HEAD", "shared/lint.runbook.md").out.endswith("have the same flow\n")


def test_a_link_is_what_it_leads_to(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside")
    (outside / "x.runbook.md").symlink_to(repository / "deploy.runbook.md")
    (repository / "out.runbook.md").symlink_to(outside / "y.runbook.md")
    (outside / "y.runbook.md").write_text(OLD, encoding="utf-8")
    assert call("diff", "HEAD", "x.runbook.md", cwd=outside).out.endswith("have the same flow\n")
    assert "not a git repository" in call("diff", "HEAD", "out.runbook.md", cwd=repository).exits(2).err


def test_names_with_line_breaks_and_a_repository_inside_another(repository: Path) -> None:
    inner, folder = repository / "inner", repository / "a\nb\n"
    document(folder, "c\nd.runbook.md", OLD)
    commit_all(repository)
    for form in ("text", "dot", "mermaid"):
        result = call("diff", "HEAD", "c\nd.runbook.md", "--format", form, "-o", "-", cwd=folder).exits(0)
        assert not any(line.startswith("d.runbook.md") for line in result.out.splitlines())
    document(inner, "x.runbook.md", OLD)
    commit_all(inner)
    assert call("diff", "HEAD", "inner/x.runbook.md", cwd=repository).out.endswith("have the same flow\n")


def hostile_tree(repository: Path, *paths: str) -> str:
    """A tree that git itself would not make, with the document beside files at these paths."""

    def stored(kind: str, data: bytes) -> str:
        words = ["git", "-C", str(repository), "hash-object", "-w", "--literally", "-t", kind, "--stdin"]
        return subprocess.run(words, input=data, check=True, capture_output=True).stdout.decode().strip()

    blob = bytes.fromhex(stored("blob", OLD.encode()))
    names = sorted(("deploy.runbook.md", *paths))
    return stored("tree", b"".join(b"100644 " + name.encode() + b"\0" + blob for name in names))


def test_a_large_file_is_refused_and_those_after_it_are_read(repository: Path) -> None:
    (repository / "a.md").write_bytes(b"x" * (LARGEST + 100))
    commit_all(repository)
    assert call("diff", "HEAD", "deploy.runbook.md", cwd=repository).out.endswith("have the same flow\n")
    assert "RD004" in call("diff", "HEAD:a.md", "deploy.runbook.md", "--from", "rundown", cwd=repository).exits(1).err


def test_a_content_that_is_not_there_is_not_fetched(repository: Path) -> None:
    """A partial clone fetches by what its configuration says."""
    git(repository, "config", "remote.origin.url", f"ext::touch {repository}/canary")
    git(repository, "config", "remote.origin.promisor", "true")
    git(repository, "config", "extensions.partialClone", "origin")
    git(repository, "config", "protocol.ext.allow", "always")
    blob = git(repository, "rev-parse", "HEAD:shared/lint.runbook.md").strip()
    (repository / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    assert "is missing" in call("diff", "HEAD", "deploy.runbook.md", cwd=repository).exits(2).err
    assert not (repository / "canary").exists()


def test_one_process_reads_all_files(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(50):
        (repository / f"{number}.md").write_text(f"{number}\n", encoding="utf-8")
    commit_all(repository)
    begun: list[list[str]] = []

    class Counted(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], **rest: Any) -> None:
            begun.append(words)
            super().__init__(words, **rest)

    monkeypatch.setattr(subprocess, "Popen", Counted)
    assert call("diff", "HEAD", "deploy.runbook.md", cwd=repository).code == 0
    assert [words[5] for words in begun] == ["rev-parse", "ls-tree", "cat-file"]
