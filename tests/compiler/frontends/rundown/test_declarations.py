"""What runbooks declare under `rdc`: inputs, values, secrets and settings of steps (E1 to E3, E9, E10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from compiler.driver import Compilation
from compiler.ir.edges import Clear, Keep
from compiler.ir.program import Constant, Input, Program, Settings, Slot, Variable
from compiler.ir.semantics import Machine, Outcome
from compiler.ir.tasks import Shell
from compiler.ir.texts import Reference
from compiler.ir.verify import verify
from tests.support.documents import compiled, findings

COMMAND = "```sh\n{}\n```\n"
KEEP = Keep("id", "output", "id")
OUTPUT = COMMAND.format('echo "id=3" >> "${RDC_OUTPUT:-/dev/null}"')


def document(options: str, body: str) -> str:
    """A runbook with options under `rdc`, each in a line."""
    lines = "".join(f"  {line}\n" for line in options.strip("\n").split("\n"))
    return f"---\nrdc:\n{lines}---\n{body}"


def program_of(folder: Path, options: str, body: str, files: dict[str, str] | None = None) -> Program:
    compilation = compiled(folder, document(options, body), files)
    assert compilation.program, compilation.diagnostics
    verify(compilation.program)
    return compilation.program


def problem(folder: Path, options: str, body: str = "## 1. A\n" + OUTPUT) -> tuple[str, str, str]:
    """The place, the message and the remedy of the only finding."""
    compilation = compiled(folder, document(options, body))
    (found,) = [item for item in compilation.diagnostics if item.code not in {"RD118", "RD409"}]
    assert found.span
    return f"{found.code} {found.span.line}:{found.span.column}", found.message, found.help


# --- Inputs ----------------------------------------------------------------------------------------------------------


def test_inputs_become_slots_variables_and_references(tmp_path: Path) -> None:
    options = "inputs:\n  version: {description: What, default: 1.10}\n  dry: {type: boolean, required: false}"
    body = "## 1. Ship {{version}}\n" + COMMAND.format("ship '{{version}}' $dry") + '- FAIL: STOP "no {{version}}"\n'
    program = program_of(tmp_path, options, body)
    assert program.inputs == (
        Input("version", description="What", default="1.10"),
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


@pytest.mark.parametrize(
    ("inputs", "place", "message"),
    [
        ("{PATH: {}}", "RD013 3:12", "`PATH` cannot be the name of an input: the shell uses this variable"),
        (
            "{RDC_X: {}}",
            "RD013 3:12",
            "`RDC_X` cannot be the name of an input: names that start with RDC_ are reserved for rdc",
        ),
        ("{RDC_STEP_INSTANCE: {}}", "RD013 3:12", None),
        ("{LD_X: {}}", "RD013 3:12", None),
        ("{a-b: {}}", "RD013 3:12", "`a-b` cannot be the name of an input"),
        ("{a: 1.0}", "RD013 3:12", "the declaration of input `a` must be a mapping"),
        ("{a: {tpye: number}}", "RD013 3:16", "there is no key `tpye` in input `a`; did you mean `type`?"),
        ("{a: {type: integer}}", "RD013 3:16", "input `a`: `type` must be one of string, number, boolean, choice"),
        ("{a: {required: [maybe]}}", "RD013 3:16", None),
        ("{a: {required: maybe}}", "RD013 3:16", "input `a`: `required` must be true or false"),
        ("{a: {default: }}", "RD013 3:16", "input `a`: `default` is not a valid string: it has no value"),
        ("{a: {default: ~}}", "RD013 3:16", "input `a`: `default` is not a valid string: it has no value"),
        (
            "{a: {default: [1]}}",
            "RD013 3:16",
            "input `a`: `default` is not a valid string: it is not a string",
        ),
        ('{a: {default: "\\0"}}', "RD013 3:16", None),
        ('{a: {default: "\\ud800"}}', "RD013 3:16", None),
        ("{a: {type: boolean, default: yes}}", "RD013 3:31", None),
        ("{a: {type: number, default: 1e3}}", "RD013 3:30", None),
        ("{a: {type: choice}}", "RD013 3:12", "input `a`: the options are not valid for the type choice"),
        ("{a: {type: choice, options: [b, b]}}", "RD013 3:30", "input `a`: an option is empty or duplicated"),
        ("{a: {type: choice, options: [b], default: c}}", "RD013 3:44", None),
        ("{a: {pattern: '('}}", "RD013 3:16", None),
        ("{a: {pattern: '[0-9]+', default: x}}", "RD013 3:35", None),
        ("[a]", "RD013 3:3", "`inputs` must be a mapping of at most 100 names to their declarations"),
    ],
)
def test_errors_in_inputs(inputs: str, place: str, message: str | None, tmp_path: Path) -> None:
    found, said, help_ = problem(tmp_path, f"inputs: {inputs}")
    assert found == place
    assert message is None or said == message
    assert help_


RESERVED = (
    *("MAKEFLAGS", "MAKEFILES", "MFLAGS", "VPATH", "GLOBIGNORE", "POSIXLY_CORRECT", "BASH_XTRACEFD", "BASH_ARGV0"),
    *(
        "RANDOM",
        "SECONDS",
        "LINENO",
        "SHELL",
        "PROMPT_COMMAND",
        "PS1",
        "TMPDIR",
        "USER",
        "LC_ALL",
        "LANG",
        "LD_PRELOAD",
    ),
    *("DYLD_X", "GCONV_PATH", "PYTHONPATH", "PYTHONSTARTUP", "PYTHON_GIL", "NODE_OPTIONS", "PERL5LIB", "RUBYOPT"),
    *("GIT_SSH_COMMAND", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "LESSOPEN", "EDITOR"),
)
FREE = (
    *("TZ", "HOST", "HOSTNAME", "GIT_TOKEN", "GIT_SHA", "PYTHON_VERSION", "NODE_VERSION", "TARGET", "MAKE_RELEASE"),
    *("shell", "lang", "path", "Random", "random", "editor", "LCD", "LDAP_USER", "BASHFUL", "USERNAME", "user"),
)


@pytest.mark.parametrize("declared", ["inputs: {NAME: {}}", "outputs: [NAME]", "secrets: [NAME]"])
def test_names_that_tools_use_are_for_no_value_from_elsewhere(declared: str, tmp_path: Path) -> None:
    for name in RESERVED:
        code, said, _ = problem(tmp_path, declared.replace("NAME", name))
        assert (code.split()[0], said.startswith(f"`{name}` cannot be the name of ")) == ("RD013", True), said
    for name in FREE:
        assert program_of(tmp_path, declared.replace("NAME", name), "## 1. A\n\n" + COMMAND.format("true")).nodes


def test_a_document_sets_variables_of_tools_itself(tmp_path: Path) -> None:
    set_ = "steps: {1: {env: {MAKEFLAGS: -j2, LC_ALL: C, PYTHONPATH: src}}}"
    (node, *_) = program_of(tmp_path, set_, "## 1. A\n\n" + COMMAND.format("make")).nodes
    assert [item.name for item in node.constants] == ["MAKEFLAGS", "LC_ALL", "PYTHONPATH"]
    assert "the shell uses this variable" in problem(tmp_path, "steps: {1: {env: {PATH: /x}}}")[1]


def test_all_errors_are_told_at_once(tmp_path: Path) -> None:
    options = "inputs: {PATH: {}, a: {type: b}}\noutputs: [HOME, c, c]\nsteps: {1: {timeout: 5}}"
    text = document(options, "## 1. A\n" + OUTPUT)
    assert findings(compiled(tmp_path, text)) == [
        *("RD013 3:12", "RD013 3:26", "RD013 4:13", "RD013 4:22", "RD013 5:15")
    ]


def test_an_unknown_step_is_told_with_what_is_wrong_elsewhere(tmp_path: Path) -> None:
    text = document("steps: {9: {timeout: 5s}}", "## 1. A\n" + OUTPUT + "- PASS: GOTO 7\n")
    assert findings(compiled(tmp_path, text)) == ["RD013 3:11", "RD201 9:14"]


def test_a_header_that_cannot_be_read_may_be_the_step(tmp_path: Path) -> None:
    text = document('steps: {"2": {timeout: 5s}}', "## 1. A\n" + OUTPUT + "## !2 B\n" + OUTPUT)
    assert "RD013 3:11" not in findings(compiled(tmp_path, text))


@pytest.mark.parametrize(
    ("options", "place", "message"),
    [
        ("inputs:\n  a: {}\n  a: {}", "5:5", "duplicate key `a` in `inputs`; only the last one would count"),
        (
            "steps:\n  1: {timeout: 5s}\n  '1': {timeout: 6s}",
            "5:5",
            "duplicate key `1` in `steps`; only the last one would count",
        ),
        ("outputs: [id]\noutputs: [id]", "4:3", "duplicate key `outputs` in `rdc`; only the last one would count"),
        (
            "steps: {1: {timeout: 5s, timeout: 6s}}",
            "3:28",
            "duplicate key `timeout` in `1`; only the last one would count",
        ),
    ],
)
def test_what_is_declared_twice(options: str, place: str, message: str, tmp_path: Path) -> None:
    assert problem(tmp_path, options)[:2] == (f"RD013 {place}", message)


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


# --- References ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("{{a}}{{b}}", "1{{b}}"),
        ("${{a}}", "${{a}}"),
        ("{{{a}}}", "{1}"),
        ("{{ a }} {{c}} {a} {{}}", "{{ a }} {{c}} {a} {{}}"),
    ],
)
def test_references_are_replaced_in_one_pass(text: str, shown: str, tmp_path: Path) -> None:
    program = program_of(tmp_path, "inputs: {a: {default: '1'}}\noutputs: [b]", f"## 1. X {text}\n" + OUTPUT)
    machine = Machine(program)
    assert machine.text(machine.start(), program.index()["1"].title) == f"X {shown}"


def test_instances_and_inputs_are_filled_in_together(tmp_path: Path) -> None:
    body = "## {N} Host {N} of {{N}}, {{total}}\nDone?\n- PASS: GOTO NEXT {N}\n- FAIL: STOP\n"
    program = program_of(tmp_path, "inputs: {total: {default: '{N}'}}", body)
    machine = Machine(program)
    assert machine.text(machine.start(), program.index()["{N}"].title) == "Host 1 of {1}, {N}"


@pytest.mark.parametrize(
    ("text", "place"),
    [("## 1. Ship {{ version }}\n", "8:12"), ("## 1. A\nShip {{Version}}\n", "9:6"), ("## 1. A\n{{versoin}}\n", "9:1")],
)
def test_a_near_miss_is_a_warning(text: str, place: str, tmp_path: Path) -> None:
    options = "inputs:\n  version: {}\nvalues:\n  - id\n"
    compilation = compiled(tmp_path, document(options, text))
    assert f"RD016 {place}" in findings(compilation)
    assert any("did you mean `{{version}}`" in item.message for item in compilation.diagnostics)


def test_other_texts_in_braces_are_no_near_misses(tmp_path: Path) -> None:
    body = "## 1. A {{ .Values }} ${{ version }}\n" + COMMAND.format("echo '{{versoin}}'")
    assert findings(compiled(tmp_path, document("inputs: {version: {}}", body))) == []


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
    ],
)
def test_a_reference_that_nothing_declares_is_a_warning(text: str, places: list[str], tmp_path: Path) -> None:
    found = [item for item in findings(compiled(tmp_path, text)) if item != "RD403 1:4"]
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


# --- Values ----------------------------------------------------------------------------------------------------------


def test_any_command_may_write_any_value(tmp_path: Path) -> None:
    body = "## 1. A\n" + OUTPUT + "- FAIL: RETRY 1\n## 2. Is {{id}} fine?\n- YES: CONTINUE\n- NO: GOTO 1\n"
    program = program_of(tmp_path, "outputs: [id]", body)
    nodes = program.index()
    assert all(Keep("id", "output", "id") in edge.effects for edge in nodes["1"].edges)
    assert all(not edge.effects for edge in nodes["2"].edges)
    assert nodes["1"].variables == (Variable("id", "id"),)
    assert nodes["2"].variables == ()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("outputs: id", "`outputs` must be a list of at most 100 names"),
        ("outputs: [id, id]", "duplicate name `id` in `outputs`"),
        ("outputs: [null]", "each item of `outputs` must be a name"),
        ("secrets: [~]", "each item of `secrets` must be a name"),
        ("outputs: [id]\ninputs: {id: {}}", "`id` is both an input and an output"),
        ("outputs: [id]\nsecrets: [id]", "`id` is also a secret"),
        ("secrets: [IFS]", "`IFS` cannot be the name of a secret: the shell uses this variable"),
        ("secrets: [T]\nsteps: {1: {env: {T: x}}}", "`T` is also a secret"),
    ],
)
def test_errors_in_names(options: str, message: str, tmp_path: Path) -> None:
    assert problem(tmp_path, options)[1] == message


READ, WRITE = COMMAND.format('use "$id"'), OUTPUT
FIND, PRINT = COMMAND.format("./find-it"), COMMAND.format("printf 'x=%s\\nid=%s\\n' 1 2 >> $RDC_OUTPUT")


@pytest.mark.parametrize(
    ("body", "expected"),
    [
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
    ],
)
def test_values_that_are_read_too_early_or_never(body: str, expected: list[str], tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, document("outputs: [id]", body))) == expected


def test_a_message_is_not_called_by_the_name_of_its_node(tmp_path: Path) -> None:
    body = "## 1. A\n" + COMMAND.format("true") + '- FAIL: STOP "{{id}}"\n## 2. B\n' + WRITE
    text = document("outputs: [id]", body)
    (found,) = compiled(tmp_path, text).diagnostics
    assert found.message == "this message reads the output `id`, but no earlier step can have written it"


@pytest.mark.parametrize(
    ("scenario", "problem", "remedy"),
    [
        (
            "commands: [rd run --prompted main.runbook.md]",
            "input `a` has no default, and the scenario gives no value",
            "add `inputs: {a: VALUE}` to the scenario, or `--input a=VALUE` to its `rd run`",
        ),
        (
            "inputs: {a: x}, commands: [rd run --prompted main.runbook.md]",
            "the value of input `a` is not valid: it is not a decimal number",
            "change the value",
        ),
        (
            "inputs: {a: 1, b: 1}, commands: [rd run --prompted main.runbook.md]",
            "there is no input `b`; the inputs are a",
            "remove it, or declare it under `rdc: {inputs: …}`",
        ),
        (
            "inputs: {a: 1}, commands: [rd run --prompted main.runbook.md, rd pass --value b=1]",
            "there is no output `b`",
            "declare it under `outputs`, or use the name of a declared output",
        ),
        (
            "inputs: {a: 1}, commands: [rd run --prompted main.runbook.md, rd goto 7]",
            "there is no step `7`",
            "use the number or name of a step in this document",
        ),
        (
            "inputs: {a: 1}, commands: [rd run --prompted main.runbook.md, rd pass --value b]",
            "`--value` needs NAME=VALUE",
            "start with `rd run [--prompted] FILE` and continue with `rd pass`, `rd fail` or `rd goto ID`",
        ),
    ],
)
def test_what_a_scenario_lacks_is_said_with_what_to_do(
    scenario: str, problem: str, remedy: str, tmp_path: Path
) -> None:
    head = f"---\nscenarios: {{s: {{{scenario}, result: COMPLETE}}}}\nrdc: {{inputs: {{a: {{type: number}}}}}}\n---\n"
    (found,) = compiled(tmp_path, head + "## 1. A\n" + COMMAND.format("echo $a")).diagnostics
    assert (found.code, found.message) == ("RD014", f"scenario `s` cannot be tested: {problem}")
    assert found.help == remedy


# --- Settings of steps -----------------------------------------------------------------------------------------------

STEPS = (
    "## 1. A\n### 1.1 B\n"
    + OUTPUT
    + "- FAIL: RETRY 2\n### 1.2 C\nX?\n- FAIL: RETRY 1\n## 2. D\n"
    + OUTPUT
    + "## 3. E\nX?\n"
)


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


@pytest.mark.parametrize(
    ("steps", "place", "message"),
    [
        ("{4: {timeout: 5s}}", "3:11", "there is no step `4`"),
        ("{1.11: {timeout: 5s}}", "3:11", "there is no step `1.11`; did you mean `1.1`?"),
        ("{2: {timeout: 90}}", "3:15", "the settings of step 2: `timeout` must be a duration of at most a year"),
        ("{2: {timeout: 0s}}", "3:15", None),
        ("{2: {timeout: 1d}}", "3:15", None),
        ("{2: {timeout: 9000h}}", "3:15", None),
        ("{2: {timout: 5s}}", "3:15", "there is no key `timout` in the settings of step 2; did you mean `timeout`?"),
        ("{1.1: {retry-backoff: 0, retry-delay: 1s}}", "3:17", None),
        ("{1.1: {retry-backoff: 1.5, retry-delay: 1s}}", "3:17", None),
        (
            "{1.1: {retry-backoff: 2}}",
            "3:17",
            "`retry-backoff` has no effect on step 1.1: there is no delay to multiply",
        ),
        ("{2: {retry-delay: 5s}}", "3:15", "`retry-delay` has no effect on step 2: the step has no RETRY"),
        ("{3: {timeout: 5s}}", "3:15", "`timeout` has no effect on step 3: the step runs no command"),
        ("{3: {env: {A: b}}}", "3:21", "`A` has no effect on step 3: the step runs no command"),
        (
            "{2: {env: {A: }}}",
            "3:21",
            "the settings of step 2: the value of `A` is not a valid string: it has no value",
        ),
        ("{2: {env: {BASH_ENV: x}}}", "3:21", None),
        ("{2: {env: A}}", "3:15", "the settings of step 2: `env` must be a mapping of names to strings"),
        ("{2: 5s}", "3:11", "the settings of step 2 must be a mapping"),
        ("[2]", "3:3", "`steps` must be a mapping of steps to settings"),
    ],
)
def test_errors_in_settings(steps: str, place: str, message: str | None, tmp_path: Path) -> None:
    found, said, help_ = problem(tmp_path, f"steps: {steps}", STEPS)
    assert found == f"RD013 {place}"
    assert message is None or said == message
    assert help_


def test_a_plain_number_is_refused_with_what_to_write(tmp_path: Path) -> None:
    assert problem(tmp_path, "steps: {2: {timeout: 90}}", STEPS)[2] == "write `90s` or `90m`"


def test_a_variable_of_a_step_has_no_name_of_an_input(tmp_path: Path) -> None:
    _, said, _ = problem(tmp_path, "steps: {2: {env: {id: b}}}\noutputs: [id]", STEPS)
    assert said == "`env` sets `id`, but there is an input or output with that name"


@pytest.mark.parametrize("step", ["1", '"*"'])
def test_a_delay_is_not_waited_where_a_step_begins_again(step: str, tmp_path: Path) -> None:
    body = "## 1. A\n- FAIL: RETRY 2\n### 1.1 B\n" + OUTPUT
    place, said, _ = problem(tmp_path, f"steps: {{{step}: {{retry-delay: 5s}}}}", body)
    assert place.startswith("RD015 3:")
    assert "no effect on step 1" in said


# --- Nested runbooks -------------------------------------------------------------------------------------------------

OUTER = "## 1. A\n" + OUTPUT + "## 2. B\n- in.runbook.md\n- FAIL: RETRY 1\n## 3. C {{id}}\nX?\n"


UNUSED = {"RD409", "RD140"}
"""Codes of outputs that the outer runbook declares and doesn't read, or reads and doesn't declare."""


def nested(folder: Path, outer: str, inner: str, body: str = OUTPUT) -> Compilation:
    text = document(inner, "## 1. In {{id}}\n" + body + "- FAIL: RETRY 1\n## 2. It is {{id}}\nX?\n")
    return compiled(folder, document(outer, OUTER), {"in.runbook.md": text})


def test_what_both_declare_is_one_and_the_same(tmp_path: Path) -> None:
    program = nested(tmp_path, "outputs: [id]", "outputs: [id]").program
    assert program
    assert program.slots == (Slot("id"),)
    assert program.index()["2/in.runbook.md/1"].variables == (Variable("id", "id"),)
    assert not any(Clear("id") in edge.effects for node in program.nodes for edge in node.edges)


def test_a_nested_input_may_be_a_value_of_the_outer_one(tmp_path: Path) -> None:
    program = nested(tmp_path, "outputs: [id]", "inputs: {id: {}}").program
    assert program
    assert program.slots == (Slot("id"),)
    assert not any(
        edge.effects[:1] == (Keep("id", "output", "id"),) for edge in program.index()["2/in.runbook.md/2"].edges
    )


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
    body = OUTPUT + "- PASS: GOTO 9\n"
    compilation = nested(tmp_path, f"steps: {{{steps}}}", "outputs: [id]", body)
    messages = [item.message.partition("; did")[0] for item in compilation.diagnostics if item.code not in UNUSED]
    assert sorted(messages) == sorted(["there is no step `9`", expected])


def test_settings_of_what_could_not_be_read_are_not_judged(tmp_path: Path) -> None:
    body = "## 1. A\n" + OUTPUT + "- FAIL: RETRI 1\n"
    found = compiled(tmp_path, document("steps: {1: {retry-delay: 5s}}", body)).diagnostics
    assert found
    assert not any(item.code == "RD013" for item in found)


def test_settings_of_what_is_not_linked_are_not_known(tmp_path: Path) -> None:
    options = "steps: {1/in.runbook.md/7: {timeout: 5s}, 1/in.runbook.md: {timeout: 5s}}"
    text = document(options, "## 1. A\n- in.runbook.md\n")
    assert compiled(tmp_path, text, link=False).program
    assert "RD301" in str(findings(compiled(tmp_path, text)))


def test_a_runbook_without_any_of_it_is_what_it_was(tmp_path: Path) -> None:
    plain = compiled(tmp_path, STEPS).program
    assert plain
    assert (plain.slots, plain.inputs, plain.secrets) == ((), (), ())
    assert all(node.settings == Settings() and not node.constants for node in plain.nodes)


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
