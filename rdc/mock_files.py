"""Converts YAML files of mocks to JSON, which programs read."""

from __future__ import annotations

import json
import os

from msgspec.structs import replace

from backends.companions import Companion
from compiler.files import Refusal, is_below, read_source
from compiler.project import Project
from rdc.plain_files import parse
from runtime_shim.engine.program import RefusedError
from runtime_shim.operator.mocks import mocks_in


class MockFileError(Exception):
    """A file of mocks that programs cannot read."""


def as_json(companion: Companion, project: Project) -> Companion:
    """Return the companion with the mocks from its file in the project."""
    name = companion.mocks
    file = os.path.join(project.root, name)  # noqa: PTH118 (paths as in projects)
    if not is_below(project.disk.resolve(file), project.root):
        raise MockFileError(f"{name} is outside the project")
    source = read_source(file, name, name, project.disk)
    if isinstance(source, Refusal):
        raise MockFileError(f"{name}: {source.problem}")
    try:
        found = parse(name, source.text)
        mocks_in(name, found)
    except RefusedError as error:
        raise MockFileError(str(error.args[-1])) from None
    text = json.dumps({**json.loads(companion.text), **found}, indent=2, ensure_ascii=False)
    return replace(companion, text=f"{text}\n")
