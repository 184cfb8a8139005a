"""The bundler: whole modules of the runtime as one text, without annotations and docstrings (rule 2)."""

from __future__ import annotations

import ast
import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import resources
from itertools import groupby
from operator import itemgetter
from textwrap import wrap

from msgspec import Struct

from backends.base import MARK
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Ask, Branch, End, Parallel, Shell, Tool
from compiler.passes import optimise
from compiler.version import __version__
from runtime_shim.editions import CALLERS, EDITIONS, PUBLISH

_NOQA = re.compile(r"  # noqa: [A-Z0-9, ]*?(?: \((?P<why>.*)\)| - (?P<reason>.*))?$", re.MULTILINE)
_COMMENT = re.compile("#.*")
_RULES = re.compile(r" \((?:[A-Z]\d+|rule \d+)(?:(?:, | and | to )(?:[A-Z]\d+|rule \d+))*\)")
"""The numbers of rules, which only rdc's own developers can look up."""


class _Edit(Struct, frozen=True):
    """Lines from `first` up to `last`, counted from 0, that are replaced."""

    first: int
    last: int
    lines: tuple[str, ...]


def optimised(program: Program, *, is_full: bool) -> tuple[str, Program]:
    """The smallest edition for a program, and the program after the passes, with its jumps if that edition has them.

    Passes only take things away, so an edition without jumps that is enough before them is enough after them.
    """
    edition = edition_of(program, is_full=is_full)
    if has_jumps(edition):
        found = optimise(program)
        edition = edition_of(found, is_full=is_full)
        if has_jumps(edition):
            return edition, found
    return edition, optimise(program, jumps=False)


def edition_of(program: Program, *, is_full: bool) -> str:
    """The name of the smallest edition with what a program needs."""
    if program.contract is not None:
        return "contract"
    has_agents = any(isinstance(node.task, Agent | Tool | Parallel) for node in program.nodes)
    if is_full or has_agents or program.artifact or program.folder or program.contexts:
        return "agents"
    is_more = program.slots or program.inputs or program.secrets or program.limit is not None
    return "values" if is_more or any(map(_needs_values, program.nodes)) else "commands"


def _needs_values(node: Node) -> bool:
    """Whether the edition `commands` lacks what a step has: limits, variables, gates, other questions than two."""
    if node.settings.delay or node.settings.timeout is not None:
        return True
    if isinstance(node.task, Shell):
        return bool(node.constants)
    if isinstance(node.task, Ask):
        return node.task.question not in ("pass_fail", "yes_no")
    return not isinstance(node.task, Branch | End)


def has_jumps(edition: str) -> bool:
    """Whether operators can move a run to another step."""
    return "operator.moving.Moving" in EDITIONS[edition].extensions


@cache
def runtime(name: str) -> str:
    """The text of an edition: its modules, and what takes part in runs."""
    edition = EDITIONS[name]
    classes = ", ".join(each.rpartition(".")[2] for each in edition.extensions)
    listed = "\n".join(wrap(classes, 112, initial_indent="    ", subsequent_indent="    "))
    extensions = f"\nEXTENSIONS = (\n{listed},\n)  # in the order in which they take part\n" if listed else ""
    head = f"# {MARK} {__version__} for its programs: edition {name}.\n"
    return f"{head}{joined(edition.modules)}{extensions}"


@cache
def runtime_for(caller: str) -> str:
    """The text that a program has beside its edition, where the file of another target calls it."""
    part = CALLERS[caller]
    classes = "".join(f", {each.rpartition('.')[2]}" for each in part.extensions)
    head = f"# {MARK} {__version__} for its programs: what {caller} calls.\n"
    return f"{head}{joined(part.modules)}" + (f"\nEXTENSIONS = (*EXTENSIONS{classes})\n" if classes else "")


PUBLISHER = "publish"
"""The name of the text that publishes what a run has left on GitHub, which no program has."""


@cache
def publisher() -> str:
    """The text that publishes the last output of a run, or what was changed."""
    return f"# {MARK} {__version__} for its workflows: what publishes.\n{joined(PUBLISH)}"


def text_of(name: str) -> str:
    """The text of an edition, for a caller, or that publishes."""
    if name == PUBLISHER:
        return publisher()
    return runtime(name) if name in EDITIONS else runtime_for(name)


