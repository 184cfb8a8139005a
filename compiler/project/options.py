"""Read the options of documents (`rdc:` in frontmatter) and projects (`rdc.toml` or `[tool.rdc]`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any, Generic, TypeVar, cast

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostics.issues import InvalidError, OptionSource, OptionSources, diagnostics
from compiler.diagnostics.model import Diagnostic, Fix, Issue
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, Spans, nearest
from compiler.text.suggestions import nearest_name

Value = TypeVar("Value")
Word = TypeVar("Word", bound=str)


LABEL = r"[^\W\d_][\w.-]{0,63}"
_LABEL = Regex(LABEL)


def is_label(name: object) -> bool:
    """Return whether a value can be a label or the name of a rule, which needs no quotes in sentences and commands."""
    return isinstance(name, str) and name.isprintable() and _LABEL.fullmatch(name) is not None


class TargetOptions(Struct, frozen=True):
    """The unchecked options of one target; only the target knows which values are valid.

    `places` has the known places of the table, `()`, and of its parts.
    """

    values: Mapping[str, object] = field(default_factory=dict)
    places: OptionSources = field(default_factory=dict)

    def place(self, path: KeyPath) -> OptionSource | None:
        """Return the place of an option or of the nearest part around it, or None if the table has no place."""
        return nearest(self.places, path)

    def over(self, other: TargetOptions) -> TargetOptions:
        """Return the options of both tables; an option in this table replaces the other one completely."""
        remaining = {path: place for path, place in other.places.items() if not path or path[0] not in self.values}
        return TargetOptions({**other.values, **self.values}, {**remaining, **self.places})


class Making(Struct, frozen=True):
    """The command that writes a file: the path after its `-o`, or "", and whether it sets each option of a table."""

    out: str = ""
    overrides: Mapping[str, bool] = field(default_factory=dict)


class Options(Struct, frozen=True):
    """The settings of a document or project: values of formats' options, and tables of targets, by name."""

    values: Mapping[str, object] = field(default_factory=dict)
    targets: Mapping[str, TargetOptions] = field(default_factory=dict)


class Level(StrEnum):
    """The levels where an option can be set; earlier levels override later ones."""

    COMMAND_LINE = "on the command line"
    DOCUMENT = "in the document"
    PROJECT = "in the project's configuration"


class Option(Struct, Generic[Value], frozen=True):
    """An option of a format: its name, its help text, the reader of its value, and its levels.

    `read` raises `InvalidError`. `choices` are all possible values, if there is a fixed list. On the command line a
    value is a string, or with `is_repeated` a list of strings, each of the form `metavar`. With `as_written`, its
    numbers, dates and booleans are read as the strings that the author wrote.
    """

    name: str
    help: str
    read: Callable[[object, OptionSources], Value]
    choices: tuple[str, ...] = ()
    levels: tuple[Level, ...] = tuple(Level)
    as_written: bool = False
    is_repeated: bool = False
    metavar: str = ""

    def first(self, *levels: Mapping[str, object]) -> Value | None:
        """Return the value in the first of these levels that has one, as returned by `read`."""
        return cast("Value | None", next((values[self.name] for values in levels if self.name in values), None))


def choice(name: str, about: str, words: tuple[Word, ...], levels: tuple[Level, ...] = tuple(Level)) -> Option[Word]:
    """Return an option with a fixed list of values."""
    known = " or ".join(words)

    def read(value: object, _: OptionSources) -> Word:
        if found := next((word for word in words if word == value), None):
            return found
        raise InvalidError(Issue((), f"`{name}` must be {known}, not {value!r}", f"write {known}"))

    return Option(name, about, read, words, levels)


def merge(upper: Mapping[str, TargetOptions], lower: Mapping[str, TargetOptions]) -> dict[str, TargetOptions]:
    """Return the tables of both; options of `upper` override."""
    both = {name: table.over(lower[name]) for name, table in upper.items() if name in lower}
    return {**lower, **upper, **both}


class Known(Struct, frozen=True):
    """The available options, and the level to read them at; `others` are more names there, which others read."""

    options: Sequence[Option[Any]]
    level: Level
    others: Sequence[str] = ()

    @property
    def names(self) -> list[str]:
        """The names of the options at this level."""
        return [*(option.name for option in self.options if self.level in option.levels), *self.others]

    @property
    def help(self) -> str:
        """The help for an unknown option."""
        own = f"the options are {', '.join(f'`{name}`' for name in self.names)}; " if self.names else ""
        return f"{own}a target's options go under its name (`rdc targets NAME` lists them)"


