"""Texts: filled in once, written as their author did, and read from JSON (I6)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from backends.common.marks import Marks
from compiler.ir.texts import Part, Reference, Text, joined, text

REGISTERS = ("a", "b")

references = st.builds(
    Reference,
    st.sampled_from(REGISTERS),
    written=st.sampled_from(["", "{a}", "{{a}}", "{b}", "a", "$", "{1.1}"]),
    missing=st.sampled_from(["", "none"]),
    before=st.sampled_from(["", "<"]),
    after=st.sampled_from(["", ">"]),
)
texts = st.lists(st.text("{}a1$. ", max_size=6) | references, max_size=6).map(joined)


def test_a_value_is_never_looked_at_again() -> None:
    row = joined(["say ", Reference("a", "{{a}}"), "!"])
    assert row.filled({"a": "{{a}} {{b}}"}) == "say {{a}} {{b}}!"


def test_an_unset_slot_leaves_what_is_missing_and_nothing_around_it() -> None:
    row = joined([Reference("a", "{{a}}", missing="-", before="[", after="]")])
    assert (row.filled({"a": None}), row.filled({"a": ""}), str(row)) == ("-", "[]", "{{a}}")


def test_a_value_can_be_escaped_but_what_stands_around_it_is_not() -> None:
    row = joined(['"', Reference("a", before="'"), '"'])
    assert row.filled({"a": '"'}, lambda value: value.replace('"', '\\"')) == '"\'\\""'


def test_what_is_known_is_filled_in_and_the_rest_stays() -> None:
    row = joined([Reference("a", "{a}"), " and ", Reference("b", "{b}")])
    assert row.known({"a": "1"}) == joined(["1 and ", Reference("b", "{b}")])


@given(st.lists(st.text(max_size=3), max_size=4))
def test_neighboring_strings_are_one(parts: list[str]) -> None:
    assert joined(list(parts)) == text("".join(parts))


@given(st.lists(texts, max_size=3))
def test_marks_stand_for_references_and_for_nothing_else(rows: list[Text]) -> None:
    """Whatever stands in the texts: who splits a marked text by its marks gets the parts of the text."""
    marks = Marks(rows)
    for row in rows:
        assert _apart(marks.text(row), marks) == list(row.parts)


def _apart(marked: str, marks: Marks) -> list[Part]:
    """The parts of a marked text: from left to right, at each place the first mark that fits."""
    found: list[Part] = []
    while marked:
        mark = next((mark for mark in marks.references if marked.startswith(mark)), None)
        found.append(marks.references[mark] if mark else marked[0])
        marked = marked[len(mark or "x") :]
    return list(joined(found).parts)


def test_the_mark_is_what_the_author_wrote_where_that_is_clear() -> None:
    number = Reference("N", "{N}")
    assert Marks([joined(["a", number, "b", number])]).references == {"{N}": number}
    assert "{N}" not in Marks([joined(["${N} is no ", number])]).references
