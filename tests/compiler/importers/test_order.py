"""Parts of a page side by side ask first, unless the page shows their order."""

import pytest

from compiler.importers import words
from tests.support.imported import RUN, block, draft, refusal


def tasks(*titles: str, above: str = "Shop") -> str:
    """Return a page with sections that each have a command."""
    return f"# {above}\n\n" + "".join(f"## {title}\n\n{block(f'ls {at}')}" for at, title in enumerate(titles))


def asked(text: str) -> list[str]:
    """Return the titles of the questions whether to do a part, without their marks."""
    titles = [one for one in draft(text).titles if one.startswith(("Do this: ", "Does this apply: "))]
    return [one.partition(": ")[2].rstrip("?") for one in titles]


@pytest.mark.parametrize(
    "titles",
    [
        ("Add a cup", "Delete a cup"),
        ("Rename a cup", "Drop a cup"),
        ("Cold tea", "Sour milk"),
        ("Update", "Create"),
        ("Deploy the tea", "Deploy the milk"),
        ("1. Normal brewing", "2. Emergency brewing"),
        ("Install the pot", "Uninstall the pot"),
    ],
)
def test_sections_without_an_order_ask_first(titles: tuple[str, ...]) -> None:
    assert asked(tasks(*titles)) == [title.lstrip("12. ") for title in titles]
    assert draft(tasks(*titles)).report.guesses[0].kind == "order"


@pytest.mark.parametrize(
    "titles",
    [
        ("Prerequisites", "Deploy the tea", "Verification", "Cleanup"),
        ("Preparation", "Cold tea", "Smoke test"),
        ("Diagnosis", "Mitigation", "Escalation"),
        ("1. Cold tea", "2. Sour milk"),
        ("First the tea", "Then the milk"),
        ("Check the tea", "Check the milk"),
    ],
)
def test_the_usual_parts_of_a_procedure_ask_nothing(titles: tuple[str, ...]) -> None:
    assert asked(tasks(*titles)) == []


@pytest.mark.parametrize("above", ["Make a pot of tea", "Steps", "Opening checklist"])
def test_the_parts_of_one_task_ask_nothing(above: str) -> None:
    assert asked(tasks("Cups", "Milk", above=above)) == []


def test_opposite_tasks_ask_first_even_below_steps() -> None:
    below = f"### Backup\n\n{block('ls a')}### Restore\n\n{block('ls b')}"
    assert asked(f"# Shop\n\n## Steps\n\n{below}") == ["Backup", "Restore"]


def test_a_page_of_ticked_tasks_is_a_report_of_the_past() -> None:
    ticked = "".join(f"- [{mark}] Warm cup {at}.\n" for at, mark in enumerate("xxx "))
    assert "a report of the past" in refusal(f"# Shop\n\n## Done\n\n{ticked}").message
    assert draft(f"# Shop\n\n## Done\n\n{ticked.replace('[x]', '[ ]')}").titles


@pytest.mark.parametrize("above", ["Common errors", "Known problems"])
def test_each_text_below_problems_is_a_step_that_asks_first(above: str) -> None:
    below = "### Cold tea\n\nIt was left. Warm it.\n\n### Sour milk\n\nA new bottle is the answer.\n\n"
    page = f"# Shop\n\n## {above}\n\n{below}### Lost cup\n\n{block('ls')}"
    assert asked(page) == ["Cold tea", "Sour milk", "Lost cup"]
    assert [one for one in draft(page).plain_titles if "this" not in one] == ["Cold tea", "Sour milk", "Lost cup"]


def test_a_task_beside_choices_asks_first() -> None:
    steps = "\n\n1. Warm the pot.\n2. Fill it.\n\n"
    titles = ("Hot tea", "Copy a cup", "Cold tea")
    page = "# Shop\n\n## Procedure\n\n" + "".join(f"### {one}{steps}" for one in titles)
    assert asked(page) == [*titles]


@pytest.mark.parametrize("above", ["Use the shop", "Open and close the shop"])
def test_the_parts_of_several_tasks_ask_first(above: str) -> None:
    assert asked(tasks("Cups", "Milk", above=above)) == ["Cups", "Milk"]


def test_a_heading_above_sections_that_each_ask_does_not_ask_again() -> None:
    below = "".join(f"### {one}\n\n- Warm it.\n\n{block('ls')}{block('df')}" for one in ("Cold tea", "Sour milk"))
    assert asked(f"# Shop\n\n## Cups\n\n{below}## Pots\n\n1. Warm it.\n2. Fill it.\n") == [
        "Cold tea",
        "Sour milk",
        "Pots",
    ]


