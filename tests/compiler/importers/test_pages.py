"""What of a page runs, what is only shown, and what asks first."""

from __future__ import annotations

import pytest

from tests.support.imported import RUN, block, draft, refusal

# --- Commands ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["bash", "sh", "shell", "zsh", "{.bash}", "bash title=x"])
def test_a_block_with_a_shell_tag_runs(tag: str) -> None:
    assert draft(RUN + block("kubectl get pods", tag)).run == ["kubectl get pods"]


@pytest.mark.parametrize("prompt", ["$ ", "% ", "❯ ", "➜ ", "(venv) $ "])
@pytest.mark.parametrize("tag", ["", "console", "bash", "text"])
def test_a_line_with_a_prompt_runs_without_it(tag: str, prompt: str) -> None:
    made = draft(RUN + block(f"{prompt}kubectl get pods\nshop-0", tag))
    assert made.run == ["kubectl get pods"]
    assert "Expected output:\n\n> ```text prompt\n> shop-0\n> ```" in made.text


@pytest.mark.parametrize("tag", ["", "text", "console"])
def test_a_block_without_a_shell_tag_and_prompt_is_shown(tag: str) -> None:
    made = draft(RUN + block("kubectl get pods", tag))
    assert (made.run, made.shown) == ([], ["kubectl get pods"])
    assert [guess.kind for guess in made.report.guesses] == ["shown"]


@pytest.mark.parametrize("tag", ["yaml", "sql", "json", "python", "powershell", "diff"])
def test_a_block_of_another_language_never_runs(tag: str) -> None:
    made = draft(RUN + block("kubectl get pods", tag) + block("true"))
    assert made.run == ["true"]


@pytest.mark.parametrize(
    "code",
    [
        "kubectl get ...",
        "make build …",
        "shop sync [--all] NAME",
        "Runas_Alias ADMINS = anna",
        "name: shop",
        '{"a": 1}',
        "port = 5432",
        "import os",
        "echo 'not closed",
        "if true; then",
        "# only a comment",
        "kubectl get pods \u202e",
        "module shop 1.0;\nallow shop etc:file read;",
    ],
)
def test_a_block_that_does_not_look_like_a_command_never_runs(code: str) -> None:
    made = draft(RUN + block(code) + block("true"))
    assert made.run == ["true"]


def test_a_command_in_a_sentence_is_shown() -> None:
    made = draft(f"{RUN}Run `kubectl get pods` on your machine.\n")
    assert (made.run, made.shown) == ([], ["kubectl get pods"])


def test_prompts_with_here_documents_and_continued_lines_are_whole() -> None:
    page = RUN + block("$ cat <<END > a.txt\none\nEND\n$ ls \\\n    -l\ntotal 0", "console")
    assert draft(page).run == ["cat <<END > a.txt\none\nEND\nls \\\n    -l"]


# --- Questions --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("If the pod is not ready, delete it:", "Does this apply: the pod is not ready?"),
        ("Restart it only when it hangs:", "Does this apply: it hangs?"),
        ("Unless it is new, copy it:", "Does this apply: unless it is new?"),
        ("Otherwise, copy it:", "Does this apply: Otherwise, copy it?"),
        ("When it is small, use `mv a b`. Otherwise, copy it:", "Does this apply: Otherwise, copy it?"),
        ("Alternatively copy it:", "Does this apply: Alternatively copy it?"),
        ("Optional: copy it.", "Does this apply: Optional: copy it?"),
        ("You could try a copy:", "Does this apply: You could try a copy?"),
        ("Before version 2.3, copy it:", "Does this apply: Before version 2.3, copy it?"),
        ("Since shop version 4, you copy it so:", "Does this apply: Since shop version 4, you copy it so?"),
    ],
)
def test_a_condition_asks_first(text: str, title: str) -> None:
    made = draft(f"{RUN}{text}\n\n{block('cp a b')}")
    assert made.guards("cp a b") == [title]
    assert "<!-- rdc: check this: the command has a condition (page line 5) -->" in made.text or "line 7" in made.text


