"""The importer reads long pages and long lines in a time that grows with their length."""

import time
from collections.abc import Sequence

import pytest

from compiler.importers import page, sections, words
from compiler.importers.items import Items, Machine
from compiler.importers.markdown import Section
from tests.support.imported import refusal


def test_many_headings_side_by_side_are_compared_in_one_pass() -> None:
    found, begun = [Section(2, f"Add the cup {at}", at) for at in range(3000)], time.process_time()
    assert sections.are_unordered("Shop", found)
    assert time.process_time() - begun < 1.5


def test_a_list_is_compared_with_few_of_the_next_headings(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counted(heading: str, machine: Machine, later: Sequence[frozenset[str]]) -> Items:
        compared.append(len(later))
        return Items(heading, machine, later)

    monkeypatch.setattr(page, "Items", counted)
    steps = "1. Warm the pot slowly\n2. Brew the tea slowly\n3. Serve the guests slowly\n\n"
    refusal("# Tea\n\n" + "".join(f"## Part of the shop {at}\n\n{steps}" for at in range(300)))
    assert max(compared) == page.MOST_LATER


@pytest.mark.parametrize("word", ["if ", "to a ", "open ", "for example ", "[a](", "prior to "])
def test_one_long_line_is_read_in_a_short_time(word: str) -> None:
    text, begun = word * 10_000, time.process_time()
    words.condition(text)
    words.case_of_label(text, is_label=True)
    assert time.process_time() - begun < 1


def test_a_long_heading_of_marks_is_no_heading_of_facts() -> None:
    begun = time.process_time()
    assert not words.explains("- " * 20_000)
    assert not words.is_check("- " * 20_000)
    assert time.process_time() - begun < 1
