"""Which sections, texts and items of a page are cases, tasks side by side, steps or text."""

import pytest

from tests.support.imported import RUN, block, draft, refusal


def sections(*titles: str, above: str = "The shop") -> str:
    """Return a page with a section and a command for each title."""
    return f"# {above}\n\n" + "".join(f"## {title}\n\n{block(f'echo {at}')}" for at, title in enumerate(titles))


@pytest.mark.parametrize(
    "page",
    [
        sections("Listing orders", "Reading an order", "Copying orders"),
        sections("Orders", "Prices", "Copy the stock"),
        sections("Copy an order", "Copy a price", "Copy the stock"),
        sections("Staging", "Production"),
        sections("Stop the shop", "Copy the stock", "Start the shop"),
        sections("Add a cup", "Warm a cup", "Delete a cup", above="Shop runbook"),
    ],
)
def test_tasks_side_by_side_ask_first(page: str) -> None:
    made = draft(page)
    assert [len(made.guards(f"echo {at}")) for at in range(len(made.run))] == [1] * len(made.run)


@pytest.mark.parametrize(
    "page",
    [
        sections("Stop the shop", "Copy the stock", "Start the shop", above="Move the shop"),
        sections("1. Orders", "2. Prices", "3. Stock"),
        sections("Phase 1: Orders", "Then the prices", "Stock"),
        sections("Installation", "Configuration", "Prices"),
        sections("Orders", "Prices", above="Steps"),
        sections("If it is Monday", "Orders"),
        sections("Orders"),
    ],
)
def test_sections_with_an_order_are_a_sequence(page: str) -> None:
    made = draft(page)
    assert made.guards(made.run[-1]) == []


def test_a_text_that_starts_with_after_gives_sections_an_order() -> None:
    made = draft(f"# Shop\n\n## Orders\n\n{block('ls a')}## Prices\n\nAfter that, look:\n\n{block('ls b')}")
    assert made.guards("ls a") == made.guards("ls b") == []


def test_a_section_with_its_own_condition_asks_once() -> None:
    made = draft(f"# Shop\n\n## Cron\n\nIf you use cron:\n\n{block('ls a')}## Timer\n\n{block('ls b')}")
    assert made.guards("ls a") == ["Does this apply: you use cron?"]
    assert made.guards("ls b") == ["Do this: Timer?"]


@pytest.mark.parametrize("title", ["Commands", "Cheat sheet", "Shop reference", "Useful commands", "Tips"])
def test_a_page_that_lists_commands_is_refused(title: str) -> None:
    assert refusal(sections("List orders", "Read a price", "Stock", above=title)).kind == "no-procedure"
    assert draft(sections("1. Orders", "2. Prices", above=title)).run == ["echo 0", "echo 1"]


