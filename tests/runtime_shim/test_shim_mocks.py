"""Files of mocks, and the part of YAML that they are written in: what it reads, YAML reads alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from runtime_shim.engine.program import RefusedError
from runtime_shim.operator.mocks import Reply, mocks_in, reply_to
from runtime_shim.operator.plain_yaml import PlainError, read_plain
from runtime_shim.tasks.files import read_text

READ = [
    "a: b\n",
    "a:\n  - x\n  - y z\n",
    "a:\n- x\n- y\nb: c\n",
    "# above\na: b # behind\n\n  # between\nc: 'it''s' # behind\n",
    'a: "x\\n\\u00e9"\n',
    "---\na: b\n",
    "a: [x, 'y, z', \"w\"]\nb: {fail: why}\n",
    "a:\n  - fail: no network\n  - {fail: 'no, really'}\n",
    "a:\n  - |\n    one\n      two\n\n    three\n",
    "a: |-\n  x\n\nb: |+\n  y\n\nc: |\n  z\n",
    "2/elicit: [yes, 'no']\n1~2: x\n2a: y\n\"3\": z\n",
    "a:\n  b:\n    c:\n      - d: 1\n        e: 2\n      - - f\n        - g\n",
    "a: http://x.y/z?q=1#f\nb: x - y\nc: -x\nd: a:b\n",
    "a:\n  - {}\n  - []\n",
    "a: |\n  # no comment\n  b: c\n",
    "agents:\n  1:\n    - {fail: x}   # why\n    - y\n",
    "",
    "a:\r\n  - b\r\n",
]


@pytest.mark.parametrize("text", READ)
def test_what_is_read_yaml_reads_alike(text: str) -> None:
    assert read_plain(text) == (yaml.load(text, yaml.BaseLoader) or "")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b\na: c\n", 2),
        ("a:\n\tb: c\n", 2),
        ("a: &x b\n", 1),
        ("a: *x\n", 1),
        ("a: !!int 1\n", 1),
        ("a: [x,\n  y]\n", 1),
        ("a: [x\n", 1),
        ('a: "x\n', 1),
        ("a: b\n  c\n", 2),
        ("a:\n  - b\n c: d\n", 3),
        ("a: b: c\n", 1),
        ("? a\n", 1),
        ("a: >\n  folded\n", 1),
        ("a: [[[[[[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]]]]]\n", 1),
    ],
)
def test_all_else_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(PlainError, match=rf"^{line}: "):
        read_plain(text)


TEXTS = st.text(
    st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\u2028\u2029\x85\ufeff"), max_size=12
)
WORDS = st.text("ab-:#'\"[]{},&*!|>%@` 1?\\~", max_size=8)
VALUES: st.SearchStrategy[Any] = st.recursive(
    TEXTS | WORDS | st.just("two\nlines\n"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_what_yaml_writes_is_read_as_it_was_or_refused(value: Any) -> None:
    """Nothing is ever taken for something else."""
    written = yaml.safe_dump({"a": value}, allow_unicode=True, width=10**6, default_flow_style=False)
    try:
        found = read_plain(written)
    except PlainError:
        return
    assert found == yaml.load(written, yaml.BaseLoader)


@settings(max_examples=400)
@given(st.text("ab:-#'\"[]{}, \n|>&?", max_size=30))
def test_any_text_is_read_as_yaml_does_or_refused(text: str) -> None:
    try:
        found = read_plain(text)
    except PlainError:
        return
    try:
        expected = yaml.load(text, yaml.BaseLoader)
    except yaml.YAMLError:
        return  # what YAML refuses hurts nobody
    assert found == ("" if expected is None else expected)


def test_a_file_of_mocks_has_answers_in_order(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text("agents:\n  2/elicit: x\n  1: [{fail: why}, 1.50]\ntools:\n  web/get: []\n", encoding="utf-8")
    mocks = mocks_in(str(path), read_text(str(path)))
    assert [reply_to(mocks, "agents", "1", number) for number in range(3)] == [Reply("", "why"), Reply("1.50"), None]
    assert reply_to(mocks, "agents", "2/elicit", 0) == Reply("x")
    assert mocks["tools"] == {"web/get": []}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("agent: {}\n", "has the keys `agents`, `tools`, `executors`, and no others"),
        ("agents: [x]\n", "`agents` has a list of answers for each name"),
        ("agents: {1: [[x]]}\n", "agents: 1: expected a string, or {fail: why}"),
        ("agents:\n  1: &x y\n", "m.yaml:2: expected a string"),
        ("{", "not JSON"),
        ('{"agents": {"1": [null]}}', "expected a string, or {fail: why}"),
    ],
)
def test_what_is_no_file_of_mocks_is_refused(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RefusedError) as refused:
        mocks_in(str(path), read_text(str(path)))
    assert said in str(refused.value)
