"""A loop as one step: a small dispatcher in bash over just the units of the loop.

Texts of the document reach the script as environment variables only; what stands in the script itself are names that
`identifiers` has made, numbers, and comments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from backends.github.names import Names
from backends.github.places import Place
from backends.github.question import question, text_of
from backends.github.scalar import comment
from backends.github.templating import render
from compiler.ir.placeholders import occurs
from compiler.ir.program import (
    Add,
    Ask,
    AtLeast,
    CounterTest,
    Edge,
    Effect,
    End,
    Node,
    OutcomeTest,
    Register,
    Reset,
    Set,
    Shell,
    Variable,
    Verdict,
)

_OPERATORS = {"<": "<", ">=": ">=", "=": "=="}
_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Loop:
    """What a loop needs besides its nodes.

    `counters` are those that it has to follow, `members` what each scope resets, `start` how each counter and the first
    unit begin (a number, an identifier or an environment variable), `reports` the counters that later steps read.
    """

    place: Place
    names: Names
    counters: tuple[Register, ...]
    members: Mapping[str, tuple[Register, ...]]
    start: Mapping[str, str]
    reports: tuple[str, ...]
    journal: bool
    asking: str
    last_line: bool
    resumable: bool


def script(loop: Loop) -> str:
    """The bash script of a loop."""
    step = loop.names.nodes[loop.place.name]
    lines = [*_functions(loop), *(f"{name}={value}" for name, value in loop.start.items()), "next="]
    if any(isinstance(node.task, End) for node in loop.place.nodes):
        lines.append("message=")
    if loop.resumable:
        kept = f'"$RUNNER_TEMP/rdc/{step}"'
        lines += ["# A run that had to wait goes on where it stood.", f"[ -f {kept} ] && . {kept}"]
    lines += ['while [ -z "$next" ]; do', f"{_INDENT}case $unit in"]
    for node in loop.place.nodes:
        lines += [_INDENT * 2 + line for line in _arm(loop, node)]
    lines += [f"{_INDENT}esac", "done", *_farewell(loop, step)]
    return "\n".join(lines) + "\n"


def environment(loop: Loop) -> dict[str, str]:
    """The texts of the document that a loop's script works with, by variable."""
    texts: dict[str, str] = {}
    for node in loop.place.nodes:
        name = loop.names.nodes[node.id]
        if isinstance(node.task, Shell):
            texts[f"COMMAND_{name}"] = node.task.command
        elif isinstance(node.task, Ask):
            texts |= {f"UNIT_{name}": node.id, f"PROMPT_{name}": question(node, last_line=loop.last_line)}
        elif isinstance(node.task, End):
            texts[f"MESSAGE_{name}"] = " ".join(node.task.message.split())
    return texts


def _functions(loop: Loop) -> list[str]:
    kinds = {type(node.task) for node in loop.place.nodes}
    text = render(
        "loop.sh.jinja",
        commands=Shell in kinds,
        asking=loop.asking if Ask in kinds else "",
        placeholders=any(_placeholders(node) for node in loop.place.nodes),
        mark=f"$'\\{ord(_free_character(loop)):03o}'",
        journal=loop.journal,
        numbers=sorted(_variables(loop.place.nodes)),
    )
    return text.splitlines()


def _free_character(loop: Loop) -> str:
    """A character that no text of the loop has, to stand in for what must not be replaced."""
    used = set("".join(environment(loop).values()))
    return next(chr(code) for code in range(1, 32) if chr(code) not in used)


def _variables(nodes: Iterable[Node]) -> set[str]:
    return {variable.name for node in nodes for variable in node.variables}


def _arm(loop: Loop, node: Node) -> Iterator[str]:
    """What the loop does when it stands at a node."""
    name = loop.names.nodes[node.id]
    says = ". ".join(filter(None, (node.id, node.title)))
    yield f"{name}) # {comment(says, 100)}"
    match node.task:
        case Shell(interpreter):
            yield f"{_INDENT}{_given(loop, node)}run {interpreter} {_filled(loop, f'COMMAND_{name}', node)}"
        case Ask():
            prompt = _filled(loop, f"PROMPT_{name}", node)
            yield f'{_INDENT}{_given(loop, node)}ask "$UNIT_{name}" {prompt} || break'
        case End():
            yield f"{_INDENT}message={_filled(loop, f'MESSAGE_{name}', node)}"
            yield f"{_INDENT}next={name}"
        case _:
            yield from (_INDENT + line for line in _choice(loop, node.edges))
    if isinstance(node.task, (Shell, Ask)):
        yield from (_INDENT + line for line in _ways(loop, node))
    yield f"{_INDENT};;"


