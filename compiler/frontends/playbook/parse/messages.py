"""Build diagnostics for lines in the wrong place and for lines that are ignored."""

from collections.abc import Iterator, Sequence

from compiler.diagnostics.model import Diagnostic, Fix, Related
from compiler.frontends.playbook.parse.lines import QUESTIONS, Line
from compiler.frontends.playbook.syntax import Branch, Input
from compiler.reading.comments import ignoring_lines
from compiler.text.source import Source, Span
from compiler.text.suggestions import did_you_mean, nearest_name

LONGEST_NAME = 64
"""The longest name to compare, in characters: longer ones aren't misspelled names, and comparing is slow."""


def close(word: str, known: Sequence[str]) -> str:
    """Return `; did you mean …?` if a known word is similar, or ""."""
    return did_you_mean(word, known) if len(word) <= LONGEST_NAME else ""


def near(word: str, known: Sequence[str]) -> str:
    """Return the most similar known word, or ""."""
    return nearest_name(word, known) if len(word) <= LONGEST_NAME else ""


def nested(source: Source, outer: Line, inner: Line) -> Diagnostic:
    """Return the diagnostic for an `if` inside another `if`."""
    problem = f"this `if` is inside the `if` of line {outer.number}, and branches cannot be nested"
    remedy = "close the outer `if` first; a later step can then branch on an @output of this step"
    return Diagnostic(
        "RD706", source.path, inner.span, problem, remedy, (Related(source.path, outer.span, "the outer `if`"),)
    )


def unclosed(source: Source, opened: Line, before: Line | None) -> Diagnostic:
    """Return the diagnostic for an `if` without an `endif` before the next section."""
    where = f"before the heading in line {before.number}" if before else "before the end of the document"
    problem = f"this `if` is not closed {where}"
    last, end = len(source.lines), len(source.lines[-1]) + 1
    at = Span(before.number, 1, before.number, 1) if before else Span(last, end, last, end)
    text = "```endif```\n\n" if before else ("" if end == 1 else "\n") + "```endif```\n"
    remedy = "add ```endif``` on a separate line below its last branch"
    return Diagnostic("RD707", source.path, opened.span, problem, remedy, fix=Fix.by(at, text))


def stray(source: Source, marker: Line, opened: Line | None) -> Diagnostic:
    """Return the diagnostic for an `elif`, `else` or `endif` without an `if`, or after the `else`."""
    name = marker.kind.lower()
    broken = _broken_if(source, marker.number)
    if opened is None and broken:
        problem = f"this `{name}` has no `if`: line {broken} looks like one but is text"
        remedy = f'write line {broken} as ```if name == "text"```'
    elif opened is None:
        problem, remedy = f"this `{name}` has no `if`", "remove it, or add an `if` above it"
    else:
        problem = f"this `{name}` comes after the `else` of the `if` in line {opened.number}"
        remedy = "move the `else` to the last branch"
    return Diagnostic("RD708", source.path, marker.span, problem, remedy)


def _broken_if(source: Source, below: int) -> int:
    """Return the line above that looks like an `if` of these branches but is text, or 0."""
    for number in range(below - 1, 0, -1):
        text = source.lines[number - 1].strip().lower()
        if text.startswith(("#", "```endif")):
            return 0
        if text.lstrip("`").lstrip().startswith("if ") and text.startswith("```"):
            return number
    return 0


def outside_branches(source: Source, heading: Line) -> Diagnostic:
    """Return the diagnostic for a sub-step outside a branch."""
    problem = "this sub-step is not inside a branch, so it would not run"
    remedy = "put it between ```if …``` and ```endif```, or make it a step: `## STEP n: Title`"
    return Diagnostic("RD713", source.path, heading.span, problem, remedy)


def bare_condition(source: Source, marker: Line) -> Iterator[Diagnostic]:
    """Note an `if` or `elif` that names a boolean input without comparing it."""
    if marker.found is None or marker.kind == "ELSE" or marker.found["operator"]:
        return
    word, name = marker.kind.lower(), marker.get("name")
    problem = f'`{word} {name}` means `{word} {name} == "true"`'
    remedy = f'other programs may read it differently; to be safe, write ```{word} {name} == "true"```'
    name_at = marker.within("name")
    fix = Fix.by(Span(name_at.line, name_at.end_column, name_at.line, name_at.end_column), ' == "true"', is_safe=True)
    yield Diagnostic("RD731", source.path, marker.span, problem, remedy, fix=fix)


