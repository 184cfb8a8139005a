"""Check names of variables and lists of them in declarations."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources
from compiler.diagnostics.model import Issue
from compiler.frontends.common.limits import KEYS as LIMITS
from compiler.frontends.common.limits import Limits, limit_issues, limits_of
from compiler.ir.texts import is_identifier, reserved_because, unsettable_because
from compiler.project.options import Level, Option, TargetOptions, is_label
from compiler.project.rules import read_rules
from compiler.rules.model import Names
from compiler.text.durations import duration_remedy, read_duration
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, nearest, sha256_of, without_ending
from compiler.text.suggestions import did_you_mean

MOST = 100  # the most inputs, outputs or secrets of a document


def name_issues(name: str, noun: str, path: KeyPath, *, is_set: bool = False) -> Iterator[Issue]:
    """Yield the problem with the name of `noun`, a variable; with `is_set`, the document has its value."""
    if not is_identifier(name):
        remedy = "use letters, digits and `_`, and don't start with a digit"
        yield Issue(path, f"`{name}` cannot be the name of {noun}", remedy)
    elif reason := unsettable_because(name) if is_set else reserved_because(name):
        yield Issue(path, f"`{name}` cannot be the name of {noun}: {reason}", "choose another name")


def unknown_key(key: str, known: tuple[str, ...], inside: str, path: KeyPath) -> Issue:
    """Return the issue of an unknown key."""
    problem = f"there is no key `{key}` in {inside}{did_you_mean(key, known)}"
    return Issue(path, problem, f"the keys are {', '.join(known)}")


def names_option(key: str, about: str, noun: str) -> Option[Mapping[str, OptionSource]]:
    """Return an option whose value is a list of names, each with its place."""

    def read(content: object, places: OptionSources) -> Mapping[str, OptionSource]:
        if not isinstance(content, list) or len(content) > MOST:
            problem = f"`{key}` must be a list of at most {MOST} names"
            raise InvalidError(Issue((), problem, f"write `{key}: [NAME, OTHER_NAME]`"))
        if found := [issue for number in range(len(content)) for issue in issues(content, number)]:
            raise InvalidError(*found)
        return {name: places.get((str(number),), places[()]) for number, name in enumerate(content)}

    def issues(content: list[object], number: int) -> Iterator[Issue]:
        name, path = content[number], (str(number),)
        if not isinstance(name, str):
            remedy = "write a name; in YAML, `null` and `~` mean no value"
            yield Issue(path, f"each item of `{key}` must be a name", remedy)
            return
        yield from name_issues(name, noun, path)
        if name in content[:number]:
            yield Issue(path, f"duplicate name `{name}` in `{key}`", "remove one of the two")

    return Option(key, about, read, levels=(Level.DOCUMENT,), as_written=True)


SECRETS = names_option("secrets", "The environment variables that must be set; rdc masks their values.", "a secret")
"""All formats with secrets share this option (E10)."""


def _read_logs(value: object, _: OptionSources) -> bool:
    if isinstance(value, bool):
        return value
    raise InvalidError(Issue((), "`logs` must be true or false", "write `logs: true`"))


def _read_notify(value: object, _: OptionSources) -> str:
    if isinstance(value, str) and value.strip() and value.isprintable() and len(value.encode()) <= LONGEST_COMMAND:
        return value
    problem = f"`notify` must be a command on one line, with at most {LONGEST_COMMAND:,} bytes"
    raise InvalidError(Issue((), problem, "write `notify: ./notify.sh`; the command reads the event as JSON"))


LONGEST_COMMAND = 4096  # of a notice, in bytes

_LEVELS = (Level.DOCUMENT, Level.PROJECT)
LOGS = Option(
    "logs", "Whether runs keep each command's output and show its end above a question.", _read_logs, (), _LEVELS
)
NOTIFY = Option("notify", "The command to call when a run waits or ends.", _read_notify, (), _LEVELS)
RULES = Option(
    "rules", "Sentences about the order of steps, which every run respects.", read_rules, levels=(Level.DOCUMENT,)
)
OPERATING: tuple[Option[Any], ...] = (LOGS, NOTIFY, RULES)
"""All formats share these options for runs."""


LONGEST = 65_536  # the longest value that a command can get, in bytes (I7)


def text_issue(value: object) -> str:
    """Return why a plain value is not a valid string, or "" if it is one."""
    if value is None:
        return "it has no value"
    if not isinstance(value, str):
        return "it is not a string"
    try:
        size = len(value.encode())
    except UnicodeEncodeError:
        return "it contains a character that is not valid in UTF-8"
    if "\0" in value:
        return "it contains a NUL character"
    return f"it is longer than {LONGEST:,} bytes" if size > LONGEST else ""


NAMED = Regex(r"(?<![${])\{\{[A-Za-z_]\w*\}\}(?!\})|(?<![${`])\{\{ [A-Za-z_]\w* \}\}(?![}`])")
"""Matches a name in double braces whose author expects a value; other template languages have more in their braces."""

LONGEST_NAME = 64  # the longest name in characters, because it becomes a file name


def safe_name(wanted: str, otherwise: str) -> str:
    """Return a name that is safe in paths and close to the wanted one, or `otherwise` if nothing is left of it."""
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", wanted).strip("-.")
    return f"{name[:-9][: LONGEST_NAME - 9]}-{sha256_of(wanted)[:8]}" if len(name) > LONGEST_NAME else name or otherwise


def name_of(path: str, endings: Iterable[str], exists: Callable[[str], bool]) -> str:
    """Return the name of a document's state and files: its path from the root with dots, without its extension (R4).

    It keeps the extension if another document with the same name `exists` beside it.
    """
    plain = without_ending(path, endings)
    is_shared = any(exists(plain + ending) for ending in endings if not path.endswith(ending))
    return safe_name((path if is_shared else plain).replace("/", "."), f"document-{sha256_of(path)[:8]}")


ENDING = ".scenarios.yaml"
"""The end of the name of a file with scenarios, after the stem of its document."""


def stem(path: str, *endings: str) -> str:
    """Return a document's file name without these extensions, removed in this order."""
    name = posixpath.basename(path)
    for ending in endings:
        name = name.removesuffix(ending)
    return name


