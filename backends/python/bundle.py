"""The bundler: the modules of `runtime_shim` that a program needs, as one text."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import resources

import runtime_shim
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


@dataclass(frozen=True, slots=True)
class _Module:
    section: Section
    plain: frozenset[str]
    named: frozenset[tuple[str, str]]


def bundle(program: Table) -> Runtime:
    """The runtime for the table of a program: the modules that it needs."""
    return _runtime(runtime_shim.modules(program))


def runner_bundle(program: Table) -> Runtime:
    """The runtime for the steps of a workflow with this table."""
    return _runtime(runtime_shim.modules(program, runtime_shim.RUNNER))


def bundled(names: Iterable[str]) -> str:
    """These modules as one text, each after those that it imports."""
    runtime = _runtime(names)
    return "\n".join(runtime.imports) + "".join(f"\n\n{section.code}" for section in runtime.sections)


def _runtime(names: Iterable[str]) -> Runtime:
    modules = [_module(name) for name in names]
    plain = {name for module in modules for name in module.plain}
    named: dict[str, set[str]] = {}
    for module in modules:
        for source, name in module.named:
            named.setdefault(source, set()).add(name)
    lines = [f"import {name}" for name in sorted(plain)]
    lines += [f"from {source} import {', '.join(sorted(names))}" for source, names in sorted(named.items())]
    return Runtime(tuple(lines), tuple(module.section for module in modules))


@cache
def _module(name: str) -> _Module:
    """A module of the shim taken apart: imports among the shim's own modules are left out."""
    text = resources.files("runtime_shim").joinpath(f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text)
    lines = text.splitlines()
    plain: set[str] = set()
    named: set[tuple[str, str]] = set()
    code_starts = 0
    for statement in tree.body:
        if isinstance(statement, ast.Import):
            plain |= {alias.name for alias in statement.names}
        elif isinstance(statement, ast.ImportFrom):
            source = statement.module or ""
            if not source.startswith("runtime_shim"):
                named |= {(source, alias.name) for alias in statement.names}
        elif statement is not tree.body[0]:
            break
        code_starts = statement.end_lineno or 0
    summary = (ast.get_docstring(tree) or name).splitlines()[0]
    code = "\n".join(lines[code_starts:]).strip("\n")
    return _Module(Section(name, summary, code), frozenset(plain), frozenset(named))
