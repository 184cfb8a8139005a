"""What the schema of GitHub's workflows, actionlint, shellcheck and zizmor find in workflow files.

No tool reads anything but the files that it is given: no configuration (a project's, a person's or of the
environment), no repository around them, nothing from a network. A missing tool is an error, never a skip.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

PROGRAMS = Path(sys.executable).parent

SCHEMA = ("check-jsonschema", "--builtin-schema", "vendor.github-workflows")
ACTIONLINT = ("actionlint", "-oneline", "-no-color", "-config-file", os.devnull, "-pyflakes=")
ZIZMOR = ("zizmor", "--pedantic", "--offline", "--no-config", "--no-progress", "--strict-collection", "--quiet")


def program(name: str) -> str:
    """The path of a program that the dependencies for development bring."""
    path = PROGRAMS / name
    if not os.access(path, os.X_OK):
        raise FileNotFoundError(f"{path} is not there: run `make setup`")
    return str(path)


def findings(paths: Sequence[Path]) -> list[str]:
    """All that the tools say of workflow files, in lines that begin with the name of the tool; clean is empty."""
    if not paths:
        raise ValueError("no file to check")
    # actionlint passes over a shellcheck that is not there, in silence: `program` does not.
    actionlint = (*ACTIONLINT, "-shellcheck", program("shellcheck"))
    tools = (SCHEMA, actionlint, (*ZIZMOR, "--format", "github"))
    return [line for tool in tools for line in _said(tool, paths)]


def _said(tool: Sequence[str], paths: Sequence[Path]) -> list[str]:
    """What a tool says when it is not satisfied or could not do its work."""
    name, *options = tool
    done = subprocess.run(
        [program(name), *options, *map(str, paths)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        env={"PATH": os.environ["PATH"]},
        timeout=120,
        check=False,
    )
    if done.returncode == 0:
        return []
    lines = (done.stdout.strip() or done.stderr.strip() or f"exit code {done.returncode}").splitlines()
    return [f"{name}: {line}" for line in lines]
