"""Options as classes: how values are read by their types, what is wrong in them, and which differ from defaults."""

from __future__ import annotations

import math
import subprocess
import sys
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from msgspec import Meta

from backends.options.fields import Check, Options, changed
from backends.options.reader import read_words, validate
from backends.registry import BACKENDS
from compiler.issues import InvalidError
from tests.conftest import ROOT


def shouted(text: str) -> str:
    """A check that changes what it is given."""
    if not text.isalpha():
        raise ValueError("only letters can be shouted")
    return text.upper()


class Inner(Options, frozen=True, kw_only=True):
    """A mapping within options, with a rule of its own."""

    size: int = 1
    name: str

    def check(self) -> None:
        """Keep the two apart."""
        if self.name == str(self.size):
            raise ValueError("the name is the size")


Shouted = Annotated[str, Check(shouted)]


class Sorts(Options, frozen=True):
    """An option of each sort."""

    text: str = ""
    count: int = 0
    ratio: Annotated[float, Meta(gt=0, lt=1)] = 0.5
    truth: bool = False
    plain: str | int | float | bool | None = None
    numbers: list[int] | list[str] = []
    code: Annotated[str | None, Meta(min_length=1, max_length=3, pattern="^[a-z]*$")] = None
    word: Annotated[Shouted | None, Check(shouted)] = None
    words: Annotated[list[Shouted] | Shouted, "Words to shout."] = []
    by_word: dict[Shouted, Inner | Literal["none"]] = {}
    inner: Inner | None = None
    json: Any = None


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        *(("count", value, 5) for value in (5, 5.0, "5", " +5 ", "0_5", "5.00")),
        ("count", True, 1),
        *(("truth", value, True) for value in (True, 1, 1.0, "1", "Yes", "ON", "t")),
        *(("truth", value, False) for value in (False, 0, "0", "n", "False")),
        *(("ratio", value, 0.25) for value in (0.25, "0.25", " 25e-2")),
        *(("plain", value, value) for value in ("5", "true", 5, 5.0, True, None)),
        ("numbers", ["5"], ["5"]),
        ("numbers", ["5", 6], [5, 6]),
        ("word", "a", "A"),
        ("word", None, None),
        ("words", "a", "A"),
        ("words", ["a", "b"], ["A", "B"]),
        ("by_word", {"a": "none"}, {"A": "none"}),
        ("by_word", {"a": {"name": "x"}}, {"A": Inner(name="x")}),
        ("json", {"a": [None, {"b": 1.5}]}, {"a": [None, {"b": 1.5}]}),
    ],
)
def test_a_value_becomes_what_its_option_takes(name: str, value: object, read: object) -> None:
    found = getattr(validate(Sorts, {name.replace("_", "-"): value}), name)
    assert (type(found), found) == (type(read), read)


UNCOUNTED: tuple[object, ...] = (1.5, "1.5", "5.", "_5", "5_", "0x5", "٣", "9" * 5000, math.nan, math.inf, 1e300, None)
UNTRUE: tuple[object, ...] = (2, 0.5, " true", "", None, date.min)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        *(("count", value, "`count` should be a whole number") for value in UNCOUNTED),
        *(("truth", value, "`truth` should be true or false") for value in UNTRUE),
        *(("ratio", value, "`ratio` should be a number") for value in ("x", "٣", 10**400, None)),
        ("ratio", 1, "`ratio` should be less than 1, not 1"),
        ("ratio", "0", "`ratio` should be greater than 0, not '0'"),
        ("code", "", "`code` should have at least 1 character, not ''"),
        ("code", "abcd", "`code` should have at most 3 characters, not 'abcd'"),
        ("code", "a\n", "`code` should match pattern '^[a-z]*$', not 'a\\n'"),
        ("text", b"x", "`text` should be a string"),
        ("words", "5", "`words`: only letters can be shouted"),
        ("words", ["a", "5"], "`words.1`: only letters can be shouted"),
        ("words", 5, "`words` should be a list or a string, not 5"),
        ("numbers", "5", "`numbers` should be a list, not '5'"),
        ("by-word", {"5": "none"}, "the name `5` in `by-word`: only letters can be shouted"),
        ("by-word", {"a": "non"}, "`by-word.a` should be a mapping of names to values or 'none', not 'non'"),
        ("by-word", {"a": {}}, "`by-word.a.name` is missing"),
        ("by-word", {"a": {"name": "1"}}, "`by-word.a`: the name is the size"),
        (
            "inner",
            {"nam": "1", "size": "5"},
            "`inner.name` is missing; there is no option `inner.nam`; did you mean `inner.name`?",
        ),
        ("json", {"a": [0, date.min]}, "`json.a.1`: this is not a JSON value"),
        ("by_word", {}, "there is no option `by_word`; did you mean `by-word`?"),
    ],
)
def test_what_is_wrong_in_a_value(name: str, value: object, said: str) -> None:
    with pytest.raises(InvalidError) as caught:
        validate(Sorts, {name: value})
    assert str(caught.value) == said or str(caught.value).startswith(f"{said}, not ")


def test_json_may_be_as_deep_as_a_document() -> None:
    deep: object = 1
    for _ in range(5000):
        deep = {"a": [deep]}
    assert validate(Sorts, {"json": deep}).json is deep


def test_an_option_without_a_default_is_missing_from_no_options() -> None:
    with pytest.raises(InvalidError, match="`name` is missing"):
        validate(Inner, {})


def test_a_type_that_no_option_can_have_is_a_defect_of_the_target() -> None:
    class Dated(Options, frozen=True):
        day: date = date.min

    with pytest.raises(TypeError, match=r"datetime\.date"):
        validate(Dated, {"day": 1})


def test_options_that_differ_from_their_defaults() -> None:
    assert changed(Sorts()) == {}
    given = {"inner": {"name": "x", "size": 1}, "by-word": {"a": {"name": "y", "size": 2}}, "count": 0, "words": ["a"]}
    assert changed(validate(Sorts, given)) == {
        "inner": {"name": "x"},
        "by-word": {"A": {"name": "y", "size": 2}},
        "words": ["A"],
    }


@pytest.mark.parametrize(
    ("word", "value"),
    [("words=[a]", ["a"]), ("words=- a", "- a"), ("numbers=- a", ["a"]), ("json=a: b", "a: b"), ("count=[1]", "[1]")],
)
def test_words_are_yaml_where_a_list_or_a_mapping_can_stand(word: str, value: object) -> None:
    name, _, text = word.partition("=")
    assert read_words(Sorts, {name: text}) == {name: value}


GIVEN = {
    "github": {"runs-on": "x", "setup": [{"run": "true"}]},
    "make": {"state-dir": "a"},
    "python": {"runtime": "shared"},
    "dot": {"theme": "dark"},
}


@pytest.mark.parametrize("name", BACKENDS)
def test_a_compilation_imports_no_validator_and_looks_for_no_other_targets(name: str) -> None:
    script = (
        "import sys\n"
        "from backends.registry import is_target, load\n"
        f"assert is_target({name!r}) and 'importlib.metadata' not in sys.modules\n"
        "from compiler.driver import Settings, compile_file\n"
        "program = compile_file('examples/deploy-with-rollback.runbook.md', Settings()).program\n"
        f"for options in ({{}}, {GIVEN.get(name, {})!r}):\n"
        f"    assert load({name!r}).emit(program, options).text\n"
        "slow = {'pydantic', 'pydantic_core', 'annotated_types', 'typing_inspection'}\n"
        "sys.exit(' '.join(sorted(slow & set(sys.modules))))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.stderr.strip() == ""
