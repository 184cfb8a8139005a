"""A rule on the picture of its document: the numbered path that breaks it, or the steps that it is about."""

from msgspec.structs import replace

from backends.picture.captions import wrapped
from backends.picture.model import Box, Picture, picture
from backends.picture.sheet import Sheet
from compiler.ir.answers import spoken
from compiler.ir.program import Program
from compiler.ir.rules import Rule
from compiler.ir.tasks import End
from compiler.rules.model import Proof, RuleResult, Status

NOTE_WIDTH = 60  # in characters

Marks = dict[str, dict[str, None]]
"""The lines to add to boxes and frames, without duplicates. The ends of the run are `\\0complete` and `\\0stop`."""


def rule_sheet(program: Program, result: RuleResult, *, folds: bool) -> Sheet:
    """Return the picture of a document with one of its rules; with `folds`, a step of a specification is one box."""
    drawn = with_rule(picture(program, folds=folds), program, result)
    title, first = program.title or program.name, program.sources[0]
    return Sheet(drawn, title, first.path, (first,), drawn.notes, remade="draw the rule again")


def with_rule(drawn: Picture, program: Program, result: RuleResult) -> Picture:
    """Return the picture with a note on the rule's verdict, and marks on the boxes and frames that it is about."""
    declared, proof, rule = result.declared, result.proof, result.rule
    given = f" with {', '.join(f'{name}={value}' for name, value in proof.inputs)}" if proof.inputs else ""
    notes = (f"rule {declared.name}: {proof.status}{given}", declared.sentence)
    is_broken = proof.status is Status.BROKEN
    marks = _path(program, proof) if is_broken else _roles(program, rule) if rule else {}
    names = {box.node.id for box in drawn.boxes}
    for node in program.nodes:  # a box for a whole step has the marks of its stages
        if node.id not in names and node.id in marks and node.group in names:
            marks.setdefault(node.group, {}).update(marks.pop(node.id))
    frames = tuple(
        replace(frame, title=" · ".join((frame.title, *marks[frame.id])), mark="changed")
        if frame.id in marks and frame.id not in names
        else frame
        for frame in drawn.frames
    )
    boxes = tuple(_marked(box, marks) for box in drawn.boxes)
    shown = (line for note in notes for line in wrapped(note, NOTE_WIDTH))
    return replace(drawn, boxes=boxes, frames=frames, notes=(*drawn.notes, *shown))


def _marked(box: Box, marks: Marks) -> Box:
    task = box.node.task
    found = marks.get(f"\0{task.result}" if isinstance(task, End) and not box.node.edges else box.node.id, ())
    lines = (line for mark in found for line in wrapped(mark))
    return replace(box, lines=(*box.lines, *lines), mark="changed") if found else box


def _path(program: Program, proof: Proof) -> Marks:
    """Return the numbers of the visits with their outcomes by step, and the place where the path breaks the rule."""
    nodes, last, event = program.index(), len(proof.visits), proof.event
    numbers: dict[str, list[str]] = {}
    for number, made in enumerate(proof.visits, 1):
        word = spoken(nodes[made.step].task, made.outcome.word)
        numbers.setdefault(made.step, []).append(f"({number}) {word}")
    marks: Marks = {step: {", ".join(found): None} for step, found in numbers.items()}
    if event and not event.word:
        marks.setdefault(event.step, {})[f"({last + 1}) breaks the rule"] = None
    elif event and proof.visits:
        ended = f"of {event.step} " if event.step else ""
        marks[proof.visits[-1].step][f"({last}) the end {ended}breaks the rule"] = None
    return marks


def _roles(program: Program, rule: Rule) -> Marks:
    """Return the roles of each step: `opens: YES`, `closes: FAIL`, `guarded` or `at most 3 times`."""
    nodes, marks = program.index(), Marks()
    guarded = "guarded" if rule.most is None else f"at most {rule.most} time{'s' * (rule.most != 1)}"
    for role, events in (("opens", rule.opens), ("closes", rule.closes), (guarded, rule.guards)):
        for event in events:
            node = nodes.get(event.step)
            word = spoken(node.task, event.word) if node else event.word.upper()
            shown = role if role == guarded else f"{role}: {word or 'start'}"
            marks.setdefault(event.step or f"\0{event.word}", {})[shown] = None
    return marks