@pytest.mark.parametrize(
    "text", ["Check if the pod is ready:", "See whether it is there.", "To see if it runs, list it:", "List the files:"]
)
def test_a_question_about_the_outcome_is_no_condition(text: str) -> None:
    assert draft(f"{RUN}{text}\n\n{block('ls')}").guards("ls") == []


@pytest.mark.parametrize("heading", ["If the disk is full", "Optional: tidy up", "When it hangs"])
def test_the_condition_of_a_heading_holds_for_all_commands_below_it(heading: str) -> None:
    made = draft(
        f"# Page\n\n## First\n\n{block('true')}## {heading}\n\n{block('df -h')}### Below\n\n{block('du -s')}"
        f"### Then\n\n{block('ls')}{block('ls -l')}## Finally\n\n{block('uptime')}"
    )
    for command in ("df -h", "du -s", "ls", "ls -l"):
        assert len(made.guards(command)) == 1, command
    assert made.guards("uptime") == made.guards("true") == []


def test_the_condition_above_a_list_holds_for_all_its_commands() -> None:
    items = "1. Look:\n\n   ```bash\n   df -h\n   ```\n\n2. Tidy up:\n\n   ```bash\n   ls\n   ```\n\n"
    made = draft(f"{RUN}If the disk is full:\n\n{items}Then:\n\n{block('uptime')}")
    assert made.guards("df -h") == made.guards("ls") == ["Does this apply: the disk is full?"]
    assert made.guards("uptime") == []


@pytest.mark.parametrize(
    "command",
    [
        "kubectl delete pod shop-0",
        "kubectl -n shop rollout restart deployment/shop",
        "sudo systemctl stop nginx",
        "kubectl drain node-1",
        "kubectl patch pod shop-0 -p '{}'",
        "git push origin main",
        "npm publish",
        "rm -rf build",
        "docker compose down",
        "curl -X DELETE https://shop.example/1",
        "psql -c 'DROP TABLE orders'",
        "for pod in a b; do kubectl delete pod $pod; done",
        "terraform apply",
        "find . -name '*.tmp' -delete",
        "gh issue comment 7 --body-file report.md",
        "gh pr create --fill",
        "gh api repos/shop/tea/issues/7/labels -f name=late",
        "gunzip -c orders.sql.gz | psql shop",
        "pg_restore -d shop orders.dump",
        "./scripts/deploy-shop.sh",
        "# Remove the old orders\nshop tidy",
    ],
)
def test_a_command_that_does_harm_asks_first(command: str) -> None:
    made = draft(RUN + block(command))
    assert len(made.guards(command)) == 1
    assert [guess.kind for guess in made.report.guesses] == ["harm"]


@pytest.mark.parametrize(
    "command",
    [
        "kubectl get pods",
        "grep delete log.txt",
        "echo stop",
        "git log --all",
        "ls /restart",
        "gh issue view 7",
        "lsb_release -a",
        "gh api graphql -f query='{viewer{login}}'",
        "# Don't worry\nls",
    ],
)
def test_a_command_that_only_reads_asks_nothing(command: str) -> None:
    assert draft(RUN + block(command)).guards(command) == []


def test_no_leads_to_the_step_after_the_command() -> None:
    made = draft(f"# Page\n\n## First\n\n{block('rm a')}## Then\n\n{block('ls')}{block('rm b')}")
    assert "- NO: GOTO 2\n" in made.text
    assert made.text.count("- NO: COMPLETE\n") == 1


# --- Other machines ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        "ssh host",
        "oc debug node/one",
        "oc rsh pod",
        "chroot /host",
        "psql -h db",
        "kubectl exec -it shop-0 -- bash",
        "docker run -it alpine sh",
        "sudo -i",
        "sudo su - postgres",
        "python3",
        "mysql -u root",
        "rails console",
    ],
)
def test_after_a_shell_is_opened_nothing_runs_in_the_section(command: str) -> None:
    page = f"{RUN}{block('uptime')}{block(command)}Then:\n\n{block('ls')}### Below\n\n{block('whoami')}"
    made = draft(page)
    assert made.run == ["uptime"]
    assert made.shown == [command, "ls", "whoami"]


