"""Random valid programs over every task, test and effect, and replies for their steps. Each path ends.

A node leads forward, or, if it has a task that counts, anywhere; then the program has a limit (I24). So nodes without
a task never lead back to each other (I2), and no gate goes on forever.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from hypothesis import strategies as st

from compiler.ir.features import Feature
from tests.differential.case import NOWHERE, OWN, Case, Json
from tests.differential.generate import Chance, flag, number, pick, picks, rarely
from tests.differential.generate.replies import draw_reports, replies
from tests.differential.oracles.answers import keywords_of, words_of
from tests.support.hostile_texts import FIELDS, IDS, KEYWORDS, LINES, NASTY, PATTERNS
from tests.support.program_json import ORIGIN

COMMAND = f'"$YARDSTICK_PYTHON" -I -S "$YARDSTICK/stub.py{OWN}" shell '
"""What the command of a shell begins with; its step, quoted, and references to counters follow."""

ALL = frozenset(Feature)
SCOPES = ("", "1", "1/a", "1a")
NEEDS = {"agent": {Feature.AGENTS}, "tool": {Feature.TOOLS}, "parallel": {Feature.PARALLEL}, "gate": {Feature.GATES}}
"""What a target must carry for a kind of task."""

KINDS = ("markdown", "json", "html_css", "")
"""Types of what a run leaves; "" stands for any text."""

VALUES = ("version", "NOTE", "x_1")
TIMEOUT = 4
"""Seconds: a call that does not hang must never take so long, however slow the machine is."""

VARIABLES = ("FIRST", "second_1", "NOTE")
WANTED: tuple[Json, ...] = (
    {},
    {"pattern": "[a-z].*"},
    {"type": "number"},
    {"type": "choice", "options": ["$(touch x)", "two words", "5'"]},
)
"""The checks of values."""
INPUTS = ("project", "Issue_1", "body")


@dataclass(frozen=True)
class Known:
    """What the nodes of a program may name."""

    ids: tuple[str, ...]
    counters: tuple[str, ...]
    slots: tuple[str, ...]
    scopes: tuple[str, ...]
    carried: frozenset[Feature] = ALL
    """What the programs may use."""
    contexts: tuple[str, ...] = ()


def one(draw: st.DrawFn, weights: dict[str, int]) -> str:
    """One of some words, by weight; the first is the simplest."""
    return pick(draw, [word for word, weight in weights.items() for _ in range(weight)])


def texts(draw: st.DrawFn, known: Known, most: int = 3, strings: tuple[str, ...] = NASTY) -> Any:
    """A text: a string, or a row of strings and references to counters and slots (I6)."""
    parts: list[Any] = []
    for _ in range(number(draw, 0, most)):
        if flag(draw) and (known.counters or known.slots):
            parts.append(references(draw, known))
        elif parts and isinstance(parts[-1], str):
            parts[-1] += pick(draw, strings)
        else:
            parts.append(pick(draw, strings))
    if all(isinstance(part, str) for part in parts):
        return "".join(parts)
    return parts


def references(draw: st.DrawFn, known: Known) -> Json:
    register = pick(draw, [*known.slots, *known.counters])
    found = {"register": register, "written": pick(draw, ("{{x}}", "{N}", ""))}
    for key in ("missing", "before", "after") if Feature.TEXTS in known.carried else ():
        if flag(draw):
            found[key] = pick(draw, NASTY)
    return found


# --- Tasks ------------------------------------------------------------------------------------------------------------


def shells(draw: st.DrawFn, known: Known, step: str) -> Json:
    """A command, which calls the script with its step and counters."""
    counters = picks(draw, known.counters, 0, 2) if known.counters else []
    quoted = "'" + step.replace("'", "'\\''") + "'"
    command: list[Any] = [COMMAND + quoted]
    for counter in counters:
        command[-1:] = [*command[-1:], " "] if isinstance(command[-1], dict) else [command[-1] + " "]
        command.append({"register": counter, "written": "{N}"})
    return {
        "kind": "shell",
        "interpreter": pick(draw, ("sh", "bash")),
        "command": command,
        "prompt": texts(draw, known, 1),
    }


def asks(draw: st.DrawFn, known: Known) -> Json:
    questions = ("pass_fail", "yes_no", "confirm", "input", "select", "value")
    question = pick(draw, questions if Feature.REPLIES in known.carried else questions[:2])
    task: Json = {"kind": "ask", "question": question, "prompt": texts(draw, known)}
    if rarely(draw):
        task |= {"block": texts(draw, known, 2), "language": pick(draw, ("", "json"))}
    if question == "value":
        task["value"] = {"name": pick(draw, VARIABLES), **pick(draw, WANTED)}
    if question in questions[:2] and Feature.CHECKLISTS in known.carried and flag(draw):
        task["items"] = [["item ", *_as_parts(texts(draw, known, 2, LINES))] for _ in range(number(draw, 1, 3))]
    if question == "select":
        # Each has something of its own, so that all differ as written; filled in, the last two may be alike.
        task["options"] = [
            [f"{letter} ", *_as_parts(texts(draw, known, 2, LINES))] for letter in "ab"[: number(draw, 1, 2)]
        ] + ([["c", {"register": slot, "written": f"{{{slot}}}"}] for slot in known.slots[:2]] if flag(draw) else [])
    return task


def _as_parts(text: Any) -> list[Any]:
    return [text] if isinstance(text, str) and text else list(text)


def readings(draw: st.DrawFn) -> Json:
    """Keywords, with or without a validation and keywords that are excused from it."""
    keywords = picks(draw, KEYWORDS, 1, 4)
    reading: Json = {"keywords": keywords}
    if flag(draw):
        reading["validation"] = pick(draw, tuple(PATTERNS))
        reading["excused"] = [keyword for keyword in keywords if rarely(draw)]
    return reading


def agents(draw: st.DrawFn, known: Known, *, has_keywords: bool) -> Json:
    """An agent of the common type or of another one."""
    task = {"kind": "agent", "agent": pick(draw, ("", "reviewer")), "prompt": texts(draw, known, 4)}
    if known.contexts and flag(draw):
        task["context"] = pick(draw, known.contexts)
    if not has_keywords:
        return task
    reading = readings(draw)
    return {**task, "reading": {**reading, "failing": [word for word in reading["keywords"] if rarely(draw)]}}


def tools(draw: st.DrawFn, known: Known) -> Json:
    """A call whose arguments hold references within strings."""
    arguments: list[Any] = ['{"n": [1, null], "text": "']
    for count in range(number(draw, 0, 2)):
        if known.counters or known.slots:
            register = pick(draw, [*known.slots, *known.counters])
            arguments += [{"register": register, "written": "{{x}}", "missing": pick(draw, ("", "~", '"\n'))}]
            arguments += [pick(draw, (" ", "\\n", "é", f'", "more {count}": "', "$(x) ${{ y }}"))]
    arguments = [*arguments, '"}'] if isinstance(arguments[-1], dict) else [*arguments[:-1], arguments[-1] + '"}']
    task: Json = {
        "kind": "tool",
        "connection": pick(draw, ("tracker", "mail-1")),
        "tool": pick(draw, ("find", "a/b c")),
        "arguments": arguments,
    }
    if Feature.OPTIONAL_TOOLS in known.carried and rarely(draw, 4):
        task |= {"optional": True, "connection": pick(draw, (task["connection"], NOWHERE))}
    return task


def parallels(draw: st.DrawFn, known: Known) -> Json:
    has_keywords = flag(draw) and Feature.KEYWORDS in known.carried
    entries = [agents(draw, known, has_keywords=has_keywords) for _ in range(number(draw, 1, 3))]
    task: Json = {"kind": "parallel", "entries": entries, "check": pick(draw, ("all", "any"))}
    if has_keywords:
        keywords = keywords_of(task)
        task["failing"] = [keyword for keyword in keywords if flag(draw)]
        shared = set(keywords).intersection(*(entry["reading"]["keywords"] for entry in entries))
        task["unanimous"] = [keyword for keyword in keywords if keyword in shared and rarely(draw)]
    return task


def tasks(draw: st.DrawFn, known: Known, step: str) -> Json:
    weights = {"shell": 4, "agent": 4, "ask": 5, "tool": 3, "parallel": 3, "branch": 2, "gate": 1, "end": 1}
    kind = one(draw, {kind: weight for kind, weight in weights.items() if NEEDS.get(kind, set()) <= known.carried})
    if kind == "shell":
        return shells(draw, known, step)
    if kind == "agent":
        return agents(draw, known, has_keywords=number(draw, 0, 2) > 0 and Feature.KEYWORDS in known.carried)
    if kind == "gate":
        return {"kind": "gate", "gate": pick(draw, ("release", "a b")), "reason": texts(draw, known)}
    if kind == "end":
        return ends(draw, known)
    if kind == "branch":
        return {"kind": "branch"}
    others: dict[str, Callable[[st.DrawFn, Known], Json]] = {"ask": asks, "tool": tools, "parallel": parallels}
    return others[kind](draw, known)


def ends(draw: st.DrawFn, known: Known) -> Json:
    return {"kind": "end", "result": pick(draw, ("complete", "stop")), "message": texts(draw, known, 2)}


# --- Edges ------------------------------------------------------------------------------------------------------------


def register_tests(draw: st.DrawFn, known: Known) -> list[Json]:
    found: list[Json] = []
    for _ in range(number(draw, 0, 2)):
        if flag(draw) and known.counters:
            operator = pick(draw, ("<", ">=", "="))
            register = pick(draw, known.counters)
            found.append({"kind": "counter", "register": register, "operator": operator, "value": number(draw, -1, 4)})
        elif known.slots:
            operator, text = pick(draw, ("==", "!=")), pick(draw, ("", *NASTY))
            found.append({"kind": "slot", "slot": pick(draw, known.slots), "operator": operator})
            found[-1]["text"] = text
    return found


def effects(draw: st.DrawFn, known: Known, task: Json) -> Json | None:
    """One effect; None where there is no register for it."""
    kinds = {"add": 3, "set": 1, "at_least": 1, "reset": 1} if known.counters else {}
    gives = words_of(task) and (task["kind"] != "shell" or Feature.OUTPUTS in known.carried)
    slots = {"keep": 6, "clear": 1} if gives else {"clear": 1}
    kind = one(draw, {"": 1, **kinds, **(slots if known.slots else {})})
    if kind == "reset":
        return {"kind": kind, "scope": pick(draw, known.scopes)} if known.scopes else None
    if kind == "clear":
        return {"kind": kind, "slot": pick(draw, known.slots)}
    if kind == "keep":
        return keeps(draw, known, task)
    if not kind:
        return None
    by_counter = kind == "add" and rarely(draw)
    amount = pick(draw, known.counters) if by_counter else number(draw, -1, 4)
    register = pick(draw, known.counters)
    return {"kind": kind, "register": register, "amount" if kind == "add" else "value": amount}


def keeps(draw: st.DrawFn, known: Known, task: Json) -> Json:
    """Keep a value of a command, or an answer or a field of it."""
    found: Json = {"kind": "keep", "slot": pick(draw, known.slots)}
    if task["kind"] == "shell":
        return {**found, "of": "output", "name": pick(draw, VALUES)}
    if task["kind"] in {"agent", "tool", "parallel"} and flag(draw) and Feature.EXTRACTS in known.carried:
        found["extract"] = pick(draw, FIELDS)
    return found


def edges(draw: st.DrawFn, known: Known, task: Json, targets: tuple[str, ...]) -> list[Json]:
    """Edges of which some holds whatever happens: the last asks for nothing, or there is one for each word."""
    words = words_of(task)
    guards: list[list[Json]] = []
    for _ in range(number(draw, 0, 3)):
        asked = [{"kind": "outcome", "word": pick(draw, words)}] if flag(draw) and words else []
        guards.append([*asked, *register_tests(draw, known)])
    every = [[{"kind": "outcome", "word": word}] for word in words]
    guards += every if flag(draw) and words else [[]]
    return [drawn_edge(draw, known, task, targets, guard) for guard in guards]


def drawn_edge(draw: st.DrawFn, known: Known, task: Json, targets: tuple[str, ...], guard: list[Json]) -> Json:
    found = [effects(draw, known, task) for _ in range(number(draw, 0, 3))]
    target = pick(draw, targets)
    return {"guard": guard, "effects": [each for each in found if each], "target": target}


def nodes(draw: st.DrawFn, known: Known, place: int) -> Json:
    """The node at this place; those behind it are its targets, and all of them if its task counts."""
    step, last = known.ids[place], place == len(known.ids) - 1
    task = ends(draw, known) if last else tasks(draw, known, step)
    node: Json = {"id": step, "title": texts(draw, known, 1), "origin": ORIGIN, "task": task, "edges": []}
    later = known.ids[place + 1 :]
    if task["kind"] == "end":
        if not last and flag(draw):
            node["edges"] = [drawn_edge(draw, known, task, later, [])]
        return node
    counts = task["kind"] not in {"gate", "branch"}
    may_go_back = counts and Feature.LIMITS in known.carried
    # Going on by one is likeliest: so more is done before an end.
    onward = (*later[:1] * 4, *later)
    targets = (*onward, *known.ids[: place + 1]) if may_go_back and flag(draw) else onward
    node["edges"] = edges(draw, known, task, targets)
    if flag(draw) and counts and known.counters:
        node["retries"] = pick(draw, known.counters)
    if task["kind"] in {"shell", "agent", "tool", "parallel"}:
        add_settings(draw, known, node)
    elif task["kind"] in {"ask", "gate"} and Feature.EXPIRY in known.carried and rarely(draw, 25):
        node["settings"] = {"expire": 3600}
    return node


def add_settings(draw: st.DrawFn, known: Known, node: Json) -> None:
    """Variables for what the task of a node calls, rarely a timeout, and a delay before each attempt but the first."""
    registers = (*known.slots, *known.counters)
    if registers:
        chosen = picks(draw, VARIABLES, 0, 2)
        node["variables"] = [{"name": name, "register": pick(draw, registers)} for name in chosen]
    # What becomes of a parallel step of which one entry is late is not settled (I14, I21).
    if node["task"]["kind"] != "parallel" and Feature.TIMEOUTS in known.carried and rarely(draw, 25):
        node["settings"] = {"timeout": TIMEOUT}
    elif Feature.DELAYS in known.carried and rarely(draw, 40):
        node["settings"] = {"delay": 1, "backoff": number(draw, 1, 2)}


# --- Programs ---------------------------------------------------------------------------------------------------------


def inputs(draw: st.DrawFn, name: str) -> tuple[Json, str | None]:
    """A declared input, and what it is given; None for nothing."""
    kind = pick(draw, ("string", "text", "number", "boolean", "choice"))
    options = picks(draw, LINES, 1, 3)
    values = {
        "string": LINES,
        "text": NASTY,
        "number": ("0", "-1.50", "007", "12345678901234567890"),
        "boolean": ("true", "false"),
        "choice": options,
    }[kind]
    found: Json = {"name": name, "type": kind, "description": pick(draw, LINES)}
    if kind == "choice":
        found["options"] = options
    if flag(draw):
        found["default"] = pick(draw, values)
    if rarely(draw):
        found["pattern"] = "(?s).*"
    found["required"] = flag(draw)
    may_lack = "default" in found or not found["required"]
    return found, None if may_lack and flag(draw) else pick(draw, values)


def random_case(seed: int, carried: frozenset[Feature] = ALL) -> Case:
    """A case by chance alone."""
    return _case(cast("st.DrawFn", Chance(seed)), carried)


@st.composite
def cases(draw: st.DrawFn, carried: frozenset[Feature] = ALL, most: int = 8) -> Case:
    """Whole cases for a target that carries so much."""
    return _case(draw, carried, most)


def _case(draw: st.DrawFn, carried: frozenset[Feature] = ALL, most: int = 8) -> Case:
    ids = picks(draw, IDS, 2, most)
    counters = tuple(f"c {count}" for count in range(number(draw, 0, 3)))
    scopes = {counter: pick(draw, SCOPES) for counter in counters}
    has_texts, has_inputs = Feature.TEXTS in carried, {Feature.TEXTS, Feature.INPUTS} <= carried
    given = {name: inputs(draw, name) for name in INPUTS[: number(draw, 0, 2) * has_inputs]}
    own = tuple(f"s {count}" for count in range(number(draw, 0, 2) * has_texts))
    enclosing = {scope.split("/")[0] for scope in scopes.values()} | set(scopes.values())
    above = tuple(f"up to {count}" for count in range(number(draw, 0, 2) * (Feature.CONTEXTS in carried)))
    known = Known(tuple(ids), counters, (*given, *own), tuple(sorted(enclosing - {""})), carried, above)
    found = [nodes(draw, known, count) for count in range(len(ids))]
    program: Json = {
        "name": "program",
        "title": pick(draw, LINES),
        "sources": [{"path": "p.json", "sha256": "0" * 64}],
        "entry": ids[0],
        "nodes": found,
        "registers": [{"name": name, "scope": scopes[name], "initial": number(draw, -1, 4)} for name in counters],
        "slots": [*({"name": name} for name in given), *[slots(draw, name) for name in own]],
        "inputs": [declared for declared, _ in given.values()],
    }
    if above:
        program["contexts"] = [contexts(draw, known, place) for place in range(len(above))]
    if known.slots and Feature.ARTIFACTS in carried and flag(draw):
        program["artifact"] = {"slot": pick(draw, known.slots), "type": pick(draw, KINDS) or texts(draw, known, 2)}
    if Feature.LIMITS in carried and (flag(draw) or goes_back(found)):
        program["limit"] = number(draw, 1, 10)
    if rarely(draw):
        program["groups"] = groups(draw)
        for node, group in zip(found, ("h", "h", "g"), strict=False):
            node["group"] = group
            for edge in node["edges"]:
                settle(draw, edge, ("h", "g")[group == "g" :])
    if Feature.REPORTS in carried:
        draw_reports(draw, program)
    values = {name: value for name, (_, value) in given.items() if value is not None}
    return Case(program, values, {node["id"]: replies(draw, node) for node in found if words_of(node["task"])})


def contexts(draw: st.DrawFn, known: Known, place: int) -> Json:
    found: Json = {"name": known.contexts[place], "text": texts(draw, known)}
    if place and flag(draw):
        found["after"] = known.contexts[number(draw, 0, place - 1)]
    return found


def slots(draw: st.DrawFn, name: str) -> Json:
    """A slot that is unset at first, or is not."""
    return {"name": name, "initial": pick(draw, NASTY)} if flag(draw) else {"name": name}


def groups(draw: st.DrawFn) -> list[Json]:
    """A frame around the first nodes, and one inside it."""
    title, prompt = pick(draw, LINES), pick(draw, NASTY)
    outer = {"id": "g", "title": title, "prompt": prompt, "kind": "step", "parent": "", "origin": ORIGIN}
    return [outer, {**outer, "id": "h", "parent": "g"}]


def settle(draw: st.DrawFn, edge: Json, around: Sequence[str]) -> None:
    """Let an edge settle some of the groups around its node, or none, inner ones first (I33)."""
    if settled := [{"step": group, "word": pick(draw, ("pass", "fail"))} for group in around if flag(draw)]:
        edge["settles"] = settled


def goes_back(nodes: list[Json]) -> bool:
    """Whether an edge leads to its own node or to one before it."""
    order = {node["id"]: number for number, node in enumerate(nodes)}
    return any(order[edge["target"]] <= order[node["id"]] for node in nodes for edge in node["edges"])
