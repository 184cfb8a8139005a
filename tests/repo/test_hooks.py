"""The hooks of the project and of `rdc init`, run by the real pre-commit, and subjects of commits."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.cli import GOOD, Result, call, document, environment
from tests.support.published import AUTHOR, commit_all, git, published

pytestmark = pytest.mark.process

UNTIDY = GOOD.replace("## 2. Test", "## 2.   Test")
WARNED = GOOD.replace("```bash\necho testing", "```console\necho testing")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    return tmp_path


def with_hooks(folder: Path, home: Path, *command: str) -> Result:
    """Run a command with the programs of this environment first on the path."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = environment(PATH=path, PRE_COMMIT_HOME=str(home), PRE_COMMIT_COLOR="never")
    done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, encoding="utf-8", check=False)
    return Result(done.returncode, done.stdout + done.stderr, "")


def pre_commit(folder: Path, home: Path, *words: str) -> Result:
    return with_hooks(folder, home, str(Path(sys.executable).with_name("pre-commit")), *words)


def test_the_hook_of_a_new_project_says_what_to_do_and_stops_a_commit(repository: Path, home: Path) -> None:
    call("init", cwd=repository)
    commit_all(repository)
    assert pre_commit(repository, home, "run", "--all-files").code == 0
    source = repository / "runbooks" / "conflict-markers.runbook.md"
    source.write_text(source.read_text(encoding="utf-8").replace("No conflict markers", "Fine"), encoding="utf-8")
    stale = pre_commit(repository, home, "run", "--all-files").exits(1)
    assert ".github/workflows/conflict-markers.yml is stale" in stale.out
    assert "= help: run: rdc build" in stale.out
    assert call("build", cwd=repository).code == 0
    assert call("build", "--check", cwd=repository).code == 0, "which is all that the hook does"
    pre_commit(repository, home, "install")
    generated = repository / ".github" / "workflows" / "conflict-markers.yml"
    generated.write_text(generated.read_text(encoding="utf-8") + "# by hand\n", encoding="utf-8")
    stopped = with_hooks(repository, home, "git", *AUTHOR, "commit", "--all", "--message", "Edit")
    assert (stopped.code, "was edited by hand" in stopped.out) == (1, True), stopped.out
    configuration = repository / "rdc.toml"
    configuration.write_text(configuration.read_text(encoding="utf-8").replace("==0.1.0", "==0.0.9"), encoding="utf-8")
    refused = pre_commit(repository, home, "run", "--all-files").exits(1)
    assert "this project requires rdc ==0.0.9, but this is rdc 0.1.0" in refused.out


@pytest.mark.soak
def test_the_hooks_find_what_is_wrong(repository: Path, home: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    origin = tmp_path_factory.mktemp("origin") / "rdc"
    commit = published(origin)
    hooks = "".join(f"      - id: {name}\n" for name in ("rdc-check", "rdc-fmt", "rdc-build"))
    configuration = f"repos:\n  - repo: {origin}\n    rev: {commit}\n    hooks:\n{hooks}"
    document(repository, ".pre-commit-config.yaml", configuration)
    call("init", cwd=repository)
    commit_all(repository)
    assert pre_commit(repository, home, "run", "--all-files").exits(0).out.count("Passed") == 3
    document(repository, "runbooks/deploy.runbook.md", WARNED)
    git(repository, "add", "--all")
    found = pre_commit(repository, home, "run", "--all-files").exits(1)
    assert "RD050" in found.out, "the hook rdc-check fails on warnings"
    assert "deploy.yml is missing" in found.out
    document(repository, "runbooks/deploy.runbook.md", UNTIDY)
    git(repository, "add", "--all")
    formatted = pre_commit(repository, home, "run", "rdc-fmt", "--all-files")
    assert (formatted.code, "files were modified by this hook" in formatted.out) == (1, True), formatted.out
    assert (repository / "runbooks/deploy.runbook.md").read_text(encoding="utf-8") == GOOD


# --- Subjects of commits: one imperative sentence without a period, at most 72 characters -----------------------------


COMMITS = 50
LONGEST = 72
FIRST = re.compile(r"[A-Z][a-z]+(?:[-'][a-z]+)*(?= \S)")

OTHER_FORM = re.compile(r"(?:(?<!e)ed|ing|(?<!s)s)$")
"""How a verb ends that isn't imperative: "Added", "Adding", "Adds"."""

IMPERATIVE = {"Embed", "Shed", "Shred", "Wed", "Bring", "Ping", "Ring", "String", "Swing", "Bias", "Focus", "Alias"}
"""Verbs that end like another form."""


def problem(subject: str) -> str:
    """Return the problem of a subject; "" if it has none."""
    first = FIRST.match(subject)
    if len(subject) > LONGEST:
        return f"it has {len(subject)} characters, and {LONGEST} are the most"
    if subject.endswith("."):
        return "it ends with a period"
    if not first:
        return "it doesn't start with a capitalized verb"
    if OTHER_FORM.search(first[0]) and first[0] not in IMPERATIVE:
        return f"{first[0]!r} isn't imperative: write it as a command, such as 'Add'"
    return ""


def output_of_git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else ""


def test_subjects_of_the_last_commits() -> None:
    if not (ROOT / ".git").exists() or output_of_git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("this checkout has no history of commits")
    subjects = output_of_git("log", "--no-merges", f"--max-count={COMMITS}", "--format=%s").splitlines()
    assert {subject: why for subject in subjects if (why := problem(subject))} == {}


def test_subjects_that_are_fine_and_others() -> None:
    fine = ("Add a page", "Pass the flag on", "Feed the parser", "Embed fonts", "Re-read the lock", "Focus on a step")
    assert [problem(subject) for subject in (*fine, "Don't wait")] == [""] * 7
    wrong = ("Added a page", "Adding a page", "Adds a page", "add a page", "Add a page.", "ADD a page", "Page", "")
    assert all(map(problem, (*wrong, "Add " * 19)))
