"""Paths that went wrong once, each as small as it can be."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.backends.github.continued import Run, ending, outcomes
from tests.backends.github.walking import Engine
from tests.support.github.compiling import text_of
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

SUMMARY = {"checkout": False, "summary": True}


def test_outputs_of_a_command_in_a_loop_do_not_touch_those_of_the_loop(tmp_path: Path, walk: Engine) -> None:
    document = (
        command("1. Build", "printf 'version=1.2' >> \"$GITHUB_OUTPUT\"; test -f ok", "FAIL: GOTO Fix")
        + command("2. Deploy", 'echo deployed >> "$LOG"', "PASS: COMPLETE Deployed")
        + command("Fix", "touch ok", "PASS: GOTO 1", "FAIL: GOTO 1")
    )
    ran = walk(text_of(tmp_path, document, SUMMARY), env={"LOG": str(tmp_path / "log")})
    assert ending(ran) == "COMPLETE Deployed"
    assert (tmp_path / "log").read_text(encoding="utf-8") == "deployed\n"


def test_a_loop_that_is_killed_is_no_end(tmp_path: Path, walk: Engine) -> None:
    document = command("1. Die", "kill -9 $PPID; sleep 1", "PASS: COMPLETE", "FAIL: GOTO 2") + command(
        "2. Again", "true", "PASS: GOTO 1"
    )
    text = text_of(tmp_path, document, SUMMARY)
    ran = walk(text)
    assert ran.exit_code
    assert "COMPLETE" not in ran.summary
    assert outcomes(ran)["COMPLETE"] == "skipped"


@pytest.mark.parametrize(
    ("document", "end"),
    [
        ('## {N}. Item {N}\n\n```bash\ntrue\n```\n\n- PASS: COMPLETE "finished {N}"\n', "COMPLETE finished 1"),
        ('## {N}. Item {N}\n\n```bash\nfalse\n```\n\n- FAIL: STOP "broken {N}, not ${N}"\n', "STOP broken 1, not ${N}"),
        (
            '## 1. All\n\n### 1.{n} One\n\n```bash\nfalse\n```\n\n- FAIL: STOP "item {n}"\n',
            "STOP item 1",
        ),
    ],
)
def test_placeholders_in_messages_outside_of_loops(document: str, end: str, tmp_path: Path, walk: Engine) -> None:
    text = text_of(tmp_path, document, SUMMARY)
    shown = ending(walk(text))
    assert re.sub(r"\\(.)", r"\1", shown) == end


@pytest.mark.parametrize("name", ["answers", "journal"])
def test_names_of_steps_are_no_names_of_files(name: str, tmp_path: Path) -> None:
    begin = f'## 1. Begin\n\n```bash\necho begin >> "$LOG"\n```\n\n- PASS: GOTO {name}\n\n'
    named = f'## {name}\n\n```bash\necho {name} >> "$LOG"\n```\n\n- PASS: GOTO Ask2\n\n'
    run = Run(tmp_path, f"{begin}{named}## Ask2\n\nAgain?\n\n- NO: GOTO {name}\n- YES: COMPLETE Fine\n")
    assert ending(run()) == "WAITING Ask2"
    assert ending(run(resume="1", answers="no")) == "WAITING Ask2"
    assert ending(run(resume="2", answers="yes")) == "COMPLETE Fine"
    assert run.done() == ["begin", name, name]


def test_a_command_in_a_loop_sees_its_own_variables(tmp_path: Path, walk: Engine) -> None:
    document = command(
        "1. Show", 'echo "$next $step $code $outcome $N" >> "$LOG"', "PASS: COMPLETE", "FAIL: GOTO 2"
    ) + command("2. Never", "true", "PASS: GOTO 1")
    values = {"next": "v2", "step": "kg", "code": "abc", "outcome": "good", "N": "7"}
    text = text_of(tmp_path, document, {"checkout": False, "summary": True, "env": values})
    walk(text, env={"LOG": str(tmp_path / "log")})
    assert (tmp_path / "log").read_text(encoding="utf-8") == "v2 kg abc good 7\n"


NAMED = (
    command("1. Build", "true", "FAIL: GOTO Drain")
    + "## Drain the hot node\n\n"
    + command("### Drain.1 Look at it", "true")
    + command("### Drain.Off switch", "true", "PASS: GOTO Again")
    + command("Again and again", "true", "FAIL: GOTO Drain.Off")
)


def test_titles_read_as_they_were_written(tmp_path: Path) -> None:
    text = text_of(tmp_path, NAMED, {"checkout": False, "summary": True})
    assert "      # --- Drain the hot node\n" in text
    assert "- name: 1. Build\n" in text
    assert "- name: Drain.1. Look at it\n" in text
    assert "run 'and again' bash" in text
    assert "run 'switch' bash" in text


def test_conditions_name_steps_as_the_program_does_whose_nodes_are_in_another_order(
    tmp_path: Path, walk: Engine
) -> None:
    document = (
        question("1. Is it needed?", "Look at the list.", "YES: GOTO 3.{n}", 'NO: RETRY 1 COMPLETE "Not now"')
        + command("2. Say it", 'echo never >> "$LOG"')
        + "## 3. Deploy\n\n"
        + command("### 3.{n} Deploy it", 'echo deployed >> "$LOG"', "PASS: COMPLETE Deployed")
    )
    options = {"checkout": False, "summary": True, "prompts": "agent", "agent": "echo YES", "runtime": "inline"}
    text = text_of(tmp_path, document, options)
    ran = walk(text, env={"LOG": str(tmp_path / "log")})
    assert ending(ran) == "COMPLETE Deployed"
    assert (tmp_path / "log").read_text(encoding="utf-8") == "deployed\n"