def _ways(loop: Loop, node: Node) -> Iterator[str]:
    """How a loop goes on after a unit, by its outcome."""
    ways = {verdict: [edge for edge in node.edges if _may_follow(edge, verdict)] for verdict in Verdict}
    if ways[Verdict.PASS] == ways[Verdict.FAIL]:
        yield from _choice(loop, ways[Verdict.PASS])
        return
    yield "case $outcome in"
    for verdict, edges in ways.items():
        lines = list(_choice(loop, edges))
        if len(lines) == 1:
            yield f"{_INDENT}{verdict.value}) {lines[0]} ;;"
            continue
        yield f"{_INDENT}{verdict.value})"
        yield from (_INDENT * 2 + line for line in lines)
        yield f"{_INDENT * 2};;"
    yield "esac"


def _may_follow(edge: Edge, verdict: Verdict) -> bool:
    return all(test.verdict is verdict for test in edge.guard if isinstance(test, OutcomeTest))


def _given(loop: Loop, node: Node) -> str:
    """The assignments before the command of a unit (M4)."""
    given = [f"{variable.name}=${loop.names.counters[variable.register]} " for variable in node.variables]
    if node.retries:
        given.append(f"RDC_ATTEMPT=$(({loop.names.counters[node.retries]} + 1)) ")
    return "".join(given)


def _filled(loop: Loop, variable: str, node: Node) -> str:
    """A text from the environment, with the numbers of the instances for its placeholders (M5)."""
    found = _placeholders(node)
    if not found:
        return f'"${variable}"'
    pairs = " ".join(f"'{item.placeholder}' \"${loop.names.counters[item.register]}\"" for item in found)
    return f'"$(filled "${variable}" {pairs})"'


def _placeholders(node: Node) -> list[Variable]:
    return [item for item in node.variables if item.placeholder and occurs(item.placeholder, text_of(node))]


def _choice(loop: Loop, edges: Iterable[Edge]) -> Iterator[str]:
    """The lines that take the first edge whose counters are as its guard says."""
    branches: list[tuple[str, list[str]]] = []
    for edge in edges:
        tests = [test for test in edge.guard if isinstance(test, CounterTest)]
        condition = " && ".join(_test(loop, test) for test in tests)
        lines = _way(loop, edge)
        if branches and branches[-1][1] == lines and condition:
            branches[-1] = (f"{branches[-1][0]} || {condition}", lines)
        else:
            branches.append((condition, lines))
        if not condition:
            break
    if len(branches) == 1:
        yield from branches[0][1]
        return
    for index, (condition, lines) in enumerate(branches):
        word = (
            "else"
            if not condition or index == len(branches) - 1
            else f"{'elif' if index else 'if'} (({condition})); then"
        )
        yield word
        yield from (_INDENT + line for line in lines)
    yield "fi"


def _test(loop: Loop, test: CounterTest) -> str:
    return f"{loop.names.counters[test.register]} {_OPERATORS[test.operator]} {test.value}"


def _way(loop: Loop, edge: Edge) -> list[str]:
    own = {node.id for node in loop.place.nodes}
    followed = {register.name for register in loop.counters}
    lines = [line for effect in edge.effects for line in _effect(loop, effect, followed)]
    return [*lines, f"{'unit' if edge.target in own else 'next'}={loop.names.nodes[edge.target]}"]


def _effect(loop: Loop, effect: Effect, followed: set[str]) -> list[str]:
    if isinstance(effect, Reset):
        found = [register for register in loop.members.get(effect.scope, ()) if register.name in followed]
        return [f"{loop.names.counters[register.name]}={register.initial}" for register in found]
    if effect.register not in followed:
        return []
    name = loop.names.counters[effect.register]
    match effect:
        case Set(_, value):
            return [f"{name}={value}"]
        case Add(_, amount):
            return [f"{name}=$(({name} + {loop.names.counters[amount] if isinstance(amount, str) else amount}))"]
        case AtLeast(_, value):
            return [f"(({name} < {value})) && {name}={value}"]


def _farewell(loop: Loop, step: str) -> Iterator[str]:
    message = ["message"] if any(isinstance(node.task, End) for node in loop.place.nodes) else []
    if loop.resumable:
        kept = " ".join(["unit", "next", *message, *(loop.names.counters[register.name] for register in loop.counters)])
        yield f'declare -p {kept} > "$RUNNER_TEMP/rdc/{step}"'
    yield "{"
    for name in ("next", *(loop.names.counters[name] for name in loop.reports), *message):
        yield f'  echo "{name}=${name}"'
    yield '} >> "$GITHUB_OUTPUT"'
