"""A rule on the picture of its document: the numbered path that breaks it, or the steps that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from backends.picture.captions import Lines, wrapped
from backends.picture.model import Box, Picture, picture
from backends.picture.sheet import Sheet
from compiler.ir.answers import spoken
from compiler.ir.program import Program
from compiler.ir.rules import Event, Rule
from compiler.ir.tasks import End
from compiler.rules.model import Proof, RuleResult, Status

MOST_NUMBERS = 8  # the most visits that a box lists; `…` replaces those in the middle

NOTE_WIDTH = 60  # in characters


def rule_sheet(program: Program, result: RuleResult, *, folds: bool) -> Sheet:
    """Return the picture of a document with one of its rules; with `folds`, a step of a specification is one box."""
    drawn = with_rule(picture(program, folds=folds), program, result)
    title, first = program.title or program.name, program.sources[0]
    return Sheet(drawn, title, first.path, (first,), drawn.notes, remade="draw the rule again")


def with_rule(drawn: Picture, program: Program, result: RuleResult) -> Picture:
    """Return the picture with a note on the rule's verdict, and marks on the boxes and frames that it is about."""
    notes = (*drawn.notes, *_notes(result))
    if result.rule is None:
        return replace(drawn, notes=notes)
    is_broken = result.proof.status is Status.BROKEN
    about = _path(program, result.proof) if is_broken else _roles(program, result.rule)
    homes = _homes(drawn, program)
    lines: dict[str, list[str]] = {}
    for step, found in about.items():
        lines.setdefault(homes.get(step, step), []).extend(found)
    boxes = tuple(_marked(box, lines.get(_subject(box), ())) for box in drawn.boxes)
    names = {box.node.id for box in boxes}  # a step of a specification and its first stage have the same id
    frames = tuple(
        frame
        if frame.id in names or frame.id not in lines
        else replace(frame, title=" · ".join((frame.title, *lines[frame.id])), mark="changed")
        for frame in drawn.frames
    )
    return replace(drawn, boxes=boxes, frames=frames, notes=notes)


def _notes(result: RuleResult) -> Lines:
    declared, proof = result.declared, result.proof
    inputs = f" with {', '.join(f'{name}={value}' for name, value in proof.inputs)}" if proof.inputs else ""
    return wrapped(f"rule {declared.name}: {proof.status}{inputs}", NOTE_WIDTH) + wrapped(declared.sentence, NOTE_WIDTH)


def _subject(box: Box) -> str:
    """Return the name under which a rule knows a box: all ends of the run with one result have the same."""
    task = box.node.task
    return _end(task.result) if isinstance(task, End) and not box.node.edges else box.node.id


def _end(word: str) -> str:
    return f"\0{word}"  # no step has such an id


def _homes(drawn: Picture, program: Program) -> Mapping[str, str]:
    """Return the box of each stage in a picture that has one box for a whole step."""
    names = {box.node.id for box in drawn.boxes}
    return {node.id: node.group for node in program.nodes if node.id not in names and node.group in names}


def _marked(box: Box, lines: Sequence[str]) -> Box:
    if not lines:
        return box
    return replace(box, lines=(*box.lines, *(part for line in lines for part in wrapped(line))), mark="changed")


# --- A path that breaks the rule --------------------------------------------------------------------------------------


def _path(program: Program, proof: Proof) -> dict[str, list[str]]:
    """Return the numbers of the visits with their outcomes by step, and where the path breaks the rule."""
    nodes = program.index()
    numbers: dict[str, list[str]] = {}
    for number, made in enumerate(proof.visits, 1):
        word = spoken(nodes[made.step].task, made.outcome.word)
        numbers.setdefault(made.step, []).append(f"({number}) {word}")
    lines = {step: [", ".join(_shortened(found))] for step, found in numbers.items()}
    last, event = len(proof.visits), proof.event
    if event and not event.word:
        lines.setdefault(event.step, []).append(f"({last + 1}) breaks the rule")
    elif event and proof.visits:
        ended = f"of {event.step} " if event.step else ""
        lines[proof.visits[-1].step].append(f"({last}) the end {ended}breaks the rule")
    return lines


def _shortened(found: Sequence[str]) -> list[str]:
    half = MOST_NUMBERS // 2
    return [*found] if len(found) <= MOST_NUMBERS else [*found[:half], "…", *found[-half:]]


# --- The steps of a rule ----------------------------------------------------------------------------------------------


def _roles(program: Program, rule: Rule) -> dict[str, list[str]]:
    """Return the roles of each step: `opens: YES`, `closes: FAIL`, `guarded` or `at most 3 times`."""
    nodes, roles = program.index(), dict[str, dict[str, list[str]]]()

    def add(role: str, events: Sequence[Event]) -> None:
        for event in events:
            node = nodes.get(event.step)
            word = spoken(node.task, event.word) if node else event.word.upper()
            step = event.step or _end(event.word)
            roles.setdefault(step, {}).setdefault(role, []).append(word or "start")

    add("opens", rule.opens)
    add("closes", rule.closes)
    guarded = "guarded" if rule.most is None else f"at most {rule.most} time{'s' * (rule.most != 1)}"
    add(guarded, rule.guards)
    return {step: [_role(role, words, guarded) for role, words in found.items()] for step, found in roles.items()}


def _role(role: str, words: Sequence[str], guarded: str) -> str:
    return role if role == guarded else f"{role}: {', '.join(dict.fromkeys(words))}"
