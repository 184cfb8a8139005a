"""Questions for a value: `asks` in the settings of a step (E14)."""

from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.tasks import Ask, Value
from compiler.scenarios.mock import mock
from compiler.scenarios.outcomes import read_outcomes, write_outcomes
from tests.compiler.frontends.rundown.declaring import document, program_of
from tests.support.documents import compiled, findings

BODY = (
    "## 1. Which ticket?\nName it.\n- FAIL: STOP none\n"
    '## 2. Show {{TICKET}}\n```sh\necho "$TICKET"\n```\n- PASS: COMPLETE "{{TICKET}}"\n'
)


@pytest.mark.parametrize(
    ("asks", "value"),
    [
        ("TICKET", Value("TICKET")),
        ("{output: TICKET}", Value("TICKET")),
        ("{output: TICKET, type: text, pattern: '[A-Z]+-[0-9]+'}", Value("TICKET", pattern="[A-Z]+-[0-9]+")),
        ("{output: TICKET, type: number}", Value("TICKET", "number")),
        ("{output: TICKET, type: choice, options: [1.10, eu]}", Value("TICKET", "choice", ("1.10", "eu"))),
    ],
)
def test_the_reply_becomes_an_output_after_pass_only(tmp_path: Path, asks: str, value: Value) -> None:
    declared = program_of(tmp_path, f"outputs: [TICKET]\nsteps: {{1: {{asks: {asks}}}}}", BODY)
    assert [slot.name for slot in declared.slots] == ["TICKET"], "it may be declared, too"
    nodes = program_of(tmp_path, f"steps: {{1: {{asks: {asks}}}}}", BODY).index()
    task = nodes["1"].task
    assert isinstance(task, Ask)
    assert (task.question, task.value) == ("value", value)
    assert [edge.effects for edge in nodes["1"].edges] == [(Keep("TICKET"),), ()]
    assert [(item.name, item.register) for item in nodes["2"].variables] == [("TICKET", "TICKET")]
    assert [reference.register for reference in nodes["2"].title.references] == ["TICKET"]


def test_only_pass_gives_the_value_so_a_step_after_fail_reads_it_too_early(tmp_path: Path) -> None:
    body = BODY.replace("STOP none", "GOTO Oops") + "## Oops\nX {{TICKET}}\n- PASS: STOP\n- FAIL: STOP\n"
    (found,) = [
        item
        for item in compiled(tmp_path, document("steps: {1: {asks: TICKET}}", body)).diagnostics
        if item.code == "RD408"
    ]
    assert found.message == "step Oops reads the output `TICKET`, but no earlier step can have written it"
    assert found.help == "ask for it in an earlier step; only PASS gives a value"


OWN = "the settings of step 1: `asks`"
ERRORS = [
    *((asks, f"{OWN} must be the name of an output, or a mapping") for asks in ("", "[A]")),
    ("{type: text}", f"{OWN} needs the name of an output"),
    ("a-b", "`a-b` cannot be the name of an output"),
    ("PATH", "`PATH` cannot be the name of an output: "),
    ("{output: A, types: text}", "there is no key `types` in the settings of step 1, `asks`; did you mean `type`?"),
    ("{output: A, type: string}", f"{OWN}: `type` must be one of text, number, choice"),
    ("{output: A, type: choice}", f"{OWN}: the type choice needs a list of options"),
    ("{output: A, options: [x]}", f"{OWN}: the type choice needs a list of options"),
    ("{output: A, type: choice, options: [x, x]}", f"{OWN}: an option is empty or dupli"),
    ("{output: A, type: choice, options: [x, No]}", f"{OWN}: the option 'No' is "),
    ("{output: A, type: choice, options: [x, '--all']}", f"{OWN}: the option '--all' is"),
    ("{output: A, type: choice, options: ['-5', '-']}", f"{OWN}: the option '-' isn't"),
    ("{output: A, pattern: '['}", f"{OWN}: the pattern is not a valid regular expression"),
    ("{output: A, pattern: (a+)+}", f"{OWN}: the pattern repeats, without limit, a part"),
    ("{output: A, pattern: }", f"{OWN}: `pattern` is not a valid string: it has no value"),
]
ELSEWHERE = [
    ("steps: {2: {asks: A}}", "`asks` needs a question, but step 2 runs a command"),
    ("steps: {3: {asks: A}}", "`asks` needs a question, but step 3 has substeps or runbooks"),
    ("steps: {'*': {asks: A}}", "the settings of all steps: `asks` needs a single step of this document"),
    ("steps: {4/a.runbook.md/1: {asks: A}}", "the settings of step 4/a.runbook.md/1: `asks` needs a single step"),
    ("steps: {4: {asks: A}}", "step 4 has a checklist, so its reply can't be a value"),
    ("steps: {5: {asks: A}}", "there is no step `5`"),
    ("inputs: {A: {}}\nsteps: {1: {asks: A}}", "`A` is both an input and an output"),
    ("secrets: [A]\nsteps: {1: {asks: A}}", "`A` is also a secret"),
    ("steps: {1: {asks: A}, 2: {env: {A: x}}}", "`env` sets `A`, but there is an input or output with that name"),
]
STEPS = "## 1. A\nX?\n## 2. B\n```sh\necho $A\n```\n## 3. C\n### 3.1 D\nX?\n## 4. E\n- [ ] X\n"


@pytest.mark.parametrize(
    ("options", "message"), [*((f"steps: {{1: {{asks: {asks}}}}}", message) for asks, message in ERRORS), *ELSEWHERE]
)
def test_errors_in_asks(tmp_path: Path, options: str, message: str) -> None:
    found = [item for item in compiled(tmp_path, document(options, STEPS)).diagnostics if item.code == "RD013"]
    assert any(item.message.startswith(message) for item in found), found
    assert all(item.span and item.span.line in (3, 4) and item.help for item in found)


def test_an_output_that_only_people_read_is_no_warning(tmp_path: Path) -> None:
    assert findings(compiled(tmp_path, document("steps: {1: {asks: TICKET}}", "## 1. A\nX?\n"))) == []


SCENARIO = (
    "---\nrdc:\n  steps: {1: {asks: {output: TICKET, type: number}}}\nscenarios:\n  one:\n"
    "    commands: [rd run --prompted main.runbook.md, REPLY, rd pass]\n    result: COMPLETE\n---\n"
)


@pytest.mark.parametrize(
    ("reply", "message", "end"),
    [
        ("rd pass --value TICKET=12", "", "12"),
        ("rd fail", "", "none"),
        ("rd pass", "step 1 asks for `TICKET`: a value is required; write `--value TICKET=…` after `pass`", None),
        ("rd pass --value TICKET=x", "step 1 asks for `TICKET`: it is not a decimal number; write `--value", None),
    ],
)
def test_a_scenario_gives_the_value(tmp_path: Path, reply: str, message: str, end: str | None) -> None:
    compilation = compiled(tmp_path, SCENARIO.replace("REPLY", reply) + BODY)
    assert compilation.program
    played = mock(compilation.program, compilation.scenarios[0])
    assert played.message.startswith(message)
    again = read_outcomes(write_outcomes(played.path.visits, compilation.program), compilation.program)
    assert all(visit.outcome in again.get(visit.step, (visit.outcome,)) for visit in played.path.visits)
    if end is not None:
        done = compilation.program.index()[played.path.state.node].task
        assert done.kind == "end"
        assert end in (str(done.message), *played.path.state.slots.values())
