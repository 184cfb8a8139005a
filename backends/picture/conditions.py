"""The guards of edges in words."""

from collections.abc import Sequence
from typing import assert_never

from backends.picture.naming import Naming, Phrase, Term, between, one_line
from compiler.ir.edges import (
    Add,
    AtLeast,
    CounterEffect,
    CounterTest,
    Edge,
    OutcomeTest,
    Set,
    SlotTest,
    Test,
    counter_effects,
)
from compiler.ir.program import Counter
from compiler.ir.tasks import Verdict
from compiler.text.durations import spoken
from compiler.text.regex import Regex

MOST_NAMED = 6  # the most steps in one condition; of more steps, the first and the last are named

PAST = {Verdict.PASS.value: "worked", Verdict.FAIL.value: "failed"}

_MARKER = Regex("^elif | [!=]= ")
_PLAIN = {"elif ": "or if ", " == ": " is ", " != ": " is not "}
"""Parts of conditions of branches in words."""


def retry_limit(edge: Edge, names: Naming) -> int | None:
    """Return how often a RETRY edge may be taken, or None for an edge that doesn't count and test retries."""
    if not edge.effects:  # true for most edges
        return None
    for test in edge.guard:
        if test.kind != "counter" or test.operator != "<" or Add(test.register, 1) not in edge.effects:
            continue
        if names.counter(test.register).role == "retries":
            return test.value
    return None


def action(edge: Edge, names: Naming, group: str) -> Phrase:
    """Return what an edge does besides its destination, as its author wrote it: `RETRY 3`, `NEXT {N}`."""
    if not edge.effects:
        return ()
    counted = [_counted(effect, names) for effect in counter_effects(edge.effects)]  # boxes show slots
    return between(" · ", [_own_action(edge, names, group), *counted])


def _own_action(edge: Edge, names: Naming, group: str) -> Phrase:
    limit = retry_limit(edge, names)
    if limit is not None:
        step = names.stepspec.steps.get(group)  # with a contract, no one wrote RETRY (I32)
        again = f"again, {'once' if limit == 1 else f'up to {limit} times'}"
        if step is None:
            return (Term(f"RETRY {limit}", again),)
        return (Term(step.retried(), f"{again}, after {spoken(step.delay)}" if step.delay else again),)
    added = [names.counter(e.register) for e in edge.effects if e.kind == "add" and isinstance(e.amount, int)]
    advanced = [counter for counter in added if counter.role == "instance"]
    if not advanced:
        return ()
    output = edge.written[-1].action if edge.written else ""  # the last action written leads there
    output = output.removeprefix("GOTO ")  # the arrow shows the destination
    for counter in advanced:
        node = names.called(counter.of, group)
        if node.shown and output.endswith(f" {node}"):
            output = output.removesuffix(node.shown)
            return (Term(output, output.replace("NEXT", "the next")), node)
    return (Term(output, output.replace("NEXT", "the next one")),) if output else ()


def _counted(effect: CounterEffect, names: Naming) -> Phrase:
    if effect.kind == "reset":
        return (f"reset {one_line(effect.scope)}",) if effect.scope in names.plain_scopes else ()
    if names.counter(effect.register).role:
        return ()
    register = one_line(effect.register)
    match effect:
        case Set(value=value):
            return (f"{register} = {value}",)
        case Add(amount=amount):
            return (f"{register} + {one_line(str(amount))}",)
        case AtLeast(value=value):
            return (f"{register} at least {value}",)
        case _:
            assert_never(effect)


def past_of_marks(edge: Edge, names: Naming) -> set[str]:
    """Return `failed` or `worked` if the edge only tests outcomes of earlier steps."""
    found = [_mark(test, names) for test in conditions(edge, names)]
    return {_past(mark) for mark in found if mark} if all(found) else set()


def condition(edges: Sequence[Edge], names: Naming, group: str) -> Phrase:
    """Return the condition for taking one of the edges, without outcomes; empty if one has no condition."""
    guards = [conditions(edge, names) for edge in edges]
    if not all(guards):
        return ()
    if len(edges) == 1 and edges[0].label.startswith(("if ", "elif ")):  # the condition of a branch
        written = one_line(edges[0].label)
        return (Term(written, _MARKER.sub(lambda found: _PLAIN[found[0]], written)),)
    marks = [_mark(test, names) for guard in guards for test in guard]
    if all(marks) and len(marks) == len(edges):
        return _any_of([mark for mark in marks if mark], names, group)
    output = (between(" and ", (_words(test, names, group) for test in guard)) for guard in guards)
    return between(" or ", dict.fromkeys(output))


def conditions(edge: Edge, names: Naming) -> list[Test]:
    """Return the conditions of an edge besides the outcome and the count of a RETRY."""
    found: list[Test] = [test for test in edge.guard if test.kind != "outcome"]
    if found and retry_limit(edge, names) is not None:
        return [test for test in found if test.kind != "counter"]
    return found


def _mark(test: Test, names: Naming) -> Counter | None:
    if isinstance(test, CounterTest) and (test.operator, test.value) == (">=", 1):
        counter = names.counter(test.register)
        return counter if counter.role == "mark" else None
    return None


def _past(mark: Counter) -> str:
    return PAST.get(mark.outcome, f"was {one_line(mark.outcome)}")


def _any_of(marks: Sequence[Counter], names: Naming, group: str) -> Phrase:
    """Return several marks in one phrase. Earlier instances of a step are the same step."""
    nodes = list(dict.fromkeys(names.called(mark.of, group) for mark in marks))
    past = _past(marks[0])
    if len(nodes) == 1:
        return (*(() if len(marks) == 1 else ("any ",)), nodes[0], f" {past}")
    listed = between(", ", ((node,) for node in nodes))
    return ("any of ", *(listed if len(nodes) <= MOST_NAMED else (nodes[0], " … ", nodes[-1])), f" {past}")


def _words(test: Test, names: Naming, group: str) -> Phrase:
    match test:
        case OutcomeTest(word):
            return (one_line(word),)
        case SlotTest(slot, operator, text):
            name, is_same = names.short(slot, group), operator == "=="
            if not text:
                return (f"{name} is {'' if is_same else 'not '}empty",)
            return (f"{name} is {'' if is_same else 'not '}“{one_line(text)}”",)
        case CounterTest(register, operator, value):
            if mark := _mark(test, names):
                return (names.called(mark.of, group), f" {_past(mark)}")
            return (*_counter(register, names, group), f" {'≥' if operator == '>=' else operator} {value}")
        case _:
            assert_never(test)


def _counter(name: str, names: Naming, group: str) -> Phrase:
    counter = names.counter(name)
    match counter.role:
        case "retries":
            return (names.called(counter.of, group), " retries")
        case "instance":
            return (names.called(counter.of, group),)
        case "visits":
            return (names.called(counter.of, group), " visits")
        case "mark":
            return (names.called(counter.of, group), f" {_past(counter)}")
        case "":
            return (names.short(name, group),)
        case _:
            assert_never(counter.role)
