"""Read the options of a target from plain values, or from strings of the command line, and collect all issues.

An argument of the command line is a string, so a number or boolean may be `5` or `true`. A union uses the first
alternative that accepts a value unchanged, otherwise the first that accepts it after conversion.
"""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from msgspec import Meta

from backends.options.fields import Check, Options, OptionsType, alternatives, fields, is_options, required
from compiler.diagnostic import Issue
from compiler.issues import InvalidError
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
_SHORT = 40
"""The longest string that a message repeats."""

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


def validate(kind: type[OptionsType], options: Mapping[str, object]) -> OptionsType:
    """Return the options from plain values; raise `InvalidError` with all issues."""
    reader = _Reader()
    read: OptionsType = reader.options(kind, options, ())
    if reader.misfits:
        raise InvalidError(*_issues(reader.misfits))
    return read


def read_words(kind: type[Options], words: Mapping[str, str]) -> dict[str, object]:
    """Return the plain values of command line options; raise `InvalidError`.

    An option that accepts a list or mapping reads its value as YAML. If it accepts a string too, only a value that
    starts with a bracket is YAML. Other values stay strings, which `validate` converts.
    """
    known = fields(kind) if words else {}
    values: dict[str, object] = {}
    wrong: list[Issue] = []
    for name, word in words.items():
        try:
            values[name] = _from_word(known[name].type, word) if name in known else word
        except ValueError as error:
            wrong.append(Issue((name,), f"`{name}` is not valid YAML: {error}"))
    if wrong:
        raise InvalidError(*wrong)
    return values


def _from_word(kind: object, word: str) -> object:
    kinds = {get_origin(part) or part for part in alternatives(kind)}
    takes_text = bool(kinds & {str, Any})
    takes_more = bool(kinds & {list, dict, Any}) or any(map(is_options, kinds))
    if not takes_more or (takes_text and not word.lstrip().startswith(("[", "{"))):
        return word
    from compiler.yaml_text import load_value  # noqa: PLC0415 (it imports PyYAML)

    value = load_value(word)
    return value if isinstance(value, (list, dict)) else word


class _Misfit(NamedTuple):
    """Why one alternative of a type does not accept a value, or a name in a mapping.

    `text` completes "the option should" for a wish, or is a reason, or with `is_whole` the message.
    """

    path: KeyPath
    text: str
    instead: str = ""
    is_wish: bool = False
    is_whole: bool = False
    is_name: bool = False


def _issues(misfits: list[_Misfit]) -> Iterator[Issue]:
    """Yield an issue for each option. Of a union, the alternative that got furthest is the intended one."""
    groups: dict[tuple[KeyPath, bool], list[_Misfit]] = {}
    for one in misfits:
        groups.setdefault((one.path, one.is_name), []).append(one)
    outer = {path[:length] for path, _ in groups for length in range(1, len(path))}
    yield from (Issue(path, _words(path, same)) for (path, _), same in groups.items() if path not in outer)


def _words(path: KeyPath, misfits: list[_Misfit]) -> str:
    first = misfits[0]
    if first.is_whole:
        return first.text
    name = f"the name `{path[-1]}` in `{'.'.join(path[:-1])}`" if first.is_name else f"`{'.'.join(path)}`"
    if reasons := "; ".join(one.text for one in misfits if not one.is_wish):
        return f"{name}: {reasons}" if path else reasons
    wishes = " or ".join(dict.fromkeys(one.text for one in misfits)).replace(" or be ", " or ")
    return f"{name} should {wishes}{'' if first.is_name else first.instead}"


def _instead(value: object) -> str:
    """Return the actual value for a message, if it is short; true, false and null as in YAML and TOML."""
    if isinstance(value, str):
        return f", not {value!r}" if len(value) <= _SHORT else ""
    return f", not {json.dumps(value)}" if value is None or isinstance(value, (int, float)) else ""


