"""Show paths to people: inputs, a table of visits, a line for each path, and the coverage."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

import click
from msgspec import Struct

from compiler.analyses.coverage import Coverage, Untaken
from compiler.analyses.values import value_flow
from compiler.ir.answers import WORDS, spoken
from compiler.ir.edges import Keep
from compiler.ir.paths import Path, Visit, usual_limit
from compiler.ir.program import Input, Program, Settings
from compiler.ir.semantics import Machine
from compiler.ir.tasks import Verdict
from compiler.ir.visits import most_visits
from compiler.scenarios.outcomes import write_outcomes
from compiler.text import durations
from rdc.terminal.cells import padded, visible, width
from rdc.terminal.output import many
from runtime_shim.values.fitting import unfit

MOST_STEPS = 12


def with_examples(program: Program, given: Mapping[str, str]) -> dict[str, str]:
    """Return the given inputs, and placeholder values for missing required ones."""
    missing = (item for item in program.inputs if item.required and item.default is None and item.name not in given)
    return {**given, **{declared.name: _example(declared) for declared in missing}}


def _example(declared: Input) -> str:
    """Return a valid value, if one is easy to find."""
    tried = (*declared.options[:1], "true", "0", "1", "1.0", "1.0.0", "a", "example")
    usual = {"boolean": "true", "number": "1", "choice": tried[0]}.get(declared.type, f"<{declared.name}>")
    fitting = (
        value for value in (usual, *tried) if not unfit(value, declared.type, declared.options, declared.pattern)
    )
    return next(fitting, usual)


def show_inputs(program: Program, given: Mapping[str, str], examples: Mapping[str, str]) -> Iterator[str]:
    """Yield a line for each input with a value, and its source."""
    for declared in program.inputs:
        name = declared.name
        if name in given:
            yield visible(f"{name} = {given[name]}")
        elif name in examples:
            yield visible(f"{name} = {examples[name]}  (example; set it with --input {name}=VALUE)")
        elif declared.default is not None:
            yield visible(f"{name} = {declared.default}  (default)")


def show_facts(program: Program) -> Iterator[str]:
    """Yield a line for each output, with the steps that write and read it, and for each step with times."""
    flow = value_flow(program)
    effects = (effect for node in program.nodes for edge in node.edges for effect in edge.effects)
    slots = (effect.slot for effect in effects if isinstance(effect, Keep) and effect.of == "output")
    for slot in dict.fromkeys(slots):
        written = [node.id for node in program.nodes if slot in flow.writes[node.id]]
        read = [node.id for node in program.nodes if slot in flow.reads[node.id]]
        yield visible(f"{slot}: written by {_listed(written)}, read by {_listed(read)}")
    visits = most_visits(program)
    for node in program.nodes:
        most = (f"at most {many(visits[node.id], 'visit')}",) if node.id in visits else ()
        if limits := [*most, *_limits(node.settings)]:
            yield visible(f"{node.id}: {', '.join(limits)}")


def _listed(steps: Sequence[str]) -> str:
    return ", ".join(steps[:MOST_STEPS]) + (", …" if len(steps) > MOST_STEPS else "") if steps else "no step"


def _limits(settings: Settings) -> Iterator[str]:
    if settings.timeout is not None:
        yield f"at most {durations.spoken(settings.timeout)}"
    if settings.delay:
        again = f", ×{settings.backoff} each time" if settings.backoff > 1 else ""
        yield f"waits {durations.spoken(settings.delay)} before a retry{again}"
    if settings.expire:
        yield f"expires after {durations.spoken(settings.expire)}"


_COLORS = {Verdict.PASS.value: "green", Verdict.FAIL.value: "red"}


def show_visits(
    program: Program, path: Path, jump: str = "goto", broken: Sequence[tuple[int, str]] = ()
) -> Iterator[str]:
    """Yield a line for each visit, with step, title, outcome and transitions, and for each jump and broken rule.

    `jump` is the format's name for the operator's jump.
    """
    lines = [
        [line, *(visible(f"  {name} = {value}") for name, value in made.outcome.values)]
        for line, made in zip(_visits(program, path.visits), path.visits, strict=True)
    ]
    for place, step in reversed(path.jumps):
        lines.insert(place, [visible(f"({jump} {step})")])
    for place, breach in reversed(broken):  # a path with jumps has none
        lines.insert(place, [click.style(visible(f"! {breach}"), fg="red")])
    yield from (line for group in lines for line in group)


def _visits(program: Program, visits: Sequence[Visit]) -> Iterator[str]:
    nodes = program.index()
    names = [visible(_name(made)) for made in visits]
    titles = [visible(made.title) for made in visits]
    name_width, title_width = (max(map(width, texts), default=0) for texts in (names, titles))
    answer_width = max((len(spoken(nodes[made.step].task, made.outcome.word)) for made in visits), default=0)
    for made, name, about in zip(visits, names, titles, strict=True):
        answer = spoken(nodes[made.step].task, made.outcome.word)
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
    visits = []
    for made in path.visits:
        word = spoken(machine.nodes[made.step].task, made.outcome.word).lower()
        visits.append(f"{made.step} {word}{_kept(made) if with_answers else ''}")
    turns = ", ".join(visible(_turns(found, path)) for found in folded(visits))
    given = "".join(visible(f"{name}={value}: ") for name, value in path.inputs)
    return f"{given}{turns} => {show_end(machine, path)}"


def _kept(made: Visit) -> str:
    if not any(isinstance(effect, Keep) for edge in made.edges for effect in edge.effects):
        return ""
    texts = [made.outcome.text, *(f"{name}={value}" for name, value in made.outcome.values)]
    return f" ({', '.join(filter(None, texts))})" if any(texts) else ""


def _turns(found: Turns, path: Path) -> str:
    """Return repeated visits. A single visit also shows its attempt and instance."""
    shown = []
    for visit, times, place in found.items:
        made = path.visits[place]
        is_single = times == found.times == 1
        shown.append(f"{_name(made) if is_single else made.step}{visit.removeprefix(made.step)}{_times(times)}")
    together = ", ".join(shown)
    return f"({together}){_times(found.times)}" if found.times > 1 else together


def _times(number: int) -> str:
    return f" ×{number}" if number > 1 else ""


def show_coverage(program: Program, found: Coverage) -> Iterator[str]:
    """Yield the number of transitions that the paths take, and a line or two for each of the others."""
    if not found.transitions:  # for example a specification
        yield "the document has no transitions"
        return
    yield f"{found.transitions - len(found.untaken)} of {many(found.transitions, 'transition')} taken"
    for item in found.untaken:
        yield f"  not taken: {_transition(program, item)}"
        yield f"    {_advice(program, item)}"


def _transition(program: Program, item: Untaken) -> str:
    step, outcome, label, origins = item.transition
    nodes = program.index()
    origin = origins[0] if origins else nodes[step].origin
    asked = spoken(nodes[step].task, outcome) if outcome and step in nodes else WORDS.get(outcome or "", outcome)
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
    marks = [f"instance {'.'.join(str(number) for _, number in made.instances)}"] if made.instances else []
    marks += [f"attempt {made.attempt}"] if made.attempt > 1 else []
    return f"{made.step} ({', '.join(marks)})" if marks else made.step


MOST_PERIODS = 8  # the number of period lengths to try at each position


class Turns(Struct, frozen=True):
    """Items that repeat together in a row, and the number of repetitions."""

    items: tuple[Run, ...]
    times: int


class Run(NamedTuple):
    """An item that repeats in a row. `place` is the position of the first one. Equal runs differ only in that."""

    item: str
    times: int
    place: int


def folded(sequence: Sequence[str]) -> Iterator[Turns]:
    """Yield a sequence as turns: equal neighbors become one run, then equal groups of runs become one turn."""
    runs = list(_runs(sequence))
    later = _later(runs)
    place = 0
    while place < len(runs):
        period, times = _repeated(runs, later, place)
        yield Turns(tuple(runs[place : place + period]), times)
        place += period * times


def _runs(sequence: Sequence[str]) -> Iterator[Run]:
    place = 0
    for item, found in groupby(sequence):
        times = sum(1 for _ in found)
        yield Run(item, times, place)
        place += times


def _later(runs: Sequence[Run]) -> list[int]:
    """Return for each run the position of the next equal one, or the end."""
    nearest: dict[object, int] = {}
    later = [len(runs)] * len(runs)
    for place in range(len(runs) - 1, -1, -1):
        later[place] = nearest.get(runs[place][:2], len(runs))
        nearest[runs[place][:2]] = place
    return later


def _repeated(runs: Sequence[Run], later: Sequence[int], place: int) -> tuple[int, int]:
    """Return the length of the group at a position that saves the most when folded, and its repetitions."""
    best = (1, 1)
    for period in islice(_periods(later, place), MOST_PERIODS):
        part = [run[:2] for run in runs[place : place + period]]
        times = 1
        while [run[:2] for run in runs[place + times * period : place + (times + 1) * period]] == part:
            times += 1
        if period * (times - 1) > best[0] * (best[1] - 1):
            best = (period, times)
    return best


def _periods(later: Sequence[int], place: int) -> Iterator[int]:
    following = later[place]
    while following < len(later):
        yield following - place
        following = later[following]
