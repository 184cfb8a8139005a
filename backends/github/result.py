"""The last step: which end was reached, the job's result, and the summary."""

from __future__ import annotations

from collections.abc import Iterator

from backends.github.condition import FALSE, TRUE, Condition, Literal, expression, some
from backends.github.names import RESULT
from backends.github.parts import Part, Parts, all_of
from backends.github.plan import Plan
from backends.github.question import verdict_words
from backends.github.scalar import Expression
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from backends.github.units import choice, title
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, End, Shell

_BEGINNING = {"unit", "loop"}
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


def result_step(parts: Parts, part: Part, *, waits: bool, summary: bool, flow: str) -> Step:
    """The step; `flow` is the graph as Mermaid, empty for none."""
    plan = parts.plan
    halts = _halts(plan, part)
    yes_no = " ".join(_yes_no(plan))
    env: dict[str, str] = {"JOB": Expression("${{ job.status }}"), "END": _end(parts, part)}
    if halts:
        env["HALTS"] = "".join(f"{step} {end}\n" for step, end in halts.items())
    env |= dict(_messages(plan, part, set(halts.values())))
    if summary:
        env["UNITS"] = "\n".join(_titles(plan)) + "\n"
        if yes_no:
            env["YES_NO"] = yes_no
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
        run=render(
            "result.sh.jinja",
            halts=halts,
            waits=waits,
            summary=summary,
            yes_no=yes_no,
            flow=flow,
            more=len(parts.parts) > 1,
        ),
    )


def _first(parts: Parts, part: Part) -> str:
    """A step that a job takes whenever it comes so far, if it has one; the job's setup has failed without it."""
    for place in part.places:
        if place.kind in _BEGINNING and not parts.condition(part, place):
            return parts.plan.names.nodes[place.name]
    return ""


def _halts(plan: Plan, part: Part) -> dict[str, str]:
    """For each unit of a part that halts the job where it fails the end that this is."""
    steps = [plan.names.nodes[place.name] for place in part.places]
    ends = {literal.step: plan.names.nodes[end] for end, found in plan.flow.halts.items() for literal in found}
    return {step: ends[step] for step in steps if step in ends}


def _end(parts: Parts, part: Part) -> str:
    """The name of the end that was reached, as an expression; NEXT where another part goes on.

    Each has its condition, also the last one: a run that has lost its way must not look like one that is complete.
    """
    compare = parts.compare(part)
    options = [*_reached(parts.plan, part), (_onward(parts, part), "NEXT")]
    certain = [name for condition, name in options if condition == TRUE]
    if certain:
        return certain[0]
    shown = [(expression(found, compare), f"'{name}'") for found, name in options if found != FALSE]
    return choice([*shown, ("", "''")])


def _onward(parts: Parts, part: Part) -> Condition:
    """When a later part goes on after this one."""
    here = {place.name for place in part.places}
    flow = parts.plan.flow
    later = [place for other in parts.parts[parts.parts.index(part) + 1 :] for place in other.places]
    arcs = [arc for place in later for arc in flow.arcs[place.name] if arc.source in here]
    asked = [flow.reached[place.name] for place in part.questions]
    return some(*asked, *(arc.condition for arc in arcs if not parts.is_gate(flow.named[arc.source])))


def _reached(plan: Plan, part: Part) -> Iterator[tuple[Condition, str]]:
    for place in part.places:
        if place.kind == "end":
            yield plan.flow.reached[place.name], plan.names.nodes[place.name]
        elif place.kind == "loop":
            for node in place.nodes:
                if isinstance(node.task, End):
                    name = plan.names.nodes[node.id]
                    yield Literal(plan.names.nodes[place.name], "outputs.next", "==", name), name


def _messages(plan: Plan, part: Part, halts: set[str]) -> Iterator[tuple[str, str]]:
    """The message of each end that the part may reach."""
    names = plan.names.nodes
    home = {node.id: place for place in part.places for node in place.nodes}
    for node in plan.program.nodes:
        if not isinstance(node.task, End) or not (node.id in home or names[node.id] in halts):
            continue
        place = home.get(node.id)
        if place and place.kind == "loop":  # which knows the instance numbers for its placeholders
            yield names[node.id], Expression(f"${{{{ steps.{names[place.name]}.outputs.message }}}}")
        else:
            yield names[node.id], " ".join(str(node.task.message.known(plan.numbers(node))).split())


def _titles(plan: Plan) -> Iterator[str]:
    for place in plan.places:
        for node in place.nodes:
            if isinstance(node.task, (Shell, Ask)):
                yield f"{plan.names.nodes[node.id]} {shown_title(node)}"


def _yes_no(plan: Plan) -> Iterator[str]:
    """The steps of the units that ask for YES or NO."""
    for place in plan.places:
        for node in place.nodes:
            if verdict_words(node)[0] == "YES":
                yield plan.names.nodes[node.id]


def shown_title(node: Node) -> str:
    """What a unit is called in the table of the summary, as Markdown."""
    return title(node).translate(_SPECIAL)
