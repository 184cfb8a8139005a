"""`rdc build`: what it compiles and writes, and what `--check` says of generated files."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from compiler.project.configuration import OWN_KEYS
from rdc.documents.table import schema
from tests.rdc.projects import CALLING, GITHUB, RUNBOOK, Project
from tests.support.cli import ROOT, call

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop")
    for name in ("build", "deploy"):
        made.runbook(name)
    return made


def test_a_build_writes_what_is_missing_and_says_so_in_a_line_each(project: Project) -> None:
    result = project.build()
    assert result.code == 0, result.err
    assert result.err.splitlines() == [
        "wrote .github/workflows/build.yml",
        "wrote .github/workflows/deploy.yml",
        "wrote rdc.lock",
    ]
    os.utime(project.root / "docs" / "deploy.runbook.md")
    again = project.build()
    assert (again.code, again.err) == (0, "2 files up to date\n")
    compiled = call("compile", "docs/deploy.runbook.md", "--to", "github", "-o", "-", cwd=project.root)
    assert compiled.out == project.text(".github/workflows/deploy.yml")


@pytest.mark.parametrize(
    ("name", "text", "target", "file"),
    [
        ("review.playbook.md", "# Review\n\n## STEP 1: Look\n\nLook at the change.\n", "python", "review.py"),
        ("triage.workflow.yaml", "name: triage\nsteps:\n  - name: look\n    prompt: Look.\n", "make", "triage.mk"),
        ("parts.stepspec.yaml", None, "json", "parts.json"),
    ],
    ids=["playbook", "agent workflow", "specification"],
)
def test_every_format_is_built(tmp_path: Path, name: str, text: str | None, target: str, file: str) -> None:
    project = Project(
        tmp_path / "p", f'[[build]]\nsource = "docs/**"\nto = "{target}"\nout = "out/{{name}}{Path(file).suffix}"\n'
    )
    if text is None:
        text = (ROOT / "examples" / "specifications" / "hello-steps.stepspec.json").read_text(encoding="utf-8")
        name = "parts.stepspec.json"
    project.write(f"docs/{name}", text)
    result = project.build()
    assert result.code == 0, result.err
    assert (project.root / "out" / file).exists()
    assert project.build("--check").code == 0


def test_only_what_changed_is_compiled_and_written(project: Project) -> None:
    project.build()
    before = project.workflow("build").stat().st_mtime_ns
    project.runbook("deploy", "again")
    assert project.build().err == "wrote .github/workflows/deploy.yml\n"
    assert project.workflow("build").stat().st_mtime_ns == before


@pytest.mark.parametrize("cached", [True, False], ids=["with the cache", "without it"])
def test_check_tells_stale_edited_missing_and_left_over_files_apart(project: Project, cached: bool) -> None:
    for name in ("edited", "missing", "gone", "stale"):
        project.runbook(name)
    project.build()
    if not cached:
        shutil.rmtree(project.root / ".rdc_cache")
    before = project.workflow("stale").read_text()
    with project.workflow("edited").open("a") as file:
        file.write("# by hand\n")
    project.workflow("missing").unlink()
    (project.root / "docs" / "gone.runbook.md").unlink()
    project.runbook("stale", "changed")
    written = project.files()
    result = project.build("--check")
    assert result.code == 1
    lines = [line for line in result.err.splitlines() if "error[" in line]
    assert lines == [
        ".github/workflows/edited.yml: error[RD543]: .github/workflows/edited.yml was edited by hand",
        (
            ".github/workflows/gone.yml: error[RD545]: .github/workflows/gone.yml is left over: "
            "docs/gone.runbook.md no longer exists"
        ),
        (
            ".github/workflows/missing.yml: error[RD544]: .github/workflows/missing.yml is missing; "
            "it is generated from docs/missing.runbook.md"
        ),
        (
            ".github/workflows/stale.yml: error[RD512]: .github/workflows/stale.yml is stale: "
            "docs/stale.runbook.md, an option or rdc changed"
        ),
        "rdc.lock: error[RD512]: rdc.lock is stale: it doesn't match the generated files",
    ]
    assert project.files() == written, "nothing is written"
    assert project.build("--prune").code == 0
    assert project.build("--check").code == 0
    assert not project.workflow("gone").exists()
    assert project.workflow("stale").read_text() != before


def test_check_reports_for_machines(project: Project) -> None:
    project.build()
    project.workflow("deploy").unlink()
    for form in ("json", "sarif", "github"):
        result = project.build("--check", "--format", form)
        assert (result.code, "RD544" in result.out) == (1, True)
        assert form == "github" or json.loads(result.out)


def test_prune_removes_nothing_that_rdc_did_not_write(project: Project) -> None:
    project.build()
    own = project.write(".github/workflows/own.yml", "name: Own\non: push\n")
    project.write(".github/workflows/by-hand.yml", project.workflow("deploy").read_text())
    (project.root / "docs" / "deploy.runbook.md").unlink()
    result = project.build("--prune")
    assert result.code == 0, result.err
    assert own.exists()
    assert not project.workflow("deploy").exists()
    assert not project.workflow("by-hand").exists(), "it has the mark, and its document is gone"


def test_a_runtime_that_no_file_calls_is_left_over(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    asks = project.write("docs/ask.runbook.md", CALLING)
    project.runbook("deploy")
    project.build()
    runtimes = sorted(path.name for path in (project.root / ".github" / "rdc").iterdir())
    assert any(name.startswith("rdc_runtime_commands_") for name in runtimes)
    asks.unlink()
    assert project.build("--prune").code == 0
    assert list((project.root / ".github" / "rdc").iterdir()) == []


def test_a_file_that_is_not_of_rdc_is_not_overwritten(project: Project) -> None:
    own = project.write(".github/workflows/deploy.yml", "name: Own\n")
    result = project.build()
    assert result.code == 1
    assert "error[RD510]: .github/workflows/deploy.yml was not generated by rdc" in result.err
    assert own.read_text() == "name: Own\n"
    assert project.workflow("build").exists(), "others are written"
    own.unlink()
    assert project.build().code == 0


def test_an_error_in_one_document_does_not_hold_up_the_others(project: Project) -> None:
    project.write("docs/bad.runbook.md", "## 1. Go\n\n- PASS: GOTO 9\n")
    result = project.build()
    assert result.code == 1
    assert "docs/bad.runbook.md:3:14: error[RD201]" in result.err
    assert project.workflow("build").exists()
    assert not project.workflow("bad").exists()
    assert "docs/bad.runbook.md:3:14: error[RD201]" in project.build().err, "it is said again"


def test_warnings_are_said_again_and_count_with_strict(project: Project) -> None:
    project.write("docs/warned.runbook.md", "## 1. Build the shop\n")
    assert "warning[RD118]" in project.build().err
    again = project.build()
    assert "warning[RD118]" in again.err
    assert "1 | ## 1. Build the shop" in again.err
    assert again.code == 0
    assert project.build("--strict").code == 1


def test_a_document_that_is_included_is_an_input(project: Project) -> None:
    project.write("docs/whole.runbook.md", "## 1. Both\n\n- part.runbook.md\n")
    project.write("docs/part.runbook.md", RUNBOOK.format("Part", "one"))
    project.build()
    project.write("docs/part.runbook.md", RUNBOOK.format("Part", "two"))
    assert "wrote .github/workflows/whole.yml" in project.build().err
    assert "echo two" in project.workflow("whole").read_text()


def test_a_file_that_comes_where_none_was_is_an_input(project: Project) -> None:
    project.write("docs/sub/whole.runbook.md", "## 1. Both\n\n- part.runbook.md\n")
    project.write("part.runbook.md", RUNBOOK.format("Part", "root"))
    project.write("rdc.toml", GITHUB.replace("docs/*", "docs/sub/*"))
    project.build()
    assert "echo root" in project.workflow("whole").read_text()
    project.write("docs/sub/part.runbook.md", RUNBOOK.format("Part", "near"))
    project.build()
    assert "echo near" in project.workflow("whole").read_text()


def test_a_link_that_leads_elsewhere_is_an_input(project: Project) -> None:
    for word in ("one", "two"):
        project.write(f"{word}/part.runbook.md", RUNBOOK.format("Part", word))
    (project.root / "here").symlink_to("one")
    project.write("docs/whole.runbook.md", "## 1. Both\n\n- here/part.runbook.md\n")
    project.build()
    (project.root / "here").unlink()
    (project.root / "here").symlink_to("two")
    project.build()
    assert "echo two" in project.workflow("whole").read_text()


@pytest.mark.parametrize(("link", "end"), [("docs/p", "q"), ("docs/p/part.runbook.md", "../q/part.runbook.md")])
def test_a_link_in_place_of_an_equal_file_is_an_input(project: Project, link: str, end: str) -> None:
    for folder in ("p", "q"):
        project.write(f"docs/{folder}/part.runbook.md", RUNBOOK.format("Part", "one"))
    project.write("docs/whole.runbook.md", "## 1. Both\n\n- p/part.runbook.md\n")
    project.build()
    place = project.root / link
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(end)
    assert project.build("--check").code == 1
    assert project.build().err == "wrote .github/workflows/whole.yml\n"


def test_a_link_in_place_of_the_folder_of_workflows_is_an_input(project: Project) -> None:
    project.write("docs/ask.runbook.md", CALLING)
    project.build()
    workflows = project.root / ".github" / "workflows"
    workflows.rename(project.root / "workflows")
    workflows.symlink_to("../workflows")
    assert "wrote .github/workflows/ask.py" in project.build().err


def test_a_cache_that_came_with_the_repository_proves_nothing(project: Project) -> None:
    project.build()
    evil = project.workflow("deploy").read_text() + "# and more\n"
    book = project.root / ".rdc_cache" / "build.json"
    true, false = (sha256(data).hexdigest() for data in (project.workflow("deploy").read_bytes(), evil.encode()))
    text = book.read_text().replace(true, false)
    project.workflow("deploy").write_text(evil)
    shutil.rmtree(book.parent)
    project.write(".rdc_cache/.gitignore", "*\n")
    book.write_text(text)
    result = project.build("--check")
    assert result.code == 1
    assert "error[RD543]" in result.err


def test_options_of_an_entry_override_and_are_an_input(project: Project) -> None:
    project.build()
    project.write("rdc.toml", GITHUB + "options = { timeout-minutes = 7 }\n")
    project.build()
    assert "timeout-minutes: 7" in project.workflow("deploy").read_text()


def test_it_is_built_from_the_root_wherever_the_person_is(project: Project) -> None:
    result = project.build(below="docs")
    assert result.code == 0
    assert result.err.splitlines()[0] == "wrote ../.github/workflows/build.yml"
    project.write("docs/bad.runbook.md", "## 1. Go\n\n- PASS: GOTO 9\n")
    assert "\nbad.runbook.md:3:14: error[RD201]" in project.build(below="docs").err


def test_documents_of_another_project_within_are_left_out(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", GITHUB.replace("docs/*", "**/*"))
    project.runbook("deploy")
    project.write("vendor/other/rdc.toml", "")
    project.write("vendor/other/their.runbook.md", RUNBOOK.format("Their", "x"))
    project.write("vendor/third/pyproject.toml", "[tool.rdc]\n")
    project.write("vendor/third/its.runbook.md", RUNBOOK.format("Its", "x"))
    project.write("node_modules/x/a.runbook.md", RUNBOOK.format("X", "x"))
    project.write(".hidden/a.runbook.md", RUNBOOK.format("X", "x"))
    assert project.build().err.splitlines() == ["wrote .github/workflows/deploy.yml", "wrote rdc.lock"]


CONFIGURATIONS = [
    ('build = "x"', "`build` is not a list of tables"),
    ("[[build]]\n", "`[[build]]`: `source` is missing"),
    ('[[build]]\nsource = "x"\nto = "gihub"\n', "there is no target 'gihub'"),
    ('[[build]]\nsource = "../x"\nto = "make"\n', "a pattern must be a path from the project root"),
    ('[[build]]\nsource = "x"\nto = "make"\nout = "../{name}.mk"\n', "without `..` or `.git`"),
    ('[[build]]\nsource = "x"\nto = "make"\nout = ".git/hooks/{name}"\n', "without `..` or `.git`"),
    ('[[build]]\nsource = "x"\nto = "make"\nout = "{title}.mk"\n', "`{name}` and `{dir}` are the only placeholders"),
    ('[[build]]\nsource = "x"\nto = "make"\nouts = "a"\n', "there is no option `outs`; did you mean `out`?"),
    ('[[build]]\nsource = "x"\nto = "make"\noptions = { form = "odd" }\n', "target make: `form` should be"),
    ("required-version = 3\n", "`required-version` is not a valid version"),
    ('required-version = ">=9"\n', "this project requires rdc >=9, but this is rdc"),
]


@pytest.mark.parametrize(
    ("configuration", "message"), CONFIGURATIONS, ids=[message[:30] for _, message in CONFIGURATIONS]
)
def test_a_wrong_configuration_is_said_at_its_place(tmp_path: Path, configuration: str, message: str) -> None:
    project = Project(tmp_path / "p", configuration)
    project.runbook("deploy")
    result = project.build()
    assert result.code == 1
    assert message in result.err
    assert result.err.startswith("rdc.toml:"), result.err
    assert sorted(project.files()) == ["rdc.toml"]
    project.write("rdc.toml", "")
    empty = project.build()
    assert (empty.code, "this project builds nothing; add a `[[build]]` to rdc.toml" in empty.err) == (2, True)


def test_two_entries_that_write_one_file_are_an_error_with_both_places(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", GITHUB + GITHUB.replace("docs/*", "docs/dep*"))
    project.runbook("deploy")
    result = project.build()
    assert result.code == 1
    assert "rdc.toml:5:1: error[RD513]: docs/deploy.runbook.md and docs/deploy.runbook.md would both be" in result.err
    assert "rdc.toml:1:1: note:" in result.err or "rdc.toml:1:1" in result.err
    assert not project.workflow("deploy").exists()


def test_with_strict_a_document_that_no_entry_matches_is_an_error(project: Project) -> None:
    project.write("drafts/idea.runbook.md", RUNBOOK.format("Idea", "x"))
    assert project.build().code == 0
    strict = project.build("--strict")
    assert strict.code == 1
    assert "drafts/idea.runbook.md: error[RD547]: no `[[build]]` matches drafts/idea.runbook.md" in strict.err


def test_prune_removes_no_file_that_only_begins_like_one_of_rdc(project: Project) -> None:
    project.build()
    notes = project.write("keep/notes.txt", "# Generated by rdc 0.1.0 from docs/x.runbook.md, I think\n")
    with (project.root / "rdc.lock").open("a") as file:
        file.write("keep/notes.txt secret X\n")
    assert project.build("--prune").code == 0
    assert notes.exists()


def test_prune_removes_what_only_replaced_files_called(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    project.write("docs/ask.runbook.md", CALLING)
    project.build()
    folder = project.root / ".github" / "rdc"
    old = folder / "rdc_runtime_commands_00000000.py"
    (runtime,) = folder.glob("rdc_runtime_commands_*.py")
    runtime.rename(old)
    program = folder / "ask.py"
    program.write_text(program.read_text().replace(runtime.name, old.name))
    shutil.rmtree(project.root / ".rdc_cache")
    assert project.build("--prune").code == 0
    assert not old.exists()
    assert project.build("--check").code == 0


def test_a_document_can_ignore_what_a_target_says_of_the_path(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", '[[build]]\nsource = "docs/*"\nto = "make"\nout = "out dir/{name}.mk"\n')
    document = project.runbook("deploy")
    assert "warning[RD538]" in project.build().err
    document.write_text(f"<!-- rdc: ignore RD538 -->\n{document.read_text()}")
    assert "RD538" not in project.build().err


# --- The JSON Schema of `rdc.toml` takes what rdc takes ---------------------------------------------------------------


GOOD = [
    GITHUB,
    'required-version = ">=0.1"\ntransitions = "after-header"\n' + GITHUB + "options = { timeout-minutes = 5 }\n",
    '[github]\nruns-on = ["self-hosted", "linux"]\nsecrets = ["A"]\n\n[github.actions]\n"actions/checkout" = "x"\n',
    '[check]\nignore = ["RD405", "tolerated-failure"]\n',
    '[make]\nform = "plain"\n\n[python]\nruntime = "shared"\n',
]
BAD = [
    "[[build]]\nto = 'github'\n",
    "[[build]]\nsource = 3\nto = 'github'\n",
    "[[build]]\nsource = 'a'\nto = 'make'\nouts = 'b'\n",
    "[make]\nform = 'odd'\n",
    "[check]\nignored = ['RD405']\n",
    "[github]\ntimeout-minutes = 0\n",
    "required-version = 1\n",
    "transitions = 'sideways'\n",
]


@pytest.mark.parametrize(("text", "is_right"), [*((text, True) for text in GOOD), *((text, False) for text in BAD)])
def test_the_schema_takes_what_rdc_takes(text: str, is_right: bool) -> None:
    assert (list(Draft202012Validator(schema()).iter_errors(tomllib.loads(text))) == []) == is_right


def test_the_schema_has_each_key_of_a_project() -> None:
    Draft202012Validator.check_schema(json.loads(json.dumps(schema())))
    assert set(OWN_KEYS) <= set(schema()["properties"])
