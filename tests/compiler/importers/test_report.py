"""The report of an import: losses with their lines, and a draft that lacks a code line."""

import pytest

from compiler.importers.markdown import read_page
from compiler.importers.report import Entry, LostCodeError, Report, as_text, losses_of
from compiler.text.source import Source
from tests.support.imported import RUN, block, draft

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


def guesses(page: str) -> list[tuple[str, str, int, str]]:
    """Return the guesses of a page: the kind, the words, the page's line, and the draft's line as text."""
    made = draft(page)
    lines = made.text.split("\n")
    return [(one.kind, one.message, one.line, lines[one.draft_line - 1]) for one in made.report.guesses]


SECOND = f"## Boil\n\n{block('make test')}"


@pytest.mark.parametrize("text", [block("ls tea"), "1. The cup.\n2. The milk.\n", "- [ ] The cup.\n"])
def test_a_section_that_may_have_steps_and_is_only_text_is_one_guess(text: str) -> None:
    page = f"# Page\n\n## Principles\n\nTea is hot.\n\n{text}\n{SECOND}"
    assert guesses(page) == [("text", "the section is only text: Principles", 3, "## Principles")]


@pytest.mark.parametrize(
    "text", ["- The cup.\n- The milk.\n", "If it is cold, she may warm it.\n", "```text\nhot\n```\n"]
)
def test_each_section_below_facts_that_may_have_steps_is_one_guess(text: str) -> None:
    found = guesses(f"# Page\n\n## Principles\n\n1. Tea is hot.\n\n### Cups\n\n{text}\n{SECOND}")
    assert [(kind, words) for kind, words, _, _ in found] == [
        ("text", "the section is only text: Principles"),
        ("text", "the section is only text: Cups"),
    ]


@pytest.mark.parametrize("text", ["Tea is hot.\n", "See the shop.\n", "```text\nhot\n```\n"])
def test_a_section_of_facts_is_no_guess(text: str) -> None:
    assert guesses(f"# Page\n\n## Overview\n\n{text}\n{SECOND}") == []


def test_blocks_and_items_that_are_only_text_of_a_step_are_guesses_with_the_lines_of_both() -> None:
    page = (
        f"# Page\n\n## Tea\n\n{block('make test')}Look:\n\n- Open the lid.\n- The cup is hot.\n- Close the lid.\n\n"
        f"The cup:\n\n```yaml\ncup: 1\n```\n\nThen look:\n\n{block('ls')}"
        f"You should see:\n\n{block('ls cup')}```{{note}}\nTea is hot.\n```\n"
    )
    assert guesses(page) == [
        ("merged", "3 list items are only in the text of steps, lines 11 to 13", 11, "### 1.1 Tea"),
        ("quoted", "a code block is only in the text of the step", 17, "### 1.1 Tea"),
        ("quoted", "a command is only in the text of the step", 29, "### 1.2 Look"),
    ]


def test_guesses_with_the_same_words_are_one_line_of_text() -> None:
    found = tuple(Entry("fact", "maybe", number, number + 1) for number in range(1, 25))
    lines = list(as_text(Report("a.md", "a.runbook.md", 1, 2, 0, 1, (), (), found, ())))
    assert len(lines) == 2
    assert lines[1].startswith("  guess[fact] maybe (line 1, draft line 2; line 2, draft line 3; ")
    assert lines[1].endswith("; line 20, draft line 21; and 4 more)")


def test_the_report_has_each_key_that_the_draft_lacks() -> None:
    head = "# Note\ndescription: Tidy\nversion: 1.0\ntriggers:\n- Tidy\n- 'disk'\ntitle: Tidy 1"
    made = draft(f"---\n{head}\n---\n\n# Tidy 1.0 disk\n\n{block('ls')}")
    assert made.text.startswith("---\ndescription: Tidy\nrdc:\n")
    lost = [("# Note", 2), ("version: 1.0", 4), ("triggers: - Tidy - 'disk'", 5)]
    assert [(loss.message, loss.line) for loss in made.report.losses] == lost


def test_a_frontmatter_in_toml_is_in_the_draft_or_the_report() -> None:
    made = draft(f'+++\ntitle = "Tidy"\n[extra]\nweight = 2\n+++\n\n{block("ls")}')
    assert "\n# Tidy\n" in made.text
    assert [loss.message for loss in made.report.losses] == ['title = "Tidy" [extra]', "weight = 2"]


def test_each_guess_names_its_lines_in_the_page_and_in_the_draft() -> None:
    made = draft(f"{RUN}If it is old, look:\n\n{block('ls')}{block('rm a')}")
    lines = made.text.split("\n")
    assert [(one.kind, one.line) for one in made.report.guesses] == [("condition", 7), ("harm", 11)]
    assert "check this" in lines[made.report.guesses[0].draft_line - 1]
    assert lines[made.report.guesses[1].draft_line - 1].startswith("### ")
