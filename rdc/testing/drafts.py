"""Draft new scenarios for one document, and keep the ones that pass."""

import os
import pathlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import count

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.domains import beginnings
from compiler.analyses.enumeration import enumerate_paths
from compiler.diagnostics.model import Diagnostic
from compiler.driver import Compilation, Opened
from compiler.frontends import FRONT_ENDS
from compiler.frontends.common.drafts import Draft, Writer, entry, writer_of
from compiler.ir.answers import spoken, usual
from compiler.ir.paths import Path, usual_limit, walk
from compiler.ir.patterns import sample
from compiler.ir.program import Program
from compiler.ir.semantics import Machine
from compiler.scenarios.mock import mock
from compiler.scenarios.model import Result, Scenario
from compiler.text.files import FileIssue, read_source
from compiler.text.source import Source, line_end_of
from rdc.output.paths import unwritable
from rdc.output.write import File, write_all
from rdc.terminal.output import many
from rdc.testing.result import Status, judge
from rdc.trace.text import folded, show_path, with_examples
from runtime_shim.values.fitting import unfit

MOST_COUNTED = 300  # the limit of paths to count in addition to the written ones

MOST_NAMED = 3  # the maximum number of steps in a scenario's name

LONGEST_NAME, LONGEST_DESCRIPTION = 80, 200

Key = tuple[tuple[str, str], ...]
"""The steps of a path with their outcomes."""


class Drafted(Struct, frozen=True):
    """The scenarios to write, and the number of other paths without one. It is a minimum unless `complete`."""

    drafts: tuple[Draft, ...]
    left: int
    complete: bool


def draft_scenarios(program: Program, existing: Sequence[Scenario], writer: Writer, most: int) -> Drafted:
    """Draft a scenario for each path without one: first the path where each step passes, then the shortest."""
    machine = Machine(program)
    known = {key_of(played.path) for played in (mock(program, one) for one in existing) if not played.message}
    limit = usual_limit(program)
    found = enumerate_paths(program, most + len(known) + MOST_COUNTED, limit)
    straight = walk(machine, lambda node, _: usual(node.task), limit, _full(program, {}))
    paths: dict[Key, Path] = {}
    for path in (replace(straight, inputs=()), *found.paths):
        if machine.end(path.state):
            paths.setdefault(key_of(path), path)
    missing = [path for key, path in paths.items() if key not in known and writer.is_possible(program, path)]
    usually = {made.step for made in straight.visits}
    drafts: list[Draft] = []
    for path in missing[:most]:
        taken = {*(one.name for one in existing), *(one.name for one in drafts)}
        name = next(name for name in _names(machine, path, usually) if name not in taken)
        drafts.append(_draft(machine, path, name))
    return Drafted(tuple(drafts), len(missing) - len(drafts), found.is_complete)


def key_of(path: Path) -> Key:
    """Return a key that identifies a path."""
    return tuple((made.step, made.outcome.word) for made in path.visits) + tuple(
        (str(place), step) for place, step in path.jumps
    )


def _draft(machine: Machine, path: Path, name: str) -> Draft:
    end = machine.end(path.state)
    assert end is not None  # noqa: S101 (for mypy)
    given = dict(path.inputs)
    tried = (_full(machine.program, {**values, **given}) for values in ({}, *beginnings(machine.program)))
    inputs = next((full for full in tried if _leads(machine, path, full)), given)
    steps, arrow, ended = show_path(machine, path).rpartition(" => ")
    about = _shortened(steps, LONGEST_DESCRIPTION) + arrow + _shortened(ended, LONGEST_DESCRIPTION)
    ends: Result = "COMPLETE" if end.result == "complete" else "STOP"
    return Draft(name, about, inputs, frozenset(inputs) - frozenset(given), path, ends)


def _full(program: Program, given: Mapping[str, str]) -> dict[str, str]:
    """Return the given inputs, with examples for missing required ones. Each matches its input's pattern."""
    full = with_examples(program, given)
    declared = [one for one in program.inputs if one.name in full]
    return {
        one.name: sample(one.pattern)
        if one.pattern and unfit(full[one.name], one.type, one.options, one.pattern)
        else full[one.name]
        for one in declared
    }


