"""The github target: one GitHub Actions workflow, native steps wherever the flow allows it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from backends.base import Backend, Emission
from backends.github.limits import exceeded, inexpressible, taken, warnings
from backends.github.options import GithubOptions
from backends.github.places import simplified
from backends.github.plan import make_plan
from backends.github.prompts import Prompts, prompts_of
from backends.github.workflow import Workflow
from backends.mermaid.chart import chart, is_too_big
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.ir.tasks import Ask


class GithubBackend(Backend[GithubOptions]):
    """A workflow that needs nothing but GitHub Actions and bash."""

    name: ClassVar[str] = "github"
    summary: ClassVar[str] = "a GitHub Actions workflow of native steps"
    suffix: ClassVar[str] = ".yml"
    options = GithubOptions
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.COMMANDS, Feature.QUESTIONS})

    def render(self, program: Program, options: GithubOptions) -> Emission:
        """The text of the workflow, and what GitHub would not accept in it."""
        plain = simplified(program)
        asks = any(isinstance(node.task, Ask) for node in plain.nodes)
        prompts = prompts_of(options) if asks else Prompts()
        plan = make_plan(plain, prompts.verdicts)
        refused = (*taken(program, options, prompts), *inexpressible(plan, prompts))
        if refused:
            return Emission(None, refused)
        flow = _chart(program, plan.names.nodes) if options.summary else ""
        workflow = Workflow(program, plan, options, prompts, flow)
        text = workflow.text()
        refused = tuple(exceeded(workflow, text))
        return Emission(None, refused) if refused else Emission(text, tuple(warnings(plain, options, prompts)))


def _chart(program: Program, ids: Mapping[str, str]) -> str:
    """The graph for the summary, empty if it is larger than GitHub draws."""
    text = chart(program, ids)
    return "" if is_too_big(text) else text
