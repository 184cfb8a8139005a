"""The rules of documents: which steps they guard, their verdicts for people and tools, and which of them are broken."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec.structs import asdict, replace

from compiler.diagnostics.model import Diagnostic
from compiler.driver import Compilation
from compiler.ir.paths import Path, visit
from compiler.ir.program import Program
from compiler.ir.rules import Event
from compiler.ir.semantics import Machine
from compiler.rules.model import DeclaredRule, RuleResult, Status
from compiler.rules.watch import BROKEN, Watch
from compiler.text.source import Span
from rdc.terminal.cells import padded, visible, width

Listed = tuple[str, RuleResult]
"""The path of a document, and one of its rules."""

Unmatched = tuple[tuple[str, dict[int, str]], ...]
"""The project's rules that are for a document, each with the problems of its parts that match nothing, by column."""

VERDICTS = ("RD420", "RD421")
"""The diagnostics for rules that are broken or not proven."""

MOST_GUARDED = 12  # the most guarded steps in a line for people

_RULE = 0
"""Instead of a column: the whole rule doesn't apply."""

_BETTER = ("has no outcome", "did you mean")
"""Documents can have different problems with a part. The best is from one with the step, or with a similar name."""

_ENDS = {"complete": "COMPLETE", "stop": "STOP", "pass": "COMPLETE", "fail": "STOP"}


def guarded(events: Iterable[Event]) -> tuple[str, ...]:
    """Return the guarded steps without duplicates. `END` is any end of the run, and `2 END` any end of inclusion 2."""
    found = dict.fromkeys((event.step, _ENDS.get(event.word, event.word)) for event in events)
    names: dict[str, None] = {}
    for step, word in found:
        is_any = {(step, "COMPLETE"), (step, "STOP")} <= found.keys()
        names[f"{step} {'END' if is_any and word else word}".strip()] = None
    return tuple(names)


def listing(rules: Iterable[Listed]) -> str:
    """Return a line for each rule: document, name, verdict and guarded steps."""
    rows = [tuple(map(visible, _row(path, result))) for path, result in rules]
    widths = [max(map(width, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(padded, row, widths)).rstrip() for row in rows)


def _row(path: str, result: RuleResult) -> Iterator[str]:
    yield path
    yield result.declared.full_name
    yield f"{result.proof.status} (tried)" if result.declared.is_tried else result.proof.status
    names = guarded(result.rule.guards) if result.rule else ()
    shown = ", ".join(names[:MOST_GUARDED]) + (", …" if len(names) > MOST_GUARDED else "")
    yield f"guards {shown}" if shown else ""


def plain(path: str, result: RuleResult) -> dict[str, Any]:
    """Return a rule of a document as plain data."""
    declared, place = result.declared, result.declared.place
    return {
        "document": path,
        "name": declared.full_name,
        "rule": declared.sentence,
        "why": declared.why,
        "verdict": result.proof.status,
        "guards": list(guarded(result.rule.guards)) if result.rule else [],
        "try": declared.is_tried,
        "override": declared.override,
        "path": place.path,
        **(asdict(place.span) if place.span else dict.fromkeys(Span.__struct_fields__)),
    }


def despite_rules(one: Compilation) -> Compilation:
    """Return a compilation with its program even if a rule is broken, for commands that draw or replay documents."""
    found = tuple(each for each in one.diagnostics if each.code not in VERDICTS)
    return replace(one, program=one.despite_rules, diagnostics=found)


def broken_rules(program: Program, path: Path, results: Iterable[RuleResult]) -> list[tuple[int, str]]:
    """Return the first breach of each rule that a path without jumps breaks, with the number of visits before it."""
    return sorted(found for result in results for found in _first_breach(program, path, result))


def _first_breach(program: Program, path: Path, result: RuleResult) -> Iterator[tuple[int, str]]:
    if result.rule is None:
        return
    machine, watch = Machine(program), Watch(program, result.rule)
    made, state, value = None, machine.start(dict(path.inputs)), watch.before
    for place, following in enumerate((*path.visits, None)):
        value = watch.visited(machine, made, state, value)
        if value == BROKEN and watch.event:
            (subject,) = guarded([watch.event])
            yield place, f"{subject} breaks rule {result.declared.full_name}: {result.rule.sentence}"
            return
        if following:
            made, state = visit(machine, state, following.outcome)


def unmatched(results: Iterable[RuleResult]) -> Unmatched:
    """Return the problems of the project's rules in a document."""
    return tuple(
        (one.declared.name, {**one.unmatched, **({_RULE: ""} if one.proof.status is Status.NOT_APPLICABLE else {})})
        for one in results
        if one.declared.is_shared
    )


def useless(declared: Iterable[DeclaredRule], found: Iterable[tuple[str, Mapping[int, str]]]) -> Iterator[Diagnostic]:
    """Report the project's rules that apply nowhere, and their parts that match in none of the documents (P-10)."""
    by_rule: dict[str, list[Mapping[int, str]]] = {}
    for name, problems in found:
        by_rule.setdefault(name, []).append(problems)
    for rule in declared:
        every = by_rule.get(rule.name, [{_RULE: ""}])
        places = {place for place in every[0] if all(place in problems for problems in every)}
        for place in sorted(places - {_RULE}) or places:
            best = max((problems[place] for problems in every), key=lambda text: [word in text for word in _BETTER])
            problem = f"rule `{rule.name}` applies to no document of the project"
            if _RULE not in places:
                problem = f"rule `{rule.name}` has a part that matches in no document of the project"
            remedy = "check `for`, and the steps, outcomes and labels in it; or remove the `[[rule]]`"
            yield rule.place.finding(f"{problem}{': ' if best else ''}{best}", remedy)
