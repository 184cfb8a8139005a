"""The structure of a page in its draft: cases that ask, gates that stop, and rollbacks in their places."""

from textwrap import indent

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
    assert made.plain_titles == ["Does this apply: Blue pot?", "Blue pot", "Does this apply: Green pot?", "Green pot"]


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


@pytest.mark.parametrize("rest", ["\n   - Yes: go to step 3.\n   - No: continue.", " If not, continue.", ""])
def test_a_question_whose_no_goes_on_asks_whether_it_is_done(rest: str) -> None:
    made = draft(f"{RUN}1. Is the pot empty?{rest}\n2. Fill it.\n3. Warm it.\n")
    assert made.titles[0] == ("Is the pot empty: done?" if rest else "Is the pot empty?")


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


@pytest.mark.parametrize("item", ["Never stop it.", "The pot is blue."])
def test_an_item_without_a_task_keeps_its_paragraphs(item: str) -> None:
    made = draft(f"{RUN}1. Warm it.\n2. {item}\n\n   Call Jane:\n\n   | a | b |\n   | - | - |\n   | c | d |\n3. Go.\n")
    assert made.report.losses == ()


def test_a_sample_between_two_tasks_of_an_item_belongs_to_the_first() -> None:
    page = (
        f"{RUN}1. Edit the file:\n   ```yaml\n   a: 1\n   ```\n   and\n   ```yaml\n   b: 2\n   ```\n   Then warm it:\n"
    )
    made = draft(f"{page}   ```bash\n   ls a\n   ```\n")
    assert made.text.index("b: 2") < made.text.index("### 1.2")


@pytest.mark.parametrize(
    ("page", "titles"),
    [
        # each remedy of an unordered list asks, also the first; a list of steps and a list of checks ask nothing
        ("## Mitigation\n\n- Warm it.\n- Fill it.\n", ["Do this: Warm it?", "Do this: Fill it?"]),
        ("## Mitigation\n\n1. Warm it.\n2. Fill it.\n", ["Warm it: done?", "Fill it: done?"]),
        ("## Mitigation\n\n- Check it.\n- Look at it.\n", ["Mitigation"]),
        (
            "## Resolution\n\n- **Cold tea:**\n  ```bash\n  ls a\n  ```\n- **Old milk:**\n  ```bash\n  ls b\n  ```\n",
            ["Do this: Cold tea?", "Resolution", "Do this: Old milk?", "Run ls b"],
        ),
        # a condition is a question of its own
        ("## Steps\n\n1. If it is old → warm it.\n", ["Does this apply: it is old?", "Warm it"]),
        ("## Steps\n\n1. If it is old, see step 2.\n2. Go.\n", ["If it is old, see step 2: done?", "Go: done?"]),
        # what forbids something is text, and so is background
        ("## Steps\n\n1. Warm it.\n2. Never drop it.\n3. Fill it.\n", ["Warm it", "Fill it: done?"]),
        ("## Do not drop it\n\nWarm it.\n\n", []),
        ("## How tea is made\n\n1. Warm it.\n2. Fill it.\n", []),
        ("## Blast radius\n\n1. Warm it.\n2. Fill it.\n", []),
        (f"## Debug commands\n\n{block('ls a')}", []),
        # facts of an ordered list of checks
        ("## Verification\n\n1. Tea is hot.\n2. Milk is there.\n", ["Tea is hot: done?", "Milk is there: done?"]),
        # a manual alternative
        (f"## Bake\n\nTo warm it by hand:\n\n{block('ls a')}", ["Does this apply: To warm it by hand?", "Bake"]),
        # the last sentence says what the command is for, not the condition of another sentence
        (f"## Bake\n\nIf it is old, Anna sees it. To clear it:\n\n{block('ls a')}", ["Bake"]),
    ],
)
def test_the_steps_of_a_section_are(page: str, titles: list[str]) -> None:
    assert draft(f"{RUN}{block('true')}{page}").titles[1:] == titles


def test_a_cause_with_a_command_asks_even_if_its_heading_is_for_reference() -> None:
    causes = f"### Cold tea\n\n{block('ls a')}### Milk constraints\n\n{block('ls b')}"
    assert draft(f"# Shop\n\n## Common causes\n\n{causes}").guards("ls b") == ["Does this apply: Milk constraints?"]


def test_a_condition_of_an_item_ends_at_the_next_item() -> None:
    page = "1. If it is old: `ls -l a`.\n2. If it is new: check it:\n\n   ```bash\n   ls -l b\n   ```\n"
    made = draft(f"{RUN}{block('true')}{page}")
    assert "- NO: GOTO 1.4\n" in made.text
    assert made.titles[3] == "Does this apply: it is new?"


