"""What runbooks declare under `rdc`: inputs, values, secrets and settings of steps (E1 to E3, E9, E10)."""

from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.program import Input, Slot, Variable
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Shell
from compiler.ir.texts import Reference
from tests.compiler.frontends.rundown.declaring import COMMAND, OUTPUT, document, problem, program_of
from tests.support.documents import compiled, findings


def test_inputs_become_slots_variables_and_references(tmp_path: Path) -> None:
    options = "inputs:\n  version: {description: X, default: 1.10}\n  dry: {type: boolean, required: false}"
    body = "## 1. Ship {{version}}\n" + COMMAND.format("ship '{{version}}' $dry") + '- FAIL: STOP "no {{version}}"\n'
    program = program_of(tmp_path, options, body)
    assert program.inputs == (
        Input("version", description="X", default="1.10"),
        Input("dry", "boolean", required=False),
    )
    assert program.slots == (Slot("version"), Slot("dry"))
    node = program.index()["1"]
    assert node.variables == (Variable("version", "version"), Variable("dry", "dry"))
    assert list(node.title.references) == [Reference("version", "{{version}}", "{{version}}")]
    assert isinstance(node.task, Shell)
    assert str(node.task.command) == "ship '{{version}}' $dry"
    assert not list(node.task.command.references)
    assert all(edge.effects == () for edge in node.edges)
    machine = Machine(program)
    end = machine.end(machine.advance(machine.start({"version": "{{dry}}"}), Outcome("fail")).state)
    assert end
    assert str(end.message) == "no {{dry}}"


@pytest.mark.parametrize("written", ["1.10", "yes", "1e3", "0x1f", "2024-01-01", "1_000", "on", "010", "0o7", ".5"])
def test_a_default_is_taken_as_it_is_written(written: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, f"inputs: {{a: {{default: {written}}}}}", "## 1. A {{a}}\n")
    assert program.inputs[0].default == written


TWICE = "duplicate key `{}` in `{}`; only the last one would count"
NO_VALUE = "input `a`: `default` is not a valid string: it has no value"
ERRORS = [
    ("inputs: {PATH: {}}", "3:12", "`PATH` cannot be the name of an input: the shell uses this variable"),
    (
        "inputs: {RDC_X: {}}",
        "3:12",
        "`RDC_X` cannot be the name of an input: names that start with RDC_ are reserved for rdc",
    ),
    ("inputs: {RDC_STEP_INSTANCE: {}}", "3:12", None),
    ("inputs: {LD_X: {}}", "3:12", None),
    ("inputs: {a-b: {}}", "3:12", "`a-b` cannot be the name of an input"),
    ("inputs: {a: 1.0}", "3:12", "the declaration of input `a` must be a mapping"),
    ("inputs: {a: {tpye: number}}", "3:16", "there is no key `tpye` in input `a`; did you mean `type`?"),
    ("inputs: {a: {type: integer}}", "3:16", "input `a`: `type` must be one of string, number, boolean, choice"),
    ("inputs: {a: {required: [maybe]}}", "3:16", None),
    ("inputs: {a: {required: maybe}}", "3:16", "input `a`: `required` must be true or false"),
    ("inputs: {a: {default: }}", "3:16", NO_VALUE),
    ("inputs: {a: {default: ~}}", "3:16", NO_VALUE),
    ("inputs: {a: {default: [1]}}", "3:16", "input `a`: `default` is not a valid string: it is not a string"),
    ('inputs: {a: {default: "\\0"}}', "3:16", None),
    ('inputs: {a: {default: "\\ud800"}}', "3:16", None),
    ("inputs: {a: {type: boolean, default: yes}}", "3:31", None),
    ("inputs: {a: {type: number, default: 1e3}}", "3:30", None),
    ("inputs: {a: {type: choice}}", "3:12", "input `a`: the options are not valid for the type choice"),
    ("inputs: {a: {type: choice, options: [b, b]}}", "3:30", "input `a`: an option is empty or duplicated"),
    ("inputs: {a: {type: choice, options: [b], default: c}}", "3:44", None),
    ("inputs: {a: {pattern: '('}}", "3:16", None),
    ("inputs: {a: {pattern: '[0-9]+', default: x}}", "3:35", None),
    ("inputs: [a]", "3:3", "`inputs` must be a mapping of at most 100 names to their declarations"),
    ("inputs:\n  a: {}\n  a: {}", "5:5", TWICE.format("a", "inputs")),
    ("steps:\n  1: {timeout: 5s}\n  '1': {timeout: 6s}", "5:5", TWICE.format("1", "steps")),
    ("outputs: [id]\noutputs: [id]", "4:3", TWICE.format("outputs", "rdc")),
    ("steps: {1: {timeout: 5s, timeout: 6s}}", "3:28", TWICE.format("timeout", "1")),
    ("outputs: id", None, "`outputs` must be a list of at most 100 names"),
    ("outputs: [id, id]", None, "duplicate name `id` in `outputs`"),
    ("outputs: [null]", None, "each item of `outputs` must be a name"),
    ("secrets: [~]", None, "each item of `secrets` must be a name"),
    ("outputs: [id]\ninputs: {id: {}}", None, "`id` is both an input and an output"),
    ("outputs: [id]\nsecrets: [id]", None, "`id` is also a secret"),
    ("secrets: [IFS]", None, "`IFS` cannot be the name of a secret: the shell uses this variable"),
    ("secrets: [T]\nsteps: {1: {env: {T: x}}}", None, "`T` is also a secret"),
]


