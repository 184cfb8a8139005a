"""Identifiers for nodes and counters: step ids for GitHub, states and variables for bash, boxes for Mermaid."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping

from backends.scheduling.names import Identifiers
from compiler.ir.program import Group, Node, Program, Register
from compiler.ir.tasks import Branch, End
from compiler.regex import Regex

LONGEST = 60

_NUMBER = Regex(r"(^|[./])(\d+|\{[Nn]\})($|[./~])")
"""In the id of a node: a number, or what stands for one."""

_WORD = Regex(r"[a-z]{2}")
"""In a title: enough to call a node so."""


def identifiers(names: Iterable[tuple[str, str]], taken: Iterable[str]) -> dict[str, str]:
    """An identifier for each name: letters, digits and `_`, told apart also where case is ignored.

    GitHub compares step ids without regard to case, and keeps those that begin with `__` for itself.

    Args:
        names: Each name, and the text that its identifier is made of.
        taken: Identifiers that mean something else already.
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


RESULT = "result"
"""The id of the step that says how a job ends where its steps do not say it by themselves."""

SUMMARY = "summary"
"""The id of the step that writes the table of what has run."""

SAVED = "saved"
"""The id of the step that saves a run for another one."""

KEPT = "kept"
"""The id of the step that uploads what was saved."""

HANDED = "handed"
"""The id of the step that saves a run for the next job, where others save it too."""

BEGIN = "begin"
"""The id of the step that says where a program at which a run by a table starts or continues."""

REVIEWS = "reviews"
"""The id of the step that notes the reviews before a question."""

APPROVED = "approved"
"""The id of the step that makes sure that somebody has approved the job that it begins."""

ARTIFACT = "artifact"
"""The id of the step that writes the file which a run leaves."""

_KEYWORDS = frozenset(shlex.split("start click class classdef default direction end flowchart graph style subgraph"))
"""What Mermaid reads as a part of a picture."""

_RESERVED = frozenset(
    shlex.split("case coproc do done elif else esac fi for function if in select then time until while")
)
"""Words that bash or shellcheck reads as a part of a script: `esac)` would end the `case` that it stands in."""

_VALUES = ("true", "false", "null", "yes", "no", "on", "off", "nan", "infinity")
"""What YAML or an expression takes for a value; to be quoted would not help in an expression."""

_OURS = (
    RESULT,
    SUMMARY,
    SAVED,
    KEPT,
    HANDED,
    BEGIN,
    REVIEWS,
    APPROVED,
    ARTIFACT,
    *(f"{REVIEWS}_{number}" for number in range(2, 10)),
)

_TAKEN = (*_OURS, *_KEYWORDS, *_RESERVED, *_VALUES)

_VARIABLES = ("code", "env", "form", "kept", "message", "next", "outcome", "path", "rest", "state", "text", "step")


def identifiers_of(program: Program, taken: Iterable[str] = ()) -> Identifiers:
    """Identifiers for a program, none of which is `taken`. Those of the ends begin with COMPLETE or STOP.

    Numbers shift where a node is inserted, so that nodes, and the ends and counters that belong to them, are called by
    their names and titles wherever these tell them apart.
    """
    called = _called(program)
    nodes = (
        (node.id, _end(node.id, node.task.result, called) if isinstance(node.task, End) else _node(node.id, called))
        for node in program.nodes
    )
    counters = identifiers(((register.name, _counter(register, called)) for register in program.registers), _VARIABLES)
    variables = {name: f"rdc_{variable}" for name, variable in counters.items()}
    return Identifiers(identifiers(nodes, (*_TAKEN, *taken)), variables)


def _called(program: Program) -> Mapping[str, str]:
    """The title of each node and group that has a number, if no other is called so."""
    nodes = (node for node in program.nodes if not isinstance(node.task, (Branch, End)))
    items: list[Node | Group] = [*nodes, *program.groups]
    titled = {item.id: _plain(str(item.title)).lower() for item in items if item.title}
    numbered = {name: text for name, text in titled.items() if _NUMBER.search(name) and _is_lasting(name, text)}
    others = [_plain(item.id).lower() for item in items if item.id not in numbered]
    count = Counter([*numbered.values(), *others, *map(str.lower, _TAKEN)])
    return {name: text for name, text in numbered.items() if count[text] == 1}


def _is_lasting(name: str, title: str) -> bool:
    """Whether a title says something that stays when its node gets another number: `Build`, but not `Step 3`."""
    numbers = set(re.findall(r"\d+", name))
    return _WORD.search(title) is not None and not any(part.strip("s") in numbers for part in title.split("_"))


def _node(name: str, called: Mapping[str, str]) -> str:
    """What the id of a node is made of: its title, or its own id. None looks like that of an end."""
    group, _, word = name.rpartition("/")  # of a node without a task, such as `2/FAIL`
    text = called.get(name) or (f"{called[group]} {word}" if group in called else name)
    return f"step {text}" if text.startswith(("COMPLETE", "STOP")) else text


def _end(name: str, result: str, called: Mapping[str, str]) -> str:
    """The id of an end, such as `4/COMPLETE~2`, with the word first, which says what the end is."""
    node, _, word = name.rpartition("/")
    kind, _, number = word.partition("~")
    node = called.get(node, node)
    return f"{kind} {node} {number}" if kind == result.upper() else f"{result.upper()} {name}"


def _counter(register: Register, called: Mapping[str, str]) -> str:
    """The text that the name of a counter is made of: that of its node, and what it is for."""
    node = called.get(register.of) if register.role != "instance" or register.name[:1].isdigit() else ""
    return f"{node} {register.outcome} {register.role}" if node else register.name
