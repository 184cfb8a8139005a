"""The packages of a worker: `rdc compile` names the command that locks them; `rdc verify --locked` needs the lock."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from backends.python.program import METADATA
from rdc.output.packages import lock_issue
from tests.support.cli import call

pytestmark = pytest.mark.process

NAME = "deploy_worker.py"
RUN = f"uv lock --script {NAME}"
DOCUMENT = "# Deploy\n\n## 1. Build\n\n```bash\necho built\n```\n"
SHA = "sha256:" + "0a" * 32
LOCK = f"""\
version = 1
revision = 5
requires-python = ">=3.10"

[manifest]
requirements = [
    {{ name = "dbos", specifier = "==3.4.0" }},
    {{ name = "prometheus-client", specifier = "==0.26.0" }},
]

[[package]]
name = "dbos"
version = "3.4.0"
source = {{ registry = "https://pypi.org/simple" }}
dependencies = [{{ name = "prometheus-client" }}]
sdist = {{ url = "https://example.org/dbos.tar.gz", hash = "{SHA}" }}

[[package]]
name = "prometheus-client"
version = "0.26.0"
source = {{ registry = "https://pypi.org/simple" }}
wheels = [{{ url = "https://example.org/p.whl", hash = "{SHA}" }}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rdc.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    (tmp_path / "deploy.runbook.md").write_text(DOCUMENT, encoding="utf-8")
    made = call("compile", "deploy.runbook.md", "--to", "dbos", cwd=tmp_path)
    assert (made.code, made.err.splitlines()) == (0, [f"wrote {NAME}", f"to lock its packages, run: {RUN}"])
    return tmp_path


def verified(folder: Path, *words: str) -> tuple[int, str]:
    found = call("verify", *words, NAME, cwd=folder)
    return found.code, found.out


def test_a_worker_without_a_lock_is_refused_only_with_the_option(folder: Path) -> None:
    assert verified(folder)[0] == 0
    code, out = verified(folder, "--locked")
    assert (code, out) == (1, f"{NAME}: its packages are not locked: there is no {NAME}.lock; run: {RUN}\n")


def test_a_lock_that_matches(folder: Path) -> None:
    (folder / f"{NAME}.lock").write_text(LOCK, encoding="utf-8")
    assert verified(folder, "--locked")[0] == 0
    assert call("compile", "deploy.runbook.md", "--to", "dbos", cwd=folder).err == f"{NAME} is up to date\n"


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (LOCK, "", "is not a lock file of uv"),
        (LOCK, "x = [", "is not a lock file of uv"),
        (LOCK, LOCK.replace("[manifest]", "[other]"), "is not a lock file of uv"),
        ("version = 1\n", "version = 2\n", "does not match: it has the version 2"),
        ('version = "3.4.0"', 'version = "nonsense"', "no version of dbos fits"),
        ('python = ">=3.10"', 'python = ">=3.9"', "it is for Python >=3.9"),
        ('"==3.4.0"', '">=3.4"', "the worker needs dbos==3.4.0, prometheus-client==0.26.0"),
        (', specifier = "==0.26.0"', "", "the worker needs"),
        (', specifier = "==0.26.0"', ', git = "https://example.org"', "the worker needs"),
        ("[manifest]\n", '[manifest]\noverrides = [{ name = "dbos", specifier = "==1" }]\n', "the worker needs"),
        ('version = "3.4.0"', 'version = "3.9.0"', "no version of dbos fits"),
        (SHA, "sha256:0a", "a file of dbos has no SHA-256"),
        (f', hash = "{SHA}"', "", "is not a lock file of uv"),
        ('registry = "https://pypi.org/simple"', 'git = "https://example.org/dbos"', "dbos is not from a registry"),
        ('dependencies = [{ name = "prometheus-client" }]', 'dependencies = [{ name = "x" }]', "dbos needs x"),
    ],
)
def test_a_lock_that_does_not_match(before: str, after: str, message: str, tmp_path: Path) -> None:
    assert before in LOCK
    (tmp_path / NAME).write_text(f"#!/usr/bin/env -S uv run --script\n#\n{METADATA[()]}", encoding="utf-8")
    (tmp_path / f"{NAME}.lock").write_text(LOCK.replace(before, after, 1), encoding="utf-8")
    assert message in lock_issue(str(tmp_path / NAME))


def test_another_fault_comes_first(folder: Path) -> None:
    (folder / NAME).write_text((folder / NAME).read_text(encoding="utf-8") + "print()\n", encoding="utf-8")
    code, out = verified(folder, "--locked")
    assert code == 1
    assert "lock" not in out


def test_a_file_without_packages_needs_no_lock(folder: Path) -> None:
    assert call("compile", "deploy.runbook.md", "--to", "python", cwd=folder).err == "wrote deploy.py\n"
    assert call("verify", "--locked", "deploy.py", cwd=folder).code == 0


def test_the_lock_of_uv_matches(folder: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    done = subprocess.run([uv, *RUN.split()[1:]], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        pytest.skip(f"uv cannot reach a package registry: {done.stderr.strip()[:200]}")
    assert verified(folder, "--locked")[0] == 0
