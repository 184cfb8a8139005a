"""What the context of a command decides: it runs, is only shown, asks first, or is for someone else."""

import re
from textwrap import indent

import pytest

from tests.support.imported import RUN, block, draft, page


@pytest.mark.parametrize(
    "comments",
    [
        ("Python", "JavaScript/TypeScript"),
        ("Single-repo", "Multi-repo (nested)"),
        ("For one look", "For numbers of the shop:"),
        ("Fallback", "Last"),
        ("Run only tea", "All"),
        ("in the source project", "All"),
        ("all tea", "a custom cup"),
        ("Option A: tea", "Then look"),
        ("Take them only after a look", "Look"),
        ("set MILK in the shop, then look:", "Look"),
        ("They should run on their machine", "Look"),
        ("Replace with your cup", "Look"),
    ],
)
def test_a_comment_that_names_a_kind_or_a_use_shows_the_block(comments: tuple[str, str]) -> None:
    text = page(block("true") + block(f"# {comments[0]}\nls a\n\n# {comments[1]}\ndu b"))
    assert "```bash prompt\n# " in text


@pytest.mark.parametrize(
    "lead",
    [
        "From a checkout:",
        "There are two kinds. For cups, use the following command:",
        "Make tea on macOS:",
        "From a package:",
        "In a project, pass the folder:",
        "For images (large, small), also look:",
        "In local mode, look instead of asking:",
        '=== "Debian"\n',
        "<details><summary>Debian</summary>\n",
    ],
)
def test_a_lead_that_names_a_kind_of_place_asks_first(lead: str) -> None:
    text = page(f"{block('true')}{lead}\n\n{block('ls a')}")
    assert "Does this apply: " in text
    assert "- NO: COMPLETE" in text


@pytest.mark.parametrize(
    "lead",
    [
        *("In a new terminal, look:", "On your machine, look:", "For all cups:", "For more tea, use this:"),
        *("**Copy cups — all of them:**", "**Smoke test — look:**", "**Cups and pots:**"),
        "Green tea — list its leaves:",
    ],
)
def test_a_lead_that_names_no_case_asks_nothing(lead: str) -> None:
    assert "- NO:" not in page(f"{block('true')}{lead}\n\n{block('ls a')}")


@pytest.mark.parametrize(
    "heading",
    ["Build mode (--build)", "Issue 3: Slow tea", "Scenario 2 — Cold tea", 'Error: "refused"', "Connection refused"],
)
def test_a_heading_of_a_mode_or_a_problem_asks_first(heading: str) -> None:
    assert f"Does this apply: {heading}?" in page(f"{block('true')}## {heading}\n\n{block('ls a')}")


def test_a_heading_that_asks_for_a_mode_asks_nothing() -> None:
    assert "Does this" not in page(f"{block('true')}## Choose a mode\n\n{block('ls a')}")


@pytest.mark.parametrize(
    "below",
    [
        "If the cup is full, skip this step.",
        "This step is only for large shops.",
        "Only needed if the shop is new.",
        "Guard: If the cup already exists, take another one.",
        "This should fail.",
        "Replace `ls` with your command.",
        "They run it on their machine.",
    ],
)
def test_a_text_below_a_command_that_limits_it_shows_it(below: str) -> None:
    assert "```bash prompt\nls a\n```" in page(f"{block('true')}Look:\n\n{block('ls a')}{below}\n\n{block('true')}")


@pytest.mark.parametrize(
    "text",
    [
        *("Do NOT run this on a primary:", "Never do this:", "This pot is obsolete:", "This must not run on cups:"),
        *("The following command is wrong:", "This command must never be run on a primary:", "Never drop cups:"),
        *("instead of:", "and not", "Previously, we had:", "You must not use it:", "**Deprecated:**", "Wrong way:"),
        *("If it is a primary, do not run this:", "Do not run this if it is a primary:", "# Never on a primary"),
        *("## Never do this", "## Deprecated: old way", "## Old way (obsolete)", "## Never do this\n\n### Look"),
        *("## Do not use the old cups", "## Never remove cups"),
    ],
)
@pytest.mark.parametrize("place", ["", "2. Look. "])
def test_a_command_that_the_page_rules_out_is_shown(text: str, place: str) -> None:
    code = f"{text}\nrm cups" if text[:2] == "# " else "rm cups"
    above = "" if text[:2] == "# " else text if text[:1] == "#" else f"{place}{text}"
    made = draft(f"{RUN}{block('true')}{above}\n\n{indent(block(code), '   ' * (above[:1] == '2'))}")
    assert (made.run, made.shown, made.guards("rm cups")) == (["true"], [code], [])
    assert not made.titles[1].endswith(("instead of", "and not"))


