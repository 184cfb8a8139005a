"""Placeholders and variables of a page: what becomes an input, a question, an output, or stays as written."""

import pytest

from tests.support.imported import RUN, block, draft, page


def test_placeholders_of_the_first_command_are_inputs_and_later_ones_are_asked_for() -> None:
    made = draft(f"{RUN}{block('ls <folder>')}{block('cat <file-name> <folder>')}")
    assert made.run == ['ls "$FOLDER"', 'cat "$FILE_NAME" "$FOLDER"']
    assert [one.input.name for one in made.runbook.declared.inputs] == ["FOLDER"]
    assert list(made.runbook.declared.asked) == ["FILE_NAME"]


@pytest.mark.parametrize(
    ("rest", "titles", "kept"),
    [
        # behind the question that skips it, and again below, because NO of the first never asks
        (
            f"If it is old, look:\n\n{block('cat <name>')}Look again:\n\n{block('head <name>')}",
            ["Does this apply: it is old?", "Which name?", "Look", "Which name?", "Look again"],
            [],
        ),
        (
            f"If it is old, look:\n\n{block('cat <name>')}{block('ls -l')}",
            ["Does this apply: it is old?", "Which name?", "Look", "Run ls"],
            [],
        ),
        # the question whether to do harm shows the value
        ("Delete it:\n\n" + block("rm <name>"), ["Which name?", "Do this now: delete it?", "Delete it"], []),
        # the first line of a block that is shown may find the value
        (
            f"```\nkubectl get pods\nkubectl logs <name>\n```\nLook:\n\n{block('head <name>')}",
            ["Run kubectl get pods", "Which name?", "Look"],
            ["kubectl get pods\nkubectl logs <name>"],
        ),
    ],
)
def test_a_value_is_asked_for_directly_before_its_use(rest: str, titles: list[str], kept: list[str]) -> None:
    made = draft(f"{RUN}{block('ls')}{rest}")
    assert made.titles[-len(titles) :] == titles
    assert made.shown == kept


def test_a_value_that_many_skipped_steps_need_is_asked_for_once_above_them() -> None:
    cases = "".join(f"If it is {one}, look:\n\n{block('cat <name>')}Then:\n\n" for one in ("old", "new", "odd"))
    assert draft(f"{RUN}{block('ls')}{cases}{block('true')}").titles.count("Which name?") == 1


def test_no_inputs_leaves_placeholders_as_written_and_shows_the_blocks() -> None:
    made = draft(RUN + block("ls <folder>") + block("true"), inputs=False)
    assert (made.run, made.shown) == (["true"], ["ls <folder>"])


def test_words_can_be_placeholders_too() -> None:
    made = draft(RUN + block("kubectl drain node-a --node=node-a-2"), words=("node-a",))
    assert made.run == ['kubectl drain "$NODE_A" --node=node-a-2']


def test_a_variable_that_one_command_sets_and_another_reads_is_an_output() -> None:
    made = draft(RUN + block("VERSION=$(cat version.txt)") + block('echo "$VERSION"'))
    assert made.run[0] == 'VERSION=$(cat version.txt)\necho "VERSION=$VERSION" >> "$RDC_OUTPUT"'
    assert list(made.runbook.declared.outputs) == ["VERSION"]
    assert made.runbook.declared.inputs == ()


def test_a_name_with_a_meaning_gets_another_one() -> None:
    assert draft(RUN + block("id <user>")).run == ['id "$USER_VALUE"']


def test_a_name_in_several_steps_gets_a_mark() -> None:
    made = draft(f"# Page\n\n## First\n\n{block('cat <pod>')}## Then\n\n{block('ls <pod>')}")
    assert [guess.kind for guess in made.report.guesses] == ["shared"]


def test_a_placeholder_in_a_comment_stays_as_written() -> None:
    made = draft(RUN + block("ls <folder> # <folder>\n# <name>"))
    assert made.run == ['ls "$FOLDER" # <folder>\n# <name>']
    assert [one.input.name for one in made.runbook.declared.inputs] == ["FOLDER"]


def test_a_question_for_a_value_is_skipped_with_its_command() -> None:
    made = draft(f"{RUN}{block('ls')}If it is old, look:\n\n{block('cat <name>')}Wait.\n\n{block('uptime')}")
    assert made.titles == ["Part", "Does this apply: it is old?", "Which name?", "Look", "Wait"]
    assert "- NO: GOTO 1.5\n" in made.text


