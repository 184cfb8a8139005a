"""The keys and values of YAML and JSON with their places: the same for valid text however it is read."""

from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from compiler.reading.entries import DEEPEST, Entry, Found, entries, placed
from compiler.reading.frontmatter import FENCE
from compiler.text.source import KeyPath, Lines, may_repeat
from tests.conftest import ROOT
from tests.support.marked import text_at


def yaml_of(path: Path) -> str:
    """The YAML in a file: all of it, or its frontmatter."""
    text = path.read_text(encoding="utf-8")
    lines = text.split("\n")
    if path.suffix != ".md":
        return text
    ends = [number for number, line in enumerate(lines) if FENCE.fullmatch(line)]
    return "\n".join(lines[1 : ends[1]]) if ends[:1] == [0] else ""


def same_in_both(text: str) -> bool:
    """Whether the places are certainly the same: aliases have none in a tree."""
    return not may_repeat(text) and text.strip() != "" and not text.lstrip().startswith("[")


def tree_of(text: str, first_line: int = 1) -> tuple[Entry, ...]:
    """The entries of valid YAML by its parser, which knows nothing of lines."""
    found: list[Found] = []

    def collect(node: yaml.Node, path: KeyPath) -> int:
        """Collect the parts of a node, and return its end, without the comments and empty lines below it."""
        last: int = node.start_mark.index
        is_mapping = isinstance(node, yaml.MappingNode)
        parts = node.value if isinstance(node, yaml.CollectionNode) else []
        pairs = parts if is_mapping else [(None, part) for part in parts]
        for number, (key, value) in enumerate(pairs):
            inner = (*path, str(key.value if key else number))
            last, place = collect(value, inner), key and (key.start_mark.index, key.end_mark.index)
            found.append(Found(inner, place, value.start_mark.index, last, isinstance(value, yaml.ScalarNode)))
        is_block = isinstance(node, yaml.CollectionNode) and pairs and not node.flow_style
        return last if is_block else int(node.end_mark.index)

    root = yaml.compose(text, yaml.SafeLoader)
    if root is not None:
        collect(root, ())
    return placed(text, Lines(text, first_line), found)


FILES = sorted(
    path
    for pattern in ("examples/**/*", "golden/*/*.yml", ".github/**/*.yml")
    for path in ROOT.glob(pattern)
    if path.suffix in {".yaml", ".yml", ".json", ".md"} and same_in_both(yaml_of(path))
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_lines_and_trees_give_the_same_entries(path: Path) -> None:
    text = yaml_of(path)
    assert entries(text, 3) == tree_of(text, 3)


_scalars = st.sampled_from(["a", "b c", "1.5", '"q: x"', "'it''s'", "yes", '"é🚀"', "a#b", "x:y"])


def _block(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    below = inner.map(lambda text: "\n" + "\n".join(f"  {line}" for line in text.split("\n")))
    value = _scalars.map(lambda text: f" {text}") | below | st.sampled_from([" [a, {b: c}]", " {d: [e], 'f': g}", ""])
    value |= st.sampled_from([" |\n  x: y\n\n  - z", " # only a comment"])
    keys = st.lists(value, min_size=1, max_size=3).map(
        lambda values: "\n".join(f"{name}:{one}" for name, one in zip("kmn", values, strict=False))
    )
    items = st.lists(_scalars | inner, min_size=1, max_size=3).map(
        lambda values: "\n".join("- " + one.replace("\n", "\n  ") for one in values)
    )
    return keys | items


@given(st.recursive(_scalars.map("k: {}".format), _block, max_leaves=8))
def test_lines_and_trees_give_the_same_entries_of_any_yaml(text: str) -> None:
    source = f"top:\n{text}" if text.startswith("- ") else text
    assert entries(source) == tree_of(source)


def paths(found: tuple[Entry, ...]) -> list[str]:
    return [".".join(one.path) for one in found]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a: 'b\nc: d\n", ["a", "c"]),
        ("a: [b, # c\n  d]\n", ["a", "a.0", "a.1"]),
        ("a: {b: [1\nc: d\n", ["a", "a.b", "a.b.0", "c"]),
        ("a:\n  b\nc: d\n", ["a", "c"]),
        ("a:\n - b: 1\n  c: 2\nd: e\n", ["a", "a.0", "a.0.b", "a.0.c", "d"]),
        ("a:\n  - x\n - y\nb: c\n", ["a", "a.0", "a.1", "b"]),
        ("a: b\na: c\n", ["a", "a"]),
        ("? x\n: y\nb: c\n", ["b"]),
        ("a: &x {b: 1}\nc: *x\n", ["a", "a.b", "c"]),
        ('{"a": {"b": 1,\n "c": 2}', ["a", "a.b", "a.c"]),
        ('{"a": "x\n "b": [1\n}', ["a", "b", "b.0"]),
        ('{"a": [{"b": 1 {"c": 2}]}', ["a", "a.0", "a.0.b", "a.1", "a.1.c"]),
        ('{\n  "a": [{\n  "b": 1\n}', ["a", "a.0", "b"]),
        ('{"a":', ["a"]),
        ('{"a":\n"b": 1}', ["a", "b"]),
        ("}]: {", []),
    ],
)
def test_text_that_is_half_written_keeps_what_it_has(text: str, wanted: list[str]) -> None:
    assert paths(entries(text)) == wanted


@given(st.text() | st.lists(st.sampled_from([*"{}[]:,'\"-#|&*! \n", "a", "b: ", "- "])).map("".join))
def test_any_text_has_entries_at_places_that_exist(text: str) -> None:
    text = text.replace("\r", "\n")
    for one in entries(text):
        if one.key:
            assert text_at(text, one.key).strip("\"'") == one.path[-1].strip("\"'")
        start, end = (one.inside.line, one.inside.column), (one.inside.end_line, one.inside.end_column)
        assert start <= end
        assert one.value is None or one.inside.line == one.value.line


def test_text_that_is_nested_too_deeply_is_cut() -> None:
    for part in ("[", "{", "- ", '{"a":', "a: {b: [", "[{"):
        found = entries(part * 5000)
        assert max((len(one.path) for one in found), default=0) <= DEEPEST + 1
    found = entries("\n".join(" " * depth + "a:" for depth in range(1000)))
    assert max(len(one.path) for one in found) <= DEEPEST