@pytest.mark.parametrize(
    ("case", "other"),
    [
        *(("If it is old:", "Otherwise:"), ("On Debian:", "On Fedora:"), ("For tests:", "For the shop:")),
        *(("Run either", "or"), ("If it is old:", "Otherwise, run `ls b`.")),
    ],
)
def test_a_case_of_an_item_ends_at_the_next_case(case: str, other: str) -> None:
    blocks = [block(f"ls {name}").replace("\n", "\n   ") for name in "ab"]
    made = draft(f"{RUN}1. {case}\n\n   {blocks[0]}{other}\n\n   {blocks[1]}\n2. Look.\n")
    assert (len(made.guards("ls a")), len(made.guards("ls b"))) == (1, 1)
    made = draft(f"{RUN}1. {case}\n\n   {blocks[0]}Otherwise, call Jane.\n\n2. Look.\n")
    assert made.titles[2] == "Otherwise, call Jane: done?"
    assert "- NO: GOTO 1.3\n" in made.text


@pytest.mark.parametrize("inner", ["If it is empty:", "When asked, look. Then:", "For a new pot, also run:", "On Mac:"])
@pytest.mark.parametrize("last", ["Send it:", "Or, if it is empty:", "- Send it:", "Otherwise:"])
def test_a_condition_in_a_case_of_an_item_ends_it_only_if_it_is_another_way(inner: str, last: str) -> None:
    texts = ("On Linux:", inner, "Look:", last)
    parts = [f"{one}\n\n{indent(block(f'ls {one}'), '  ' * (one[0] == '-'))}" for one in texts]
    made = draft(f"{RUN}1. {indent(''.join(parts), '   ').lstrip()}2. Look.\n")
    whole = [made.guards(f"ls {one}")[:1] == ["Does this apply: On Linux?"] for one in texts]
    assert whole == [True, *[inner != "On Mac:"] * 3]


def test_the_introduction_of_a_page_is_above_its_first_step() -> None:
    made = draft(f"# Shop\n\nTea is hot.\n\nUse the pot:\n\n{block('ls a')}")
    assert made.text.index("Tea is hot") < made.text.index("## 1.")


def test_a_skill_keeps_its_name_and_description() -> None:
    made = draft(f"---\nname: tidy-up\ndescription: 'Tidy: the disk'\nlicense: MIT\n---\n\n# Tidy\n\n{block('ls')}")
    assert made.text.startswith('---\nname: tidy-up\ndescription: "Tidy: the disk"\nrdc:\n')
    assert [(loss.kind, loss.message, loss.line) for loss in made.report.losses] == [("frontmatter", "license: MIT", 4)]


@pytest.mark.parametrize(
    "written", [">\n  Tidy\n\n  the: disk", "|-\n  Tidy\n  the: disk", "Tidy\n  the: disk", '"Tidy\n  the: disk"']
)
def test_a_description_of_several_lines_is_whole(written: str) -> None:
    made = draft(f"---\nname: tidy-up\ndescription: {written}\n---\n\n# Tidy\n\n{block('ls')}")
    assert made.text.startswith('---\nname: tidy-up\ndescription: "Tidy the: disk"\nrdc:\n')
    assert made.report.losses == ()


@pytest.mark.parametrize("between", ["", block("true")])
def test_more_sections_than_a_runbook_can_name_become_text(between: str) -> None:
    page = "# Page\n\n" + "".join(
        f"## About {n}\n\nText {n}.\n\n{between and f'## Part {n}'}\n\n{between}" for n in range(120)
    )
    made = draft(f"{page}## Steps\n\n{block('ls')}")
    assert len(made.runbook.prose) == 100
    assert "**About 119**\n\nText 119." in made.text


def test_a_rollback_is_a_step_that_nothing_leads_to() -> None:
    made = draft(f"{RUN}{block('ls')}## Rollback\n\n{block('cp a b')}")
    assert [step.id for step in made.runbook.steps] == [1, "Rollback"]
    assert "<!-- rdc: check this: no step leads here yet (page line 9) -->" in made.text
    assert made.text.endswith("- PASS: STOP\n")
    made = draft(f"{RUN}{block('ls')}## Rollback\n\nCopy it, but only after ten:\n\n{block('ls b')}")
    assert "Copy it, but only after ten" in made.text


def test_a_rollback_keeps_the_headings_and_texts_below_it() -> None:
    texts = f"Only with the approval of Anna:\n\n{block('a: b', 'yaml')}1. Warm it.\n2. Fill it.\n\n{block('ls a')}"
    made = draft(f"{RUN}{block('ls')}## Rollback\n\n### Restore the tea\n\n{texts}")
    assert "### Rollback.1 Warm it\n\n**Restore the tea**\n\nOnly with the approval of Anna:\n\n> ```yaml" in made.text
    assert made.report.losses == ()


def test_a_heading_without_text_stays_above_its_first_child() -> None:
    made = draft(f"# Page\n\n## Parts\n\n### One\n\n{block('ls')}{block('df')}")
    assert made.runbook.steps[0].prompt == "**Parts**"
