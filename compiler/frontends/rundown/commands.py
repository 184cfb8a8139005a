"""The commands of scenarios, which are those of the reference command line (S1).

`rd run [--prompted] FILE` begins, each answer is a line, and `rd goto ID` is the operator's own jump.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath

from compiler.scenarios import Event, Flaw, Goto, Keys, Locate, Reply, Script, Unclear
from compiler.source import STANDARD_INPUT, Span

GOTO = "rd goto"

_WORDS: Mapping[str, str] = {**dict.fromkeys(("pass", "yes", "ok"), "pass"), **dict.fromkeys(("fail", "no"), "fail")}
"""What follows `rd` in an answer, and the outcome that it stands for."""


def scenario_keys(document: str) -> Keys:
    """The keys of a runbook's scenarios; `document` is its file name, which is the one that they must run."""
    return Keys(frozenset({"commands"}), partial(_read, document))


def _read(document: str, content: Mapping[str, object], locate: Locate) -> Script | list[Flaw]:
    lines = content.get("commands")
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return [Flaw(("commands",), "`commands` is not a list of texts")]
    return _script(document, lines, locate)


def _script(document: str, lines: list[str], locate: Locate) -> Script:
    """What the commands after the one that begins the run do; comments alone are none."""
    read = [(line, _words(line), locate(("commands", str(number)))) for number, line in enumerate(lines)]
    read = [(line, words, span) for line, words, span in read if words != []]
    if not read:
        return Script((Unclear("there is no `rd run`, which begins a run", locate(("commands",))),))
    (_, first, span), *rest = read
    problem = _run_problem(first, document)
    begun = (Unclear(problem, span),) if problem else ()
    events = tuple(_event(line, words, span) for line, words, span in rest)
    return Script((*begun, *events), prompted="--prompted" in (first or ()))


def _words(line: str) -> list[str] | None:
    """The words of a command without its comment; None if it is more than a line, or a quote is not closed."""
    if "\n" in line.strip():
        return None
    try:
        return shlex.split(_without_comment(line))
    except ValueError:
        return None


def _without_comment(line: str) -> str:
    """A `#` at the beginning of a word begins a comment, unless it stands in quotes."""
    quote = ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line


def _run_problem(words: list[str] | None, document: str) -> str:
    """What is wrong with the first command, which must be `rd run [--prompted] FILE`."""
    if words is None or words[:2] != ["rd", "run"]:
        return "the first command is not `rd run [--prompted] FILE`"
    unknown = [word for word in words[2:] if word.startswith("-") and word != "--prompted"]
    if unknown:
        return f"`rd run` has no option `{unknown[0]}` here, only --prompted"
    files = [word for word in words[2:] if word != "--prompted"]
    if len(files) != 1:
        return f"`rd run` takes one file, not {len(files)}"
    name = PurePosixPath(files[0]).name
    if PurePosixPath(document).name not in {name, STANDARD_INPUT}:
        return f"it runs `{name}`, which is not this document"
    return ""


def _event(line: str, words: list[str] | None, span: Span | None) -> Event:
    match words:
        case ["rd", answer] if answer in _WORDS:
            return Reply(None, _WORDS[answer])
        case ["rd", "goto", unit]:
            return Goto(unit, span, GOTO)
        case ["rd", "run", *_]:
            return Unclear("a second `rd run`: a scenario is one run", span)
        case _:
            return Unclear(f"`{line.strip()}` is not one of `rd pass|yes|ok`, `rd fail|no` and `rd goto ID`", span)
