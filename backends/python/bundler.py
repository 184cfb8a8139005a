"""The bundler: writes a runtime module without annotations and docstrings, for generated programs (rule 2).

It runs when rdc is built, not when a document is compiled. `make golden` writes `parts/`, and a test compares these
files with the bundler's output.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path

from msgspec import Struct

from backends.python.edition import part_file
from runtime_shim.editions import CALLERS, EDITIONS, PUBLISH

_SHIM = Path(__file__).parents[2] / "runtime_shim"
_NOT_IN_PARTS = ("__future__", "runtime_shim", "typing")
_NOQA = re.compile(r"  # noqa: [A-Z0-9, ]*?(?: \((?P<why>.*)\)| - (?P<reason>.*))?$", re.MULTILINE)
_COMMENT = re.compile("#.*")
_RULES = re.compile(r" \((?:[A-Z]\d+|rule \d+)(?:(?:, | and | to )(?:[A-Z]\d+|rule \d+))*\)")
"""Rule numbers, which only rdc's developers can look up."""


class _Edit(Struct, frozen=True):
    """A replacement of the lines from `first` up to `last`, counted from 0."""

    first: int
    last: int
    lines: tuple[str, ...]


def parts() -> dict[Path, str]:
    """Return the text of each module that is part of an edition, by its file."""
    every = (*EDITIONS.values(), *CALLERS.values())
    names = dict.fromkeys((*(name for edition in every for name in edition.modules), *PUBLISH))
    return {part_file(name): part(name) for name in names}


def part(name: str) -> str:
    """Return a module's remaining imports, an empty line, and its text. The name is relative to `runtime_shim`."""
    path = _SHIM / f"{name.replace('.', '/')}.py"
    source = _NOQA.sub(_why, path.read_text(encoding="utf-8"))
    tree = ast.parse(source)
    body = f"# --- {_summary(tree)}\n{_body(source, tree)}"
    text = _COMMENT.sub(lambda comment: _RULES.sub("", comment[0]), body)
    used = set(re.findall(r"\w+", text))
    found = sorted({pair for pair in _imports(tree) if pair[1].split(".")[0] in used})
    plain = [f"import {name}" for source, name in found if not source]
    named = [f"from {source} import {', '.join(names)}" for source, names in _by_source(found)]
    return "\n".join([*plain, *named]) + f"\n\n{text}\n"


def _by_source(found: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Yield the names that are imported from each module."""
    for source, pairs in groupby(found, key=itemgetter(0)):
        if source:
            yield source, [name for _, name in pairs]


def _why(found: re.Match[str]) -> str:
    """Return the reason for a `noqa` comment without the comment's code."""
    reason = found["why"] or found["reason"]
    return f"  # {reason}" if reason else ""


def _summary(tree: ast.Module) -> str:
    return (ast.get_docstring(tree) or "").splitlines()[0]


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield the imports from Python's library: each module ("" for an import of the module itself), and the name."""
    yield "", "collections"
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (("", alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(
            ("runtime_shim", "typing", "__future__")
        ):
            yield from ((node.module or "", alias.name) for alias in node.names)


def _body(source: str, tree: ast.Module) -> str:
    lines = source.splitlines()
    edits = sorted(_edits(tree.body, lines), key=lambda edit: -edit.first)
    for edit in edits:
        lines[edit.first : edit.last] = edit.lines
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return re.sub(r"\n\n(?=[ @]|def )", "\n", text)  # a function starts right below the code before it


def _edits(body: Iterable[ast.stmt], lines: list[str]) -> Iterator[_Edit]:
    for node in body:
        first, last = node.lineno - 1, node.end_lineno or 0
        if _is_docstring(node) or _is_alias(node) or (_is_import(node) and not node.col_offset) or _is_of_types(node):
            yield _Edit(first, last, ())
        elif isinstance(node, ast.AnnAssign):
            yield _Edit(first, last, tuple(_assignment(node, lines)))
        elif isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases):
            yield from _tuple(node, lines)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield from _definition(node, lines)
        else:
            for field in ("body", "orelse", "finalbody", "handlers"):
                yield from _edits(getattr(node, field, ()), lines)


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


def _is_of_types(node: ast.stmt) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _is_alias(node: ast.stmt) -> bool:
    """Return whether a statement names a type. Without annotations, nothing uses it."""
    if isinstance(node, ast.ClassDef):
        return "Protocol" in map(ast.unparse, node.bases)
    value = node.value if isinstance(node, ast.Assign) else None
    if isinstance(value, ast.Call):
        return ast.unparse(value.func) == "TypeVar"
    return isinstance(value, ast.Subscript) and ast.unparse(value.value) in _TYPES


_TYPES = {"dict", "list", "tuple", "Callable", "Union", "Optional", "Mapping", "MutableMapping", "Sequence", "set"}


def _assignment(node: ast.AnnAssign, lines: list[str]) -> list[str]:
    """Return an assignment without its type, or nothing if it only declares a type."""
    if node.value is None:
        return []
    value, last = node.value, node.end_lineno or 0
    first = f"{' ' * node.col_offset}{ast.unparse(node.target)} = {lines[value.lineno - 1][value.col_offset :]}"
    return [first, *lines[value.lineno : last]]


def _definition(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> Iterator[_Edit]:
    """Yield the edits for a function or class: its head without types, its body without docstrings."""
    start = min(one.lineno - len(getattr(one, "decorator_list", ())) for one in node.body[:1]) - 1
    if isinstance(node, ast.FunctionDef):
        head = lines[node.lineno - 1 : start]
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        tail = re.search(r":(  #.*)$", head[-1]) if len(head) == 1 else None
        comments = (line for line in head[1:] if line.strip().startswith("#"))
        name = f"{' ' * node.col_offset}def {node.name}({ast.unparse(node.args)}):{tail[1] if tail else ''}"
        yield _Edit(node.lineno - 1, start, (name, *comments))
    if all(_is_docstring(one) or (isinstance(one, ast.AnnAssign) and one.value is None) for one in node.body):
        yield _Edit(start, node.end_lineno or 0, (f"{' ' * node.col_offset}    pass",))
    else:
        yield from _edits(node.body, lines)


def _tuple(node: ast.ClassDef, lines: list[str]) -> Iterator[_Edit]:
    """Yield the edits for a named tuple, which becomes a call, or a class if it has methods."""
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    names = " ".join(field.target.id for field in fields if isinstance(field.target, ast.Name))
    defaults = ", ".join(ast.unparse(field.value) for field in fields if field.value)
    made = f'collections.namedtuple("{node.name}", "{names}"{f", defaults=({defaults},)" if defaults else ""})'
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    head = f"class {node.name}({made}):" if methods else f"{node.name} = {made}"
    last = fields[-1].end_lineno if methods else node.end_lineno
    yield _Edit(node.lineno - 1, last or 0, (head,))
    yield from _edits(methods, lines)


if __name__ == "__main__":
    for path, text in parts().items():
        path.write_text(text, encoding="utf-8")
