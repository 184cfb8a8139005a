"""Check names of variables and lists of them in declarations (E1, E2, E10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compiler.diagnostic import Issue
from compiler.ir.variables import is_identifier, reserved_because, unsettable_because
from compiler.issues import InvalidError, Place, Places
from compiler.options import Level, Option
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

MOST = 100
"""The most inputs, outputs or secrets of a document."""


def name_issues(name: str, noun: str, path: KeyPath, *, is_set: bool = False) -> Iterator[Issue]:
    """Yield the problem with a variable's name, if any.

    `noun` is the thing to name. With `is_set`, the document has the value.
    """
    if not is_identifier(name):
        remedy = "use letters, digits and `_`, and don't start with a digit"
        yield Issue(path, f"`{name}` cannot be the name of {noun}", remedy)
    elif reason := unsettable_because(name) if is_set else reserved_because(name):
        yield Issue(path, f"`{name}` cannot be the name of {noun}: {reason}", "choose another name")


def unknown_key(key: str, known: tuple[str, ...], inside: str, path: KeyPath) -> Issue:
    """Return the issue of an unknown key."""
    problem = f"there is no key `{key}` in {inside}{did_you_mean(key, known)}"
    return Issue(path, problem, f"the keys are {', '.join(known)}")


def name_list(key: str, noun: str) -> Callable[[object, Places], Mapping[str, Place]]:
    """Return a reader for lists of names, each with its place."""

    def read(content: object, places: Places) -> Mapping[str, Place]:
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

    return read


def names_option(key: str, about: str, noun: str) -> Option[Mapping[str, Place]]:
    """Return an option whose value is a list of names."""
    return Option(key, about, name_list(key, noun), levels=(Level.DOCUMENT,), as_written=True)


SECRETS = names_option("secrets", "The environment variables that must be set; rdc masks their values.", "a secret")
"""All formats with secrets share this option (E10)."""


LONGEST = 65_536
"""The longest value that a command can get, in bytes (I7)."""


def text_problem(value: object) -> str:
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
