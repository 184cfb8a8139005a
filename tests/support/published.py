"""The tree as others get it: a git repository with all of its files, and the wheel."""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from tests.conftest import ROOT
from tests.support.once import shared

AUTHOR = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")


def git(folder: Path, *words: str | Path) -> str:
    """Run git in a folder and return its output."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    command = ["git", *AUTHOR, *map(str, words)]
    return subprocess.run(command, cwd=folder, env=inherited, check=True, capture_output=True, encoding="utf-8").stdout


def commit_all(folder: Path, message: str = "Change") -> str:
    """Commit everything in a folder, a repository or not; gives the commit."""
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)
    return git(folder, "rev-parse", "HEAD").strip()


def published(folder: Path) -> str:
    """Make a folder a repository with the files of this tree, what is not committed included; gives the commit."""
    listed = git(ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard").split("\0")
    files = "\0".join(path for path in listed if (ROOT / path).is_file() and not path.startswith(("golden/", "tests/")))
    folder.mkdir()
    archive = ["tar", "--create", "--directory", str(ROOT), "--null", "--files-from=-"]
    packed = subprocess.run(archive, input=files.encode(), check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--directory", str(folder)], input=packed, check=True)
    return commit_all(folder, "Publish")


def wheel() -> Path:
    """The wheel of this tree, built once for all tests."""

    def make(folder: Path) -> None:
        command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
        subprocess.run(command, check=True, capture_output=True)

    (built,) = shared("wheel", make).iterdir()
    return built


def needed(*table: str) -> set[str]:
    """The names of the packages that a list of `pyproject.toml` names, and of all that these need here."""
    listed: Any = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    for key in table:
        listed = listed[key]
    found, pending = set[str](), list(listed)
    while pending:
        one = Requirement(pending.pop())
        if one.name not in found and (one.marker is None or one.marker.evaluate({"extra": ""})):
            found.add(re.sub(r"[-_.]+", "-", one.name).lower())
            pending += requires(one.name) or []
    return found
