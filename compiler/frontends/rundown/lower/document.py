"""Lower a linked document to a control-flow graph (docs/formats/rundown.md).

Each inclusion of a runbook is lowered separately, as a `Frame`. A frame consists of nodes, groups, registers and the
frames of nested runbooks. A stack expands them in document order, so deep inclusion needs no recursion.
"""

import posixpath
import re
from collections import Counter as Tally
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic
from compiler.frontends.common.names import safe_name
from compiler.frontends.rundown.link import Document, references
from compiler.frontends.rundown.lower.frames import Frame, StepRef, visible
from compiler.frontends.rundown.lower.jumps import Outcomes, enter_step, jump, restarted, settled_id
from compiler.frontends.rundown.syntax import Dynamic, Reference, Runbook, Step, Target, Word, all_steps
from compiler.ir.edges import AtLeast, Edge, Effect, Keep, Origin, OutcomeTest, Reset, Set
from compiler.ir.program import Counter, Entering, Group, Jump, Node, Program, SourceFile, Variable
from compiler.ir.tasks import Agent, Ask, Branch, End, Shell, Verdict
from compiler.ir.texts import Reference as TextReference
from compiler.ir.texts import Text, joined, text

LARGEST_PROGRAM = 100_000  # the most steps that a program may have after inclusion (RD304)

Parts = Node | Group | Counter | Jump | Frame


class Lowered(Struct, frozen=True):
    """A program, the places of the transitions in its documents, and its inclusions, outer ones first."""

    program: Program
    written: tuple[Origin, ...]
    frames: tuple[Frame, ...]


def lower(main: Document, documents: Mapping[str, Document]) -> Lowered | Diagnostic:
    """Return the program of a document without errors, or a diagnostic if it is too large."""
    if _count(main, documents) > LARGEST_PROGRAM:
        problem = f"with everything it includes, this runbook has more than {LARGEST_PROGRAM:,} steps"
        remedy = "include runbooks fewer times, or compile the parts separately"
        return Diagnostic("RD304", main.source.path, main.runbook.steps[0].span, problem, remedy)
    found: dict[type, list[Any]] = {Node: [], Group: [], Counter: [], Jump: [], Frame: []}
    frame = Frame(main, visible=visible(main.runbook.declared))
    stack: list[Iterator[Parts]] = [iter((frame,))]
    while stack:
        for part in stack[-1]:
            found[type(part)].append(part)
            if isinstance(part, Frame):  # its parts come before the remaining parts of this frame
                stack.append(_parts(part, documents))
                break
        else:
            stack.pop()
    name, declared = _name(main), [item.document.runbook.declared for item in found[Frame]]
    others = (documents[one] for one in sorted(documents) if one != main.source.name)
    program = Program(
        name=name,
        title=main.runbook.title or name,
        sources=tuple(SourceFile(item.source.name, item.source.sha256) for item in [main, *others]),
        entry=enter_step(frame, frame.start).target,
        nodes=tuple(found[Node]),
        groups=tuple(found[Group]),
        counters=tuple(found[Counter]),
        slots=tuple(slot for item in found[Frame] for slot in item.visible.added),
        inputs=tuple(each.input for each in main.runbook.declared.inputs),
        secrets=tuple(dict.fromkeys(secret for each in declared for secret in each.secrets)),
        jumps=tuple(found[Jump]),
        description=_description(main.runbook),
    )
    steps = ((item.source.name, step) for item in documents.values() for step in all_steps(item.runbook))
    written = tuple(Origin(path, transition.span) for path, step in steps for transition in step.transitions)
    return Lowered(program, written, tuple(found[Frame]))


def _count(main: Document, documents: Mapping[str, Document]) -> int:
    """Return the number of steps of a document, counting each inclusion separately, or one that is too large."""
    total, level = 0, Tally([main.source.name])
    while level and total <= LARGEST_PROGRAM:
        included: Tally[str] = Tally()
        for name, times in level.items():
            document = documents[name]
            total += times * sum(1 for _ in all_steps(document.runbook))
            for item in references(document.runbook):
                if item.path in document.includes:
                    included[document.includes[item.path]] += times
        level = included
    return total


