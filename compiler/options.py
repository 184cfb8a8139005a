"""The options of a document (`rdc:` in its frontmatter) and of a project (`rdc.toml` or `[tool.rdc]`)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic, Fix
from compiler.safeguards import looks_like_safeguard
from compiler.source import KeyPath, Span, Spans, beginning, nearest
from compiler.suggestions import nearest_name

Value = TypeVar("Value")
Word = TypeVar("Word", bound=str)

# For the code of an error in options, which says where they stand: how its message begins.
_BEGIN = {"RD013": "", "RD501": "the configuration is not valid: "}


class Place(Struct, frozen=True):
    """Where an option stands: a path and a span as in diagnostics, and the code for what is wrong there."""

    code: str
    path: str
    span: Span | None

    def finding(self, problem: str, remedy: str) -> Diagnostic:
        """The diagnostic for an error in this option, with what to do."""
        return Diagnostic(self.code, self.path, self.span, _BEGIN[self.code] + problem, remedy)


Places = Mapping[KeyPath, Place]
"""The place of an option, `()`, and of what is in it, as far as these are known; empty for the command line."""


class Table(Struct, frozen=True):
    """The options of one target as they are written: what they may be, only the target knows.

    `places` has the place of the table itself, `()`, and of what is in it, as far as these are known.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    places: Places = field(default_factory=dict)

    def place(self, path: KeyPath) -> Place | None:
        """The place of an option, else of the nearest around it; None in a table that is written nowhere."""
        return nearest(self.places, path)

    def over(self, other: Table) -> Table:
        """The options of both; where both have one, it is this table's alone, nothing of the other's is left in it."""
        kept = {path: place for path, place in other.places.items() if not path or path[0] not in self.values}
        return Table({**other.values, **self.values}, {**kept, **self.places})


class Options(Struct, frozen=True):
    """What is set in a document or in a project: the values of formats' options, and the tables of targets, by name."""

    values: Mapping[str, object] = field(default_factory=dict)
    targets: Mapping[str, Table] = field(default_factory=dict)


class Level(StrEnum):
    """Where an option of a format can be set. What stands further up overrides what stands below."""

    COMMAND_LINE = "on the command line"
    DOCUMENT = "in the document"
    PROJECT = "in the configuration of the project"


class Wrong(Struct, frozen=True):
    """Why a value is none that an option can have, and what to do; `path` leads to what is wrong within it."""

    problem: str
    remedy: str
    path: KeyPath = ()


class Problems(tuple[Wrong, ...]):
    """All that is wrong within one value."""

    __slots__ = ()


class Option(Struct, Generic[Value], frozen=True):
    """An option of a format: its name, what it is for, how a plain value of it is read, and where it can be set.

    `choices` are the words that it can be, if these are all. On the command line a value is a word, or with
    `is_repeated` all the words that are given, each of the form `metavar`. With `as_written` its numbers, dates and
    booleans are read as the texts that their author wrote.
    """

    name: str
    help: str
    read: Callable[[object, Places], Value | Wrong | Problems]
    choices: tuple[str, ...] = ()
    levels: tuple[Level, ...] = tuple(Level)
    as_written: bool = False
    is_repeated: bool = False
    metavar: str = ""

    def first(self, *levels: Mapping[str, object]) -> Value | None:
        """The value in the first of these levels that has one; what stands there is what `read` gave."""
        return cast("Value | None", next((values[self.name] for values in levels if self.name in values), None))


def choice(name: str, about: str, words: tuple[Word, ...], levels: tuple[Level, ...] = tuple(Level)) -> Option[Word]:
    """An option that is one of a few words."""
    known = " or ".join(words)

    def read(value: object, _: Places) -> Word | Wrong:
        found = next((word for word in words if word == value), None)
        return found or Wrong(f"`{name}` is {known}, not {value!r}", f"write {known}")

    return Option(name, about, read, words, levels)


def merge(upper: Mapping[str, Table], lower: Mapping[str, Table]) -> dict[str, Table]:
    """The tables of both, option by option; those of `upper` override."""
    both = {name: table.over(lower[name]) for name, table in upper.items() if name in lower}
    return {**lower, **upper, **both}


class Known(Struct, frozen=True):
    """The options that there are for what is read, and the level that it stands at."""

    options: Sequence[Option[Any]]
    level: Level

    @property
    def names(self) -> list[str]:
        """The names of those that can be set at the level."""
        return [option.name for option in self.options if self.level in option.levels]

    @property
    def remedy(self) -> str:
        """What can stand there."""
        own = "".join(f"`{name}`, " for name in self.names).removesuffix(", ")
        begin = f"{own} and, " if own else ""
        return f"options are {begin}under the name of a target, those that `rdc targets NAME` lists"


def read_options(value: object, place: Place, spans: Spans, known: Known) -> tuple[Options, list[Diagnostic]]:
    """The options in a plain value, and what is wrong in it; what is wrong keeps its default.

    Args:
        value: A mapping, if it is right.
        place: Where it stands.
        spans: Where its keys stand, and theirs.
        known: The options that are not those of a target.
    """
    if not isinstance(value, Mapping):
        return Options(), [place.finding("the options are not a mapping of names to values", known.remedy)]
    options = {option.name: option for option in known.options}
    values: dict[str, object] = {}
    targets: dict[str, Table] = {}
    found: list[Diagnostic] = []
    inside = places_within(place, spans)
    for key, content in value.items():
        name = str(key)
        places = inside.get(name, {(): place})
        own = places[()]
        if name in options:
            read = _value(options[name], content, places, known.level)
            if isinstance(read, Wrong | Problems):
                found += placed([read] if isinstance(read, Wrong) else read, places)
            else:
                values[name] = read
        elif looks_like_safeguard(name):
            problem = f"rdc has no option `{name}`, and no run would wait because of it"
            found.append(own.finding(problem, "remove it, and write the gate or the question as a step"))
        elif isinstance(content, Mapping):
            targets[name] = Table({str(option): inner for option, inner in content.items()}, places)
        else:
            found.append(_unknown(name, own, known))
    return Options(values, targets), found


def places_within(place: Place, spans: Spans) -> dict[str, dict[KeyPath, Place]]:
    """For each key of a mapping the places of its value and of what is in it; `place` is that of the mapping."""
    inner: dict[str, dict[KeyPath, Place]] = {}
    for path, span in spans.items():
        if path:
            inner.setdefault(path[0], {(): place})[path[1:]] = replace(place, span=span)
    return inner


def placed(problems: Iterable[Wrong], places: Places) -> list[Diagnostic]:
    """The diagnostics for what is wrong within an option, each at its place."""
    found = ((nearest(places, item.path), item) for item in problems)
    return [place.finding(item.problem, item.remedy) for place, item in found if place]


def _value(option: Option[Value], content: object, places: Places, level: Level) -> Value | Wrong | Problems:
    if level not in option.levels:
        return Wrong(f"`{option.name}` cannot be set {level}", f"set it {' or '.join(option.levels)}")
    return option.read(content, places)


def _unknown(name: str, place: Place, known: Known) -> Diagnostic:
    if close := nearest_name(name, known.names):
        found = place.finding(f"there is no option `{name}`; did you mean `{close}`?", f"replace `{name}` by `{close}`")
        return replace(found, fix=place.span and Fix.respelling(beginning(place.span, name), name, close))
    problem = f"there is no option `{name}`; the options of a target are a mapping under its name"
    return place.finding(problem, known.remedy)
