"""Constants and secrets of Makefiles (I25, I26): what must be set, and that nothing keeps what is hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Keep
from compiler.ir.program import Input, Program, Slot
from tests.support.backend_programs import Made, ask, gate, node, program, ref, shell, slots, when, words

pytestmark = pytest.mark.process

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
    for text in [*shown, *(path.read_bytes().decode() for path in files)]:
        assert not [part for part in hidden if part in text], text
    assert "reply ***" in end
    assert not list(tmp_path.rglob("canary*"))


@pytest.mark.parametrize("name", ["BY", "NOTE", "PROMPTED", "NOTIFY", "AS", "ALL", "KEEP", "ANSWERS"])
def test_names_of_what_an_operator_gives_are_refused(name: str) -> None:
    first = node("1", shell("true"))
    for whole in (program(first, slots=(Slot(name),), inputs=(Input(name),)), program(first, secrets=(name,))):
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
