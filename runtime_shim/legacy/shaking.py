"""What of the runtime a program can reach: by names alone, so that too much may be kept and never too little.

A function, class or constant is kept if what is kept mentions its name anywhere, a method if its name is mentioned as
that of an attribute (`.name` below), of whatever object. Statements that define nothing are kept, and so are methods of
classes whose bases come from elsewhere, since Python may call them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from itertools import dropwhile

from runtime_shim.legacy.bare import FOR, bare


@dataclass(frozen=True, slots=True)
class Import:
    """A name that a module imports from Python's library; without a source it is the module itself."""

    source: str
    name: str

    @property
    def bound(self) -> str:
        """The name by which code mentions it."""
        return self.name.partition(".")[0]


@dataclass(frozen=True, slots=True)
class Part:
    """Some lines of a module that stay or go together."""

    names: frozenset[str]
    """What it defines; it is kept if one of these is reached, and if there are none."""
    owner: str
    """The class without which it is not there."""
    uses: frozenset[str]
    lines: range
    registers: bool = False
    """Whether it does something when the module is loaded, instead of defining something."""

    def is_kept(self, known: frozenset[str]) -> bool:
        """Whether it stays where these names are reached."""
        return (not self.owner or self.owner in known) and (not self.names or not self.names.isdisjoint(known))


@dataclass(frozen=True, slots=True)
class Module:
    """A module of the runtime, taken apart."""

    name: str
    summary: str
    imports: frozenset[Import]
    parts: tuple[Part, ...]
    lines: tuple[str, ...]

    def mentioned(self, known: frozenset[str]) -> frozenset[str]:
        """The names that stand in what stays."""
        return frozenset[str]().union(*(part.uses for part in self.parts if part.is_kept(known)), {"sys"})

    def code(self, known: frozenset[str] | None, guarded: bool = False) -> str:
        """The lines that stay, with one empty line between two definitions; all as they are if nothing is to go.

        Where a module is guarded, it registers nothing with programs that do not need it.
        """
        if known is None:
            return "\n".join(self.lines[self.parts[0].lines.start :]).strip("\n")
        kept = [part for part in self.parts if part.is_kept(known)]
        text = "\n".join(line for part in kept for line in self._lines(part, guarded and part.registers))
        return re.sub(r"\n{3,}", "\n\n", text).strip("\n")

    def _lines(self, part: Part, guarded: bool) -> list[str]:
        lines = [self.lines[number] for number in part.lines]
        if part.owner:  # a method stands right below the one before it
            return list(dropwhile(lambda line: not line, lines))
        if not guarded:
            return lines
        return ["", f'if "{self.name}" in NEEDS:', *(f"    {line}" for line in lines if line)]


def reached(modules: Sequence[Module], roots: frozenset[str]) -> frozenset[str]:
    """The names that are mentioned, beginning with the roots, by what is kept."""
    known = roots
    waiting = [part for module in modules for part in module.parts]
    while True:
        kept = [part for part in waiting if part.is_kept(known)]
        if not kept:
            return known
        waiting = [part for part in waiting if not part.is_kept(known)]
        known = known.union(*(part.uses for part in kept))


@cache
def _source(name: str) -> str:
    return resources.files("runtime_shim").joinpath(f"{name.replace('.', '/')}.py").read_text(encoding="utf-8")


def idle(names: Iterable[str]) -> frozenset[str]:
    """The lists to which modules could add what they do at some place, and none of these does."""
    sources = [_source(name) for name in names]
    begun = {found for source in sources for found in re.findall(r"^([A-Z]+): list\[.*\] = \[\]", source, re.MULTILINE)}
    added = {found for source in sources for found in re.findall(r"^([A-Z]+)(?:\.|\b \+=)", source, re.MULTILINE)}
    return frozenset(begun - added)


@cache
def lists(name: str) -> frozenset[str]:
    """The names in capitals of a module over which it goes in a loop."""
    return frozenset(re.findall(r"\bin ([A-Z]+)\b", _source(name)))


@cache
def named_features(name: str) -> frozenset[str]:
    """What some statement of a module is for."""
    return frozenset(word for words in FOR.findall(_source(name)) for word in words.split())


@cache
def parsed(
    name: str, typed: bool = False, unused: frozenset[str] = frozenset(), lacking: frozenset[str] = frozenset()
) -> Module:
    """A module of the shim without imports of others, loops over unused lists, and what is for lacking features."""
    text = FOR.sub("", _source(name)) if typed else bare(_source(name), unused, lacking)
    tree = ast.parse(text)
    imports = {found for node in tree.body for found in _imports(node)}
    imports |= set() if typed else {Import("", "collections")}
    first = next(index for index, node in enumerate(tree.body) if index and not _is_import(node))
    summary = (ast.get_docstring(tree) or name).splitlines()[0]
    parts = tuple(_parts(tree.body[first:], tree.body[first - 1].end_lineno or 0, ""))
    return Module(name, summary, frozenset(imports), parts, tuple(text.splitlines()))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _imports(node: ast.stmt) -> Iterator[Import]:
    if isinstance(node, ast.Import):
        yield from (Import("", alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith("runtime_shim"):
        yield from (Import(node.module or "", alias.name) for alias in node.names)


def _parts(body: Iterable[ast.stmt], end: int, owner: str) -> Iterator[Part]:
    """The statements, each with the comments above it, and the text below it that says what a constant is."""
    begun, names = end, frozenset[str]()
    for node in body:
        end = node.end_lineno or 0
        lines = range(begun, end)
        begun = end
        if isinstance(node, ast.ClassDef) and not owner:
            methods = [inner for inner in node.body if isinstance(inner, ast.FunctionDef)]
            above = [inner for inner in node.body if inner not in methods]
            head = (above[-1].end_lineno if above else node.lineno) or 0
            bases = [*node.bases, *node.decorator_list, *above]
            yield Part(frozenset({node.name}), "", _mentioned(bases), range(lines.start, head))
            is_called = any(isinstance(base, ast.Attribute) for base in node.bases)  # by Python, as `Thread.run` is
            yield from (
                replace(part, names=frozenset()) if is_called else part for part in _parts(methods, head, node.name)
            )
        else:
            is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            names = names if is_text else _defined(node, owner)
            yield Part(names, owner, _mentioned([node]), lines, not names and not is_text and not owner)


def _defined(node: ast.stmt, owner: str) -> frozenset[str]:
    if isinstance(node, ast.FunctionDef):
        if not owner:
            return frozenset({node.name})
        return frozenset() if node.name.startswith("__") else frozenset({f".{node.name}"})
    if isinstance(node, ast.ClassDef):
        return frozenset({node.name})
    if not isinstance(node, ast.Assign | ast.AnnAssign):
        return frozenset()
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    return frozenset(name.id for name in names if isinstance(name.ctx, ast.Store))


def _mentioned(nodes: Iterable[ast.AST]) -> frozenset[str]:
    """The names that stand in code, of variables and of attributes."""
    inner = [each for node in nodes for each in ast.walk(node)]
    names = {each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)}
    read = (each.attr for each in inner if isinstance(each, ast.Attribute) and isinstance(each.ctx, ast.Load))
    return frozenset(names | {f".{name}" for name in read})
