"""Reads the options of a target from plain values, or from strings of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_origin

from backends.options.fields import Options, OptionsType, alternatives, fields, is_options
from backends.options.problems import OptionsError, Problem, problems
from backends.options.reader import Reader


def validate(kind: type[OptionsType], options: Mapping[str, object]) -> OptionsType:
    """Return the options from plain values; raises `OptionsError` with all problems."""
    reader = Reader()
    read: OptionsType = reader.options(kind, options, ())
    if reader.flaws:
        raise OptionsError(problems(reader.flaws))
    return read


def read_words(kind: type[Options], words: Mapping[str, str]) -> dict[str, object]:
    """Return the plain values of command line options; raises `OptionsError`.

    An option that accepts a list or mapping reads its value as YAML. If it accepts a string too, only a value that
    starts with a bracket is YAML. Other values stay strings, which the reader converts.
    """
    known = fields(kind) if words else {}
    values: dict[str, object] = {}
    wrong: list[Problem] = []
    for name, word in words.items():
        try:
            values[name] = _value(known[name].type, word) if name in known else word
        except ValueError as error:
            wrong.append(Problem((name,), f"`{name}` is not valid YAML: {error}"))
    if wrong:
        raise OptionsError(wrong)
    return values


def _value(kind: object, word: str) -> object:
    kinds = {get_origin(part) or part for part in alternatives(kind)}
    takes_text = bool(kinds & {str, Any})
    takes_more = bool(kinds & {list, dict, Any}) or any(map(is_options, kinds))
    if not takes_more or (takes_text and not word.lstrip().startswith(("[", "{"))):
        return word
    from compiler.yaml_text import load_value  # noqa: PLC0415 (it imports PyYAML)

    value = load_value(word)
    return value if isinstance(value, (list, dict)) else word
