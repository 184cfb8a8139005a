"""Which sections, lists and texts of a page are steps, which are text, and which pages are refused."""

import pytest

from tests.support.imported import RUN, block, draft, refusal


@pytest.mark.parametrize(
    "title", ["Best practices", "Core capabilities", "Usage examples", "Tips for baking", "8. Rules"]
)
def test_a_section_of_facts_and_all_below_it_is_text(title: str) -> None:
    page = f"# Page\n\n## Bake\n\n{block('true')}## {title}\n\n1. Warm the pot.\n\n### Cups\n\n{block('rm -r cups')}"
    made = draft(page)
    assert (made.plain_titles, made.run) == (["Bake"], ["true"])
    assert list(made.runbook.prose) == [title.removeprefix("8. "), "Cups"]
    only = [f"the section is only text: {one}" for one in (title.removeprefix("8. "), "Cups")]
    assert [one.message for one in made.report.guesses] == only


def test_troubleshooting_below_a_procedure_is_text() -> None:
    below = f"## Troubleshooting\n\n{block('df -h')}"
    made = draft(f"# Page\n\n## Bake\n\n{block('true')}{below}## Last\n\n{block('uptime')}")
    assert made.run == ["true", "uptime"]
    assert draft(f"# Page\n\n{below}").plain_titles == ["Troubleshooting"]


@pytest.mark.parametrize("title", ["Add rules for the cups", "Step 3: Examples", "Review the guidelines"])
def test_a_heading_that_asks_for_something_is_no_section_of_facts(title: str) -> None:
    assert draft(f"# Page\n\n## {title}\n\n{block('true')}").run == ["true"]


def test_steps_below_a_heading_of_facts_stay_steps() -> None:
    made = draft(f"# Page\n\n## Guidelines\n\n### Step 1: Look\n\n{block('true')}### Step 2: Tidy\n\n{block('ls')}")
    assert made.run == ["true", "ls"]


def test_a_page_whose_sections_are_mostly_text_is_refused() -> None:
    texts = "".join(f"## Part {n}\n\nCups are blue.\n\n" for n in range(8))
    page = f"# Cups\n\n{texts}## Cup\n\n{block('true')}"
    assert "most of its sections are text" in refusal(page).message
    assert draft(page.replace("## Cup\n", "## Workflow\n")).run == ["true"]
    assert draft(page.replace("## Cup\n", "## 9. Wash the cup\n")).run == ["true"]


def test_a_numbered_heading_among_instructions_is_a_step() -> None:
    page = "# Page\n\n## 1. Find the cup\n\n- Look.\n\n## 2. Colors\n\nIf no name is given, use blue.\n\n"
    made = draft(f"{page}## 3. Clean it\n\n{block('true')}")
    assert made.plain_titles == ["Find the cup", "Colors", "Clean it"]


def test_a_numbered_chapter_of_facts_is_no_step() -> None:
    page = "# Page\n\n## 1. Colors\n\nCups are blue. See the list.\n\n## 2. Sizes\n\nCups are big.\n\n"
    assert draft(f"{page}## 3. Washing\n\n{block('true')}").plain_titles == ["Washing"]


def test_a_step_with_text_above_its_children_is_a_step() -> None:
    page = f"# Page\n\n## Step 1: Gather\n\nThe list is long. Read it.\n\n### Cups\n\n{block('true')}{block('ls')}"
    assert draft(page).plain_titles[:2] == ["Step 1: Gather", "Cups"]


@pytest.mark.parametrize(
    ("item", "is_step"),
    [("You can open the page now.", True), ("All cups must be clean.", True), ("The cups are clean now.", False)],
)
def test_an_item_that_asks_for_something_is_a_step(item: str, *, is_step: bool) -> None:
    made = draft(f"{RUN}1. Wash the cups.\n2. Run it:\n\n   ```bash\n   ls\n   ```\n\n3. {item}\n4. Close the door.\n")
    assert len(made.plain_titles) == 3 + is_step


def test_an_item_is_not_about_the_command_of_the_item_above_it() -> None:
    items = "1. Look:\n\n   ```bash\n   ls\n   ```\n\n2. This removes it:\n\n   ```bash\n   cp a b\n   ```\n"
    made = draft(f"{RUN}{items}".replace("removes it:", "removes the link."))
    assert made.text.index("bash\nls") < made.text.index("This removes")


@pytest.mark.parametrize(
    "text", ["Edit `cup.yaml` and set the size.", "Open the page and click Save.", "Add the cup to `list.json`."]
)
def test_what_a_person_does_before_a_command_is_a_step(text: str) -> None:
    for between in ("\n\n", " "):
        made = draft(f"{RUN}{block('true')}{text}{between}Then run the oven:\n\n{block('ls')}")
        assert made.plain_titles == ["Part", text.replace("`", "").rstrip("."), "Run the oven"]
        assert made.run == ["true", "ls"]