@pytest.mark.parametrize("title", ["Tell the shop", "3. Ensure stock", "Read and copy the orders"])
def test_a_text_below_an_instruction_is_a_step(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\nIt opens at nine.\n\n- Monday\n\n## Finally\n\n{block('true')}")
    assert made.titles == [title.removeprefix("3. "), "Finally"]


@pytest.mark.parametrize("title", ["Review scoring", "3. Orders", "Copy rules"])
def test_a_text_below_nouns_is_prose(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\nIt opens at nine.\n\n## Part\n\n{block('true')}")
    assert made.titles == ["Part"]


@pytest.mark.parametrize(("last", "titles"), [("Tea is sold out.", ["Day", "Then"]), ("Tea.\n- Milk.", ["Then"])])
def test_a_list_of_instructions_with_one_fact_is_a_step(last: str, titles: list[str]) -> None:
    items = "- Open the shop.\n- Read the orders.\n- Copy them.\n"
    assert draft(f"# Page\n\n## Day\n\n- {last}\n{items}\n## Then\n\n{block('true')}").titles == titles


def test_a_label_of_a_way_asks_first() -> None:
    items = [
        "**By day** — read the orders of one day, from the first one:",
        "On Linux: read them in the folder of the shop:",
    ]
    made = draft(RUN + "".join(f"- {item}\n\n  ```bash\n  ls {at}\n  ```\n\n" for at, item in enumerate(items)))
    assert made.guards("ls 0") == ["Does this apply: By day?"]
    assert made.guards("ls 1") == ["Does this apply: On Linux?"]


def test_a_heading_and_a_harm_are_one_question() -> None:
    made = draft(f"# Shop\n\n## If it is old\n\n{block('rm a')}## Last\n\n{block('rm b')}{block('rm c')}")
    assert made.guards("rm a") == ["Does this apply: it is old?"]
    assert "The next command: `rm a`" in made.text


def offered(*texts: str) -> str:
    """Return a page with a text and a command below it in each section."""
    return "# Tea\n\n" + "".join(f"## Tea {at}\n\n{text}\n\n{block(f'ls {at}')}" for at, text in enumerate(texts))


@pytest.mark.parametrize(
    "texts",
    [
        ("The pot is big. For instance:", "You can also list cups, e.g. the blue ones:", "Leaves:"),
        ("Here's an example:", "Or:"),
        ("Here is a short example:", "You can count cups:", "For example, a jug:"),
    ],
)
def test_a_page_of_samples_is_refused(texts: tuple[str, ...]) -> None:
    assert refusal(offered(*texts)).kind == "no-procedure"


@pytest.mark.parametrize(
    "texts",
    [
        ("For instance:", "Then list cups, for example:"),
        ("For instance:", "1. Warm the pot.\n2. Fill it.\n\nFor instance:"),
        ("For instance:", "List the cups:", "List the jugs:"),
        ("For instance:", "List the cups:"),
    ],
)
def test_samples_in_a_sequence_are_commands(texts: tuple[str, ...]) -> None:
    assert len(draft(offered(*texts)).run) == len(texts)


def test_numbered_headings_join_samples() -> None:
    page = "".join(f"## {at}. Tea {at}\n\nFor example:\n\n{block(f'ls {at}')}" for at in (1, 2))
    assert draft(f"# Tea\n\n{page}").run == ["ls 1", "ls 2"]


@pytest.mark.parametrize(
    "items", [("teapot runs through each cup.", "Probes the following leaves."), ("Copying cups.",)]
)
def test_items_that_describe_are_no_instructions(items: tuple[str, ...]) -> None:
    listed = "\n".join(f"{at}. {item}" for at, item in enumerate(items, 1))
    assert draft(f"{RUN}{block('true')}Its work:\n\n{listed}\n").titles == ["Part"]


@pytest.mark.parametrize("item", ["Access the shop.", "Ping the shop.", "Check logs through the day."])
def test_instructions_like_a_third_person_are_steps(item: str) -> None:
    assert len(draft(f"{RUN}{block('true')}Do:\n\n1. {item}\n").steps) == 2


@pytest.mark.parametrize(
    ("item", "case"),
    [("Blue / red cups — put them on the tray:", "Blue / red cups"), ("Green tea — list its leaves:", "Green tea")],
)
@pytest.mark.parametrize("mark", ["1.", "-"])
def test_an_item_that_names_a_case_asks_first(item: str, case: str, mark: str) -> None:
    made = draft(f"{RUN}{block('true')}Cups:\n\n{mark} {item}\n\n   ```bash\n   ls a\n   ```\n")
    assert made.guards("ls a") == [f"Does this apply: {case}?"]


@pytest.mark.parametrize(
    ("lead", "case"),
    [
        ("**Green tea — list its leaves:**", "Green tea"),
        (
            "Prior to shop version 3 the cups were blue.\n\nList all of the cups that are in the shop:",
            "Prior to shop version 3",
        ),
        ("To increase the number of cups further:", "To increase the number of cups further"),
    ],
)
def test_a_lead_that_names_a_case_asks_first(lead: str, case: str) -> None:
    assert draft(f"{RUN}{block('true')}{lead}\n\n{block('ls a')}").guards("ls a") == [f"Does this apply: {case}?"]


@pytest.mark.parametrize("item", ["kettle heats the water.", "Filling the cups.", "Anna copies the orders."])
def test_an_ordered_item_without_an_instruction_stays_a_step(item: str) -> None:
    made = draft(f"{RUN}Do:\n\n1. Open the shop.\n2. {item}\n3. Copy the orders.\n\n{block('true')}")
    done = f"{item[0].upper()}{item[1:-1]}: done?".lower()
    assert [title.lower() for title in made.titles[:3]] == ["open the shop: done?", done, "copy the orders: done?"]


def test_what_a_person_does_is_a_step() -> None:
    made = draft(f"{RUN}1. Anna copies the orders.\n2. Bert checks the stock.\n\n{block('true')}")
    assert made.titles == ["Anna copies the orders: done?", "Bert checks the stock: done?", "Run true"]


@pytest.mark.parametrize(
    "title",
    [
        "Guardrails",
        "Non-Goals",
        "Anti-patterns",
        "Rules",
        "Safety Notes",
        "Common pitfalls",
        "Output Shape",
        "Tea rules",
    ],
)
def test_a_heading_of_rules_is_prose(title: str) -> None:
    page = f"# Page\n\n## Part\n\n{block('true')}## {title}\n\n1. Warm the pot.\n2. Fill it.\n"
    made = draft(page)
    assert made.titles == ["Part"]
    assert f"  prose:\n    - {title}\n" in made.text


@pytest.mark.parametrize(
    "text",
    ["Before you bake, state the plan.", "Before the day, write a list.", "Taste each cup.", "Quickly taste each cup."],
)
def test_a_text_that_demands_something_is_a_step(text: str) -> None:
    made = draft(f"# Page\n\n## Cups\n\n{text}\n\n## Then\n\n{block('true')}")
    assert made.titles == ["Cups", "Then"]


@pytest.mark.parametrize(
    "text", ["Tasting each cup is fun.", "She tastes each cup.", "Before the day, the pot is cold."]
)
def test_a_text_that_demands_nothing_is_prose(text: str) -> None:
    assert draft(f"# Page\n\n## Cups\n\n{text}\n\n## Part\n\n{block('true')}").titles == ["Part"]


@pytest.mark.parametrize(
    "code", ["# if missing\ncp a b\n# if older\ncp -u a b", "# If it is missing:\ncp a b\n\n# otherwise\ncp -u a b"]
)
def test_a_block_with_a_comment_for_each_case_is_shown(code: str) -> None:
    made = draft(f"{RUN}{block(code)}{block('true')}")
    assert (made.run, made.shown) == (["true"], [code])


@pytest.mark.parametrize(
    "comment", ["On non-Linux machines", "Optional", "Example for a big pot", "If the pot is cold", "With docker"]
)
@pytest.mark.parametrize("code", ["# {}\nls a\nls b", "ls a  # {}\nls b"])
def test_a_block_whose_comment_names_a_case_or_an_example_is_shown(comment: str, code: str) -> None:
    assert draft(RUN + block(code.format(comment)) + block("true")).run == ["true"]


@pytest.mark.parametrize("code", ["# Look at the cups\nls a", "# If it is cold\nif [ -f a ]; then\n  ls b\nfi"])
def test_a_block_whose_comments_name_no_other_case_runs(code: str) -> None:
    assert draft(RUN + block(code)).run == [code]


@pytest.mark.parametrize(
    "lead",
    ["For a cold pot:", "For teams with two pots:", "**pip, conda:**", "**Docker** (short):", "A jug (fallback):"],
)
def test_a_lead_that_is_only_a_case_asks_first(lead: str) -> None:
    assert len(draft(f"{RUN}{block('true')}{lead}\n\n{block('ls a')}").guards("ls a")) == 1


@pytest.mark.parametrize(
    "lead",
    ["Check the cups if one is cold or not:", "For each pot:", "For that:", "For this, look:", "Look for the pot:"],
)
def test_a_lead_that_starts_like_a_case_asks_nothing(lead: str) -> None:
    assert draft(f"{RUN}{block('true')}{lead}\n\n{block('ls a')}").guards("ls a") == []


def test_commands_below_a_heading_for_reference_ask_first() -> None:
    page = f"# Shop\n\n## Check the stock\n\n{block('ls a')}{block('ls b')}## Commands\n\n{block('ls c')}"
    made = draft(page)
    assert made.guards("ls c") == ["Does this apply: Commands?"]
    assert made.guards("ls b") == []


@pytest.mark.parametrize("title", ["Commands", "Synopsis"])
def test_a_page_with_only_such_a_heading_is_refused(title: str) -> None:
    assert refusal(f"# Shop\n\n## {title}\n\n{block('shop list')}").kind == "no-procedure"


def tasks(*commands: str) -> str:
    """Return a page with tasks side by side."""
    return "# Tea\n\n" + "".join(f"## Kind {at}\n\n{block(one)}" for at, one in enumerate(commands))


def test_a_page_with_tasks_side_by_side_is_refused() -> None:
    commands = ("shop list", "shop list a", "sudo shop show b", "shop status")
    assert refusal(tasks(*commands)).kind == "no-procedure"
    assert refusal(tasks("ls a", "cat b", *commands[:2])).kind == "no-procedure"
    assert len(draft(tasks(*commands[:3])).run) == 3
    assert len(draft(f"{tasks(*commands)}## Use\n\n1. Warm the pot.\n2. Fill it.\n").run) == 4


@pytest.mark.parametrize("title", ["Rollback runbook", "Deploy the shop", "Release checklist"])
def test_the_parts_of_a_page_that_names_a_procedure_ask_nothing(title: str) -> None:
    made = draft(tasks("ls a", "cat b", "ls c", "ls d").replace("# Tea", f"# {title}", 1))
    assert (len(made.run), made.report.questions) == (4, 0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Local mode", "Remote mode"),
        ("Local order procedure", "Central order procedure"),
        ("Install with pip", "Install with conda"),
        ("Install with pip", "Install from source"),
        ("Building with tea", "Building without tea"),
        ("Group (Linux)", "Group (FreeBSD)"),
        ("Fehler: Platte voll", "Fehler: Netz weg"),
        ("Option A: Local stock", "Option B: Central stock"),
        ("Manual rollback", "Canary rollback"),
    ],
)
def test_headings_that_differ_in_one_part_ask_first(one: str, other: str) -> None:
    made = draft(f"# Shop\n\n## {one}\n\n1. Read the orders.\n2. Copy them.\n\n## {other}\n\n{block('ls a')}")
    assert [title for title in made.titles if title.startswith("Does")] == [
        f"Does this apply: {one}?",
        f"Does this apply: {other}?",
    ]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Check the disk", "Check the network"),
        ("Stop the service", "Start the service"),
        ("Step 1: Local orders", "Step 2: Remote orders"),
        ("Before the backup", "Check the backup"),
        ("Restore from backup", "Manual backup"),
        ("Note: Read this", "Note: Copy that"),
        ("Deploy to staging", "Deploy to production"),
        ("Unit tests", "Smoke tests"),
    ],
)
def test_headings_of_a_sequence_ask_nothing(one: str, other: str) -> None:
    steps = "1. Read the orders.\n2. Copy them.\n\n"
    made = draft(f"# Shop\n\n## {one}\n\n{steps}## {other}\n\n{steps}")
    assert [title for title in made.titles if title.startswith("Does")] == []


