"""Constants and secrets of Makefiles (I25, I26): what must be set, and that nothing keeps what is hidden."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from compiler.ir.edges import Keep
from compiler.ir.program import Constant, Input, Program, Slot, Variable
from tests.backends.makefiles import PATIENCE, environment
from tests.backends.programs import Made, agent, ask, gate, node, program, ref, shell, slots, when, words

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
    "inside each other": ("secret", "secret-longer"),
    "stars": ("****", "*****a"),
    "long": ("x" * 9000, "y" * 4096 + "z"),
    "bytes": ("\udcff\udcfe$", "\udce2\udc82"),
}


def masked(text: str, values: tuple[str, ...]) -> str:
    """The rule, as Python says it."""
    found: set[str] = set()
    for value in values:
        for part in (value, *value.split("\n")):
            text_ = part.strip(" \t\n\v\f\r")
            found |= in_json(text_) if len(text_) >= 4 else set()
    for part in sorted(found, key=lambda part: (-len(os.fsencode(part)), part)):
        text = text.replace(part, "***")
    return text


def in_json(part: str) -> set[str]:
    """A text as it is and as it may stand in JSON."""
    found = {json.dumps(part, ensure_ascii=is_ascii)[1:-1] for is_ascii in (True, False)}
    return {part, *found, *(each.replace("/", "\\/") for each in found)}


@pytest.mark.parametrize("values", VALUES.values(), ids=VALUES)
def test_masking_is_exact_for_whatever_a_variable_can_have(values: tuple[str, str], tmp_path: Path) -> None:
    check_masking(values, tmp_path, "sh", {})


def test_masking_is_exact_with_shells_and_awks_of_all_kinds(kind: dict[str, str], tmp_path: Path) -> None:
    for values in VALUES.values():
        check_masking(values, tmp_path, kind["shell"].partition("=")[2], {"PATH": kind["path"]})


def check_masking(values: tuple[str, str], folder: Path, shell_program: str, variables: dict[str, str]) -> None:
    """Mask a text that has both values everywhere, and others that look like them."""
    first, second = values
    said = [os.fsencode(form).decode("utf-8", "surrogateescape") for value in values for form in in_json(value.strip())]
    source = "\n".join(sorted(said)) + (
        f"a{first}b{second}{first}{first}\n\n{first[:-1]}{second}\n \n{second[1:]}" + "é\\&\n" * 3000 + first + "\n"
    )
    (folder / "text").write_bytes(os.fsencode(source))
    module = Path("backends/make/driver/secrets.sh").read_text(encoding="utf-8")
    (folder / "module.sh").write_text(f"{module}\nsecrets A B\nmasked < text > out\n", encoding="utf-8")
    given = environment({**variables, "A": first, "B": second})
    subprocess.run([shell_program, "module.sh"], cwd=folder, env=given, check=True, timeout=PATIENCE)
    assert (folder / "out").read_bytes() == os.fsencode(masked(source, values))


@pytest.mark.parametrize(
    "values", [VALUES["signs"], VALUES["lines"], ("$(touch canary)", "&&&&")], ids=["signs", "lines", "short"]
)
def test_nothing_that_is_kept_has_a_secret(values: tuple[str, str], tmp_path: Path) -> None:
    made = Made(tmp_path, told())
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
        assert done.stdout.decode().startswith(f"rdc: error: secrets are not set: {missing};")
        assert not (tmp_path / "ran").exists()
        assert not (made.state / "journal").exists()
    assert made.end(ONE="1111", TWO="2222", THREE="0000") == "rdc: COMPLETE"


def test_only_makefiles_with_secrets_have_the_code_for_them(tmp_path: Path) -> None:
    made = Made(tmp_path, told())
    assert b"define RDC_MODULE_SECRETS" in made.read("Makefile")
    assert b"define RDC_MODULE_SECRETS" not in Made(tmp_path, program(node("1", shell("true")))).read("Makefile")


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
    for path in ("one", "two"):
        (tmp_path / path).unlink()
    assert made.make("step-1").returncode == 0
    assert made.read("one").decode() == value
    assert not list(tmp_path.rglob("canary*"))


def test_constants_and_secrets_are_enough_to_be_no_rule_of_make(tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", shell("test $ONE = 1"), constants=(Constant("ONE", "1"),))))
    assert made.end("PROMPTED=1") == "rdc: WAITING 1"
    made.make("clean")
    assert made.end() == "rdc: COMPLETE"


@pytest.mark.parametrize("name", ["BY", "NOTE", "PROMPTED", "VALUE", "NOTIFY", "AS", "ALL", "KEEP"])
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
    assert ".rdc" not in done.stderr.decode()