def test_a_shell_and_commands_in_the_same_block_are_shown() -> None:
    assert draft(RUN + block("ssh host\nsystemctl status nginx")).run == []


def test_the_next_section_asks_which_machine_it_is_for() -> None:
    made = draft(f"# Page\n\n## First\n\n{block('ssh host')}## Then\n\n{block('ls')}{block('df')}")
    assert made.run == ["ls", "df"]
    assert made.titles.count("Do the next commands run on this machine?") == 1
    assert [guess.kind for guess in made.report.guesses] == ["shown", "machine"]


@pytest.mark.parametrize(
    "prompt", ["[root@host ~]# ", "sh-4.4# ", "mysql> ", "irb(main):001> ", "PS C:\\> ", "anna@box:~$ ", ">>> "]
)
@pytest.mark.parametrize("tag", ["", "console", "bash"])
def test_a_prompt_of_another_machine_or_program_is_shown(tag: str, prompt: str) -> None:
    assert draft(RUN + block(f"{prompt}ls", tag) + block("true")).run == ["true"]


@pytest.mark.parametrize(
    "command", ["vim a.txt", "kubectl edit pod a", "tail -f log", "kubectl logs -f a", "top", "crontab -e"]
)
def test_an_editor_or_an_endless_command_is_shown_alone(command: str) -> None:
    made = draft(RUN + block(command) + block("true"))
    assert (made.run, made.shown) == (["true"], [command])


# --- Structure --------------------------------------------------------------------------------------------------------


def test_ordered_items_and_tasks_become_questions_and_facts_stay_text() -> None:
    made = draft(f"{RUN}1. Open the dashboard.\n2. The graph is blue.\n3. Call Anna.\n\n- [ ] Write it down\n")
    assert made.titles == ["Open the dashboard: done?", "Call Anna", "Write it down: done?"]
    assert "The graph is blue." in made.text


def test_a_heading_with_text_only_is_prose_and_diagnosis_is_a_question() -> None:
    page = "# Page\n\n## Meaning\n\nIt is full.\n\n## Diagnosis\n\nThe disk has no room.\n\n## Part\n\n" + block("ls")
    made = draft(page)
    assert made.runbook.prose == ("Meaning",)
    assert [step.title for step in made.runbook.steps] == ["Diagnosis", "Part"]
    assert made.runbook.steps[0].prompt == "The disk has no room."


def test_a_heading_without_text_stays_above_its_first_child() -> None:
    made = draft(f"# Page\n\n## Parts\n\n### One\n\n{block('ls')}{block('df')}")
    assert made.runbook.steps[0].prompt == "**Parts**"


def test_a_rollback_is_a_step_that_nothing_leads_to() -> None:
    made = draft(f"{RUN}{block('ls')}## Rollback\n\n{block('cp a b')}")
    assert [step.id for step in made.runbook.steps] == [1, "Rollback"]
    assert "<!-- rdc: check this: no step leads here yet (page line 9) -->" in made.text
    assert made.text.endswith("- PASS: STOP\n")


def test_check_and_wait_below_a_command_are_questions() -> None:
    made = draft(f"{RUN}{block('ls')}Verify that the file is there. It is small.\n\nThat was all.\n")
    assert made.titles == ["Part", "Verify that the file is there"]


@pytest.mark.parametrize(
    "page",
    [
        "",
        "# Page\n\nText.\n",
        "# Options\n\n| a | b |\n| --- | --- |\n",
        "# Page\n\n1. Open it.\n",
        "---\n---\n\n```json\n{}\n```\n",
    ],
)
def test_a_page_without_a_procedure_is_refused(page: str) -> None:
    assert refusal(page).kind == "no-procedure"


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


# --- Values -----------------------------------------------------------------------------------------------------------