def test_a_task_beside_a_text_with_instructions_asks_first() -> None:
    assert asked(f"# Shop\n\n## Cold tea\n\n{block('ls')}## Sour milk\n\nIt smells. Ask the owner.\n") == ["Cold tea"]


def test_a_question_before_a_task_skips_no_step_of_the_rollback() -> None:
    page = f"# Shop\n\n## Cups\n\n{block('ls')}### Rollback\n\n{block('ls -a')}## Pots\n\n{block('df')}"
    assert "### 1.1 Do this: Cups?\n\n- YES: CONTINUE\n- NO: GOTO 2\n" in draft(page).text


@pytest.mark.parametrize("title", ["Abort", "Emergency stop", "Fallback", "On failure"])
def test_a_section_beside_the_procedure_asks_first(title: str) -> None:
    assert asked(tasks("1. Warm the pot", "2. Fill it", title)) == [title]


@pytest.mark.parametrize(
    "route",
    [
        "| Code | Go to |\n|---|---|\n| 200 | Step 2 |\n| 404 | Step 3 |\n",
        "- **200** – warm. Go to **Step 2**.\n- **404** – cold. Skip to step 3.\n",
    ],
)
def test_steps_to_which_a_result_leads_ask_first(route: str) -> None:
    titles = ("Step 1: Look", "Step 2: Pour", "Step 3: Warm", "Step 4: Serve")
    page = tasks(*titles).replace("ls 0\n```\n", f"ls 0\n```\n\n{route}")
    assert asked(page) == ["Step 2: Pour", "Step 3: Warm"]


def test_a_table_of_the_steps_leads_to_none_of_them() -> None:
    titles = ("Step 1: Look", "Step 2: Pour", "Step 3: Warm")
    rows = "".join(f"| Step {at} | Look |\n" for at in (1, 2, 3))
    assert asked(tasks(*titles).replace("## Step 1", f"| Step | Task |\n|---|---|\n{rows}\n## Step 1")) == []


@pytest.mark.parametrize("text", ["Do not open it", "Don't open it", "Never open it", "Please do not open it"])
def test_a_text_that_forbids_is_no_instruction(text: str) -> None:
    assert (words.imperative(text), words.demands(text), words.instruction(text)) == ("", False, "")
    assert words.imperative("Do the cups") == "Do the cups"


@pytest.mark.parametrize("label", ["Warning", "Important", "Caution", "Tip", "Info", "Danger", "Attention: heat"])
def test_a_bold_label_of_a_notice_is_no_case(label: str) -> None:
    page = f"{RUN}**{label}:**\n\n1. Warm it.\n2. Fill it.\n\n**For a full pot:**\n\n1. Warm it.\n2. Fill it.\n"
    assert label not in asked(page)


def test_an_item_that_forbids_counts_neither_for_nor_against_a_list_of_instructions() -> None:
    page = f"{RUN}{block('ls')}## Cups\n\n- Warm it.\n- Fill it.\n- Do not open it.\n- Never drop it.\n"
    made = draft(page + "\n## Pots\n\n1. Warm it.\n2. Do not open it.\n")
    assert made.plain_titles == ["Part", "Cups", "Pots"]
    assert "fact" not in [one.kind for one in made.report.guesses]


def test_a_lettered_step_that_a_condition_names_asks_first() -> None:
    page = tasks("1. Look", "2a. Check", "2b. Verify")
    routed = page.replace("ls 0\n```\n", "ls 0\n```\n\nIf it is cold, see Step 2b.\n")
    assert (asked(page), asked(routed)) == ([], ["2b. Verify"])


def test_bold_texts_of_cases_ask_first() -> None:
    items = "1. Warm it.\n2. Fill it.\n"
    page = f"{RUN}**For a cold pot:**\n\n{items}\n**For a full pot:**\n\n{items}\n**For no pot:**\nFind one.\n"
    made = draft(page)
    assert asked(page) == ["For a cold pot", "For a full pot"]
    assert made.plain_titles[-1] == "For no pot"


@pytest.mark.parametrize("labels", [("1. Look", "2. Pour"), ("Warm the pot", "Fill it"), ("a) Tea", "b) Milk")])
def test_bold_texts_in_an_order_ask_nothing(labels: tuple[str, ...]) -> None:
    assert asked(RUN + "".join(f"**{one}**\n\n{block(f'ls {one[0]}')}" for one in labels)) == []


def test_a_condition_above_the_last_text_holds_for_the_list() -> None:
    page = f"{RUN}{block('ls')}If the milk is sour, go on by hand:\n\n> Below, it is.\n\n1. Call Anna.\n2. Buy milk.\n"
    assert asked(page) == ["the milk is sour"]
    failed = "If it fails, go on by hand:\n\n> You are in a.\n\n1. Stop it.\n2. Start it.\n"
    assert asked(RUN + block("true") + failed) == ["it fails"]


