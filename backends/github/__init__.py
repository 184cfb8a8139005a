"""The github target: one GitHub Actions workflow, native steps wherever the flow allows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import ClassVar

from backends.base import Backend, Emission
from backends.github.binding import unfit_bindings, with_fixed
from backends.github.filling import values_of, without_slots
from backends.github.limits import (
    entries_apart,
    exceeded,
    inexpressible,
    steps_longer_than_job,
    taken,
    unexecuted,
    unroutable,
    warnings,
)
from backends.github.line import Line
from backends.github.native import is_native, is_told_late
from backends.github.options import GithubOptions, mocked
from backends.github.places import simplified
from backends.github.plan import make_plan
from backends.github.prompts import Answers, Prompts, prompts_of
from backends.github.publishing import unfit_publications
from backends.github.routed import RoutedWorkflow
from backends.github.routes import make_routes
from backends.github.runbook import Runbook
from backends.github.settings import unfit_nodes, unfit_secrets
from backends.github.specification import SpecificationWorkflow
from backends.github.triggers import OF_CONTINUATION
from backends.github.workflow import Written
from backends.mermaid.chart import chart, is_too_big
from compiler.diagnostic import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program, without_jumps
from compiler.ir.tasks import Ask


class GithubBackend(Backend[GithubOptions]):
    """A workflow that needs nothing but GitHub Actions and bash; for more than commands and questions also python3."""

    name: ClassVar[str] = "github"
    summary: ClassVar[str] = "a GitHub Actions workflow of native steps"
    suffix: ClassVar[str] = ".yml"
    options = GithubOptions
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)

    def render(self, program: Program, options: GithubOptions) -> Emission:
        """The text of the workflow, and what GitHub would not accept in it."""
        wrong = (
            *unfit_secrets(program, options),
            *unfit_bindings(program, options),
            *unfit_publications(program, options),
        )
        if wrong:
            return Emission(None, wrong)
        bound = _limited(with_fixed(program, options), options)
        if program.contract is not None:
            return _specified(bound, options)
        return _native(bound, options) if is_native(bound, options) else _routed(bound, options)


def _limited(program: Program, options: GithubOptions) -> Program:
    """The program with the limit of the options, if these have one (I24)."""
    return program if options.max_steps is None else replace(program, limit=options.max_steps or None)


def _native(program: Program, options: GithubOptions) -> Emission:
    plain = without_slots(simplified(program))
    asks = any(isinstance(node.task, Ask) for node in plain.nodes)
    prompts = prompts_of(options) if asks else Prompts(options.summary)
    plan = make_plan(plain, prompts.verdicts, repeats=not values_of(program))
    if is_told_late(plan):
        return _routed(program, options)
    refused = (
        *taken(program, options, prompts.inputs),
        *unfit_nodes(program, options),
        *inexpressible(plan, options, prompts),
    )
    if refused:
        return Emission(None, refused)
    flow = _chart(program, plan.ids.nodes) if options.summary else ""
    workflow = Runbook(program, plan, options, prompts, flow)
    return _checked(workflow, plain)


def _routed(program: Program, options: GithubOptions) -> Emission:
    plain = simplified(program)
    options = mocked(options)
    routes = make_routes(plain)
    prompts = prompts_of(options) if any(map(routes.may_ask, plain.nodes)) else Prompts()
    refused = (
        *taken(program, options, prompts.inputs),
        *unfit_nodes(program, options),
        *unroutable(routes, options),
    )
    if refused:
        return Emission(None, refused)
    flow = _chart(program, routes.ids.nodes) if options.summary else ""
    return _checked(RoutedWorkflow(program, routes, options, prompts, flow), plain, entries_apart(routes, options))


def _specified(program: Program, options: GithubOptions) -> Emission:
    options = mocked(options)
    line = Line(without_jumps(program))
    refused = (
        *taken(program, options, OF_CONTINUATION),
        *unfit_nodes(program, options),
        *unexecuted(line, options),
    )
    if refused:
        return Emission(None, refused)
    workflow = SpecificationWorkflow(program, line, options, Answers(), "")
    return _checked(workflow, program, steps_longer_than_job(line, options))


def _checked(workflow: Written, plain: Program, found: Iterable[Diagnostic] = ()) -> Emission:
    """The workflow, if GitHub takes it, with what was found about it."""
    text = workflow.text()
    refused = tuple(exceeded(workflow, text))
    if refused:
        return Emission(None, refused)
    return Emission(text, (*warnings(plain, workflow.options, workflow.prompts), *found), workflow.companions)


def _chart(program: Program, ids: Mapping[str, str]) -> str:
    """The graph for the summary, empty if it is larger than GitHub draws."""
    text = chart(program, ids)
    return "" if is_too_big(text) else text
