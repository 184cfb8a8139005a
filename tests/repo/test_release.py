"""`make release` makes the same bytes again, and refuses a tree that isn't a version."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from compiler.version import __version__
from tests.support.cli import environment
from tests.support.published import commit_all, git, published

SECTION = f"## [{__version__}] - 2026-11-27\n\n- The first version.\n\n## [0.0.1]\n\n- Nothing.\n"


def release(folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "tools.release"]
    done = subprocess.run(command, cwd=folder, env=environment(), capture_output=True, encoding="utf-8", check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "rdc"
    published(folder)
    (folder / "CHANGELOG.md").write_text(f"# Changelog\n\n{SECTION}", encoding="utf-8")
    commit_all(folder)
    return folder


def test_a_release_is_the_same_bytes_again(tree: Path, tmp_path: Path) -> None:
    code, said = release(tree)
    assert code == 0, said
    made = {path.name: path.read_bytes() for path in (tree / "dist").iterdir()}
    wheel, sdist = f"rundown_compiler-{__version__}-py3-none-any.whl", f"rundown_compiler-{__version__}.tar.gz"
    assert set(made) == {wheel, sdist, "SHA256SUMS", "provenance.intoto.json", "NOTES.md"}
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=tree / "dist", check=True)
    assert made["NOTES.md"].decode() == "- The first version.\n"
    git(tmp_path, "clone", "--quiet", tree, "again")
    assert release(tmp_path / "again") == (code, said)
    assert {path.name: path.read_bytes() for path in (tmp_path / "again" / "dist").iterdir()} == made


def test_the_provenance_names_subjects_commit_and_packages(tree: Path) -> None:
    code, said = release(tree)
    assert code == 0, said
    statement = json.loads((tree / "dist" / "provenance.intoto.json").read_text(encoding="utf-8"))
    assert statement["_type"] == "https://in-toto.io/Statement/v1"
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    for subject in statement["subject"]:
        digest = hashlib.sha256((tree / "dist" / subject["name"]).read_bytes()).hexdigest()
        assert subject["digest"] == {"sha256": digest}
    source, lock, *packages = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    assert source["digest"] == {"gitCommit": git(tree, "rev-parse", "HEAD").strip()}
    assert lock["digest"]["sha256"] == hashlib.sha256((tree / "requirements.lock").read_bytes()).hexdigest()
    assert "pkg:pypi/hatchling@" in " ".join(package["uri"] for package in packages)


def test_what_is_no_version_is_refused(tree: Path) -> None:
    (tree / "new.txt").touch()
    git(tree, "tag", "v9.9.9")
    (tree / "CHANGELOG.md").write_text("# Changelog\n", encoding="utf-8")
    code, said = release(tree)
    assert code == 1
    assert "changes that no commit has" in said
    assert f"no section [{__version__}]" in said
    assert "the tag v9.9.9" in said
    assert not (tree / "dist").exists()


def test_a_version_is_released_once(tree: Path) -> None:
    git(tree, "tag", f"v{__version__}")
    assert release(tree)[0] == 0
    (tree / "README.md").write_text("More.\n", encoding="utf-8")
    commit_all(tree)
    code, said = release(tree)
    assert (code, "is on another commit" in said) == (1, True)