def _name(document: Document) -> str:
    file_name = posixpath.basename(document.source.name).removesuffix(".md").removesuffix(".runbook")
    given = document.runbook.metadata.get("name")
    plain = given if isinstance(given, str) and given.strip() else file_name
    return safe_name(plain, "runbook")


def _description(runbook: Runbook) -> str:
    """Return the description in the frontmatter, or the first paragraph above the steps."""
    given = runbook.metadata.get("description")
    found = given if isinstance(given, str) else runbook.description.partition("\n\n")[0]
    return found.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # YAML can escape half a character


def _parts(frame: Frame, documents: Mapping[str, Document]) -> Iterator[Parts]:
    outcomes = Outcomes(frame)
    registers = tuple(frame.counters())
    if frame.origin:
        yield Group(
            frame.scope,
            text(frame.title),
            text(frame.document.runbook.description),
            "runbook",
            frame.outer_group,
            frame.origin,
        )
        effects = _fresh(frame)
        start = enter_step(frame, frame.start).target
        yield Node(frame.scope, text(frame.title), frame.origin, Branch(), (Edge((), effects, start),), frame.scope)
        if frame.entering:
            yield Jump(frame.scope, frame.scope, frame.entering)
    yield from registers
    yield from operator_jumps(frame)
    for step in frame.steps:
        ref = frame.ref(step)
        if ref.is_leaf:
            yield from _leaf(outcomes, ref, frame.scope)
            continue
        title, prompt = _text(frame, ref, step.title), _text(frame, ref, step.prompt)
        yield Group(frame.id(ref), title, prompt, "step", frame.scope, frame.at(step.span))
        for substep in step.substeps:
            yield from _step_parts(outcomes, frame.ref(step, substep), frame.id(ref), documents)
        yield from _step_parts(outcomes, ref, frame.scope, documents)
    yield from _ends(outcomes)


def _fresh(frame: Frame) -> tuple[Effect, ...]:
    """Return the effects when a nested runbook starts: its counters and outputs are reset."""
    has_counters = any(True for _ in frame.counters())
    return (*((Reset(frame.scope),) if has_counters else ()), *frame.visible.fresh)


def _step_parts(outcomes: Outcomes, ref: StepRef, group: str, documents: Mapping[str, Document]) -> Iterator[Parts]:
    """Yield a leaf's node, or a step's nested runbooks and the nodes that decide its outcome."""
    frame = outcomes.frame
    if ref.is_leaf:
        yield from _leaf(outcomes, ref, group)
        return
    own = frame.id(ref)
    title = _text(frame, ref, ref.syntax.title)
    if ref.substep:
        yield Group(own, title, Text(), "step", group, frame.at(ref.syntax.span))
    for index, reference in enumerate(ref.syntax.runbooks):
        yield _runbook(outcomes, ref, index, reference, documents)
    origin = frame.at(ref.syntax.span)
    if ref.substep is None and ref.step.id in frame.marked:
        edges = tuple(outcomes.decision_edges(ref))
        yield Node(own, title, origin, Branch(), edges, own, _variables(frame, ref))
    for verdict in Verdict:
        edges = tuple(outcomes.settled_edges(ref, verdict))
        if edges:
            yield Node(settled_id(frame, ref, verdict), title, origin, Branch(), edges, own, _variables(frame, ref))


STRICT = "set -euo pipefail\n"
"""The first line of a strict block's command (E13); part of the command, so that every target shows and runs it."""


