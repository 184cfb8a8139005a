"""Documents compiled to workflows, for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from backends.base import Emission
from backends.github import GithubBackend
from compiler.driver import compile_file


def emission(folder: Path, document: str, options: Mapping[str, object] | None = None) -> Emission:
    """What the github target makes of a document that is written into a folder."""
    path = folder / "main.runbook.md"
    path.write_bytes(document.encode())
    compiled = compile_file(str(path))
    assert compiled.program, compiled.diagnostics
    return GithubBackend().emit(compiled.program, options or {})


def text_of(folder: Path, document: str, options: Mapping[str, object] | None = None) -> str:
    """The workflow of a document."""
    made = emission(folder, document, options)
    assert made.text, made.diagnostics
    return made.text


def parsed(text: str) -> dict[str, Any]:
    """A workflow as plain values; YAML 1.1 takes the key `on` for true."""
    values = yaml.safe_load(text)
    return {"on" if key is True else str(key): value for key, value in values.items()}


def steps(text: str, job: str = "runbook") -> list[dict[str, Any]]:
    """The steps of a job."""
    found: list[dict[str, Any]] = parsed(text)["jobs"][job]["steps"]
    return found
