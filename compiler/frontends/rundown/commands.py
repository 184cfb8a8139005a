"""Read the commands of scenarios, which use the syntax of the reference command line (S1).

`rd run [--prompted] [--input NAME=VALUE] FILE` starts the run. Each reply is a line and may give outputs. `rd goto ID`
is a jump by the operator.
"""

from __future__ import annotations

import posixpath
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostic import Issue
from compiler.frontends.name_lists import text_problem
from compiler.frontends.rundown.beyond.declarations import Declarations
from compiler.issues import InvalidError
from compiler.scenarios import Event, Goto, Keys, Locate, Reply, Script, Unclear
from compiler.source import STANDARD_INPUT, Span
from runtime_shim.data.fitting import unfit

GOTO = "rd goto"

_WORDS: Mapping[str, str] = {**dict.fromkeys(("pass", "yes", "ok"), "pass"), **dict.fromkeys(("fail", "no"), "fail")}
"""The word after `rd` in a reply, and its outcome."""


def scenario_keys(document: str, declared: Declarations | None = None) -> Keys:
    """Return the keys of a runbook's scenarios.

    Args:
        document: The runbook's file name; its scenarios must run this file.
        declared: The runbook's declarations, or None if they are unknown.
    """
    return Keys(frozenset({"commands", "inputs"}), partial(_read, document, declared))


def _read(document: str, declared: Declarations | None, content: Mapping[str, object], locate: Locate) -> Script:
    lines, inputs = content.get("commands"), content.get("inputs") or {}
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise InvalidError(Issue(("commands",), "`commands` must be a list of strings"))
    if not isinstance(inputs, Mapping):
        raise InvalidError(Issue(("inputs",), "`inputs` must be a mapping of names to values"))
    script, said = _script(document, lines, locate)
    given = [*(Given(str(name), value, locate(("inputs", str(name)))) for name, value in inputs.items()), *said]
    problems = tuple(unfit_inputs(declared, given, locate(("commands", "0")))) if declared else ()
    fitting = {item.name: item.value for item in given if isinstance(item.value, str)}
    return replace(script, replies=(*problems, *script.replies), inputs=fitting)


def _script(document: str, lines: list[str], locate: Locate) -> tuple[Script, list[Given]]:
    """Return the events after the first command and the inputs of that command, skipping lines with only a comment."""
    read = [(line, _words(line), locate(("commands", str(number)))) for number, line in enumerate(lines)]
    read = [(line, words, span) for line, words, span in read if words != []]
    if not read:
        return Script((Unclear("there is no `rd run` to start the run", locate(("commands",))),)), []
    (_, first, span), *rest = read
    found = _parted(first or [], "--input")
    given, words = found or ([], first or [])
    problem = _run_problem(words, document) if found else "`--input` needs NAME=VALUE"
    begun = (Unclear(problem, span),) if problem else ()
    events = tuple(_event(line, words, span) for line, words, span in rest)
    inputs = [Given(name, value, span) for name, value in given]
    return Script((*begun, *events), prompted="--prompted" in words), inputs


def _parted(words: list[str], flag: str) -> tuple[list[tuple[str, str]], list[str]] | None:
    """Return the values of a NAME=VALUE flag and the other words, or None if a value has another form."""
    given: list[tuple[str, str]] = []
    others: list[str] = []
    left = iter(words)
    for word in left:
        if word != flag and not word.startswith(f"{flag}="):
            others.append(word)
            continue
        name, equals, value = (next(left, "") if word == flag else word.removeprefix(f"{flag}=")).partition("=")
        if not (name and equals):
            return None
        given.append((name, value))
    return given, others


def _words(line: str) -> list[str] | None:
    """Return a command's words without its comment, or None for several lines or an unclosed quote."""
    if "\n" in line.strip():
        return None
    try:
        return shlex.split(_without_comment(line))
    except ValueError:
        return None


def _without_comment(line: str) -> str:
    """Return the line without its comment, which starts with an unquoted `#` at the start of a word."""
    quote = ""
    for place, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character == "#" and (place == 0 or line[place - 1].isspace()):
            return line[:place]
    return line


def _run_problem(words: list[str], document: str) -> str:
    """Return the problem with the first command, which must be `rd run [--prompted] FILE`."""
    if words[:2] != ["rd", "run"]:
        return "the first command must be `rd run [--prompted] FILE`"
    unknown = [word for word in words[2:] if word.startswith("-") and word != "--prompted"]
    if unknown:
        return f"`rd run` has no option `{unknown[0]}` in a scenario, only --prompted and --input"
    files = [word for word in words[2:] if word != "--prompted"]
    if len(files) != 1:
        return f"`rd run` needs exactly one file, found {len(files)}"
    name = posixpath.basename(files[0])
    if posixpath.basename(document) not in {name, STANDARD_INPUT}:
        return f"`rd run` must run this document, not `{name}`"
    return ""


def _event(line: str, words: list[str] | None, span: Span | None) -> Event:
    found = _parted(words or [], "--value")
    if found is None:
        return Unclear("`--value` needs NAME=VALUE", span)
    values, words = found[0], found[1] if words else None
    if values and words and words[1:2] != ["run"] and any(map(text_problem, dict(values).values())):
        return Unclear(f"the output in `{line.strip()}` is too long or is not a valid string", span)
    if values and words and words[1:2] in (["run"], ["goto"]):
        words = None
    match words:
        case ["rd", answer] if answer in _WORDS:
            return Reply(None, _WORDS[answer], tuple(values), span if values else None)
        case ["rd", "goto", step]:
            return Goto(step, span, GOTO)
        case ["rd", "run", *_]:
            return Unclear("second `rd run`; a scenario has only one run", span)
        case _:
            return Unclear(f"`{line.strip()}` must be `rd pass|yes|ok`, `rd fail|no` or `rd goto ID`", span)


class Given(Struct, frozen=True):
    """The value of an input as written, with its place."""

    name: str
    value: object
    span: Span | None


def unfit_inputs(declared: Declarations, given: Sequence[Given], begin: Span | None) -> Iterator[Unclear]:
    """Yield the problems with one scenario's inputs; `begin` is the place of its run."""
    inputs = {item.input.name: item.input for item in declared.inputs}
    for one in given:
        if one.name not in inputs:
            listed = f"the inputs are {', '.join(inputs)}" if inputs else "the document declares no inputs"
            yield Unclear(
                f"there is no input `{one.name}`; {listed}",
                one.span,
                "remove it, or declare it under `rdc: {inputs: …}`",
            )
            continue
        known, problem = inputs[one.name], text_problem(one.value)
        if problem := problem or unfit(str(one.value), known.type, known.options, known.pattern):
            said = f"the value of input `{one.name}` is not valid: {problem}"
            yield Unclear(said, one.span, "change the value")
    missing = [name for name, item in inputs.items() if item.required and item.default is None]
    for name in missing:
        if name not in {item.name for item in given}:
            remedy = f"add `inputs: {{{name}: VALUE}}` to the scenario, or `--input {name}=VALUE` to its `rd run`"
            yield Unclear(f"input `{name}` has no default, and the scenario gives no value", begin, remedy)
