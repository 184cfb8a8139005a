"""Check the validity rules on the syntax tree; each rule yields diagnostics (docs/formats/rundown.md)."""

from collections.abc import Callable, Collection, Iterator, Sequence

from msgspec.structs import replace

from compiler.diagnostics.model import Diagnostic, Fix, Related
from compiler.frontends.rundown.check.blocks import check_commands
from compiler.frontends.rundown.check.questions import check_languages, check_questions
from compiler.frontends.rundown.check.references import (
    almost_references,
    check_targets,
    references_in_commands,
    references_in_settings,
)
from compiler.frontends.rundown.check.unnoticed_failures import check_lost_state, check_silent
from compiler.frontends.rundown.link import references
from compiler.frontends.rundown.lower.frames import step_refs
from compiler.frontends.rundown.lower.values import misplaced_asks, unchecked_work, unknown_steps
from compiler.frontends.rundown.parse.messages import missing_steps, numbered_header, second_transition, with_number
from compiler.frontends.rundown.parse.outline import OFFER
from compiler.frontends.rundown.syntax import (
    UNKNOWN,
    Action,
    AnyStep,
    Continue,
    Dynamic,
    Goto,
    Identifier,
    Modifier,
    Runbook,
    Step,
    Substep,
    Transition,
    all_steps,
    spell,
)
from compiler.reading.comments import marks_in
from compiler.scenarios.model import Event, InvalidEvent, Reply
from compiler.scenarios.model import Goto as Jump
from compiler.text.regex import Regex
from compiler.text.source import Source, Span