def of_another_step(source: Source, heading: Line, parent: int) -> Diagnostic:
    """Return the diagnostic for a sub-step with another step's number."""
    problem = f"sub-step {heading.get('number')}{heading.get('letter')} is in step {parent}"
    remedy = f"renumber it {parent}{heading.get('letter')}"
    fix = Fix.by(heading.within("number"), str(parent))
    return Diagnostic("RD717", source.path, heading.span, problem, remedy, fix=fix)


def above_substep(source: Source, lines: Sequence[Line], heading: Line) -> Iterator[Diagnostic]:
    """Warn about lines in a branch above its first sub-step, which are ignored."""
    for line in lines:
        if (span := _written(source, line)) is not None:
            problem = f"this is above the first sub-step of its branch, in line {heading.number}, so it is ignored"
            yield Diagnostic("RD718", source.path, span, problem, "move it below the heading of a sub-step")
            return


def below_branches(source: Source, endif: Line, lines: Sequence[Line]) -> Iterator[Diagnostic]:
    """Report lines below the branches of a step, which run before them; an `@output` there is an error."""
    for line in lines:
        if line.kind == "OUTPUT":
            problem = f"this @output is below the `endif` in line {endif.number}, so it gets no answer of the branches"
            remedy = "write it in each branch, or above the `if` for an answer to the step's own text"
            yield Diagnostic("RD738", source.path, line.span, problem, remedy)
    for line in (line for line in lines if line.kind != "OUTPUT"):
        if (span := _written(source, line)) is not None:
            problem = f"this is below the `endif` in line {endif.number}, but runs before the branches"
            remedy = "move it above the `if`, into a branch, or into another step"
            yield Diagnostic("RD718", source.path, span, problem, remedy)
            return


def after_else(source: Source, branches: Sequence[Branch]) -> Iterator[Diagnostic]:
    """Warn about a branch after the `else` of the same step, which never runs."""
    always = next((place for place, branch in enumerate(branches) if branch.condition is None), len(branches))
    for branch in branches[always + 1 : always + 2]:
        problem = "this branch never runs: a step runs only one branch, and the `else` above matches all other cases"
        related = Related(source.path, branches[always].span, "the `else`")
        yield Diagnostic("RD727", source.path, branch.span, problem, "start a new step above it", (related,))


def _written(source: Source, line: Line) -> Span | None:
    if line.kind != "TEXT":
        return line.span
    numbers = (number for number in range(line.number, line.last + 1) if number not in ignoring_lines(source))
    number = next((number for number in numbers if source.lines[number - 1].strip()), None)
    return source.line_span(number) if number else None


def overridden(source: Source, first: Line, again: Line, what: str) -> Diagnostic:
    """Return the diagnostic for a repeated part, of which only the last one counts (P5)."""
    problem = f"{what} in line {again.number} overrides this one"
    related = (Related(source.path, again.span, "this one counts"),)
    is_single = first.kind not in {"SYSTEM", "TEXT"}
    fix = without_equal(source, first.span, again.span) if is_single else None
    return Diagnostic("RD719", source.path, first.span, problem, "remove one of the two", related, fix)


def without_equal(source: Source, one: Span, other: Span) -> Fix | None:
    """Return the fix that removes a duplicate line, or None if the lines differ."""
    is_equal = source.lines[one.line - 1].strip() == source.lines[other.line - 1].strip()
    return Fix.by(source.whole_line(one.line), "", is_safe=True) if is_equal else None


def declared_twice(source: Source, first: Input, again: Input) -> Diagnostic:
    """Return the diagnostic for a second input with the same name (P7)."""
    problem = f"duplicate input `{again.name}`"
    related = (Related(source.path, first.span, "first defined here"),)
    fix = without_equal(source, again.span, first.span)
    return Diagnostic("RD705", source.path, again.span, problem, "remove or rename one of the two", related, fix)


def too_large(source: Source, heading: Line) -> Diagnostic:
    """Return the diagnostic for a step number that is too large."""
    problem = "the number of this step has more than nine digits"
    remedy = "number the steps 1, 2, 3 … in document order"
    return Diagnostic("RD700", source.path, heading.within("number"), problem, remedy)


def unknown_question(source: Source, line: Line) -> Diagnostic:
    """Return the diagnostic for an `@elicit` of an unknown kind, which is ignored."""
    kind = line.get("kind")
    problem = f"there is no question kind `{kind}`, so this line is ignored{close(kind.lower(), list(QUESTIONS))}"
    remedy = 'write @elicit(input, "…"), @elicit(confirm, "…?") or @elicit(select, "…", "one", "another")'
    fix = Fix.respelling(line.within("kind"), kind, near(kind.lower(), list(QUESTIONS)))
    return Diagnostic("RD711", source.path, line.within("kind"), problem, remedy, fix=fix)
