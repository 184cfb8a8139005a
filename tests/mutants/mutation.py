"""Mutations of Python source: each changes one place of the syntax tree."""

import ast
from collections.abc import Callable, Iterator
from typing import NamedTuple

from tests.conftest import ROOT

PATTERNS = (
    "compiler/passes/*.py",
    "compiler/frontends/*/lower.py",
    "compiler/frontends/rundown/lower/jumps.py",
    "compiler/frontends/playbook/lower/nodes.py",
    "compiler/frontends/stepspec/tools.py",
)
"""The modules that make or change programs. Programs as JSON are read, not lowered."""

_PAIRS = ((ast.Eq, ast.NotEq), (ast.Lt, ast.LtE), (ast.Gt, ast.GtE), (ast.In, ast.NotIn), (ast.Is, ast.IsNot))
_OPPOSITE: dict[type[ast.cmpop], type[ast.cmpop]] = {one: other for pair in _PAIRS for one, other in (pair, pair[::-1])}
Change = Callable[[], None]


class Mutant(NamedTuple):
    """A place in a module, by its number among all of them, and what is done there."""

    module: str
    number: int
    line: int
    what: str


def mutants() -> list[Mutant]:
    found = []
    for path in sorted(path for pattern in PATTERNS for path in ROOT.glob(pattern)):
        if path.parent.name == "json":
            continue
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        changes = _changes(ast.parse(path.read_text(encoding="utf-8")))
        found += [Mutant(module, number, line, what) for number, (line, what, _) in enumerate(changes)]
    return found


def mutated(source: str, number: int) -> ast.Module:
    tree = ast.parse(source)
    for at, (_, _, change) in enumerate(_changes(tree)):
        if at == number:
            change()
            break
    return ast.fix_missing_locations(tree)


def _changes(tree: ast.Module) -> Iterator[tuple[int, str, Change]]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                for node in ast.walk(statement):
                    yield from ((getattr(node, "lineno", 0), what, change) for what, change in _of_node(node))
            yield from _dropped_statements(function)


def _dropped_statements(function: ast.FunctionDef) -> Iterator[tuple[int, str, Change]]:
    for holder in ast.walk(function):
        for body in (getattr(holder, "body", None), getattr(holder, "orelse", None)):
            if not isinstance(body, list):
                continue
            for place, statement in enumerate(body):
                is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
                if isinstance(statement, ast.Expr | ast.Assign | ast.AugAssign | ast.If) and not is_text:
                    yield statement.lineno, "dropped statement", _setter(body, place, ast.Pass())


def _setter(items: list[ast.AST], place: int, new: ast.AST) -> Change:
    return lambda: items.__setitem__(place, new)


def _of_node(node: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Compare(ops=[compared]) if type(compared) in _OPPOSITE:
            yield "swapped comparison", lambda: setattr(node, "ops", [_OPPOSITE[type(compared)]()])
        case ast.BoolOp(op=operator):
            other = ast.Or() if isinstance(operator, ast.And) else ast.And()
            yield "swapped and, or", lambda: setattr(node, "op", other)
        case ast.IfExp() | ast.UnaryOp(op=ast.Not()):
            name = "test" if isinstance(node, ast.IfExp) else "operand"
            yield "negated condition", lambda: setattr(node, name, ast.UnaryOp(ast.Not(), getattr(node, name)))
        case ast.Constant(value=value) if isinstance(value, bool | int) or (isinstance(value, str) and len(value) < 20):
            yield "changed constant", lambda: setattr(node, "value", _another(value))
        case ast.Tuple(elts=items, ctx=ast.Load()) | ast.List(elts=items, ctx=ast.Load()) if items:
            yield "dropped first element", lambda: items.__delitem__(0)
            if len(items) > 1:
                yield "dropped last element", lambda: items.__delitem__(-1)
                yield "reversed elements", items.reverse
        case ast.Call():
            yield from _of_call(node)


def _another(value: bool | int | str) -> bool | int | str:
    if isinstance(value, str):
        return "" if value else "x"
    return not value if isinstance(value, bool) else value + 1


def _of_call(node: ast.Call) -> Iterator[tuple[str, Change]]:
    if len(node.args) > 1:
        swapped = [node.args[1], node.args[0]]
        yield "swapped arguments", lambda: node.args.__setitem__(slice(0, 2), swapped)
    if node.keywords:
        yield "dropped keyword argument", lambda: node.keywords.__delitem__(-1)
