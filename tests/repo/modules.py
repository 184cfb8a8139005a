"""The modules of the product as syntax trees, for tests of what they import, define and contain."""

import ast
import gc
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.conftest import ROOT

OURS = ("rdc", "backends", "compiler", "runtime_shim", "grammars")
PRODUCT = OURS[:4]
MODULES = sorted(path for folder in OURS for path in (ROOT / folder).rglob("*.py"))

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module; `ast.walk` takes longer than to read the file."""
    found = tuple(ast.walk(tree(path)))
    gc.freeze()  # they stay, and are too many to be looked at again with each search for garbage
    return found


def shown(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def dotted(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


NAMES = {dotted(path): path for path in MODULES}


def imports(path: Path) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What a module imports, wherever in it: the name of each module, and the names taken from it."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, ()) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{shown(path)} has a relative import"
            yield node.module or "", tuple(alias.name for alias in node.names)


@cache
def needed(path: Path) -> frozenset[str]:
    """The modules of the product that a module imports, in functions and for types, too."""
    found: set[str] = set()
    for module, names in imports(path):
        found |= {whole if (whole := f"{module}.{name}") in NAMES else module for name in names or ("",)}
    return frozenset(found & NAMES.keys() - {dotted(path)})


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    yield from (node for node in nodes(path) if isinstance(node, FUNCTIONS))


def strings(path: Path) -> set[str]:
    parts = nodes(path)
    return {part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)}


def users_of(module: str) -> set[str]:
    """The modules that import a module or its package, wherever in them."""
    return {shown(path) for path in MODULES for name, _ in imports(path) if f"{name}.".startswith(f"{module}.")}
