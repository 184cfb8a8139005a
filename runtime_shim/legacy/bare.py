"""The runtime as generated files carry it: without the types, which are checked where it is developed.

What a function or a class is for stands behind its head where there is room, so that a file is not longer for being
explained.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

WIDEST = 120
FOR = re.compile(r"  # for: ([a-z ]+)$", re.MULTILINE)
"""Behind a statement of the runtime: what a program has that needs it."""
_NOQA = re.compile(r"  # noqa: [A-Z0-9, ]*?(?: \((?P<why>.*)\)| - (?P<reason>.*))?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class _Edit:
    """Bytes that are replaced."""

    start: int
    end: int
    text: str

    def is_within(self, other: _Edit) -> bool:
        return other.start <= self.start < other.end


def bare(source: str, idle: frozenset[str] = frozenset(), lacking: frozenset[str] = frozenset()) -> str:
    """A module without annotations, loops over lists to which nothing is added, and statements for what is lacking."""
    tree, lines = ast.parse(source), source.splitlines()
    text = source.encode()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    nodes = list(_statements(tree.body))
    gone = list(_lacked(nodes, lines, starts, lacking))
    kept = (edit for edit in _edits(nodes, lines, starts, idle) if not any(edit.is_within(other) for other in gone))
    for edit in sorted((*gone, *kept), key=lambda edit: -edit.start):
        text = text[: edit.start] + edit.text.encode() + text[edit.end :]
    return _returned(FOR.sub("", _NOQA.sub(_why, text.decode())))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with all that stand in them, however deep."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers"):
            yield from _statements(getattr(node, field, ()))


def _returned(source: str) -> str:
    """A module whose functions return at once what they would name for the next line alone."""
    lines = source.splitlines(keepends=True)
    bodies = [node.body for node in _statements(ast.parse(source).body) if isinstance(node, ast.FunctionDef)]
    for named, returned in ((body[-2], body[-1]) for body in bodies if len(body) > 1):
        name = returned.value.id if isinstance(returned, ast.Return) and isinstance(returned.value, ast.Name) else ""
        if name and isinstance(named, ast.Assign) and [ast.unparse(target) for target in named.targets] == [name]:
            lines[named.lineno - 1] = lines[named.lineno - 1].replace(f"{name} = ", "return ", 1)
            lines[returned.lineno - 1] = ""
    return "".join(lines)


def _why(found: re.Match[str]) -> str:
    """The reason for an exception from the rules of style, which is worth reading; not the exception."""
    reason = found["why"] or found["reason"]
    return f"  # {reason}" if reason else ""


def _edits(nodes: Sequence[ast.stmt], lines: list[str], starts: list[int], idle: frozenset[str]) -> Iterator[_Edit]:
    tuples = [node for node in nodes if isinstance(node, ast.ClassDef) and "NamedTuple" in map(ast.unparse, node.bases)]
    fields = {id(inner) for node in tuples for inner in ast.walk(node)}
    for each in tuples:
        yield from _tuple(each, starts)
    for node in nodes:
        if isinstance(node, ast.FunctionDef) and _is_promised(node):
            yield _Edit(starts[node.lineno - 1], starts[(node.end_lineno or 0) + 1], "")  # for the type checker alone
        elif isinstance(node, ast.ClassDef) and node not in tuples:
            yield from _class(node, lines, starts)
        elif isinstance(node, ast.For) and isinstance(node.iter, ast.Name) and node.iter.id in idle:
            yield _Edit(starts[node.lineno - 1], starts[node.end_lineno or 0], "")
        elif isinstance(node, ast.Import) and node.col_offset and not lines[node.lineno]:
            yield _Edit(starts[node.lineno], starts[node.lineno + 1], "")  # the empty line below a late import
        elif isinstance(node, ast.FunctionDef):
            last, head = _head(node, lines)
            yield _Edit(starts[node.lineno - 1], starts[last], head)
        elif isinstance(node, ast.AnnAssign) and not node.value and id(node) not in fields:
            yield _Edit(starts[node.lineno - 1], starts[node.end_lineno or 0], "")
        elif isinstance(node, ast.AnnAssign) and node.value and id(node) not in fields:
            before = starts[(node.target.end_lineno or 0) - 1] + (node.target.end_col_offset or 0)
            yield _Edit(before, starts[node.value.lineno - 1] + node.value.col_offset, " = ")


def _is_promised(node: ast.FunctionDef) -> bool:
    """Whether a function is there for the type checker alone: who inherits it has another."""
    return isinstance(node.body[-1], ast.Raise) and "NotImplementedError" in ast.unparse(node.body[-1])


def _lacked(nodes: Sequence[ast.stmt], lines: list[str], starts: list[int], lacking: frozenset[str]) -> Iterator[_Edit]:
    """The statements for what is lacking; of an `if`, its condition and what is done if that holds."""
    for node in nodes:
        found = FOR.search(lines[node.lineno - 1])
        if found and lacking.issuperset(found[1].split()):
            last = node.body[-1] if isinstance(node, ast.If) else node
            first = node.lineno - 1
            while lines[first - 1].lstrip().startswith("#"):  # what is said about it
                first -= 1
            yield _Edit(starts[first], starts[last.end_lineno or 0], "")


def _head(node: ast.FunctionDef, lines: list[str]) -> tuple[int, str]:
    """The line up to which the head of a function goes, and the head without types."""
    indent = " " * node.col_offset
    for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg):
        if argument:
            argument.annotation = None
    head = f"{indent}def {node.name}({ast.unparse(node.args)}):"
    first = node.body[0]
    end = first.lineno - 1
    comments = [line for line in lines[node.lineno : end] if line.strip().startswith("#")]
    if said := _said_behind(head, node):
        head, end = said, first.end_lineno or end
    return end, "".join(f"{line}\n" for line in (head, *comments))


def _class(node: ast.ClassDef, lines: list[str], starts: list[int]) -> Iterator[_Edit]:
    """What a class is for, behind its head, if that is said in a line and more follows."""
    if head := _said_behind(lines[node.lineno - 1], node):
        end = node.body[0].end_lineno or 0
        end += end < len(lines) and not lines[end].strip()
        yield _Edit(starts[node.lineno - 1], starts[end], f"{head}\n")


def _said_behind(head: str, node: ast.FunctionDef | ast.ClassDef) -> str:
    """A head with what is said of it behind it; "" where that has several lines, finds no room, or is all there is."""
    said = ast.get_docstring(node)
    has_room = said and "\n" not in said and len(head) + len(said) + 4 <= WIDEST
    return f"{head}  # {said}" if has_room and len(node.body) > 1 else ""


def _tuple(node: ast.ClassDef, starts: list[int]) -> Iterator[_Edit]:
    """A class of named fields, as a call that names them."""
    fields = [each for each in node.body if isinstance(each, ast.AnnAssign)]
    names = " ".join(field.target.id for field in fields if isinstance(field.target, ast.Name))
    defaults = [ast.unparse(field.value) for field in fields if field.value]
    given = f", defaults=({', '.join(defaults)},)" if defaults else ""
    said, made = ast.get_docstring(node), f'{node.name} = collections.namedtuple("{node.name}", "{names}"{given})'
    made = f"{made}  # {said}\n" if len(made) + len(said or "") + 4 <= WIDEST else f"# {said}\n{made}\n"
    yield _Edit(starts[node.lineno - 1], starts[node.end_lineno or 0], made)