@pytest.mark.parametrize(("options", "place", "message"), ERRORS)
def test_errors_in_declarations(options: str, place: str | None, message: str | None, tmp_path: Path) -> None:
    found, output, help_ = problem(tmp_path, options)
    assert place is None or found == f"RD013 {place}"
    assert message is None or output == message
    assert help_


RESERVED = (
    *("MAKEFLAGS", "MAKEFILES", "MFLAGS", "VPATH", "GLOBIGNORE", "POSIXLY_CORRECT", "BASH_XTRACEFD", "BASH_ARGV0"),
    *("RANDOM", "SECONDS", "LINENO", "SHELL", "PROMPT_COMMAND", "PS1", "TMPDIR", "USER", "LC_ALL", "LANG"),
    *("LD_PRELOAD", "DYLD_X", "GCONV_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHON_GIL", "NODE_OPTIONS", "PERL5LIB"),
    *("RUBYOPT", "GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "LESSOPEN", "EDITOR"),
)


FREE = (
    *("TZ", "HOST", "HOSTNAME", "GIT_TOKEN", "GIT_SHA", "PYTHON_VERSION", "NODE_VERSION", "TARGET", "MAKE_RELEASE"),
    *("shell", "lang", "path", "Random", "random", "editor", "LCD", "LDAP_USER", "BASHFUL", "USERNAME", "user"),
)


@pytest.mark.parametrize("declared", ["inputs: {%s: {}}", "outputs: [%s]", "secrets: [%s]"])
def test_names_that_tools_use_are_for_no_value_from_elsewhere(declared: str, tmp_path: Path) -> None:
    step, between = "## 1. A\n\n" + COMMAND.format("true"), ": {}, " if "{" in declared else ", "
    found = compiled(tmp_path, document(declared % between.join(RESERVED), step)).diagnostics
    refused = [item.message.partition(" cannot be the name of ")[0] for item in found if item.code == "RD013"]
    assert refused == [f"`{name}`" for name in RESERVED]
    assert program_of(tmp_path, declared % between.join(FREE), step).nodes


def test_a_document_sets_variables_of_tools_itself(tmp_path: Path) -> None:
    set_ = "steps: {1: {env: {MAKEFLAGS: -j2, LC_ALL: C, PYTHONPATH: src}}}"
    (node, *_) = program_of(tmp_path, set_, "## 1. A\n\n" + COMMAND.format("make")).nodes
    assert [item.name for item in node.constants] == ["MAKEFLAGS", "LC_ALL", "PYTHONPATH"]
    assert "the shell uses this variable" in problem(tmp_path, "steps: {1: {env: {PATH: /x}}}")[1]


def test_an_alias_repeats_nothing(tmp_path: Path) -> None:
    options = "inputs:\n  a: &a {default: x}\n  b: *a\n  c: {<<: *a, default: y}"
    defaults = [item.default for item in program_of(tmp_path, options, "## 1. A\n" + OUTPUT).inputs]
    assert defaults == ["x", "x", "y"]


def test_declarations_are_for_documents(tmp_path: Path) -> None:
    (tmp_path / "rdc.toml").write_text('outputs = ["a"]\n', encoding="utf-8")
    compilation = compiled(tmp_path, "## 1. A\nX?\n")
    assert [item.message for item in compilation.diagnostics] == [
        "the configuration is not valid: `outputs` cannot be set in the project's configuration"
    ]


INSTANCE = "## {N} Host {N} of {{N}}, {{a}}\nDone?\n- PASS: GOTO NEXT {N}\n- FAIL: STOP\n"


@pytest.mark.parametrize(
    ("body", "default", "shown"),
    [
        ("## 1. X {{a}}{{b}}\n", "1", "X 1{{b}}"),
        ("## 1. X ${{a}}\n", "1", "X ${{a}}"),
        ("## 1. X {{{a}}}\n", "1", "X {1}"),
        ("## 1. X {{ a }} {{c}} {a} {{}}\n", "1", "X {{ a }} {{c}} {a} {{}}"),
        (INSTANCE, "{N}", "Host 1 of {1}, {N}"),
    ],
)
def test_inputs_and_instances_are_filled_in_one_pass(body: str, default: str, shown: str, tmp_path: Path) -> None:
    more = "" if body == INSTANCE else OUTPUT
    program = program_of(tmp_path, f"inputs: {{a: {{default: '{default}'}}}}\noutputs: [b]", body + more)
    machine = Machine(program)
    assert machine.text(machine.start(), program.nodes[0].title) == shown


@pytest.mark.parametrize(
    ("text", "place"),
    [("## 1. Ship {{ version }}\n", "8:12"), ("## 1. A\nShip {{Version}}\n", "9:6"), ("## 1. A\n{{versoin}}\n", "9:1")],
)
def test_a_near_miss_is_a_warning(text: str, place: str, tmp_path: Path) -> None:
    compilation = compiled(tmp_path, document("inputs:\n  version: {}\nvalues:\n  - id\n", text))
    assert f"RD016 {place}" in findings(compilation)
    (found,) = (item for item in compilation.diagnostics if "did you mean `{{version}}`" in item.message)
    assert found.help.endswith("`{{version}}` without spaces" if "{{ " in text else "write `{{version}}`")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("## 1. Ship {{VERSION}}\nX?\n", ["1:12"]),
        ("## 1. A\nShip `./ship {{VERSION}}` or {{ VERSION }}.\n", ["2:14", "2:30"]),
        ('## 1. A\nX?\n- YES: STOP "no {{VERSION}}"\n', ["3:17"]),
        ("# Ship {{VERSION}}\n\n## 1. A\nX?\n", ["1:1"]),
        ("## 1. A {{ .Values.x }} ${{ VERSION }} {{{raw}}} {{a b}} {{#if a}} {{}} {{1}} {{a-b}}\nX?\n", []),
        ("## 1. A\nWrite `{{ VERSION }}` into the template, and run `docker ps --format '{{.Names}}'`.\n", []),
        ("## 1. A\n```yaml\nname: {{VERSION}}\n```\n", []),
        ("About {{VERSION}}.\n\n## 1. A\nX?\n", []),
        ("---\nrdc: {inputs: {VERSION: {}}}\n---\n# Ship {{VERSION}}\n\n## 1. Ship {{VERSION}}\nX?\n", []),
        ("---\nrdc: {inputs: {VERSION: {type: x}, A: {}}}\n---\n## 1. {{VERSION}} {{A}} {{B}}\nX?\n", ["4:25"]),
        ("---\nrdc: {outputs: [A, 1], steps: {1: {asks: {output: B, type: x}}}}\n---\n## 1. {{A}} {{B}}\nX?\n", []),
    ],
)
def test_a_reference_that_nothing_declares_is_a_warning(text: str, places: list[str], tmp_path: Path) -> None:
    found = [item for item in findings(compiled(tmp_path, text)) if item != "RD403 1:4" and item[:5] != "RD013"]
    assert found == [f"RD140 {place}" for place in places]
    if places:
        ignored = text.replace("Ship", "<!-- rdc: ignore RD140 -->\nShip", 1)
        assert "RD140 2:14" not in findings(compiled(tmp_path, ignored))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("hello {{NAME}}", ["RD134 4:19"]),
        ("hello {{ NAME }}", ["RD134 4:19"]),
        ("hello {{OTHER}}", ["RD140 4:19"]),
        ("$BASE/log", ["RD141 4:19"]),
        ("${HOME}/log and $NAME", ["RD141 4:19", "RD141 4:19"]),
        ("$own", ["RD141 4:19"]),
        ("5$ $1 $five \\$BASE $$BASE ${{ BASE }} {{ .Name }} $(BASE)", []),
    ],
)
def test_values_of_settings_are_not_replaced(value: str, expected: list[str], tmp_path: Path) -> None:
    text = f"---\nrdc:\n  inputs: {{NAME: {{default: Ann}}}}\n  steps: {{1: {{env: {{A: '{value}', own: x}}}}}}\n---\n"
    text += "## 1. Greet {{NAME}}\n```sh\necho $A\n```\n"
    found = findings(compiled(tmp_path, text))
    assert [item.split(":")[0] for item in found] == [item.split(":")[0] for item in expected]


