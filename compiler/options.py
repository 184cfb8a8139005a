"""The options of a document (`rdc:` in its frontmatter) and of a project (`rdc.toml` or `[tool.rdc]`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, get_args

from compiler.diagnostic import Diagnostic
from compiler.source import KeyPath, Span, Spans, beneath, nearest

Layout = Literal["after-body", "after-header"]
"""Where the transitions of a unit stand (V7)."""

LAYOUTS: tuple[Layout, ...] = get_args(Layout)

MOST_HEADINGS = 100
"""How many sections the option `prose` names at most."""

# For the code of a mistake in options, which says where they stand: how its message begins.
_BEGIN = {"RD013": "", "RD501": "the configuration is not valid: "}

_KNOWN = "options are `transitions`, `prose` and, under the name of a target, those that `rdc targets NAME` lists"


class Place(NamedTuple):
    """Where an option stands: a path and a span as in diagnostics, and the code for what is wrong there."""

    code: str
    path: str
    span: Span | None

    def finding(self, problem: str, remedy: str = _KNOWN) -> Diagnostic:
        """The diagnostic for a mistake in this option, with what to do."""
        return Diagnostic(self.code, self.path, self.span, _BEGIN[self.code] + problem, remedy)


@dataclass(frozen=True, slots=True)
class Table:
    """The options of one target as they are written: what they may be, only the target knows.

    `places` has the place of the table itself, `()`, and of what is in it, as far as these are known.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    places: Mapping[KeyPath, Place] = field(default_factory=dict)

    def place(self, path: KeyPath) -> Place | None:
        """The place of an option, else of the nearest around it; None in a table that is written nowhere."""
        return nearest(self.places, path)

    def over(self, other: Table) -> Table:
        """The options of both; where both have one, it is this table's alone, nothing of the other's is left in it."""
        kept = {path: place for path, place in other.places.items() if not path or path[0] not in self.values}
        return Table({**other.values, **self.values}, {**kept, **self.places})


@dataclass(frozen=True, slots=True)
class Options:
    """What can be set for a document or for all documents of a project; `targets` has the tables by their names.

    `prose` has the headings of sections that are text and no steps, each with the place where it is named.
    """

    transitions: Layout | None = None
    prose: Mapping[str, Place] | None = None
    targets: Mapping[str, Table] = field(default_factory=dict)


def merge(upper: Mapping[str, Table], lower: Mapping[str, Table]) -> dict[str, Table]:
    """The tables of both, option by option; those of `upper` outweigh."""
    both = {name: table.over(lower[name]) for name, table in upper.items() if name in lower}
    return {**lower, **upper, **both}


def read_options(value: object, place: Place, spans: Spans) -> tuple[Options, list[Diagnostic]]:
    """The options in a plain value, and what is wrong in it; what is wrong keeps its default.

    Args:
        value: A mapping, if it is right.
        place: Where it stands.
        spans: Where its keys stand, and theirs.
    """
    if not isinstance(value, Mapping):
        return Options(), [place.finding("the options are not a mapping of names to values")]
    layout: Layout | None = None
    prose: Mapping[str, Place] | None = None
    targets: dict[str, Table] = {}
    found: list[Diagnostic] = []
    inner: dict[str, dict[KeyPath, Span]] = {}
    for path, span in spans.items():
        if path:
            inner.setdefault(path[0], {})[path[1:]] = span
    for key, content in value.items():
        name = str(key)
        own = place._replace(span=spans.get((name,), place.span))
        if name == "transitions":
            layout = next((layout for layout in LAYOUTS if layout == content), None)
            if layout is None:
                known = " or ".join(LAYOUTS)
                found.append(own.finding(f"`transitions` is {known}, not {content!r}", f"write {known}"))
        elif name == "prose":
            prose = _headings(content, own, beneath(spans, name))
            if prose is None:
                problem = f"`prose` is not a list of at most {MOST_HEADINGS} headings of sections"
                found.append(own.finding(problem, "write the headings without their marks: `prose: [Prerequisites]`"))
        elif isinstance(content, Mapping):
            places = {path: own._replace(span=span) for path, span in inner.get(name, {}).items()}
            targets[name] = Table({str(option): inner for option, inner in content.items()}, {(): own, **places})
        else:
            found.append(own.finding(_unknown(name)))
    return Options(layout, prose, targets), found


def _headings(content: object, place: Place, spans: Spans) -> dict[str, Place] | None:
    """The texts of a list with their places; None for what is no such list."""
    if not isinstance(content, list) or len(content) > MOST_HEADINGS:
        return None
    if not all(isinstance(item, str) and item.strip() for item in content):
        return None
    return {item: place._replace(span=spans.get((str(number),), place.span)) for number, item in enumerate(content)}


def _unknown(name: str) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 (only for a mistake)

    if close := get_close_matches(name, ["transitions", "prose"], 1):
        return f"there is no option `{name}`; did you mean `{close[0]}`?"
    return f"there is no option `{name}`; the options of a target are a mapping under its name"
