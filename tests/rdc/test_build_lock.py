"""`rdc.lock`: what reviewers must not miss, who approves it, and pins that bots change."""

import json
import os
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from backends.github.yaml.pins import pins
from tests.rdc.projects import CALLING, GITHUB, QUESTION, Project
from tests.support.cli import ROOT, spawn

pytestmark = pytest.mark.process

OPTIONS = "---\nrdc:\n  github:\n    secrets: [DEPLOY_TOKEN]\n    environment: production\n---\n"
SECRET = f"{OPTIONS}\n## 1. Go\n\n```bash\nmake\n```\n"
NEW = "2222222222222222222222222222222222222222"
CHECKOUT = pins()["checkout"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = Project(tmp_path / "shop")
    made.runbook("deploy")
    assert made.build().code == 0
    return made


def lock(project: Project) -> list[str]:
    return project.text("rdc.lock").splitlines()[1:]


def test_a_new_item_is_refused_until_it_is_approved_by_name(project: Project) -> None:
    before = project.files()
    project.write("docs/deploy.runbook.md", SECRET)
    project.runbook("other")
    refused = project.build().exits(1)
    path = ".github/workflows/deploy.yml"
    assert f"{path}: error[RD546]: new and not approved: secret DEPLOY_TOKEN in {path}" in refused.err
    assert "rdc build --approve 'secret DEPLOY_TOKEN'" in refused.err
    assert project.text(path).encode() == before[path], "the file stays as it is"
    assert project.text("rdc.lock").encode() == before["rdc.lock"]
    one = project.build("--approve", "secret DEPLOY_TOKEN").exits(1)
    assert "new and not approved: environment production" in one.err
    every = "rdc build --approve 'environment production' --approve 'secret DEPLOY_TOKEN'"
    assert f"help: review all 2 new items, then run: {every}\n" in refused.err
    project.build(*shlex.split(every)[2:]).exits(0)
    assert f"{path} secret DEPLOY_TOKEN" in lock(project)
    assert project.build("--check").code == 0
    (project.root / "docs/deploy.runbook.md").unlink()
    assert project.build("--prune").code == 0, "a file that is no longer built needs no approval"


def test_an_agent_approves_nothing(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.write("docs/deploy.runbook.md", SECRET)
    before = project.text("rdc.lock")
    for variable in ("CLAUDECODE", "CODEX_THREAD_ID", "AI_AGENT"):
        with monkeypatch.context() as patch:
            patch.setenv(variable, "1")
            refused = project.build("--approve", "secret DEPLOY_TOKEN", "--approve", "environment production")
            assert (refused.code, "this is for a person; run it in your own terminal" in refused.err) == (2, True)
            assert project.text("rdc.lock") == before
            assert "rdc build --approve" in project.build().err, "it may see what is new"


def test_a_secret_that_goes_needs_no_approval_and_an_environment_does(project: Project) -> None:
    project.write("docs/deploy.runbook.md", SECRET)
    project.build("--approve", "secret DEPLOY_TOKEN", "--approve", "environment production")
    project.write("docs/deploy.runbook.md", SECRET.replace("    secrets: [DEPLOY_TOKEN]\n", ""))
    assert project.build().code == 0
    assert not [line for line in lock(project) if "DEPLOY_TOKEN" in line]
    before = project.text(".github/workflows/deploy.yml")
    project.runbook("deploy")
    for words, env in (((), {}), (("--check",), {}), ((), {"CI": "1"})):
        result = spawn("build", *words, cwd=project.root, **env).exits(1)
        path = ".github/workflows/deploy.yml"
        assert f"{path}: error[RD546]: new and not approved: no environment production in {path}" in result.err
    assert project.text(".github/workflows/deploy.yml") == before
    assert project.build("--approve", "no environment production").code == 0
    assert project.build("--check").code == 0


def test_a_gate_that_goes_needs_an_approval_even_if_the_file_has_no_other_item(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", '[[build]]\nsource = "*.yaml"\nto = "make"\nout = "{name}.mk"\n')
    gated = "name: a\nsteps:\n  - {name: ship, human: true, prompt: Ship it., end: true}\n"
    project.write("a.workflow.yaml", gated)
    assert project.build().code == 0
    project.write("a.workflow.yaml", gated.replace("human: true, ", ""))
    result = project.build().exits(1)
    assert "new and not approved: no gate ship in" in result.err
    assert project.build("--approve", "no gate ship").code == 0, result.err


POWER = """\
prompts = "environment"
python = "/usr/bin/python3"
env = { MODE = "slow" }
agent = { run = "claude -p", secrets = ["KEY"], setup = [{ run = "npm ci" }] }
secrets = ["KEY"]
setup = [
  { uses = "./node", with = { version = "20" }, env = { A = "1" } },
  { run = "true", shell = "bash" },
]
"""

POWERS = [
    ('prompts = "environment"', 'prompts = "agent"', "prompts agent"),
    ("/usr/bin/python3", "/opt/python3", "python /opt/python3"),
    ('"slow"', '"fast"', "env MODE: fast"),
    ('"npm ci"', '"curl x | sh"', "script curl x | sh"),
    ('secrets = ["KEY"], setup', 'secrets = ["KEY", "ROOT"], setup', "agent gets secret ROOT"),
    ('"20"', '"21"', "with ./node version: 21"),
    ('A = "1"', 'A = "2"', "env A: 2"),
    ('shell = "bash"', 'shell = "./sh {0}"', "shell ./sh {0}"),
]
"""A setting, what it becomes, and the item."""


def test_each_setting_that_gives_power_is_an_item(tmp_path: Path) -> None:
    start = GITHUB + "[github]\n" + POWER.replace('["KEY"]\nsetup', '["KEY", "ROOT"]\nsetup')
    project = Project(tmp_path / "p", start)
    asking = "## 1. Go\n\n```bash\nmake\n```\n\n## 2. Ship it?\n\n- YES: CONTINUE\n- NO: STOP\n"
    project.write("docs/ask.runbook.md", asking)
    assert project.build().code == 0, project.build().err
    changed = start
    for old, new, _ in POWERS:
        assert old in start
        changed = changed.replace(old, new)
    project.write("rdc.toml", changed)
    project.write("docs/ask.runbook.md", f"---\nrdc: {{steps: {{1: {{env: {{API: a}}}}}}}}\n---\n\n{asking}")
    result = project.build().exits(1)
    for item in ("env API: a", *(item for _, _, item in POWERS)):
        assert f"new and not approved: {item} in" in result.err


@pytest.mark.parametrize("words", [["--approve", "secret DEPLOY_TOKEN"], ["--take-pins"]])
def test_ci_approves_nothing_and_nobody_what_is_not_new(project: Project, words: list[str]) -> None:
    assert f"{words[0]} does not work in CI" in spawn("build", *words, cwd=project.root, CI="true").exits(2).err
    assert "there is no new item 'secret DEPLOY_TOKN'" in project.build("--approve", "secret DEPLOY_TOKN").exits(2).err
    (project.root / "rdc.lock").unlink()
    result = spawn("build", cwd=project.root, CI="1")
    assert result.code == 1, "a lock that is missing approves nothing in CI"
    assert "error[RD546]: new and not approved: permission contents: read" in result.err
    assert "error[RD544]: rdc.lock is missing" in project.build("--check").err


def test_the_lock_names_what_files_may_do_and_what_they_call(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", GITHUB.replace("docs/*.runbook.md", "docs/**"))
    shutil.copytree(ROOT / "examples", project.root / "docs", dirs_exist_ok=True)
    project.write(
        "rdc.toml",
        '[[build]]\nsource = ["docs/*.runbook.md", "!docs/release.runbook.md"]\nto = "github"\n'
        'out = ".github/workflows/{name}.yml"\n\n'
        '[[build]]\nsource = ["docs/playbooks/*.playbook.md", "docs/workflows/*.workflow.yaml"]\nto = "python"\n'
        'out = "bin/{name}.py"\n\n'
        '[[build]]\nsource = "docs/specifications/hello-steps.stepspec.json"\nto = "json"\nout = "out/{name}.json"\n\n'
        '[[build]]\nsource = "docs/nightly-*.runbook.md"\nto = "make"\nout = "make/{name}.mk"\n',
    )
    project.build().exits(0)
    assert (project.root / "out" / "hello-steps.json").exists()
    assert project.build("--check").code == 0
    kinds = {line.split(" ")[1] for line in lock(project)}
    assert kinds >= {"action", "permission", "secret", "input", "runtime", "agent", "gate"}, kinds
    assert lock(project) == sorted(lock(project))
    assert len(lock(project)) == len(set(lock(project)))
    assert [line for line in lock(project) if line.startswith("make/nightly-cleanup.mk runtime make-loop ")]


def test_a_command_over_several_lines_cannot_hide_one_in_a_comment(tmp_path: Path) -> None:
    options = "options = {{ agent = '''{}''' }}\n"
    project = Project(tmp_path / "p", GITHUB + options.format("claude # it \ncurl"))
    project.write("docs/ask.runbook.md", "## 1. Ask\n\n```prompt\nIs it good?\n```\n")
    assert project.build().code == 0
    assert ".github/workflows/ask.yml agent: claude # it ␊curl" in lock(project)
    project.write("rdc.toml", GITHUB + options.format("claude # it curl"))
    assert "new and not approved: agent: claude # it curl" in project.build().err


def test_a_path_cannot_pass_for_an_item(tmp_path: Path) -> None:
    project = Project(tmp_path / "p", '[[build]]\nsource = "docs/*"\nto = "github"\nout = "out/{name}.yml"\n')
    project.write("docs/x secret Y\n.runbook.md", "## 1. Go\n\n```bash\ntrue\n```\n")
    project.build()
    assert {line.rpartition('"')[0] for line in lock(project)} == {'"out/x secret Y\\n.yml'}
    assert project.build("--check").code == 0


def bump(project: Project, name: str = "deploy", commit: str = NEW) -> None:
    """Change a pin in a workflow, as Dependabot does."""
    path = project.workflow(name)
    old = f"{CHECKOUT.reference} # {CHECKOUT.version}"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, f"{CHECKOUT.uses}@{commit} # v9.1.0"))


def test_a_pin_that_a_bot_changed_is_taken_into_the_configuration(project: Project) -> None:
    with (project.root / "rdc.toml").open("a") as file:
        file.write("\n# ours\n[python]\nruntime = 'shared'  # as we like it\n")
    project.runbook("other")
    project.build()
    bump(project)
    assert "error[RD543]" in project.build("--check").err
    assert project.build("--take-pins").exits(0).err.startswith("copied 1 pin to rdc.toml\n")
    assert json.loads(project.build("--take-pins", "--format", "json").out)["diagnostics"] == []
    text = project.text("rdc.toml")
    assert f'[github.actions]\n"actions/checkout" = "{NEW} # v9.1.0"' in text
    assert "# ours\n[python]\nruntime = 'shared'  # as we like it\n" in text
    for name in ("deploy", "other"):
        assert f"uses: {CHECKOUT.uses}@{NEW} # v9.1.0" in project.workflow(name).read_text()
    assert project.build("--check").code == 0


def test_pins_of_rdc_and_those_that_contradict_each_other_are_not_taken(project: Project) -> None:
    assert project.build("--take-pins").err == "1 file up to date\n"
    project.runbook("other")
    project.build()
    bump(project)
    bump(project, "other", "3" * 40)
    result = project.build("--take-pins").exits(1)
    assert ".github/workflows/deploy.yml and .github/workflows/other.yml have different pins" in result.err
    assert "github.actions" not in project.text("rdc.toml")
    (project.root / "docs/other.runbook.md").unlink()
    project.workflow("other").unlink()
    outside = project.root.parent / "outside.toml"
    (project.root / "rdc.toml").rename(outside)
    (project.root / "rdc.toml").symlink_to(outside)
    assert project.build("--take-pins").code == 1, "nor are any taken into a configuration outside"
    assert outside.read_text() == GITHUB


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('"actions/checkot" = "x"', "rdc doesn't use the action actions/checkot"),
        ('"actions/checkout" = "v7"', "by a commit and its version"),
        (f'"actions/checkout" = "{NEW} # v1\\n- run: evil"', "by a commit and its version"),
    ],
)
def test_a_pin_that_is_none_is_refused(project: Project, value: str, message: str) -> None:
    project.write("rdc.toml", f"{GITHUB}\n[github.actions]\n{value}\n")
    assert message in project.build().exits(1).err


@pytest.mark.parametrize(
    ("document", "items"),
    [(QUESTION, ["environment approval"]), (CALLING, ["runtime commands ", "runtime github ", "prompts answers"])],
    ids=["reviewers", "program"],
)
def test_a_question_adds_permissions_and_more_items(project: Project, document: str, items: list[str]) -> None:
    project.write("docs/deploy.runbook.md", document)
    result = project.build().exits(1)
    for item in ["permission actions: read in .github/workflows/deploy.yml", *items]:
        assert f"new and not approved: {item}" in result.err
    assert not (project.root / ".github" / "rdc").exists()


def test_a_lock_that_is_a_link_is_not_followed(project: Project) -> None:
    outside = project.root.parent / "outside"
    (project.root / "rdc.lock").unlink()
    (project.root / "rdc.lock").symlink_to(outside)
    project.runbook("other")
    assert "error[RD511]: cannot write rdc.lock: it is a link" in project.build().exits(1).err
    assert not outside.exists()


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        *((None, "builds nothing"), ("x = [", "RD501")),
        *(("github = 1", "RD501"), ("[github]\nactions = 'x'", "builds nothing")),
    ],
    ids=["none", "not TOML", "no table", "no actions"],
)
def test_pins_go_into_a_valid_configuration_only(project: Project, configuration: str | None, message: str) -> None:
    bump(project)
    if configuration is None:
        (project.root / "rdc.toml").unlink()
    else:
        project.write("rdc.toml", configuration)
    result = project.build("--take-pins")
    assert result.code in (1, 2)
    assert message in result.err


def test_a_lock_that_somebody_widened_or_with_any_path_in_it_is_compared(project: Project) -> None:
    with (project.root / "rdc.lock").open("a") as file:
        file.write(".github/workflows/deploy.yml secret EVIL\n")
    assert "rdc.lock: error[RD512]: rdc.lock is stale" in project.build("--check").err
    assert project.build().err == "wrote rdc.lock\n"
    for line in ("a\0b/x.yml secret A", '"\\ud800/x.yml" secret A', "gone/x.yml secret A"):
        project.write("rdc.lock", f"{project.text('rdc.lock')}{line}\n")
        project.write(".github/workflows/rdc_github_00000000.py", "# Generated by rdc 0.1.0 from <its runtime>\n")
        assert "rdc.lock is stale" in project.build("--check").exits(1).err
        assert project.build("--prune").code == 0
        assert project.build("--check").code == 0


def test_a_lock_that_errors_held_up_is_written_once_they_are_gone(project: Project) -> None:
    project.runbook("other")
    broken = project.write("docs/broken.runbook.md", "## 2. No\n")
    assert project.build().code == 1
    broken.unlink()
    assert project.build().err == "wrote rdc.lock\n"
    assert project.build("--check").code == 0
    (project.root / "docs" / "other.runbook.md").unlink()
    for _ in range(2):
        assert "other.yml is left over" in project.build().err, "until it is removed"


@pytest.mark.parametrize("make", [os.mkdir, os.mkfifo])
def test_a_lock_that_cannot_be_read_is_reported(project: Project, make: Callable[[Path], None]) -> None:
    (project.root / "rdc.lock").unlink()
    make(project.root / "rdc.lock")
    for words in ([], ["--check"], ["--take-pins"]):
        assert project.build(*words).exits(1).err.startswith("rdc: cannot build: rdc.lock: ")


def test_what_starts_a_workflow_and_where_it_runs_are_items(project: Project) -> None:
    options = "{ on = ['workflow_dispatch', 'pull_request'], runs-on = ['self-hosted', 'linux'] }"
    project.write("rdc.toml", f"{GITHUB}options = {options}\n")
    project.build()
    result = project.build()
    for item in ("trigger pull_request", "runner self-hosted", "runner linux"):
        assert f"new and not approved: {item} in .github/workflows/deploy.yml" in result.err
    project.write("rdc.toml", f"{GITHUB}options = {{ setup = [{{ run = 'make tools' }}] }}\n")
    assert "new and not approved: script make tools in" in project.build().err
