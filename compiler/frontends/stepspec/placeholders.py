"""Turn placeholders such as `{output_folder}` into references to inputs (I8)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from compiler.frontends.stepspec.syntax import StepSpec
from compiler.ir.texts import Part, Reference, Text, joined, text
from compiler.reading.validate import texts_in
from compiler.text.regex import Regex

PLACEHOLDER = Regex(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
DOUBLED = Regex(r"(?<![\{$])\{\{([A-Za-z_][A-Za-z0-9_]*)\}\}(?!\})")
FOLDERS = ("output_folder", "bmb_creations_output_folder")
"""Each output has one of these placeholders."""

_TO_JSON = json.JSONEncoder(ensure_ascii=False).encode
"""Like `json.dumps`, which would make an encoder for each value."""

_BRACE_IN_KEY = Regex(r'\{(?>(?:[^"\\{]|\\.)*)":')
"""In JSON. It finds every key with a brace, and sometimes other braces."""

TEMPLATE = "template:"
TEMPLATE_FOLDER = "template_folder"


def with_references(written: str) -> Text:
    """Return a text whose placeholders are references."""
    if "{" not in written:  # the usual case
        return text(written)
    parts: list[Part] = [*PLACEHOLDER.split(written)]
    parts[1::2] = [Reference(str(name), f"{{{name}}}") for name in parts[1::2]]
    return Text(tuple(filter(None, parts)))


def with_json_references(value: object) -> Text:
    """Return a JSON value as a text. Placeholders in its strings become references (I13)."""
    written = _TO_JSON(value)
    return json_text(_filled(value)) if _BRACE_IN_KEY.search(written) else with_references(written)  # keys stay


def json_text(value: object) -> Text:
    """Return a JSON value as a text. Texts in it are inserted as they are."""
    texts: list[Text] = []

    def put_off(one: Text) -> str:
        texts.append(one)
        return "\0"  # no document contains it

    first, *others = json.dumps(value, ensure_ascii=False, default=put_off).split('"\\u0000"')
    rest = (part for one, string in zip(texts, others, strict=True) for part in (*one.parts, string))
    return joined([first, *rest])


def _filled(value: object) -> object:
    if isinstance(value, str):
        return with_references(_TO_JSON(value))
    if isinstance(value, list):
        return [_filled(item) for item in value]
    return {key: _filled(item) for key, item in value.items()} if isinstance(value, dict) else value


def template_path(written: str) -> str:
    """Return the path of a template. Names with the prefix are in the template folder, unless they name a folder."""
    path = written.removeprefix(TEMPLATE)
    is_placed = path == written or PLACEHOLDER.match(path)
    return path if is_placed else f"{{{TEMPLATE_FOLDER}}}/{path}"


def filled_texts(step: StepSpec) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Yield the parts of a step that have placeholders, each with its key path."""
    yield ("description",), step.description
    yield ("inputs",), step.inputs
    yield ("outputs",), step.outputs
    yield ("templates",), [template_path(item) for item in step.templates or ()]
    for number, call in enumerate(step.tools or ()):
        yield ("tools", number, "args"), call.args


def names_in(value: object) -> Iterator[str]:
    """Yield the placeholders in a value, in order and with duplicates."""
    for string in texts_in(value):
        if "{" in string:
            yield from PLACEHOLDER.findall(string)


def placeholders(steps: Sequence[StepSpec]) -> tuple[str, ...]:
    """Return the placeholders of all steps, in order and without duplicates."""
    return tuple(dict.fromkeys(names_in([value for step in steps for _, value in filled_texts(step)])))


def known_path(written: str, values: Mapping[str, str]) -> str:
    """Return a path with the known values of its placeholders."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), written) if values else written


def doubled(step: StepSpec) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Yield the names in double braces in a step, each with the path of its string."""
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
    """Return the placeholders that appear in single braces somewhere."""
    values = (value for step in steps for _, value in filled_texts(step))
    return {name for value in values for one in texts_in(value) for name in PLACEHOLDER.findall(DOUBLED.sub("", one))}


TARGETS = "validation_targets"
"""The input that names files to validate. The step may create them, so they needn't exist when it starts."""

_NAMES = Regex(r"artifacts?|(?:.*_)?(?:paths?|files?)|documents?|telis_document_path")
_IN_FOLDER = Regex(r"\{[A-Za-z_][A-Za-z0-9_]*(?:folder|path|dir)\}/\S+")

Path = tuple[str | int, ...]


def input_paths(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield the paths among the inputs by their keys or folder placeholders, each with its key path."""
    for key, value in (step.inputs or {}).items():
        if key == TARGETS or (key.startswith("telis_") and key != "telis_document_path"):
            continue
        yield from _paths(("inputs", key), value, is_named=bool(_NAMES.fullmatch(key)))


def _paths(at: Path, value: Any, *, is_named: bool) -> Iterator[tuple[Path, str]]:  # noqa: ANN401 (any JSON value)
    if isinstance(value, str) and (_IN_FOLDER.fullmatch(value) or (is_named and value)):
        yield at, value
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _paths((*at, number), item, is_named=is_named)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _paths((*at, key), item, is_named=bool(_NAMES.fullmatch(key)))


def templates(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield the templates' paths, each with its key path."""
    for number, written in enumerate(step.templates or ()):
        yield ("templates", number), template_path(written)


def validated_paths(step: StepSpec) -> list[str]:
    """Return the paths that the validation checks, without duplicates."""
    return list(dict.fromkeys((*step.targets, *(step.outputs or ()))))


def all_paths(step: StepSpec) -> Iterator[tuple[Path, str]]:
    """Yield every path in a step, each with its key path."""
    yield from input_paths(step)
    yield from templates(step)
    yield from ((("inputs", TARGETS, number), written) for number, written in enumerate(step.targets))
    yield from ((("outputs", number), written) for number, written in enumerate(step.outputs or ()))
