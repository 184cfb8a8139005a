"""The bundler: of the modules of `runtime_shim` that a program needs, what can be reached in them, as one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import runtime_shim
from backends.python.shaking import Module, parsed, reached
from backends.python.table import Table


@dataclass(frozen=True, slots=True)
class Section:
    """One module: its name, what it is about, and its code without docstring and imports."""

    name: str
    summary: str
    code: str


@dataclass(frozen=True, slots=True)
class Runtime:
    """The import lines for the top of the file, and the modules in order."""

    imports: tuple[str, ...]
    sections: tuple[Section, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.imports) + "".join(f"\n\n\n{section.code}" for section in self.sections)


def bundle(program: Table, words: Iterable[str]) -> Runtime:
    """The runtime for the table of a program whose runbook calls these words."""
    return _runtime(tuple(runtime_shim.modules(program)), frozenset({"main", "built", "sys", *words}))


def runner_bundle(program: Table) -> Runtime:
    """The runtime for the steps of a workflow with this table: whole modules, with types."""
    return _runtime(tuple(runtime_shim.modules(program, runtime_shim.RUNNER)), None)


def bundled(names: Iterable[str]) -> str:
    """These modules, whole and with types, as one text, each after those that it imports."""
    return _runtime(tuple(names), None).text


@cache
def _runtime(names: tuple[str, ...], roots: frozenset[str] | None) -> Runtime:
    """What is reached from the roots, or all."""
    modules = [parsed(name, typed=roots is None) for name in names]
    known = reached(modules, roots) if roots is not None else None
    sections = (Section(module.name, module.summary, module.code(known)) for module in modules)
    return Runtime(tuple(_imports(modules, known)), tuple(section for section in sections if section.code))


def _imports(modules: Iterable[Module], known: frozenset[str] | None) -> list[str]:
    found = {each for module in modules for each in module.imports if known is None or each.bound in known}
    plain = sorted({f"import {each.name}" for each in found if not each.source})
    named: dict[str, set[str]] = {}
    for each in found:
        if each.source:
            named.setdefault(each.source, set()).add(each.name)
    return plain + [f"from {source} import {', '.join(sorted(names))}" for source, names in sorted(named.items())]
