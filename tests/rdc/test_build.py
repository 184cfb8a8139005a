"""`rdc build`: what it compiles and writes, and what `--check` says of generated files."""

import json
import os
import shlex
import shutil
import tomllib
from hashlib import sha256
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from compiler.project.configuration import OWN_KEYS
from rdc.documents.table import schema
from tests.rdc.projects import CALLING, GITHUB, RUNBOOK, Project, shop
from tests.support.cli import call

pytestmark = pytest.mark.process


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return shop(tmp_path)


def test_a_build_writes_what_is_missing_and_says_so_in_a_line_each(project: Project) -> None:
    result = project.build().exits(0)
    written = [".github/workflows/build.yml", ".github/workflows/deploy.yml", "rdc.lock"]
    assert result.err.splitlines() == [f"wrote {path}" for path in written]
    os.utime(project.root / "docs" / "deploy.runbook.md")
    assert project.build().exits(0).err == "2 files up to date\n"


TYPED = (
    "bind = {v = 5}, env = {A = 1.10, B = 3, C = true, D = '1.10'}, checkout = false, carry = false",
    "bind = {v = true}, setup = [{uses = './x', with = {node-version = 20, cache = true}, env = {on = 1.0}}]",
    "bind = {v = {run = 'date'}}, agent-timeout = 90, on = {workflow_dispatch = {inputs = {env = {required = true}}}}",
    "secrets = {A = 'B'}, steps = {1 = {secrets = ['A']}}, concurrency = {group = 'g', cancel-in-progress = true}",
)


@pytest.mark.parametrize("options", ["", *(f"options = {{{options}}}\n" for options in TYPED)])
def test_the_command_in_a_header_writes_the_file_again(options: str, project: Project) -> None:
    path, text = project.workflow("deploy"), project.text("docs/deploy.runbook.md")
    (project.root / "docs/build.runbook.md").unlink()
    project.write("rdc.toml", f"{GITHUB}{options}\n[github]\nruns-on = 'ubuntu-22.04'\n")
    rdc = "{inputs: {v: {default: x}}, github: {timeout-minutes: %s}}"
    for minutes in (45, 60, 50):  # 60 is the default
        project.write("docs/deploy.runbook.md", f"---\nrdc: {rdc % minutes}\n---\n{text}")
        if minutes == 45:
            project.build().exits(0)
        assert call("verify", str(path), cwd=project.root).code == (0 if minutes == 45 else 3)
        before = path.read_text()
        call(*shlex.split(before.split("\n")[2])[2:], cwd=project.root).exits(0)
        assert minutes != 45 or path.read_text() == before
        assert f"timeout-minutes: {minutes}\n" in path.read_text()
        project.build("--check").exits(0)
    project.write("rdc.toml", f"{GITHUB}{options}\n")
    assert call("verify", str(path), cwd=project.root).code == 1, "an option of the project changed"


def test_only_what_changed_is_compiled_and_written(project: Project) -> None:
    project.build()
    before = project.workflow("build").stat().st_mtime_ns
    project.runbook("deploy", "again")
    assert project.build().err == "wrote .github/workflows/deploy.yml\n"
    assert project.workflow("build").stat().st_mtime_ns == before
    project.write("rdc.toml", GITHUB + "options = { timeout-minutes = 7 }\n")
    project.build()
    assert "timeout-minutes: 7" in project.workflow("deploy").read_text(), "options of an entry are an input"


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
    result = project.build("--check").exits(1)
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
    for form in ("json", "sarif", "github"):
        machines = project.build("--check", "--format", form)
        assert (machines.code, "RD544" in machines.out) == (1, True)
        assert form == "github" or json.loads(machines.out)
    assert project.files() == written, "nothing is written"
    assert project.build("--prune").code == 0
    assert project.build("--check").code == 0
    assert not project.workflow("gone").exists()
    assert project.workflow("stale").read_text() != before


