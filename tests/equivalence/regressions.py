"""Cases as files, for reading and replaying: a folder with documents as they are, and `trace.txt`.

The first line of `trace.txt` names the document that is run. Then comes a line for each visit with its outcome: `pass`
or `fail` of a command, `yes` or `no` of a prompt. `2.{n}#3@1.4 pass` is the third attempt at step `2.{n}`, in the first
instance of the step and the fourth of the substep. What a command is given beyond its step and file follows as JSON,
with what there is by rules E1 to E10 if documents declare something: then the second line, `given`, has what the run is
given. `[3]1.2` is a jump of the operator from step 3, which waits, to 1.2; `[]1.2` one after a STOP. The last line has
the end and its message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from tests.equivalence.cases import show_jump, show_visit
from tests.equivalence.scenario import Scenario
from tests.equivalence.visits import NOTHING, Beyond, End, Given, Jump, Trace, Visit

FOLDER = Path(__file__).parent / "found"
TRACE = "trace.txt"
CUT_OFF = "cut off"
_VISIT = re.compile(r"((?:.*/)?[^/#@]+)(?:#(\d+))?(?:@(\d*)\.(\d*))? (pass|fail|yes|no)(?: (\[.*\]))?")


def write(folder: Path, scenario: Scenario) -> None:
    """Write a scenario into a folder."""
    for path, text in scenario.documents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    trace = scenario.trace
    end = f"{trace.end[0]} {_json(trace.end[1])}" if trace.end else CUT_OFF
    given = (
        [f"given {_json([_plain(trace.given), scenario.variables])}"]
        if scenario.variables or trace.given != Given()
        else []
    )
    lines = [f"run {scenario.main}", *given, *_lines(trace), f"=> {end}"]
    (folder / TRACE).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read(folder: Path) -> Scenario:
    """Read a scenario from a folder."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.runbook.md"))}
    documents = {name: path.read_bytes().decode() for name, path in found.items()}
    first, *lines, last, _ = (folder / TRACE).read_text(encoding="utf-8").split("\n")
    variables: tuple[str, ...] = ()
    given = Given()
    if lines and lines[0].startswith("given "):
        told, names = json.loads(lines.pop(0).removeprefix("given "))
        given, variables = Given(**{key: _tuples(value) for key, value in told.items()}), tuple(names)
    visits: list[tuple[Visit, bool]] = []
    jumps: list[Jump] = []
    for line in lines:
        if line.startswith("["):
            jumps.append(Jump(len(visits), *line[1:].rsplit("]", 1)))
        else:
            visits.append(_visit(line, len(visits), documents))
    trace = Trace(tuple(visits), _end(last), given, tuple(jumps))
    return Scenario(documents, first.removeprefix("run "), trace, variables=variables)


def _lines(trace: Trace) -> Iterator[str]:
    for index, visit in enumerate([*trace.visits, None]):
        yield from (show_jump(jump) for jump in trace.jumps if jump.index == index)
        if visit:
            yield _line(*visit)


def _plain(value: Given | Beyond) -> dict[str, object]:
    """What differs from the usual of a value."""
    usual = type(value)()
    names = [field.name for field in fields(value)]
    return {name: getattr(value, name) for name in names if getattr(value, name) != getattr(usual, name)}


def _tuples(value: object) -> Any:
    """A value of JSON with tuples for lists."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _line(visit: Visit, passed: bool) -> str:
    word = ("fail", "pass")[passed] if visit.is_command else ("no", "yes")[passed]
    more: list[object] = [*visit.said, _plain(visit.beyond)] if visit.beyond != NOTHING else [*visit.said]
    said = f" {_json(more)}" if more else ""
    return f"{show_visit(visit, passed)[:-1]} {word}{said}"


def _json(value: object) -> str:
    """JSON in which all can be seen."""
    shown = json.dumps(value, ensure_ascii=False)
    return shown if shown.isprintable() else json.dumps(value)


def _visit(line: str, index: int, documents: Iterable[str]) -> tuple[Visit, bool]:
    match = _VISIT.fullmatch(line)
    if match is None:
        raise ValueError(f"no visit: {line}")
    label, attempt, step, substep, word, said = match.groups()
    where = re.sub(r"~\d+$", "", label.rpartition("/")[0])
    words = json.loads(said) if said else []
    told = words.pop() if words and isinstance(words[-1], dict) else {}
    file = max((path for path in documents if where.endswith(f"/{path}")), key=len, default="")
    visit = Visit(
        label,
        int(attempt or 1),
        int(step) if step else None,
        int(substep) if substep else None,
        index,
        file,
        word in {"pass", "fail"},
        tuple(words),
        Beyond(**{key: _tuples(value) for key, value in told.items()}),
    )
    return visit, word in {"pass", "yes"}


def _end(line: str) -> End | None:
    arrow, _, end = line.partition(" ")
    if arrow != "=>":
        raise ValueError(f"no end: {line}")
    result, _, message = end.partition(" ")
    return None if end == CUT_OFF else (result, json.loads(message))
