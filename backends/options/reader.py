"""Converts plain values to the types of options, and collects all flaws.

An argument of the command line is a string, so a number or boolean may be `5` or `true`. A union uses the first
alternative that accepts a value unchanged, otherwise the first that accepts it after conversion.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import Meta, structs

from backends.options.fields import Check, MisplacedError, Options, alternatives, fields, is_options, required
from backends.options.problems import Flaw
from compiler.regex import Regex
from compiler.source import KeyPath
from compiler.suggestions import nearest_name

_MAPPING = "be a mapping of names to values"
_WISHES = {str: "be a string", int: "be a whole number", float: "be a number", bool: "be true or false"}
_TRUTH: Mapping[object, bool] = {
    **dict.fromkeys(("1", "on", "t", "true", "y", "yes", 1), True),
    **dict.fromkeys(("0", "off", "f", "false", "n", "no", 0), False),
}
_WHOLE = Regex(r"\s*([+-]?[0-9]+(?:_[0-9]+)*)(?:\.0+)?\s*")

# The wishes of bounds, by their names in `Meta`.
_BOUNDS: Mapping[type, tuple[tuple[str, Callable[[Any, Any], object], str], ...]] = {
    str: (
        ("max_length", lambda text, most: len(text) <= most, "have at most {} characters"),
        ("min_length", lambda text, least: len(text) >= least, "have at least {} characters"),
        ("pattern", lambda text, pattern: re.fullmatch(pattern, text), "match pattern '{}'"),
    ),
    int: (
        ("ge", operator.ge, "be greater than or equal to {}"),
        ("gt", operator.gt, "be greater than {}"),
        ("le", operator.le, "be less than or equal to {}"),
        ("lt", operator.lt, "be less than {}"),
    ),
}


class Reader:
    """Reads values and collects flaws. With `strict`, strings do not become numbers or booleans."""

    def __init__(self, *, strict: bool = False) -> None:
        self.flaws: list[Flaw] = []
        self._strict = strict

    def read(self, kind: Any, value: object, path: KeyPath) -> Any:  # noqa: ANN401 (a value of any type)
        """Return a value in the type's form. If there are new flaws, ignore the result."""
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(parts, value, path)
        if origin in (Union, UnionType):
            return self._union(parts, value, path)
        if origin is Literal:
            return self._choice(parts, value, path)
        if origin is list:
            return self._list(parts[0], value, path)
        if origin is dict:
            return self._mapping(parts, value, path)
        return self.options(kind, value, path) if is_options(kind) else self._simple(kind, value, path)

    def options(self, kind: type[Options], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        """Return the options in a mapping. The class's own check only runs if each option is valid."""
        if not isinstance(value, Mapping):
            return self._wish(_MAPPING, value, path)
        before = len(self.flaws)
        read = self._fields(kind, value, path) if value or required(kind) else {}
        if len(self.flaws) > before:
            return None
        made = kind(**read)
        self._tried(kind.check, made, path)
        return made

    def _fields(self, kind: type[Options], value: Mapping[Any, object], path: KeyPath) -> dict[str, object]:
        known, read = fields(kind), {}
        for name, field in known.items():
            at = (*path, name)
            if name in value:
                read[field.name] = self.read(field.type, value[name], at)
            elif field.required:
                self.flaws.append(Flaw(at, sentence=f"`{'.'.join(at)}` is missing"))
        for name in map(str, value):
            if name not in known:
                close, at = nearest_name(name, known), (*path, name)
                hint = f"; did you mean `{'.'.join((*path, close))}`?" if close else ""
                self.flaws.append(Flaw(at, sentence=f"there is no option `{'.'.join(at)}`{hint}"))
        return read

    def _annotated(self, parts: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        before = len(self.flaws)
        read = self.read(parts[0], value, path)
        if read is None and NoneType in alternatives(parts[0]):
            return None
        for part in parts[1:]:
            if len(self.flaws) > before:
                return None
            if isinstance(part, Check):
                read = self._tried(part.ask, read, path)
            elif isinstance(part, Meta) and (wish := _unmet(part, read)):
                self._wish(wish, value, path)
        return read

    def _union(self, kinds: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if value is None and NoneType in kinds:
            return None
        flaws: list[Flaw] = []
        for strict in (True,) if self._strict else (True, False):
            flaws = []
            for kind in (kind for kind in kinds if kind is not NoneType):
                reader = Reader(strict=strict)
                read = reader.read(kind, value, path)
                if not reader.flaws:
                    return read
                flaws += reader.flaws
        self.flaws += flaws
        return None

    def _list(self, kind: Any, value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            return self._wish("be a list", value, path)
        return [self.read(kind, item, (*path, str(number))) for number, item in enumerate(value)]

    def _mapping(self, kinds: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if not isinstance(value, Mapping):
            return self._wish(_MAPPING, value, path)
        read = {}
        for name, item in value.items():
            at, names = (*path, str(name)), Reader(strict=self._strict)
            key = names.read(kinds[0], name, at)
            self.flaws += [structs.replace(flaw, is_name=True) for flaw in names.flaws]
            read[key] = self.read(kinds[1], item, at)
        return read

    def _choice(self, words: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if any(type(word) is type(value) and word == value for word in words):
            return value
        *most, last = map(repr, words)
        return self._wish(f"be {', '.join(most)} or {last}" if most else f"be {last}", value, path)

    def _simple(self, kind: Any, value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if kind is Any:
            return self._json(value, path)
        if kind not in _WISHES:
            raise TypeError(f"the type {kind} is not supported for options")
        if type(value) is kind or (kind is str and isinstance(value, str)):
            return value
        read = None if self._strict or kind is str else _loosely(kind, value)
        return self._wish(_WISHES[kind], value, path) if read is None else read

    def _json(self, value: object, path: KeyPath) -> Any:  # noqa: ANN401
        pending: list[tuple[KeyPath, object]] = [(path, value)]  # a loop, because documents may nest deeper than calls
        while pending:
            at, item = pending.pop()
            if isinstance(item, (dict, list)):
                inner = item.items() if isinstance(item, dict) else enumerate(item)
                pending += reversed([((*at, str(name)), each) for name, each in inner])
            elif item is not None and not isinstance(item, (str, int, float)):  # TOML has dates
                self.flaws.append(Flaw(at, item, reason="this is not a JSON value"))
        return value

    def _wish(self, wish: str, value: object, path: KeyPath) -> None:
        self.flaws.append(Flaw(path, value, wish))

    def _tried(self, ask: Callable[[Any], object], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        try:
            return ask(value)
        except MisplacedError as error:
            self.flaws += [Flaw((*path, *inner), value, reason=problem) for inner, problem in error.found]
            return None
        except ValueError as error:
            self.flaws.append(Flaw(path, value, reason=str(error)))
            return None


def _unmet(meta: Meta, value: object) -> str:
    """Return the wish of the first bound that a number or string violates, or ""."""
    kind = str if isinstance(value, str) else int if isinstance(value, (int, float)) else NoneType
    for name, holds, wish in _BOUNDS.get(kind, ()):
        bound = getattr(meta, name)
        if bound is not None and not holds(value, bound):
            return wish.format(bound).replace(" 1 characters", " 1 character")
    return ""


def _loosely(kind: type, value: object) -> object:
    """Return a number or boolean that is written as another type, or None."""
    if not isinstance(value, (str, int, float)):
        return None
    if kind is bool:
        return _TRUTH.get(value.lower() if isinstance(value, str) else value)
    try:
        if kind is float:
            return float(value) if str(value).isascii() else None
        if isinstance(value, str):
            return int(found[1]) if (found := _WHOLE.fullmatch(value)) else None
        return int(value) if value == int(value) and abs(value) < 2**63 else None
    except (ValueError, OverflowError):  # too many digits, NaN or infinity
        return None