@pytest.mark.parametrize("title", ["If the disk is full", "Cause: full disk", "Disk not ready", "Use case A: New cups"])
def test_instructions_below_a_case_ask_first(title: str) -> None:
    made = draft(f"# Shop\n\n## {title}\n\n1. Read the orders.\n2. Copy them.\n\n## Last\n\n{block('ls a')}")
    assert made.titles[0].startswith("Does this apply: ")
    assert "- NO: GOTO 2" in made.text


@pytest.mark.parametrize("place", ["1. ", ""])
def test_texts_above_commands_that_differ_in_one_part_ask_first(place: str) -> None:
    fenced = block("NAME").replace("\n", "\n   ") if place else block("NAME")
    page = "".join(
        f"{place}Install with {one}:\n\n   {fenced}\n\n".replace("NAME", f"{one} a") for one in ("pip", "conda")
    )
    made = draft(RUN + page)
    assert made.guards("pip a") == ["Does this apply: Install with pip?"]
    assert made.guards("conda a") == ["Does this apply: Install with conda?"]


@pytest.mark.parametrize("title", ["Mitigation", "Resolution", "Possible causes"])
def test_causes_below_a_mitigation_ask_first(title: str) -> None:
    made = draft(f"# Late\n\n## {title}\n\n### Slow disk\n\n{block('ls a')}### Wrong address\n\n{block('ls b')}")
    assert made.guards("ls a") == ["Does this apply: Slow disk?"]
    assert made.guards("ls b") == ["Does this apply: Wrong address?"]