def test_prune_removes_nothing_that_rdc_did_not_write(project: Project) -> None:
    project.build()
    own = project.write(".github/workflows/own.yml", "name: Own\non: push\n")
    notes = project.write("keep/notes.txt", "# Generated by rdc 0.1.0 from docs/x.runbook.md, I think\n")
    with (project.root / "rdc.lock").open("a") as file:
        file.write("keep/notes.txt secret X\n")
    project.write(".github/workflows/by-hand.yml", project.workflow("deploy").read_text())
    (project.root / "docs" / "deploy.runbook.md").unlink()
    project.build("--prune").exits(0)
    assert own.exists()
    assert notes.exists(), "it only begins like one of rdc"
    assert not project.workflow("deploy").exists()
    assert not project.workflow("by-hand").exists(), "it has the mark, and its document is gone"


def test_prune_removes_what_no_file_calls_any_more(tmp_path: Path) -> None:
    project = Project(tmp_path / "p")
    asks = project.write("docs/ask.runbook.md", CALLING)
    project.runbook("deploy")
    project.build()
    folder = project.root / ".github" / "rdc"
    old = folder / "rdc_runtime_commands_00000000.py"
    (runtime,) = folder.glob("rdc_runtime_commands_*.py")
    runtime.rename(old)
    program = folder / "ask.py"
    program.write_text(program.read_text().replace(runtime.name, old.name))
    shutil.rmtree(project.root / ".rdc_cache")
    assert project.build("--prune").code == 0
    assert not old.exists(), "only a replaced file called it"
    assert project.build("--check").code == 0
    asks.unlink()
    assert project.build("--prune").code == 0
    assert list(folder.iterdir()) == []


def test_a_file_that_is_not_of_rdc_is_not_overwritten(project: Project) -> None:
    own = project.write(".github/workflows/deploy.yml", "name: Own\n")
    assert "error[RD510]: .github/workflows/deploy.yml was not generated by rdc" in project.build().exits(1).err
    assert own.read_text() == "name: Own\n"
    assert project.workflow("build").exists(), "others are written"
    own.unlink()
    assert project.build().code == 0


def test_an_error_in_one_document_does_not_hold_up_the_others(project: Project) -> None:
    project.write("docs/bad.runbook.md", "## 1. Go\n\n- PASS: GOTO 9\n")
    assert "docs/bad.runbook.md:3:14: error[RD201]" in project.build().exits(1).err
    assert project.workflow("build").exists()
    assert not project.workflow("bad").exists()
    assert "docs/bad.runbook.md:3:14: error[RD201]" in project.build().err, "it is said again"


def test_warnings_are_said_again_and_count_with_strict(project: Project) -> None:
    project.write("docs/warned.runbook.md", "## 1. Build the shop\n")
    assert "warning[RD118]" in project.build().err
    again = project.build().exits(0)
    assert "warning[RD118]" in again.err
    assert "1 | ## 1. Build the shop" in again.err
    assert project.build("--strict").code == 1
    project.write("drafts/idea.runbook.md", RUNBOOK.format("Idea", "x"))
    assert project.build().code == 0
    unmatched = "drafts/idea.runbook.md: error[RD547]: no `[[build]]` matches drafts/idea.runbook.md"
    assert unmatched in project.build("--strict").err


def test_a_file_that_comes_where_none_was_is_an_input(project: Project) -> None:
    project.write("docs/sub/whole.runbook.md", "## 1. Both\n\n- part.runbook.md\n")
    project.write("part.runbook.md", RUNBOOK.format("Part", "root"))
    project.write("rdc.toml", GITHUB.replace("docs/*", "docs/sub/*"))
    project.build()
    assert "echo root" in project.workflow("whole").read_text()
    project.write("docs/sub/part.runbook.md", RUNBOOK.format("Part", "near"))
    project.build()
    assert "echo near" in project.workflow("whole").read_text()
    project.write("docs/sub/part.runbook.md", RUNBOOK.format("Part", "again"))
    assert "wrote .github/workflows/whole.yml" in project.build().err
    assert "echo again" in project.workflow("whole").read_text()


