"""The texts beside the programs of workflows: each is one namespace, behind that of the program."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends.github.calling.program import fixed_text, publish_text
from tests.conftest import ROOT

FOLDERS = {"github": ROOT / "runtime_shim" / "targets" / "github", "publish": ROOT / "runtime_shim" / "publish"}


def defined(text: str) -> Iterator[str]:
    """The names that a text defines at its top."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("text", [fixed_text(), publish_text()], ids=["github", "publish"])
def test_no_name_of_a_text_is_defined_twice(text: str) -> None:
    """The second one would take the place of the first in functions that know nothing of it."""
    assert [name for name, number in Counter(defined(text)).items() if number > 1] == []


@pytest.mark.parametrize("kind", FOLDERS)
def test_no_name_that_is_taken_from_the_program_is_defined_again(kind: str) -> None:
    own = set(defined({"github": fixed_text, "publish": publish_text}[kind]()))
    for path in sorted(FOLDERS[kind].glob("*.py")):
        assert not _taken(path) & own, path


def _taken(path: Path) -> set[str]:
    """The names that a module imports from modules of the program."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        outside = isinstance(node, ast.ImportFrom) and (node.module or "").startswith("runtime_shim.")
        if outside and isinstance(node, ast.ImportFrom) and not _is_inside(node.module or ""):
            found |= {alias.name for alias in node.names}
    return found


def _is_inside(module: str) -> bool:
    return (
        module.startswith(("runtime_shim.targets.github", "runtime_shim.publish"))
        or module == "runtime_shim.data.secrets"
    )


def test_lines_of_the_text_are_short() -> None:
    """Of an edition, and so of this text: 56 bytes on average."""
    text = fixed_text()
    assert len(text.encode()) / len(text.splitlines()) <= 56