@pytest.mark.parametrize(
    "text",
    [
        *("Never stop it by hand. Instead, look:", "Do not forget to look:", "If the pots do not start, look:"),
        *("Do not continue until it is hot:", "Check which pot is wrong:", "## If the pot is wrong", "## Bad gateway"),
        *("Look. Never drop it.", "Look. Do not close the pot:", "The pot must not use milk:", "## Never drop it"),
        *("The pot must not be down:", "Find the pots that must not run:", "The pot is obsolete, so use the new one:"),
        *("These pots are wrong: fill them:", "## Previously full pots", "## Do not use the pot\n\n### Look"),
    ],
)
def test_a_command_below_a_text_that_forbids_something_else_runs(text: str) -> None:
    made = draft(f"{RUN}{block('true')}{text}\n\n{block('ls cups')}")
    assert (made.run, "Does this apply: Do not use the pot?" in made.titles) == (["true", "ls cups"], False)
    assert draft(f"{RUN}{block('true')}The old pot is obsolete; run `ls pots cups` instead.").shown == ["ls pots cups"]


@pytest.mark.parametrize("text", ["Never do this: `ls pots cups`.", "Never do these:\n\n1. Stop it.\n2. Warm it.\n"])
def test_a_task_that_the_page_rules_out_is_text(text: str) -> None:
    assert draft(f"{RUN}{block('true')}{text}").titles == ["Part"]


def test_a_question_for_a_harm_in_the_text_skips_the_commands_that_go_on() -> None:
    text = page(f"Release the shop with a tool:\n\n{block('pip install a')}{block('make a')}Look:\n\n{block('ls')}")
    assert "- NO: GOTO 1.4\n" in text


@pytest.mark.parametrize("text", ["After a week, and only with the approval of Anna, remove it:", "For each old pot:"])
def test_the_text_above_a_harm_is_in_its_question(text: str) -> None:
    made = draft(f"{RUN}{block('true')}{text}\n\n{block('rm cups')}")
    assert made.text.index(text) < made.text.index("The next command: `rm cups`")
    assert made.text.count(text) == 1
    assert [one.kind for one in made.report.guesses].count("loop") == ("each" in text)


def test_a_command_below_an_ssh_in_a_sentence_is_shown() -> None:
    text = page(f"{block('true')}Then `ssh admin@shop` and look:\n\n{block('ls a')}")
    assert "```bash prompt\nls a\n```" in text


@pytest.mark.parametrize(
    "lead",
    [
        "Install an optional dependency:",
        "Use tea instead of milk:",
        "Create a cup, for example small.",
        "When using tea, you need a cup.\n\nTake a long look at all of the cups in the shop:",
    ],
)
def test_words_like_a_condition_ask_nothing(lead: str) -> None:
    assert "- NO:" not in page(f"{lead}\n\n{block('ls a')}")


@pytest.mark.parametrize(
    ("title", "first", "second"),
    [
        ("Getting started", "Tea", "Milk"),
        ("The release procedure", "Tea", "Milk"),
        ("Shop", "Local Step 1: Tea", "Local Step 2: Milk"),
    ],
)
def test_the_sections_of_a_procedure_are_no_tasks_side_by_side(title: str, first: str, second: str) -> None:
    text = f"# {title}\n\n## {first}\n\n{block('ls a')}## {second}\n\n{block('ls b')}"
    assert "Does this apply" not in draft(text).text


def test_a_workflow_beside_tasks_asks_nothing() -> None:
    sections = "".join(f"## {one}\n\n{block(f'ls {one[0]}')}" for one in ("Workflow", "Tea", "Milk"))
    made = draft(f"# Shop\n\n{sections}")
    assert made.text.count("Do this: ") == 2


@pytest.mark.parametrize(
    "lead",
    [
        "The expected output is:",
        "The expected output:",
        "Expected logs",
        "Expected logs in the shop:",
        "**Output:**",
        "Run it again. You should see",
        "Sample output",
        "If it works, you should see:",
        "1. If you run it now, you should now see:",
        "Example output of the kettle:",
        "The output should look like this:",
        "### Expected output",
    ],
)
@pytest.mark.parametrize("tag", ["bash", "sh", "console"])
def test_a_block_below_a_lead_for_output_never_runs(lead: str, tag: str) -> None:
    fence = indent(f"```{tag}\nls kettle\n```", "   " * lead.startswith("1."))
    made = page(f"{block('make cups')}{lead}\n\n{fence}\n\nMore.\n\n{block('ls')}")
    assert "> ls kettle\n" in made
    assert "\n```bash\nls\n```" in made


