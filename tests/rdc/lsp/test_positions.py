"""Places of the compiler and positions of the protocol: the same characters, whatever the lines contain."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol.types import Position

from compiler.text.source import Source, Span
from rdc.lsp.positions import Lines
from tests.support.editor import edited, index

CHARACTERS = "aé😀𝒳\u2028\u2029\x0c\x0b\x85\t \r\n\ufeff"
TEXTS = st.text(st.sampled_from(CHARACTERS), max_size=30)


@pytest.mark.parametrize(
    ("text", "place", "position"),
    [
        *(("abc", (1, 3), (0, 2)), ("é😀x", (1, 3), (0, 3)), ("😀😀", (1, 3), (0, 4))),
        *(("a\x0cb\nc", (2, 1), (1, 0)), ("a\u2028b\nc", (1, 4), (0, 3)), ("a\r\nb\rc", (3, 1), (2, 0))),
        *(("\ufeffab\nc", (1, 2), (0, 2)), ("\ufeffab\nc", (2, 1), (1, 0))),
    ],
)
def test_a_place_and_its_position(text: str, place: tuple[int, int], position: tuple[int, int]) -> None:
    lines = Lines(text)
    assert lines.position(*place) == Position(*position)
    assert lines.place(Position(*position)) == place


def test_what_is_outside_of_the_text_becomes_the_nearest_place() -> None:
    """The third position is inside of a character. A text may be newer than the result of a check."""
    nearest = {(0, 99): (1, 4), (99, 0): (2, 2), (0, 2): (1, 2), (1, 2_000_000_000): (2, 2)}
    assert {at: Lines("a😀b\nc").place(Position(*at)) for at in nearest} == nearest
    found = Lines("ab\nc").range(Span(1, 1, 9, 9))
    assert (found.start, found.end) == (Position(0, 0), Position(1, 1))


@given(TEXTS)
def test_each_place_is_found_again(text: str) -> None:
    lines, source = Lines(text), Source.from_text("a", text.removeprefix("\ufeff"))
    assert tuple(lines.rows) == source.lines
    for number, row in enumerate(source.lines, 1):
        for column in range(1, len(row) + 2):
            position = lines.position(number, column)
            assert lines.place(position) == (number, column)
            assert text[index(text, position) :].startswith(row[column - 1 :])


@given(TEXTS, TEXTS)
def test_the_edit_of_a_text_gives_the_other(one: str, other: str) -> None:
    """The lines are those of the other text, with the line ends of the first."""
    assert Lines(edited(one, Lines(one).replacing(other))).rows == Lines(other).rows


@given(st.lists(st.sampled_from("ab"), max_size=8), st.lists(st.sampled_from("ab"), max_size=8))
def test_an_edit_leaves_equal_lines_at_both_ends_alone(one: list[str], other: list[str]) -> None:
    before, after = ["x", "y", *one, "z", "x"], ["x", "y", *other, "z", "x"]
    for edit in Lines("\n".join(before)).replacing("\n".join(after)):
        assert edit.range.start.line >= 2
        assert edit.range.end.line <= len(before) - 2
