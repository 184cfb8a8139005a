"""`make demo` installs only the packages that rdc needs at run time, in an environment of its own, and soon ends."""

from __future__ import annotations

import os
import re
import resource
import subprocess
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.conftest import ROOT
from tests.support.published import published

FEW_SECONDS = 25
"""How long a new user waits for the demo. The test counts processor time, since other processes change that less."""

FEW_MEGABYTES = 100


def entries(lock: str) -> list[str]:
    """Return the packages of a lock file, with their versions and conditions."""
    return re.findall(r"(?m)^(\S.*==.*?) *\\$", (ROOT / lock).read_text(encoding="utf-8"))


def names(packages: list[str]) -> set[str]:
    return {re.split(r"[ =]", package)[0] for package in packages}


def run_time() -> set[str]:
    """Return the names of the packages that rdc needs at run time."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    needed, pending = set[str](), list(project["project"]["dependencies"])
    while pending:
        one = Requirement(pending.pop())
        if one.name not in needed and (one.marker is None or one.marker.evaluate({"extra": ""})):
            needed.add(re.sub(r"[-_.]+", "-", one.name).lower())
            pending += requires(one.name) or []
    return needed


def test_its_lock_has_only_what_rdc_needs_at_run_time() -> None:
    locked = entries("requirements-run.lock")
    assert names(locked) == run_time(), "run `make lock`"
    assert set(locked) <= set(entries("requirements.lock")), "the same versions; run `make lock`"


def test_it_installs_only_its_lock() -> None:
    plan = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo"], cwd=ROOT, check=True, capture_output=True, encoding="utf-8"
    ).stdout
    installed = [line for line in plan.splitlines() if "pip install" in line]
    assert [line.split()[-3:] for line in installed] == [["--require-hashes", "-r", "requirements-run.lock"]]
    assert ".venv/" not in plan


@pytest.mark.soak
def test_a_new_user_sees_it_soon(tmp_path: Path) -> None:
    clone, home = tmp_path / "clone", tmp_path / "home"
    published(clone)
    home.mkdir()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        ["make", "demo"],
        cwd=clone,
        env={"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rdc: COMPLETE Renewed" in done.stdout
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < FEW_SECONDS
    demo = clone / "build" / "demo"
    folders = demo.glob("lib/python*/site-packages/*.dist-info")
    installed = {re.split(r"-\d", folder.name)[0].replace("_", "-").lower() for folder in folders}
    assert installed - {"pip", "setuptools"} == run_time()
    assert sum(path.lstat().st_size for path in demo.rglob("*")) < FEW_MEGABYTES * 1_000_000
