"""Makefiles that ask: questions, gates, inputs at a terminal, and secrets (I26), which no file holds."""

import json
import re
import subprocess
import time
from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.program import Input, Program, Slot
from compiler.ir.texts import text
from tests.backends.make.loops import Terminal, written
from tests.support import warm
from tests.support.backend_programs import Made, always, ask, gate, node, program, ref, shell, slots, when, words
from tests.support.makefiles import Place, environment
from tests.support.runbooks import command

pytestmark = pytest.mark.process


def questions() -> Program:
    """A program that asks in every form; its replies are shown at the end."""
    keeps = [Keep(name) for name in "abcde"]
    return program(
        node("pf", ask("pass_fail"), when("pass", "yn", keeps[0]), when("fail", "stop")),
        node("yn", ask("yes_no"), when("pass", "co", keeps[1]), when("fail", "stop")),
        node("co", ask("confirm"), when("no", "in", keeps[2]), when("yes", "stop")),
        node("in", ask("input"), always("se", keeps[3])),
        node("se", ask("select", words("<", ref("d"), ">"), text("other")), when("<{d}>", "g", keeps[4]),
             when("other", "stop")),
        node("g", gate("why"), when("approved", "h"), when("rejected", "stop")),
        node("h", gate(), when("approved", "stop"), when("rejected", "done")),
        message=words(*(part for name in "abcde" for part in (ref(name), ";"))),
        slots=slots(*"abcde"),
    )  # fmt: skip


def test_what_is_printed_for_a_step_that_waits_can_be_pasted(tmp_path: Path) -> None:
    """Under any name of the Makefile, for each form of question; the first reply that is offered is given."""
    made, name = Made(tmp_path, questions()), "it's.mk"
    (tmp_path / "Makefile").rename(tmp_path / name)
    given = {"in": "< x'$(touch pwned)`touch pwned`", "se": "<< x'$(touch pwned)`touch pwned`>"}
    done = made.make("-f", name)
    for _ in range(6):
        lines = re.findall("^rdc: to (?:answer|continue): (.*)$", done.stdout.decode(), re.MULTILINE)
        answer, *_, resume = lines
        assert len(lines) == (2 if "REPLY=-" in answer else 3)
        step = done.stdout.decode().split()[-1]
        if step in given:
            assert answer.endswith(" < FILE")
            answer = answer.replace("FILE", step)
            (tmp_path / step).write_text(given[step], encoding="utf-8")
        for each in (answer if step != "co" else lines[1], resume):
            done = subprocess.run(["sh", "-c", each], cwd=tmp_path, env=warm.forking(environment({})),
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)  # fmt: skip
        if step == "g":
            break
    assert done.stdout.decode().endswith("rdc: WAITING h\n")
    last = made.end("-f", name, "answer", "STEP=h", "REPLY=rejected")
    assert last == f"rdc: COMPLETE pass;yes;no;{given['in']};<{given['in']}>;"
    assert made.end("-f", name, "resume") == last
    assert not (tmp_path / "pwned").exists()


def test_answers_come_from_a_file_and_a_gate_is_opened_by_name_only(tmp_path: Path) -> None:
    made = Made(tmp_path, questions())
    lines = [
        "co no", "pass", "in<<END", "\f", " two", " ", "lines # x\u2003 \v", "", "END", "yes", "approved",
        "se<<END", "<two", " ", "lines # x\u2003>", "END",
    ]  # fmt: skip
    (tmp_path / "answers").write_text("\ufeff" + "\r\n".join([*lines, "h rejected", ""]), encoding="utf-8")
    refused = "rdc: error: line 12 of answers: <two lines # x >: expected one of <two lines # x >, other"
    assert made.end("ANSWERS=answers") == refused
    (tmp_path / "answers").write_text("\n".join([*lines, "h rejected", ""]), encoding="utf-8")
    made.make("clean")
    assert made.end("ANSWERS=answers") == "rdc: WAITING g"
    assert made.end("resume", "ANSWERS=answers", "HUMAN=1").startswith("rdc: COMPLETE pass;yes;no;two lines # x")
    values = json.loads(made.make("status", "JSON=1").stdout)["slots"]
    reply = "two\n \nlines # x\u2003"
    assert (values["d"], values["e"]) == (reply, f"<{reply}>")


