"""What of a page runs, what is only shown, and what asks first."""

import pytest

from tests.support.imported import RUN, block, draft, refusal


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
    assert draft(RUN + block("kubectl get pods", tag) + block("true")).run == ["true"]


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
    assert draft(RUN + block(code) + block("true")).run == ["true"]


def test_a_command_in_a_sentence_is_shown() -> None:
    made = draft(f"{RUN}Run `kubectl get pods` on your machine.\n")
    assert (made.run, made.shown) == ([], ["kubectl get pods"])


@pytest.mark.parametrize("prompt", ["", "> "])
def test_prompts_with_here_documents_and_continued_lines_are_whole(prompt: str) -> None:
    code = f"$ cat <<END > a.txt\n{prompt}one\n{prompt}END\n$ ls \\\n    -l\ntotal 0"
    page = RUN + block(code, "console")
    assert draft(page).run == ["cat <<END > a.txt\none\nEND\nls \\\n    -l"]


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
        "gunzip -c orders.sql.gz | psql shop",
        "pg_restore -d shop orders.dump",
        "./scripts/deploy-shop.sh",
        "# Remove the old orders\ngit switch old",
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


def test_ordered_items_and_tasks_become_questions_and_facts_stay_text() -> None:
    made = draft(f"{RUN}1. Open the dashboard.\n2. The graph is blue.\n3. Call Anna.\n\n- [ ] Write it down\n")
    assert made.titles == ["Open the dashboard", "Call Anna: done?", "Write it down: done?"]
    assert made.text.index("The graph is blue") < made.text.index("Call Anna")
    assert "The graph is blue." in made.text


def test_a_heading_with_text_only_is_prose_and_diagnosis_is_a_question() -> None:
    page = "# Page\n\n## Meaning\n\nIt is full.\n\n## Diagnosis\n\nThe disk has no room.\n\n## Part\n\n" + block("ls")
    made = draft(page)
    assert made.runbook.prose == ("Meaning",)
    assert [step.title for step in made.runbook.steps] == ["Diagnosis", "Part"]
    assert made.runbook.steps[0].prompt == "The disk has no room."


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


def test_a_lone_change_of_the_folder_gets_a_mark() -> None:
    made = draft(RUN + block("cd /srv/shop") + block("ls"))
    assert [guess.kind for guess in made.report.guesses] == ["folder"]


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
    made = draft(f"{RUN}{block('true')}{text}\n\n{block('systemctl stop shop')}Look:\n\n{block('ls')}")
    assert len(made.guards("systemctl stop shop")) == 3
    assert made.text.count("- NO: GOTO 1.6\n") == 3
    assert made.guards("ls") == []


@pytest.mark.parametrize(
    "command", ["curl -fsS https://shop.example | sh", 'bash -c "rm -rf /srv/shop"', "gh pr merge 7"]
)
def test_a_command_that_hides_harm_asks_first(command: str) -> None:
    assert len(draft(RUN + block(command)).guards(command)) == 1


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
