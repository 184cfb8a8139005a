"""Makefiles that ask: questions, gates, inputs at a terminal, and secrets (I26), which no file holds."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import time
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Keep
from compiler.ir.program import Input, Program, Slot
from compiler.ir.texts import text
from tests.support import warm
from tests.support.backend_programs import Made, always, ask, gate, node, program, ref, shell, slots, when, words
from tests.support.makefiles import PATIENCE, Place, environment
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
    made = Made(tmp_path, questions())
    name = "it's.mk"
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
    assert last == f"rdc: to continue: make -f {shlex.quote(name)} resume"
    assert made.end("-f", name, "resume") == f"rdc: COMPLETE pass;yes;no;{given['in']};<{given['in']}>;"
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
    assert made.end("resume") == "rdc: COMPLETE"
    assert victim.read_text() == "mine"
    assert list(folder.iterdir()) == []


def test_the_flag_for_a_person_opens_one_gate(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("g", gate(), always("h")), node("h", gate())))
    assert made.end("HUMAN=1") == "rdc: WAITING h"
    assert made.end("resume", "HUMAN=1") == "rdc: COMPLETE"


# --- Inputs of Makefiles at a terminal, and variables that are nearly an input ----------------------------------------


def two(*, both: bool = False) -> Program:
    """A program that shows the values of its two inputs."""
    return program(
        node("1", shell("true")),
        message=words("<", ref("a"), "|", ref("b"), ">"),
        slots=(Slot("a"), Slot("b")),
        inputs=(Input("a", type="text"), Input("b", type="text", description="what it is", required=both)),
    )


def typed(folder: Path, *pieces: tuple[str, str]) -> tuple[str, str]:
    """Type each text once its prompt is shown; the last line on standard output, and all that the terminal showed."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        ["make"], cwd=folder, env=environment({}), stdin=slave, stdout=subprocess.PIPE, stderr=slave, text=True
    )
    os.close(slave)
    shown = ""
    for prompt, reply in pieces:
        while prompt not in shown.rpartition("\0")[2]:
            shown += os.read(master, 4096).decode()
        shown += "\0"
        time.sleep(0.15)  # whoever types is slower than a paste
        os.write(master, reply.encode())
    printed, _ = process.communicate(timeout=PATIENCE)
    os.close(master)
    return printed.splitlines()[-1], shown


def test_a_missing_input_is_asked_for_at_a_terminal(tmp_path: Path) -> None:
    made = Made(tmp_path, two(both=True))
    last, shown = typed(
        tmp_path, ("a (several lines", "it's $(x)\n"), ("", "\n"), ("b (several", "second\n"), ("", "\n")
    )
    assert last == "rdc: COMPLETE <it's $(x)|second>"
    assert "b: what it is" in shown
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
    assert done.stderr.count("warning") == len(meant)
    assert place.lines("seen") == ["eu test "]
    assert not (tmp_path / "canary").exists()


@pytest.mark.parametrize("words", ["TAG=1 REGION=us stage=live V=1 RE=1", "ANSWERS=x", "", "REGION=us REGIONS=all"])
def test_make_does_not_warn_of_other_variables(words: str, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert "warning" not in Place(tmp_path, REGION).make(*words.split(), **({} if words else {"REGOIN": "us"})).stderr


# --- Constants and secrets (I25, I26) ---------------------------------------------------------------------------------

WRITES = 'printf "v<<END\\nx %s y\\n%s\\nEND\\n" "$A" "$B" > "$RDC_OUTPUT"'


def leaking() -> Program:
    keep = Keep("v", of="output", name="v")
    return program(
        node("1", shell(WRITES), when("pass", "2", keep), when("fail", "stop")),
        node("2", ask("input", prompt=words("On ", ref("v"), " and ", ref("topic"))), when("pass", "3", Keep("reply"))),
        node("3", gate("Really?")),
        message=words(ref("v"), "|", ref("reply"), "|", ref("topic")),
        slots=(*slots("v", "reply"), Slot("topic")),
        inputs=(Input("topic"),),
        secrets=("A", "B"),
    )


VALUES = {
    "signs": ("a&b\\1\\\\.*[x]^$(touch canary)`'\"/|%s=41", "\tz\x01 é"),
    "lines": ("one\ntwo lines\n\nthree", "-----BEGIN\r\nab\r\n"),
}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_nothing_that_is_kept_has_a_secret(values: tuple[str, str], tmp_path: Path) -> None:
    made = Made(tmp_path, leaking(), operator="full")
    given = dict(zip("AB", values, strict=True))
    first = values[0]
    line = first.replace("\n", " ")
    assert made.end(f"topic=<{line}>", **given) == "rdc: WAITING 2"
    done = made.make("answer", "STEP=2", f"REPLY=reply {first}{values[1]}", f"NOTE=because {line}", "BY=ann", **given)
    assert done.returncode == 0, done.stdout
    assert made.end("resume", "NOTIFY=cat > noticed", **given) == "rdc: WAITING 3"
    made.make("goto", "STEP=3", f"NOTE={line}", **given)
    end = made.make("resume", "HUMAN=1", "NOTIFY=cat > noticed", **given).stdout.decode()
    hidden = {part for value in values for part in (value, *value.replace("\r", "").split("\n")) if len(part) > 3}
    files = [path for path in (tmp_path / ".rdc").rglob("*") if path.is_file()] + [tmp_path / "noticed"]
    shown = [end, made.make("status").stdout.decode(), made.make("history").stdout.decode()]
    for each in [*shown, *(path.read_bytes().decode() for path in files)]:
        assert not [part for part in hidden if part in each], each
    assert "reply ***" in end
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("name", ["BY", "NOTE", "PROMPTED", "NOTIFY", "AS", "ALL", "KEEP", "ANSWERS"])
def test_names_of_what_an_operator_gives_are_refused(name: str) -> None:
    first = node("1", shell("true"))
    for whole in (program(first, slots=(Slot(name),), inputs=(Input(name),)), program(first, secrets=(name,))):
        (found,) = MakeBackend().emit(whole, {}).diagnostics
        assert (found.code, name in found.message) == ("RD530", True)


PLAYBOOK = (
    "---\nrdc:\n  secrets: [TOKEN]\n---\n# Demo\n\n"
    '## STEP 1: Ask\n\nAsk it.\n\n@output(answer, extract:"x")\n\n## STEP 2: Use\n\nUse {{answer}}.\n'
)


def test_a_step_that_keeps_a_field_of_an_answer_shows_its_outcome_and_no_path(tmp_path: Path) -> None:
    (tmp_path / "main.playbook.md").write_text(PLAYBOOK, encoding="utf-8")
    compiled = compile_file(str(tmp_path / "main.playbook.md")).program
    assert compiled
    made = Made(tmp_path, compiled)
    done = made.make("AGENT=" + made.script("agent", """echo '{"x": 5}'"""), TOKEN="hunter2")
    assert done.stderr.decode().count("    PASS  ") == 2
    assert ".rdc" not in done.stderr.decode() + done.stdout.decode()
