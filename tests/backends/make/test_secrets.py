"""Constants and secrets of Makefiles (I25, I26): what must be set, and that nothing keeps what is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Keep
from compiler.ir.program import Constant, Input, Program, Slot, Variable
from tests.support.backend_programs import Made, agent, ask, gate, node, program, ref, shell, slots, when, words

WRITES = 'printf "v<<END\\nx %s y\\n%s\\nEND\\n" "$A" "$B" > "$RDC_OUTPUT"'


def told() -> Program:
    """Everything by which a secret can come into what is kept."""
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


@pytest.mark.parametrize("values", [*VALUES.values(), ("$(touch canary)", "&&&&")], ids=["signs", "lines", "short"])
def test_nothing_that_is_kept_has_a_secret(values: tuple[str, str], tmp_path: Path) -> None:
    made = Made(tmp_path, told(), operator="full")
    given = dict(zip("AB", values, strict=True))
    first = values[0]
    line = first.replace("\n", " ")
    assert made.end(f"topic=<{line}>", **given) == "rdc: WAITING 2"
    done = made.make("answer", "STEP=2", f"REPLY=reply {first}{values[1]}", f"NOTE=because {line}", "BY=ann", **given)
    assert done.returncode == 0, done.stdout
    assert made.end("resume", "NOTIFY=cat > told", **given) == "rdc: WAITING 3"
    made.make("goto", "STEP=3", f"NOTE={line}", **given)
    end = made.make("resume", "HUMAN=1", "NOTIFY=cat > told", **given).stdout.decode()
    hidden = {part for value in values for part in (value, *value.replace("\r", "").split("\n")) if len(part) > 3}
    kept = [path for path in (tmp_path / ".rdc").rglob("*") if path.is_file()] + [tmp_path / "told"]
    shown = [end, made.make("status").stdout.decode(), made.make("history").stdout.decode()]
    for text in [*shown, *(path.read_bytes().decode() for path in kept)]:
        assert not [part for part in hidden if part in text], text
    assert "reply ***" in end
    assert not list(tmp_path.rglob("canary*"))


def test_secrets_that_are_not_set_end_the_run_before_anything_is_done(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", shell("touch ran")), secrets=("ONE", "TWO", "THREE")))
    for given, missing in (({}, "ONE, TWO, THREE"), ({"ONE": " ", "TWO": "xxxx"}, "ONE, THREE")):
        done = made.make("run", **given)
        assert done.returncode == 2
        assert f"rdc: error: secrets are missing: {missing}; set these environment variables" in done.stdout.decode()
        assert not (tmp_path / "ran").exists()
        assert not (made.state / "journal").exists()
    assert made.end(ONE="1111", TWO="2222", THREE="0000") == "rdc: COMPLETE"


def test_an_answer_of_an_agent_is_masked(tmp_path: Path) -> None:
    whole = program(
        node("1", agent("Say it"), when("pass", "done", Keep("x")), when("fail", "stop")),
        message=words(ref("x")),
        slots=slots("x"),
        secrets=("A",),
    )
    made = Made(tmp_path, whole)
    assert made.end("AGENT=printf 'it is %s' \"$A\"", A="s&pp") == "rdc: COMPLETE it is ***"
    assert b"s&pp" not in (made.state / "answers" / "1.1").read_bytes()


HOSTILE = [
    "",
    "a b",
    "$(touch canary)`touch canary`$$HOME",
    'it\'s "x" \\',
    "é\n\nendef\ndefine x",
    "=\n",
    "x" * 5000,
    "-u",
]


@pytest.mark.parametrize("value", HOSTILE)
@pytest.mark.share(2)
def test_constants_arrive_as_they_are(value: str, tmp_path: Path) -> None:
    whole = program(
        node("1", shell('printf %s "$ONE" > one; printf %s "$TWO" > two'), when("pass", "2"), when("fail", "stop"),
             constants=(Constant("ONE", value), Constant("TWO", "2")), variables=(Variable("V", "v"),)),
        node("2", shell('[ -z "${ONE+set}" ]', "bash")),
        slots=(Slot("v", "x"),),
    )  # fmt: skip
    made = Made(tmp_path, whole)
    assert made.end() == "rdc: COMPLETE"
    assert (made.read("one").decode(), made.read("two")) == (value, b"2")
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("name", ["BY", "NOTE", "PROMPTED", "NOTIFY", "AS", "ALL", "KEEP", "ANSWERS"])
def test_names_of_what_an_operator_gives_are_refused(name: str) -> None:
    first = node("1", shell("true"))
    for whole in (
        program(first, slots=(Slot(name),), inputs=(Input(name),)),
        program(first, secrets=(name,)),
    ):
        (found,) = MakeBackend().emit(whole, {}).diagnostics
        assert (found.code, name in found.message) == ("RD530", True)


PLAYBOOK = """---
rdc:
  secrets: [TOKEN]
---
# Demo

## STEP 1: Ask

Ask it.

@output(answer, extract:"x")

## STEP 2: Use

Use {{answer}}.
"""


def test_a_step_that_keeps_a_field_of_an_answer_shows_its_outcome_and_no_path(tmp_path: Path) -> None:
    (tmp_path / "main.playbook.md").write_text(PLAYBOOK, encoding="utf-8")
    compiled = compile_file(str(tmp_path / "main.playbook.md")).program
    assert compiled
    made = Made(tmp_path, compiled)
    done = made.make("AGENT=" + made.script("agent", """echo '{"x": 5}'"""), TOKEN="hunter2")
    assert done.stderr.decode().count("    PASS  ") == 2
    assert ".rdc" not in done.stderr.decode() + done.stdout.decode()
