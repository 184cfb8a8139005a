"""The structure of a page in its draft: cases that ask, gates that stop, and rollbacks in their places."""

from __future__ import annotations

import pytest

from tests.support.imported import RUN, block, draft

CUPS = "### 1. Cold tea\n\n" + block("ls a") + "### 2. Few resources\n\nWarm it.\n\n### 3. Old milk\n\n" + block("ls b")


@pytest.mark.parametrize("above", ["Common causes", "Recovery options (all)", "Known issues and fixes", "Scenarios"])
def test_each_numbered_case_asks_first(above: str) -> None:
    made = draft(f"# Shop\n\n## {above}\n\n{CUPS}")
    titles = [one for one in made.plain_titles if one.startswith("Does this apply")]
    assert titles == [f"Does this apply: {one}?" for one in ("Cold tea", "Few resources", "Old milk")]


@pytest.mark.parametrize("lead", ["Use when it is cold.", "Use this pot if it is cold.", "Choose it only when cold."])
def test_sections_that_say_when_to_use_them_ask_first(lead: str) -> None:
    made = draft("".join(f"## {one} pot\n\n- {lead}\n- Warm it.\n- Fill it.\n\n" for one in ("Blue", "Green")))
    assert made.plain_titles == [
        "Does this apply: Blue pot?",
        "Blue pot",
        "Does this apply: Green pot?",
        "Green pot",
    ]


@pytest.mark.parametrize(("first", "later"), [("First deploy", "Every later deploy"), ("First-time install", "Update")])
def test_the_first_and_later_times_are_two_tasks(first: str, later: str) -> None:
    made = draft(f"# Shop\n\n## Cups\n\n### {first}\n\n{block('ls a')}### {later}\n\n{block('ls b')}")
    assert made.guards("ls a") == [f"Do this: {first}?"]
    assert made.guards("ls b") == [f"Do this: {later}?"]


def test_a_numbered_rollback_keeps_its_place_and_asks_first() -> None:
    titles = ("Check the tea", "Rollback", "Write it down")
    made = draft("# Shop\n\n" + "".join(f"## {at}. {one}\n\n{block(f'ls {at}')}" for at, one in enumerate(titles, 1)))
    assert made.run == ["ls 1", "ls 2", "ls 3"]
    assert made.guards("ls 2") == ["Do this: Rollback?"]
    assert "## Rollback" not in made.text


def test_a_check_behind_a_rollback_comes_before_it() -> None:
    made = draft(f"{RUN}{block('ls a')}## Rollback\n\n{block('ls b')}## Verification\n\n{block('ls c')}")
    assert made.run == ["ls a", "ls c", "ls b"]


@pytest.mark.parametrize(
    "text",
    [
        "If there is no tea:\n\n   ```\n   No tea.\n   ```\n   Stop here.",
        "**Warm the pot**\n   - Look at it.\n   - If no pot is there, report and exit",
        "Warm the pot. Do not continue until it is hot.",
        "Warm the pot. If it fails, stop.",
        "Wait for the approval of Anna.",
        "Confirm with the user.",
    ],
)
def test_a_gate_stops_the_run_if_its_answer_is_no(text: str) -> None:
    made = draft(f"{RUN}1. {text}\n2. Fill it.\n")
    assert made.titles[0].endswith(": continue?")
    assert made.text.count("- NO: STOP") == 1


@pytest.mark.parametrize("text", ["If it is old, warm it.", "Stop the pot.", "Do not drop it."])
def test_a_text_without_a_gate_has_no_transitions(text: str) -> None:
    assert "- NO: STOP" not in draft(f"{RUN}1. {text}\n2. Fill it.\n3. Warm it.\n").text


@pytest.mark.parametrize(
    "text", ["For each cup, warm it.", "Warm the cups one at a time.", "Repeat this for all cups."]
)
def test_a_task_for_each_of_several_things_has_a_mark(text: str) -> None:
    kinds = [one.kind for one in draft(f"{RUN}{block('ls')}1. {text}\n2. Fill it.\n").report.guesses]
    assert kinds.count("loop") == 1


def test_an_introduction_is_no_step_and_the_report_names_its_tasks() -> None:
    made = draft(f"# Shop\n\nRun it with: `shop --all now`\n\n## Cups\n\n{block('ls a')}")
    assert made.plain_titles == ["Cups"]
    assert ("text", 1) in [(one.kind, one.line) for one in made.report.guesses]


def test_equal_headings_have_the_heading_above_them() -> None:
    parts = "".join(f"## {one}\n\n### Procedure\n\n1. Warm {one}.\n2. Fill it.\n\n" for one in ("Tea", "Milk"))
    made = draft(f"# Shop\n\n{parts}")
    assert "## 1. Tea: Procedure" in made.text
    assert "## 2. Milk: Procedure" in made.text


def test_each_list_below_a_heading_of_checks_is_a_step() -> None:
    below = "### Metrics\n\n- Tea per hour\n- Cups\n\n### Logs\n\n- Lines with `milk`\n\n"
    made = draft(f"# Shop\n\n## Immediate checks\n\n{below}## Cups\n\n{block('ls a')}")
    assert made.plain_titles == ["Metrics", "Logs", "Cups"]


def test_a_list_below_its_label_is_one_step_with_that_label() -> None:
    made = draft(f"{RUN}{block('ls a')}**Fix:**\n\n- Warm it.\n- Fill it.\n\nThen look:\n\n{block('ls b')}")
    assert made.plain_titles == ["Part", "Fix", "Look"]


def test_a_fact_of_an_ordered_list_is_text_of_the_item_above_it() -> None:
    made = draft(
        f"{RUN}1. Warm the pot.\n2. **The signal** has parts:\n   - Look at it.\n3. The pot is blue.\n4. Go.\n"
    )
    assert made.plain_titles == ["Warm the pot", "The signal", "Go"]
    assert made.text.index("The pot is blue") < made.text.index("Go")


def test_a_sample_between_two_tasks_of_an_item_belongs_to_the_first() -> None:
    page = (
        f"{RUN}1. Edit the file:\n   ```yaml\n   a: 1\n   ```\n   and\n   ```yaml\n   b: 2\n   ```\n   Then warm it:\n"
    )
    made = draft(f"{page}   ```bash\n   ls a\n   ```\n")
    assert made.text.index("b: 2") < made.text.index("### 1.2")