def read_options(value: object, place: OptionSource, spans: Spans, known: Known) -> tuple[Options, list[Diagnostic]]:
    """Return the options in a plain value and the problems with them; an invalid option keeps its default."""
    if not isinstance(value, Mapping):
        return Options(), [place.finding("the options must be a mapping of names to values", known.help)]
    options = {option.name: option for option in known.options}
    values: dict[str, object] = {}
    targets: dict[str, TargetOptions] = {}
    found: list[Diagnostic] = []
    inside = places_within(place, spans)
    for key, content in value.items():
        name = str(key)
        places = inside.get(name, {(): place})
        own = places[()]
        if name in options:
            try:
                values[name] = _value(options[name], content, places, known.level)
            except InvalidError as error:
                found += diagnostics(error.issues, places)
        elif looks_like_safeguard(name):
            problem = f"there is no option `{name}`, so no run would wait for a person because of it"
            found.append(own.finding(problem, "remove it, and write the gate or question as a step"))
        elif isinstance(content, Mapping):
            targets[name] = TargetOptions({str(option): inner for option, inner in content.items()}, places)
        else:
            found.append(_unknown(name, own, known))
    return Options(values, targets), found


_AS_WRITTEN = frozenset({"bind", "env", "with"})


def with_texts(value: object, written: Any, *, is_text: bool = False) -> Any:  # noqa: ANN401 (any YAML value)
    """Return an option with variables and inputs as their author wrote them, so that version 1.10 stays 1.10.

    GitHub's own triggers may have an input with the name `env`, whose settings are no variables.
    """
    if isinstance(value, dict):
        found = {key: with_texts(value[key], written[key], is_text=is_text or key in _AS_WRITTEN) for key in value}
        return found if is_text or "on" not in value else found | {"on": value["on"]}
    if isinstance(value, list):
        return [with_texts(*pair, is_text=is_text) for pair in zip(value, written, strict=True)]
    return value if value is None or not is_text else written


def places_within(place: OptionSource, spans: Spans) -> dict[str, dict[KeyPath, OptionSource]]:
    """Return for each key of a mapping the places of its value's parts; `place` is the mapping's place."""
    inner: dict[str, dict[KeyPath, OptionSource]] = {}
    for path, span in spans.items():
        if path:
            inner.setdefault(path[0], {(): place})[path[1:]] = replace(place, span=span)
    return inner


def _value(option: Option[Value], content: object, places: OptionSources, level: Level) -> Value:
    if level not in option.levels:
        problem, remedy = f"`{option.name}` cannot be set {level}", f"set it {' or '.join(option.levels)}"
        raise InvalidError(Issue((), problem, remedy))
    return option.read(content, places)


def _unknown(name: str, place: OptionSource, known: Known) -> Diagnostic:
    if close := nearest_name(name, known.names):
        problem = f"there is no option `{name}`; did you mean `{close}`?"
        found = place.finding(problem, f"replace `{name}` with `{close}`")
        return replace(found, fix=place.span and Fix.respelling(place.span.part(0, len(name)), name, close))
    problem = f"there is no option `{name}`; the options of a target must be a mapping under its name"
    return place.finding(problem, known.help)


_WORDS = Regex(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_STEMS = ("approv", "confirm", "interrupt", "signoff", "humangate", "humaninthe", "humanreview", "manualreview")
"""Parts of keys without separators. None is part of a common word for something else, apart from `_HARMLESS`."""
_PARTS = ("human", "humans", "gate", "gates", "gated", "hitl", "consent", "manual", "reviewers", "breakpoint")
_REVIEW = frozenset({"review", "reviews", "reviewed", "reviewer"})
_DEMANDS = frozenset({"require", "requires", "required", "needs", "need", "must", "wait"})
_HARMLESS = frozenset({"interruptible", "uninterruptible"})
_ABOUT_TEXT = ("readable", "friendly", "name", "title", "label", "text", "language", "format", "date", "time")
"""A word after `human` that makes a key one about text: `human_readable`."""


_CHOSEN = ("inputs", "outputs", "env", "secrets", "steps", "with", "variables", "agents", "tools", "labels", "metadata")
"""Keys below which authors choose the names."""
_DEEPEST = 4


def hidden_safeguard(key: str, value: object, depth: int = 0) -> str:
    """Return the first key below an unknown key that looks like a safeguard, or ""."""
    if key in _CHOSEN or not isinstance(value, dict) or depth == _DEEPEST:
        return ""
    for name, inner in value.items():
        found = name if looks_like_safeguard(str(name)) else hidden_safeguard(str(name), inner, depth + 1)
        if found:
            return str(found)
    return ""


def is_about_text(key: str) -> bool:
    """Return whether a key with `human` is about text, such as `human_readable`."""
    words = {word.casefold() for word in _WORDS.findall(key[:200])}
    return "human" in words and not words.isdisjoint(_ABOUT_TEXT)


def looks_like_safeguard(key: str) -> bool:
    """Return whether a part of a key is named like a safeguard, in any spelling: `human_gate`, `requiresApproval`."""
    words = [word.casefold() for word in _WORDS.findall(key[:200])]
    if _HARMLESS.intersection(words):
        return False
    if is_about_text(key):
        words = [word for word in words if word != "human"]
    squashed = "".join(words)
    if any(stem in squashed for stem in _STEMS) or not set(words).isdisjoint(_PARTS):
        return True
    return not _REVIEW.isdisjoint(words) and not _DEMANDS.isdisjoint(words)
