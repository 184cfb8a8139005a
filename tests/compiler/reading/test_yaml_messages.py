"""What rdc says of YAML that cannot be read: no words of the YAML parser, and what to do."""

from __future__ import annotations

import re

import pytest

from compiler.reading.yaml import UnreadableError, read_mapping

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


@pytest.mark.parametrize(("text", "told"), BROKEN.items())
def test_errors_in_yaml_say_what_to_do(text: str, told: tuple[int, str, str]) -> None:
    line, problem, remedy = told
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
    wanted = text.rpartition("a: ")[2]
    assert read_mapping(advised[1]).values == {"a": wanted}