def test_placeholders_of_the_first_command_are_inputs_and_later_ones_are_asked_for() -> None:
    made = draft(f"{RUN}{block('ls <folder>')}{block('cat <file-name> <folder>')}")
    assert made.run == ['ls "$FOLDER"', 'cat "$FILE_NAME" "$FOLDER"']
    assert [one.input.name for one in made.runbook.declared.inputs] == ["FOLDER"]
    assert list(made.runbook.declared.asked) == ["FILE_NAME"]


def test_a_value_that_is_first_needed_in_a_skipped_step_is_asked_for_above_it() -> None:
    page = f"{RUN}{block('ls')}If it is old, look:\n\n{block('cat <name>')}Look again:\n\n{block('head <name>')}"
    titles = draft(page).titles
    assert titles.index("Which name?") < titles.index("Does this apply: it is old?")


def test_a_value_that_only_a_skipped_step_needs_is_asked_for_in_it() -> None:
    titles = draft(f"{RUN}{block('ls')}If it is old, look:\n\n{block('cat <name>')}{block('ls -l')}").titles
    assert titles.index("Which name?") > titles.index("Does this apply: it is old?")


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


def test_a_lone_change_of_the_folder_gets_a_mark() -> None:
    made = draft(RUN + block("cd /srv/shop") + block("ls"))
    assert [guess.kind for guess in made.report.guesses] == ["folder"]


def test_each_guess_names_its_lines_in_the_page_and_in_the_draft() -> None:
    made = draft(f"{RUN}If it is old, look:\n\n{block('ls')}{block('rm a')}")
    lines = made.text.split("\n")
    assert [(one.kind, one.line) for one in made.report.guesses] == [("condition", 7), ("harm", 11)]
    assert "check this" in lines[made.report.guesses[0].draft_line - 1]
    assert lines[made.report.guesses[1].draft_line - 1].startswith("### ")


@pytest.mark.parametrize(
    "text",
    ["If it fails, force it:", "If this is not enough:", "If the output is empty, you can force it.\n\nRun this:"],
)
def test_a_condition_below_a_command_is_one_of_the_next_command(text: str) -> None:
    assert len(draft(f"{RUN}{block('ls')}{text}\n\n{block('cp a b')}").guards("cp a b")) == 1


def test_several_ways_side_by_side_are_not_all_taken() -> None:
    page = f"# Install\n\n## Install with pip\n\n{block('pip install shop')}"
    made = draft(f"{page}## Install with conda\n\n{block('conda install shop')}")
    assert made.guards("pip install shop") == ["Does this apply: Install with pip?"]
    assert made.guards("conda install shop") == ["Does this apply: Install with conda?"]
    assert draft(page).guards("pip install shop") == []


@pytest.mark.parametrize("title", ["On macOS", "Linux", "Option 2: by hand", "Using Docker", "Shadow group (FreeBSD)"])
def test_a_heading_of_one_way_asks_first(title: str) -> None:
    assert draft(f"# Page\n\n## {title}\n\n{block('true')}").guards("true") == [f"Does this apply: {title}?"]


@pytest.mark.parametrize(
    "command", ["npm run dev", "flask --app shop serve", "docker compose up", "/path/to/shop --help"]
)
def test_a_server_and_a_path_of_an_example_are_shown(command: str) -> None:
    assert draft(RUN + block(command)).run == []


def test_only_the_number_of_a_heading_is_left_out() -> None:
    made = draft(f"# Page\n\n## 3. Step 1: Look\n\n{block('true')}")
    assert [step.title for step in made.runbook.steps] == ["Step 1: Look"]


def test_a_placeholder_in_a_comment_stays_as_written() -> None:
    made = draft(RUN + block("ls <folder> # <folder>\n# <name>"))
    assert made.run == ['ls "$FOLDER" # <folder>\n# <name>']
    assert [one.input.name for one in made.runbook.declared.inputs] == ["FOLDER"]


