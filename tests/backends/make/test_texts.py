"""Inputs of Makefiles (I8): from make, a file or their defaults, and names that make would misunderstand."""

import json
from pathlib import Path
from typing import Any

import pytest

from backends.make import MakeBackend
from compiler.ir.program import Input, Program
from tests.backends.make.loops import written
from tests.support.backend_programs import Made, agent, always, gate, node, program, ref, shell, slots, words

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

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
    values = slots(*(item.name for item in INPUTS))
    return program(node("1", shell(": ")), message=words(*parts), slots=values, inputs=INPUTS)


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


def test_a_playbook_that_calls_nobody_may_have_an_input_of_such_a_name(tmp_path: Path) -> None:
    document = '# A\n\n## INPUTS\n\n- `BREAK` (text): It\n\n## STEP 1: One\n\n@elicit(input, "{{BREAK}}?")\n'
    assert b"BREAK" in written(tmp_path, "main.playbook.md", document).read("Makefile")
