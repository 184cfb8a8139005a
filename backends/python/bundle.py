"""The bundler: of the modules of `runtime_shim` that a program needs, what can be reached in them, as one text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from textwrap import wrap

import runtime_shim
from backends.python.calls import WORDS, Calls
from backends.python.literals import WIDEST
from backends.python.shaking import Module, idle, lists, named_features, parsed, reached
from backends.python.table import Table

ENTRIES = ("main", "built", "sys")
"""What a program calls of its runtime."""


@dataclass(frozen=True, slots=True)
class Section:
    """One module: its name, what it is about, and its code without docstring and imports."""

    name: str
    summary: str
    code: str


@dataclass(frozen=True, slots=True)
class Runtime:
    """What is imported at the top of the file, and the modules in order."""

    plain: tuple[str, ...]
    """The modules of Python's library that are imported as such."""
    named: tuple[str, ...]
    """The lines that import names of others."""
    sections: tuple[Section, ...]

    @property
    def imports(self) -> tuple[str, ...]:
        """All of the imports, a line for each."""
        return (*(f"import {name}" for name in self.plain), *self.named)

    @property
    def together(self) -> list[str]:
        """All of the imports but that of `sys`, on as few lines as they fit on."""
        names = ", ".join(name for name in self.plain if name != "sys")
        return [f"import {line.rstrip(',')}" for line in wrap(names, WIDEST - len("import "))] + list(self.named)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.imports) + "".join(f"\n\n\n{section.code}" for section in self.sections)


def bundle(program: Table, called: Calls) -> Runtime:
    """The runtime for the table of a program whose runbook is these calls."""
    names, has = tuple(runtime_shim.modules(program)), runtime_shim.features(program) | called.features
    lacking = frozenset[str]().union(*map(named_features, names)) - has
    return _runtime(names, frozenset({*ENTRIES, *(f".{word}" for word in called.parameters)}), lacking)


def whole() -> Runtime:
    """The runtime for all programs; each says with NEEDS which of its modules take part."""
    modules = [parsed(name) for name, _ in runtime_shim.MODULES]
    guarded = {name for name, features in runtime_shim.MODULES if features}
    known = reached(modules, frozenset({*ENTRIES, *(f".{word}" for word in WORDS)}))
    sections = [Section(each.name, each.summary, each.code(known, each.name in guarded)) for each in modules]
    return Runtime(*_imports(modules, known), tuple(sections))


def needs(program: Table) -> list[str]:
    """The modules of the shared runtime that a program needs and others do not."""
    always = {name for name, features in runtime_shim.MODULES if not features}
    return [name for name in runtime_shim.modules(program) if name not in always]


def runner_bundle(program: Table) -> Runtime:
    """The runtime for the steps of a workflow with this table: whole modules, with types."""
    return _runtime(tuple(runtime_shim.modules(program, runtime_shim.RUNNER)), None)


def bundled(names: Iterable[str]) -> str:
    """These modules, whole and with types, as one text, each after those that it imports."""
    return _runtime(tuple(names), None).text


@cache
def _runtime(names: tuple[str, ...], roots: frozenset[str] | None, lacking: frozenset[str] = frozenset()) -> Runtime:
    """What is reached from the roots and is not for features that are lacking, or all."""
    unused = idle(names) if roots is not None else frozenset[str]()
    # A module is taken apart once for all programs that want the same of it.
    modules = [parsed(name, roots is None, unused & lists(name), lacking & named_features(name)) for name in names]
    known = reached(modules, roots) if roots is not None else None
    sections = (Section(module.name, module.summary, module.code(known)) for module in modules)
    return Runtime(*_imports(modules, known), tuple(section for section in sections if section.code))


def _imports(modules: Iterable[Module], known: frozenset[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    found = {each for module in modules for each in module.imports if known is None or each.bound in known}
    plain = sorted({each.name for each in found if not each.source})
    named: dict[str, set[str]] = {}
    for each in found:
        if each.source:
            named.setdefault(each.source, set()).add(each.name)
    lines = (f"from {source} import {', '.join(sorted(names))}" for source, names in sorted(named.items()))
    return tuple(plain), tuple(lines)
