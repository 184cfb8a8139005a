"""The action, the workflow of `rdc init`, and what this project builds for itself: act and an engine run them."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compiler.reading.yaml import load_value
from compiler.version import __version__
from tests.conftest import ROOT
from tests.support import actions_engine as engine
from tests.support.cli import call, document, executed
from tests.support.github import act
from tests.support.github.lint import ZIZMOR, findings, program
from tests.support.github.native import REVIEWERS, errors
from tests.support.published import commit_all, needed, published, wheel

pytestmark = pytest.mark.tool

CALLER = """name: check
on: workflow_dispatch
permissions: {}
concurrency:
  group: check
  cancel-in-progress: true
jobs:
  check:
    name: check
    runs-on: ubuntu-latest
    permissions:
      contents: read # to check out the repository
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with:
          persist-credentials: false
      - uses: rdc/rdc@v0
        with:
          source: SOURCE
      - name: Keep the findings
        if: ${{ !cancelled() }}
        run: cp rdc.sarif "$KEPT"
"""


@pytest.fixture(scope="module")
def built() -> Path:
    return wheel()


@pytest.fixture(scope="module")
def packages(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All that installing rdc needs, so that each run does without the index."""
    folder = tmp_path_factory.mktemp("packages")
    locked = re.findall(r"^([^ #].*==.*?) *\\$", (ROOT / "requirements.lock").read_text(encoding="utf-8"), re.MULTILINE)
    constraints = tmp_path_factory.mktemp("locked") / "constraints.txt"
    constraints.write_text("\n".join(locked), encoding="utf-8")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--constraint", constraints]
    subprocess.run([*map(str, pip), "--dest", str(folder), str(built), "hatchling"], check=True)
    return folder