def check_scenarios(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about each scenario command that `rdc test` cannot execute."""
    places = {ref.label for ref in step_refs(runbook.steps)} if any(item.jumps for item in runbook.scenarios) else set()
    values = None if any(True for _ in references(runbook)) else runbook.declared.outputs
    for scenario in runbook.scenarios:
        for command in scenario.replies:
            problem, remedy = _command_issue(command, places, values)
            if problem:
                text = f"scenario `{scenario.name}` cannot be tested: {problem}"
                yield Diagnostic("RD014", source.path, command.span, text, remedy)


def _command_issue(command: Event, places: Collection[str], values: Collection[str] | None) -> tuple[str, str]:
    """Return the problem with a command or "", and its remedy; `values` are the outputs, None with nested runbooks."""
    if isinstance(command, InvalidEvent):
        start = "start with `rd run [--prompted] FILE` and continue with `rd pass`, `rd fail` or `rd goto ID`"
        return command.message, command.help or start
    if isinstance(command, Jump):
        problem = "" if command.step in places else f"there is no step `{command.step}`"
        return problem, "use the number or name of a step in this document"
    given = command.values if isinstance(command, Reply) else ()
    unknown = [name for name, _ in given if values is not None and name not in values]
    problem = f"there is no output `{unknown[0]}`" if unknown else ""
    return problem, "declare it under `outputs`, or use the name of a declared output"


Rule = Callable[[Source, Runbook], Iterator[Diagnostic]]


def check(source: Source, runbook: Runbook) -> list[Diagnostic]:
    """Return all violations of V1 to V10; linking checks V11, and the graph is checked for V12."""
    return [diagnostic for rule in RULES for diagnostic in rule(source, runbook)]


def _titles(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about numbered steps without a title (G1)."""
    for step in all_steps(runbook):
        if isinstance(step.id, int) and not step.title:
            problem = "this step has no title"
            yield Diagnostic("RD036", source.path, step.span, problem, "describe in a few words what the step does")


def _sequence(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Check that steps, and the substeps of each step, are numbered 1, 2, 3 … (V2)."""
    missing = missing_steps(runbook.steps).values()
    headers = ", ".join(f"line {step.span.line} as `{numbered_header(step)}`" for step in missing)
    for found in _out_of_sequence(source, runbook.steps, "RD102", "step"):
        yield replace(found, help=f"write {headers}; a header starts with its number") if headers else found
    for step in runbook.steps:
        if step.substeps:
            yield from _out_of_sequence(source, step.substeps, "RD103", "substep")


def _out_of_sequence(source: Source, siblings: Sequence[AnyStep], code: str, kind: str) -> Iterator[Diagnostic]:
    expected = 1
    seen: set[Identifier] = set()
    slack = 1 if any(step.id == UNKNOWN for step in siblings) else 0
    for step in siblings:
        if not isinstance(step.id, int) or step.id in seen:
            continue
        if not expected <= step.id <= expected + slack:  # the unreadable header may have had this number
            problem = f"expected {kind} {expected}, found {kind} {step.id}"
            remedy = f"number the {kind}s 1, 2, 3 … in document order{OFFER}"
            yield Diagnostic(code, source.path, step.span, problem, remedy)
        seen.add(step.id)
        expected = step.id + 1


def _step_pattern(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Check for numbered steps or exactly one {N}; named steps may go with either (V3)."""
    dynamic = [step for step in runbook.steps if step.id is Dynamic.STEP]
    numbered = [step for step in runbook.steps if isinstance(step.id, int)]
    remedy = "use numbered steps or a single `{N}`, and turn the other steps into named steps"
    if dynamic and numbered:
        yield _pair(source, "RD104", (dynamic[0], numbered[0]), "numbered steps mixed with `{N}`", remedy)
    if len(dynamic) > 1:
        yield _pair(source, "RD104", dynamic[:2], "a second dynamic step", remedy)
    if not dynamic and not numbered and all(step.id != UNKNOWN for step in runbook.steps):
        problem = "this runbook has only named steps, so it starts with the first one"
        first = next((step for step in runbook.steps if step.code or step.substeps), runbook.steps[0])
        remedy = f"number the main steps: `{numbered_header(first) or with_number(source, first, 1)}`"
        yield Diagnostic("RD105", source.path, runbook.steps[0].span, problem, remedy)


def _substep_pattern(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Check for numbered and named substeps, or a single {n} (V4)."""
    for step in runbook.steps:
        dynamic = [substep for substep in step.substeps if substep.id is Dynamic.SUBSTEP]
        if dynamic and len(step.substeps) > 1:
            other = next(substep for substep in step.substeps if substep is not dynamic[0])
            remedy = "a dynamic substep must be the only substep; move the others to another step"
            yield _pair(source, "RD106", (dynamic[0], other), "`{n}` mixed with another substep", remedy)


def _pair(source: Source, code: str, pair: Sequence[AnyStep], problem: str, remedy: str) -> Diagnostic:
    first, later = sorted(pair, key=lambda step: step.span)
    related = Related(source.path, first.span, "the other one is here")
    return Diagnostic(code, source.path, later.span, problem, remedy, (related,))


def _identifiers(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Check that a substep's prefix is its step's identifier, and that identifiers are unique (V5)."""
    yield from _duplicates(source, runbook.steps, "")
    for step in runbook.steps:
        for substep in step.substeps:
            if UNKNOWN not in {substep.parent, step.id} and substep.parent != step.id:
                problem = f"substep `{spell(substep.parent)}.{spell(substep.id)}` is below step {spell(step.id)}"
                remedy = f"write `### {spell(step.id)}.{spell(substep.id)}`, or move it below its own step"
                yield Diagnostic("RD107", source.path, substep.span, problem, remedy)
        if step.substeps:
            yield from _duplicates(source, step.substeps, spell(step.id) + ".")


def _duplicates(source: Source, siblings: Sequence[AnyStep], prefix: str) -> Iterator[Diagnostic]:
    first: dict[Identifier, AnyStep] = {}
    for step in siblings:
        if step.id in first and not isinstance(step.id, Dynamic) and step.id != UNKNOWN:
            problem = f"duplicate step `{prefix}{spell(step.id)}`"
            related = Related(source.path, first[step.id].span, "first defined here")
            numbered = numbered_header(step) if isinstance(step, Step) else None
            renumber = f"give it another number{OFFER}"
            other = renumber if isinstance(step.id, int) else "give it another name"
            remedy = f"put the number first: `{numbered}`" if numbered else other
            yield Diagnostic("RD108", source.path, step.span, problem, remedy, (related,))
        first.setdefault(step.id, step)


def _bodies(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Check that a step has one kind of body, and that a substep with runbooks has no prompt (V6)."""
    for step in runbook.steps:
        body: Span | None = step.code.span if step.code else step.runbooks[0].span if step.runbooks else None
        if body and step.substeps:
            kind = "code block" if step.code else "runbook list"
            related = Related(source.path, body, f"the {kind} is here")
            problem = f"step {spell(step.id)} has both a {kind} and substeps"
            remedy = f"move the {kind} into a substep"
            yield Diagnostic("RD109", source.path, step.substeps[0].span, problem, remedy, (related,))
        for substep in step.substeps:
            if substep.runbooks and substep.prompt and not substep.prompt.startswith("</"):  # a tag below them
                problem = "this substep has both a prompt and a runbook list"
                remedy = "move the prompt to the step or into the runbook"
                yield Diagnostic("RD111", source.path, substep.runbooks[0].span, problem, remedy)


def _transitions(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Check that each outcome has one transition, and that ALL and ANY fit together and have children (V9)."""
    for step in all_steps(runbook):
        by_outcome: dict[bool, Transition] = {}
        is_modified = False
        for transition in step.transitions:
            passes = transition.word.passes
            earlier = by_outcome.setdefault(passes, transition)
            if earlier is not transition:
                yield second_transition(source, passes, earlier.span, transition.span)
            is_modified = is_modified or transition.modifier is not None
        if is_modified:
            yield from _modifiers(source, step, by_outcome.get(True), by_outcome.get(False))


def _modifiers(
    source: Source, step: AnyStep, passed: Transition | None, failed: Transition | None
) -> Iterator[Diagnostic]:
    modified = [transition for transition in (passed, failed) if transition and transition.modifier]
    has_children = bool(step.runbooks or (isinstance(step, Step) and step.substeps))
    if not has_children:
        for transition in modified:
            problem = f"{transition.modifier} has no effect: this step has no substeps or runbooks"
            line, column = transition.span.line, transition.span.column
            found = _MODIFIER.match(source.lines[line - 1], column - 1)
            fix = found and Fix.by(Span(line, found.start(1) + 1, line, found.end(1) + 1), "", is_safe=True)
            remedy = f"remove {transition.modifier}"
            yield Diagnostic("RD116", source.path, transition.span, problem, remedy, fix=fix)
    elif passed and failed and passed.modifier and passed.modifier == failed.modifier:
        both = passed.modifier
        other = Modifier.ANY if both is Modifier.ALL else Modifier.ALL
        problem = f"PASS {both} with FAIL {both} does not cover every case"
        remedy = f"write PASS {both} with FAIL {other}, or PASS {other} with FAIL {both}"
        related = Related(source.path, passed.span, "the other one is here")
        yield Diagnostic("RD115", source.path, failed.span, problem, remedy, (related,))


_MODIFIER = Regex(r"(?:PASS|FAIL|YES|NO)([ \t]+(?:ALL|ANY))\b")


def _tolerated(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Note once per step that a failure within a step without transitions does not count (M11)."""
    for step in runbook.steps:
        if step.transitions or not step.substeps:
            continue
        failed = next((item for child, item in _explicit_failures(step) if _stays(step, child, item.action)), None)
        if failed:
            problem = f"a failure here does not fail step {spell(step.id)}, because the step has no transitions"
            remedy = "add a FAIL transition to the step if the failure should count"
            yield Diagnostic("RD405", source.path, failed.span, problem, remedy)


def _continues_to_stop(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Note that FAIL: CONTINUE still fails a step with a PASS transition, whose default is STOP (M6, M11)."""
    for step in runbook.steps:
        if not step.transitions or not step.substeps:
            continue
        failed = next((item for _, item in _explicit_failures(step) if isinstance(item.action, Continue)), None)
        if failed and all(item.word.passes and not item.modifier for item in step.transitions):
            problem = f"after a failure here, step {spell(step.id)} fails, and by default the run stops"
            remedy = "add a FAIL transition to the step; to tolerate the failure, remove all of its transitions"
            yield Diagnostic("RD406", source.path, failed.span, problem, remedy)


def _marks(source: Source, _: Runbook) -> Iterator[Diagnostic]:
    """Warn about each guess of an importer that a person hasn't accepted (D2)."""
    for line, words in marks_in(source).items():
        problem = f"`rdc import` guessed here: {words}"
        yield Diagnostic("RD059", source.path, source.line_span(line), problem, "check it, then delete this comment")


def _explicit_failures(step: Step) -> Iterator[tuple[Substep, Transition]]:
    return ((child, item) for child in step.substeps for item in child.transitions if not item.word.passes)


def _stays(step: Step, child: Substep, action: Action) -> bool:
    """Return whether a substep's action continues in the same step without starting it over (M10)."""
    if not isinstance(action, Goto):
        return isinstance(action, Continue)
    target = action.target
    if target.step is None:
        return child.id is Dynamic.SUBSTEP
    return target.step == step.id and target.child is not None


RULES: tuple[Rule, ...] = (
    _titles,
    _sequence,
    _step_pattern,
    _substep_pattern,
    _identifiers,
    _bodies,
    check_languages,
    check_questions,
    check_lost_state,
    check_silent,
    check_commands,
    _transitions,
    check_targets,
    check_scenarios,
    almost_references,
    references_in_commands,
    references_in_settings,
    unknown_steps,
    misplaced_asks,
    unchecked_work,
    _tolerated,
    _continues_to_stop,
    _marks,
)