LABELS = "labels"
MOST_LABELS = 20  # of a step


def label_issues(inside: str, value: object, path: KeyPath) -> Iterator[Issue]:
    """Yield the problem with the labels in a step's settings."""
    if not isinstance(value, list) or not 0 < len(value) <= MOST_LABELS or not all(map(is_label, value)):
        problem = (
            f"{inside}: `{LABELS}` must be a list of 1 to {MOST_LABELS} names of letters, digits, `_`, `-` or `.`, "
            "which start with a letter"
        )
        yield Issue(path, problem, f"write `{LABELS}: [production]`")


TIMEOUT = "timeout"
KEYS = (TIMEOUT, *LIMITS, LABELS, "secrets", "environment")
"""The last two are for targets, which check them against their own options."""


class TimeLimit(Struct, frozen=True):
    """The time limit of a step, with its place."""

    step: str
    seconds: int
    place: OptionSource | None


class Nodes(Struct, frozen=True):
    """The settings of steps: time limits of calls, settings for targets, other limits, and labels with all places."""

    limits: tuple[TimeLimit, ...]
    for_targets: TargetOptions
    others: tuple[Limits, ...] = ()
    labels: Names = MappingProxyType({})
    places: OptionSources = MappingProxyType({})


def _read(content: object, places: OptionSources) -> Nodes:
    if not isinstance(content, Mapping):
        remedy = 'write `steps: {"2": {timeout: 10m}}`'
        raise InvalidError(Issue((), "`steps` must be a mapping of steps to settings", remedy))
    settings = {str(node): value for node, value in content.items()}
    if found := [issue for node, value in settings.items() for issue in _issues(node, value)]:
        raise InvalidError(*found)
    limits = tuple(
        TimeLimit(node, read_duration(value[TIMEOUT]) or 0, nearest(places, (node, TIMEOUT)))
        for node, value in settings.items()
        if TIMEOUT in value
    )
    own = {TIMEOUT, LABELS, *LIMITS}
    rest = {node: {key: each for key, each in value.items() if key not in own} for node, value in settings.items()}
    for_targets = {node: value for node, value in rest.items() if value}
    return Nodes(
        limits,
        TargetOptions(
            for_targets, {path: place for path, place in places.items() if not path or path[0] in for_targets}
        ),
        tuple(limits_of(node, value, places) for node, value in settings.items() if not {*LIMITS}.isdisjoint(value)),
        {node: tuple(value[LABELS]) for node, value in settings.items() if LABELS in value},
        places,
    )


def _issues(node: str, said: object) -> Iterator[Issue]:
    if not isinstance(said, Mapping):
        remedy = f"write `{node}: {{{TIMEOUT}: 10m}}`; the keys are {', '.join(KEYS)}"
        yield Issue((node,), f"the settings of step {node} must be a mapping", remedy)
        return
    for key in said:
        if key not in KEYS:
            yield unknown_key(str(key), KEYS, f"the settings of step {node}", (node, str(key)))
    if TIMEOUT in said and not read_duration(said[TIMEOUT]):
        problem = f"the settings of step {node}: `{TIMEOUT}` must be a duration from a second to a year"
        yield Issue((node, TIMEOUT), problem, duration_remedy(said[TIMEOUT]))
    yield from limit_issues(f"the settings of step {node}", said, (node,))
    if LABELS in said:
        yield from label_issues(f"the settings of step {node}", said[LABELS], (node, LABELS))


STEPS: Option[Nodes] = Option(
    "steps",
    "Settings of steps: limits of calls and visits, labels, and settings for targets.",
    _read,
    levels=(Level.DOCUMENT,),
)
NO_STEPS = Nodes((), TargetOptions())
