"""The options of a target as a pydantic model: read from plain values or strings, and listed for people."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, NamedTuple, Self

from msgspec import Struct
from pydantic import AfterValidator, BaseModel, ConfigDict, PrivateAttr, ValidationError
from pydantic_core import ErrorDetails

from backends.options.paths import check_path
from compiler.diagnostics.issues import InvalidError
from compiler.diagnostics.model import DataPath, Issue
from compiler.project.options import Making, with_texts
from compiler.text.source import KeyPath
from compiler.text.suggestions import nearest_name

CompanionPath = Annotated[str, AfterValidator(check_path)]
"""The type of an option that names a companion."""

Schema = Mapping[str, Any]


class Options(BaseModel):
    """The options of a target, or a mapping in one. The option `runs-on` is the field `runs_on`.

    `Field` has the default, bounds and description of an option. Validators raise `ValueError` with the problem, or
    `InvalidError` for parts of the value. This class itself is for targets without options.
    """

    model_config = ConfigDict(
        alias_generator=lambda field: field.replace("_", "-"), extra="forbid", frozen=True, validate_by_name=True
    )

    _making: Making = PrivateAttr(default=Making())

    @classmethod
    def validated(cls, values: Mapping[str, object], making: Making | None = None) -> Self:
        """Return the options from plain values by name; raises `InvalidError` with all issues."""
        try:
            return cls.model_validate(dict(values), by_alias=True, by_name=False, context=making)
        except ValidationError as error:
            found = error.errors(include_url=False)
        raise InvalidError(*_issues(found, values, cls.model_json_schema()))

    def model_post_init(self, context: Making | None, /) -> None:
        """Remember the command that writes a file with these options. pydantic hands it on as the context."""
        self._making = context or self._making

    def command_words(self) -> Iterator[str]:
        """Yield the `-o` and `-O` of that command: `-O` only for options that the document and its project don't set.

        A value with invisible characters must be in the document.
        """
        yield from ("-o", self._making.out) if self._making.out else ()
        short = self.model_dump(by_alias=True, exclude_defaults=True)
        for name, value in sorted({**self.model_dump(by_alias=True), **short}.items()):
            word = value if isinstance(value, str) else json.dumps(value)
            if value is not None and word.isprintable() and self._making.overrides.get(name, name in short):
                yield from ("-O", f"{name}={word}")

    @classmethod
    def from_words(cls, words: Mapping[str, str]) -> dict[str, object]:
        """Return the options of a command line as plain values, not validated; raises `InvalidError`.

        An option that accepts a list or mapping reads its value as YAML. If it accepts a string too, only a value that
        starts with a bracket is YAML. Other values stay strings, which `validated` converts.
        """
        schema = cls.model_json_schema() if words else {}
        values: dict[str, object] = {}
        wrong: list[Issue] = []
        for name, word in words.items():
            try:
                values[name] = _from_word(name, list(_within([schema], name, schema)), word)
            except ValueError as error:
                wrong.append(Issue((name,), f"`{name}` is not valid YAML: {error}"))
        if wrong:
            raise InvalidError(*wrong)
        return values


def _from_word(name: str, kinds: list[Schema], word: str) -> object:
    types = {kind.get("type", "any") for kind in kinds}
    takes_text = types & {"string", "any"}
    if not types & {"array", "object", "any"} or (takes_text and not word.lstrip().startswith(("[", "{"))):
        return word
    from compiler.reading.yaml import load_texts, load_value  # noqa: PLC0415 (it imports PyYAML)

    value = load_value(word)
    return with_texts({name: value}, {name: load_texts(word)})[name] if isinstance(value, (list, dict)) else word


def _alternatives(node: Schema, root: Schema) -> Iterator[Schema]:
    """Yield the parts of a union, or a single type, without references."""
    for part in node.get("anyOf", [node]):
        if "anyOf" in part:
            yield from _alternatives(part, root)
        else:
            yield root["$defs"][part["$ref"].rpartition("/")[2]] if "$ref" in part else part


def _within(kinds: Iterable[Schema], key: str, root: Schema) -> Iterator[Schema]:
    for kind in kinds:
        node = kind.get("properties", {}).get(key) or kind.get("items") or kind.get("additionalProperties")
        if isinstance(node, dict):
            yield from _alternatives(node, root)


_WISHES = {
    **dict.fromkeys(("int_type", "int_parsing", "int_parsing_size", "int_from_float"), "be a whole number"),
    **dict.fromkeys(("float_type", "float_parsing"), "be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "be true or false"),
    **dict.fromkeys(("dict_type", "model_type"), "be a mapping of names to values"),
    "list_type": "be a list",
    "string_type": "be a string",
    "invalid-json-value": "be a JSON value",
    "recursion_depth_exceeded": "have fewer levels",
}
"""What a value should do, by pydantic's name for the error, where pydantic's message is for programmers."""

_SHORT = 40  # the longest string that a message repeats


class _Misfit(NamedTuple):
    """A problem: a whole message, or a wish that completes "`subject` should"."""

    path: KeyPath
    subject: str
    message: str = ""
    wish: str = ""
    instead: str = ""


def _issues(errors: Iterable[ErrorDetails], values: Mapping[str, object], schema: Schema) -> Iterator[Issue]:
    """Yield an issue for each option. Of a union, the alternative that got furthest is the intended one."""
    groups: dict[tuple[KeyPath, str], list[_Misfit]] = {}
    for problem in (problem for error in errors for problem in _misfits(error, values, schema)):
        groups.setdefault((problem.path, problem.subject), []).append(problem)
    outer = {path[:length] for path, _ in groups for length in range(1, len(path))}
    for (path, subject), same in groups.items():
        message = "; ".join(dict.fromkeys(one.message for one in same if one.message))
        wishes = " or ".join(dict.fromkeys(one.wish for one in same)).replace(" or be ", " or ")
        if path not in outer:
            yield Issue(path, message or f"{subject} should {wishes}{same[0].instead}")


def _misfits(error: ErrorDetails, values: Mapping[str, object], schema: Schema) -> Iterator[_Misfit]:
    *around, last = error["loc"] or ("",)
    cause = error.get("ctx", {}).get("error")
    if error["type"] in ("missing", "extra_forbidden", "invalid_key"):
        yield _misnamed(_path(tuple(around), values), str(last), schema, is_missing=error["type"] == "missing")
        return
    is_name = last == "[key]"  # its value is the name
    path = (*_path(tuple(around[:-1]), values), str(error["input"])) if is_name else _path(error["loc"], values)
    if isinstance(cause, InvalidError):
        inner = (((*path, *map(str, issue.path)), issue.message) for issue in cause.issues)
        yield from (_Misfit(at, _named(at), f"{_named(at)}: {message}") for at, message in inner)
        return
    subject = f"the name `{path[-1]}` in {_named(path[:-1])}" if is_name else _named(path)
    wish = _WISHES.get(error["type"]) or error["msg"].partition(" should ")[2]
    if wish and not cause:
        yield _Misfit(path, subject, wish=wish, instead="" if is_name else _instead(error["input"]))
    else:
        yield _Misfit(path, subject, f"{subject}: {cause or error['msg']}" if path else str(cause))


def _misnamed(around: KeyPath, name: str, schema: Schema, *, is_missing: bool) -> _Misfit:
    path = (*around, name)
    if is_missing:
        return _Misfit(path, _named(path), f"{_named(path)} is missing")
    kinds: Iterable[Schema] = [schema]
    for key in around:
        kinds = list(_within(kinds, key, schema))
    close = nearest_name(name, [known for kind in kinds for known in kind.get("properties", ())])
    hint = f"; did you mean {_named((*around, close))}?" if close else ""
    return _Misfit(path, _named(path), f"there is no option {_named(path)}{hint}")


def _path(location: DataPath, value: object) -> KeyPath:
    """Return the path of an error without pydantic's names for the alternatives of unions."""
    path: KeyPath = ()
    for key in location:
        inner = dict(enumerate(value)) if isinstance(value, list) else value
        if isinstance(inner, dict) and key in inner:
            value, path = inner[key], (*path, str(key))
    return path


