"""Check names that several documents declare: inputs and outputs of nested runbooks (E9), and secrets."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from compiler.analyses.values import read_too_early, unread_inputs, value_flow
from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import Diagnostic, Related
from compiler.frontends.rundown.link import Document, references
from compiler.frontends.rundown.lower.frames import Frame, step_refs
from compiler.frontends.rundown.parse.messages import heading_of, numbered_header, with_number
from compiler.frontends.rundown.parse.outline import jump_targets, may_be_prose, prose_advice
from compiler.frontends.rundown.syntax import (
    EVERY,
    UNKNOWN,
    Declarations,
    DeclaredInput,
    Goto,
    Reference,
    Runbook,
    StepSettings,
    all_steps,
)
from compiler.ir.patterns import SEPARATE, overlap, overlapping
from compiler.ir.program import Program
from compiler.ir.tasks import End, Shell
from compiler.text.source import Source, Span
from compiler.text.suggestions import did_you_mean


def check_names(documents: Mapping[str, Document]) -> Iterator[Diagnostic]:
    """Report conflicts between the names that a program's documents declare."""
    for document in documents.values():
        yield from _doubled(document.runbook.declared)
        for reference in references(document.runbook):
            inner = documents.get(document.includes.get(reference.path, ""))
            if inner:
                yield from _inclusion(document, reference, inner.runbook.declared)
    yield from _secrets([document.runbook.declared for document in documents.values()])


def _doubled(declared: Declarations) -> Iterator[Diagnostic]:
    inputs = {item.input.name for item in declared.inputs}
    for name, place in declared.outputs.items():
        if name in inputs:
            yield place.finding(f"`{name}` is both an input and an output", "rename one of the two")
    for settings in declared.steps:
        for name in settings.env:
            if name in declared.slots:
                problem = f"`env` sets `{name}`, but there is an input or output with that name"
                yield settings.place("env", name).finding(problem, "rename one of the two")


def _secrets(every: Sequence[Declarations]) -> Iterator[Diagnostic]:
    """Report names that conflict with a secret: a secret is a variable of the whole run."""
    secrets = {name for declared in every for name in declared.secrets}
    for declared in every:
        env = {name: item.place("env", name) for item in declared.steps for name in item.env}
        for name, place in {**env, **declared.slots}.items():
            if name in secrets:
                yield place.finding(f"`{name}` is also a secret", "rename one of the two")


def _inclusion(document: Document, reference: Reference, inner: Declarations) -> Iterator[Diagnostic]:
    outer = document.runbook.declared
    inputs = {item.input.name: item for item in outer.inputs}
    for item in inner.inputs:
        name = item.input.name
        if name not in outer.slots and item.input.default is None:
            problem = (
                f"{reference.path} needs input `{name}`, which has no default and is not declared in this document"
            )
            remedy = f"declare `{name}` in this document too, or give it a default in {reference.path}"
            yield _finding("RD305", document, reference, (problem, remedy), item.place)
        elif name in outer.slots and not _is_as_strict(inputs.get(name), item):
            problem = f"{reference.path} declares input `{name}` differently from this document"
            remedy = "use the same declaration in both; values are checked only against the one in this document"
            yield _finding("RD306", document, reference, (problem, remedy), item.place)
    for name in inner.outputs:
        if name in inputs:
            problem = f"`{name}` is an output in {reference.path}, but an input in this document"
            remedy = "declare it under `outputs` in this document too, or rename one of the two"
            yield _finding("RD307", document, reference, (problem, remedy), inner.outputs[name])


def _is_as_strict(outer: DeclaredInput | None, inner: DeclaredInput) -> bool:
    """Return whether every value that fits the outer declaration also fits the inner one."""
    wanted = (inner.input.type, inner.input.options, inner.input.pattern)
    if outer is None:
        return wanted == ("string", (), None)
    return wanted in (("string", (), None), (outer.input.type, outer.input.options, outer.input.pattern))