def test_sections_with_numbered_steps_of_their_own_ask_first() -> None:
    steps = "1. Read the orders.\n2. Copy them.\n\n"
    titles = ("New cups", "Old cups", "Preparation", "Post-order checks")
    made = draft("# Cups\n\n" + "".join(f"## {title}\n\n{steps}" for title in titles))
    asked = [title for title in made.titles if title.startswith("Does")]
    assert asked == ["Does this apply: New cups?", "Does this apply: Old cups?"]


@pytest.mark.parametrize(("title", "asked"), [("Mitigation", 2), ("Diagnosis", 0)])
def test_each_instruction_below_a_mitigation_asks_first(title: str, asked: int) -> None:
    made = draft(f"# Late\n\n## {title}\n\n### Look around\n\n{block('ls a')}### Read the log\n\n{block('ls b')}")
    titles = [one for one in made.titles if not one.startswith("Do this: ")]
    assert (titles, len(made.titles) - len(titles)) == (["Look around", "Read the log"], asked)


@pytest.mark.parametrize("title", ["Severity model", "Step 1: Detect the mode", "Troubleshooting", "Fix failing tests"])
def test_instructions_below_a_heading_that_is_no_case_ask_nothing(title: str) -> None:
    made = draft(f"# Shop\n\n## {title}\n\n1. Read the orders.\n2. Copy them.\n\n")
    assert made.plain_titles == ["Read the orders", "Copy them"]


