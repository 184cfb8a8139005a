"""Show paths to people: a table of visits, a line for each path, and the coverage."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Sequence

import click

from backends.picture.naming import WORDS, spoken
from compiler.analyses.coverage import Coverage, Untaken
from compiler.ir.edges import Keep
from compiler.ir.paths import Path, Visit, usual_limit
from compiler.ir.program import Node, Program
from compiler.ir.semantics import Machine
from compiler.ir.tasks import Verdict
from rdc.paths.folding import Turns, folded
from rdc.paths.outcomes import write_outcomes
from rdc.reporting.cells import cells, visible
from rdc.words import many

_COLORS = {Verdict.PASS.value: "green", Verdict.FAIL.value: "red"}


def show_visits(program: Program, path: Path, jump: str = "goto") -> Iterator[str]:
    """Yield a line for each visit, with step, title, outcome and transitions, and for each jump.

    `jump` is the format's name for the operator's jump.
    """
    lines = [[line, *_values(made)] for line, made in zip(_visits(program, path.visits), path.visits, strict=True)]
    for place, step in reversed(path.jumps):
        lines.insert(place, [visible(f"({jump} {step})")])
    yield from (line for group in lines for line in group)


def _values(made: Visit) -> Iterator[str]:
    """Yield the outputs of a step (E2)."""
    return (visible(f"  {name} = {value}") for name, value in made.outcome.values)


def _visits(program: Program, visits: Sequence[Visit]) -> Iterator[str]:
    nodes = program.index()
    names = [visible(_name(made)) for made in visits]
    titles = [visible(made.title) for made in visits]
    name_width, title_width = (max(map(width, texts), default=0) for texts in (names, titles))
    answer_width = max((len(word(nodes[made.step], made.outcome.word)) for made in visits), default=0)
    for made, name, about in zip(visits, names, titles, strict=True):
        answer = word(nodes[made.step], made.outcome.word)
        outcome = click.style(answer, fg=_COLORS.get(made.outcome.word)) + " " * (answer_width - len(answer))
        columns = (padded(name, name_width), padded(about, title_width), outcome, visible(made.taken))
        yield "  ".join(column for column in columns if column).rstrip()


def show_end(machine: Machine, path: Path) -> str:
    """Return the end of a path: `COMPLETE` or `STOP` with its message, or the step where it was left."""
    if end := machine.end(path.state):
        return visible(f"{end.result.upper()} {end.message}".rstrip())
    return visible(f"... at {path.state.node} after {many(len(path.visits), 'visit')}")


def show_paths(machine: Machine, paths: Sequence[Path]) -> list[str]:
    """Return a line for each path. Paths that would look the same also show the answers that distinguish them.

    Paths that differ only in answers that no step stores share a line.
    """
    plain = [show_path(machine, path) for path in paths]
    several = {line for line, number in Counter(plain).items() if number > 1}
    lines = (
        show_path(machine, path, with_answers=True) if line in several else line
        for line, path in zip(plain, paths, strict=True)
    )
    return list(dict.fromkeys(lines))


def show_path(machine: Machine, path: Path, *, with_answers: bool = False) -> str:
    """Return a path in one line. Repetitions are shown once: `1 fail ×3`, `(1 pass, 2 fail) ×3`."""
    said = [
        f"{made.step} {word(machine.nodes[made.step], made.outcome.word).lower()}{_kept(made) if with_answers else ''}"
        for made in path.visits
    ]
    turns = ", ".join(visible(_turns(found, path)) for found in folded(said))
    given = "".join(visible(f"{name}={value}: ") for name, value in path.inputs)
    return f"{given}{turns} => {show_end(machine, path)}"


def _kept(made: Visit) -> str:
    """Return the stored answer and outputs of a visit, in parentheses."""
    if not any(isinstance(effect, Keep) for edge in made.edges for effect in edge.effects):
        return ""
    said = [made.outcome.text, *(f"{name}={value}" for name, value in made.outcome.values)]
    return f" ({', '.join(filter(None, said))})" if any(said) else ""


def _turns(found: Turns, path: Path) -> str:
    """Return repeated visits. A single visit also shows its attempt and instance."""
    shown = []
    for said, times, place in found.items:
        made = path.visits[place]
        is_single = times == found.times == 1
        shown.append(f"{_name(made) if is_single else made.step}{said.removeprefix(made.step)}{_times(times)}")
    together = ", ".join(shown)
    return f"({together}){_times(found.times)}" if found.times > 1 else together


def _times(number: int) -> str:
    return f" ×{number}" if number > 1 else ""


def word(node: Node, outcome: str) -> str:
    """Return an outcome as people answer it: PASS or FAIL, YES or NO, otherwise the word itself."""
    return spoken(node.task, outcome)


def show_coverage(program: Program, found: Coverage) -> Iterator[str]:
    """Yield the number of transitions that the paths take, and a line or two for each of the others."""
    if not found.transitions:  # for example a specification
        yield "the document has no transitions"
        return
    taken = found.transitions - len(found.untaken)
    yield f"{taken} of {many(found.transitions, 'transition')} taken"
    for item in found.untaken:
        yield f"  not taken: {_transition(program, item)}"
        yield f"    {_advice(program, item)}"


def _transition(program: Program, item: Untaken) -> str:
    step, outcome, label, origins = item.transition
    nodes = program.index()
    origin = origins[0] if origins else nodes[step].origin
    asked = word(nodes[step], outcome) if outcome and step in nodes else WORDS.get(outcome or "", outcome)
    name = f"{step} {asked}:" if outcome else ""  # the label of a decision names the step
    default = "" if origins else " (default)"
    return visible(f"{origin.path}:{origin.span.line}: {f'{name} {label}{default}'.strip()}")


def _advice(program: Program, item: Untaken) -> str:
    if item.path is not None:
        outcomes = write_outcomes(item.path, program)
        options = [f"--outcomes {shlex.quote(outcomes)}"] if outcomes else []
        options += [f"--visits {len(item.path)}"] if len(item.path) > usual_limit(program) else []
        given = f"with {' '.join(options)}" if options else "if all steps pass"
        return visible(f"not on these paths, but taken {given}")
    return "no outcomes lead there" if item.is_certain else "rdc found no path that takes it"


def _name(made: Visit) -> str:
    """Return a step with its instance and attempt, if any."""
    marks = [f"instance {'.'.join(str(number) for _, number in made.instances)}"] if made.instances else []
    marks += [f"attempt {made.attempt}"] if made.attempt > 1 else []
    return f"{made.step} ({', '.join(marks)})" if marks else made.step


def width(text: str) -> int:
    """Return the width of a text in a terminal, in columns."""
    return sum(cell.width for cell in cells(text))


def padded(text: str, columns: int) -> str:
    """Return a text padded with spaces to a width."""
    return text + " " * (columns - width(text))
