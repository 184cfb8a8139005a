"""The scenarios of a document: named runs with the result that they should have (S1).

Commands are those of the reference command line: `rd run [--prompted] FILE` begins, each answer is a line, and
`rd goto ID` is the operator's own jump.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Literal, NamedTuple, get_args

from compiler.ir.tasks import Verdict
from compiler.source import STANDARD_INPUT, KeyPath, Span, Spans, nearest

Result = Literal["COMPLETE", "STOP"]

_KEYS = {"commands", "result", "description"}
ANSWERS: Mapping[str, Verdict] = {
    **dict.fromkeys(("pass", "yes", "ok"), Verdict.PASS),
    **dict.fromkeys(("fail", "no"), Verdict.FAIL),
}
"""The words for an outcome."""


class Reply(NamedTuple):
    """`rd pass` or `rd fail`: the outcome of the unit that is asked about."""

    verdict: Verdict


class Goto(NamedTuple):
    """`rd goto ID`: the run goes on at that unit."""

    unit: str
    span: Span | None


class Unclear(NamedTuple):
    """A command that cannot be understood, and what is wrong with it."""

    problem: str
    span: Span | None


Command = Reply | Goto | Unclear


class Scenario(NamedTuple):
    """One scenario: what is answered, in order, and how the run must end.

    With `prompted` no command is executed: each answer decides the unit that is next, whatever it is.
    """

    name: str
    prompted: bool
    commands: tuple[Command, ...]
    result: Result
    description: str = ""

    @property
    def answers(self) -> tuple[Verdict, ...]:
        """The answers, in order."""
        return tuple(command.verdict for command in self.commands if isinstance(command, Reply))


class Mistake(NamedTuple):
    """What is wrong in the form of the scenarios."""

    text: str
    span: Span | None


def read_scenarios(value: object, spans: Spans, document: str) -> tuple[tuple[Scenario, ...], list[Mistake]]:
    """The scenarios in a plain value, and each mistake of form; a scenario with mistakes is left out.

    Args:
        value: What stands under `scenarios`.
        spans: Where that stands, and each key and item in it.
        document: The file name of the document, which is the one that scenarios must run.
    """
    if value is None:
        return (), []
    if not isinstance(value, Mapping):
        return (), [Mistake("the scenarios are not a mapping of names to scenarios", nearest(spans, ()))]
    scenarios: list[Scenario] = []
    found: list[Mistake] = []
    for key, content in value.items():
        name = str(key)
        wrong = [
            Mistake(f"scenario `{name}`: {text}", nearest(spans, (name, *path))) for path, text in _mistakes(content)
        ]
        found += wrong
        if not wrong:
            prompted, commands = _commands(content["commands"], spans, (name, "commands"), document)
            about = "" if content.get("description") is None else str(content["description"])
            scenarios.append(Scenario(name, prompted, commands, content["result"], about))
    return tuple(scenarios), found


def _mistakes(content: object) -> Iterator[tuple[KeyPath, str]]:
    if not isinstance(content, Mapping):
        yield (), "it is not a mapping"
        return
    for key in content:
        if key not in _KEYS:
            yield (str(key),), f"there is no key `{key}`; the keys are {', '.join(sorted(_KEYS))}"
    commands = content.get("commands")
    if not isinstance(commands, list) or not all(isinstance(command, str) for command in commands):
        yield ("commands",), "`commands` is not a list of texts"
    if content.get("result") not in get_args(Result):
        yield ("result",), f"`result` is {' or '.join(get_args(Result))}"
    if isinstance(content.get("description", ""), (list, Mapping)):
        yield ("description",), "`description` is not a text"


def _commands(lines: list[str], spans: Spans, path: KeyPath, document: str) -> tuple[bool, tuple[Command, ...]]:
    """Whether the run is prompted, and the commands after the one that begins it; comments alone are none."""
    read = [(line, _words(line), nearest(spans, (*path, str(number)))) for number, line in enumerate(lines)]
    read = [(line, words, span) for line, words, span in read if words != []]
    if not read:
        return False, (Unclear("there is no `rd run`, which begins a run", nearest(spans, path)),)
    (_, first, span), *rest = read
    problem = _run_problem(first, document)
    begun = (Unclear(problem, span),) if problem else ()
    commands = tuple(_command(line, words, span) for line, words, span in rest)
    return "--prompted" in (first or ()), (*begun, *commands)


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


def _command(line: str, words: list[str] | None, span: Span | None) -> Command:
    match words:
        case ["rd", answer] if answer in ANSWERS:
            return Reply(ANSWERS[answer])
        case ["rd", "goto", unit]:
            return Goto(unit, span)
        case ["rd", "run", *_]:
            return Unclear("a second `rd run`: a scenario is one run", span)
        case _:
            return Unclear(f"`{line.strip()}` is not one of `rd pass|yes|ok`, `rd fail|no` and `rd goto ID`", span)
