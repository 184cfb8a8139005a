"""The last step: which end was reached, the job's result, and the summary."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from backends.github.condition import FALSE, Condition, Literal, expression, size, some
from backends.github.names import RESULT
from backends.github.parts import Part, Parts, all_of
from backends.github.plan import Plan
from backends.github.scalar import Expression
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.units import chain, choice, title
from compiler.ir.program import Ask, End, Shell

_BEGINNING = {"unit", "loop"}
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


def result_step(parts: Parts, part: Part, *, waits: bool, summary: bool, flow: str) -> Step:
    """The step; `flow` is the graph as Mermaid, empty for none."""
    plan = parts.plan
    env: dict[str, str] = {"END": _end(parts, part), **dict(_messages(plan, part))}
    if summary:
        env["UNITS"] = "\n".join(_titles(plan)) + "\n"
        if flow:
            env["FLOW"] = flow
    first = _first(parts, part)
    return Step(
        name="Result",
        id=RESULT,
        comments=("The end that was reached gives the job its result.",),
        condition=all_of("!cancelled()", f"steps.{first}.outcome != 'skipped'" if first else ""),
        shell=PLAIN_SHELL,
        env=env,
        run=render("result.sh.jinja", waits=waits, summary=summary, flow=flow, more=len(parts.parts) > 1),
    )


def _first(parts: Parts, part: Part) -> str:
    """A step that a job takes whenever it comes so far, if it has one; the job's setup has failed without it."""
    for place in part.places:
        if place.kind in _BEGINNING and not parts.condition(part, place):
            return parts.plan.names.nodes[place.name]
    return ""


def _end(parts: Parts, part: Part) -> str:
    """The name of the end that was reached, as an expression; NEXT where the next part goes on.

    Where a command has halted the job, one of the ends that this leads to was reached; otherwise one of the others.
    """
    names = parts.plan.names.nodes
    steps = {names[place.name] for place in part.places}
    halts = {
        names[end]: some(*(found for found in halted if found.step in steps))
        for end, halted in parts.plan.flow.halts.items()
    }
    halted = [(condition, name) for name, condition in halts.items() if condition != FALSE]
    reached = [found for found in _reached(parts.plan, part) if found[0] != FALSE]
    compare = parts.compare(part)
    options = []
    if halted:
        inner = chain(_by_size(halted, compare))
        options.append(("job.status == 'failure'", f"({inner})" if len(halted) > 1 else inner))
    options += _by_size(reached, compare)
    if part is not parts.parts[-1]:
        options.append(("", "'NEXT'"))
    return choice(options) if options else "STOP"  # a loop without a way out can only be cancelled


def _by_size(ends: list[tuple[Condition, str]], compare: Callable[[Literal], str]) -> list[tuple[str, str]]:
    """The ends with the longest condition last, where it need not be written."""
    ordered = sorted(ends, key=lambda found: size(found[0]))
    return [(expression(condition, compare), f"'{name}'") for condition, name in ordered]


def _reached(plan: Plan, part: Part) -> Iterator[tuple[Condition, str]]:
    for place in part.places:
        if place.kind == "end":
            yield plan.flow.reached[place.name], plan.names.nodes[place.name]
        elif place.kind == "loop":
            for node in place.nodes:
                if isinstance(node.task, End):
                    name = plan.names.nodes[node.id]
                    yield Literal(plan.names.nodes[place.name], "outputs.next", "==", name), name


def _messages(plan: Plan, part: Part) -> Iterator[tuple[str, str]]:
    """The message of each end that the part may reach."""
    names = plan.names.nodes
    home = {node.id: place for place in part.places for node in place.nodes}
    steps = {names[place.name] for place in part.places}
    halted = {end for end, found in plan.flow.halts.items() if any(literal.step in steps for literal in found)}
    for node in plan.program.nodes:
        if not isinstance(node.task, End) or not (node.id in home or node.id in halted):
            continue
        place = home.get(node.id)
        if place and place.kind == "loop":  # which knows the instance numbers for its placeholders
            yield names[node.id], Expression(f"${{{{ steps.{names[place.name]}.outputs.message }}}}")
        else:
            yield names[node.id], " ".join(node.task.message.split())


def _titles(plan: Plan) -> Iterator[str]:
    for place in plan.places:
        for node in place.nodes:
            if isinstance(node.task, (Shell, Ask)):
                yield f"{plan.names.nodes[node.id]} {title(node).translate(_SPECIAL)}"