def _named(path: KeyPath) -> str:
    return f"`{'.'.join(path)}`"


def _instead(value: object) -> str:
    """Return the actual value for a message, if it is short; true, false and null as in YAML and TOML."""
    if isinstance(value, str):
        return f", not {value!r}" if len(value) <= _SHORT else ""
    return f", not {json.dumps(value)}" if value is None or isinstance(value, (int, float)) else ""


_KINDS = {"string": "string", "boolean": "true/false", "number": "number"}


class Option(Struct, frozen=True):
    """An option. A nested one is named by its path, such as `concurrency.group` or `setup[].uses`."""

    name: str
    type: str
    required: bool
    default: object
    description: str

    @property
    def default_words(self) -> str:
        """The default as you would write it; `none` for no default, `required` for a required option."""
        if self.required:
            return "required"
        if self.default in (None, "", [], {}):
            return "none"
        return self.default if isinstance(self.default, str) else json.dumps(self.default, ensure_ascii=False)


def listed(kind: type[Options]) -> Iterator[Option]:
    """Yield all options of a class in order, each followed by its nested options."""
    schema = kind.model_json_schema()
    return _listed(schema, schema, "")


def _listed(kind: Schema, root: Schema, prefix: str) -> Iterator[Option]:
    required = kind.get("required", ())
    for name, node in kind["properties"].items():
        words, about = _words(node, root), node.get("description", "")
        yield Option(f"{prefix}{name}", words, name in required, node.get("default"), about)
        kinds = list(_alternatives(node, root))
        items = [item for one in kinds for item in _alternatives(one.get("items", {}), root)]
        for inner, mark in (*((one, ".") for one in kinds), *((item, "[].") for item in items)):
            if "properties" in inner:
                yield from _listed(inner, root, f"{prefix}{name}{mark}")


def _words(node: Schema, root: Schema) -> str:
    kinds = (kind for kind in _alternatives(node, root) if kind.get("type") != "null")
    names = dict.fromkeys(_name(kind, root) for kind in kinds)
    if "number" in names:
        names.pop("whole number", None)
    return " or ".join(names)


def _name(kind: Schema, root: Schema) -> str:
    match kind:
        case {"enum": words}:
            return " or ".join(map(str, words))
        case {"const": word}:
            return str(word)
        case {"items": items}:
            return f"list of {_words(items, root)}"
        case {"properties": _}:
            return "mapping"
        case {"type": "object", "additionalProperties": values}:
            return f"mapping of names to {_words(values, root) if isinstance(values, dict) else 'any value'}"
        case {"type": "integer"}:
            ends = (("from", "minimum"), ("to", "maximum"))
            return " ".join(["whole number", *(f"{word} {kind[key]}" for word, key in ends if key in kind)])
        case _:
            return _KINDS.get(kind.get("type", ""), "any value")
