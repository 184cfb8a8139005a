"""Settings of steps, what nested runbooks declare and share, and names that no document declares."""

from pathlib import Path

import pytest

from compiler.driver import Compilation
from compiler.ir.edges import Clear, Keep
from compiler.ir.program import Constant, Settings, Slot, Variable
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.verify import verify
from tests.compiler.frontends.rundown.declaring import OUTPUT, document, problem, program_of
from tests.support.documents import compiled, findings

STEPS = f"## 1. A\n### 1.1 B\n{OUTPUT}- FAIL: RETRY 2\n### 1.2 C\nX?\n- FAIL: RETRY 1\n## 2. D\n{OUTPUT}## 3. E\nX?\n"


def test_the_nearest_setting_wins_for_each_key(tmp_path: Path) -> None:
    options = """\
steps:
  "*": {timeout: 2h, retry-delay: 5s, retry-backoff: 3, env: {A: all, B: all}}
  "1": {timeout: 10m, env: {A: step}}
  1.1: {retry-delay: 0s, env: {C: 1.10}}
  2: {timeout: 90s}
"""
    nodes = program_of(tmp_path, options, STEPS).index()
    assert nodes["1.1"].settings == Settings(600, 0, 1)
    assert nodes["1.1"].constants == (Constant("A", "step"), Constant("B", "all"), Constant("C", "1.10"))
    assert nodes["1.2"].settings == Settings(None, 5, 3)
    assert nodes["1.2"].constants == ()
    assert nodes["2"].settings == Settings(90, 0, 1)
    assert nodes["3"].settings == Settings()
    plain = compiled(tmp_path, STEPS).program
    assert plain
    assert (plain.slots, plain.inputs, plain.secrets) == ((), (), ())
    assert all(node.settings == Settings() and not node.constants for node in plain.nodes)


NO_COMMAND = "`{}` has no effect on step 3: the step runs no command"
AGAIN = "## 1. A\n- FAIL: RETRY 2\n### 1.1 B\n" + OUTPUT
ERRORS = [
    ("{4: {timeout: 5s}}", "3:11", "there is no step `4`"),
    ("{1.11: {timeout: 5s}}", "3:11", "there is no step `1.11`; did you mean `1.1`?"),
    ("{2: {timeout: 90}}", "3:15", "the settings of step 2: `timeout` must be a duration of at most a year"),
    ("{2: {timeout: 0s}}", "3:15", None),
    ("{2: {timeout: 1d}}", "3:15", None),
    ("{2: {timeout: 9000h}}", "3:15", None),
    ("{2: {timout: 5s}}", "3:15", "there is no key `timout` in the settings of step 2; did you mean `timeout`?"),
    ("{1.1: {retry-backoff: 0, retry-delay: 1s}}", "3:17", None),
    ("{1.1: {retry-backoff: 1.5, retry-delay: 1s}}", "3:17", None),
    ("{1.1: {retry-backoff: 2}}", "3:17", "`retry-backoff` has no effect on step 1.1: there is no delay to multiply"),
    ("{2: {retry-delay: 5s}}", "3:15", "`retry-delay` has no effect on step 2: the step has no RETRY"),
    ("{3: {timeout: 5s}}", "3:15", NO_COMMAND.format("timeout")),
    ("{3: {env: {A: b}}}", "3:21", NO_COMMAND.format("A")),
    ("{2: {env: {A: }}}", "3:21", "the settings of step 2: the value of `A` is not a valid string: it has no value"),
    ("{2: {env: {BASH_ENV: x}}}", "3:21", None),
    ("{2: {env: A}}", "3:15", "the settings of step 2: `env` must be a mapping of names to strings"),
    ("{2: 5s}", "3:11", "the settings of step 2 must be a mapping"),
    ("[2]", "3:3", "`steps` must be a mapping of steps to settings"),
    ("{2: {env: {id: b}}}\noutputs: [id]", "3:21", "`env` sets `id`, but there is an input or output with that name"),
]


@pytest.mark.parametrize(("steps", "place", "message"), ERRORS)
def test_errors_in_settings(steps: str, place: str, message: str | None, tmp_path: Path) -> None:
    found, output, help_ = problem(tmp_path, f"steps: {steps}", STEPS)
    assert found == f"RD013 {place}"
    assert message is None or output == message
    assert help_ == "write `90s` or `90m`" if "90}" in steps else help_


@pytest.mark.parametrize("step", ["1", '"*"'])
def test_a_delay_is_not_waited_where_a_step_begins_again(step: str, tmp_path: Path) -> None:
    place, output, _ = problem(tmp_path, f"steps: {{{step}: {{retry-delay: 5s}}}}", AGAIN)
    assert (place.partition(":")[0], "no effect on step 1" in output) == ("RD015 3", True)


OUTER = "## 1. A\n" + OUTPUT + "## 2. B\n- in.runbook.md\n- FAIL: RETRY 1\n## 3. C {{id}}\nX?\n"


UNUSED = {"RD409", "RD140"}
"""Codes of outputs that the outer runbook declares and doesn't read, or reads and doesn't declare."""


def nested(folder: Path, outer: str, inner: str, body: str = OUTPUT) -> Compilation:
    text = document(inner, "## 1. In {{id}}\n" + body + "- FAIL: RETRY 1\n## 2. It is {{id}}\nX?\n")
    return compiled(folder, document(outer, OUTER), {"in.runbook.md": text})