class _Reader:
    """Reads values and collects misfits. With `strict`, strings do not become numbers or booleans."""

    def __init__(self, *, strict: bool = False) -> None:
        self.misfits: list[_Misfit] = []
        self._strict = strict

    def _read(self, kind: Any, value: object, path: KeyPath) -> Any:  # noqa: ANN401 (a value of any type)
        """Return a value in the type's form. If there are new misfits, ignore the result."""
        origin, parts = get_origin(kind), get_args(kind)
        if origin is Annotated:
            return self._annotated(parts, value, path)
        if origin in (Union, UnionType):
            return self._union(parts, value, path)
        if origin is Literal:
            if any(type(word) is type(value) and word == value for word in parts):
                return value
            *most, last = map(repr, parts)
            return self._wish(f"be {', '.join(most)} or {last}" if most else f"be {last}", value, path)
        if origin is list:
            if not isinstance(value, list):
                return self._wish("be a list", value, path)
            return [self._read(parts[0], item, (*path, str(number))) for number, item in enumerate(value)]
        if origin is dict:
            return self._mapping(parts, value, path)
        return self.options(kind, value, path) if is_options(kind) else self._simple(kind, value, path)

    def options(self, kind: type[Options], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        """Return the options in a mapping. The class's own check only runs if each option is valid."""
        if not isinstance(value, Mapping):
            return self._wish(_MAPPING, value, path)
        before = len(self.misfits)
        read = self._fields(kind, value, path) if value or required(kind) else {}
        if len(self.misfits) > before:
            return None
        made = kind(**read)
        self._tried(kind.check, made, path)
        return made

    def _fields(self, kind: type[Options], value: Mapping[Any, object], path: KeyPath) -> dict[str, object]:
        known, read = fields(kind), {}
        for name, field in known.items():
            at = (*path, name)
            if name in value:
                read[field.name] = self._read(field.type, value[name], at)
            elif field.required:
                self.misfits.append(_Misfit(at, f"`{'.'.join(at)}` is missing", is_whole=True))
        for name in map(str, value):
            if name not in known:
                close, at = nearest_name(name, known), (*path, name)
                hint = f"; did you mean `{'.'.join((*path, close))}`?" if close else ""
                self.misfits.append(_Misfit(at, f"there is no option `{'.'.join(at)}`{hint}", is_whole=True))
        return read

    def _annotated(self, parts: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        before = len(self.misfits)
        read = self._read(parts[0], value, path)
        if read is None and NoneType in alternatives(parts[0]):
            return None
        for part in parts[1:]:
            if len(self.misfits) > before:
                return None
            if isinstance(part, Check):
                read = self._tried(part.ask, read, path)
            elif isinstance(part, Meta) and (wish := _unmet(part, read)):
                self._wish(wish, value, path)
        return read

    def _union(self, kinds: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if value is None and NoneType in kinds:
            return None
        misfits: list[_Misfit] = []
        for strict in (True,) if self._strict else (True, False):
            misfits = []
            for kind in (kind for kind in kinds if kind is not NoneType):
                reader = _Reader(strict=strict)
                read = reader._read(kind, value, path)
                if not reader.misfits:
                    return read
                misfits += reader.misfits
        self.misfits += misfits
        return None

    def _mapping(self, kinds: tuple[Any, ...], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        if not isinstance(value, Mapping):
            return self._wish(_MAPPING, value, path)
        read = {}
        for name, item in value.items():
            at, before = (*path, str(name)), len(self.misfits)
            key = self._read(kinds[0], name, at)
            self.misfits[before:] = (one._replace(is_name=True) for one in self.misfits[before:])
            read[key] = self._read(kinds[1], item, at)
        return read

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
                self.misfits.append(_Misfit(at, "this is not a JSON value"))
        return value

    def _wish(self, wish: str, value: object, path: KeyPath) -> None:
        self.misfits.append(_Misfit(path, wish, _instead(value), is_wish=True))

    def _tried(self, ask: Callable[[Any], object], value: object, path: KeyPath) -> Any:  # noqa: ANN401
        try:
            return ask(value)
        except InvalidError as error:
            self.misfits += [_Misfit((*path, *map(str, one.path)), one.message) for one in error.issues]
        except ValueError as error:
            self.misfits.append(_Misfit(path, str(error)))
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
