"""Names of variables in declarations: which are allowed, and lists of them (E1, E2, E10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from compiler.options import Level, Option, Place, Places, Problems, Wrong
from compiler.source import KeyPath
from compiler.suggestions import did_you_mean

MOST = 100
"""How many inputs, values or secrets a document has at most."""


def name_problems(name: str, noun: str, path: KeyPath) -> Iterator[Wrong]:
    """What is wrong with the name of a variable; `noun` is what it would name."""
    from compiler.ir.variables import is_identifier, reserved_because  # noqa: PLC0415 (flags of commands need no more)

    if not is_identifier(name):
        yield Wrong(f"`{name}` cannot be the name of {noun}", "use letters, digits and `_`; begin with no digit", path)
    elif reason := reserved_because(name):
        yield Wrong(f"`{name}` cannot be the name of {noun}: {reason}", "choose another name", path)


def unknown_key(key: str, known: tuple[str, ...], inside: str, path: KeyPath) -> Wrong:
    """A key that there is not."""
    return Wrong(f"{inside} has no key `{key}`{did_you_mean(key, known)}", f"the keys are {', '.join(known)}", path)


def name_list(key: str, noun: str) -> Callable[[object, Places], Mapping[str, Place] | Wrong | Problems]:
    """A reader of lists of names, each with its place."""

    def read(content: object, places: Places) -> Mapping[str, Place] | Wrong | Problems:
        if not isinstance(content, list) or len(content) > MOST:
            return Wrong(f"`{key}` is not a list of at most {MOST} names", f"write `{key}: [NAME, OTHER_NAME]`")
        if found := [wrong for number in range(len(content)) for wrong in problems(content, number)]:
            return Problems(found)
        return {name: places.get((str(number),), places[()]) for number, name in enumerate(content)}

    def problems(content: list[object], number: int) -> Iterator[Wrong]:
        name, path = content[number], (str(number),)
        if not isinstance(name, str):
            yield Wrong(
                f"`{key}` has an item that is not a name", "write a name; YAML takes `null` and `~` for nothing", path
            )
            return
        yield from name_problems(name, noun, path)
        if name in content[:number]:
            yield Wrong(f"`{name}` is twice in `{key}`", "remove one of the two", path)

    return read


def names_option(key: str, about: str, noun: str) -> Option[Mapping[str, Place]]:
    """An option that is a list of names."""
    return Option(key, about, name_list(key, noun), levels=(Level.DOCUMENT,), as_written=True)


SECRETS = names_option("secrets", "The environment variables that must be set, and are masked.", "a secret")
"""Formats that have secrets share this option (E10)."""