@pytest.mark.parametrize(("link", "end"), [("docs/p", "q"), ("docs/p/part.runbook.md", "../q/part.runbook.md")])
def test_a_link_that_leads_elsewhere_is_an_input(project: Project, link: str, end: str) -> None:
    """Also where an equal file was."""
    project.write("docs/p/part.runbook.md", RUNBOOK.format("Part", "one"))
    project.write("docs/q/part.runbook.md", RUNBOOK.format("Part", "one"))
    project.write("docs/r/part.runbook.md", RUNBOOK.format("Part", "two"))
    project.write("docs/whole.runbook.md", "## 1. Both\n\n- p/part.runbook.md\n")
    project.build()
    place = project.root / link
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    place.symlink_to(end)
    assert project.build("--check").code == 1
    assert project.build().err == "wrote .github/workflows/whole.yml\n"
    place.unlink()
    place.symlink_to(end.replace("q", "r"))
    project.build()
    assert "echo two" in project.workflow("whole").read_text()


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
    assert "error[RD543]" in project.build("--check").exits(1).err


def test_it_is_built_from_the_root_wherever_the_person_is(project: Project) -> None:
    assert project.build(below="docs").exits(0).err.splitlines()[0] == "wrote ../.github/workflows/build.yml"
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


@pytest.mark.parametrize(("configuration", "message"), CONFIGURATIONS)
def test_a_wrong_configuration_is_said_at_its_place(tmp_path: Path, configuration: str, message: str) -> None:
    project = Project(tmp_path / "p", configuration)
    project.runbook("deploy")
    result = project.build().exits(1)
    assert message in result.err
    assert result.err.startswith("rdc.toml:"), result.err
    assert sorted(project.files()) == ["rdc.toml"]


def test_two_entries_that_write_one_file_are_an_error_with_both_places(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", GITHUB + GITHUB.replace("docs/*", "docs/dep*"))
    project.runbook("deploy")
    result = project.build().exits(1)
    assert "rdc.toml:5:1: error[RD513]: docs/deploy.runbook.md and docs/deploy.runbook.md would both be" in result.err
    assert "rdc.toml:1:1" in result.err
    assert not project.workflow("deploy").exists()
    project.write("rdc.toml", "")
    assert "this project builds nothing; add a `[[build]]` to rdc.toml" in project.build().exits(2).err


# --- The JSON Schema of `rdc.toml` takes what rdc takes ---------------------------------------------------------------


GOOD = [
    GITHUB,
    'required-version = ">=0.1"\ntransitions = "after-header"\n' + GITHUB + "options = { timeout-minutes = 5 }\n",
    '[github]\nruns-on = ["self-hosted", "linux"]\nsecrets = ["A"]\n\n[github.actions]\n"actions/checkout" = "x"\n',
    '[check]\nignore = ["RD405", "tolerated-failure"]\n',
    '[make]\nform = "plain"\n\n[python]\nruntime = "shared"\n',
]
BAD = [
    *("[[build]]\nto = 'github'\n", "[[build]]\nsource = 3\nto = 'github'\n"),
    *("[[build]]\nsource = 'a'\nto = 'make'\nouts = 'b'\n", "[make]\nform = 'odd'\n", "required-version = 1\n"),
    *("[check]\nignored = ['RD405']\n", "[github]\ntimeout-minutes = 0\n", "transitions = 'sideways'\n"),
]


@pytest.mark.parametrize(("text", "is_right"), [*((text, True) for text in GOOD), *((text, False) for text in BAD)])
def test_the_schema_takes_what_rdc_takes(text: str, is_right: bool) -> None:
    assert (list(Draft202012Validator(schema()).iter_errors(tomllib.loads(text))) == []) == is_right


def test_the_schema_has_each_key_of_a_project() -> None:
    Draft202012Validator.check_schema(json.loads(json.dumps(schema())))
    assert set(OWN_KEYS) <= set(schema()["properties"])