def shared_files(edition: str, caller: str = "") -> dict[str, str]:
    """The files beside a program, in order: a name tells what the file holds, so another is never in its place."""
    texts = {f"runtime_{edition}": runtime(edition)}
    if caller:
        texts[caller] = runtime_for(caller)
    return {f"rdc_{name}_{sha256_of(text)[:8]}.py": text for name, text in texts.items()}


@cache
def runtime_sha256(name: str) -> str:
    """Return the hash of an edition's text."""
    return sha256_of(runtime(name))


def sha256_of(text: str) -> str:
    """Return the hash of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def joined(names: Sequence[str]) -> str:
    """The text of some modules, by their dotted names below `runtime_shim`; each imports only from those before it."""
    sources = {name: _source(name) for name in dict.fromkeys(names)}
    trees = {name: ast.parse(source) for name, source in sources.items()}
    parts = (f"# --- {_summary(trees[name])}\n{_body(source, trees[name])}" for name, source in sources.items())
    text = _COMMENT.sub(lambda comment: _RULES.sub("", comment[0]), "\n\n".join(parts))
    used = set(re.findall(r"\w+", text))
    found = sorted({pair for tree in trees.values() for pair in _imports(tree) if pair[1].split(".")[0] in used})
    plain = [f"import {name}" for source, name in found if not source]
    named = [f"from {source} import {', '.join(names)}" for source, names in _by_source(found)]
    return "\n".join([*plain, *named]) + f"\n\n{text}\n"


def _by_source(found: Iterable[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """The names that are imported from each module."""
    for source, pairs in groupby(found, key=itemgetter(0)):
        if source:
            yield source, [name for _, name in pairs]


def _source(name: str) -> str:
    path = resources.files("runtime_shim").joinpath(f"{name.replace('.', '/')}.py")
    return _NOQA.sub(_why, path.read_text(encoding="utf-8"))


def _why(found: re.Match[str]) -> str:
    """The reason for an exception from the rules of style, which is worth reading; not the exception."""
    reason = found["why"] or found["reason"]
    return f"  # {reason}" if reason else ""


def _summary(tree: ast.Module) -> str:
    return (ast.get_docstring(tree) or "").splitlines()[0]


def _imports(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """The imports of Python's library: where each name is from, "" for a module, and the name."""
    yield "", "collections"
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (("", alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not (node.module or "").startswith(("runtime_shim", "typing")):
            yield from ((node.module or "", alias.name) for alias in node.names)


def _body(source: str, tree: ast.Module) -> str:
    lines = source.splitlines()
    edits = sorted(_edits(tree.body, lines), key=lambda edit: -edit.first)
    for edit in edits:
        lines[edit.first : edit.last] = edit.lines
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip("\n")
    return re.sub(r"\n\n(?=[ @]|def )", "\n", text)  # a function stands right below what is before it


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
    """Whether it names a type: nothing mentions it once there are no annotations."""
    value = node.value if isinstance(node, ast.Assign) else None
    return isinstance(value, ast.Subscript) and ast.unparse(value.value) in _TYPES


_TYPES = {"dict", "list", "tuple", "Callable", "Union", "Optional", "Mapping", "MutableMapping", "Sequence", "set"}


def _assignment(node: ast.AnnAssign, lines: list[str]) -> list[str]:
    """An assignment without the type; nothing of one that only says the type."""
    if node.value is None:
        return []
    value, last = node.value, node.end_lineno or 0
    first = f"{' ' * node.col_offset}{ast.unparse(node.target)} = {lines[value.lineno - 1][value.col_offset :]}"
    return [first, *lines[value.lineno : last]]


def _definition(node: ast.FunctionDef | ast.ClassDef, lines: list[str]) -> Iterator[_Edit]:
    """A function or class: its head without types, and what stands in it without docstrings."""
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
    """A class of named fields, as a call that names them, or the class of one; its methods stand below its fields."""
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    names = " ".join(field.target.id for field in fields if isinstance(field.target, ast.Name))
    defaults = ", ".join(ast.unparse(field.value) for field in fields if field.value)
    made = f'collections.namedtuple("{node.name}", "{names}"{f", defaults=({defaults},)" if defaults else ""})'
    methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
    head = f"class {node.name}({made}):" if methods else f"{node.name} = {made}"
    last = fields[-1].end_lineno if methods else node.end_lineno
    yield _Edit(node.lineno - 1, last or 0, (head,))
    yield from _edits(methods, lines)