@pytest.mark.parametrize(
    "lead", ["Print the output:", "Use the output:", "If you see the output, go on:", "Run this for the result:"]
)
def test_a_command_below_a_lead_about_output_runs(lead: str) -> None:
    assert "\n```bash\nls kettle\n```" in page(f"{block('make cups')}{lead}\n\n{block('ls kettle')}")


def test_a_block_with_a_prompt_below_a_lead_for_output_is_a_command() -> None:
    made = page(f"{block('make cups')}You should see:\n\n```console\n$ ls kettle\nkettle\n```\n")
    assert "\n```bash\nls kettle\n```" in made


@pytest.mark.parametrize(
    "entry",
    [
        block("kubectl exec shop-0"),
        block("kubectl exec shop-0 -c web"),
        "```console\n$ kubectl exec ... shop-0 -- sh\n```\n\n",
        f"Exec into the pod:\n\n{block('kubectl exec shop-0 -- ls /data')}",
        f"Connect to the database pod:\n\n{block('docker exec shop ls /data')}",
        f"{block('docker exec shop ls /data')}Inside the container, look:\n\n{block('ls /data')}",
        block("docker exec shop ls /data\n# in the pod:\ncd /data\n# inside the pod"),
        f"Log in to the server:\n\n{block('make connection')}",
    ],
)
def test_commands_below_an_entry_into_a_container_are_shown(entry: str) -> None:
    made = page(f"{entry}Then:\n\n{block('df -h')}{block('rm cups')}")
    assert "```bash prompt\ndf -h\n```" in made
    assert "```bash prompt\nrm cups\n```" in made


@pytest.mark.parametrize(
    "entry", [block("docker exec shop ls"), f"Log in to the server of images:\n\n{block('docker login shop')}"]
)
def test_a_command_that_enters_nothing_is_followed_by_commands(entry: str) -> None:
    assert "```bash\ndf -h\n```" in page(f"{entry}Then:\n\n{block('df -h')}")


@pytest.mark.parametrize(
    "text",
    [
        "These happen automatically:\n\n- Run `git fetch origin`\n- `git push origin`\n",
        f"These happen automatically:\n\n{block('git fetch origin')}",
        f"Behind the scenes, the tool runs:\n\n{block('git fetch origin')}",
        f"Tell the next session to run:\n\n{block('git fetch origin')}",
        "Tell the next session to run `git fetch origin`.\n",
        f"### These happen automatically\n\n{block('git fetch origin')}",
        "### These happen automatically\n\n- Run `git fetch origin`\n",
    ],
)
def test_commands_that_someone_else_runs_are_text(text: str) -> None:
    made = page(f"{block('make cups')}{text}")
    assert "git fetch origin" in made
    assert "```bash prompt\ngit" not in re.sub("(?m)^> .*", "", made)
    assert "```bash\ngit" not in made
    assert "Run git" not in made


@pytest.mark.parametrize(
    "lead",
    [
        "The script runs the tests:",
        "Ask Anna for tea, then run it:",
        "It is not done automatically:",
        "It runs automatically, but you can run it:",
    ],
)
def test_a_text_about_what_a_command_does_is_above_a_command(lead: str) -> None:
    assert "```bash\nmake test\n```" in page(f"{block('make cups')}{lead}\n\n{block('make test')}")


def test_a_fence_below_a_tab_is_no_output() -> None:
    made = page(f'{block("make cups")}=== "Output"\n\n    ``` bash\n    ls\n    ```\n\n{block("df -h")}')
    assert "Expected output" not in made
    assert "> ``` bash\n" in made


@pytest.mark.parametrize(
    "text", ["SSH to the alerting host, then:", "Log into the bastion:", "Log in as the build user:"]
)
def test_below_a_text_that_enters_a_host_the_section_is_shown(text: str) -> None:
    first = block("# If it is the log\nls /var/log")
    made = draft(f"{RUN}{block('true')}## Act\n\n{text}\n\n{first}Then:\n\n{block('truncate -s 0 tea.log')}")
    assert made.run == ["true"]