def test_links_in_the_state_lead_nowhere(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", ask("input"), always("done", Keep("a"))), slots=slots("a")))
    victim, folder = tmp_path / "victim", tmp_path / "folder"
    victim.write_text("mine", encoding="utf-8")
    folder.mkdir()
    made.state.mkdir(parents=True)
    for name, to in (("new", victim), ("journal.whole", victim), ("prompts", folder)):
        (made.state / name).symlink_to(to)
        assert f"/{name} is a link" in made.end()
        (made.state / name).unlink()
    assert made.end() == "rdc: WAITING 1"
    made.make("answer", "STEP=1", "REPLY=yours")
    assert (made.end("resume"), victim.read_text(), list(folder.iterdir())) == ("rdc: COMPLETE", "mine", [])


def two() -> Program:
    """A program that shows the values of its two inputs."""
    return program(
        node("1", shell("true")),
        message=words("<", ref("a"), "|", ref("b"), ">"),
        slots=(Slot("a"), Slot("b")),
        inputs=(Input("a", type="text"), Input("b", type="text", description="what it is")),
    )


def test_a_missing_input_is_asked_for_at_a_terminal(tmp_path: Path) -> None:
    made = Made(tmp_path, two())
    terminal = Terminal(made)
    for prompt, typed in (("a (several lines", "it's $(x)\n"), ("", "\n"), ("b (several", "second\n"), ("", "\n")):
        time.sleep(0.15)  # whoever types is slower than a paste
        terminal.answer(typed, after=prompt)
    assert terminal.end() == "rdc: COMPLETE <it's $(x)|second>"
    assert "b: what it is" in terminal.seen
    assert "input b: a value is required; set it with b=VALUE" in made.end("a=x")


REGION = "---\nrdc:\n  inputs:\n    REGION: {default: eu}\n    stage: {default: test}\n---\n# Shows\n\n" + command(
    "1. Show", 'printf "%s\\n" "$REGION $stage $TAG" > seen', shell="sh"
)


def test_make_warns_of_a_variable_that_is_nearly_an_input(tmp_path: Path) -> None:
    place = Place(tmp_path, REGION)
    meant = {"REGOIN": "REGION", "REGIO": "REGION", "region": "REGION", "REGIONS": "REGION", "STAGE": "stage"}
    meant |= {"satge": "stage"}
    done = place.make(*(f"{name}=$(shell touch canary)" for name in meant))
    for name, right in meant.items():
        assert f"rdc: warning: {name} is not an input; did you mean {right}?\n" in done.stderr
    assert (done.stderr.count("warning"), place.lines("seen")) == (len(meant), ["eu test "])
    assert not (tmp_path / "canary").exists()


def test_make_does_not_warn_of_other_variables(tmp_path: Path) -> None:
    place = Place(tmp_path, REGION)
    (tmp_path / "x").touch()
    for given in ("TAG=1 REGION=us stage=live V=1 RE=1", "ANSWERS=x", "REGION=us REGIONS=all"):
        assert "warning" not in place.make(*given.split()).stderr
    assert "warning" not in place.make(REGOIN="us").stderr


SHOWS = (
    "---\nrdc: {inputs: {HOST: {default: db1}}}\n---\n# Deploy\n\n## 1. Look\n\n"
    "On {{HOST}}, watch `$(touch owned)`, $(touch owned) and $HOME.\n\nendef\n@echo %s \\\n\n```sh\ntrue\n```\n"
)


def test_the_prompt_of_a_command_is_shown_and_nothing_in_it_runs(tmp_path: Path) -> None:
    assert "    On db1, watch `$(touch owned)`, $(touch owned) and $HOME.\n" in Place(tmp_path, SHOWS).make().stderr
    assert not (tmp_path / "owned").exists()


PLAYBOOK = (
    "---\nrdc:\n  secrets: [TOKEN]\n---\n# Demo\n\n"
    '## STEP 1: Ask\n\nAsk it.\n\n@output(answer, extract:"x")\n\n## STEP 2: Use\n\nUse {{answer}}.\n'
)


def test_a_step_that_keeps_a_field_of_an_answer_shows_its_outcome_and_no_path(tmp_path: Path) -> None:
    made = written(tmp_path, "main.playbook.md", PLAYBOOK)
    done = made.make("AGENT=" + made.script("agent", """echo '{"x": 5}'"""), TOKEN="hunter2")
    assert done.stderr.decode().count("    PASS  ") == 2
    assert ".rdc" not in done.stderr.decode() + done.stdout.decode()