@pytest.mark.parametrize("lead", ["If the tea is cold:", "Otherwise:", "Alternatively, warm it:"])
def test_a_shown_command_with_a_condition_asks_first(lead: str) -> None:
    assert len(draft(f"{RUN}{block('ls')}{lead}\n\n{block('cat <cup>', '')}").guards("cat")) == 1


def test_a_text_above_a_bold_step_is_about_the_step_above_it() -> None:
    page = f"{RUN}**Step 1 — Pour**\n\n{block('ls')}If it fails, ask Anna.\n\n**Step 2 — Warm**\n\n{block('df')}"
    made = draft(page)
    assert made.guards("df") == []
    assert made.text.index("If it fails, ask Anna") < made.text.index("Step 2")


def test_a_list_of_common_cases_is_one_question() -> None:
    page = f"{RUN}{block('ls')}Common problems:\n\n1. **Cold tea**: warm it.\n2. **Sour milk**: buy milk.\n"
    assert draft(page).plain_titles[-1] == "Common problems"


def test_blocks_below_examples_are_text() -> None:
    samples = "".join(f"**Example — add a {one}:**\n\n```yaml\nlist: {one}\n```\n\n" for one in ("cup", "pot"))
    page = f"# Shop\n\n## Edit the list\n\nAdd the cup.\n\n{samples}## Then\n\n{block('ls')}"
    assert draft(page).plain_titles == ["Edit the list", "Then"]


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (f"# 2026-01-02 Cold tea\n\n## What\n\nIt was cold.\n\n{block('ls')}{block('df')}", "a report of the past"),
        (f"# Tea\n\nI looked. We tried it. Then I asked Anna. We found it.\n\n{block('ls')}", "a report of the past"),
        ("# Tea\n\n## Kinds\n\n1. Open tea.\n2. Herbal tea.\n3. Black tea.\n", "facts"),
        (f"# Tea\n\n## Kinds\n\nHot.\n\n## Cups\n\nBlue.\n\n## Shop\n\n{block('ls')}", "most of its sections are text"),
        (
            "# Troubleshooting\n\n## Cups\n\n1. Warm the cup.\n2. Fill it.\n3. Read it.\n",
            "most of its sections are text",
        ),
    ],
)
def test_a_page_without_instructions_is_refused(page: str, reason: str) -> None:
    assert reason in refusal(page).message


@pytest.mark.parametrize("title", ["Constants", "Trigger conditions", "Companion pages", "Prevention"])
def test_a_heading_of_values_or_links_is_text(title: str) -> None:
    assert draft(f"{RUN}{block('ls')}## {title}\n\n1. Read it.\n2. Copy it.\n").plain_titles == ["Part"]


def test_a_numbered_text_is_a_line_of_the_report() -> None:
    made = draft(f"# Shop\n\n## 1. Tea\n\nIt is hot.\n\n## 2. Then\n\n{block('ls')}")
    assert [one.message for one in made.report.guesses] == ["the section is only text: Tea"]


def test_a_text_between_the_items_of_a_list_belongs_to_the_item_above_it() -> None:
    made = draft("# Page\n\n## Bake\n\n1. Add tea.\n\nIf it is dry, add milk.\n\n2. Start it.\n\n3. Stop it.\n")
    assert [one.partition(":")[0] for one in made.titles] == [
        "Add tea",
        "Does this apply",
        "Add milk",
        "Start it",
        "Stop it",
    ]
    assert "- NO: GOTO 1.4\n" in made.text


def test_a_sentence_above_a_list_is_no_condition_for_it() -> None:
    made = draft("# Page\n\n## Bake\n\nIf you have no pot, buy one.\n\nThen do this:\n\n1. Add tea.\n2. Start it.\n")
    assert "Does this apply" not in made.text


def test_a_text_above_a_label_belongs_to_the_command_above_it() -> None:
    made = draft(f"{RUN}{block('true')}When asked, answer y.\n\n**Tea pot**:\n\n{block('df a')}")
    assert "Does this apply" not in made.text
    assert made.text.index("When asked") < made.text.index("\ntrue\n")


def test_a_problem_beside_another_one_asks() -> None:
    made = draft(f"# Shop\n\n## Missing tea\n\n{block('df a')}## Milk pot empty\n\n1. Open it.\n2. Start it.\n")
    assert "Do this: Milk pot empty?" in made.titles


