"""The report of an import: losses with their lines, and a draft that lacks a code line."""

from __future__ import annotations

import pytest

from compiler.importers.markdown import read_page
from compiler.importers.report import Entry, LostCodeError, Report, as_text, losses_of
from compiler.text.source import Source

PAGE = read_page(
    Source.from_text("page.md", "# Page\n\nSee [this](https://a.example).\n\n```bash\nls <pod>\n\ndf\n```\n")
)
WHOLE = '---\nrdc:\n---\n\n# Page\n\nSee [this](https://a.example).\n\n```bash\nls "$POD"\ndf\n```\n'


def test_a_whole_draft_has_no_losses() -> None:
    assert list(losses_of(PAGE, {"<pod>": "POD"}, WHOLE)) == []


@pytest.mark.parametrize(("line", "lost"), [('ls "$POD"', 6), ("df", 8)])
def test_a_draft_without_a_code_line_is_a_defect(line: str, lost: int) -> None:
    with pytest.raises(LostCodeError) as caught:
        list(losses_of(PAGE, {"<pod>": "POD"}, WHOLE.replace(line, "")))
    assert caught.value.args == (lost,)


def test_each_lost_word_and_link_has_its_line() -> None:
    text = WHOLE.replace("See [this](https://a.example).", "this")
    assert list(losses_of(PAGE, {"<pod>": "POD"}, text)) == [
        Entry("words", "see", 3),
        Entry("link", "https://a.example", 3),
    ]


def test_the_text_shows_counts_and_the_first_entries_of_each_kind() -> None:
    guesses = tuple(Entry("harm", f"guess {number}", number, number + 1) for number in range(1, 25))
    lines = list(
        as_text(Report("a.md", "a.runbook.md", 1, 2, 0, 1, ("A",), ("B",), guesses, (Entry("words", "x", 3),)))
    )
    assert lines[0] == "a.md: 1 step, 2 commands to run, 0 shown, 1 question, 1 input, asks for 1"
    assert lines[1] == "  guess[harm] guess 1 (line 1, draft line 2)"
    assert lines[-2:] == ["  guess[harm] and 4 more", "  lost[words] x (line 3)"]
