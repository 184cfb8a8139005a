"""The last steps of a job: the one that waits for an answer, and the table and picture of what has run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from backends.github.condition import FALSE, TRUE, Condition, expression, some
from backends.github.identifiers import RESULT, SUMMARY
from backends.github.jobs import Part, all_of
from backends.github.nodes import title
from backends.github.parts import Parts
from backends.github.plan import Plan
from backends.github.question import verdict_words
from backends.github.step import PLAIN_SHELL, Step
from backends.github.templating import render
from compiler.ir.program import Node, Noun
from compiler.ir.tasks import Ask, Shell

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


def waiting_step(ends: Sequence[Step], kind: Noun) -> Step:
    """What a run does that has come to no end: it waits for an answer, or is at no known place. `ends` are all ends."""
    completed = [f"steps.{step.id}.outcome != 'success'" for step in ends if step.name == "COMPLETE"]
    return Step(
        name="Stop until somebody answers",
        id=RESULT,
        comments=("Without an end the run waits: it is kept, and another run goes on with it.",),
        condition=" && ".join(completed),
        shell=PLAIN_SHELL,
        run=render("wait.sh.jinja", kind=kind),
        helper="wait",
    )


def summary_step(plan: Plan, flow: str) -> Step:
    """The table of what has run, and the picture: `flow` is the graph as Mermaid, empty for none."""
    yes_no = " ".join(_yes_no(plan))
    env = {"STEPS": "\n".join(_titles(plan)) + "\n"}
    if yes_no:
        env["YES_NO"] = yes_no
    if flow:
        env["FLOW"] = flow
    return Step(
        name="Summary",
        id=SUMMARY,
        comments=("What has run, as a table on the page of the run.",),
        condition=all_of("!cancelled()"),
        shell=PLAIN_SHELL,
        env=env,
        run=render("summary.sh.jinja", yes_no=yes_no, flow=flow),
        helper="summary",
    )


def onward(parts: Parts, part: Part) -> str:
    """When a later part goes on after this one, as an expression; "" for always, "false" for never."""
    here = {place.name for place in part.places}
    flow = parts.plan.flow
    later = [place for other in parts.parts[parts.parts.index(part) + 1 :] for place in other.places]
    arcs = [arc for place in later for arc in flow.arcs[place.name] if arc.source in here]
    asked = [flow.reached[place.name] for place in part.questions]
    found: Condition = some(*asked, *(arc.condition for arc in arcs if not parts.is_gate(flow.named[arc.source])))
    if found in (TRUE, part.reached):
        return ""
    return "false" if found == FALSE else expression(found, parts.compare(part))


def _titles(plan: Plan) -> Iterator[str]:
    for place in plan.places:
        for node in place.nodes:
            if isinstance(node.task, (Shell, Ask)):
                yield f"{plan.ids.nodes[node.id]} {shown_title(node)}"


def _yes_no(plan: Plan) -> Iterator[str]:
    """The steps of the nodes that ask for YES or NO."""
    for place in plan.places:
        for node in place.nodes:
            if verdict_words(node)[0] == "YES":
                yield plan.ids.nodes[node.id]


def shown_title(node: Node) -> str:
    """What a node is called in the table of the summary, as Markdown."""
    return title(node).translate(_SPECIAL)
