"""The bundler: of the modules of `runtime_shim` that a program needs, what can be reached in them, as one text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass, replace
from functools import cache
from typing import Any

from runtime_shim.legacy.modules import features, modules
from runtime_shim.legacy.shaking import Module, idle, lists, named_features, parsed, reached

_NOUN = re.compile(r"\brunbook(?=s?\b)")


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

    def about(self, kind: str) -> "Runtime":
        """The same for a document of this kind: the modules speak of the runbook that they carry out."""
        if kind == "runbook":
            return self
        return replace(
            self,
            sections=tuple(Section(*(_NOUN.sub(kind, part) for part in astuple(section))) for section in self.sections),
        )

    @property
    def imports(self) -> tuple[str, ...]:
        """All of the imports, a line for each."""
        return (*(f"import {name}" for name in self.plain), *self.named)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.imports) + "".join(f"\n\n\n{section.code}" for section in self.sections)


_NEEDED_BY_STEPS = {"talks", "timed", "branch"}
"""What the steps of a workflow do whatever the program says."""


def runner_bundle(program: dict[str, Any]) -> Runtime:
    """The runtime for the steps of a workflow with this table: whole modules, with types.

    Where agents or tools are called, there are many: then it is what can be reached in them, and no more.
    """
    names = tuple(modules(program))
    if "legacy.runner_kept" not in names:
        return _runtime(names, None)
    has = features(program) | _NEEDED_BY_STEPS
    lacking = frozenset[str]().union(*map(named_features, names)) - has
    return _runtime(names, frozenset({"run_step", "sys"}), lacking)


def reduced(names: Iterable[str], has: Collection[str]) -> str:
    """What `main` can reach of these modules, of statements that are for a feature those that are for one of these."""
    names = tuple(names)
    lacking = frozenset[str]().union(*map(named_features, names)).difference(has)
    return _runtime(names, frozenset({"main", "sys"}), lacking).text


@cache
def _runtime(names: tuple[str, ...], roots: frozenset[str] | None, lacking: frozenset[str] = frozenset()) -> Runtime:
    """What is reached from the roots and is not for features that are lacking, or all."""
    unused = idle(names) if roots is not None else frozenset[str]()
    found = [parsed(name, roots is None, unused & lists(name), lacking & named_features(name)) for name in names]
    return _gathered(found, reached(found, roots) if roots is not None else None)


def _gathered(modules: list[Module], known: frozenset[str] | None) -> Runtime:
    sections = (Section(module.name, module.summary, module.code(known)) for module in modules)
    return Runtime(*_imports(modules, known), tuple(section for section in sections if section.code))


def _imports(modules: Iterable[Module], known: frozenset[str] | None) -> tuple[tuple[str, ...], tuple[str, ...]]:
    modules = list(modules)
    used = known if known is None else known & frozenset[str]().union(*(module.mentioned(known) for module in modules))
    found = {each for module in modules for each in module.imports if used is None or each.bound in used}
    plain = sorted({each.name for each in found if not each.source})
    named: dict[str, set[str]] = {}
    for each in found:
        if each.source:
            named.setdefault(each.source, set()).add(each.name)
    lines = (f"from {source} import {', '.join(sorted(names))}" for source, names in sorted(named.items()))
    return tuple(plain), tuple(lines)
