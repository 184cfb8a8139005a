"""Validate YAML and JSON documents with pydantic models, and report each part that doesn't fit."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from msgspec import Struct
from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from compiler.diagnostics.issues import MOST_SHOWN, Position, SourceMap
from compiler.diagnostics.model import DataPath, Diagnostic, Issue
from compiler.text.source import Source, may_repeat

LARGEST = 1_000_000  # the largest document in bytes; larger files take too long to read

MOST_STEPS = 500

SHAPES = {
    "list_type": "a list",
    "model_type": "a mapping of keys to values",
    "dict_type": "a mapping of keys to values",
}
"""What a value must be, by pydantic's name for the error."""

_DEEPEST = 6
"""How many levels of nested errors to look into: after fixing one part, its inner parts are checked."""

Model = TypeVar("Model", bound=BaseModel)
Found = tuple[str, Issue]
"""An issue in a document, with its code."""


class Codes(Struct, frozen=True):
    """The codes of a format for errors of form."""

    too_large: str
    missing: str
    wrong: str


class Form(Struct, frozen=True):
    """How a format speaks of its documents.

    `noun` is the document, `needs` what each has, and `elsewhere` where long text goes. `named` is the name of a part
    with a wrong value, and `called` that of the part around it. `values` has the words for wrong values by pydantic's
    name for the error, and `example` an example by key and value. `unknown` returns the issue of an unknown key.
    With `is_written`, all values are strings, so a blank one has no value.
    """

    noun: str
    codes: Codes
    needs: str
    elsewhere: str
    called: Callable[[Position], str]
    named: Callable[[Position], str]
    values: Mapping[str, str]
    example: Callable[[str, object], str]
    unknown: Callable[[Position, str], Found]
    is_written: bool = False

    def refusal(self, source: Source) -> Diagnostic | None:
        """Return the diagnostic for an empty or too large file."""
        if not source.text.strip():
            return Diagnostic(self.codes.missing, source.path, None, f"the {self.noun} is empty", f"write {self.needs}")
        if (size := len(source.data)) > LARGEST:
            problem = f"the {self.noun} has {size:,} bytes; the limit is {LARGEST:,}"
            remedy = f"move long text into files, and name the files in {self.elsewhere}"
            return Diagnostic(self.codes.too_large, source.path, None, problem, remedy)
        return None

    def excess(self, source: Source, steps: int, counted: str, value: object) -> Diagnostic | None:
        """Return the diagnostic for a document with too many steps, or that aliases make too large."""
        if steps > MOST_STEPS:
            problem = f"the {self.noun} has {steps:,} {counted}; the limit is {MOST_STEPS}"
            return Diagnostic(self.codes.too_large, source.path, None, problem, f"split it into several {self.noun}s")
        size = sum(map(len, texts_in(value))) if may_repeat(source.text) else 0  # otherwise not larger than the file
        if size > LARGEST:
            problem = (
                f"the {self.noun} has {size:,} characters after its aliases are expanded; the limit is {LARGEST:,}"
            )
            return Diagnostic(self.codes.too_large, source.path, None, problem, "use fewer aliases")
        return None

    def findings(
        self, places: SourceMap, plain: Mapping[str, Any], errors: Iterable[ErrorDetails]
    ) -> dict[Diagnostic, None]:
        """Return the diagnostics for the first of these errors, in order."""
        shown = list(errors)[:MOST_SHOWN]
        found = (self._found(Position(places, plain, error["loc"]), error) for error in shown)
        return dict.fromkeys(places.reported(code, issue) for code, issue in found)

    def _found(self, where: Position, error: ErrorDetails) -> Found:
        key, kind = where.path[-1], error["type"]
        if kind == "extra_forbidden":
            return self.unknown(where, str(key))
        if kind == "missing":
            problem = f"{self.called(where.around)} has no `{key}`"
            return self.codes.missing, Issue(where.path[:-1], problem, f"add `{key}: …`")
        if kind == "too_short":
            problem = f"the {self.noun} has no steps"
            return self.codes.missing, Issue(where.path, problem, self.values["too_short"])
        expected = str(error.get("ctx", {}).get("expected", "")).replace("'", "")
        wanted = self.values.get(kind) or (kind == "literal_error" and expected) or "a valid value"
        example = self.example(str(key), where.value) if kind in SHAPES else ""
        is_text = isinstance(where.value, str)
        is_blank = self.is_written and is_text and not where.value.strip()
        if (where.value is None or is_blank) and not (self.is_written and isinstance(key, int)):
            problem = f"{self.named(where)} has no value"
            return self.codes.wrong, Issue(where.path, problem, f"write {wanted} after it{example}")
        remedy = "put it in quotes" if kind == "string_type" and is_text else f"write {wanted}"
        return self.codes.wrong, Issue(where.path, f"{self.named(where)} is not {wanted}", f"{remedy}{example}")


def validated(
    model: type[Model], plain: Mapping[str, Any], defaults: Mapping[str, object]
) -> tuple[Model | None, list[ErrorDetails]]:
    """Return the model of a plain value without its invalid parts, and the errors in those.

    `defaults` has the values for missing keys, if they are not empty strings.
    """
    value: dict[str, Any] = dict(plain)
    errors: list[ErrorDetails] = []
    for _ in range(_DEEPEST):
        try:
            return model.model_validate(value), errors
        except ValidationError as error:
            value = value if errors else copy.deepcopy(value)  # before anything in it is changed
            found = error.errors(include_url=False)
        known = {one["loc"] for one in errors}
        errors += (one for one in found if not any(one["loc"][:end] in known for end in range(1, len(one["loc"]) + 1)))
        for one in found:
            _fix(value, one["loc"], one["type"], defaults)
    return None, errors


def _fix(value: Any, path: DataPath, kind: str, defaults: Mapping[str, object]) -> None:  # noqa: ANN401 (a plain value)
    """Remove an invalid part, or add an empty one if it is missing."""
    *above, last = path
    for key in above:
        value = value[key]
    if kind == "missing":
        value[last] = copy.copy(defaults.get(str(last), ""))
    elif kind == "too_short":
        value[last] = [{}]
    elif isinstance(last, int):
        value[last] = "" if kind == "string_type" else {}
    else:
        value.pop(last, None)


def texts_in(value: object) -> Iterator[str]:
    """Yield all strings in a plain value of limited size, in order."""
    pending = [value]
    while pending:
        one = pending.pop()
        if isinstance(one, str):
            yield one
        elif isinstance(one, list):
            pending += reversed(one)
        elif isinstance(one, dict):
            pending += reversed(one.values())