def test_a_value_is_asked_for_directly_before_its_command() -> None:
    items = "1. Look at `<cup>`.\n2. Fill the pot.\n"
    made = draft(f"{RUN}{block('ls a')}Do:\n\n{items}\n{block('ls <cup>')}")
    assert made.titles == ["Part", "Look at <cup>", "Fill the pot: done?", "Which cup?", "Run ls"]


@pytest.mark.parametrize(
    "command", ["shop add <tea:cup> <name>", "export POT={pot-1}", "shop sync <tea> [count]", "shop sync [tea...]"]
)
def test_a_command_with_a_placeholder_that_no_input_replaces_is_shown(command: str) -> None:
    made = draft(RUN + block(command) + block("true"))
    assert (made.run, len(made.shown)) == (["true"], 1)


@pytest.mark.parametrize(
    "command", ["git stash show stash@{0}", "ls cup[0-9] [ab]*", "[ -f pot ]", "cat < cup", "awk '{print}' cup"]
)
def test_a_command_with_brackets_of_the_shell_runs(command: str) -> None:
    assert draft(RUN + block(command)).run == [command]


def test_a_placeholder_that_only_one_of_two_commands_replaces_is_in_the_draft() -> None:
    assert len(draft(RUN + block("ls <tea:cup>") + block("ls <tea:cup> <name>")).shown) == 1


def test_what_a_program_prints_for_no_value_is_no_placeholder() -> None:
    quoted = 'docker images | grep "<none>"'
    made = page(block(quoted) + block("docker rmi <none>") + block("echo <tea>"))
    assert '```bash\ndocker images | grep "<none>"\n```' in made
    assert "```bash prompt\ndocker rmi <none>\n```" in made
    assert "NONE" not in made


def test_a_name_in_capitals_with_hyphens_is_a_placeholder() -> None:
    made = draft(RUN + block("git checkout -b BRANCH-NAME") + block('curl -H "SHOP-KEY: a" shop'))
    assert made.run == ['git checkout -b "$BRANCH_NAME"', 'curl -H "SHOP-KEY: a" shop']


@pytest.mark.parametrize(
    ("code", "inputs"),
    [
        ('sed -i "s/<OLD>/new/g" tea.md', ()),
        ("shop secret show --name TEA-POT", ()),
        ('curl -u "tea:$SHOP_PASSWORD" https://shop', ()),
        ("shop login <api-key>", ()),
        ("shop get --pot TEA-POT", ("TEA_POT",)),
    ],
)
def test_a_secret_and_a_name_as_written_are_no_inputs(code: str, inputs: tuple[str, ...]) -> None:
    made = draft(f"# Page\n\n## Part\n\n{block(code)}")
    assert (made.report.inputs, bool(made.run)) == (inputs, bool(inputs))


def test_a_block_with_a_secret_shows_its_other_values_by_reference() -> None:
    made = draft(f"# Page\n\n## Part\n\n{block('shop login <api-key> --pot <pot> --milk $MILK')}")
    assert made.shown == ["shop login <api-key> --pot {{POT}} --milk {{MILK}}"]


def test_a_shown_block_that_sets_a_variable_stays_as_written() -> None:
    code = "export POT=a\nls $POT $MILK"
    made = draft(f"{RUN}{block('ssh shop')}{block(code)}{block('ls $POT')}")
    assert made.shown == ["ssh shop", code.replace("$MILK", "{{MILK}}"), "ls {{POT}}"]


def test_a_shown_block_with_a_secret_hands_nothing_on() -> None:
    made = draft(f"# Page\n\n## Part\n\n{block('POT=$(shop get --key $API_KEY)')}{block('ls $POT')}")
    assert made.report.inputs + made.report.asked == ("POT",)
    assert made.run == ["ls $POT"]


@pytest.mark.parametrize(
    ("below", "shown"), [("", True), (block("ls $TEA"), False), (block("echo a"), True), ("Look.\n", True)]
)
def test_a_block_that_only_sets_variables_runs_if_a_later_one_reads_them(below: str, shown: bool) -> None:
    assert ("```bash prompt\nTEA=a\n```" in page(f"{block('true')}{block('TEA=a')}{below}")) is shown
