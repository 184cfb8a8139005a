"""Random valid programs over every task, test and effect, and replies for their units. Each walk ends.

A node leads forward, or, if it has a task that counts, anywhere; then the program has a limit (I24). So nodes without
a task never lead back to each other (I2), and no gate goes on for ever.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from .alphabet import keywords_of, words_of
from .cases import Case, Json
from .replies import replies
from .texts import FIELDS, IDS, KEYWORDS, LINES, NASTY, PATTERNS

ORIGIN = {"path": "p.json", "span": {"line": 1, "column": 1, "end_line": 1, "end_column": 2}}
COMMAND = '"$YARDSTICK_PYTHON" -I -S "$YARDSTICK/stand_in.py" shell '
"""What the command of a shell begins with; its unit, quoted, and references to counters follow."""

SCOPES = ("", "1", "1/a", "1a")
VALUES = ("version", "NOTE", "x_1")
VARIABLES = ("FIRST", "second_1", "NOTE")
INPUTS = ("project", "Issue_1", "body")

_flags = st.booleans()
_rare = st.sampled_from([False] * 7 + [True])
_nasty = st.sampled_from(NASTY)
_small = st.integers(-1, 4)


@dataclass(frozen=True)
class Names:
    """What the nodes of a program may name."""

    ids: tuple[str, ...]
    counters: tuple[str, ...]
    slots: tuple[str, ...]
    scopes: tuple[str, ...]


def one(draw: st.DrawFn, weights: dict[str, int]) -> str:
    """One of some words, by weight; the first is the simplest."""
    return draw(st.sampled_from([word for word, weight in weights.items() for _ in range(weight)]))


@st.composite
def texts(draw: st.DrawFn, names: Names, most: int = 3, strings: tuple[str, ...] = NASTY) -> Any:
    """A text: a string, or a row of strings and references to counters and slots (I6)."""
    parts: list[Any] = []
    for _ in range(draw(st.integers(0, most))):
        if draw(_flags) and (names.counters or names.slots):
            parts.append(draw(references(names)))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += draw(st.sampled_from(strings))
        else:
            parts.append(draw(st.sampled_from(strings)))
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    return parts


@st.composite
def references(draw: st.DrawFn, names: Names) -> Json:
    """A reference to any register."""
    register = draw(st.sampled_from([*names.slots, *names.counters]))
    found = {"register": register, "written": draw(st.sampled_from(("{{x}}", "{N}", "")))}
    for key in ("missing", "before", "after"):
        if draw(_flags):
            found[key] = draw(_nasty)
    return found


# --- Tasks ------------------------------------------------------------------------------------------------------------


@st.composite
def shells(draw: st.DrawFn, names: Names, unit: str) -> Json:
    """A command, which calls the script with its unit and counters."""
    counters = draw(st.lists(st.sampled_from(names.counters), max_size=2)) if names.counters else []
    quoted = "'" + unit.replace("'", "'\\''") + "'"
    command: list[Any] = [COMMAND + quoted]
    for counter in counters:
        command[-1:] = [*command[-1:], " "] if isinstance(command[-1], dict) else [command[-1] + " "]
        command.append({"register": counter, "written": "{N}"})
    return {
        "kind": "shell",
        "interpreter": draw(st.sampled_from(("sh", "bash"))),
        "command": command,
        "prompt": draw(texts(names, 1)),
    }


@st.composite
def asks(draw: st.DrawFn, names: Names) -> Json:
    """Every kind of question."""
    question = draw(st.sampled_from(("pass_fail", "yes_no", "confirm", "input", "select")))
    task: Json = {"kind": "ask", "question": question, "prompt": draw(texts(names))}
    if draw(_rare):
        task |= {"block": draw(texts(names, 2)), "language": draw(st.sampled_from(("", "json")))}
    if question == "select":
        # Each has something of its own, so that all differ as written; filled in, the last two may be alike.
        task["options"] = [
            [f"{letter} ", *_as_parts(draw(texts(names, 2, LINES)))] for letter in "ab"[: draw(st.integers(1, 2))]
        ] + ([["c", {"register": slot, "written": f"{{{slot}}}"}] for slot in names.slots[:2]] if draw(_flags) else [])
    return task


def _as_parts(text: Any) -> list[Any]:
    return [text] if isinstance(text, str) and text else list(text)


@st.composite
def readings(draw: st.DrawFn) -> Json:
    """Keywords, with or without a validation and keywords that are excused from it."""
    keywords = draw(st.lists(st.sampled_from(KEYWORDS), min_size=1, max_size=4, unique=True))
    reading: Json = {"keywords": keywords}
    if draw(_flags):
        reading["validation"] = draw(st.sampled_from(tuple(PATTERNS)))
        reading["excused"] = [keyword for keyword in keywords if draw(_rare)]
    return reading


@st.composite
def agents(draw: st.DrawFn, names: Names, *, has_keywords: bool) -> Json:
    """An agent of the common type or of another one."""
    task = {"kind": "agent", "agent": draw(st.sampled_from(("", "reviewer"))), "prompt": draw(texts(names, 4))}
    return {**task, "reading": draw(readings())} if has_keywords else task


@st.composite
def tools(draw: st.DrawFn, names: Names) -> Json:
    """A call whose arguments hold references within strings."""
    arguments: list[Any] = ['{"n": [1, null], "text": "']
    for _ in range(draw(st.integers(0, 2))):
        if names.counters or names.slots:
            reference = draw(references(names))
            # What an author puts around a value stands in the JSON as it is (I13), so it must be JSON's.
            arguments += [{key: value if key in {"register", "written"} else "~" for key, value in reference.items()}]
            arguments += [draw(st.sampled_from((" ", "\\n", "é", '", "more": "', "$(x) ${{ y }}")))]
    arguments = [*arguments, '"}'] if isinstance(arguments[-1], dict) else [*arguments[:-1], arguments[-1] + '"}']
    return {
        "kind": "tool",
        "connection": draw(st.sampled_from(("tracker", "mail-1"))),
        "tool": draw(st.sampled_from(("find", "a/b c"))),
        "arguments": arguments,
    }


@st.composite
def parallels(draw: st.DrawFn, names: Names) -> Json:
    """Agents with keywords, or agents without."""
    has_keywords = draw(_flags)
    entries = draw(st.lists(agents(names, has_keywords=has_keywords), min_size=1, max_size=3))
    task: Json = {"kind": "parallel", "entries": entries, "check": draw(st.sampled_from(("all", "any")))}
    if has_keywords:
        keywords = keywords_of(task)
        task["failing"] = [keyword for keyword in keywords if draw(_flags)]
        task["unanimous"] = [keyword for keyword in keywords if draw(_rare)]
    return task


@st.composite
def tasks(draw: st.DrawFn, names: Names, unit: str) -> Json:
    """A task of any kind."""
    weights = {"shell": 4, "agent": 4, "ask": 3, "tool": 2, "parallel": 2, "branch": 2, "gate": 1, "end": 1}
    kind = one(draw, weights)
    if kind == "shell":
        return draw(shells(names, unit))
    if kind == "agent":
        return draw(agents(names, has_keywords=draw(st.integers(0, 2)) > 0))
    if kind == "gate":
        return {"kind": "gate", "gate": draw(st.sampled_from(("release", "a b"))), "reason": draw(texts(names))}
    if kind == "end":
        return draw(ends(names))
    if kind == "branch":
        return {"kind": "branch"}
    others: dict[str, Callable[[Names], st.SearchStrategy[Json]]] = {"ask": asks, "tool": tools, "parallel": parallels}
    return draw(others[kind](names))


@st.composite
def ends(draw: st.DrawFn, names: Names) -> Json:
    """An end with a message."""
    return {"kind": "end", "result": draw(st.sampled_from(("complete", "stop"))), "message": draw(texts(names, 2))}


# --- Edges ------------------------------------------------------------------------------------------------------------


@st.composite
def register_tests(draw: st.DrawFn, names: Names) -> list[Json]:
    """Up to two tests of registers."""
    found: list[Json] = []
    for _ in range(draw(st.integers(0, 2))):
        if draw(_flags) and names.counters:
            operator = draw(st.sampled_from(("<", ">=", "=")))
            register = draw(st.sampled_from(names.counters))
            found.append({"kind": "counter", "register": register, "operator": operator, "value": draw(_small)})
        elif names.slots:
            operator, text = draw(st.sampled_from(("==", "!="))), draw(st.sampled_from(("", *NASTY)))
            found.append({"kind": "slot", "slot": draw(st.sampled_from(names.slots)), "operator": operator})
            found[-1]["text"] = text
    return found


@st.composite
def effects(draw: st.DrawFn, names: Names, task: Json) -> Json | None:
    """One effect; None where there is no register for it."""
    kinds = {"add": 3, "set": 1, "at_least": 1, "reset": 1} if names.counters else {}
    slots = {"keep": 6, "clear": 1} if words_of(task) else {"clear": 1}
    kind = one(draw, {"": 1, **kinds, **(slots if names.slots else {})})
    if kind == "reset":
        return {"kind": kind, "scope": draw(st.sampled_from(names.scopes))} if names.scopes else None
    if kind == "clear":
        return {"kind": kind, "slot": draw(st.sampled_from(names.slots))}
    if kind == "keep":
        return draw(keeps(names, task))
    if not kind:
        return None
    amount = draw(st.sampled_from(names.counters) if kind == "add" and draw(_rare) else _small)
    register = draw(st.sampled_from(names.counters))
    return {"kind": kind, "register": register, "amount" if kind == "add" else "value": amount}


@st.composite
def keeps(draw: st.DrawFn, names: Names, task: Json) -> Json:
    """Keep a value of a command, or an answer or a field of it."""
    found: Json = {"kind": "keep", "slot": draw(st.sampled_from(names.slots))}
    if task["kind"] == "shell":
        return {**found, "of": "value", "name": draw(st.sampled_from(VALUES))}
    if task["kind"] in {"agent", "tool", "parallel"} and draw(_flags):
        found["extract"] = draw(st.sampled_from(FIELDS))
    return found


@st.composite
def edges(draw: st.DrawFn, names: Names, task: Json, targets: tuple[str, ...]) -> list[Json]:
    """Edges of which some holds whatever happens: the last asks for nothing, or there is one for each word."""
    words = words_of(task)
    guards: list[list[Json]] = []
    for _ in range(draw(st.integers(0, 3))):
        asked = [{"kind": "outcome", "word": draw(st.sampled_from(words))}] if draw(_flags) and words else []
        guards.append([*asked, *draw(register_tests(names))])
    every = [[{"kind": "outcome", "word": word}] for word in words]
    guards += every if draw(_flags) and words else [[]]
    return [draw(edge(names, task, targets, guard)) for guard in guards]


@st.composite
def edge(draw: st.DrawFn, names: Names, task: Json, targets: tuple[str, ...], guard: list[Json]) -> Json:
    """An edge with this guard."""
    found = [draw(effects(names, task)) for _ in range(draw(st.integers(0, 3)))]
    target = draw(st.sampled_from(targets))
    return {"guard": guard, "effects": [each for each in found if each], "target": target}


@st.composite
def nodes(draw: st.DrawFn, names: Names, number: int) -> Json:
    """The node of this number; those behind it are its targets, and all of them if its task counts."""
    unit, last = names.ids[number], number == len(names.ids) - 1
    task = draw(ends(names) if last else tasks(names, unit))
    node: Json = {"id": unit, "title": draw(texts(names, 1)), "origin": ORIGIN, "task": task, "edges": []}
    later = names.ids[number + 1 :]
    if task["kind"] == "end":
        if not last and draw(_flags):
            node["edges"] = [draw(edge(names, task, later, []))]
        return node
    counts = task["kind"] not in {"gate", "branch"}
    # Going on by one is likeliest: so more is done before an end.
    onward = (*later[:1] * 4, *later)
    targets = (*onward, *names.ids[: number + 1]) if counts and draw(_flags) else onward
    node["edges"] = draw(edges(names, task, targets))
    if draw(_flags) and counts and names.counters:
        node["retries"] = draw(st.sampled_from(names.counters))
    if task["kind"] in {"shell", "agent", "tool", "parallel"}:
        chosen = draw(st.lists(st.sampled_from(VARIABLES), max_size=2, unique=True))
        registers = (*names.slots, *names.counters)
        if registers:
            node["variables"] = [{"name": name, "register": draw(st.sampled_from(registers))} for name in chosen]
    return node


# --- Programs ---------------------------------------------------------------------------------------------------------


@st.composite
def inputs(draw: st.DrawFn, name: str) -> tuple[Json, str | None]:
    """A declared input, and what it is given; None for nothing."""
    kind = draw(st.sampled_from(("string", "text", "number", "boolean", "choice")))
    options = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=3, unique=True))
    values = {
        "string": st.sampled_from(LINES),
        "text": _nasty,
        "number": st.sampled_from(("0", "-1.50", "007", "12345678901234567890")),
        "boolean": st.sampled_from(("true", "false")),
        "choice": st.sampled_from(options),
    }[kind]
    found: Json = {"name": name, "type": kind, "description": draw(st.sampled_from(LINES))}
    if kind == "choice":
        found["options"] = options
    if draw(_flags):
        found["default"] = draw(values)
    if draw(_rare):
        found["pattern"] = "(?s).*"
    found["required"] = draw(_flags)
    may_lack = "default" in found or not found["required"]
    return found, None if may_lack and draw(_flags) else draw(values)


@st.composite
def cases(draw: st.DrawFn, most: int = 8) -> Case:
    """Whole cases."""
    number = draw(st.integers(2, most))
    ids = draw(st.lists(st.sampled_from(IDS), min_size=number, max_size=number, unique=True))
    counters = tuple(f"c {number}" for number in range(draw(st.integers(0, 3))))
    scopes = {counter: draw(st.sampled_from(SCOPES)) for counter in counters}
    given = {name: draw(inputs(name)) for name in INPUTS[: draw(st.integers(0, 2))]}
    own = tuple(f"s {number}" for number in range(draw(st.integers(0, 2))))
    enclosing = {scope.split("/")[0] for scope in scopes.values()} | set(scopes.values())
    names = Names(tuple(ids), counters, (*given, *own), tuple(sorted(enclosing - {""})))
    found = [draw(nodes(names, number)) for number in range(len(ids))]
    program: Json = {
        "name": "program",
        "title": draw(st.sampled_from(LINES)),
        "sources": [{"path": "p.json", "sha256": "0" * 64}],
        "entry": ids[0],
        "nodes": found,
        "registers": [{"name": name, "scope": scopes[name], "initial": draw(_small)} for name in counters],
        "slots": [*({"name": name} for name in given), *[draw(slots(name)) for name in own]],
        "inputs": [declared for declared, _ in given.values()],
    }
    if draw(_flags) or goes_back(found):
        program["limit"] = draw(st.integers(1, 10))
    if draw(_rare):
        program["groups"] = [draw(groups())]
        for node in found[:2]:
            node["group"] = program["groups"][0]["id"]
    values = {name: value for name, (_, value) in given.items() if value is not None}
    return Case(program, values, {node["id"]: draw(replies(node)) for node in found if words_of(node["task"])})


@st.composite
def slots(draw: st.DrawFn, name: str) -> Json:
    """A slot that is unset at first, or is not."""
    return {"name": name, "initial": draw(_nasty)} if draw(_flags) else {"name": name}


@st.composite
def groups(draw: st.DrawFn) -> Json:
    """A frame around the first nodes."""
    title, prompt = draw(st.sampled_from(LINES)), draw(_nasty)
    return {"id": "g", "title": title, "prompt": prompt, "kind": "step", "parent": "", "origin": ORIGIN}


def goes_back(nodes: list[Json]) -> bool:
    """Whether an edge leads to its own node or to one before it."""
    order = {node["id"]: number for number, node in enumerate(nodes)}
    return any(order[edge["target"]] <= order[node["id"]] for node in nodes for edge in node["edges"])
