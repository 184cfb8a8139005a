"""The job of the page for GitLab: GitLab's schema accepts it, and it runs, waits and continues."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tests.support import warm
from tests.support.cli import call
from tests.support.node import MissingError, installed
from tests.support.pages import Block, parts

pytestmark = pytest.mark.tool

RSYNC = """#!/bin/sh
for folder; do :; done
mkdir -p "$folder" && tar -cf - --exclude=./.gitlab-ci-local --exclude=./.git . | tar -xf - -C "$folder"
"""
"""As much of rsync as gitlab-ci-local needs."""


def written(folder: Path) -> None:
    folder.mkdir()
    blocks = [part for part in parts("docs/how-to/gitlab.md") if isinstance(part, Block) and part.title]
    for block in blocks:
        (folder / block.title).write_text(block.text)
    assert call("compile", "deploy.runbook.md", "--to", "python", "--output", "deploy.py", cwd=folder).code == 0
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", *words], cwd=folder, check=True)


def job(program: Path, folder: Path, **variables: str) -> str:
    """Run the job of the page with the variables of a form; return its output."""
    given = {"CI_PIPELINE_SOURCE": "web", "FOLDER": str(folder.parent / "shop"), **variables}
    options = [word for name, value in given.items() for word in ("--variable", f"{name}={value}")]
    mode = ["--force-shell-executor", "--ignore-predefined-vars", "CI_PIPELINE_SOURCE"]
    path = os.pathsep.join((str(folder.parent / "tools"), str(Path(sys.executable).parent), os.environ["PATH"]))
    environment = {"PATH": path, "HOME": str(folder.parent), "NO_COLOR": "1"}
    words = ["node", str(program / "run.mjs"), *mode, *options, "deploy"]
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


@pytest.mark.soak
def test_the_job_waits_for_a_reply_and_continues_with_it(tmp_path: Path) -> None:
    """As a runner of GitLab runs it; its script alone does so below."""
    try:
        program = installed(ROOT / "tests/docs/gitlab_ci_local")
    except MissingError as missing:
        pytest.skip(str(missing))
    (tmp_path / "shop").mkdir()
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "rsync").write_text(RSYNC)
    (tmp_path / "tools" / "rsync").chmod(0o755)
    written(project := tmp_path / "project")
    first = job(program, project, VERSION="1.5")
    assert "WAITING 2 Is the build good?" in first
    assert "WARN 75" in first
    assert not (tmp_path / "shop" / "live.txt").exists()
    assert "rdc: COMPLETE" in job(program, project, REPLY="yes")
    assert (tmp_path / "shop" / "live.txt").read_text() == "shop 1.5\n"
    assert "COMPLETE" in job(program, project, REPLY="no")
    assert (tmp_path / "shop" / "live.txt").read_text() == "shop 1.5\n"
    assert "\nCOMPLETE\n" in (project / ".gitlab-ci-local" / "artifacts" / "deploy" / "status.txt").read_text()


def script(project: Path, folder: Path, **variables: str) -> tuple[int, str]:
    file = yaml.safe_load((project / ".gitlab-ci.yml").read_text())
    given = {"PATH": os.environ["PATH"], "FOLDER": str(folder), "CI_PROJECT_DIR": str(project)}
    given = {**dict.fromkeys(file["variables"], ""), **given, **variables}
    done = warm.run(["bash", "-ec", "\n".join(file["deploy"]["script"])], cwd=project, env=given)
    return done.returncode, done.stderr.decode()


def test_a_value_of_the_form_is_one_word_and_the_script_waits_and_continues(tmp_path: Path) -> None:
    written(project := tmp_path / "project")
    (shop := tmp_path / "shop").mkdir()
    code, printed = script(project, shop, VERSION="1.5 --state-dir /x; touch there")
    assert (code, "doesn't match" in printed or "version" in printed) == (2, True)
    assert not list(tmp_path.rglob("there"))
    code, printed = script(project, shop, VERSION="1.5")
    assert (code, "WAITING 2 Is the build good?" in printed) == (75, True)
    assert not (shop / "live.txt").exists()
    (tmp_path / "cp").write_text("#!/bin/sh\nkill -9 $PPID\n")
    (tmp_path / "cp").chmod(0o755)
    assert script(project, shop, REPLY="yes", PATH=f"{tmp_path}:{os.environ['PATH']}")[0] == 128 + signal.SIGKILL
    assert "WAITING 3 Deploy 1.5" in script(project, shop, REPLY="yes")[1]
    assert script(project, shop, INTERRUPTED="pass --by someone")[0] == 2
    assert "rdc: COMPLETE" in script(project, shop, INTERRUPTED="rerun")[1]
    assert (shop / "live.txt").read_text() == "shop 1.5\n"
