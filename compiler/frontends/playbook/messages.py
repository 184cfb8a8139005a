"""What is said about lines that cannot stand where they do, and about what a document loses (P3 to P15)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from compiler.diagnostic import Diagnostic, Fix, Related
from compiler.frontends.playbook.directives import QUESTIONS
from compiler.frontends.playbook.lines import Line
from compiler.frontends.playbook.syntax import Branch, Input
from compiler.source import Source, Span
from compiler.suggestions import did_you_mean, nearest_name

LONGEST_NAME = 64
"""In characters: what is longer is no misspelled name, and comparing it would take its time."""


def close(word: str, known: Sequence[str]) -> str:
    """The words `; did you mean …?` if one of the known is near."""
    return did_you_mean(word, known) if len(word) <= LONGEST_NAME else ""


def near(word: str, known: Sequence[str]) -> str:
    """The nearest of the known words, "" if none is near."""
    return nearest_name(word, known) if len(word) <= LONGEST_NAME else ""


# --- Branches --------------------------------------------------------------------------------------------------------


def nested(source: Source, outer: Line, inner: Line) -> Diagnostic:
    """An `if` within another one (P14)."""
    problem = f"this `if` stands inside the `if` of line {outer.number}, and branches cannot be nested"
    remedy = "close the outer one first, and let a later step branch on what this step keeps with @output"
    return Diagnostic("RD706", source.path, inner.span, problem, remedy, (_first(source, outer, "the outer `if`"),))


def unclosed(source: Source, opened: Line, before: Line | None) -> Diagnostic:
    """An `if` without its `endif` before the next section (P14)."""
    where = f"before the heading in line {before.number}" if before else "before the end of the document"
    problem = f"this `if` is not closed {where}"
    last, end = len(source.lines), len(source.lines[-1]) + 1
    at = Span(before.number, 1, before.number, 1) if before else Span(last, end, last, end)
    text = "```endif```\n\n" if before else ("" if end == 1 else "\n") + "```endif```\n"
    remedy = "add a line ```endif``` below its last branch"
    return Diagnostic("RD707", source.path, opened.span, problem, remedy, fix=Fix.by(at, text))


def stray(source: Source, marker: Line, opened: Line | None) -> Diagnostic:
    """An `elif`, `else` or `endif` that belongs to no `if`, or that stands below the `else` of one (P14)."""
    name = marker.kind.lower()
    broken = _broken_if(source, marker.number)
    if opened is None and broken:
        problem = f"this `{name}` belongs to no `if`: line {broken} looks like one, but is text"
        remedy = f'write line {broken} as ```if name == "text"```'
    elif opened is None:
        problem, remedy = f"this `{name}` belongs to no `if`", "remove it, or begin the branches with an `if` above it"
    else:
        problem = f"this `{name}` stands below the `else` of the `if` in line {opened.number}"
        remedy = "let the `else` be the last branch"
    return Diagnostic("RD708", source.path, marker.span, problem, remedy)


def _broken_if(source: Source, below: int) -> int:
    """The line above this one, in the same branches, that looks like an `if` and is text; 0 if there is none."""
    for number in range(below - 1, 0, -1):
        text = source.lines[number - 1].strip().lower()
        if text.startswith(("#", "```endif")):
            return 0
        if text.lstrip("`").lstrip().startswith("if ") and text.startswith("```"):
            return number
    return 0


def outside_branches(source: Source, heading: Line) -> Diagnostic:
    """The heading of a sub-step that stands in no branch (P14)."""
    problem = "this heading of a sub-step stands in no branch, so the sub-step would not run"
    remedy = "put it between ```if …``` and ```endif```, or make it a step: `## STEP n: Title`"
    return Diagnostic("RD713", source.path, heading.span, problem, remedy)


def bare_condition(source: Source, marker: Line) -> Iterator[Diagnostic]:
    """An `if` or `elif` that names a boolean input and compares it with nothing (P14)."""
    if marker.found is None or marker.kind == "ELSE" or marker.found["operator"]:
        return
    word, name = marker.kind.lower(), marker.get("name")
    problem = f'`{word} {name}` means `{word} {name} == "true"`'
    remedy = f'other programs may not read it so: to be sure, write ```{word} {name} == "true"```'
    name_at = marker.within("name")
    end = Span(name_at.line, name_at.end_column, name_at.line, name_at.end_column)
    fix = Fix.by(end, ' == "true"', is_safe=True)
    yield Diagnostic("RD731", source.path, marker.span, problem, remedy, fix=fix)


def of_another_step(source: Source, heading: Line, parent: int) -> Diagnostic:
    """A sub-step with the number of another step (P14)."""
    label = f"{heading.get('number')}{heading.get('letter')}"
    problem = f"sub-step {label} stands in step {parent}"
    remedy = f"number it {parent}{heading.get('letter')}"
    fix = Fix.by(heading.within("number"), str(parent))
    return Diagnostic("RD717", source.path, heading.span, problem, remedy, fix=fix)


def above_substep(source: Source, lines: Sequence[Line], heading: Line) -> Iterator[Diagnostic]:
    """What stands in a branch above its first sub-step, and belongs to none (P14)."""
    for line in lines:
        if (span := _written(source, line)) is not None:
            problem = f"this stands above the first sub-step of its branch, in line {heading.number}, and is left out"
            yield Diagnostic("RD718", source.path, span, problem, "move it below the heading of a sub-step")
            return


def below_branches(source: Source, endif: Line, lines: Sequence[Line]) -> Iterator[Diagnostic]:
    """What stands below the branches of a step, and is done before them (P14)."""
    for line in lines:
        if (span := _written(source, line)) is not None:
            problem = f"this stands below the `endif` of line {endif.number}, but is done before the branches"
            remedy = "move it above the `if`, into a branch, or into a step of its own"
            yield Diagnostic("RD718", source.path, span, problem, remedy)
            return


def after_else(source: Source, branches: Sequence[Branch]) -> Iterator[Diagnostic]:
    """A branch of a further `if` in a step whose branches have an `else` already: it can never run (P14)."""
    always = next((place for place, branch in enumerate(branches) if branch.condition is None), len(branches))
    for branch in branches[always + 1 : always + 2]:
        problem = "this branch never runs: a step runs one branch, and the `else` above takes all that is left"
        related = Related(source.path, branches[always].span, "the `else`")
        yield Diagnostic("RD727", source.path, branch.span, problem, "begin a new step above it", (related,))


def _written(source: Source, line: Line) -> Span | None:
    """The place of a line, or of the first line of a text, that is not blank."""
    if line.kind != "TEXT":
        return line.span
    numbers = (number for number in range(line.number, line.last + 1) if number not in source.ignoring_lines)
    number = next((number for number in numbers if source.lines[number - 1].strip()), None)
    return source.line_span(number) if number else None


# --- Parts that count once -------------------------------------------------------------------------------------------


def _first(source: Source, line: Line, what: str) -> Related:
    return Related(source.path, line.span, what)


def overridden(source: Source, first: Line, again: Line, what: str) -> Diagnostic:
    """Something that can be there once, and of which the last counts (P5, P10)."""
    problem = f"{what} stands in line {again.number} again, and only the last one counts"
    related = (_first(source, again, "this one counts"),)
    is_single = first.kind not in {"SYSTEM", "TEXT"}
    fix = without_equal(source, first.span, again.span) if is_single else None
    return Diagnostic("RD719", source.path, first.span, problem, "remove one of the two", related, fix)


def without_equal(source: Source, one: Span, other: Span) -> Fix | None:
    """The fix that removes a line which is there twice."""
    is_equal = source.lines[one.line - 1].strip() == source.lines[other.line - 1].strip()
    return Fix.by(source.whole_line(one.line), "", is_safe=True) if is_equal else None


def declared_twice(source: Source, first: Input, again: Input) -> Diagnostic:
    """Two inputs of one name (P7)."""
    problem = f"the input `{again.name}` is declared twice"
    related = (Related(source.path, first.span, "the first one"),)
    fix = without_equal(source, again.span, first.span)
    return Diagnostic("RD705", source.path, again.span, problem, "remove one of the two, or rename it", related, fix)


def too_large(source: Source, heading: Line) -> Diagnostic:
    """A number of a step that nobody meant."""
    problem = "the number of this step has more than nine digits"
    return Diagnostic("RD700", source.path, heading.within("number"), problem, "number the steps 1, 2, 3 and so on")


def unknown_question(source: Source, line: Line) -> Diagnostic:
    """An `@elicit` of a kind that there is not: it is left out (P11)."""
    kind = line.get("kind")
    problem = f"`{kind}` is not a kind of question, and the line is left out{close(kind.lower(), list(QUESTIONS))}"
    remedy = 'write @elicit(input, "…"), @elicit(confirm, "…?") or @elicit(select, "…", "one", "another")'
    meant = near(kind.lower(), list(QUESTIONS))
    fix = Fix.respelling(line.within("kind"), kind, meant)
    return Diagnostic("RD711", source.path, line.within("kind"), problem, remedy, fix=fix)
