"""Makefiles of programs with slots, texts, values and inputs, in which no text of anybody is ever evaluated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from backends.make import MakeBackend
from compiler.ir.edges import Keep, SlotTest
from compiler.ir.program import Input, Program, Variable
from compiler.ir.tasks import Branch
from tests.support.backend_programs import Made, agent, always, ask, gate, node, program, ref, shell, slots, when, words

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

# What somebody may reply to an input, a question, or by a command, and what might be taken for something to obey.
HOSTILE = ["$(touch x)", "'; rm -rf . '", "${{ github.token }}", "a\nb=c", "::set-output name=x::y", "]]]"]
HOSTILE += ["$(shell touch x)", "`touch x`", '"; touch x; "', "#<\n#> name_u1_1\n#| other", "\\\n\\", "%s%n\\0\\x41"]
HOSTILE += ["{a}{b}", "-n", "*", "a \u202e b \u2066 c", "\x1b]0;title\x07\x1b[31m", "end\n", "\n\nend"]
HOSTILE += ["1 = 1 ] || touch x #", "rdc_s1_a=7", "é🚀\u2028"]
NUMBERS = range(len(HOSTILE))


def said_at_once() -> Program:
    """A program that shows inputs, keeps replies, gives both to a command that gives the inputs back, and tests each.

    It does so with all that is hostile, in one run.
    """
    shows = [f'printf %s "$A{n}" > a{n}; printf %s "$B{n}" > b{n}' for n in NUMBERS]
    gives = [f'printf \'v{n}<<EOF\\n%s\\nEOF\\n\' "$A{n}" >> "$RDC_OUTPUT"' for n in NUMBERS]
    asks = [
        node(f"ask{n}", ask("input", prompt=words("<", ref(f"a{n}"), ">")),
             always(f"ask{n + 1}" if n + 1 < len(HOSTILE) else "show", Keep(f"b{n}")))
        for n in NUMBERS
    ]  # fmt: skip
    keeps = [Keep(f"c{n}", of="output", name=f"v{n}") for n in NUMBERS]
    same = [
        node(f"same{n}", Branch(),
             always("stop", tests=[SlotTest(f"c{n}", "!=", value)]),
             always(f"same{n + 1}" if n + 1 < len(HOSTILE) else "done", tests=[SlotTest(f"a{n}", "==", value)]),
             always("stop"))
        for n, value in enumerate(HOSTILE)
    ]  # fmt: skip
    return program(
        *asks,
        node("show", shell("\n".join([*shows, *gives])), when("pass", "same0", *keeps), when("fail", "stop"),
             variables=tuple(Variable(f"{name.upper()}{n}", f"{name}{n}") for n in NUMBERS for name in "ab")),
        *same,
        message=words(*(ref(f"c{n}") for n in NUMBERS)),
        slots=slots(*(f"{name}{n}" for n in NUMBERS for name in "abc")),
        inputs=tuple(Input(f"a{n}", type="text") for n in NUMBERS),
    )  # fmt: skip


def test_what_anybody_says_stays_text(tmp_path: Path) -> None:
    made = Made(tmp_path, said_at_once())
    replies = "".join(f"ask{n}<<EOF\n{value}\nEOF\n" for n, value in enumerate(HOSTILE))
    (tmp_path / "answers").write_text(replies, encoding="utf-8")
    # Make takes away spaces before a value: such a one is given by a file.
    given = {f"a{n}": value for n, value in enumerate(HOSTILE)}
    listed = {name: value for name, value in given.items() if value[0].isspace()}
    (tmp_path / "inputs").write_text(json.dumps(listed), encoding="utf-8")
    words_of_make = [f"{name}={value}" for name, value in given.items() if not value[0].isspace()]
    done = made.make(*words_of_make, "INPUTS=inputs", "ANSWERS=answers")
    assert done.stdout.decode().splitlines()[-1].startswith("rdc: COMPLETE"), done.stderr.decode()
    for n, value in enumerate(HOSTILE):
        stripped = value.strip(" \t\r\n\v\f")  # of a reply, which has no white space at its ends
        assert (made.read(f"a{n}").decode(), made.read(f"b{n}").decode()) == (value, stripped)
    names = {"Makefile", ".rdc", "rdc", "answers", "inputs", *(f"{name}{n}" for n in NUMBERS for name in "ab")}
    assert {path.name for path in tmp_path.iterdir()} == names
    shown = (done.stdout + done.stderr).decode()
    assert not [character for character in shown if not character.isprintable() and character not in "\n\t"]


# --- Inputs (I8) ------------------------------------------------------------------------------------------------------

INPUTS = (
    Input("text", type="text", required=False),
    Input("number", type="number", default="1"),
    Input("flag", type="boolean", default="false"),
    Input("kind", type="choice", options=("a b", "c"), default="c"),
    Input("name", pattern="[a-z]+|[0-9]{2}", default="x"),
    Input("needed"),
)


def shows_inputs() -> Program:
    parts = [part for item in INPUTS for part in (ref(item.name, missing="-"), ";")]
    return program(
        node("1", shell(": ")), message=words(*parts), slots=slots(*(item.name for item in INPUTS)), inputs=INPUTS
    )


def test_inputs_have_their_values_from_make_a_file_or_their_defaults(tmp_path: Path) -> None:
    made = Made(tmp_path, shows_inputs())
    hidden = {"RDC_GIVEN_input_2": "7", "RDC_GIVEN_INPUTS": "none"}
    assert made.end("needed=n", text="of the environment", **hidden) == "rdc: COMPLETE -;1;false;c;x;n;"
    given = {"needed": "file", "number": -2.5, "text": "several\nlines"}
    (tmp_path / "inputs").write_text(json.dumps(given), encoding="utf-8")
    assert made.end("INPUTS=inputs", "flag=true", "number=3") == "rdc: COMPLETE several lines;3;true;c;x;file;"
    assert made.end("needed=", "kind=a b", "name=42") == "rdc: COMPLETE -;1;false;a b;42;;"


UNFIT = [
    ([], "input needed: a value is required; set it with needed=VALUE"),
    (["needed=a\nb"], "input needed: it has more than one line; set it with needed=VALUE"),
    (["needed=a", "name=x1"], "input name: it does not match [a-z]+|[0-9]{2}; set it with name=VALUE"),
    (["INPUTS=none"], "none: No such file or directory"),
    (["INPUTS=wrong"], "wrong: line 1: expected NAME=VALUE or NAME<<WORD, and the file is not a JSON object"),
    (
        ["needed=a", "INPUTS=wrong.json"],
        "there is no input other; the inputs are text, number, flag, kind, name, needed",
    ),
]


def test_unfit_inputs_leave_everything_as_it_was(tmp_path: Path) -> None:
    made = Made(tmp_path, shows_inputs())
    (tmp_path / "wrong").write_text("needed a\nother=b\n", encoding="utf-8")
    (tmp_path / "wrong.json").write_text('{"other": "b"}', encoding="utf-8")
    assert made.end("needed=before").startswith("rdc: COMPLETE")
    journal = (made.state / "journal").read_bytes()
    for given, message in UNFIT:
        assert made.end(*given) == f"rdc: error: {message}", given
        assert (made.state / "journal").read_bytes() == journal
    assert made.end("resume") == "rdc: COMPLETE -;1;false;c;x;before;"


OF_OPERATORS = ("BY", "NOTE", "PROMPTED", "NOTIFY", "AS", "ALL", "KEEP", "ANSWERS")
OF_MAKE = ("PATH", "SHELL", "MAKEFLAGS", "RDC_STEP", "OUT")
OF_AGENTS = ("BREAK",)
"""Names that mean something only where agents or tools are called."""


@pytest.mark.parametrize("name", [*OF_OPERATORS, *OF_MAKE, *OF_AGENTS])
def test_a_name_that_make_would_misunderstand_is_refused(name: str) -> None:
    plain, calling = node("1", gate()), node("1", agent("x"), always("done"))
    as_input: dict[str, Any] = {"slots": slots(name), "inputs": (Input(name),)}
    cases = [(plain, as_input), (calling, as_input), *[(plain, {"secrets": (name,)})] * (name in OF_OPERATORS)]
    for first, declared in cases:
        found = MakeBackend().emit(program(first, **declared), {})
        if first is plain and name in OF_AGENTS:
            assert found.text
            continue
        (problem,) = found.diagnostics
        assert (found.text, problem.code, name in problem.message) == (None, "RD530", True)