def _leads(machine: Machine, path: Path, inputs: Mapping[str, str]) -> bool:
    state = machine.start(inputs)
    for made in path.visits:
        if state.node != made.step:
            return False
        state = machine.advance(state, made.outcome).state
    return state.node == path.state.node


# --- Names -----------------------------------------------------------------------------------------------------------


def _names(machine: Machine, path: Path, usually: Collection[str]) -> Iterator[str]:
    """Yield names for a path, the shortest first: `stops after 3 fail ×2`, `completes via 2b`."""
    # They contain the result, unusual outcomes, and steps off the usual path.
    nodes, end = machine.nodes, machine.end(path.state)
    off = [
        f"{made.step} {spoken(nodes[made.step].task, made.outcome.word).lower()}"
        for made in path.visits
        if made.outcome.word != usual(nodes[made.step].task).word
    ]
    runs = [run for turns in folded(off) for run in turns.items for _ in range(turns.times)]
    output = [run.item + (f" ×{run.times}" if run.times > 1 else "") for run in runs]
    more = [f"{len(output) - MOST_NAMED} more"] if len(output) > MOST_NAMED else []
    given = [f"{name}={value}" for name, value in path.inputs]
    parts = [
        "completes" if end and end.result == "complete" else "stops",
        *_listed("with", given[:MOST_NAMED]),
        *_listed("after", [*output[:MOST_NAMED], *more]),
    ]
    name = _shortened(" ".join(parts), LONGEST_NAME)
    yield name
    via = [step for step in dict.fromkeys(made.step for made in path.visits) if step not in usually]
    longer = _shortened(" ".join([*parts, *_listed("via", via[:MOST_NAMED])]), LONGEST_NAME)
    yield longer
    yield from (f"{longer} ({number})" for number in count(2))


def _listed(preposition: str, items: Sequence[str]) -> list[str]:
    return [f"{preposition} {', '.join(items)}"] if items else []


def _shortened(text: str, most: int) -> str:
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


_FORM = "write each scenario as a block: `NAME:` on a separate line, with its keys below"


class Addition(Struct, frozen=True):
    """The new content of a file with scenarios, and its present state; or the reason why it doesn't change."""

    shown: str
    before: Source | None
    file: File | None = None
    said: tuple[str, ...] = ()
    diagnostic: Diagnostic | None = None

    def is_current(self) -> bool:
        """Return whether the file on the disk is unchanged since it was read; raises OSError."""
        if self.file is None:
            return True
        there = self.file.path.read_bytes() if self.file.path.exists() else None
        return there == (self.before.data if self.before else None)


class _Home(Struct, frozen=True):
    """The file for a document's scenarios, beside it."""

    opened: Opened
    compilation: Compilation
    program: Program
    writer: Writer

    @property
    def path(self) -> str:
        """The path of the file, as messages show it."""
        name = self.compilation.scenario_file
        return os.path.relpath(pathlib.Path(os.path.realpath(self.opened.path)).with_name(name))

    def source(self) -> Source | None:
        """Return the present file, or None. It was read before, so it can't be a refusal."""
        found = read_source(self.path, self.path, self.path) if pathlib.Path(self.path).exists() else None
        return None if isinstance(found, FileIssue) else found

    def text(self, before: str, drafts: Sequence[Draft]) -> str:
        """Return the file with new scenarios."""
        document = self.program.sources[0].path
        entries = [entry(self.program, draft, document, self.writer) for draft in drafts]
        end = line_end_of(before)
        joint = "" if not before or before.endswith(("\n", "\r")) else end
        return before + joint + "".join(f"{line}{end}" for one in entries for line in one)

    def read(self, text: str) -> tuple[Scenario, ...] | None:
        """Return the scenarios in a text of this file; None if it has errors."""
        return self.writer.read(Source.from_text(self.path, text), self.program)