@pytest.mark.parametrize("text", ["You can edit `cup.yaml`.", "Then see the list.", "Cups are blue.", "- Open it."])
def test_other_text_before_and_after_a_command_is_no_step(text: str) -> None:
    assert len(draft(f"{RUN}{block('true')}{text}\n\nThen run the oven:\n\n{block('ls')}").plain_titles) == 2
    assert len(draft(f"{RUN}{block('true')}{text}\n").plain_titles) == 1


@pytest.mark.parametrize("text", ["Visit the page at localhost.", "Now restart the oven.", "Next, install the hub."])
def test_what_a_person_does_after_a_command_is_a_step(text: str) -> None:
    made = draft(f"{RUN}{block('true')}{text}\n")
    assert made.plain_titles[0] == "Part"
    assert made.plain_titles[1].lower() in text.lower()


def test_a_series_of_blocks_without_a_tag_is_a_series_of_steps() -> None:
    texts = ("To bake, first build it:", "Second, heat it:", "Lastly, look at it:")
    made = draft("# Page\n\n" + "".join(f"{text}\n\n    oven {n}\n\n" for n, text in enumerate(texts)))
    assert made.shown == ["oven 0", "oven 1", "oven 2"]


def test_a_list_for_one_case_asks_first() -> None:
    lists = "For blue cups:\n\n1. Open it.\n2. Close it.\n\nIf a cup is red:\n\n1. Take it.\n2. Move it.\n"
    made = draft(f"{RUN}{lists}")
    assert [one for one in made.plain_titles if "apply" in one] == [
        "Does this apply: For blue cups?",
        "Does this apply: a cup is red?",
    ]
    assert made.text.count("- NO: ") == 2


def test_an_item_that_explains_a_command_is_text() -> None:
    made = draft(f"{RUN}{block('true')}- `rm -f cup` removes the old cup, so that you can run it again.\n")
    assert (made.plain_titles, made.shown) == (["Part"], [])


def test_edits_of_files_are_a_procedure() -> None:
    first = "Append this block to the Dockerfile:\n\n```dockerfile\nRUN x\n```\n\n"
    assert draft(f"# Page\n\n{first}Change the cup as follows:\n\n```yaml\na: 1\n```\n").plain_titles == [
        "Append this block to the Dockerfile",
        "Change the cup as follows",
    ]


@pytest.mark.parametrize("heading", ["Mitigation", "Diagnosis"])
def test_what_to_do_about_an_alert_is_enough_for_a_procedure(heading: str) -> None:
    page = f"# Page\n\n## Meaning\n\nCups.\n\n## {heading}\n\n### Cups\n\nIf a cup is broken, check the door.\n"
    assert draft(page).plain_titles == ["Cups"]
    refusal(page.replace(heading, "Other"))


@pytest.mark.parametrize(
    "items",
    [
        "1. When a user logs in, the cup is set; see the list.\n2. The page shows it; open it.",
        "1. Blue tea is for the morning; see the list.\n2. Old cups have a crack; see it.",
    ],
)
def test_a_list_of_facts_with_conditions_and_subjects_is_text(items: str) -> None:
    assert draft(f"{RUN}{block('true')}## Flow\n\n{items}\n").plain_titles == ["Part"]


def test_the_report_names_what_may_be_no_instruction() -> None:
    made = draft(f"{RUN}{block('true')}## Order\n\n1. Open the door.\n2. Cup detection.\n")
    assert [(one.kind, one.line) for one in made.report.guesses] == [("fact", 12)]


def test_the_text_of_an_item_with_a_condition_stays_above_its_block() -> None:
    made = draft(
        f"{RUN}{block('true')}1. Choose a cup. For example, this one:\n\n       tea: 1\n\n2. Close the door.\n"
    )
    assert made.text.index("Choose a cup") < made.text.index("tea: 1")


def test_a_step_with_a_word_before_its_number_is_a_step() -> None:
    made = draft(f"# Page\n\n## Local Step 1: Look\n\nSame as above.\n\n## Local Step 2: Tidy\n\n{block('true')}")
    assert made.plain_titles == ["Local Step 1: Look", "Local Step 2: Tidy"]


def test_a_name_that_starts_like_a_verb_is_no_instruction() -> None:
    items = "1. `wait_for_tea` is on now.\n2. Old cups are blue.\n"
    assert draft(f"{RUN}{block('true')}## New\n\n{items}").plain_titles == ["Part"]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("When baking for guests:", "baking for guests"),
        ("If no cup (blue, red) is left, do this:", "no cup (blue, red) is left"),
    ],
)
def test_a_list_for_a_case_asks_with_the_whole_case(text: str, question: str) -> None:
    made = draft(f"{RUN}{text}\n\n1. Open it.\n2. Close it.\n")
    assert [one for one in made.plain_titles if "apply" in one] == [f"Does this apply: {question}?"]


def test_what_a_person_will_see_is_no_task() -> None:
    assert draft(f"{RUN}{block('true')}Now you will see that the cup is full.\n").plain_titles == ["Part"]


def test_a_list_of_reasons_is_text() -> None:
    items = "1. **Start** with tea.\n2. **Use** of milk.\n"
    assert draft(f"{RUN}{block('true')}It has two advantages:\n\n{items}").plain_titles == ["Part"]


