"""`make release`: wheel, sdist, checksums, provenance and release notes of the commit in the current folder.

Everything in `dist/` depends on the commit and the locked packages only: building again gives the same bytes. The
script needs no network and refuses a tree that isn't exactly a version.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import version as installed
from pathlib import Path

OUT = Path("dist")
LOCK = Path("requirements.lock")


def git(*words: str) -> str:
    """Run git and return its output."""
    return subprocess.run(["git", *words], check=True, capture_output=True, encoding="utf-8").stdout.strip()


def version() -> str:
    """Return the version of the source."""
    found = re.search(r'^__version__ = "(.+)"$', Path("compiler/version.py").read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def notes(version: str) -> str:
    """Return the section of a version in the changelog, or ""."""
    text = Path("CHANGELOG.md").read_text(encoding="utf-8")
    found = re.search(rf"^## \[{re.escape(version)}\][^\n]*\n(.*?)(?=^## \[|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def issues(version: str) -> list[str]:
    """Return the reasons against a release."""
    wanted = f"v{version}"
    tags = [tag for tag in git("tag", "--points-at", "HEAD").split() if re.match(r"v\d", tag)]
    found = []
    if git("status", "--porcelain"):
        found.append("the tree has changes that no commit has; commit or remove them")
    if not notes(version):
        found.append(f"CHANGELOG.md has no section [{version}]; write it")
    if any(tag != wanted for tag in tags):
        found.append(f"the commit has the tag {' '.join(tags)}, but the version is {version}; correct one of them")
    if wanted not in tags and git("tag", "--list", wanted):
        found.append(f"the tag {wanted} is on another commit; raise the version in compiler/version.py")
    return found


def provenance(files: dict[str, str], version: str, commit: str, date: str) -> dict[str, object]:
    """Return the in-toto statement with SLSA provenance for files, given by name and SHA-256."""
    locked = re.findall(r"^([\w.-]+)==([^ ;\\]+)", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    packages = [{"uri": f"pkg:pypi/{name}@{number}"} for name, number in locked]
    lock = {"name": str(LOCK), "digest": {"sha256": hashlib.sha256(LOCK.read_bytes()).hexdigest()}}
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in files.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:rdc:make-release:v1",
                "externalParameters": {"version": version},
                "internalParameters": {"SOURCE_DATE_EPOCH": date},
                "resolvedDependencies": [{"name": "source", "digest": {"gitCommit": commit}}, lock, *packages],
            },
            "runDetails": {
                "builder": {
                    "id": os.environ.get("GITHUB_WORKFLOW_REF", "urn:rdc:make-release"),
                    "version": {"python": sys.version.split()[0], "hatchling": installed("hatchling")},
                }
            },
        },
    }


def main() -> int:
    """Build the release, or report the reasons against it."""
    number = version()
    if found := issues(number):
        print(*(f"release: {problem}" for problem in found), sep="\n", file=sys.stderr)
        return 1
    commit, date = git("rev-parse", "HEAD"), git("log", "-1", "--format=%ct")
    shutil.rmtree(OUT, ignore_errors=True)
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(OUT)]
    subprocess.run(command, env={**os.environ, "SOURCE_DATE_EPOCH": date}, check=True, stdout=subprocess.DEVNULL)
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(OUT.iterdir())}
    pages = {
        "SHA256SUMS": "".join(f"{digest}  {name}\n" for name, digest in files.items()),
        "provenance.intoto.json": json.dumps(provenance(files, number, commit, date), indent=2) + "\n",
        "NOTES.md": notes(number) + "\n",
    }
    for name, text in pages.items():
        (OUT / name).write_text(text, encoding="utf-8")
    print(*(f"wrote {OUT / name}" for name in [*files, *pages]), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