def test_kinds_of_releases_ask() -> None:
    made = draft(f"# Shop\n\n## Major/minor releases\n\n{block('df a')}## Patch releases\n\n{block('df b')}")
    assert made.titles[0] == "Does this apply: Major/minor releases?"
    assert "Does this apply: Patch releases?" in made.titles


def test_an_input_for_another_place_has_a_mark() -> None:
    copy = f"## Copy\n\nSave it:\n\n{block('shop dump <db>')}{{}}:\n\n{block('shop list <db>')}"
    assert "DB has the same value here" in draft(f"# Shop\n\n{copy.format('Look, in the copy to another shop')}").text
    assert "DB has the same value here" not in draft(f"# Shop\n\n{copy.format('Look in the shop')}").text


def test_a_choice_that_is_only_text_asks_like_the_one_beside_it() -> None:
    made = draft(
        f"# Shop\n\n## Using teapots\n\n{block('df a')}## Using cups\n\nThe cup is in the green shop. Open it there.\n"
    )
    assert made.titles[-2:] == ["Does this apply: Using cups?", "Using cups"]


def cases(*texts: str) -> str:
    """Return a page with two cases, with the texts and a command each below the last one."""
    below = "".join(f"{one}\n\n{block(f'df {at}')}" for at, one in enumerate(texts))
    return f"{RUN}{block('true')}**For tea:**\n\n{block('ls a')}**For milk:**\n\n{block('ls b')}{below}"


@pytest.mark.parametrize("text", ["Now pour:", "Then pour:", "Finally, look:", "After that, pour:", "**Note:**"])
def test_a_text_that_moves_on_ends_the_last_case(text: str) -> None:
    made = draft(cases(text, "Finally, look at it:"))
    assert made.guards("ls b") == ["Does this apply: For milk?"]
    assert made.guards("df 0") + made.guards("df 1") == []


def test_the_last_case_goes_on_as_the_others_do() -> None:
    page = cases("Then pour:").replace("ls a\n```\n", f"ls a\n```\n\nThen warm it:\n\n{block('du a')}")
    assert draft(page).guards("df 0") == ["Does this apply: For milk?"]


def test_a_case_asks_once() -> None:
    made = draft(cases("Look at it:"))
    assert asked(cases("Look at it:")) == ["For tea", "For milk"]
    assert made.guards("df 0") == ["Does this apply: For milk?"]


def test_a_text_below_tabs_is_no_part_of_the_last_tab() -> None:
    tabs = "".join(f'=== "{one}"\n\n    ```bash\n    ls {one}\n    ```\n\n' for one in ("Tea", "Milk"))
    assert draft(f"{RUN}{tabs}After that, copy it:\n\n{block('df a')}").guards("df a") == []
    inside = f'{RUN}=== "Tea"\n\n{block("df b")}=== "Milk"\n\n{block("df a")}'
    assert draft(inside).guards("df a") == ["Does this apply: Milk?"]


@pytest.mark.parametrize("text", ["Finally, look:", "Now pour:", "Next, pour:"])
def test_a_text_that_moves_on_ends_the_condition_that_opens_a_section(text: str) -> None:
    made = draft(f"# Page\n\n## Part\n\nIf it is old, copy it:\n\n{block('cp a b')}{text}\n\n{block('df a')}")
    assert made.guards("df a") == []


def test_a_text_about_what_comes_later_is_no_older_version() -> None:
    text = f"{RUN}{block('true')}Prior to {{}} newer versions, look at it:\n\n{block('df a')}"
    assert draft(text.format("upgrading to")).guards("df a") == []
    assert len(draft(text.format("the")).guards("df a")) == 1


def test_a_text_that_continues_otherwise_is_no_condition() -> None:
    text = f"{RUN}{block('true')}{{}}\n\n{block('df a')}"
    assert draft(text.format("Otherwise continue with:")).guards("df a") == []
    assert draft(text.format("If it is old, look. Otherwise continue.")).guards("df a") == [
        "Does this apply: it is old?"
    ]
    assert len(draft(text.format("Otherwise look:")).guards("df a")) == 1


@pytest.mark.parametrize("labels", [("Staging cluster", "Production cluster"), ("Staging", "Production")])
def test_a_label_for_staging_is_a_case(labels: tuple[str, ...]) -> None:
    assert asked(RUN + "".join(f"**{one}:**\n\n{block(f'ls {one}')}" for one in labels)) == [*labels]


def test_a_bold_question_of_an_item_asks_whether_it_is_done() -> None:
    page = f"{RUN}{block('true')}1. **Which cup is it?** Look at it.\n2. Pour it.\n"
    assert draft(page).titles[1:] == ["Which cup is it: done?", "Pour it: done?"]