def test_a_task_with_a_place_in_an_order_asks_nothing() -> None:
    made = draft(sections("Step 1: Orders", "Prices", "Stock", "Cups", "Pots", "Teas", "Jugs"))
    assert [len(made.guards(f"echo {at}")) for at in range(7)] == [0, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("title", ["Kinds", "What it does"])
def test_an_ordered_list_without_instructions_is_text(title: str) -> None:
    items = "1. `green` has ten cups.\n2. Black tea, one pot\n3. Mint\n"
    made = draft(f"# Page\n\n## {title}\n\n{items}\n## Part\n\n{block('true')}")
    assert (made.titles, made.runbook.prose) == (["Part"], (title,))


@pytest.mark.parametrize("lead", ["The script will:", "It is short. This will then:", "What it does:"])
def test_an_ordered_list_of_what_a_program_does_is_text(lead: str) -> None:
    assert draft(f"{RUN}{block('true')}{lead}\n\n1. Read the orders.\n2. Copy them.\n").titles == ["Part"]


def test_an_ordered_list_of_what_a_person_will_do_has_steps() -> None:
    made = draft(f"{RUN}{block('true')}Now you will:\n\n1. Read the orders.\n2. Copy them.\n")
    assert made.titles == ["Part", "Read the orders", "Copy them: done?"]


@pytest.mark.parametrize("title", ["Steps", "The workflow", "Opening procedure"])
def test_an_ordered_list_below_a_heading_of_a_sequence_has_steps(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\n1. Black tea\n2. Mint\n\n## Part\n\n{block('true')}")
    assert made.titles == ["Black tea: done?", "Mint: done?", "Part"]


def test_a_comment_that_only_looks_does_no_harm() -> None:
    assert draft(RUN + block("# Verify that we can release it\nls a")).guards("ls a") == []
    assert len(draft(RUN + block("# Now release it\nls a")).guards("ls a")) == 1


def test_a_number_of_a_step_that_no_title_has_gets_a_mark() -> None:
    made = draft(f"{RUN}1. Warm the pot.\n2. Repeat from step 1.\n\n{block('true')}")
    assert [(one.kind, one.message) for one in made.report.guesses] == [
        ("reference", "step 1 may have another number in this draft")
    ]
    page = f"# Page\n\n## Step 1: Look\n\n{block('true')}## Step 2: Copy\n\n1. See step 1.\n2. Copy it.\n"
    assert draft(page).report.guesses == ()


def test_a_note_in_a_block_is_text() -> None:
    made = draft(f"{RUN}{block('true')}Use the pot.\n\n{block('The pot is hot.', '{note}')}")
    assert made.titles == ["Part"]


def test_a_list_of_the_next_headings_is_text() -> None:
    steps = "1. Warm the pot\n2. Brew the tea slowly\n3. Serve the guests\n\n"
    titles = ("Step 1: Warm the pot", "Step 2: Brew the tea", "Step 3: Serve")
    page = "# Tea\n\n## The day\n\nThe day is:\n\n" + steps + "".join(f"## {one}\n\nDo it.\n\n" for one in titles)
    made = draft(page)
    assert (made.titles, made.runbook.prose) == ([*titles], ("The day",))
    swapped = draft(page.replace(titles[0], "X").replace(titles[2], titles[0]).replace("X", titles[2]))
    assert swapped.plain_titles[:3] == ["Warm the pot", "Brew the tea slowly", "Serve the guests"]


@pytest.mark.parametrize("title", ["Overview", "Process overview", "Mental model"])
def test_a_list_below_an_overview_is_text(title: str) -> None:
    made = draft(f"# Tea\n\n## {title}\n\n1. Warm the pot.\n2. Brew it.\n\n## Part\n\n{block('true')}")
    assert (made.titles, made.runbook.prose) == (["Part"], (title,))


def test_a_block_between_two_parts_of_a_numbered_list_belongs_to_the_item_above() -> None:
    page = f"1. Read the orders.\n\n{block('ls a')}2. Copy the orders.\n\n{block('ls b')}It is quick.\n\n3. Wait.\n"
    made = draft(RUN + page)
    assert made.titles == ["Read the orders", "Copy the orders", "Wait: done?"]
    assert made.run == ["ls a", "ls b"]


LEADS = ["There are two ways to brew it.", "Brew it in one of the following pots:", "Choose one pot:"]


@pytest.mark.parametrize("lead", LEADS)
def test_headings_below_a_text_that_offers_ways_ask_first(lead: str) -> None:
    made = draft(f"# Tea\n\n## Brew\n\n{lead}\n\n### Glass\n\n{block('ls a')}### Clay\n\n{block('ls b')}")
    assert made.guards("ls a") == ["Does this apply: Glass?"]
    assert made.guards("ls b") == ["Does this apply: Clay?"]


@pytest.mark.parametrize("lead", LEADS)
def test_items_below_a_text_that_offers_ways_are_one_question(lead: str) -> None:
    made = draft(f"{RUN}{lead}\n\n1. Use the glass.\n2. Use the clay.\n\n## Finally\n\n{block('ls a')}")
    assert len(made.titles) == 2
    assert "2. Use the clay." in made.text


def test_an_instruction_behind_a_label_is_a_step() -> None:
    made = draft(f"{RUN}1. **Our tea**: warm the pot.\n2. **The other tea** is ready.\n3. Read it.\n4. Copy it.\n")
    assert made.plain_titles == ["Our tea", "Read it", "Copy it"]


def test_a_numbered_item_with_a_sample_is_a_step() -> None:
    made = draft(f"{RUN}1. Read a.\n2. Read b.\n3. The pot is **not** hot. If it is, stop:\n   ```\n   hot\n   ```\n")
    assert len(made.titles) == 3
    assert made.titles[2] == "The pot is not hot"


def test_a_text_above_a_bold_step_belongs_to_the_command_above() -> None:
    page = f"{block('true')}If this fails, ask Anna.\n\n**Step 2 — Push.**\n\n{block('git push')}"
    made = draft(RUN + page)
    assert made.titles[1:3] == ["Does this apply: this fails?", "Ask Anna"]
    assert not any("fails" in title for title in made.guards("git push"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Re-open the pot: `make open POT=a`", ["make open POT=a"]),
        ("Keep the hash: `git rev-parse HEAD`.", ["git rev-parse HEAD"]),
        ("**Hot pots.** `make open POT=a` — all hot.", ["make open POT=a"]),
        ("Open: `make open POT=a` → `a.sql`. Look at it.", ["make open POT=a"]),
        ("The name of `git run list`", []),
        ("`pot.name`: the name for `gh run list`", []),
    ],
)
def test_a_command_at_the_end_of_a_sentence_is_shown(text: str, shown: list[str]) -> None:
    assert draft(f"{RUN}{block('true')}{text}\n").shown == shown
