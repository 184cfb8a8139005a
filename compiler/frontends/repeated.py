"""Keys that stand twice in YAML or JSON, which forget what the first one says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from compiler.diagnostic import Diagnostic, Related
from compiler.frontends.places import on_one_line
from compiler.source import Source

if TYPE_CHECKING:
    from compiler.yaml_places import Repeated


def stand_again(code: str, source: Source, keys: Iterable[Repeated]) -> Iterator[Diagnostic]:
    """What is wrong with keys of a document that is YAML or JSON."""
    for key in keys:
        problem = on_one_line(f"the key `{key.path[-1]}` stands here a second time")
        related = (Related(source.path, key.first, "it stands here first"),)
        yield Diagnostic(code, source.path, key.span, problem, "remove one of the two", related)


def stand_twice(source: Source, keys: Iterable[Repeated]) -> Iterator[Diagnostic]:
    """What is wrong with keys that rdc reads and that stand twice."""
    for key in keys:
        where = f" in `{key.path[-2]}`" if key.path[1:] else ""
        problem = f"`{key.path[-1]}` stands twice{where}, and only the last would count"
        related = (Related(source.path, key.first, "it stands here first"),)
        yield Diagnostic(
            "RD013", source.path, key.span, problem, "make one of the two, or give one another name", related
        )
