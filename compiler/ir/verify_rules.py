"""The verifier's rule about declared rules, and about the outcomes of steps with other steps inside (I33)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from compiler.diagnostics.model import Issue
from compiler.ir.edges import Edge
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import IDLE, Ask, Gate, Verdict, alphabet

_VERDICTS = frozenset(verdict.value for verdict in Verdict)
_ENDS = frozenset({"complete", "stop"})

_Parents = Mapping[str, str]


def rule_issues(program: Program) -> Iterator[Issue]:
    """Check which outcomes edges settle, and the names and words in the program's rules (I33)."""
    parents: dict[str, str] = {}
    for group in program.groups:  # a group that comes before its parent is an issue of another rule (I4)
        parents.setdefault(group.id, group.parent if group.parent in parents else "")
    for place, node in enumerate(program.nodes):
        for number, edge in enumerate(node.edges):
            if edge.settles:
                path = ("nodes", place, "edges", number, "settles")
                yield from (Issue(path, problem) for problem in _settled(edge, node.group, parents))
    if program.rules:
        yield from _declared(program, parents)


def _settled(edge: Edge, group: str, parents: _Parents) -> Iterator[str]:
    """Yield what is wrong with the outcomes that an edge of a node in a group settles."""
    inside = group
    for settled in edge.settles:
        if settled.word not in _VERDICTS:
            yield f"a settled outcome is `pass` or `fail`, not `{settled.word}`"
        while inside and inside != settled.step:
            inside = parents.get(inside, "")
        if not inside:
            yield f"the edge settles {settled.step}, which isn't a group around its node and around the one before"
            return
        inside = parents.get(inside, "")


def _declared(program: Program, parents: _Parents) -> Iterator[Issue]:
    words: dict[str, frozenset[str]] = {"": _ENDS} | dict.fromkeys(parents, _VERDICTS)
    for node in program.nodes:
        own = frozenset(alphabet(node.task)) | (frozenset() if type(node.task) in IDLE else {""})
        words[node.id] = words.get(node.id, frozenset()) | own
    asked = {node.id for node in program.nodes if isinstance(node.task, Ask | Gate)}
    names: set[str] = set()
    for place, rule in enumerate(program.rules):
        about = f"the rule {rule.name}"
        problems = [*_unknown(rule, words)]
        if rule.name in names:
            problems.append("has the name of another one")
        if rule.scope and rule.scope not in parents:
            problems.append(f"belongs to {rule.scope}, which isn't a group")
        problems += [f"needs a person at {step}, which asks no one" for step in rule.persons if step not in asked]
        if rule.most is not None and rule.most < 0:
            problems.append("has a count below 0")
        names.add(rule.name)
        yield from (Issue(("rules", place), f"{about} {problem}") for problem in problems)


def _unknown(rule: Rule, words: Mapping[str, frozenset[str]]) -> Iterator[str]:
    for event in (*rule.guards, *rule.opens, *rule.closes):
        if event.word not in words.get(event.step, frozenset()):
            yield f"names {_shown(event)}, which can't happen"


def _shown(event: Event) -> str:
    return f"the outcome {event.word} of {event.step or 'the run'}" if event.word else f"a start of {event.step}"
