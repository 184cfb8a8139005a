"""The texts beside the programs of workflows: each is one namespace, behind that of the program."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

import pytest

from backends.python.edition import publisher, runtime, runtime_for
from runtime_shim.editions import EDITIONS


def defined(text: str) -> Iterator[tuple[str, str]]:
    """The names that a text defines at its top, each with its definition."""
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, ast.unparse(node)
        elif isinstance(node, ast.Assign):
            yield from ((target.id, ast.unparse(node)) for target in node.targets if isinstance(target, ast.Name))


@pytest.mark.parametrize("text", [runtime_for("github"), publisher()], ids=["github", "publish"])
def test_no_name_of_a_text_is_defined_twice(text: str) -> None:
    """The second one would take the place of the first in functions that know nothing of it."""
    assert [name for name, number in Counter(name for name, _ in defined(text)).items() if number > 1] == []


@pytest.mark.parametrize("edition", sorted(EDITIONS))
def test_no_name_of_an_edition_is_defined_again_by_what_goes_behind_it(edition: str) -> None:
    """Both are one namespace: the second definition would steer the engine."""
    engine = dict(defined(runtime(edition)))
    assert [name for name, text in defined(runtime_for("github")) if engine.get(name, text) != text] == []


def test_lines_of_the_text_are_short() -> None:
    """Of an edition, and so of this text: 56 bytes on average."""
    text = runtime_for("github")
    assert len(text.encode()) / len(text.splitlines()) <= 56
