"""Options as classes: how values are read by their types, what is wrong in them, and which differ from defaults."""

import math
from datetime import date
from typing import Annotated, Literal, Self

import pytest
from pydantic import AfterValidator, Field, JsonValue, model_validator

from backends.options.model import Options
from compiler.diagnostics.issues import InvalidError


def shouted(text: str) -> str:
    """A check that changes what it is given."""
    if not text.isalpha():
        raise ValueError("only letters can be shouted")
    return text.upper()


class Inner(Options):
    """A mapping within options, with a rule of its own."""

    size: int = 1
    name: str

    @model_validator(mode="after")
    def check(self) -> Self:
        """Keep the two apart."""
        if self.name == str(self.size):
            raise ValueError("the name is the size")
        return self


Shouted = Annotated[str, AfterValidator(shouted)]


class Sorts(Options):
    """An option of each sort."""

    text: str = ""
    count: int = 0
    ratio: float = Field(default=0.5, gt=0, lt=1)
    truth: bool = False
    plain: str | int | float | bool | None = None
    numbers: list[int] | list[str] = []
    code: str | None = Field(default=None, min_length=1, max_length=3, pattern="^[a-z]*$")
    word: Shouted | None = None
    words: list[Shouted] | Shouted = Field(default=[], description="Words to shout.")
    by_word: dict[Shouted, Inner | Literal["none"]] = {}
    inner: Inner | None = None
    value: JsonValue = None


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        *(("count", value, 5) for value in (5, 5.0, "5", " +5 ", "0_5", "5.00")),
        ("count", True, 1),
        *(("truth", value, True) for value in (True, 1, 1.0, "1", "Yes", "ON", "t")),
        *(("truth", value, False) for value in (False, 0, "0", "n", "False")),
        *(("ratio", value, 0.25) for value in (0.25, "0.25", " 25e-2")),
        *(("plain", value, value) for value in ("5", "true", 5, 5.0, True, None)),
        *(("numbers", ["5"], ["5"]), ("numbers", ["5", 6], [5, 6])),
        *(("word", "a", "A"), ("word", None, None), ("words", "a", "A"), ("words", ["a", "b"], ["A", "B"])),
        ("by_word", {"a": "none"}, {"A": "none"}),
        ("by_word", {"a": {"name": "x"}}, {"A": Inner(name="x")}),
        ("value", {"a": [None, {"b": 1.5}]}, {"a": [None, {"b": 1.5}]}),
    ],
)
def test_a_value_becomes_what_its_option_takes(name: str, value: object, read: object) -> None:
    found = getattr(Sorts.validated({name.replace("_", "-"): value}), name)
    assert (type(found), found) == (type(read), read)


UNCOUNTED: tuple[object, ...] = (1.5, "1.5", "5.", "_5", "5_", "0x5", "٣", "9" * 5000, 1e300, None)
UNTRUE: tuple[object, ...] = (2, 0.5, " true", "", None, date.min)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        *(("count", value, "`count` should be a whole number") for value in UNCOUNTED),
        *(("count", value, "`count` should be a finite number") for value in (math.nan, math.inf)),
        *(("truth", value, "`truth` should be true or false") for value in UNTRUE),
        *(("ratio", value, "`ratio` should be a number") for value in ("x", "٣", 10**400, None)),
        ("ratio", 1, "`ratio` should be less than 1, not 1"),
        ("ratio", "0", "`ratio` should be greater than 0, not '0'"),
        ("code", "", "`code` should have at least 1 character, not ''"),
        ("code", "abcd", "`code` should have at most 3 characters, not 'abcd'"),
        ("code", "a\n", "`code` should match pattern '^[a-z]*$', not 'a\\n'"),
        ("words", "5", "`words`: only letters can be shouted"),
        ("words", ["a", "5"], "`words.1`: only letters can be shouted"),
        ("words", 5, "`words` should be a list or a string, not 5"),
        ("numbers", "5", "`numbers` should be a list, not '5'"),
        ("by-word", {"5": "none"}, "the name `5` in `by-word`: only letters can be shouted"),
        ("by-word", {1.5: "none"}, "the name `1.5` in `by-word` should be a string"),
        ("by-word", {"a": "non"}, "`by-word.a` should be a mapping of names to values or 'none', not 'non'"),
        ("by-word", {"a": {}}, "`by-word.a.name` is missing"),
        ("by-word", {"a": {"name": "1"}}, "`by-word.a`: the name is the size"),
        ("inner", {"nam": "1"}, "`inner.name` is missing; there is no option `inner.nam`; did you mean `inner.name`?"),
        ("value", {"a": [0, date.min]}, "`value.a.1` should be a JSON value"),
        ("by_word", {}, "there is no option `by_word`; did you mean `by-word`?"),
    ],
)
def test_what_is_wrong_in_a_value(name: str, value: object, message: str) -> None:
    with pytest.raises(InvalidError) as caught:
        Sorts.validated({name: value})
    assert str(caught.value) == message or str(caught.value).startswith(f"{message}, not ")


def test_json_has_a_deepest_level() -> None:
    deep: object = 1
    for _ in range(5000):
        deep = {"a": [deep]}
    with pytest.raises(InvalidError, match="should have fewer levels"):
        Sorts.validated({"value": deep})


def test_options_that_differ_from_their_defaults() -> None:
    assert Sorts().model_dump(by_alias=True, exclude_defaults=True) == {}
    given = {"inner": {"name": "x", "size": 1}, "by-word": {"a": {"name": "y", "size": 2}}, "count": 0, "words": ["a"]}
    assert Sorts.validated(given).model_dump(by_alias=True, exclude_defaults=True) == {
        "inner": {"name": "x"},
        "by-word": {"A": {"name": "y", "size": 2}},
        "words": ["A"],
    }


@pytest.mark.parametrize(
    ("word", "value"),
    [("words=[a]", ["a"]), ("words=- a", "- a"), ("numbers=- a", ["a"]), ("value=a: b", "a: b"), ("count=[1]", "[1]")],
)
def test_words_are_yaml_where_a_list_or_a_mapping_can_stand(word: str, value: object) -> None:
    name, _, text = word.partition("=")
    assert Sorts.from_words({name: text}) == {name: value}
