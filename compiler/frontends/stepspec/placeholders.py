"""Placeholders such as `{output_folder}` (B3), and texts in which they are references to inputs (I8)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compiler.frontends.stepspec.syntax import StepSpec
from compiler.ir.texts import Part, Reference, Text, joined
from compiler.regex import Regex

PLACEHOLDER = Regex(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
DOUBLED = Regex(r"(?<![\{$])\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}(?!\})")
FOLDERS = ("output_folder", "bmb_creations_output_folder")
"""The placeholders of which each output has one."""

TEMPLATE = "template:"
TEMPLATE_FOLDER = "template_folder"


def with_references(written: str) -> Text:
    """A text whose placeholders are references."""
    return joined(list(_parts(written)))


def _parts(written: str) -> Iterator[Part]:
    for place, part in enumerate(PLACEHOLDER.split(written)):
        yield Reference(part, f"{{{part}}}") if place % 2 else part


def with_json_references(value: object) -> Text:
    """A JSON value as a text, in whose strings placeholders are references (I13)."""
    return joined(list(_json_parts(value, is_filled=True)))


def json_text(value: object) -> Text:
    """A JSON value as a text; texts in it stand for values, and other strings are as they are."""
    return joined(list(_json_parts(value, is_filled=False)))


def _json_parts(value: object, *, is_filled: bool) -> Iterator[Part]:
    if isinstance(value, Text):
        yield from value.parts
    elif isinstance(value, str):
        written = json.dumps(value, ensure_ascii=False)
        yield from _parts(written) if is_filled else (written,)
    elif isinstance(value, list):
        yield "["
        for number, item in enumerate(value):
            yield ", " if number else ""
            yield from _json_parts(item, is_filled=is_filled)
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for number, (key, item) in enumerate(value.items()):
            yield f"{', ' if number else ''}{json.dumps(key, ensure_ascii=False)}: "
            yield from _json_parts(item, is_filled=is_filled)
        yield "}"
    else:
        yield json.dumps(value)


def template_path(written: str) -> str:
    """The path of a template: without its prefix, in the folder of templates where it names no folder by itself."""
    path = written.removeprefix(TEMPLATE)
    is_placed = path == written or PLACEHOLDER.match(path)
    return path if is_placed else f"{{{TEMPLATE_FOLDER}}}/{path}"


def filled_texts(step: StepSpec) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """What has placeholders in a step, and what leads to it."""
    yield ("description",), step.description
    yield ("inputs",), step.inputs
    yield ("outputs",), step.outputs
    yield ("templates",), [template_path(item) for item in step.templates or ()]
    for number, call in enumerate(step.tools or ()):
        yield ("tools", number, "args"), call.args


def names_in(value: object) -> Iterator[str]:
    """The placeholders in a value, in order, each as often as it stands there."""
    for text in strings_in(value):
        yield from PLACEHOLDER.findall(text)


def placeholders(steps: Sequence[StepSpec]) -> tuple[str, ...]:
    """The placeholders of all steps, each once, in their order."""
    return tuple(dict.fromkeys(name for step in steps for _, value in filled_texts(step) for name in names_in(value)))


def known_path(written: str, values: Mapping[str, str]) -> str:
    """A path with the placeholders filled in whose values are known."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), written)


def doubled(step: StepSpec) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The names in two pairs of braces in a step, each with what leads to the text that it stands in."""
    for path, value in filled_texts(step):
        items = (
            [((*path, number), item) for number, item in enumerate(value)]
            if isinstance(value, list)
            else [(path, value)]
        )
        for place, item in items:
            yield from ((place, name) for text in strings_in(item) for name in DOUBLED.findall(text))


def single_names(steps: Sequence[StepSpec]) -> set[str]:
    """The placeholders that stand in one pair of braces somewhere."""
    values = (value for step in steps for _, value in filled_texts(step))
    return {
        name for value in values for text in strings_in(value) for name in PLACEHOLDER.findall(DOUBLED.sub("", text))
    }


def strings_in(value: object) -> Iterator[str]:
    """The strings in a value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from strings_in(item)
