"""Documents compiled to workflows, for tests."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from backends.base import Emission
from backends.github import GithubBackend
from compiler.driver import compile_file
from compiler.ir.program import Program

LOADER: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The fast one, where PyYAML has it."""


def program_of(folder: Path, document: str, name: str = "main.runbook.md") -> Program:
    """The program of a document, which is written into a folder."""
    (folder / name).write_bytes(document.encode())
    compiled = compile_file(str(folder / name))
    assert compiled.program, compiled.diagnostics
    return compiled.program


def emission(folder: Path, document: str, options: Mapping[str, object] | None = None) -> Emission:
    """What the github target makes of a document that is written into a folder.

    A workflow without a checkout has no files beside it, so it holds the program itself. People answer questions
    unless the options say who does.
    """
    inline = {"runtime": "inline"} if options and options.get("checkout") is False else {}
    return GithubBackend().emit(program_of(folder, document), {**inline, "prompts": "answers", **(options or {})})


def beside(folder: Path, made: Emission) -> str:
    """Put the files of a workflow into the repository that it is in; return the workflow."""
    assert made.text, made.diagnostics
    for companion in made.companions:
        path = Path(os.path.normpath(folder / ".github" / "workflows" / companion.path))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(companion.text, encoding="utf-8")
    return made.text


def text_of(folder: Path, document: str, options: Mapping[str, object] | None = None) -> str:
    """The workflow of a document."""
    return beside(folder, emission(folder, document, options))


def parsed(text: str) -> dict[str, Any]:
    """A workflow as plain values; YAML 1.1 takes the key `on` for true."""
    values = yaml.load(str(text), LOADER)  # the fast loader takes no subclass
    return {"on" if key is True else str(key): value for key, value in values.items()}


def steps(text: str, job: str = "runbook") -> list[dict[str, Any]]:
    """The steps of a job."""
    found: list[dict[str, Any]] = parsed(text)["jobs"][job]["steps"]
    return found
