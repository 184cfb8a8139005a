"""What a case has that can go wrong, by name: the random cases must have all of it, many times over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import fields

from tests.equivalence.cases import Case
from tests.equivalence.model import (
    CHILD_TEMPLATE,
    STEP_TEMPLATE,
    Action,
    Complete,
    Declared,
    Goto,
    Leaf,
    Result,
    Retry,
    Runbook,
    Runbooks,
    Step,
    Stop,
    Substep,
    Substeps,
    Transitions,
)
from tests.equivalence.render import Style
from tests.equivalence.snippets import SNIPPETS
from tests.equivalence.strategies import COMMAND_TAGS, SEPARATORS, SHOWN_TAGS
from tests.equivalence.texts import CODES, MAINS, MESSAGES, NAMES, PATHS, PROMPTS, SECRETS, TITLES, VARIABLES
from tests.equivalence.visits import Jump, Visit

AnyStep = Step | Substep


def all_steps(runbook: Runbook) -> Iterator[tuple[Step, AnyStep]]:
    """Every step with the step that it stands in."""
    for step in runbook.steps:
        yield step, step
        for child in step.children:
            yield step, child


def results(step: AnyStep) -> Iterator[Result]:
    """What a step says about its outcomes."""
    for result in (step.transitions.on_pass, step.transitions.on_fail):
        if result is not None:
            yield result


def action_of(result: Result) -> Action:
    """What is done in the end."""
    return result.then if isinstance(result, Retry) else result


def jumps(step: AnyStep) -> Iterator[Goto]:
    """Where a step may jump to."""
    for result in results(step):
        action = action_of(result)
        if isinstance(action, Goto):
            yield action


def count(case: Case) -> Counter[str]:
    """The features of a case, each once."""
    nested = [(f"nested {feature}", feature) for runbook in case.files.values() for feature in _of_runbook(runbook)]
    both = {name for pair in nested for name in pair}
    return Counter({*_of_runbook(case.runbook), *both, *_of_style(case), *_of_walk(case)})


def _of_style(case: Case) -> Iterator[str]:
    yield f"main document {case.main}"
    yield from (f"document {path}" for path in case.files)
    for field in fields(case.style):
        value = getattr(case.style, field.name)
        if value:
            yield f"style {field.name}" if value is True else f"separator {value}"


def _of_walk(case: Case) -> Iterator[str]:
    trace = case.walk()
    yield from (f"jump of an operator {_from(jump)} {_into_what(jump)}" for jump in trace.jumps)
    yield from (f"given an input, {'empty' if not value else 'text'}" for _, value in trace.given.inputs)
    yield f"end {trace.end[0] if trace.end else 'none'}"
    for visit, passed in trace.visits:
        yield from _of_beyond(visit, passed)
        yield f"visit of a {'command' if visit.is_command else 'prompt'}, {'pass' if passed else 'fail'}"
        yield f"runbook {visit.label.count('.runbook.md')} deep"
        if "~2/" in visit.label:
            yield "the same runbook again"
        if (visit.step_instance or 0) > 2:
            yield "third {N}"
        if (visit.substep_instance or 0) > 2:
            yield "third {n}"
        if visit.attempt > 2:
            yield "third attempt"


def _from(jump: Jump) -> str:
    return "from a nested prompt" if "/" in jump.waiting else "from a prompt" if jump.waiting else "after a STOP"


def _into_what(jump: Jump) -> str:
    if jump.step.endswith(".runbook.md") or "/" in jump.step:
        return "into a runbook"
    return "to a substep" if "." in jump.step else "to a step"


def _of_beyond(visit: Visit, passed: bool) -> Iterator[str]:
    beyond = visit.beyond
    said = {
        "a command sees variables": beyond.sees,
        "a command sees a masked value": any("***" in value for _, value in beyond.sees),
        "a nested command sees variables": beyond.sees and visit.file,
        "a command writes values": beyond.values,
        "a command that fails writes values": beyond.values and not passed,
        "a command writes what is malformed": beyond.is_broken,
        "a command has a timeout": beyond.timeout,
        "a timeout is reached": beyond.hangs,
        "a delay is waited": beyond.waits,
        "a prompt shows values": beyond.shown,
    }
    yield from (name for name, holds in said.items() if holds)


def _of_declared(declared: Declared) -> Iterator[str]:
    for item in declared.inputs:
        yield f"input {'pattern' if item.pattern else item.type}"
        yield f"input {'with' if item.default is not None else 'without'} a default"
        yield f"input {'required' if item.required else 'not required'}"
    yield from (f"variable {name}" for name in declared.names)
    yield from ("an output" for _ in declared.outputs)
    yield from (f"secret {name}" for name in declared.secrets)
    for step, says in declared.steps:
        where = "all" if step == "*" else "a nested step" if "/" in step else "a step"
        yield from (f"{key} of {where}" for key in ("timeout", "delay", "backoff", "env") if getattr(says, key))


def _of_runbook(runbook: Runbook) -> Iterator[str]:
    yield f"title {runbook.title}"
    yield f"description {runbook.description}"
    yield f"name {runbook.name}"
    yield from _of_declared(runbook.declared)
    if not any(step.is_numbered or step.ident == STEP_TEMPLATE for step in runbook.steps):
        yield "named steps only"
    if len(runbook.steps) > 9:
        yield "many steps"
    for step, part in all_steps(runbook):
        yield from _of_step(step, part)


def _kind(step: AnyStep) -> str:
    match step.body:
        case Substeps():
            return "step with substeps"
        case Runbooks():
            return "list"
        case _:
            return "leaf" if isinstance(step, Step) else "substep"


def _of_step(step: Step, part: AnyStep) -> Iterator[str]:
    kind = _kind(part)
    place = "substep" if kind == "list" and isinstance(part, Substep) else kind
    yield from {f"{kind} {_identifier(part.ident)}", f"{place} {_identifier(part.ident)}"}
    yield f"title {part.title}"
    if kind == "step with substeps" and not part.transitions.declared:
        yield "transparent step"
    if part.transitions.optimistic:
        yield f"{kind}, PASS ANY"
    yield from _of_transitions(kind, part.transitions)
    yield from (f"jump {_jump(step, part, goto)}" for goto in jumps(part))
    if isinstance(part.body, Leaf):
        yield from _of_leaf(part.body)
    else:
        yield f"prompt {part.body.prompt}"


def _of_leaf(leaf: Leaf) -> Iterator[str]:
    yield f"prompt {leaf.prompt}"
    if leaf.code is not None:
        snippet = next((name for name, (code, _) in SNIPPETS.items() if code == leaf.code), "")
        yield f"snippet {snippet}" if snippet else f"code {leaf.code}"
        yield f"tag {leaf.info}"


def _of_transitions(kind: str, transitions: Transitions) -> Iterator[str]:
    for word, result in (("PASS", transitions.on_pass), ("FAIL", transitions.on_fail)):
        if result is None:
            continue
        action = action_of(result)
        written = f"{word}: {'RETRY ' if isinstance(result, Retry) else ''}{type(action).__name__}"
        yield from (written, f"{kind}, {written}")
        if isinstance(action, Complete | Stop):
            yield f"message {action.message}"


def _identifier(ident: str) -> str:
    return ident if ident in {STEP_TEMPLATE, CHILD_TEMPLATE} else "number" if ident.isdecimal() else "name"


def _jump(step: Step, node: AnyStep, goto: Goto) -> str:
    """The form of a jump, and from where."""
    words = ["NEXT"] if goto.advance else []
    if goto.step is not None:
        place = [_identifier(goto.step)] + ([_identifier(goto.child)] if goto.child else [])
        words.append(".".join(place))
    inside = goto.step in {None, step.ident}
    return f"{' '.join(words)} {'within' if inside else 'from outside'}"


_ACTIONS = ("Continue", "Complete", "Stop", "Goto")
_KINDS = ("leaf", "substep", "list", "step with substeps")
_JUMPS = {
    "NEXT": ["within"],
    "{N}": ["within", "from outside"],
    "NEXT {N}": ["within", "from outside"],
    "{N}.number": ["within"],
    "{N}.name": ["within"],
    **{f"{step}.{{n}}": ["within", "from outside"] for step in ("{N}", "number", "name")},
    **{f"NEXT {step}.{{n}}": ["within", "from outside"] for step in ("{N}", "number", "name")},
    **{step: ["within", "from outside"] for step in ("number", "name")},
    **{f"{step}.{child}": ["within", "from outside"] for step in ("number", "name") for child in ("number", "name")},
}

EXPECTED = (
    *(f"{word} {ends}" for word in _KINDS for ends in ("number", "name")),
    *("leaf {N}", "list {N}", "step with substeps {N}", "substep {n}", "list {n}", "transparent step"),
    *(f"{kind}, {word}: {action}" for kind in _KINDS for word in ("PASS", "FAIL") for action in _ACTIONS),
    *(f"{kind}, {word}: RETRY {action}" for kind in _KINDS for word in ("PASS", "FAIL") for action in _ACTIONS),
    *(f"nested {word}: RETRY {action}" for word in ("PASS", "FAIL") for action in _ACTIONS),
    *("list, PASS ANY", "step with substeps, PASS ANY", "named steps only", "many steps"),
    *(f"jump {form} {place}" for form, places in _JUMPS.items() for place in places),
    *("end COMPLETE", "end STOP", "third {N}", "third {n}", "third attempt", "the same runbook again"),
    *(f"visit of a {kind}, {outcome}" for kind in ("command", "prompt") for outcome in ("pass", "fail")),
    *(f"runbook {depth} deep" for depth in range(4)),
    *(f"style {field.name}" for field in fields(Style) if field.name != "separator"),
    *(f"separator {text}" for text in SEPARATORS),
    *(f"main document {name}" for name in MAINS),
    *(f"document {path}" for path in PATHS),
    *(f"name {name}" for name in NAMES),
    *(f"title {title}" for title in TITLES),
    *(f"{place} {text}" for place in ("description", "prompt") for text in PROMPTS),
    *(f"message {message}" for message in MESSAGES),
    *(f"code {code}" for code in CODES),
    *(f"snippet {name}" for name in SNIPPETS),
    *(f"tag {tag}" for tag in (*COMMAND_TAGS, *SHOWN_TAGS)),
    *(f"input {kind}" for kind in ("string", "pattern", "number", "boolean", "choice", "required", "not required")),
    *("input with a default", "input without a default", "given an input, empty", "given an input, text"),
    *("an output", *(f"variable {name}" for name in VARIABLES)),
    *(f"secret {name}" for name in SECRETS),
    *(f"{key} of {where}" for key in ("timeout", "env") for where in ("all", "a step", "a nested step")),
    *("delay of all", "delay of a step", "a delay is waited", "a timeout is reached", "a command has a timeout"),
    *("a command sees variables", "a nested command sees variables", "a command sees a masked value"),
    *("a command writes values", "a command that fails writes values", "a command writes what is malformed"),
    *("a prompt shows values", "jump of an operator after a STOP to a step"),
    *(f"jump of an operator from a prompt {where}" for where in ("to a step", "to a substep")),
    "jump of an operator from a nested prompt to a step",
)
"""What must occur in some hundred random cases."""
