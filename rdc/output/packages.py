"""The packages of a worker: its inline script metadata, and the lock file that `uv lock --script` writes beside it."""

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from compiler.reading.toml import load_toml
from compiler.text.files import FileIssue, read_source

_METADATA = re.compile(r"^# /// script$\n((?:#(?:| .*)$\n)+?)^# ///$", re.MULTILINE)
_HASH = re.compile(r"sha256:[0-9a-f]{64}")
_UNREADABLE = (AttributeError, KeyError, RecursionError, TypeError, ValueError)

Table = Mapping[str, Any]


def lock_command(path: str) -> str:
    """Return the command that locks a worker's packages."""
    return f"uv lock --script {shlex.quote(path)}"


def lock_issue(path: str) -> str:
    """Return why a worker's lock file does not fix its packages, or "". A file without packages needs no lock."""
    worker = read_source(Path(path), path, path)
    declared = None if isinstance(worker, FileIssue) else _METADATA.search(worker.text)
    if declared is None:
        return ""
    lock = f"{path}.lock"
    if not Path(lock).exists():
        return f"its packages are not locked: there is no {lock}"
    found = read_source(Path(lock), lock, lock)
    if isinstance(found, FileIssue):
        return f"cannot read {lock}: {found.message}"
    try:
        wanted = load_toml(re.sub(r"^# ?", "", declared[1], flags=re.MULTILINE))
        problem = next(_issues(wanted, load_toml(found.text)), "")
    except _UNREADABLE:
        return f"{lock} is not a lock file of uv"
    return f"{lock} does not match: {problem}" if problem else ""


def _issues(wanted: Table, lock: Table) -> Iterator[str]:
    from packaging import requirements, specifiers, utils  # noqa: PLC0415 (only for workers)

    if lock["version"] != 1:
        yield f"it has the version {lock['version']}"
    version_range = specifiers.SpecifierSet
    if version_range(lock["requires-python"]) != version_range(wanted["requires-python"]):
        yield f"it is for Python {lock['requires-python']}"
    dependencies = map(requirements.Requirement, wanted["dependencies"])
    asked = {utils.canonicalize_name(item.name): item.specifier for item in dependencies}
    manifest = lock["manifest"]
    locked = {item["name"]: version_range(item.get("specifier", "")) for item in manifest["requirements"]}
    if (
        locked != asked
        or manifest.keys() != {"requirements"}
        or any(len(item) > 2 for item in manifest["requirements"])
    ):
        yield f"the worker needs {', '.join(wanted['dependencies'])}"
    packages: list[Table] = lock["package"]
    names = {package["name"] for package in packages}
    for name, specifier in asked.items():
        if not any(package["name"] == name and package["version"] in specifier for package in packages):
            yield f"no version of {name} fits"
    for package in packages:
        files = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else ())]
        if package["source"].keys() != {"registry"}:
            yield f"{package['name']} is not from a registry"
        if not files or not all(_HASH.fullmatch(file["hash"]) for file in files):
            yield f"a file of {package['name']} has no SHA-256"
        if missing := [item["name"] for item in package.get("dependencies", ()) if item["name"] not in names]:
            yield f"{package['name']} needs {missing[0]}"
