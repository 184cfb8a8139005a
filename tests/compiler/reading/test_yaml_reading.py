"""libyaml reads YAML, and the parser in Python explains what it refuses."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from compiler.reading.yaml import DEEPEST, UnreadableError, load_value, read_mapping
from compiler.text import files
from tests.conftest import ROOT

LINES = (
    *("a: b", "b: 1", "- x", "- - y", "  - z", "  c: d", "? k", ": v", "key: |", "key: >-", "  text", "    more", ""),
    *("  # c", "a: 'q'", 'b: "w\\n"', "c: [1, 2]", "d: {a: b, c}", "e: &x 1", "f: *x", "<<: *x", "g: !!str 3", "---"),
    *("...", "%YAML 1.1", "h: x # y", "- a: b", "\ti: j", "k:\tl", 'm: "a', 'n"', "o: 'p", "q'", "[a, b]", '{"a":1}'),
    *("{a:1}", "[a:b]", "é: ü", "\U0001f600: x", "a:  b  ", "- ", "-", "x: - y", "|", "> ", "? [a]", "!t x", "@a"),
    *("a: %b", "- |2", "   x", "- >+", "\u2028", "\x85", "'a': b", "a : b", "{}", "*y", "&z", "a: &a [*a]", "\r"),
    *("a: \x07", "\ufeff", "- ? a", ", a", "[a,,b]", "{a, b: }", "{? a: b}", "[b?]", "[a, # ]", "{a: # c", "}", "]"),
    *("! ", "| #", "yes", "1:30", "~: ~"),
)


def reading(text: str) -> object:
    """What is read of a text, or what is wrong with it."""
    read_mapping.cache_clear()
    try:
        found = read_mapping(text)
    except UnreadableError as error:
        return str(error), error.line, error.help
    return found.values, found.spans, found.repeated, found.as_written, found.lines_in_texts


CHARACTERS = st.text(st.sampled_from("ab:-? \n[]{},#&*!|>'\"%@`\t1é\\~.<\ud800"), max_size=14).map("a: b\n".__add__)


@pytest.mark.parametrize("texts", [st.lists(st.sampled_from(LINES), max_size=7).map("\n".join), CHARACTERS])
@settings(max_examples=300)
@given(data=st.data())
def test_text_is_read_or_explained(texts: st.SearchStrategy[str], data: st.DataObject) -> None:
    assert reading(data.draw(texts))


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="PyYAML was built without libyaml")
@pytest.mark.parametrize("path", [*sorted(ROOT.glob("examples/**/*.workflow.yaml")), None])
def test_libyaml_reads_what_people_write(path: Path | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(yaml.SafeLoader, "get_single_node", pytest.fail)
    text = path.read_text(encoding="utf-8") if path else "name: a # Really?\ntags: [b, 'c?']\nx: {d: e}\n"
    assert load_value(text)


def test_a_text_with_too_many_values_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The parser in Python would take five times as long to say the same."""
    monkeypatch.setattr(yaml.SafeLoader, "get_single_node", pytest.fail)
    monkeypatch.setattr(files, "LARGEST_VALUE", 1000)
    with pytest.raises(UnreadableError, match="more than 1,000 values") as caught:
        load_value("".join(f"k{number}: v\n" for number in range(600)))
    assert caught.value.line == 500


def test_what_either_parser_reads_is_read() -> None:
    assert read_mapping("a:\tb").values == {"a": "b"}
    assert read_mapping("a: {b: # c\n  ,d: e}").values == {"a": {"b": None, "d": "e"}}


@pytest.mark.parametrize("is_native", [True, False])
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("x: &x {a: 1, b: 2}\n<<: *x\nb: 3", {"x": {"a": 1, "b": 2}, "a": 1, "b": 3}),
        ("m: {<<: [{a: 1}, {a: 2, c: 3}], d: 4}", {"m": {"a": 1, "c": 3, "d": 4}}),
        ("m: {c: 4, <<: {a: 1, <<: {c: 3, b: 2}}}", {"m": {"c": 4, "b": 2, "a": 1}}),
        ("a: &a {b: 1.10}\nc: *a\nd: '<<'", {"a": {"b": 1.1}, "c": {"b": 1.1}, "d": "<<"}),
    ],
)
def test_merge_keys_add_what_a_mapping_does_not_have(
    text: str, values: dict[str, object], is_native: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml, "__with_libyaml__", is_native)
    read_mapping.cache_clear()
    assert read_mapping(text).values == values
    assert read_mapping(text).repeated == ()


def test_what_is_merged_has_its_place_and_no_duplicate_keys() -> None:
    found = read_mapping("x: &x\n  a: 1\ny:\n  <<: *x\n  b: 2\nz: {<<: {c: 1, c: 2}}")
    assert (found.spans["x", "a"].line, found.spans["y", "b"].line) == (2, 5)
    assert [(one.path, one.first.column, one.span.column) for one in found.repeated] == [(("z", "<<", "c"), 10, 16)]