@pytest.mark.parametrize("title", [".gitignore and others", ". Look", "- Look", "— Look", ": Look"])
def test_a_title_is_whole_after_the_number(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\n{block('true')}")
    assert made.runbook.steps[0].title.strip("`. ").startswith(("gitignore` and others", "Look"))


@pytest.mark.parametrize("between", ["", block("true")])
def test_more_sections_than_a_runbook_can_name_become_text(between: str) -> None:
    page = "# Page\n\n" + "".join(
        f"## About {n}\n\nText {n}.\n\n{between and f'## Part {n}'}\n\n{between}" for n in range(120)
    )
    made = draft(f"{page}## Steps\n\n{block('ls')}")
    assert len(made.runbook.prose) == 100
    assert "**About 119**\n\nText 119." in made.text


@pytest.mark.parametrize("text", ["Or:", "or", "Instead, copy it:", "Another option:", "You can also copy it:"])
def test_one_of_two_commands_asks_first(text: str) -> None:
    assert len(draft(f"{RUN}{block('ls')}{text}\n\n{block('cp a b')}").guards("cp a b")) == 1


@pytest.mark.parametrize(
    "text",
    [
        "On the server, look at the disk:",
        "Run this on each node:",
        "Run the following command in all etcd pods.",
        "Inside the container:",
    ],
)
def test_a_text_about_another_machine_asks_first(text: str) -> None:
    made = draft(f"{RUN}{text}\n\n{block('df -h')}")
    assert made.guards("df -h") == ["Does the next command run on this machine?"]
    assert [guess.kind for guess in made.report.guesses] == ["machine"]


def test_a_text_about_this_machine_asks_nothing() -> None:
    assert draft(f"{RUN}On your machine, look:\n\n{block('df -h')}").guards("df -h") == []


def test_several_questions_before_a_command_skip_it_together() -> None:
    text = "If it hangs, stop it on each node:"
    page = f"{RUN}{block('true')}{text}\n\n{block('systemctl stop shop')}Look:\n\n{block('ls')}"
    made = draft(page)
    assert len(made.guards("systemctl stop shop")) == 3
    assert made.text.count("- NO: GOTO 1.6\n") == 3
    assert made.guards("ls") == []


@pytest.mark.parametrize(
    "command", ["curl -fsS https://shop.example | sh", 'bash -c "rm -rf /srv/shop"', "gh pr merge 7"]
)
def test_a_command_that_hides_harm_asks_first(command: str) -> None:
    assert len(draft(RUN + block(command)).guards(command)) == 1


def test_a_question_for_a_value_is_skipped_with_its_command() -> None:
    made = draft(f"{RUN}{block('ls')}If it is old, look:\n\n{block('cat <name>')}Wait.\n\n{block('uptime')}")
    assert made.titles == ["Part", "Does this apply: it is old?", "Which name?", "Look", "Wait"]
    assert "- NO: GOTO 1.5\n" in made.text


def test_a_condition_that_opens_a_section_asks_before_all_its_commands() -> None:
    text = "If it is old, read its label.\n\nThen, from the folder of the shop, copy the whole order:"
    made = draft(f"{RUN}{text}\n\n{block('cp a b')}Look:\n\n{block('ls')}")
    assert made.guards("cp a b") == ["Does this apply: it is old?"]
    assert made.guards("ls") == ["Does this apply: it is old?"]


def test_a_lead_of_a_block_stays_above_it_though_it_has_a_command() -> None:
    made = draft(f"{RUN}If you want `sudo shop status` to work, install it by running this:\n\n{block('cp a b')}")
    assert made.guards("cp a b") == ["Does this apply: you want sudo shop status to work?"]
    assert (made.run, made.shown) == (["cp a b"], [])


@pytest.mark.parametrize(
    "text",
    [
        "- Never run `git push --force`.",
        "Don't use `git status -uno` here.",
        "Run the script instead of `git reset --hard`.",
        "| run | `git log -3` |\n| --- | --- |",
    ],
)
def test_a_command_that_a_sentence_forbids_is_no_command(text: str) -> None:
    made = draft(f"{RUN}{block('true')}{text}\n")
    assert (made.run, made.shown) == (["true"], [])


@pytest.mark.parametrize("text", ["Stop the shop using `docker compose down`.", "Check it with `docker ps -a`."])
def test_a_command_that_a_sentence_uses_is_shown(text: str) -> None:
    assert len(draft(f"{RUN}1. {text}\n2. Wait.\n").shown) == 1


@pytest.mark.parametrize("title", ["Why", "What is it?", "When not to use it", "Examples"])
def test_a_numbered_list_below_a_heading_that_explains_is_text(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\n1. Copy the order.\n2. Run `shop tidy now`.\n\n## Part\n\n{block('true')}")
    assert made.titles == ["Part"]
    assert list(made.runbook.prose) == [title]


def test_a_numbered_phase_is_a_question() -> None:
    made = draft(f"# Page\n\n## Phase 1: Look\n\nThe logs help.\n\n## Phase 2: Tidy\n\n{block('true')}")
    assert made.titles == ["Phase 1: Look", "Phase 2: Tidy"]


@pytest.mark.parametrize("text", ["Connect to your server via SSH.", "Log in to the new host.", "SSH into shop-1."])
def test_after_an_item_that_enters_a_machine_the_next_command_asks(text: str) -> None:
    made = draft(f"{RUN}1. {text}\n2. Look:\n\n   ```bash\n   df -h\n   ```\n")
    assert made.guards("df -h") == ["Do the next commands run on this machine?"]


def test_an_item_about_a_web_page_enters_no_machine() -> None:
    made = draft(f"{RUN}1. Log in to the dashboard.\n2. Look:\n\n   ```bash\n   df -h\n   ```\n")
    assert made.titles == ["Log in to the dashboard: done?", "Look"]


@pytest.mark.parametrize("between", ["", "Then look:\n\n", "After that, look:\n\n"])
def test_a_condition_holds_for_the_commands_that_continue_it(between: str) -> None:
    text = f"If it is old, copy it:\n\n{block('cp a b')}{between}{block('ls')}"
    made = draft(f"{RUN}{block('true')}{text}Look at the clock:\n\n{block('date')}")
    assert made.guards("ls") == ["Does this apply: it is old?"]
    assert made.guards("date") == []


@pytest.mark.parametrize("other", ["Otherwise, look:", "If it is new, look:"])
def test_a_condition_ends_at_the_next_one(other: str) -> None:
    made = draft(f"{RUN}If it is old, copy it:\n\n{block('cp a b')}{other}\n\n{block('ls')}{block('date')}")
    assert len(made.guards("ls")) == len(made.guards("date")) == 1
    assert made.guards("ls") != ["Does this apply: it is old?"]


@pytest.mark.parametrize("title", ["Full disk -> tidy", "Full → tidy", "Config not found", "The shop won't start"])
def test_a_heading_of_a_case_asks_first(title: str) -> None:
    assert len(draft(f"# Page\n\n## {title}\n\n{block('true')}").guards("true")) == 1


@pytest.mark.parametrize("item", ["`df -h`", "Command: `df -h`", "**Disk**: `df -h`", "Free space: `df -h`."])
def test_an_item_that_is_only_a_command_is_shown(item: str) -> None:
    assert draft(f"{RUN}{block('true')}Look:\n\n- {item}\n- The clock\n").shown == ["df -h"]


@pytest.mark.parametrize(
    "text", ["Stop it with Ctrl-C.", "The command keeps running.", "Leave it running in another window."]
)
def test_a_command_that_a_text_calls_endless_is_shown(text: str) -> None:
    assert draft(f"{RUN}{block('true')}{block('shop open')}{text}\n").shown == ["shop open"]
    assert draft(f"{RUN}{text}\n\n{block('shop open')}{block('true')}").run == ["true"]
    comment = f"# {text}\nshop open"
    assert draft(f"{RUN}{block(comment)}{block('true')}").run == ["true"]


@pytest.mark.parametrize("text", ["Follow the logs of the shop:", "Stream its logs:"])
def test_a_command_that_follows_logs_is_shown(text: str) -> None:
    assert draft(f"{RUN}{text}\n\n{block('shop logs')}{block('true')}").run == ["true"]


@pytest.mark.parametrize(
    "command",
    [
        "docker exec -it shop ls -l",
        "docker exec -it -u root shop ls -l",
        "kubectl exec -it shop-0 -c web -- ls -l",
        "docker run --rm -it tools ls -l",
    ],
)
def test_a_command_in_a_container_opens_no_shell(command: str) -> None:
    assert draft(RUN + block(command) + block("df -h")).run == [command, "df -h"]


@pytest.mark.parametrize(
    "command",
    [
        "docker exec -it shop bash",
        "docker compose exec shop bash",
        "docker-compose exec shop sh",
        "docker run -it tools",
        "kubectl exec -it shop-0 -- psql",
        "docker exec -it shop env A=1 sh",
    ],
)
def test_a_shell_in_a_container_is_one(command: str) -> None:
    assert draft(RUN + block(command) + block("df -h")).run == []


@pytest.mark.parametrize("command", ["docker exec -it shop rake db:migrate", "npm run cache:flush", "rake stock:reset"])
def test_a_task_that_does_harm_asks_first(command: str) -> None:
    assert len(draft(RUN + block(command)).guards(command)) == 1


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
    [
        ("Blue / red cups — put them on the tray:", "Blue / red cups"),
        ("Green tea — list its leaves:", "Green tea"),
        ("**Cold-pot recovery:** list the pots:", "Cold-pot recovery"),
    ],
)
@pytest.mark.parametrize("mark", ["1.", "-"])
def test_an_item_that_names_a_case_asks_first(item: str, case: str, mark: str) -> None:
    made = draft(f"{RUN}{block('true')}Cups:\n\n{mark} {item}\n\n   ```bash\n   ls a\n   ```\n")
    assert made.guards("ls a") == [f"Does this apply: {case}?"]


@pytest.mark.parametrize(
    ("lead", "case"),
    [
        ("**Cold-pot recovery**\n\nIt is short.", "Cold-pot recovery"),
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


@pytest.mark.parametrize(
    "lead",
    ["**Copy cups — all of them:**", "**Smoke test — look:**", "**Cups and pots:**", "Green tea — list its leaves:"],
)
def test_a_lead_that_names_no_case_asks_nothing(lead: str) -> None:
    assert draft(f"{RUN}{block('true')}{lead}\n\n{block('ls a')}").guards("ls a") == []


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
    assert len(draft(RUN + block("shop add <tea:cup>") + block("shop add <tea:cup> <name>")).shown) == 1


@pytest.mark.parametrize(
    "comment", ["On non-Linux machines", "Optional", "Example for a big pot", "If the pot is cold", "With docker"]
)
@pytest.mark.parametrize("code", ["# {}\nls a\nls b", "ls a  # {}\nls b"])
def test_a_block_whose_comment_names_a_case_or_an_example_is_shown(comment: str, code: str) -> None:
    made = draft(RUN + block(code.format(comment)) + block("true"))
    assert made.run == ["true"]


@pytest.mark.parametrize("code", ["# Look at the cups\nls a", "# If it is cold\nif [ -f a ]; then\n  ls b\nfi"])
def test_a_block_whose_comments_name_no_other_case_runs(code: str) -> None:
    assert draft(RUN + block(code)).run == [code]


@pytest.mark.parametrize(
    "text", ["Start the server:", "The pot is hot. Now launch the shop:", "The second node can be started:"]
)
def test_a_command_that_starts_something_is_shown(text: str) -> None:
    assert draft(f"{RUN}{text}\n\n{block('shop --port 80')}{block('true')}").run == ["true"]


@pytest.mark.parametrize("command", ["sudo systemctl start shop", "docker run -d shop", "shop open &"])
def test_a_command_that_starts_something_and_ends_runs(command: str) -> None:
    assert draft(f"{RUN}Start the shop:\n\n{block(command)}").run == [command]


@pytest.mark.parametrize(
    "text", ["To get started, look:", "Start by looking:", "Start with the cups:", "It has started. Look:"]
)
def test_a_text_about_a_first_command_starts_nothing(text: str) -> None:
    assert draft(f"{RUN}{text}\n\n{block('shop list')}").run == ["shop list"]


def test_a_command_that_opens_a_page_on_this_machine_is_shown() -> None:
    text = "Now you can visit http://localhost:8080 in a browser."
    assert draft(f"{RUN}{block('true')}{block('shop -p 8080')}{text}\n").run == ["true"]


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
    commands = ("shop list", "shop add a", "sudo shop rename a b", "shop tidy")
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
    made = draft(f"{RUN}{block('true')}{lead}\n\n1. Read the orders.\n2. Copy them.\n")
    assert made.titles == ["Part"]


def test_an_ordered_list_of_what_a_person_will_do_has_steps() -> None:
    made = draft(f"{RUN}{block('true')}Now you will:\n\n1. Read the orders.\n2. Copy them.\n")
    assert made.titles == ["Part", "Read the orders", "Copy them: done?"]


@pytest.mark.parametrize("title", ["Steps", "The workflow", "Opening procedure"])
def test_an_ordered_list_below_a_heading_of_a_sequence_has_steps(title: str) -> None:
    made = draft(f"# Page\n\n## {title}\n\n1. Black tea\n2. Mint\n\n## Part\n\n{block('true')}")
    assert made.titles == ["Black tea: done?", "Mint: done?", "Part"]


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


def test_the_title_of_a_sample_is_the_text_that_asks_to_use_it() -> None:
    made = draft(f"{RUN}{block('true')}The pot is big. Here you use this tea:\n\n{block('tea: 1', 'yaml')}")
    assert made.titles[1] == "Here you use this tea"


def test_a_note_in_a_block_is_text() -> None:
    made = draft(f"{RUN}{block('true')}Use the pot.\n\n{block('The pot is hot.', '{note}')}")
    assert made.titles == ["Part"]


def test_the_purpose_of_a_command_is_its_title() -> None:
    assert (
        "Brew a pot"
        in draft(f"{RUN}To brew a pot, use the following command:\n\n{block('ls a')}{block('ls b')}").titles
    )


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


def test_a_page_that_makes_and_deletes_one_thing_is_refused() -> None:
    verbs = ("Create", "List", "Rename", "Delete")
    page = "".join(f"## {verb} an order\n\n{block(f'shop {verb.lower()} a')}" for verb in verbs)
    assert refusal(f"# Shop\n\n{page}").kind == "no-procedure"
    assert draft(f"# Shop\n\n{page}".replace("Delete", "Copy")).report.steps == 4


def test_a_numbered_item_with_a_sample_is_a_step() -> None:
    made = draft(f"{RUN}1. Read a.\n2. Read b.\n3. The pot is **not** hot. If it is, stop:\n   ```\n   hot\n   ```\n")
    assert len(made.titles) == 3
    assert made.titles[2] == "The pot is not hot"


def test_a_text_above_a_bold_step_belongs_to_the_command_above() -> None:
    page = f"{block('true')}If this fails, stop.\n\n**Step 2 — Push.**\n\n{block('git push')}"
    made = draft(RUN + page)
    assert made.plain_titles[1] == "If this fails, stop"
    assert not any("fails" in title for title in made.guards("git push"))


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Re-open the pot: `make open POT=a`", ["make open POT=a"]),
        ("Keep the hash: `git rev-parse HEAD`.", ["git rev-parse HEAD"]),
        ("The name of `git run list`", []),
        ("`pot.name`: the name for `gh run list`", []),
    ],
)
def test_a_command_at_the_end_of_a_sentence_is_shown(text: str, shown: list[str]) -> None:
    assert draft(f"{RUN}{block('true')}{text}\n").shown == shown


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("If it fails for a reason, stop and report it", "If it fails for a reason, stop and report it"),
        ("If the pot is empty: fill it", "If the pot is empty: fill it"),
        ("If empty: fill it", "If empty: fill it"),
        ("Print.", "Print"),
    ],
)
def test_the_title_of_an_item_keeps_its_condition(text: str, title: str) -> None:
    assert draft(f"{RUN}{block('true')}1. {text}\n2. Copy it.\n").plain_titles[1] == title
