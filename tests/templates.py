"""Translates the Jinja templates of the targets to Python, as `backends/*/rendering.py` has them.

A template becomes a function that takes the names which the template uses. The translator knows the parts of Jinja that
the templates use, and refuses all others.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta, nodes

from tests.expressions import Expressions, Loop, unsupported

FILTERS: Mapping[str, Mapping[str, str]] = {
    "github": dict.fromkeys(("comment", "folded", "scalar", "shell_scalar"), "backends.github.scalar"),
    "make": {"comment": "backends.make.texts"},
    "python": {
        "comment": "backends.remarks",
        "listed": "backends.remarks",
        "literal": "backends.python.literals",
    },
}
"""The filters of each target, and the modules with these functions."""

HEAD = '''\
"""The templates in `templates/` as functions. `make golden` makes them: change a template, not this file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

'''
_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def environment(folder: Path) -> Environment:
    """The templates of a folder, with the options that all of them are written for."""
    return Environment(
        loader=FileSystemLoader(folder),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )


def rendering(target: Path) -> str:
    """The module that is made of the templates of a target, whose folder this is."""
    filters = FILTERS[target.name]
    imports = {f"from {module} import {name}" for name, module in filters.items()}
    imports.add("from backends.templating import joined")
    templates = Templates(target / "templates", filters)
    source = HEAD + "\n".join([*sorted(imports), *templates.functions()])
    ruff = [sys.executable, "-m", "ruff"]
    for words in (["check", "--select", "I", "--fix", "--quiet"], ["format"]):
        command = [*ruff, *words, "--stdin-filename", str(target / "rendering.py"), "-"]
        source = subprocess.run(command, input=source, capture_output=True, encoding="utf-8", check=True).stdout
    return source


def function_name(template: str) -> str:
    """The name of the function of a template."""
    return template.removesuffix(".jinja").replace(".", "_")


class Templates:
    """The templates of a folder."""

    def __init__(self, folder: Path, filters: Iterable[str]) -> None:
        self._environment = environment(folder)
        self._environment.filters |= dict.fromkeys(filters, str)  # to find names, Jinja has to know its filters
        self.filters = frozenset(filters)
        texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jinja"))}
        self._trees = {name: self._environment.parse(text, name) for name, text in texts.items()}

    def functions(self) -> Iterator[str]:
        """The functions of all templates, and of their macros."""
        for name in self._trees:
            try:
                yield from self._functions(name)
            except ValueError as error:
                raise ValueError(f"{name}, {error}") from error

    def names(self, template: str) -> list[str]:
        """The names that a template uses, and the templates that it includes."""
        tree = self._trees[template]
        found = meta.find_undeclared_variables(tree)
        for other in meta.find_referenced_templates(tree):
            found.update(self.names(other or ""))
        return sorted(found)

    def _functions(self, template: str) -> Iterator[str]:
        tree = self._trees[template]
        macros = {node.name: node for node in tree.body if isinstance(node, nodes.Macro)}
        for name, macro in macros.items():
            if macro.defaults:
                raise unsupported(macro, "a default value of a macro")
            parameters = [argument.name for argument in macro.args]
            head = ", ".join(f"{parameter}: Any" for parameter in parameters)
            body = Body(self, macros, parameters).block(macro.body)
            yield from _function(f"_{name}({head})", f"Fill in the macro `{name}` of `{template}`.", body)
        names = self.names(template)
        head = ", ".join(["*", *(f"{name}: Any" for name in names)] if names else ())
        body = Body(self, macros, names).block(node for node in tree.body if not isinstance(node, nodes.Macro))
        yield from _function(f"{function_name(template)}({head})", f"Fill in `{template}`.", body)


def _function(head: str, about: str, body: Iterable[str]) -> Iterator[str]:
    yield from ("@joined", f"def {head} -> Iterator[str]:", f'    """{about}"""', *_indented(body))


class Body:
    """Translates the statements of a template or macro, which takes some parameters."""

    def __init__(self, templates: Templates, macros: Iterable[str], parameters: Iterable[str]) -> None:
        self._templates = templates
        self._names = {*parameters, *macros, *templates.filters}
        self._expressions = Expressions(macros, templates.filters, self._names)

    def block(self, body: Iterable[nodes.Node]) -> list[str]:
        """Return the statements for some nodes."""
        return [line for node in body for line in self._statement(node)] or ["pass"]

    def _statement(self, node: nodes.Node) -> Iterator[str]:
        match node:
            case nodes.Output():
                yield from self._output(node.nodes)
            case nodes.If():
                yield from self._if(node)
            case nodes.For(else_=[], recursive=False):
                yield from self._for(node)
            case nodes.Assign(target=nodes.Name(name=name)) if not self._expressions.loops:
                self._take([name], node)
                yield f"{name} = {self._expressions.source(node.node)}"
            case nodes.Include(template=nodes.Const(value=name), with_context=True, ignore_missing=False):
                words = ", ".join(f"{each}={each}" for each in self._templates.names(name))
                yield f"yield {function_name(name)}({words})"
            case _:
                raise unsupported(node)

    def _if(self, node: nodes.If) -> Iterator[str]:
        for word, part in (("if", node), *(("elif", part) for part in node.elif_)):
            yield f"{word} {self._expressions.source(part.test)}:"
            yield from _indented(self.block(part.body))
        if node.else_:
            yield "else:"
            yield from _indented(self.block(node.else_))

    def _for(self, node: nodes.For) -> Iterator[str]:
        names = [each.name for each in [node.target, *node.target.find_all(nodes.Name)] if isinstance(each, nodes.Name)]
        self._take(names, node)
        items = self._expressions.source(node.iter)
        loop = Loop(f"{names[0]}_index", items)
        self._expressions.loops.append(loop)
        target, body = self._expressions.source(node.target), self.block(node.body)
        if node.test is not None:
            if loop.is_counted:
                raise unsupported(node, "`loop` where the loop has a condition")
            body = [f"if {self._expressions.source(node.test)}:", *_indented(body)]
        self._expressions.loops.pop()
        self._names.difference_update(names)
        yield f"for {loop.index}, {target} in enumerate({items}):" if loop.is_counted else f"for {target} in {items}:"
        yield from _indented(body)

    def _take(self, names: Iterable[str], node: nodes.Node) -> None:
        """Refuse a name with two meanings: a function has one scope, where Jinja has one for each loop."""
        for name in names:
            if name in self._names:
                raise unsupported(node, f"a second meaning of `{name}`")
            self._names.add(name)

    def _output(self, parts: Iterable[nodes.Expr]) -> Iterator[str]:
        """Yield the statements that write texts and values: one for each line of the output, if possible.

        In Python 3.11 the values in an f-string can have neither backslashes nor the quotes of the f-string.
        """
        line: list[str | ast.expr] = []
        for part in _flat(parts):
            if isinstance(part, str):
                for text in _LINE.findall(part):
                    line.append(text)
                    if text.endswith("\n"):
                        yield from _yielded(line)
            elif set(self._expressions.source(part)) & {'"', "\\"}:
                yield from _yielded(line)
                yield from self._apart(part)
            else:
                line.append(self._expressions.of(part))
        yield from _yielded(line)

    def _apart(self, node: nodes.Expr) -> Iterator[str]:
        """Yield the statements that write a value which can't be in an f-string."""
        if not isinstance(node, nodes.CondExpr):
            yield f"yield str({self._expressions.source(node)})"
            return
        yield f"if {self._expressions.source(node.test)}:"
        yield from _indented(self._output([node.expr1]))
        if node.expr2 is not None:
            yield "else:"
            yield from _indented(self._output([node.expr2]))


def _flat(parts: Iterable[nodes.Expr]) -> Iterator[str | nodes.Expr]:
    """Yield the texts and values of an output; what `~` joins is written one after the other."""
    for part in parts:
        match part:
            case nodes.TemplateData(data=text) | nodes.Const(value=str(text)):
                yield text
            case nodes.Concat():
                yield from _flat(part.nodes)
            case _:
                yield part


def _yielded(line: list[str | ast.expr]) -> Iterator[str]:
    """Yield the statement that writes a line, and empty the line."""
    if not line:
        return
    prefix = "" if all(isinstance(part, str) for part in line) else "f"
    text = ""
    for part in line:
        if isinstance(part, str):
            escaped = part.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
            text += escaped.replace("{", "{{").replace("}", "}}") if prefix else escaped
        else:
            text += f"{{{ast.unparse(part)}}}"
    line.clear()
    yield f'yield {prefix}"{text}"'


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" for line in lines)
