"""Check names of variables and lists of them in declarations (E1, E2, E10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compiler.ir.variables import is_identifier, reserved_because, unsettable_because
from compiler.options import Level, Option, Place, Places, Problems, Wrong
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

MOST = 100
"""The most inputs, outputs or secrets of a document."""


def name_problems(name: str, noun: str, path: KeyPath, *, is_set: bool = False) -> Iterator[Wrong]:
    """Yield the problem with a variable's name, if any.

    `noun` is the thing to name. With `is_set`, the document has the value.
    """
    if not is_identifier(name):
        remedy = "use letters, digits and `_`, and don't start with a digit"
        yield Wrong(f"`{name}` cannot be the name of {noun}", remedy, path)
    elif reason := unsettable_because(name) if is_set else reserved_because(name):
        yield Wrong(f"`{name}` cannot be the name of {noun}: {reason}", "choose another name", path)


def unknown_key(key: str, known: tuple[str, ...], inside: str, path: KeyPath) -> Wrong:
    """Return the problem for an unknown key."""
    problem = f"there is no key `{key}` in {inside}{did_you_mean(key, known)}"
    return Wrong(problem, f"the keys are {', '.join(known)}", path)


def name_list(key: str, noun: str) -> Callable[[object, Places], Mapping[str, Place] | Wrong | Problems]:
    """Return a reader for lists of names, each with its place."""

    def read(content: object, places: Places) -> Mapping[str, Place] | Wrong | Problems:
        if not isinstance(content, list) or len(content) > MOST:
            return Wrong(f"`{key}` must be a list of at most {MOST} names", f"write `{key}: [NAME, OTHER_NAME]`")
        if found := [wrong for number in range(len(content)) for wrong in problems(content, number)]:
            return Problems(found)
        return {name: places.get((str(number),), places[()]) for number, name in enumerate(content)}

    def problems(content: list[object], number: int) -> Iterator[Wrong]:
        name, path = content[number], (str(number),)
        if not isinstance(name, str):
            yield Wrong(
                f"each item of `{key}` must be a name", "write a name; in YAML, `null` and `~` mean no value", path
            )
            return
        yield from name_problems(name, noun, path)
        if name in content[:number]:
            yield Wrong(f"duplicate name `{name}` in `{key}`", "remove one of the two", path)

    return read


def names_option(key: str, about: str, noun: str) -> Option[Mapping[str, Place]]:
    """Return an option whose value is a list of names."""
    return Option(key, about, name_list(key, noun), levels=(Level.DOCUMENT,), as_written=True)


SECRETS = names_option("secrets", "The environment variables that must be set; rdc masks their values.", "a secret")
"""All formats with secrets share this option (E10)."""