def test_the_text_of_a_section_that_enters_a_host_is_for_all_below_it() -> None:
    made = draft(f"{RUN}{block('true')}## Act\n\nSSH to the alerting host.\n\n### Look\n\n{block('df -h')}")
    assert made.shown == ["df -h"]


@pytest.mark.parametrize(
    "text", ["On shop3, copy it:", "Copy it. On prod hosts:", "On the box, copy it:", "# This runs on the receiver"]
)
def test_a_text_or_comment_that_names_a_machine_asks(text: str) -> None:
    code = f"{text}\ncp tea pot.bak" if text[0] == "#" else "cp tea pot.bak"
    made = draft(f"{RUN}{block('true')}{'' if text[0] == '#' else text}\n\n{block(code)}")
    assert made.guards("cp tea") == ["Does the next command run on this machine?"]


def test_a_script_below_a_heading_that_asks_to_upload_asks() -> None:
    assert draft(f"{RUN}{block('true')}## Make and upload it\n\n{block('./test-tea all pots')}").guards("test-tea")


def test_a_shown_command_with_a_condition_asks() -> None:
    made = draft(f"{RUN}{block('true')}If the pot is empty:\n\n{block('ssh pot')}")
    assert made.guards("ssh pot") == ["Does this apply: the pot is empty?"]


def test_a_dialogue_with_other_prompts_stays_in_one_block() -> None:
    code = "$ ssh shop\nsh-4.2$ psql\npostgres=# \\connect tea\ntea=# UPDATE pots SET milk = null;"
    made = draft(RUN + block("true") + block(code, "console"))
    assert (made.run, made.shown) == (["true"], [code])


def test_a_session_in_a_text_is_a_shown_block() -> None:
    page = "1. Look\nsudo mdadm --detail /dev/md0\n\n2. Remove it\ntea@pot ~ $ sudo tea remove\nremoved\n"
    made = draft(RUN + block("true") + page + "\nStop it:\ndocker stop tea\n")
    assert made.shown == ["sudo mdadm --detail /dev/md0", "tea@pot ~ $ sudo tea remove\nremoved", "docker stop tea"]
    assert made.titles[1:] == ["Look", "Remove it", "Stop it"]


@pytest.mark.parametrize("text", ["Note:\nmake sure that it is hot", "Ask tea@shop.example for $ 5.", "It is:\ngit."])
def test_a_sentence_is_no_session(text: str) -> None:
    assert draft(f"{RUN}{block('true')}{text}\n").shown == []


def test_each_query_below_a_shell_is_a_step() -> None:
    made = draft(
        f"{RUN}Connect to it:\n\n    ssh shop gsql\n\nList the pots:\n\n    select * from pots;\n\n"
        "You will get something like this:\n\n    a | b\n\nNow quit it with:\n\n    \\q\n"
    )
    assert made.shown == ["ssh shop gsql", "select * from pots;", "\\q"]
    assert "> a | b" in made.text


def test_an_output_belongs_to_a_command() -> None:
    made = draft(f"{RUN}{block('true')}Write this:\n\n{block('a: b', 'yaml')}{block('made', '')}")
    assert "Expected output:" not in made.text


def test_a_dialogue_stays_in_the_order_of_its_texts() -> None:
    made = draft(
        f"{RUN}{block('gpg --gen-key', '')}The default is ok, next:\n\n    Which size?\n\nTake it.\n\n    Done?\n"
    )
    text = made.text
    assert text.index("default is ok, next") < text.index("Which size?") < text.index("Take it.") < text.index("Done?")


@pytest.mark.parametrize("heading", ["Known issues and gotchas", "Notes", "Known problems (old)"])
def test_commands_that_only_some_readers_need_ask_first(heading: str) -> None:
    made = draft(f"{RUN}{block('true')}## {heading}\n\n### The milk is slow\n\nTo see it:\n\n{block('df milk')}")
    assert "Does this apply: The milk is slow?" in made.titles
    assert made.run[-1] == "df milk"
    assert f"Does this apply: {heading}?" in draft(f"{RUN}{block('true')}## {heading}\n\n{block('df milk')}").text


def test_a_lead_for_some_of_the_things_is_a_condition() -> None:
    text = f"1. Count pots:\n\n   ```bash\n   df a\n   ```\n\n2. {{}}:\n\n{indent(block('df b'), '   ')}"
    assert "Does this apply: For pots that are cold" in draft(RUN + text.format("For pots that are cold, look")).text
    assert "Does this apply" not in draft(RUN + text.format("For each pot that is cold, look")).text