def _leaf(outcomes: Outcomes, ref: StepRef, group: str) -> Iterator[Node]:
    """Yield the node of a step without children, after that of the agent whose work it checks (E15)."""
    frame, syntax = outcomes.frame, ref.syntax
    task, edges, variables = _task(frame, ref), tuple(outcomes.leaf_edges(ref)), _variables(frame, ref)
    title, origin = _text(frame, ref, syntax.title), frame.at(syntax.span)
    retries = frame.retries(ref) if ref.has_retry else None
    if ref.label in frame.by_agents:
        failed = (edge for edge in edges if OutcomeTest(Verdict.FAIL.value) in edge.guard)
        work = (Edge((OutcomeTest(Verdict.PASS.value),), (), frame.id(ref)), *failed)
        prompt = joined([*title.parts, *(("\n\n",) if syntax.title and syntax.prompt else ()), *task.prompt.parts])
        yield Node(frame.entry(ref), title, origin, Agent("", prompt), work, group, variables, retries)
        task = replace(task, prompt=Text())
    if isinstance(task, Shell) and frame.visible.slots:
        edges = tuple(replace(edge, effects=(*frame.visible.keeps, *edge.effects)) for edge in edges)
        variables = (*variables, *frame.visible.variables)
    elif isinstance(task, Ask) and task.value:
        keep, passes = Keep(frame.visible.slots[task.value.name]), OutcomeTest(Verdict.PASS.value)
        edges = tuple(replace(edge, effects=(keep, *edge.effects)) if passes in edge.guard else edge for edge in edges)
    yield Node(frame.id(ref), title, origin, task, edges, group, variables, retries)


def _task(frame: Frame, ref: StepRef) -> Shell | Ask:
    """Return a command for an executable block, and a question for any other step (M2, M3)."""
    code, prompt = ref.syntax.code, _text(frame, ref, ref.syntax.prompt)
    written = code.text.removesuffix("\n") if code else ""
    if code and code.interpreter:
        strict = STRICT if frame.document.runbook.declared.shell == "strict" else ""
        command = with_references(strict + written, _instances(frame, ref))
        return Shell("bash" if code.interpreter == "bash" else "sh", command, prompt)
    block = _text(frame, ref, written) if code else None
    language, value = code.language if code else "", frame.asked.get(ref.label)
    if value:
        return Ask("value", prompt, block, language, value=value)
    yes_no = any(item.word is Word.YES or item.word is Word.NO for item in ref.syntax.transitions)
    items = tuple(_text(frame, ref, item) for item in ref.syntax.checklist)
    return Ask("yes_no" if yes_no else "pass_fail", prompt, block, language, items=items)


def _text(frame: Frame, ref: StepRef, written: str) -> Text:
    """Return a step's text with references to inputs, outputs and instance numbers (M5, E1, E2)."""
    return with_references(written, {**frame.visible.references, **_instances(frame, ref)})


def with_references(written: str, registers: Mapping[str, str]) -> Text:
    """Return text with references to the registers of placeholders, except those after a `$` (M5, E1, E2).

    An unset slot shows its placeholder, which has double braces.
    """
    if not registers or "{" not in written:
        return text(written)
    parts = re.split(rf"((?<!\$)(?:{'|'.join(map(re.escape, registers))}))", written)
    missing = {part: part if part.startswith("{{") else "" for part in registers}
    return joined([TextReference(registers[one], one, missing[one]) if one in registers else one for one in parts])


_NAMES = {"{N}": "RDC_STEP_INSTANCE", "{n}": "RDC_SUBSTEP_INSTANCE"}


def _instances(frame: Frame, ref: StepRef) -> dict[str, str]:
    """Return the counters of the dynamic steps around a step, or of the step itself, by placeholder (M5)."""
    found: dict[str, str] = {}
    if ref.step.id is Dynamic.STEP:
        found["{N}"] = frame.step_counter
    if ref.substep is not None and ref.substep.id is Dynamic.SUBSTEP:
        found["{n}"] = frame.substep_counter(ref.step)
    return found


def _variables(frame: Frame, ref: StepRef) -> tuple[Variable, ...]:
    """Return the instance numbers that a step's commands can read: its own and those around its runbook (M4)."""
    instances = _instances(frame, ref)
    if not instances:
        return frame.variables
    own = [Variable(_NAMES[placeholder], register) for placeholder, register in instances.items()]
    names = {variable.name for variable in own}
    return (*(variable for variable in frame.variables if variable.name not in names), *own)


