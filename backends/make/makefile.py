"""A program as a Makefile: the steps, the targets, and the driver."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from backends.base import MARK
from backends.command import canonical_command
from backends.make.blocks import define
from backends.make.identifiers import file_name
from backends.make.inputs import controls, variable
from backends.make.nodes import Nodes, is_node
from backends.make.operator import VERBS as OF_OPERATOR
from backends.make.operator import Operator
from backends.make.options import MakeOptions
from backends.make.parts import OF_VERBS, Needs, part
from backends.make.rules import Rule, rules_of
from backends.make.templating import render
from backends.make.texts import comment, visible
from backends.remarks import listed, of_contexts, of_placeholders, shells
from compiler.ir.program import Node, Program
from compiler.version import __version__

VERBS = ("run", "resume", "status", "answer", "clean", "unlock", "help")


@dataclass(frozen=True, slots=True)
class Written:
    """A step as it stands in the Makefile."""

    heading: tuple[str, ...]
    lines: tuple[str, ...]


def makefile(program: Program, options: MakeOptions) -> str:
    """The text of the Makefile of an optimised program."""
    prefix = options.prefix
    is_full = options.operator == "full"
    rules = rules_of(program, (*VERBS, "begin", *(OF_OPERATOR if is_full else ())))
    needs = Needs(program, bool(rules))
    nodes = Nodes(program, prefix, needs.is_simple, bool(rules))
    written = [_written(nodes, node, rules, prefix) for node in nodes.shown]
    table = list(define(prefix, "RDC_NODES", nodes.table()))
    if values := nodes.values():
        table += ["", *define(prefix, "RDC_VALUES", values)]
    modules = list(needs.modules(nodes))
    asks = "asks" in modules
    return render(
        "makefile.mk.jinja",
        p=prefix,
        operator=Operator(program, nodes, prefix, asks, needs.calls_others) if is_full else None,
        scope=f"$({prefix}RDC_TARGETS): " if prefix else "",
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        command=canonical_command("make", program, options),
        version=__version__,
        source=program.sources[0],
        included=program.sources[1:],
        needs=_needs(program, needs),
        explained=list(_explained(program, written)),
        rules=[Rule(prefix + rule.slug, rule.step, prefix + (rule.before or "begin")) for rule in rules],
        says=any(line.startswith(f"define {prefix}ask_") for step in written for line in step.lines),
        nodes=written,
        shares=bool(nodes.shared),
        table=[*nodes.words.blocks(), *table, *_spaced(needs.texts(prefix))],
        identity=_identity(program),
        state=f"{options.state_dir.rstrip('/') or '/'}/{file_name(program)}.make",
        alone=" ".join(nodes.names.nodes[node.id] for node in program.nodes if is_node(node)),
        verbs=" ".join(prefix + verb for verb in VERBS if verb != "answer" or asks),
        asks=asks,
        has_inputs=bool(program.inputs),
        takes=_takes(program),
        parts=" ".join(prefix + part(module).name for module in modules),
        driver=[part(module) for module in ("core", *OF_VERBS, *modules)],
    )


def _written(nodes: Nodes, node: Node, rules: list[Rule], prefix: str) -> Written:
    lines = list(nodes.blocks(node))
    name = nodes.names.nodes[node.id]
    lines += [
        f"{prefix}{rule.slug}: {prefix}{rule.before or 'begin'} ; $(call {prefix}RDC_RULE,{name})"
        for rule in rules
        if rule.step == node.id
    ]
    return Written(tuple(nodes.heading(node)), tuple(lines))


def _takes(program: Program) -> str:
    """The names of what make is given, and what the driver is given it as."""
    told = controls(program)
    names = [*told, *(declared.name for declared in program.inputs)]
    variables = [*told, *(variable(number) for number, _ in enumerate(program.inputs, 1))]
    return " ".join(f"{name}:{as_what}" for name, as_what in zip(names, variables, strict=True))


def _needs(program: Program, needs: Needs) -> str:
    """What a run needs."""
    tools = ["GNU make 3.81 or newer", "a POSIX shell with its usual tools"]
    if "bash" in shells(program):
        tools.append("bash")
    if needs.needs_helper:
        tools.append("python3 3.9")
    return listed(tools)


def _explained(program: Program, nodes: Iterable[Written]) -> Iterator[str]:
    """What whoever reads the steps has to know of their words."""
    yield from of_contexts(program, "`context` in RDC_VALUES")
    if any(" retry " in line for node in nodes for line in node.lines):
        yield "`retry 3` does the step up to three more times, and only then what follows `||`."
    yield from map(comment, of_placeholders(program.nodes, program.registers))


def _spaced(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        if line.startswith("define "):
            yield ""
        yield line


def _identity(program: Program) -> str:
    """What tells programs apart: a digest of all their sources (R4)."""
    parts = [__version__, *(source.sha256 for source in program.sources)]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]