def test_options_with_shown_commands_have_no_order() -> None:
    options = "".join(f"## Cup size {n}\n\nSome text.\n\n{block(f'bake --size [{n}]')}" for n in range(3))
    assert "for reference" in refusal(f"# Baking options\n\n{options}").message


def test_a_question_about_harm_names_the_command_that_does_it() -> None:
    made = draft(f"{RUN}{block('true')}{block('gh run list')}{block('git fetch' + chr(10) + 'gh run rerun 1')}")
    assert made.plain_titles[2:] == ["Do this now: run gh run rerun?", "Run git fetch"]


def test_a_condition_without_a_comma_ends_above_what_to_do() -> None:
    made = draft(f"{RUN}{block('true')}If you have a cup you can also run this:\n\n{block('uptime')}")
    assert "Does this apply: you have a cup?" in made.plain_titles


@pytest.mark.parametrize("title", ["Verification", "Post-order validation", "Opening checklist (each shop)"])
def test_facts_to_check_are_one_question(title: str) -> None:
    made = draft(f"# Page\n\n## Bake\n\n{block('true')}## {title}\n\n- The door is open.\n- Tea is there.\n")
    assert made.titles == ["Bake", title]
    assert made.report.questions == 1


@pytest.mark.parametrize("title", ["Preconditions", "Evidence requirements", "Common failure modes"])
def test_facts_around_a_procedure_are_text(title: str) -> None:
    made = draft(f"# Page\n\n## Bake\n\n{block('true')}## {title}\n\n- Read access.\n- Review of the log.\n")
    assert (made.titles, made.runbook.prose) == (["Bake"], (title,))


def test_text_that_asks_to_click_twice_is_a_step() -> None:
    text = "The console has a list. Navigate to the orders. Then, click on New order."
    made = draft(f"# Page\n\n## Bake\n\n{block('true')}## The order\n\n{text}\n")
    assert made.titles == ["Bake", "The order"]


def test_numbered_steps_below_an_instruction_that_ends_like_facts_are_steps() -> None:
    made = draft("# Page\n\n## Check oven constraints\n\n1. Read the label:\n\n   ```bash\n   ls a\n   ```\n")
    assert made.run == ["ls a"]
    assert draft(f"# Page\n\n## Bake\n\n{block('true')}## Check rules\n\n{block('ls a')}").run == ["true"]


def test_what_a_program_does_is_text_even_in_steps() -> None:
    below = "### Step 1: Read the orders\n\nIt reads.\n\n### Step 2: Copy them\n\nIt copies.\n\n"
    made = draft(f"# Page\n\n## Bake\n\n{block('true')}## What it does\n\n{below}")
    assert made.titles == ["Bake"]


@pytest.mark.parametrize("title", ["What the model can do", "Modes explained", "Problem statement"])
def test_a_section_that_explains_is_text(title: str) -> None:
    made = draft(f"# Page\n\n## Bake\n\n{block('true')}## {title}\n\n- Read the orders\n- Copy them\n")
    assert made.titles == ["Bake"]


def test_nested_bullets_with_instructions_are_a_step() -> None:
    made = draft(
        f"{RUN}{block('true')}## Tea\n\n- Pot in scope: blue\n- Open it\n  - the left one\n- Fill it\n- Milk: cold\n"
    )
    assert made.plain_titles[-1] == "Tea"


def test_commands_deeper_than_the_text_of_an_item_are_one_shown_block() -> None:
    made = draft(f"{RUN}{block('true')}3) Add it:\n\n    cd tea\n    teapot -q a > b\n    git add .\n\n4) Start it.\n")
    assert made.shown == ["cd tea\nteapot -q a > b\ngit add ."]


def test_bullets_that_are_only_commands_are_shown_blocks() -> None:
    made = draft(f"{RUN}{block('true')}## Open\n\n- teactl open -b /tea/pot\n- teactl fill -b /tea/b\n")
    assert made.shown == ["teactl open -b /tea/pot", "teactl fill -b /tea/b"]
    assert draft(f"{RUN}{block('true')}- use the -b pot\n- teactl fill -b x\n").shown == []


def test_a_page_with_one_example_is_refused() -> None:
    page = f"# Shop\n\n## Send tea\n\nThe door is open. Here's a simple tea example:\n\n{block('df a')}It is green.\n"
    assert "examples" in refusal(page).message
    assert draft(page.replace("Send tea", "1. Send tea")).run == ["df a"]


def test_a_query_or_a_line_below_an_instruction_is_a_step() -> None:
    query = block("SELECT fill_pot();", "postgresql")
    line = "- Promote the pot\n\n  ```\n  teactl promote -D /tea\n  ```\n\n"
    made = draft(f"{RUN}{block('true')}{line}- Promote it by:\n\n{query}")
    assert made.shown == ["teactl promote -D /tea", "SELECT fill_pot();"]
    assert "> ```" in draft(f"{RUN}{block('true')}The pot is full:\n\n{query}").text