def _runbook(
    outcomes: Outcomes, ref: StepRef, index: int, reference: Reference, documents: Mapping[str, Document]
) -> Frame | Node:
    """Return a nested runbook as a frame, or as a question if it is missing (`check --no-link`)."""
    frame = outcomes.frame
    name = frame.runbook_ids[ref.label][index]
    origin = frame.at(reference.span)
    arrivals = {verdict: outcomes.after_runbook(ref, index, verdict) for verdict in Verdict}
    document = documents.get(frame.document.includes.get(reference.path, ""))
    if document is None:
        edges = tuple(arrival.edge((OutcomeTest(verdict.value),)) for verdict, arrival in arrivals.items())
        return Node(name, text(reference.path), origin, Ask("pass_fail", Text()), edges, frame.id(ref))
    title = document.runbook.title or reference.path
    ends = (arrivals[Verdict.PASS], arrivals[Verdict.FAIL])
    seen = visible(document.runbook.declared, frame.visible, name + "/")
    inner = Frame(document, name + "/", name, title, origin, frame.id(ref), _variables(frame, ref), seen, *ends)
    effects = _fresh(inner)
    fresh = (Entering(name, effects),) if effects else ()
    return replace(inner, entering=entering_step(frame, ref.step) + _entering_list(frame, ref) + fresh)


def _entering_list(frame: Frame, ref: StepRef) -> tuple[Entering, ...]:
    """Return the effects of an operator's jump into a runbook of a substep: a new visit starts (M9, M12)."""
    if ref.substep is None:
        return ()
    retries = (Set(frame.retries(ref), 0),) if ref.has_retry else ()
    first = (AtLeast(frame.substep_counter(ref.step), 1),) if ref.substep.id is Dynamic.SUBSTEP else ()
    return (Entering(frame.id(ref), (*retries, *first)),) if retries or first else ()


def _ends(outcomes: Outcomes) -> Iterator[Node]:
    """Yield the ends that edges lead to; ends of a nested runbook continue in the runbook around it (M8)."""
    frame = outcomes.frame
    for name, ending in outcomes.endings.items():
        is_complete = ending.result == "complete"
        arrival = frame.complete if is_complete else frame.stop
        verdict = Verdict.PASS if is_complete else Verdict.FAIL
        edges = (arrival.settling(frame.scope, verdict).edge(),) if arrival else ()
        message = _text(frame, ending.step, ending.message) if ending.step else Text()
        variables = _variables(frame, ending.step) if ending.step else frame.variables
        yield Node(name, Text(), frame.at(ending.span), End(ending.result, message), edges, frame.scope, variables)


def operator_jumps(frame: Frame) -> Iterator[Jump]:
    """Yield the jumps to steps of one inclusion that have effects, in document order."""
    for step in frame.steps:
        if frame.ref(step).is_leaf and not frame.entering and frame.ref(step).label not in frame.by_agents:
            continue  # for most steps, a jump has no effects
        inner = entering_step(frame, step)
        for ref in (frame.ref(step), *(frame.ref(step, substep) for substep in step.substeps)):
            # A jump to a dynamic substep always keeps its step's state, as for the current `{n}`.
            is_dynamic = ref.substep is not None and isinstance(ref.substep.id, Dynamic)
            entering = frame.entering if ref.substep is None or is_dynamic else inner
            by_agent = ref.label in frame.by_agents
            if not entering and ref.is_leaf and not is_dynamic and not by_agent:
                continue
            target = Target(False, step.id, ref.substep.id if ref.substep else None, ref.syntax.span)
            arrival = jump(frame, step, target, inside=True)
            found = Jump(frame.id(ref), arrival.target, entering, arrival.effects)
            if found.all_effects or by_agent:
                yield found
            if found.all_effects and by_agent:
                yield replace(found, id=found.target)


def entering_step(frame: Frame, step: Step) -> tuple[Entering, ...]:
    """Return the effects of a jump on each group around a step's child, outermost first."""
    effects = restarted(frame, step)
    return (*frame.entering, *((Entering(frame.id(frame.ref(step)), effects),) if effects else ()))