def add_scenarios(opened: Opened, compilation: Compilation, most: int) -> Addition:
    """Draft scenarios for the paths of a valid document that have none. Nothing is written yet."""
    writer, program = writer_of(FRONT_ENDS[compilation.format]), compilation.program
    assert program is not None  # noqa: S101 (for mypy)
    if writer is None:
        noun = FRONT_ENDS[compilation.format].noun
        problem = unwritable(opened.path, f"a {noun} cannot have scenarios", "write them in its source document")
        return Addition(opened.path, None, diagnostic=problem)
    if not compilation.scenario_file:
        problem = unwritable(opened.path, "its name cannot be that of a file with scenarios", "rename the document")
        return Addition(opened.path, None, diagnostic=problem)
    home = _Home(opened, compilation, program, writer)
    before = home.source()
    if before is None and pathlib.Path(home.path).is_symlink():
        return Addition(home.path, None, diagnostic=unwritable(home.path, "it is a broken link", "remove the link"))
    drafted = draft_scenarios(program, compilation.scenarios, writer, most)
    written = before.text if before else ""
    old = home.read(written) if before else ()
    stored = _passing(home, written, old or (), drafted.drafts)
    if stored is None or old is None:
        return Addition(home.path, before, diagnostic=unwritable(home.path, "rdc cannot add to its scenarios", _FORM))
    output = tuple(_said(opened.path, home.path, drafted, len(stored)))
    if not stored:
        return Addition(home.path, before, said=output)
    text = home.text(written, stored)
    data = before.encode(text) if before else text.encode()
    return Addition(home.path, before, File(pathlib.Path(home.path), data), output)


def _passing(home: _Home, text: str, old: Sequence[Scenario], drafts: Sequence[Draft]) -> list[Draft] | None:
    """Return the drafts that pass after reading the file back; None if they can't be added without other changes."""
    found = home.read(home.text(text, drafts)) if drafts else tuple(old)
    if found is None or list(map(_plain, found[: len(old)])) != list(map(_plain, old)):
        return None
    by_name = {one.name: one for one in found[len(old) :]}
    if by_name.keys() != {draft.name for draft in drafts}:
        return None
    played = [(draft, mock(home.program, by_name[draft.name])) for draft in drafts]
    machine = Machine(home.program)
    return [
        draft
        for draft, run in played
        if not run.message
        and key_of(run.path) == key_of(draft.path)
        and judge(by_name[draft.name], machine, run.path)[0] is Status.PASSED
    ]


def _plain(scenario: Scenario) -> Scenario:
    return replace(scenario, replies=tuple(replace(event, span=None) for event in scenario.replies))


def _said(document: str, file: str, drafted: Drafted, kept: int) -> list[str]:
    """Yield messages about the written scenarios and the remaining paths."""
    output = [f"wrote {many(kept, 'scenario')} to {file}"] if kept else []
    if dropped := len(drafted.drafts) - kept:
        verb = "needs" if dropped == 1 else "need"
        output.append(f"{document}: {many(dropped, 'path')} {verb} answers that rdc can't make up; write them by hand")
    if drafted.left:
        least = "" if drafted.complete else "at least "
        verb = "has" if drafted.left == 1 else "have"
        output.append(f"{document}: {least}{many(drafted.left, 'more path')} {verb} no scenario; --paths N writes more")
    elif drafted.drafts and not drafted.complete:
        output.append(f"{document}: there may be longer paths without a scenario")
    if not drafted.drafts:
        output.append(f"{document}: every path that rdc finds has a scenario")
    return output


def write_additions(additions: Sequence[Addition]) -> list[Diagnostic]:
    """Write all files or none; return the errors."""
    problems = [one.diagnostic for one in additions if one.diagnostic]
    try:
        late = [one.shown for one in additions if not one.is_current()]
        problems += [
            unwritable(path, "it has changed since rdc read it", "run `rdc test --init` again") for path in late
        ]
        if not problems:
            write_all([one.file for one in additions if one.file])
    except OSError as error:
        problems.append(unwritable(str(error.filename), error.strerror or str(error)))
    return problems