def _finding(
    code: str, document: Document, reference: Reference, said: tuple[str, str], place: OptionSource
) -> Diagnostic:
    related = Related(place.path, place.span or Span(1, 1, 1, 1), "declared here")
    return Diagnostic(code, document.source.path, reference.span, *said, (related,))


def unknown_steps(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report unknown step names in this document; names in nested runbooks are checked after linking."""
    if not runbook.declared.steps or any(step.id == UNKNOWN for step in all_steps(runbook)):
        return  # the unreadable header could be this step
    known = [ref.label for ref in step_refs(runbook.steps)]
    names = {EVERY, *known}
    for settings in runbook.declared.steps:
        if "/" not in settings.step and settings.step not in names:
            yield unknown_step(settings, known)


def misplaced_asks(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report `asks` for steps without a question, such as commands, and for checklists (E14)."""
    refs = {ref.label: ref for ref in step_refs(runbook.steps)} if runbook.declared.asked else {}
    for settings in runbook.declared.steps:
        ref = refs.get(settings.step)
        code = ref.syntax.code if ref else None
        if settings.asks and ref and (not ref.is_leaf or (code and code.interpreter)):
            does = "runs a command" if ref.is_leaf else "has substeps or runbooks"
            problem = f"`asks` needs a question, but step {settings.step} {does}"
            yield settings.place("asks").finding(problem, "move it to a step without a code block that runs")
        elif settings.asks and ref and ref.syntax.checklist:
            problem = f"step {settings.step} has a checklist, so its reply can't be a value"
            yield settings.place("asks").finding(problem, "move `asks`, or the checklist, to another step")


def unchecked_work(_: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Report `by: agent` for steps without a command that checks the work, or without text for the agent (E15)."""
    refs = {ref.label: ref for ref in step_refs(runbook.steps)}
    for settings in runbook.declared.steps:
        ref = refs.get(settings.step) if settings.by_agent else None
        code = ref.syntax.code if ref else None
        if ref and not (code and code.interpreter):
            problem = f"step {settings.step} has no command that checks the agent's work"
            remedy = "add a `bash` block below its text" if ref.is_leaf else "move `by` to a step with a command"
            yield settings.place("by").finding(problem, f"{remedy}, or remove `by`")
        elif ref and not (ref.syntax.title or ref.syntax.prompt):
            problem = f"step {settings.step} has no text for the agent"
            yield settings.place("by").finding(problem, "write above the command what the agent does, or remove `by`")


def unknown_step(settings: StepSettings, known: Iterable[str]) -> Diagnostic:
    """Return the diagnostic for an unknown step, with the nearest known name as a hint."""
    problem = f"there is no step `{settings.step}`{did_you_mean(settings.step, known)}"
    return settings.place().finding(problem, f"use a step's number or name, or `{EVERY}` for all steps")


Position = tuple[str, Span | None]

FIX_GOTO = "a GOTO names this step but never fires: fix that transition, or remove it and this step"


def advise_unreachable(found: Iterable[Diagnostic], documents: Collection[Document]) -> list[Diagnostic]:
    """Add the remedy that fits the step to each diagnostic about an unreachable step."""
    everything = list(found)
    if all(item.code != "RD401" for item in everything):
        return everything
    advice = dict(advised for document in documents for advised in _advice(document))
    named = {position for document in documents for position in _named(document)}
    result: list[Diagnostic] = []
    for item in everything:
        position = (item.path, item.span)
        remedy = FIX_GOTO if position in named else item.help
        advised = replace(item, help=f"{remedy}; {advice[position]}" if position in advice else remedy)
        result.append(advised if item.code == "RD401" else item)
    return result


def _named(document: Document) -> Iterator[Position]:
    transitions = (transition for node in all_steps(document.runbook) for transition in node.transitions)
    targets = [transition.action.target for transition in transitions if isinstance(transition.action, Goto)]
    ids = {(target.step, target.child) for target in targets}
    for step in document.runbook.steps:
        if (step.id, None) in ids:
            yield document.source.path, step.substeps[0].span if step.substeps else step.span
        yield from ((document.source.path, item.span) for item in step.substeps if (step.id, item.id) in ids)


def _advice(document: Document) -> Iterator[tuple[Position, str]]:
    source, steps = document.source, document.runbook.steps
    targets = jump_targets(document.runbook)
    names_only = all(isinstance(step.id, str) for step in steps)
    for number, step in enumerate(steps, 1):
        numbered = numbered_header(step)
        if numbered or (names_only and step.id not in targets):
            header = numbered or with_number(source, step, number)
            yield (source.path, step.span), f"to run it after the step above, number it: `{header}`"
        elif may_be_prose(step, targets) and not (
            step.substeps or step.runbooks or (step.code and step.code.interpreter)
        ):
            yield (source.path, step.span), prose_advice(heading_of(source, step))


def value_warnings(program: Program, frames: Sequence[Frame]) -> Iterator[Diagnostic]:
    """Yield the warnings for a program, once for each runbook even if it is included several times."""
    yield from _unread_inputs(program, frames)
    yield from _overlapping(frames)
    places = {slot: (name, frame) for frame in frames for name, slot in _outputs(frame)}
    if not places:
        return
    flow = value_flow(program)
    paths = {frame.document.source.name: frame.document.source.path for frame in frames}
    found: dict[Diagnostic, None] = {}
    for node, slot in read_too_early(program, flow):
        name, frame = places[slot]
        reader = "this message" if isinstance(node.task, End) else f"step {node.id}"
        problem = f"{reader} reads the output `{name}`, but no earlier step can have written it"
        remedy = (
            "ask for it in an earlier step; only PASS gives a value"
            if name in frame.document.runbook.declared.asked
            else f'write it in an earlier step: `echo "{name}=…" >> "$RDC_OUTPUT"`'
        )
        found[Diagnostic("RD408", paths[node.origin.path], node.origin.span, problem, remedy)] = None
    unread = {slot for slot in places if slot not in flow.used}
    for slot in unread:
        name, frame = places[slot]
        if name in frame.document.runbook.declared.asked:
            continue  # people read it in the status and the report
        place = frame.document.runbook.declared.outputs[name]
        problem = f"no step reads the output `{name}`"
        remedy = f"use it as `${name}` in a command or `{{{{{name}}}}}` in text, or remove it"
        found[Diagnostic("RD409", place.path, place.span, problem, remedy)] = None
    yield from found


def _overlapping(frames: Sequence[Frame]) -> Iterator[Diagnostic]:
    for item in dict.fromkeys(item for frame in frames for item in frame.document.runbook.declared.inputs):
        if character := overlap(item.input.pattern or ""):
            problem = f"the pattern of the input `{item.input.name}` {overlapping(character)}"
            yield Diagnostic("RD136", item.place.path, item.place.span, problem, SEPARATE)


def _unread_inputs(program: Program, frames: Sequence[Frame]) -> Iterator[Diagnostic]:
    """Warn about inputs that are never shown, in programs that run no command; any command may read any input."""
    if any(isinstance(node.task, Shell) for node in program.nodes):
        return
    for name in unread_inputs(program):
        declared = (item for frame in frames for item in frame.document.runbook.declared.inputs)
        place = next(item.place for item in declared if item.input.name == name)
        remedy = f"show it as `{{{{{name}}}}}` in text, or remove it"
        yield Diagnostic("RD410", place.path, place.span, f"no step shows the input `{name}`", remedy)


def _outputs(frame: Frame) -> Iterator[tuple[str, str]]:
    own = {slot.name for slot in frame.visible.added}
    for name in frame.visible.outputs:
        if frame.visible.slots[name] in own:
            yield name, frame.visible.slots[name]
