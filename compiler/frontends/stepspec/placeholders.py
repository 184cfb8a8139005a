"""Placeholders such as `{output_folder}` (B3), and texts in which they are references to inputs (I8)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compiler.frontends.modelled import texts_in
from compiler.frontends.stepspec.syntax import StepSpec
from compiler.ir.texts import Part, Reference, Text, joined, text
from compiler.regex import Regex

PLACEHOLDER = Regex(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
DOUBLED = Regex(r"(?<![\{$])\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}(?!\})")
FOLDERS = ("output_folder", "bmb_creations_output_folder")
"""The placeholders of which each output has one."""

_TO_JSON = json.JSONEncoder(ensure_ascii=False).encode
"""As `json.dumps`, which makes an encoder for each value."""

_BRACE_IN_KEY = Regex(r'\{(?:[^"\\{]|\\.)*+":')
"""In JSON. It may find a brace elsewhere, but misses none in a key."""

TEMPLATE = "template:"
TEMPLATE_FOLDER = "template_folder"


def with_references(written: str) -> Text:
    """A text whose placeholders are references."""
    if "{" not in written:  # as in most
        return text(written)
    parts: list[Part] = [*PLACEHOLDER.split(written)]
    parts[1::2] = [Reference(str(name), f"{{{name}}}") for name in parts[1::2]]
    return Text(tuple(filter(None, parts)))


def with_json_references(value: object) -> Text:
    """A JSON value as a text, in whose strings placeholders are references (I13)."""
    written = _TO_JSON(value)
    return json_text(_filled(value)) if _BRACE_IN_KEY.search(written) else with_references(written)  # keys stay


def json_text(value: object) -> Text:
    """A JSON value as a text; texts in it stand for values, and other strings are as they are."""
    texts: list[Text] = []

    def put_off(one: Text) -> str:
        texts.append(one)
        return "\0"  # which no document holds

    first, *others = json.dumps(value, ensure_ascii=False, default=put_off).split('"\\u0000"')
    rest = (part for one, string in zip(texts, others, strict=True) for part in (*one.parts, string))
    return joined([first, *rest])


def _filled(value: object) -> object:
    """A JSON value with a text for each of its strings."""
    if isinstance(value, str):
        return with_references(_TO_JSON(value))
    if isinstance(value, list):
        return [_filled(item) for item in value]
    return {key: _filled(item) for key, item in value.items()} if isinstance(value, dict) else value


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
    for string in texts_in(value):
        if "{" in string:
            yield from PLACEHOLDER.findall(string)


def placeholders(steps: Sequence[StepSpec]) -> tuple[str, ...]:
    """The placeholders of all steps, each once, in their order."""
    return tuple(dict.fromkeys(names_in([value for step in steps for _, value in filled_texts(step)])))


def known_path(written: str, values: Mapping[str, str]) -> str:
    """A path with the placeholders filled in whose values are known."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), written) if values else written


def doubled(step: StepSpec) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """The names in two pairs of braces in a step, each with what leads to the text that it stands in."""
    for path, value in filled_texts(step):
        items = (
            [((*path, number), item) for number, item in enumerate(value)]
            if isinstance(value, list)
            else [(path, value)]
        )
        for place, item in items:
            for string in texts_in(item):
                if "{{" in string:
                    yield from ((place, name) for name in DOUBLED.findall(string))


def single_names(steps: Sequence[StepSpec]) -> set[str]:
    """The placeholders that stand in one pair of braces somewhere."""
    values = (value for step in steps for _, value in filled_texts(step))
    return {name for value in values for one in texts_in(value) for name in PLACEHOLDER.findall(DOUBLED.sub("", one))}
