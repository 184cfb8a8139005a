"""Inputs of native workflows: checked in one step, then variables of all others (E1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from backends.github import GithubBackend
from compiler.ir.program import Input, Program
from compiler.ir.tasks import End
from tests.backends.github.routed import (
    COMPLETE,
    STOP,
    Ask,
    Shell,
    Variable,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)
from tests.backends.github.walking import run, written
from tests.support.github.act import end_of
from tests.support.github.compiling import parsed, text_of
from tests.support.github.lint import findings

pytestmark = pytest.mark.tool

HOSTILE = (
    "$(touch $FOLDER/owned)",
    "'; touch $FOLDER/owned; '",
    "`touch $FOLDER/owned`",
    "${{ github.token }}",
    "::set-env name=A::b",
    "##[add-mask]a",
    "rdc",
    "rdc_\u2028rdc__",
    "rdc<<EOF",
    "100% %0A::error::x",
    "{{OTHER}}",
    " space ",
    "-n",
    "*",
    "\\",
)
SHOW = 'printf "%s=%s|" "$RDC_STEP" "${NAME-unset}" >> "$FOLDER/shown"'


def show(name: str) -> Shell:
    return Shell("bash", text(SHOW.replace("$RDC_STEP", name)))


def variables(*inputs: Input) -> tuple[Variable, ...]:
    return tuple(Variable(item.name, item.name) for item in inputs)


def row(*inputs: Input) -> Program:
    """Two commands that show the first input, the second one in a loop, and an end that says it."""
    last = End("complete", words("Done with ", ref(inputs[0].name, f"{{{{{inputs[0].name}}}}}"), "."))
    shell = text(SHOW.replace("NAME", inputs[0].name).replace("$RDC_STEP", "1"))
    loop = text(
        SHOW.replace("NAME", inputs[0].name).replace("$RDC_STEP", "2")
        + '\n[ -e "$FOLDER/again" ] || ! touch "$FOLDER/again"'
    )
    mine = variables(*inputs)
    return program(
        node("1", Shell("bash", shell), to("2", "pass"), to(STOP, "fail"), variables=mine),
        node("2", Shell("sh", loop), to(COMPLETE, "pass"), to("1b", "fail"), variables=mine),
        node("1b", Shell("sh", text("true")), to("2"), variables=mine),
        node(COMPLETE, last),
        inputs=inputs,
    )


def shown(folder: Path) -> list[str]:
    path = folder / "shown"
    return path.read_bytes().decode().split("|")[:-1] if path.exists() else []


@pytest.mark.parametrize("value", ["".join(HOSTILE[:7]) + " -n", *HOSTILE[7:10], "-n", "".join(HOSTILE[9:])])
def test_a_value_stays_a_text(value: str, tmp_path: Path) -> None:
    done = run(tmp_path, compiled(row(Input("NAME"))), inputs={"NAME": value})
    assert done.conclusion == "success", done.log
    assert shown(tmp_path) == [f"1={value}", f"2={value}", f"2={value}"]
    assert end_of("", done).message == f"Done with {value}."
    assert not (tmp_path / "owned").exists()


FITS: Sequence[tuple[Input, str, str]] = [
    (Input("X"), "", "Input X: a value is required"),
    (Input("X", required=False), "", ""),
    (Input("X", type="text"), "a\nb\r\n", ""),
    (Input("X", type="text"), "", "Input X: a value is required"),
    (Input("X"), "a\nb", "Input X: it has more than one line"),
    (Input("X"), "x" * 65_536, ""),
    (Input("X"), "x" * 65_537, "longer than 65,536 bytes"),
    (Input("X"), "\u00e9" * 32_769, "longer than 65,536 bytes"),
    (Input("X", type="number"), "-1.50", ""),
    (Input("X", type="number"), "1e3", "it is not a decimal number"),
    (Input("X", type="choice", options=("a b", "c"), required=False), "a b", ""),
    (Input("X", type="choice", options=("a b", "c"), required=False), "a", "it must be one of a b, c"),
    (Input("X", pattern=r"v[0-9]+\.[0-9]+"), "v1.2", ""),
    (Input("X", pattern=r"v[0-9]+\.[0-9]+"), "v1.2\u0663", "it does not match"),
    (Input("X", pattern=r"\d.\w"), "\u0663\u00e9\u00e9", ""),
    (Input("X", pattern=r"\d.\w"), "1\u00e9", "it does not match"),
]


@pytest.mark.share(6)
@pytest.mark.parametrize(("declared", "value", "problem"), FITS, ids=range(len(FITS)))
def test_values_are_checked_before_anything_runs(declared: Input, value: str, problem: str, tmp_path: Path) -> None:
    if declared.type == "text" or not declared.required:
        made = program(node("1", show("1"), to(COMPLETE), variables=variables(declared)), inputs=[declared])
        made_text = compiled(made).replace("${NAME", "${X")
    else:
        made_text = compiled(row(declared))
    assert "CALL" not in made_text
    done = run(tmp_path, made_text, inputs={"X": value})
    if problem:
        assert (done.conclusion, shown(tmp_path)) == ("failure", [])
        assert any(problem in message for _, title, message in done.jobs["runbook"].annotations if title == "Inputs")
    else:
        assert done.conclusion == "success", done.log
        assert shown(tmp_path)[0] == f"1={value or 'unset'}"


def test_a_boolean_and_its_default(tmp_path: Path) -> None:
    workflow = compiled(row(Input("DRY", type="boolean", default="true")), {"on": ["workflow_dispatch", "push"]})
    assert parsed(workflow)["on"]["workflow_dispatch"]["inputs"]["DRY"]["default"] is True
    run(tmp_path, workflow, inputs={"DRY": "false"})
    run(tmp_path, workflow, 2, event="push")
    assert {shown(tmp_path)[0], shown(tmp_path)[-1]} == {"1=false", "2=true"}


def asking() -> Program:
    """A question about an input, between two commands; a rejected one is asked again in a loop."""
    declared = Input("NAME", default="a")
    mine = variables(declared)
    prompt = words("Publish ", ref("NAME", "{{NAME}}"), "?")
    return program(
        node("1", show("1"), to("2", "pass"), to(STOP, "fail"), variables=mine),
        node("2", Ask("yes_no", prompt), to("3", "pass"), to(STOP, "fail")),
        node("3", show("3"), to(COMPLETE, "pass"), to(STOP, "fail"), variables=mine),
        inputs=[declared],
    )


def test_a_part_behind_an_approval_has_the_inputs(tmp_path: Path) -> None:
    workflow = compiled(asking(), {"prompts": "environment"})
    assert findings([written(tmp_path, workflow)]) == []
    done = run(tmp_path, workflow, inputs={"NAME": "b"}, environments={"approval": ["approved"]})
    assert done.conclusion == "success", done.log
    assert shown(tmp_path) == ["1=b", "3=b"]
    assert "Publish b?" in done.summary


ROUTED: Mapping[str, Program] = {
    "a command without the input": program(node("1", Shell("sh", text("true")), to(COMPLETE)), inputs=[Input("X")]),
    "a name of the runner": row(Input("GITHUB_X")),
    "a name in the scripts around a command": row(Input("kept")),
    "a secret of such a name": replace(row(Input("X")), secrets=("intact",)),
    "names that differ in case": row(Input("X"), Input("x")),
    "an option of several lines": row(Input("X", type="choice", options=("a\nb",))),
    "a message that may be missing": row(Input("X", required=False)),
    "a message of several lines": row(Input("X", type="text")),
    "a value that a command changes": program(
        node("1", Shell("sh", text("true")), to(COMPLETE), variables=(Variable("Y", "X"),)), inputs=[Input("X")]
    ),
}


@pytest.mark.parametrize("why", ROUTED)
def test_what_native_steps_cannot_say_exactly_is_left_to_the_runtime(why: str) -> None:
    assert "CALL" in compiled(ROUTED[why])


def test_comments_show_a_message_as_it_is_written(tmp_path: Path) -> None:
    head = "---\nrdc: {inputs: {x: {default: a}}}\n---\n"
    loop = '## 1. A\n```sh\ntrue\n```\n- FAIL: STOP "no {{x}} here"\n## 2. B\n```sh\ntrue\n```\n- FAIL: GOTO 1\n'
    assert '#   FAIL: STOP "no {{x}} here"' in text_of(tmp_path, head + loop)


def test_inputs_are_read_by_bash_and_reviewed_by_people(tmp_path: Path) -> None:
    text_of_workflow = compiled(
        row(Input("VERSION", pattern=r"v[0-9]+"), Input("DRY", type="boolean", default="false"))
    )
    assert "python" not in text_of_workflow
    assert len(text_of_workflow.splitlines()) < 200
    assert findings([written(tmp_path, text_of_workflow)]) == []
    scripts = [step.get("run", "") for job in parsed(text_of_workflow)["jobs"].values() for step in job["steps"]]
    assert not any("${{" in script for script in scripts)


@pytest.mark.parametrize(("count", "is_taken"), [(23, True), (24, False)])
def test_github_takes_25_inputs_those_of_rdc_included(count: int, is_taken: bool) -> None:
    inputs = tuple(Input(f"X{number}", default="") for number in range(count))
    made = program(node("1", Ask("yes_no", text("?")), to(COMPLETE)), inputs=inputs)
    emission = GithubBackend().emit(made, {})
    assert (emission.text is not None) == is_taken
    assert is_taken or emission.diagnostics[0].code == "RD521"


def test_inputs_reach_callers(tmp_path: Path) -> None:
    options = {"on": ["workflow_call", "workflow_dispatch"]}
    emission = GithubBackend().emit(
        row(Input("NAME", pattern=r"\d+"), Input("OF", type="choice", options=("p", "q"))), options
    )
    assert emission.text
    events = parsed(emission.text)["on"]
    assert events["workflow_call"]["inputs"]["NAME"]["required"] is True
    assert emission.companions == ()
    assert findings([written(tmp_path, emission.text)]) == []