def test_what_both_declare_is_one_and_the_same(tmp_path: Path) -> None:
    for inner in ("outputs: [id]", "inputs: {id: {}}"):
        program = nested(tmp_path, "outputs: [id]", inner).program
        assert program
        assert program.slots == (Slot("id"),)
        nodes = program.index()
        if inner == "outputs: [id]":
            assert nodes["2/in.runbook.md/1"].variables == (Variable("id", "id"),)
            assert not any(Clear("id") in edge.effects for node in program.nodes for edge in node.edges)
        else:
            edges = nodes["2/in.runbook.md/2"].edges
            assert not any(edge.effects[:1] == (Keep("id", "output", "id"),) for edge in edges)


def test_what_only_the_nested_one_declares_ends_with_it(tmp_path: Path) -> None:
    program = nested(tmp_path, "outputs: []", "outputs: [id]\ninputs: {region: {default: eu}}").program
    assert program
    verify(program)
    assert set(program.slots) == {Slot("2/in.runbook.md/id"), Slot("2/in.runbook.md/region", "eu")}
    assert program.inputs == ()
    machine = Machine(program)
    state = machine.advance(machine.start(), Outcome("pass")).state
    state = machine.advance(state, Outcome("pass", values=(("id", "3"),))).state
    assert machine.text(state, machine.nodes[state.node].title) == "It is 3"
    state = machine.advance(state, Outcome("fail")).state
    assert state.node == "2/in.runbook.md/1"
    assert machine.text(state, machine.nodes[state.node].title) == "In {{id}}"
    assert machine.text(machine.jump(state, "3"), machine.nodes["3"].title) == "C {{id}}"


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("outputs: []", "inputs: {id: {}}", ["RD305 10:3", "RD140 12:9"]),
        ("inputs: {id: {}}", "inputs: {id: {type: number}}", ["RD306 10:3"]),
        ("inputs: {id: {type: number}}", "inputs: {id: {}}", []),
        ("inputs: {id: {}}", "outputs: [id]", ["RD307 10:3"]),
        ("secrets: [id]", "outputs: [id]", ["RD013 3:13", "RD140 12:9"]),
    ],
)
def test_errors_at_inclusions(outer: str, inner: str, expected: list[str], tmp_path: Path) -> None:
    assert findings(nested(tmp_path, outer, inner)) == expected


def test_secrets_of_all_documents_are_needed(tmp_path: Path) -> None:
    program = nested(tmp_path, "secrets: [A, B]", "secrets: [C, A]").program
    assert program
    assert program.secrets == ("A", "B", "C")


def test_settings_of_nested_runbooks_are_for_their_steps(tmp_path: Path) -> None:
    outer = 'steps: {"2": {env: {A: outer}}, 2/in.runbook.md/1: {timeout: 5s, secrets: [S]}}'
    inner = (
        'steps: {"*": {timeout: 9s, env: {A: inner}, secrets: [T]}, "1": {timeout: 7s, secrets: [U], environment: e}}'
    )
    compilation = nested(tmp_path, outer, inner)
    assert compilation.program
    node = compilation.program.index()["2/in.runbook.md/1"]
    assert (node.settings.timeout, node.constants) == (5, (Constant("A", "inner"),))
    assert compilation.program.index()["1"].settings == Settings()
    assert compilation.tables["steps"].values == {
        "2/in.runbook.md/1": {"secrets": ["S", "U"], "environment": "e"},
        "2/in.runbook.md": {"secrets": ["T"]},
    }


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ("3: {timeout: 5s}", "`timeout` has no effect on step 3: the step runs no command"),
        (
            "2/in.runbook.md/2: {timeout: 5s}",
            "`timeout` has no effect on step 2/in.runbook.md/2: the step runs no command",
        ),
        ("2/in.runbook.md/9: {timeout: 5s}", "there is no step `2/in.runbook.md/9`"),
        ("2: {env: {id: b}}", "`env` sets `id` for step 2/in.runbook.md/1, which has an input or output of that name"),
    ],
)
def test_misplaced_settings_are_told_with_other_errors(steps: str, expected: str, tmp_path: Path) -> None:
    compilation = nested(tmp_path, f"steps: {{{steps}}}", "outputs: [id]", OUTPUT + "- PASS: GOTO 9\n")
    messages = [item.message.partition("; did")[0] for item in compilation.diagnostics if item.code not in UNUSED]
    assert sorted(messages) == sorted(["there is no step `9`", expected])


def test_settings_of_what_could_not_be_read_or_linked_are_not_judged(tmp_path: Path) -> None:
    body = "## 1. A\n" + OUTPUT + "- FAIL: RETRI 1\n"
    found = compiled(tmp_path, document("steps: {1: {retry-delay: 5s}}", body)).diagnostics
    assert found
    assert not any(item.code == "RD013" for item in found)
    options = "steps: {1/in.runbook.md/7: {timeout: 5s}, 1/in.runbook.md: {timeout: 5s}}"
    text = document(options, "## 1. A\n- in.runbook.md\n")
    assert compiled(tmp_path, text, link=False).program
    assert "RD301" in str(findings(compiled(tmp_path, text)))


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("deploy {{HOST}}", ["RD140 4:8"]),
        ('deploy "{{ HOST }}"', ["RD140 4:9"]),
        ("deploy '{{HOST}}'", []),
        ("docker ps --format {{.Names}}", []),
        ("docker ps --format '{{json .}}' {{end}}", []),
        ("docker ps --format {{if .X}}{{name}}{{end}}", []),
        ("cat > f <<E\n{{HOST}}\nE", []),
        ("echo ${{HOST}}", ["RD056 3:1"]),
    ],
)
def test_an_undeclared_name_in_a_command(tmp_path: Path, command: str, codes: list[str]) -> None:
    found = findings(compiled(tmp_path, f"## 1. Go\n\n```bash\n{command}\n```\n"))
    assert [one for one in found if one[:5] in {"RD140", "RD056", "RD134", "RD135"}] == codes
