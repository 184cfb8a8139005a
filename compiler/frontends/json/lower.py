"""Read a program from a plain value, with all errors in it.

The model's classes are the grammar, so this reads the output of `compiler/ir/serialize.py` and agrees with the
published schema. Validation libraries report every alternative of a union. People need the alternative that they meant.
"""

import math
from collections.abc import Callable
from types import NoneType, UnionType
from typing import Any, Literal, cast, get_args, get_origin

from compiler.diagnostics.model import DataPath, Issue
from compiler.frontends.json.shapes import NOTES, Shape, is_class, shape
from compiler.ir.edges import Edge, Origin, Written
from compiler.ir.program import Group, Node, Program
from compiler.ir.serialize import LARGEST_NUMBER
from compiler.ir.texts import Part, Reference, Text, joined, text
from compiler.text.regex import Regex
from compiler.text.suggestions import nearest_name

MOST_SHOWN = 100  # per file


_SHORT = 40
_UNFIT = Regex("[\0\ud800-\udfff]")
_ORIGINS: dict[type, str] = {Node: "origin", Group: "origin", Edge: "origins"}
_WRONG: Any = object()
"""Marks a value with a reported problem."""


class TooManyError(Exception):
    """Too many problems; the rest isn't reported."""


class Reader:
    """Reads plain values as parts of a program, and collects issues with codes; `place` is for missing origins."""

    def __init__(self, place: Callable[[DataPath], Origin]) -> None:
        self.issues: list[tuple[str, Issue]] = []
        self._place = place

    def program(self, value: object, defaults: dict[str, object]) -> Program | None:
        """Return the program in a value, or None if there are problems. `defaults` are for missing keys."""
        if isinstance(value, dict):
            for note in NOTES:
                if note in value:
                    self._read(str, value[note], (note,))
            value = {**defaults, **{key: inner for key, inner in value.items() if key not in NOTES}}
        try:
            found = self._read(Program, value, ())
        except TooManyError:
            return None
        return None if self.issues else cast("Program", found)

    def _tell(self, code: str, issue: Issue) -> Any:  # noqa: ANN401 (the mark replaces any value)
        self.issues.append((code, issue))
        if len(self.issues) >= MOST_SHOWN:
            raise TooManyError
        return _WRONG

    def _read(self, kind: Any, value: object, path: DataPath) -> Any:  # noqa: ANN401 (any part of the model)
        if kind is Text:
            if isinstance(value, str):
                read = self._string(value, path)
                return read if read is _WRONG else text(read)
            if not isinstance(value, list):
                return self._is_no("a string, or a list of strings and references", value, path)
            parts = [self._part(part, (*path, number)) for number, part in enumerate(value)]
            return _WRONG if any(part is _WRONG for part in parts) else joined(parts)
        if is_class(kind):
            return self._object(shape(kind), value, path)
        if get_origin(kind) is tuple:
            return self._list(get_args(kind)[0], value, path)
        if isinstance(kind, UnionType):
            return self._union(kind, value, path)
        if get_origin(kind) is Literal:
            return self._choice(get_args(kind), value, path)
        return self._plain(kind, value, path)

    def _plain(self, kind: type, value: object, path: DataPath) -> Any:  # noqa: ANN401
        if kind is str and isinstance(value, str):
            return self._string(value, path)
        if kind is bool and isinstance(value, bool):
            return value
        if kind is int and (number := whole(value)) is not None:
            if abs(number) <= LARGEST_NUMBER:
                return number
            remedy = f"write a number from -{LARGEST_NUMBER:,} to {LARGEST_NUMBER:,}"
            return self._tell("RD065", Issue(path, f"{_named(path)} is too large", remedy))
        return self._is_no({str: "a string", bool: "true or false", int: "a whole number"}[kind], value, path)

    def _string(self, value: str, path: DataPath) -> Any:  # noqa: ANN401
        if not (unfit := _UNFIT.search(value)):
            return value
        what = "a NUL character" if unfit[0] == "\0" else f"half of a surrogate pair (\\u{ord(unfit[0]):04x})"
        remedy = "remove it; commands and files cannot contain it"
        return self._tell("RD065", Issue(path, f"{_named(path)} contains {what}", remedy))

    def _choice(self, words: tuple[object, ...], value: object, path: DataPath) -> Any:  # noqa: ANN401
        if isinstance(value, str) and value in words:
            return value
        known = [str(word) for word in words]
        listed = " or ".join(f'"{word}"' for word in known)
        return self._is_no(listed, value, path, nearest_name(value, known) if isinstance(value, str) else "")

    def _is_no(self, wish: str, value: object, path: DataPath, meant: str = "") -> Any:  # noqa: ANN401
        problem = f"{_named(path)} should be {wish}, not {_shown(value)}"
        remedy = f"did you mean `{meant}`?" if meant else f"write {wish} here"
        return self._tell("RD065", Issue(path, problem, remedy, meant=meant))

    def _part(self, value: object, path: DataPath) -> Part:
        read = self._string(value, path) if isinstance(value, str) else self._object(shape(Reference), value, path)
        return cast("Part", read)

    def _list(self, kind: Any, value: object, path: DataPath) -> Any:  # noqa: ANN401
        if not isinstance(value, list):
            return self._is_no("a list", value, path)
        items = tuple(self._read(kind, item, (*path, number)) for number, item in enumerate(value))
        return _WRONG if any(item is _WRONG for item in items) else items

    def _union(self, kind: UnionType, value: object, path: DataPath) -> Any:  # noqa: ANN401
        parts = get_args(kind)
        if NoneType in parts and value is None:
            return None
        shapes = [shape(part) for part in parts if is_class(part)]
        if not shapes or Text in parts:
            plain = [part for part in parts if part is not NoneType]
            wanted = next((part for part in plain if part is str and isinstance(value, str)), plain[0])
            return self._read(wanted, value, path)
        if not isinstance(value, dict):
            return self._is_no("an object", value, path)
        if len(shapes) == 1:  # an optional part has no `kind`
            return self._object(shapes[0], value, path)
        return self._tagged(shapes, value, path)

    def _tagged(self, shapes: list[Shape], value: dict[str, object], path: DataPath) -> Any:  # noqa: ANN401
        """Read one of several classes, by its `kind`."""
        tags = [one.tag for one in shapes]
        if "kind" not in value:
            close = [one.tag for one in shapes if set(value) <= set(one.types) and set(one.required) <= set(value)]
            remedy = f'add "kind": "{close[0]}"' if len(close) == 1 else f"set `kind` to one of {', '.join(tags)}"
            return self._tell("RD064", Issue(path, f"{_named(path)} has no `kind`", remedy))
        found = next((one for one in shapes if one.tag == value["kind"]), None)
        return self._object(found, value, path) if found else self._choice(tuple(tags), value["kind"], (*path, "kind"))

    def _object(self, wanted: Shape, value: object, path: DataPath) -> Any:  # noqa: ANN401
        if not isinstance(value, dict):
            return self._is_no(f"{wanted.called} (an object)", value, path)
        for key in value:
            if key not in wanted.types:
                meant = nearest_name(key, wanted.types)
                remedy = f"did you mean `{meant}`?" if meant else f"remove it, or use one of {wanted.keys}"
                problem = f"there is no key `{_cut(key)}` in {wanted.called}"
                self._tell("RD063", Issue((*path, key), problem, remedy, meant=meant))
        for name in wanted.required:
            if name not in value:
                self._tell("RD064", Issue(path, f"{wanted.called} needs the key `{name}`", f"add `{name}`"))
        given = {name: inner for name, inner in value.items() if name in wanted.types}
        read = {name: self._read(wanted.types[name], inner, (*path, name)) for name, inner in given.items()}
        if any(part is _WRONG for part in read.values()) or any(name not in value for name in wanted.required):
            return _WRONG
        parts = self._defaults(wanted, value, path) | read
        return wanted.kind(**{wanted.fields[key].name: part for key, part in parts.items()})

    def _defaults(self, wanted: Shape, value: dict[str, object], path: DataPath) -> dict[str, Any]:
        missing = wanted.types.keys() - value.keys()
        found = {name: default for name, default in wanted.defaults.items() if name in missing}
        read: dict[str, Any] = {name: self._read(wanted.types[name], item, path) for name, item in found.items()}
        name = _ORIGINS.get(wanted.kind, "")
        if name in missing:
            origin = self._place(path)
            read[name] = (origin,) if wanted.kind is Edge else origin
        if wanted.kind is Edge and "written" in missing:
            read["written"] = (Written(f"to {value['target']}"),)  # every transition needs a label
        return read


def whole(value: object) -> int | None:
    """Return a whole number, also if it is written as 1.0; None for other values."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else None


def _named(path: DataPath) -> str:
    """Return a path as people write it: `nodes[3].task`."""
    if not path:
        return "the program"
    written = "".join(f"[{part}]" if isinstance(part, int) else f".{_cut(part)}" for part in path)
    return f"`{written.removeprefix('.')}`"


def _shown(value: object) -> str:
    match value:
        case str():
            return f'"{value}"' if len(value) <= _SHORT else "a long string"
        case None | bool():
            return {None: "null", True: "true", False: "false"}[value]
        case dict():
            return "an object"
        case list():
            return "a list"
        case _:
            return str(value)


def _cut(key: str) -> str:
    return key if len(key) <= _SHORT else f"{key[:_SHORT]}…"
