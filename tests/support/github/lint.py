"""What the schema of GitHub's workflows, actionlint, shellcheck and zizmor find in workflow files.

No tool reads anything but the files that it is given: no configuration (a project's, a person's or of the
environment), no repository around them, nothing from a network. A missing tool is an error, never a skip.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from check_jsonschema import main as check_schema
from click.testing import CliRunner

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
    # actionlint passes over a shellcheck that is not there, silently: `program` does not.
    tools = ((*ACTIONLINT, "-shellcheck", program("shellcheck")), (*ZIZMOR, "--format", "github"))
    return [*_said_of_the_schema(paths), *(line for tool in tools for line in _said(tool, paths))]


def _said_of_the_schema(paths: Sequence[Path]) -> list[str]:
    """What check-jsonschema says, called in this process: it takes ten times as long to begin as to check."""
    name, *options = SCHEMA
    program(name)
    done = CliRunner().invoke(check_schema, [*options, *map(str, paths)])
    return _lines(name, done.exit_code, done.stdout, done.stderr)


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
    return _lines(name, done.returncode, done.stdout, done.stderr)


def _lines(name: str, code: int, out: str, err: str) -> list[str]:
    return [f"{name}: {line}" for line in (out.strip() or err.strip() or f"exit code {code}").splitlines() if code]