@pytest.fixture(scope="module")
def action(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository of rdc, as an action is taken from it."""
    folder = tmp_path_factory.mktemp("action") / "rdc"
    published(folder)
    return folder


@pytest.fixture
def project(tmp_path: Path, built: Path, packages: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "packages").symlink_to(packages)
    assert call("init", "--source", str(built), cwd=folder).code == 0
    return folder


def run(project: Path, workflow: str, action: Path) -> act.ActRun:
    beside = project.parent
    index = {"PIP_CONFIG_FILE": os.devnull, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(beside / "packages")}
    env = {**index, "CI": "true", "KEPT": str(beside / "kept.sarif")}
    return act.run(project, workflow, env=env, actions={"rdc/rdc": action}, timeout=300)


def edit(project: Path) -> None:
    source = project / "runbooks" / "conflict-markers.runbook.md"
    source.write_text(source.read_text(encoding="utf-8").replace("No conflict markers", "Fine"), encoding="utf-8")


@pytest.mark.soak
def test_it_passes_where_files_are_current_and_prints_the_patch_where_not(
    project: Path, built: Path, action: Path, tmp_path: Path
) -> None:
    workflow = CALLER.replace("SOURCE", str(built))
    fine = run(project, workflow, action)
    assert fine.exit_code == 0, fine.log
    assert json.loads((tmp_path / "kept.sarif").read_text(encoding="utf-8"))["runs"][0]["results"] == []
    edit(project)
    stale = run(project, workflow, action)
    assert stale.exit_code == 1
    assert "run: rdc build" in stale.log
    assert "Run 'rdc build' and commit" in stale.log
    (result,) = json.loads((tmp_path / "kept.sarif").read_text(encoding="utf-8"))["runs"][0]["results"]
    assert result["ruleId"] == "RD512"
    patch = stale.log[stale.log.index("diff --git") :]
    lines = [line for line in patch.splitlines() if re.match(r"diff|index|---|\+\+\+|@@|[-+ ]", line)]
    applied = ["git", "apply", "-"]
    subprocess.run(applied, cwd=project, input="\n".join([*lines, ""]), encoding="utf-8", check=True)
    assert call("build", "--check", cwd=project).code == 0, "the patch is what rdc build makes"


def test_it_installs_only_locked_files_and_all_that_rdc_and_its_build_need() -> None:
    action: Any = load_value((ROOT / "action.yml").read_text(encoding="utf-8"))
    step = action["runs"]["steps"][0]
    assert "--require-hashes" in step["run"]
    assert step["run"].count(" install ") - step["run"].count("--no-deps --no-build-isolation") == 1
    all_needed = needed("project", "dependencies") | needed("build-system", "requires")
    assert step["env"]["NEEDED"].split() == sorted(all_needed)


@pytest.mark.soak
def test_without_a_source_it_installs_the_commit_that_it_is_called_at(project: Path, action: Path) -> None:
    caller = CALLER.replace("source: SOURCE", "sarif: findings.sarif").replace("cp rdc", "cp findings")
    done = run(project, caller, action)
    assert done.exit_code == 0, done.log


@pytest.mark.soak
def test_inputs_are_never_code(project: Path, action: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    done = run(project, CALLER.replace("SOURCE", f"'$(touch {trap})\"; touch {trap} #'"), action)
    assert (done.exit_code, trap.exists()) == (1, False)
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    assert "${{ inputs" not in re.sub(r"(?m)^ *\w+: \$\{\{.*$", "", text)


@pytest.mark.soak
def test_a_document_gives_no_commands_to_the_runner(project: Path, built: Path, action: Path) -> None:
    source = project / "runbooks" / "conflict-markers.runbook.md"
    text = source.read_text(encoding="utf-8")
    source.write_text(text.replace("git log -1", "cat <<'E'\n::error::forged\nE\ngit log -1"), encoding="utf-8")
    done = run(project, CALLER.replace("SOURCE", str(built)), action)
    assert done.exit_code == 1
    before, token, after = re.split(r"::stop-commands::(\w+)", done.log)
    assert "::error::forged" not in before
    assert "::error::forged" in after.split(f"::{token}::")[0]


@pytest.mark.soak
def test_the_workflow_of_a_new_project_fails_where_a_file_is_stale(project: Path, action: Path) -> None:
    workflow = (project / ".github" / "workflows" / "rdc.yml").read_text(encoding="utf-8")
    workflow = workflow.replace("  pull_request:\n", "  workflow_dispatch:\n")
    workflow = workflow.replace("--format github", "--format github || { sleep 1; exit 1; }")  # else act loses lines
    fine = run(project, workflow, action)
    assert fine.exit_code == 0, fine.log
    edit(project)
    stale = run(project, workflow, action)
    assert (stale.exit_code, "run: rdc build" in stale.log) == (1, True), stale.log


def test_the_linters_find_nothing(tmp_path: Path) -> None:
    text = CALLER.replace("rdc/rdc@v0", f"rdc/rdc@{'0123' * 10} # v0.1.0")
    place = document(tmp_path, ".github/workflows/check.yml", text)
    assert findings([place, *sorted((ROOT / ".github" / "workflows").iterdir())]) == []
    name, *options = ZIZMOR
    executed([program(name), *options, ROOT / "action.yml"], cwd=tmp_path).exits(0)


# --- The project builds itself: its workflows are what `rdc build` makes of its runbooks ------------------------------


MAKE = "#!/bin/sh\nmkdir -p dist && echo notes > dist/NOTES.md && cd dist && sha256sum NOTES.md > SHA256SUMS\n"
"""Replaces `make test` and `make release`, which have tests of their own."""

RUNBOOKS = ROOT / ".github" / "runbooks"


def test_the_workflows_are_current_and_do_what_they_should(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")  # nothing that an earlier build noted counts
    done = call("build", "--check", cwd=ROOT)
    assert done.code == 0, f"run `make golden`\n{done.err}"
    tried = call("test", *map(str, RUNBOOKS.iterdir()), cwd=ROOT)
    assert tried.code == 0, tried.out + tried.err
    assert __version__ in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), "the version that is next"


@pytest.mark.parametrize(
    ("decisions", "conclusion", "message"),
    [
        (["approved", "approved"], "success", "COMPLETE The version is released"),
        (["rejected"], "failure", "STOP Nothing was released"),
        (["approved", "rejected"], "failure", "STOP Push the tag, or start again"),
        (["approved", "bypassed"], "failure", REVIEWERS),
    ],
)
def test_a_release_asks_before_the_tag(decisions: list[str], conclusion: str, message: str, tmp_path: Path) -> None:
    tree = tmp_path / "rdc"
    shutil.copytree(ROOT / ".github", tree / ".github")
    (tree / ".gitignore").write_text("dist/\n", encoding="utf-8")
    commit_all(tree)
    document(tmp_path, "bin/make", MAKE).chmod(0o755)
    text = (tree / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    env = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    run = engine.run(tree, text, history=tmp_path / "history", env=env, environments={"approval": decisions})
    assert run.conclusion == conclusion, run.log
    assert message in run.summary + errors(run), run.log
    assert ("COMPLETE" in run.summary) == (conclusion == "success")
    assert ("### Decide: 6. Is the tag pushed?" in run.summary) == (decisions[0] == "approved")
    assert "NOTES.md: OK" in run.log, "the release is built and checked before a person decides"
