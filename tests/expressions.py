"""Translates the expressions of Jinja templates to Python, for `tests/templates.py`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from jinja2 import nodes

_OPERATORS: Mapping[str, ast.cmpop] = {"eq": ast.Eq(), "ne": ast.NotEq(), "in": ast.In(), "notin": ast.NotIn()}


@dataclass
class Loop:
    """A loop: the variable that counts, the source of what it goes through, and whether its body uses `loop`."""

    index: str
    items: str
    is_counted: bool = False

    def value(self, name: str) -> str | None:
        """Return the source of `loop.NAME`."""
        values = {
            "index0": self.index,
            "index": f"{self.index} + 1",
            "first": f"{self.index} == 0",
            "last": f"{self.index} == len({self.items}) - 1",
        }
        self.is_counted = True
        return values.get(name)


class Expressions:
    """Translates the expressions of a template with some macros and filters; `names` are all that exist there."""

    def __init__(self, macros: Iterable[str], filters: Iterable[str], names: Collection[str]) -> None:
        self._macros = frozenset(macros)
        self._filters = frozenset(filters)
        self._names = names
        self.loops: list[Loop] = []
        """The loops around the expression."""

    def source(self, node: nodes.Node) -> str:
        """Return an expression as Python has it."""
        return ast.unparse(self.of(node))

    def of(self, node: nodes.Node) -> ast.expr:
        """Return an expression of Python for one of Jinja."""
        translate: Callable[[Any], ast.expr] | None = getattr(self, f"_{type(node).__name__.lower()}", None)
        if translate is None:
            raise unsupported(node)
        return translate(node)

    def _each(self, parts: Iterable[nodes.Node]) -> list[ast.expr]:
        return [self.of(part) for part in parts]

    def _const(self, node: nodes.Const) -> ast.expr:
        return ast.Constant(node.value)

    def _name(self, node: nodes.Name) -> ast.expr:
        if node.name not in self._names:
            raise unsupported(node, f"`{node.name}`, which the macro doesn't take,")
        return ast.Name(f"_{node.name}" if node.name in self._macros else node.name)

    def _getattr(self, node: nodes.Getattr) -> ast.expr:
        if not (isinstance(node.node, nodes.Name) and node.node.name == "loop"):
            return ast.Attribute(self.of(node.node), node.attr)
        value = self.loops[-1].value(node.attr) if self.loops else None
        if value is None:
            raise unsupported(node, f"loop.{node.attr}")
        return ast.parse(value, mode="eval").body

    def _getitem(self, node: nodes.Getitem) -> ast.expr:
        return ast.Subscript(self.of(node.node), self.of(node.arg))

    def _slice(self, node: nodes.Slice) -> ast.expr:
        return ast.Slice(*(None if part is None else self.of(part) for part in (node.start, node.stop, node.step)))

    def _call(self, node: nodes.Call) -> ast.expr:
        if node.dyn_args or node.dyn_kwargs:
            raise unsupported(node, "`*` or `**` in a call")
        return ast.Call(self.of(node.node), self._each(node.args), self._keywords(node.kwargs))

    def _filter(self, node: nodes.Filter) -> ast.expr:
        if node.node is None or node.dyn_args or node.dyn_kwargs:
            raise unsupported(node)
        if node.name == "join" and len(node.args) == 1 and not node.kwargs:
            return ast.Call(ast.Attribute(self.of(node.args[0]), "join"), [self.of(node.node)], [])
        if node.name not in self._filters:
            raise unsupported(node, f"the filter `{node.name}`")
        return ast.Call(ast.Name(node.name), self._each([node.node, *node.args]), self._keywords(node.kwargs))

    def _keywords(self, given: Iterable[nodes.Keyword | nodes.Pair]) -> list[ast.keyword]:
        return [ast.keyword(str(each.key), self.of(each.value)) for each in given]

    def _condexpr(self, node: nodes.CondExpr) -> ast.expr:
        other = ast.Constant("") if node.expr2 is None else self.of(node.expr2)
        return ast.IfExp(self.of(node.test), self.of(node.expr1), other)

    def _and(self, node: nodes.And) -> ast.expr:
        return ast.BoolOp(ast.And(), self._each([node.left, node.right]))

    def _or(self, node: nodes.Or) -> ast.expr:
        return ast.BoolOp(ast.Or(), self._each([node.left, node.right]))

    def _not(self, node: nodes.Not) -> ast.expr:
        return ast.UnaryOp(ast.Not(), self.of(node.node))

    def _neg(self, node: nodes.Neg) -> ast.expr:
        return ast.UnaryOp(ast.USub(), self.of(node.node))

    def _compare(self, node: nodes.Compare) -> ast.expr:
        operators = [_OPERATORS.get(each.op) for each in node.ops]
        known = [each for each in operators if each]
        if known != operators:
            raise unsupported(node, "an operator")
        return ast.Compare(self.of(node.expr), known, self._each(each.expr for each in node.ops))

    def _add(self, node: nodes.Add) -> ast.expr:
        return ast.BinOp(self.of(node.left), ast.Add(), self.of(node.right))

    def _mul(self, node: nodes.Mul) -> ast.expr:
        return ast.BinOp(self.of(node.left), ast.Mult(), self.of(node.right))

    def _concat(self, node: nodes.Concat) -> ast.expr:
        return reduce(lambda left, right: ast.BinOp(left, ast.Add(), right), self._each(node.nodes))

    def _list(self, node: nodes.List) -> ast.expr:
        return ast.List(self._each(node.items))

    def _tuple(self, node: nodes.Tuple) -> ast.expr:
        return ast.Tuple(self._each(node.items))


def unsupported(node: nodes.Node, what: str = "") -> ValueError:
    """Return the error for a part of Jinja that templates can't use."""
    return ValueError(f"line {node.lineno}: {what or type(node).__name__} is not supported in templates")
