"""The titles of steps and questions, from the texts and commands of a page."""

import pytest

from compiler.importers.blocks import summary_of
from compiler.importers.markup import cut
from tests.support.imported import RUN, block, draft, page


@pytest.mark.parametrize(
    ("lead", "title"),
    [
        ("Or:", "Does this apply: Or: run ls?"),
        ("For cups, use the following command:", "Does this apply: For cups?"),
        ("If hot, pour the tea:", "Does this apply: If hot, pour the tea?"),
        ("Pour the tea (if it is hot):", "Does this apply: Pour the tea (if it is hot)?"),
        (f"For example, you look at the {'very ' * 20}small cup:", "Do this now: run ls?"),
    ],
)
def test_a_question_has_a_subject(lead: str, title: str) -> None:
    assert f" {title}\n" in page(f"{block('true')}{lead}\n\n{block('ls')}")


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Run this command in your terminal:", "Run ls a"),
        ("Run:", "Run ls a"),
        ("The cup (large; fill it):", "Run ls a"),
        *(
            (f"Fill the cup.\n\n{one}", "Fill the cup")
            for one in ("Run:", "> **DANGER**: Ask Anna.", "**Tip:** Ask Anna.")
        ),
        ("If it is hot, fill the cup.\n\nRun:", "Run ls a"),
        ("To do so, run:", "Run ls a"),
        ("Create a cup by running the following command:", "Create a cup"),
        ("Use the following command to find a cup:", "Find a cup"),
        ("Next we'll fill a cup. Run the following command:", "Fill a cup"),
        ("Finally, to actually look at tea, run:", "Look at tea"),
    ],
)
def test_a_title_is_never_only_run(text: str, title: str) -> None:
    assert f" {title}\n" in page(f"{block('true')}{text}\n\n{block('ls a')}")


def test_a_comment_that_opens_a_block_is_its_title() -> None:
    assert "1.2 Check the tea\n" in page(block("true") + block("# Check the tea\nls"))


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("if [ -z $A ]; then\n  git fetch\nfi", "Run git fetch"),
        ("kubectl -n shop get pod <pod>", "Run kubectl get pod"),
        ("A=1 make tea", "Run make tea"),
        ("export A=1 B=2", "Set A and B"),
        ("[ -f a ]", "Run the commands"),
        ("cd shop\ngit fetch", "Run git fetch"),
        ("cd shop", "Run cd shop"),
        ("curl -s 'https://shop/tea'", "Run curl https://shop/tea"),
        ("curl -s https://<shop>/tea", "Run curl"),
        ("jsonnet -m cups.jsonnet", "Run jsonnet cups.jsonnet"),
    ],
)
def test_the_summary_of_a_block_names_its_first_program(code: str, words: str) -> None:
    assert summary_of(code) == words


@pytest.mark.parametrize("rest", ["(with milk", "— with milk", "by adding milk", ", which has milk", "so that", ". It"])
def test_a_long_text_is_cut_before_what_explains_it(rest: str) -> None:
    text = f"{'tea ' * 9}tea {rest} {'milk ' * 20}".replace(" ,", ",").replace(" .", ".")
    assert cut(text) == f"{'tea ' * 10}".strip()


def test_a_long_text_is_cut_before_an_open_bracket_or_a_word() -> None:
    assert cut(f"{'tea ' * 10}[with {'milk ' * 20}]") == f"{'tea ' * 10}".strip() + "…"
    assert cut("Go by using tea " + "milk " * 20).endswith(" milk…")


@pytest.mark.parametrize(
    ("item", "title"),
    [
        ("**Cold start.** Before it, warm the pot.", "Cold start"),
        ("**If it is cold:** Read the label.", "Read the label"),
        ("**Note:** Read the label.", "Read the label"),
        ("**`pot.txt`**: Read it.", "Read it"),
    ],
)
def test_the_bold_start_of_an_item_is_its_title_unless_it_is_a_condition(item: str, title: str) -> None:
    assert draft(f"{RUN}{block('true')}1. {item}\n2. Copy it.\n").titles[1] == title


def test_the_title_of_a_sample_is_the_text_that_asks_to_use_it() -> None:
    made = draft(f"{RUN}{block('true')}The pot is big. Here you use this tea:\n\n{block('tea: 1', 'yaml')}")
    assert made.titles[1] == "Here you use this tea"


def test_the_purpose_of_a_command_is_its_title() -> None:
    assert (
        "Brew a pot"
        in draft(f"{RUN}To brew a pot, use the following command:\n\n{block('ls a')}{block('ls b')}").titles
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("If it fails for a reason, stop and report it", "If it fails for a reason, stop and report it: continue?"),
        ("If the pot is empty: fill it", "If the pot is empty: fill it"),
        ("If empty: fill it", "If empty: fill it"),
        ("Print.", "Print"),
    ],
)
def test_the_title_of_an_item_keeps_its_condition(text: str, title: str) -> None:
    assert draft(f"{RUN}{block('true')}1. {text}\n2. Copy it.\n").plain_titles[1] == title


def test_only_the_number_of_a_heading_is_left_out() -> None:
    made = draft(f"# Page\n\n## 3. Step 1: Look\n\n{block('true')}")
    assert [step.title for step in made.runbook.steps] == ["Step 1: Look"]


@pytest.mark.parametrize("title", [".gitignore and others", ". Look", "- Look", "— Look", ": Look"])
def test_a_title_is_whole_after_the_number(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\n{block('true')}")
    assert made.runbook.steps[0].title.strip("`. ").startswith(("gitignore` and others", "Look"))
