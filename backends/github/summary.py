"""The last step of a job: a table and a picture of the steps that ran."""

from __future__ import annotations

from collections.abc import Iterator

from backends.github.identifiers import SUMMARY
from backends.github.nodes import title
from backends.github.question import verdict_words
from backends.github.scalar import FILTERS
from backends.github.step import PLAIN_SHELL, Step
from backends.github.workflow import all_of
from backends.scheduling.plan import Plan
from backends.templating import render
from compiler.ir.program import Node
from compiler.ir.tasks import Ask, Shell

_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_[]<>|#&~!"})


def summary_step(plan: Plan, flow: str) -> Step:
    """Return the step that writes the run summary. `flow` is the graph as Mermaid, empty for none."""
    yes_no = " ".join(_yes_no(plan))
    env = {"STEPS": "\n".join(_titles(plan)) + "\n"}
    if yes_no:
        env["YES_NO"] = yes_no
    if flow:
        env["FLOW"] = flow
    return Step(
        name="Summary",
        id=SUMMARY,
        comments=("Shows the steps that ran as a table in the run summary.",),
        condition=all_of("!cancelled()"),
        shell=PLAIN_SHELL,
        env=env,
        run=render("github/summary.sh", FILTERS, yes_no=yes_no, flow=flow),
    )


def _titles(plan: Plan) -> Iterator[str]:
    for place in plan.places:
        for node in place.nodes:
            if isinstance(node.task, (Shell, Ask)):
                yield f"{plan.ids.nodes[node.id]} {shown_title(node)}"


def _yes_no(plan: Plan) -> Iterator[str]:
    """Yield the steps whose nodes ask for YES or NO."""
    for place in plan.places:
        for node in place.nodes:
            if verdict_words(node)[0] == "YES":
                yield plan.ids.nodes[node.id]


def shown_title(node: Node) -> str:
    """Return a node's name for the summary table, as Markdown."""
    return title(node).translate(_SPECIAL)
