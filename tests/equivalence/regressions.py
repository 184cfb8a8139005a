"""Cases as files, for reading and replaying: a folder with documents as they are, and `walk.txt`.

The first line of `walk.txt` names the document that is run. Then comes a line for each visit with its outcome: `pass`
or `fail` of a command, `yes` or `no` of a prompt. `2.{n}#3@1.4 pass` is the third attempt at unit `2.{n}`, in the first
instance of the step and the fourth of the substep. What a command is given beyond its unit and file follows as JSON.
The last line has the end and its message.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

from .cases import show_visit
from .scenario import Scenario
from .visits import End, Visit, Walk

FOLDER = Path(__file__).parent / "found"
WALK = "walk.txt"
CUT_OFF = "cut off"
_VISIT = re.compile(r"((?:.*/)?[^/#@]+)(?:#(\d+))?(?:@(\d*)\.(\d*))? (pass|fail|yes|no)(?: (\[.*\]))?")


def write(folder: Path, scenario: Scenario) -> None:
    """Write a scenario into a folder."""
    for path, text in scenario.documents.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode())
    walk = scenario.walk
    end = f"{walk.end[0]} {_json(walk.end[1])}" if walk.end else CUT_OFF
    lines = [f"run {scenario.main}", *(_line(visit, passed) for visit, passed in walk.visits), f"=> {end}"]
    (folder / WALK).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def read(folder: Path) -> Scenario:
    """Read a scenario from a folder."""
    found = {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*.runbook.md"))}
    documents = {name: path.read_bytes().decode() for name, path in found.items()}
    first, *lines, last, _ = (folder / WALK).read_text(encoding="utf-8").split("\n")
    visits = tuple(_visit(line, number, documents) for number, line in enumerate(lines))
    return Scenario(documents, first.removeprefix("run "), Walk(visits, _end(last)))


def _line(visit: Visit, passed: bool) -> str:
    word = ("fail", "pass")[passed] if visit.is_command else ("no", "yes")[passed]
    said = f" {_json(visit.said)}" if visit.said else ""
    return f"{show_visit(visit, passed)[:-1]} {word}{said}"


def _json(value: str | tuple[str, ...]) -> str:
    """JSON in which all can be seen."""
    shown = json.dumps(value, ensure_ascii=False)
    return shown if shown.isprintable() else json.dumps(value)


def _visit(line: str, index: int, documents: Iterable[str]) -> tuple[Visit, bool]:
    match = _VISIT.fullmatch(line)
    if match is None:
        raise ValueError(f"no visit: {line}")
    label, attempt, step, substep, word, said = match.groups()
    where = re.sub(r"~\d+$", "", label.rpartition("/")[0])
    file = max((path for path in documents if where.endswith(f"/{path}")), key=len, default="")
    visit = Visit(
        label,
        int(attempt or 1),
        int(step) if step else None,
        int(substep) if substep else None,
        index,
        file,
        word in {"pass", "fail"},
        tuple(json.loads(said)) if said else (),
    )
    return visit, word in {"pass", "yes"}


def _end(line: str) -> End | None:
    arrow, _, end = line.partition(" ")
    if arrow != "=>":
        raise ValueError(f"no end: {line}")
    result, _, message = end.partition(" ")
    return None if end == CUT_OFF else (result, json.loads(message))
