"""The github target: a GitHub Actions workflow with native steps, or with steps that call the program."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import ClassVar

from msgspec.structs import replace

from backends.base import Backend, CallReason, Emission, OptionDiagnostic
from backends.base import OutputFile as OutputFile
from backends.base import VerifyResult as VerifyResult
from backends.common.identifiers import identifiers_of
from backends.github.calling import refusals
from backends.github.calling.publishing import unasked, unfit_publications
from backends.github.calling.specification import Line, SpecificationWorkflow
from backends.github.calling.workflow import CallingWorkflow
from backends.github.native.approvals import Approvals
from backends.github.native.choice import Runbook, not_native, reasons_to_call
from backends.github.native.decisions import divided
from backends.github.native.ends import shown_title
from backends.github.options.model import GithubOptions
from backends.github.options.steps import unfit_nodes, unfit_secrets
from backends.github.options.triggers import INPUTS, OF_CONTINUATION
from backends.github.verify import verify_workflow
from backends.github.workflow.document import Written, items
from backends.github.workflow.filling import values_of, without_slots
from backends.github.workflow.inputs import unfit_bindings, with_fixed
from backends.github.workflow.limits import cautions, exceeded, taken, warnings
from backends.github.yaml.model import WORDS
from backends.github.yaml.pins import pins
from backends.mermaid.chart import chart, is_too_big
from backends.python.delegate import reason
from backends.scheduling.places import simplified
from backends.scheduling.plan import make_plan
from compiler.diagnostics.model import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program, without_jumps
from compiler.ir.tasks import Ask


class GithubBackend(Backend[GithubOptions]):
    """A workflow for GitHub Actions and bash. If it calls the program, it also needs Python."""

    name: ClassVar[str] = "github"
    summary: ClassVar[str] = "a GitHub Actions workflow of native steps"
    suffix: ClassVar[str] = ".yml"
    options = GithubOptions
    named: ClassVar[bool] = True
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    pins_option: ClassVar[str] = "actions"
    test_command: ClassVar[str] = "rdc.testing.targets.github"
    verify_output = staticmethod(verify_workflow)

    def pins(self) -> Mapping[str, str]:
        """Return the actions with their commits and versions."""
        return {name: f"{pin.reference} # {pin.version}" for name, pin in pins().items()}

    def shown_steps(self, program: Program) -> Mapping[str, str]:
        """Return the title of each step in a summary, as Markdown."""
        return {node.id: shown_title(node) for node in program.nodes}

    def cautions(self, program: Program, options: GithubOptions) -> Iterable[OptionDiagnostic]:
        """Return the warnings about events, actions and agents."""
        return cautions(program, options)

    def path_issue(self, _path: str) -> tuple[str, str, str] | None:
        """Return the problem of a file below a subfolder of `.github/workflows`, which GitHub ignores."""
        folder, home = Path(_path).absolute().parent, Path(".github", "workflows").parts
        above = next((one for one in folder.parents if one.parts[-2:] == home), None)
        if above is None:
            return None
        problem = f"GitHub ignores subfolders of .github/workflows, so it finds no workflow in {_path}"
        return "RD548", problem, f"write it to {Path(os.path.relpath(above), Path(_path).name).as_posix()}"

    def render(self, program: Program, options: GithubOptions) -> Emission:
        """Return the workflow, or the reasons why GitHub would reject it."""
        program = program.with_(name=program.file or program.name, file="")
        wrong = (
            *unfit_secrets(program, options),
            *unfit_bindings(program, options),
            *unfit_publications(program, options),
        )
        if wrong:
            return Emission(None, wrong)
        bound = with_fixed(program, options)
        if options.max_steps is not None:
            bound = replace(bound, limit=options.max_steps or None)  # (I24)
        if program.stepspec is not None:
            return Emission(None, (unasked(bound),)) if options.notify_issue else _specified(bound, options)
        why = reasons_to_call(bound, options)
        if options.notify_issue and not (why and CallingWorkflow(bound, options).waits):
            return Emission(None, (unasked(bound),))
        if why and options.prompts == "environment" and any(isinstance(node.task, Ask) for node in bound.nodes):
            return Emission(None, (not_native(bound, why),))
        return _calling(bound, options, why[0]) if why else _native(bound, options)


def _native(program: Program, options: GithubOptions) -> Emission:
    ids, plain = identifiers_of(simplified(program)), without_slots(simplified(program))
    refused = (*taken(program, options, ()), *unfit_nodes(program, options, native=True))
    if refused:
        return Emission(None, refused)
    flow = chart(program, ids.nodes) if options.summary else ""
    flow = "" if is_too_big(flow) else flow
    parts = divided(plain, options)
    plan = make_plan(parts[0].program, ids, WORDS, repeats=not values_of(program))
    if not parts[1:]:
        return _checked(Runbook(program, options, plan, flow))
    workflow = Approvals(program, options, plan, flow, document=plain, parts=parts)
    return _checked(workflow, workflow.findings())


def _calling(program: Program, options: GithubOptions, why: CallReason) -> Emission:
    workflow = CallingWorkflow(program, options)
    refused = (
        *taken(program, options, INPUTS if workflow.waits else ()),
        *unfit_nodes(program, options),
        *refusals.refused_calls(program, options),
        *refusals.unreserved(program, options),
        *refusals.unroutable(workflow.routes, options),
    )
    if refused:
        return Emission(None, refused)
    return _checked(workflow, (*refusals.entries_apart(workflow.routes, options), *workflow.needed()), why)


def _specified(program: Program, options: GithubOptions) -> Emission:
    line = Line(without_jumps(program))
    refused = (
        *taken(program, options, OF_CONTINUATION),
        *unfit_nodes(program, options),
        *refusals.refused_calls(program, options),
        *refusals.unreserved(program, options),
        *refusals.unexecuted(line, options),
    )
    if refused:
        return Emission(None, refused)
    workflow = SpecificationWorkflow(program, options, line)
    found = (*refusals.steps_longer_than_job(line, workflow.minutes), *workflow.needed())
    return _checked(workflow, found, reason(program))


def _checked(workflow: Written, found: Iterable[Diagnostic] = (), why: CallReason | None = None) -> Emission:
    text = workflow.text()
    refused = tuple(exceeded(workflow, text))
    if refused:
        return Emission(None, refused)
    return Emission(text, (*warnings(workflow), *found), workflow.companions, why, items(workflow))
