"""The python target: one executable file with the runbook as calls and the runtime that it needs."""

from __future__ import annotations

from functools import cache
from typing import ClassVar

from jinja2 import Template

from backends.base import MARK, Backend, Emission, NoOptions
from backends.python.bundle import bundle
from backends.python.calls import calls
from backends.python.literals import comment
from backends.python.table import table
from backends.templating import environment
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.passes import optimise
from compiler.version import __version__


class PythonBackend(Backend[NoOptions]):
    """Python 3.9 or newer, standard library only."""

    name: ClassVar[str] = "python"
    summary: ClassVar[str] = "one executable Python file without dependencies, resumable"
    suffix: ClassVar[str] = ".py"
    executable: ClassVar[bool] = True
    options = NoOptions
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: NoOptions) -> Emission:  # noqa: ARG002 (there are none)
        """The source text of the file."""
        program = optimise(program)
        entries = table(program)
        called = calls(entries, _headings(program))
        text = _template().render(
            mark=MARK,
            version=__version__,
            source=program.sources[0],
            included=program.sources[1:],
            program=entries,
            calls=called,
            runtime=bundle(entries, called.parameters),
        )
        return Emission(text)


@cache
def _template() -> Template:
    return environment("backends.python", comment=comment).get_template("program.py.jinja")


def _headings(program: Program) -> dict[str, str]:
    """What to write above the first unit of each group."""
    titles = {group.id: str(group.title) for group in program.groups}
    found: dict[str, str] = {}
    seen: set[str] = {""}
    for node in program.nodes:
        if node.group not in seen:
            seen.add(node.group)
            found[node.id] = f"{node.group} {titles[node.group]}".strip()
    return found