def test_any_command_may_write_any_value(tmp_path: Path) -> None:
    body = "## 1. A\n" + OUTPUT + "- FAIL: RETRY 1\n## 2. Is {{id}} fine?\n- YES: CONTINUE\n- NO: GOTO 1\n"
    nodes = program_of(tmp_path, "outputs: [id]", body).index()
    assert all(Keep("id", "output", "id") in edge.effects for edge in nodes["1"].edges)
    assert all(not edge.effects for edge in nodes["2"].edges)
    assert nodes["1"].variables == (Variable("id", "id"),)
    assert nodes["2"].variables == ()


READ, WRITE = COMMAND.format('use "$id"'), OUTPUT
FIND, PRINT = COMMAND.format("./find-it"), COMMAND.format("printf 'x=%s\\nid=%s\\n' 1 2 >> $RDC_OUTPUT")


LATE = [
    ("## 1. A\n" + WRITE + "## 2. B\n" + READ, []),
    ("## 1. A\n" + READ + "## 2. B\n" + WRITE, ["RD408 5:4"]),
    ("## 1. A\n" + READ + "- FAIL: GOTO 2\n## 2. B\n" + WRITE + "- FAIL: GOTO 1\n", []),
    ("## 1. A\n" + WRITE + "## 2. B\nX?\n", ["RD409 3:13"]),
    ("## 1. A {{id}}\n" + WRITE, ["RD408 5:4"]),
    ("## 1. A\n" + COMMAND.format("id=4; f $id && echo id=$id >> $RDC_OUTPUT") + "## 2. Is {{id}} fine?\nX\n", []),
    ("## 1. A\n" + COMMAND.format("./script") + "## 2. B\n" + READ, []),
    ("## 1. A\n" + COMMAND.format("echo $x >> $RDC_OUTPUT") + "## 2. B\n" + READ, []),
    ("## 1. A\n" + COMMAND.format("true") + "## 2. B\n" + READ + "## 3. C\n" + WRITE, ["RD408 9:4"]),
    ("## 1. Is {{id}} fine?\nX\n", ["RD408 5:4"]),
    ("## 1. A\n" + READ + '- FAIL: STOP "{{id}}"\n## 2. B\n' + WRITE, ["RD408 5:4", "RD408 9:3"]),
    ("## 1. A\n" + FIND + "## 2. B\n" + READ + "## 3. C\n" + COMMAND.format("ping --id=$id"), []),
    ("## 1. A\n" + FIND + "## 2. B\n" + READ + "## 3. C\n" + COMMAND.format("deploy --set a.id=$id"), []),
    ("## 1. A\n" + FIND + "## 2. B\n" + READ + "## 3. C\n" + COMMAND.format("echo x >> $RDC_OUTPUT"), []),
    ("## 1. A\n" + PRINT + "## 2. B\n" + READ + "## 3. C\n" + WRITE, []),
]
SEVERAL = "inputs: {PATH: {}, a: {type: b}}\noutputs: [HOME, c, c]\nsteps: {1: {timeout: 5}}"
BRACES = "## 1. A {{ .Values }} ${{ version }}\n" + COMMAND.format("echo '{{versoin}}'")
FINDINGS = [
    *((document("outputs: [id]", body), expected) for body, expected in LATE),
    # all errors at once
    (document(SEVERAL, "## 1. A\n" + WRITE), ["RD013 3:12", "RD013 3:26", "RD013 4:13", "RD013 4:22", "RD013 5:15"]),
    (document("steps: {9: {timeout: 5s}}", "## 1. A\n" + WRITE + "- PASS: GOTO 7\n"), ["RD013 3:11", "RD201 9:14"]),
    # a header that cannot be read may be the step
    (document('steps: {"2": {timeout: 5s}}', "## 1. A\n" + WRITE + "## !2 B\n" + WRITE), ["RD032 9:4"]),
    # no near misses of a reference
    (document("inputs: {version: {}}", BRACES), []),
]