@pytest.mark.parametrize("is_native", [True, False])
def test_nesting_has_its_depth(is_native: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    fine = ("[" * DEEPEST + "]" * DEEPEST, "- " * (DEEPEST - 1) + "a")
    deeper = [text.replace("[]", "[[]]").replace("a", "- a") for text in fine]
    deepest = ["[" * 100_000, "- " * 100_000, "{a: " * 50_000, "[" * 900 + "]" * 900]
    with monkeypatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", is_native)
        assert all(isinstance(load_value(text), list) for text in fine)
        for text in (*deeper, *(deepest if is_native else [])):
            with pytest.raises(UnreadableError, match="nested more than 200 levels deep"):
                load_value(text)


PARSER = re.compile(
    r"<[^<`]|mapping values|block (?:end|mapping|sequence)|flow |token|scalar|node content|hexadecimal|unhashable"
    r"|constructor|stream|alphabetic|simple key|but found|occurrence|chomping"
)

# The text, the line that the message is about, and words of the problem and of the remedy.
BROKEN = {
    "a: say: hello": (1, "second `: `", '`a: "say: hello"`'),
    "- a: 1\n  b: it is: here": (2, "second `: `", '`b: "it is: here"`'),
    "a: 1\n  b: 2": (2, "not valid after the line above", "indent it like the keys above"),
    "key\nb: 1": (2, "not valid after the line above", "line above is `key: value`"),
    "a:b\nc: d": (2, "not valid after the line above", "space after the colon"),
    "a:\n  b: 1\n   c: 2": (3, "not valid after the line above", "indent"),
    "a:\n    b: 1\n  c: 2": (3, "indented differently", "indent this line like"),
    "s:\n  - n: a\n - n: b": (3, "indented differently", "indent this line like"),
    "- a\nb: 1": (2, "expected a list item, found a key", "indent the key"),
    "a: 1\n- b": (2, "expected a key, found a list item", "indent the item"),
    "a: - b": (1, "list cannot start on the line of its key", "next line"),
    "a:\n\tb: 1": (2, "tab", "spaces"),
    "a: 'x\nb: 1\nc: 2\n": (1, "not closed", "close it"),
    'a: "x" y': (1, "after the closing quote", "quote the whole value"),
    "a: 'it's'": (1, "after the closing quote", "quote the whole value"),
    "a: {N}.2 b": (1, "after the closing bracket", 'put the value in quotes: `a: "{N}.2 b"`'),
    "a: [b, c\nd: 1": (1, "this bracket is not closed", "add `]`"),
    "x: 1\na: {b: c\nd: 1": (2, "this bracket is not closed", "add `}`"),
    "a: {b: c}}": (1, "`}` has no matching bracket", "remove it"),
    "a: {{x}}": (1, "a key cannot be", '`"{{…}}"`'),
    "a: @x": (1, "start with `@`", "quotes"),
    "a: `x`": (1, "start with ```", "quotes"),
    "a: *x": (1, "there is no anchor for `*x`", "quotes"),
    "a: **/x": (1, "start with `*`", "quotes"),
    "a: & b": (1, "start with `&`", "quotes"),
    "a: ,": (1, "start with `,`", "quotes"),
    "a: !x y": (1, "the tag `!x`", "remove it"),
    "a: &x 1\nb: &x 2": (2, "same anchor", "rename"),
    "a: | text": (1, "after `|`", "next line"),
    "a: 1\n---\nb: 2": (2, "second document", "remove the line `---`"),
    "{a: 1} b": (1, "after the end", "remove it"),
    'a: "\\d"': (1, "`\\d` has no meaning in double quotes", "`\\\\d`"),
    'a: "\\xzz"': (1, "missing digits", "`\\\\`"),
    "a: 1\nkey value\nb: 2": (2, "is not `key: value`", "colon"),
    "a: ? b": (1, "start with `?`", "quotes"),
    "<<: 3": (1, "`<<`", "mapping"),
    "a: 1\nb: &x [1, *x]": (2, "contains itself", "remove the alias"),
    "a:\n  b: 2020-99-99": (2, "cannot read", "quotes"),
    "? [a]\n: b": (1, "a key cannot be", "quotes"),
}


@pytest.mark.parametrize(("text", "message"), BROKEN.items())
def test_errors_in_yaml_say_what_to_do(text: str, message: tuple[int, str, str]) -> None:
    line, problem, remedy = message
    with pytest.raises(UnreadableError) as caught:
        read_mapping(text)
    assert caught.value.line == line
    assert problem in str(caught.value)
    assert remedy in caught.value.help
    assert not PARSER.search(str(caught.value))


@pytest.mark.parametrize("text", ["a: say: hello", '- b: 1\n  a: C:\\x y: "z"'])
def test_the_advised_quotes_are_valid_yaml(text: str) -> None:
    with pytest.raises(UnreadableError) as caught:
        read_mapping(text, 1, "items")
    advised = re.search(r"`(\w+: \".*\")`", caught.value.help)
    assert advised
    assert read_mapping(advised[1]).values == {"a": text.rpartition("a: ")[2]}
