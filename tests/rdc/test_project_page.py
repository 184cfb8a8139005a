"""The page about projects is true: its commands can be pasted in order, and its tests exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT
from tests.rdc.cli_support import GOOD, call, document, environment
from tests.rdc.published import git

PAGE = (ROOT / "docs" / "project.md").read_text(encoding="utf-8")
NAMES = ("backup", *(f"deploy-{number}" for number in range(9)))
IDENTITY = {f"GIT_{role}_{key}": "a@example.org" for role in ("AUTHOR", "COMMITTER") for key in ("NAME", "EMAIL")}


def shown() -> list[tuple[str, str]]:
    """The commands of the page with the output that it shows."""
    blocks = "".join(re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
    return [(command, output) for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", blocks, re.MULTILINE)]


def test_the_commands_can_be_pasted_in_order(tmp_path: Path) -> None:
    repository = tmp_path / "shop"
    for name in NAMES:
        document(repository, f"docs/{name}.runbook.md", GOOD)
    git(repository, "init", "--quiet")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    kept = environment(PATH=path, PRE_COMMIT_HOME=str(tmp_path / "home"), **IDENTITY)
    kept.pop("CI", None)
    assert len(shown()) == 9
    for command, output in shown():
        done = subprocess.run(
            ["bash", "-c", f"{command} 2>&1"],
            cwd=repository,
            env=kept,
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        start, dots, _ = output.partition("...\n")
        assert done.stdout.startswith(start) if dots else done.stdout == output, command + "\n" + done.stdout
        assert done.returncode == int("error[" in output), command
    assert git(repository, "status", "--porcelain") == ""


def test_the_configuration_of_the_page_is_right(tmp_path: Path) -> None:
    document(tmp_path, "rdc.toml", PAGE.split("```toml\n")[1].split("```")[0])
    document(tmp_path, "docs/sub/one.runbook.md", GOOD)
    document(tmp_path, "docs/drafts/two.runbook.md", GOOD)
    assert call("build", cwd=tmp_path).code == 0
    assert [path.name for path in (tmp_path / ".github" / "workflows").iterdir()] == ["one.yml"]


def test_the_tests_that_hold_the_table_exist() -> None:
    named = re.findall(r"`(rdc/\w+\.py)::(\w+)`", PAGE)
    assert len(named) == 7
    for file, test in named:
        assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), test


def test_the_hooks_of_the_page_are_the_ones_of_the_project() -> None:
    hooks = re.findall(r"^- id: (.*)$", (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"), re.MULTILINE)
    assert re.findall(r"- id: (\S+)", PAGE) == hooks