@pytest.mark.parametrize(("text", "expected"), FINDINGS)
def test_findings(text: str, expected: list[str], tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, text)) == expected


def test_a_message_is_not_called_by_the_name_of_its_node(tmp_path: Path) -> None:
    body = "## 1. A\n" + COMMAND.format("true") + '- FAIL: STOP "{{id}}"\n## 2. B\n' + WRITE
    (found,) = compiled(tmp_path, document("outputs: [id]", body)).diagnostics
    assert found.message == "this message reads the output `id`, but no earlier step can have written it"


@pytest.mark.parametrize(
    ("inputs", "reply", "problem", "remedy"),
    [
        (
            "{}",
            "",
            "input `a` has no default, and the scenario gives no value",
            "add `inputs: {a: VALUE}` to the scenario, or `--input a=VALUE` to its `rd run`",
        ),
        ("{a: x}", "", "the value of input `a` is not valid: it is not a decimal number", "change the value"),
        (
            "{a: 1, b: 1}",
            "",
            "there is no input `b`; the inputs are a",
            "remove it, or declare it under `rdc: {inputs: …}`",
        ),
        (
            "{a: 1}",
            ", rd pass --value b=1",
            "there is no output `b`",
            "declare it under `outputs`, or use the name of a declared output",
        ),
        ("{a: 1}", ", rd goto 7", "there is no step `7`", "use the number or name of a step in this document"),
        (
            "{a: 1}",
            ", rd pass --value b",
            "`--value` needs NAME=VALUE",
            "start with `rd run [--prompted] FILE` and continue with `rd pass`, `rd fail` or `rd goto ID`",
        ),
    ],
)
def test_a_scenario_that_lacks_something_gets_help(
    inputs: str, reply: str, problem: str, remedy: str, tmp_path: Path
) -> None:
    scenario = f"inputs: {inputs}, commands: [rd run --prompted main.runbook.md{reply}], result: COMPLETE"
    head = f"---\nscenarios: {{s: {{{scenario}}}}}\nrdc: {{inputs: {{a: {{type: number}}}}}}\n---\n"
    (found,) = compiled(tmp_path, head + "## 1. A\n" + COMMAND.format("echo $a")).diagnostics
    assert (found.code, found.message) == ("RD014", f"scenario `s` cannot be tested: {problem}")
    assert found.help == remedy
