"""Identifiers for nodes and counters: step ids for GitHub, states and variables for bash, boxes for Mermaid."""

import re
import shlex
from collections import Counter as Tally
from collections.abc import Iterable, Mapping

from backends.scheduling.flow import Identifiers
from compiler.ir.program import Counter, Group, Node, Program
from compiler.ir.tasks import Branch, End
from compiler.text.regex import Regex

LONGEST = 60

_NUMBER = Regex(r"(^|[./])(\d+|\{[Nn]\})($|[./~])")
"""A number, or its placeholder, in a node's id."""

_WORD = Regex(r"[a-z]{2}")
"""Enough letters to make a title usable as an identifier."""


def identifiers(names: Iterable[tuple[str, str]], taken: Iterable[str]) -> dict[str, str]:
    """Return an identifier for each name: letters, digits and `_`, different even if case is ignored.

    Each name has the text that its identifier is made of. GitHub ignores case, and reserves ids that start with `__`.
    """
    used = {name.lower() for name in taken}
    found: dict[str, str] = {}
    for name, text in names:
        plain = _plain(text)
        candidate, number = plain, 1
        while candidate.lower() in used:
            number += 1
            candidate = f"{plain}_{number}"
        used.add(candidate.lower())
        found[name] = candidate
    return found


def _plain(name: str) -> str:
    words = re.sub(r"[^A-Za-z0-9]+", "_", name.replace(".runbook.md", ""))[:LONGEST].strip("_")
    return words if words[:1].isalpha() else f"s{words}"


SUMMARY = "summary"
"""The id of the step that writes the run summary."""

CLOSED = "Close the run"
"""The name of the last step that calls the program. It writes the run summary."""

_KEYWORDS = shlex.split("start click class classdef default direction end flowchart graph style subgraph")
"""Keywords of Mermaid."""

_RESERVED = shlex.split("case coproc do done elif else esac fi for function if in select then time until while")
"""Words that bash or shellcheck reads as syntax: `esac)` would end the `case` around it."""

_VALUES = shlex.split("true false null yes no on off nan infinity")
"""Words that YAML or an expression reads as a value. Quotes would not help in an expression."""

_OURS = (
    *shlex.split("result summary saved kept handed begin reviews approved artifact"),
    *(f"reviews_{number}" for number in range(2, 10)),
)
"""Ids that a title must not get."""

_TAKEN = (*_OURS, *_KEYWORDS, *_RESERVED, *_VALUES)

_VARIABLES = ("code", "env", "form", "kept", "message", "next", "outcome", "path", "rest", "state", "text", "step")


def identifiers_of(program: Program, taken: Iterable[str] = ()) -> Identifiers:
    """Return identifiers for a program, none of which is `taken`. An end's identifier starts with COMPLETE or STOP.

    Numbers change when a step is inserted. So nodes, and their ends and counters, are named by their titles if those
    are unique.
    """
    called = _called(program)
    nodes = (
        (node.id, _end(node.id, node.task.result, called) if isinstance(node.task, End) else _node(node.id, called))
        for node in program.nodes
    )
    counters = identifiers(((counter.name, _counter(counter, called)) for counter in program.counters), _VARIABLES)
    variables = {name: f"rdc_{variable}" for name, variable in counters.items()}
    return Identifiers(identifiers(nodes, (*_TAKEN, *taken)), variables)


def _called(program: Program) -> Mapping[str, str]:
    nodes = (node for node in program.nodes if not isinstance(node.task, (Branch, End)))
    items: list[Node | Group] = [*nodes, *program.groups]
    titled = {item.id: _plain(str(item.title)).lower() for item in items if item.title}
    numbered = {name: text for name, text in titled.items() if _NUMBER.search(name) and _is_lasting(name, text)}
    others = [_plain(item.id).lower() for item in items if item.id not in numbered]
    count = Tally([*numbered.values(), *others, *map(str.lower, _TAKEN)])
    return {name: text for name, text in numbered.items() if count[text] == 1}


def _is_lasting(name: str, title: str) -> bool:
    """Return whether a title still fits after its node gets another number: `Build` does, `Step 3` doesn't."""
    numbers = set(re.findall(r"\d+", name))
    return _WORD.search(title) is not None and not any(part.strip("s") in numbers for part in title.split("_"))


def _node(name: str, called: Mapping[str, str]) -> str:
    """Return the text of a node's identifier: its title, or its own id. None looks like the id of an end."""
    group, _, word = name.rpartition("/")  # for a node without a task, such as `2/FAIL`
    text = called.get(name) or (f"{called[group]} {word}" if group in called else name)
    return f"step {text}" if text.startswith(("COMPLETE", "STOP")) else text


def _end(name: str, result: str, called: Mapping[str, str]) -> str:
    """Return the text of an end's identifier, such as `4/COMPLETE~2`, starting with its word."""
    node, _, word = name.rpartition("/")
    kind, _, number = word.partition("~")
    node = called.get(node, node)
    return f"{kind} {node} {number}" if kind == result.upper() else f"{result.upper()} {name}"


def _counter(counter: Counter, called: Mapping[str, str]) -> str:
    node = called.get(counter.of) if counter.role != "instance" or counter.name[:1].isdigit() else ""
    return f"{node} {counter.outcome} {counter.role}" if node else counter.name
