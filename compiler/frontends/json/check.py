"""Check a program that has the right shape: its names, and the rules of the verifier."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice

from msgspec import Struct

from compiler.frontends.json.lower import MOST_SHOWN
from compiler.frontends.json.syntax import Problem
from compiler.ir.edges import Keep
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Agent, Gate, Parallel, Tool, alphabet
from compiler.ir.variables import is_identifier, is_reserved
from compiler.ir.verify import problems
from compiler.regex import Regex
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

LONGEST_NAME = 200
"""In characters. Names appear in messages and in file names."""

_UNKNOWN = "an edge leads to the unknown node "
_HASH = Regex(r"[0-9a-f]{64}")
_PAGE = "see the rules of programs in docs/reference/program-rules.md"


class _Name(Struct, frozen=True):
    """A name, its position, and its requirements. Names of one `kind` are unique.

    Identifiers are valid in shells. Variables also must not be reserved.
    """

    name: str
    path: KeyPath
    kind: str = ""
    is_identifier: bool = False
    is_variable: bool = False


def check(program: Program) -> list[Problem]:
    """Return the problems of a program. The verifier only runs if all names are valid."""
    names = list(islice((*_of_sources(program), *_of_names(program)), MOST_SHOWN))
    return names or list(islice(_of_rules(program), MOST_SHOWN))


# --- Names ------------------------------------------------------------------------------------------------------------


def _of_sources(program: Program) -> Iterator[Problem]:
    for position, source in enumerate(program.sources):
        path = ("sources", str(position))
        if not source.path.isprintable() or not source.path:
            remedy = "use printable characters; the path appears in comments of generated files"
            yield Problem("RD066", (*path, "path"), "this is not a valid source path", remedy)
        if not _HASH.fullmatch(source.sha256):
            yield Problem("RD065", (*path, "sha256"), "this is not a SHA-256", "write 64 digits, 0 to 9 and a to f")


def _of_names(program: Program) -> Iterator[Problem]:
    first: dict[tuple[str, str], KeyPath] = {}
    for item in _names(program):
        if unfit := _unfit(item):
            yield Problem("RD066", item.path, *unfit)
        elif item.kind and (before := first.setdefault((item.kind, item.name), item.path)) != item.path:
            problem = f"two {item.kind} are named `{item.name}`"
            yield Problem("RD066", item.path, problem, "rename one of them", other=before, about="first defined here")


def _unfit(item: _Name) -> tuple[str, str] | None:
    name = item.name
    if (item.is_identifier or item.is_variable) and not is_identifier(name):
        return (
            f"`{name[:LONGEST_NAME]}` is not a valid variable name",
            "use letters, digits and `_`, and start with a letter or `_`",
        )
    if item.is_variable and is_reserved(name):
        return f"the name `{name[:LONGEST_NAME]}` is reserved by the shell, another tool or rdc", "use another name"
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        shown = f"`{name[:LONGEST_NAME]}`" if name else "an empty string"
        remedy = f"use 1 to {LONGEST_NAME} printable characters, without spaces at either end"
        return f"{shown} is not a valid name", remedy
    return None


def _names(program: Program) -> Iterator[_Name]:
    for position, node in enumerate(program.nodes):
        yield _Name(node.id, ("nodes", str(position), "id"), "nodes")
        yield from _names_in(node, ("nodes", str(position)))
    for position, group in enumerate(program.groups):
        yield _Name(group.id, ("groups", str(position), "id"), "groups")
    for position, register in enumerate(program.registers):
        yield _Name(register.name, ("registers", str(position), "name"), "registers or slots")
    for position, slot in enumerate(program.slots):
        yield _Name(slot.name, ("slots", str(position), "name"), "registers or slots")
    for position, context in enumerate(program.contexts):
        yield _Name(context.name, ("contexts", str(position), "name"), "contexts")
    for position, declared in enumerate(program.inputs):
        yield _Name(declared.name, ("inputs", str(position), "name"), "inputs", is_identifier=True)


def _names_in(node: Node, path: KeyPath) -> Iterator[_Name]:
    for position, variable in enumerate(node.variables):
        yield _Name(variable.name, (*path, "variables", str(position), "name"), is_variable=True)
    for place, edge in enumerate(node.edges):
        for position, effect in enumerate(edge.effects):
            if isinstance(effect, Keep) and effect.name:
                at = (*path, "edges", str(place), "effects", str(position), "name")
                yield _Name(effect.name, at, is_variable=True)
    yield from _names_of_task(node, (*path, "task"))


def _names_of_task(node: Node, path: KeyPath) -> Iterator[_Name]:
    """Yield names that are used outside the program: agents, connections, tools and gates."""
    task = node.task
    if isinstance(task, Agent) and task.agent:
        yield _Name(task.agent, (*path, "agent"))
    elif isinstance(task, Parallel):
        entries = enumerate(task.entries)
        yield from (_Name(entry.agent, (*path, "entries", str(at), "agent")) for at, entry in entries if entry.agent)
    elif isinstance(task, Tool):
        yield _Name(task.connection, (*path, "connection"))
        yield _Name(task.tool, (*path, "tool"))
    elif isinstance(task, Gate):
        yield _Name(task.gate, (*path, "gate"))


# --- Rules ------------------------------------------------------------------------------------------------------------


def _of_rules(program: Program) -> Iterator[Problem]:
    positions = {node.id: position for position, node in enumerate(program.nodes)}
    for name, problem in problems(program):
        if name:
            position = positions[name]
            node = program.nodes[position]
            path = _within(node, problem, ("nodes", str(position)))
            yield Problem("RD067", path, f"node {name}: {problem}", _remedy(problem, node, program))
        else:
            yield Problem("RD067", _place(program, problem), problem, _remedy(problem, None, program))


def _within(node: Node, problem: str, path: KeyPath) -> KeyPath:
    """Return the path of the edge whose target is unknown, otherwise the path of the node."""
    for place, edge in enumerate(node.edges):
        if problem == f"an edge leads to the unknown node {edge.target}":
            return (*path, "edges", str(place), "target")
    return path


def _place(program: Program, problem: str) -> KeyPath:
    """Return the path that a problem of no node is about, by the verifier's message."""
    for position, group in enumerate(program.groups):
        if problem.startswith(f"the group {group.id}"):
            return ("groups", str(position))
    for position, declared in enumerate(program.inputs):
        if problem.startswith(f"the input {declared.name}"):
            return ("inputs", str(position))
    for position, context in enumerate(program.contexts):
        if problem.startswith((f"the context {context.name} ", f"the context {context.name}:")):
            return ("contexts", str(position))
    if problem.startswith("the artifact"):
        return ("artifact",)
    if problem.startswith("the folder"):
        return ("folder",)
    return ("entry",) if problem.startswith("the entry") else ("limit",) if problem.startswith("the limit") else ()


def _remedy(problem: str, node: Node | None, program: Program) -> str:
    ids = [other.id for other in program.nodes]
    if problem.startswith(_UNKNOWN):
        return f"add a node with this id{_close(problem, ids)}"
    if problem.startswith("the entry"):
        return f"set `entry` to the id of a node{_close(program.entry, ids)}"
    if problem.startswith("there may be no edge to take"):
        return "add a last edge without a `guard`, or an edge for each outcome"
    if problem.startswith("the task has no outcome") and node:
        return f"use one of {', '.join(f'`{word}`' for word in alphabet(node.task))}"
    if "the context" in problem and problem.endswith("declared before it"):
        return "move the context above all contexts that name it under `after`"
    if problem.endswith("is not declared"):
        return "declare it, for example a counter under `registers` or a string under `slots`"
    return _PAGE


def _close(word: str, known: Iterable[str]) -> str:
    return did_you_mean(word.removeprefix(_UNKNOWN), known)
