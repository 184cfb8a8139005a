"""The bundler: of the modules of `runtime_shim` that a program needs, what can be reached in them, as one text."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from dataclasses import astuple, dataclass, replace
from functools import cache
from textwrap import wrap

import runtime_shim
from backends.python.calls import WORDS, Calls
from backends.python.literals import WIDEST
from backends.python.shaking import Module, idle, lists, named_features, parsed, reached
from backends.python.table import Table
from compiler.ir.program import Noun, Program

ENTRIES = ("main", "built", "sys")
"""What a program calls of its runtime."""
_NOUN = re.compile(rf"\b{Program.kind}(?=s?\b)")
LATE = "LATE"
"""What it adds the operator's part to."""


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
    later: Runtime | None = None
    """What is loaded only where an operator asks for it: with the imports that only it needs."""

    def without(self, other: Runtime) -> Runtime:
        """The same without the imports that another one has."""
        plain = tuple(name for name in self.plain if name not in other.plain)
        return replace(self, plain=plain, named=tuple(line for line in self.named if line not in other.named))

    def about(self, kind: Noun) -> Runtime:
        """The same for a document of this kind: the modules speak of the runbook that they carry out."""
        if kind == Program.kind:
            return self
        sections = tuple(Section(*(_NOUN.sub(kind, part) for part in astuple(section))) for section in self.sections)
        return replace(self, sections=sections, later=self.later.about(kind) if self.later else None)

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


def bundle(program: Table, called: Calls, *, is_full: bool) -> Runtime:
    """The runtime for the table of a program whose runbook is these calls."""
    at_once, later = runtime_shim.parts(program) if is_full else (runtime_shim.modules(program), [])
    has = runtime_shim.features(program) | called.features
    has |= _of_operator(has) if is_full else set()
    names = (*at_once, *later)
    lacking = frozenset[str]().union(*map(named_features, names)) - has
    roots = {*ENTRIES, *(f".{word}" for word in called.parameters), *([LATE] if is_full else [])}
    return _runtime(tuple(at_once), frozenset(roots), lacking, tuple(later))


def _of_operator(has: set[str]) -> set[str]:
    """The features for which some statement stands in a program that can do all that operators ask for."""
    return {"operator", *(["talks", "timed"] if "ask" in has else [])}


def whole() -> Runtime:
    """The runtime for all programs; each says with NEEDS which of its modules take part."""
    modules = [parsed(name) for name, _ in runtime_shim.MODULES]
    guarded = {name for name, features in runtime_shim.MODULES if features}
    known = reached(modules, frozenset({*ENTRIES, *(f".{word}" for word in WORDS)}))
    sections = [Section(each.name, each.summary, each.code(known, each.name in guarded)) for each in modules]
    return Runtime(*_imports(modules, known), tuple(sections))


def needs(program: Table, *, is_full: bool) -> list[str]:
    """The modules of the shared runtime that a program needs and others do not."""
    always = {name for name, features in runtime_shim.MODULES if not features}
    more = runtime_shim.OPERATOR if is_full else frozenset[str]()
    return [name for name in runtime_shim.modules(program, more=more) if name not in always]


_NEEDED_BY_STEPS = {"talks", "timed", "branch"}
"""What the steps of a workflow do whatever the program says."""


def runner_bundle(program: Table) -> Runtime:
    """The runtime for the steps of a workflow with this table: whole modules, with types.

    Where agents or tools are called, there are many: then it is what can be reached in them, and no more.
    """
    names = tuple(runtime_shim.modules(program, runtime_shim.RUNNER))
    if "legacy.runner_kept" not in names:
        return _runtime(names, None)
    has = runtime_shim.features(program) | _NEEDED_BY_STEPS
    lacking = frozenset[str]().union(*map(named_features, names)) - has
    return _runtime(names, frozenset({"run_step", "sys"}), lacking)


def bundled(names: Iterable[str]) -> str:
    """These modules, whole and with types, as one text, each after those that it imports."""
    return _runtime(tuple(names), None).text


def reduced(names: Iterable[str], has: Collection[str]) -> str:
    """What `main` can reach of these modules, of statements that are for a feature those that are for one of these."""
    names = tuple(names)
    lacking = frozenset[str]().union(*map(named_features, names)).difference(has)
    return _runtime(names, frozenset({"main", "sys"}), lacking).text


@cache
def _runtime(
    names: tuple[str, ...],
    roots: frozenset[str] | None,
    lacking: frozenset[str] = frozenset(),
    later: tuple[str, ...] = (),
) -> Runtime:
    """What is reached from the roots and is not for features that are lacking, or all."""
    every = [name for name, _ in runtime_shim.MODULES if name in {*names, *later}] if later else names
    unused = idle(every) if roots is not None else frozenset[str]()
    # A module is taken apart once for all programs that want the same of it.
    modules = {
        name: parsed(name, roots is None, unused & lists(name), lacking & named_features(name)) for name in every
    }
    known = reached(list(modules.values()), roots) if roots is not None else None
    first = _gathered([modules[name] for name in names], known)
    if not later:
        return first
    return replace(first, later=_gathered([modules[name] for name in later], known).without(first))


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
