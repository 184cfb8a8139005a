"""Inputs: checked in one step, then variables of all others; the option `bind` takes them from events (E1)."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from backends.github import GithubBackend
from backends.github.options.triggers import EVENTS
from compiler.ir.program import Input, Program, Variable
from compiler.ir.tasks import Agent, Ask, End, Shell
from compiler.ir.texts import text
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, ref, sh, to, words
from tests.backends.github.routed import compiled
from tests.backends.github.walking import Clean, run, shown, succeeded
from tests.support import actions_engine as engine
from tests.support.github.act import end_of
from tests.support.github.compiling import parsed, text_of

pytestmark = pytest.mark.tool

HOSTILE = (
    "$(touch $FOLDER/owned)", "'; touch $FOLDER/owned; '", "`touch $FOLDER/owned`", "${{ github.token }}",
    "::set-env name=A::b", "##[add-mask]a", "rdc", "rdc_\u2028rdc__", "rdc<<EOF", "100% %0A::error::x",
    "{{OTHER}}", " space ", "-n", "*", "\\",
)  # fmt: skip
SHOW = 'printf "%s=%s|" "$RDC_STEP" "${NAME-unset}" >> "$FOLDER/shown"'


def show(name: str) -> Shell:
    return bash(SHOW.replace("$RDC_STEP", name))


def variables(*inputs: Input) -> tuple[Variable, ...]:
    return tuple(Variable(item.name, item.name) for item in inputs)


def row(*inputs: Input, every: bool = False) -> Program:
    """Two commands that show the first input, or each, the second one in a loop, and an end that says them."""
    mentioned = inputs if every else inputs[:1]
    script = "; ".join(SHOW.replace("NAME", item.name) for item in mentioned)
    loop = script + '\n[ -e "$FOLDER/again" ] || ! touch "$FOLDER/again"'
    first, second = (each.replace("$RDC_STEP", name) for each, name in ((script, "1"), (loop, "2")))
    shown = (part for item in mentioned for part in (" ", ref(item.name, f"{{{{{item.name}}}}}")))
    mine = variables(*inputs)
    return program(
        node("1", bash(first), to("2", "pass"), to(STOP, "fail"), variables=mine),
        node("2", sh(second), to(COMPLETE, "pass"), to("1b", "fail"), variables=mine),
        node("1b", sh("true"), to("2"), variables=mine),
        node(COMPLETE, End("complete", words("Done with", *shown, "."))),
        inputs=inputs,
    )


def test_values_stay_texts(tmp_path: Path) -> None:
    values = ("".join(HOSTILE[:7]) + " -n", *HOSTILE[7:10], "-n", "".join(HOSTILE[9:]))
    given = {f"NAME_{number}": value for number, value in enumerate(values)}
    done = run(tmp_path, compiled(row(*map(Input, given), every=True)), inputs=given)
    assert done.conclusion == "success", done.log
    assert shown(tmp_path) == [f"{step}={value}" for step in (1, 2, 2) for value in values]
    assert end_of("", done).message == f"Done with {' '.join(values)}."
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


def test_a_part_behind_an_approval_has_the_inputs(tmp_path: Path, clean: Clean) -> None:
    given: dict[str, Any] = {"inputs": {"NAME": "b"}, "environments": {"approval": ["approved"]}}
    done = succeeded(tmp_path, asking(), clean, {"prompts": "environment"}, **given)
    assert shown(tmp_path) == ["1=b", "3=b"]
    assert "Publish b?" in done.summary


ROUTED: Mapping[str, Program] = {
    "a command without the input": program(node("1", sh("true"), to(COMPLETE)), inputs=[Input("X")]),
    "a name of the runner": row(Input("GITHUB_X")),
    "a name in the scripts around a command": row(Input("kept")),
    "a secret of such a name": replace(row(Input("X")), secrets=("intact",)),
    "names that differ in case": row(Input("X"), Input("x")),
    "an option of several lines": row(Input("X", type="choice", options=("a\nb",))),
    "a message that may be missing": row(Input("X", required=False)),
    "a message of several lines": row(Input("X", type="text")),
    "a value that a command changes": program(
        node("1", sh("true"), to(COMPLETE), variables=(Variable("Y", "X"),)), inputs=[Input("X")]
    ),
}


@pytest.mark.parametrize("why", ROUTED)
def test_what_native_steps_cannot_say_exactly_is_left_to_the_runtime(why: str) -> None:
    assert "CALL" in compiled(ROUTED[why])


def test_comments_show_a_message_as_it_is_written(tmp_path: Path) -> None:
    head = "---\nrdc: {inputs: {x: {default: a}}}\n---\n"
    loop = '## 1. A\n```sh\ntrue\n```\n- FAIL: STOP "no {{x}} here"\n## 2. B\n```sh\ntrue\n```\n- FAIL: GOTO 1\n'
    assert '#   FAIL: STOP "no {{x}} here"' in text_of(tmp_path, head + loop)


def test_inputs_are_read_by_bash_reviewed_by_people_and_given_by_callers(clean: Clean) -> None:
    workflow = compiled(row(Input("VERSION", pattern=r"v[0-9]+"), Input("DRY", type="boolean", default="false")))
    assert ("python" in workflow, len(workflow.splitlines()) < 200) == (False, True)
    clean(workflow)
    scripts = [step.get("run", "") for job in parsed(workflow)["jobs"].values() for step in job["steps"]]
    assert not any("${{" in script for script in scripts)
    made = row(Input("NAME", pattern=r"\d+"), Input("OF", type="choice", options=("p", "q")))
    called = compiled(made, {"on": ["workflow_call", "workflow_dispatch"]})
    assert parsed(called)["on"]["workflow_call"]["inputs"]["NAME"]["required"] is True
    assert called.made.companions == ()
    clean(called)


HOSTILE_BODY = "$(touch $FOLDER/owned) `x` ${{ github.token }}\r\n::set-env name=A::b\nEOF\nrdc\n' \" {{project}}"
SHOWS = 'printf "%s" "$issue/$project" > "$FOLDER/shown"'
INPUTS = (Input("issue", type="text"), Input("project", default="none"))
BOTH = (Variable("issue", "issue"), Variable("project", "project"))
NATIVE = program(node("1", bash(SHOWS), to(COMPLETE), variables=BOTH), inputs=INPUTS)
CALLING = program(
    node("1", Agent("", words("Look at ", ref("issue"))), to("2")),
    node("2", bash(SHOWS), to(COMPLETE), variables=BOTH),
    inputs=INPUTS,
)
BIND = {"issue": "event.issue.body", "project": "shop"}
AGENT = {"agent": 'cat > "$FOLDER/prompt"; echo ok'}


def bound(folder: Path) -> str:
    return (folder / "shown").read_bytes().decode()


@pytest.mark.parametrize("made", [NATIVE, pytest.param(CALLING, marks=pytest.mark.soak)], ids=["native", "routed"])
def test_an_event_gives_the_value_and_it_stays_a_text(made: Program, tmp_path: Path, clean: Clean) -> None:
    on = {"issues": {"types": ["opened"]}, "workflow_dispatch": None}
    workflow = compiled(made, {**AGENT, "on": on, "bind": BIND})
    assert ("CALL" in workflow) == (made is CALLING)
    clean(workflow)
    done = run(tmp_path, workflow, event="issues", payload={"action": "opened", "issue": {"body": HOSTILE_BODY}})
    assert (done.conclusion, bound(tmp_path)) == ("success", f"{HOSTILE_BODY}/shop"), done.log
    done = run(tmp_path, workflow, 2, inputs={"issue": "by hand", "project": "other"})
    assert (done.conclusion, bound(tmp_path)) == ("success", "by hand/other")
    done = run(tmp_path, workflow, 3, event="issues", payload={"action": "opened", "issue": {"body": None}})
    assert (done.conclusion, bound(tmp_path)) == ("success", "/shop"), "an issue without a body"
    with pytest.raises(engine.RejectedError, match="Required input 'issue'"):
        run(tmp_path, workflow, 4)
    assert not (tmp_path / "owned").exists()
    jobs = parsed(workflow)["jobs"].values()
    assert not any("${{" in step.get("run", "") for job in jobs for step in job["steps"])


@pytest.mark.parametrize("made", [pytest.param(NATIVE, marks=pytest.mark.soak), CALLING], ids=["native", "routed"])
def test_a_field_that_no_variable_can_hold_is_named(made: Program, tmp_path: Path) -> None:
    workflow = compiled(made, {**AGENT, "on": {"issues": None, "workflow_call": None}, "bind": BIND})
    done = run(tmp_path, workflow, event="issues", payload={"issue": {"body": "é" * 70_000}})
    assert "event.issue.body has 140000 bytes; an input can have at most 130000" in done.log
    assert not (tmp_path / "shown").exists()


def test_a_command_says_the_value_before_the_run_begins(tmp_path: Path, clean: Clean) -> None:
    command = "cat <<'END'\na$(touch owned)\n::error::b\n\nEND\nenv > \"$FOLDER/environment\""
    options = {**AGENT, "on": ["push", "workflow_dispatch"], "bind": {"issue": {"run": command}}, "secrets": ["KEY"]}
    workflow = compiled(NATIVE, {**options, "checkout": True})
    clean(workflow)
    assert parsed(workflow)["jobs"]["runbook"]["steps"][0]["with"]["fetch-depth"] == 0
    done = run(tmp_path, workflow, event="push", secrets={"KEY": "sesame"})
    assert (done.conclusion, bound(tmp_path)) == ("success", "a$(touch owned)\n::error::b/none"), done.log
    assert "sesame" not in (tmp_path / "environment").read_text()
    (tmp_path / "environment").unlink()
    done = run(tmp_path, workflow, 2, inputs={"issue": "given"})
    assert (done.conclusion, bound(tmp_path)) == ("success", "given/none")
    assert not (tmp_path / "environment").exists(), "a value that is given needs no command"


@pytest.mark.parametrize("command", ["echo x; exit 3", "head -c 2000000 /dev/zero | tr '\\0' a", "printf 'a\\0b'"])
def test_a_command_without_a_fit_value_ends_the_run(command: str, tmp_path: Path) -> None:
    done = run(tmp_path, compiled(NATIVE, {"on": "push", "bind": {"issue": {"run": command}}}), event="push")
    assert done.conclusion == "failure"
    assert not (tmp_path / "shown").exists()


def test_a_continuation_asks_no_command_again(tmp_path: Path) -> None:
    shows = node("2", bash(SHOWS), to(COMPLETE), variables=BOTH)
    made = program(node("1", Ask("input", text("?")), to("2")), shows, inputs=INPUTS)
    workflow = compiled(made, {"bind": {"issue": {"run": 'echo x | tee -a "$FOLDER/said"'}}})
    run(tmp_path, workflow, inputs={"project": "p"})
    done = run(tmp_path, workflow, 2, inputs={"resume": "1", "answers": "fine"})
    assert (done.conclusion, bound(tmp_path)) == ("success", "x/p"), done.log
    assert (tmp_path / "said").read_text() == "x\n"


NUMBER = program(
    node("1", sh("true"), to(COMPLETE), variables=(Variable("N", "N"),)), inputs=[Input("N", type="number")]
)
NEEDED = {"schedule": [{"cron": "0 3 * * *"}], "workflow_run": {"workflows": ["CI"]}}
"""The settings that events need."""

REFUSED: Sequence[tuple[str, Program, dict[str, object], str]] = [
    ("RD013", NATIVE, {"bind": {"isue": "event.issue.body"}}, "did you mean `issue`?"),
    ("RD013", NATIVE, {"on": "push", "bind": {"issue": "event.issue.body"}}, "no event in `on` has"),
    ("RD013", NUMBER, {"bind": {"N": "x"}}, "not a decimal number"),
    (
        "RD534",
        NATIVE,
        {"on": ["issues", "push"], "bind": {"issue": "event.issue.body"}},
        "the event `push` gives the required input `issue` no value",
    ),
    ("RD534", NATIVE, {"on": {"push": None, "schedule": [{"cron": "0 3 * * *"}]}}, "the event `push`"),
]


@pytest.mark.parametrize(("code", "made", "options", "fragment"), REFUSED)
def test_what_cannot_be_bound_is_refused(code: str, made: Program, options: dict[str, object], fragment: str) -> None:
    found = GithubBackend().emit(made, options).diagnostics
    assert (found[0].code, fragment in found[0].message) == (code, True)


REQUIRED = (
    *(Input("N"), Input("N", type="text"), Input("N", type="number"), Input("N", type="boolean")),
    *(Input("N", type="choice", options=("on", "b, c")), Input("N", pattern="[0-9]+")),
)


@pytest.mark.parametrize("declared", REQUIRED, ids=lambda declared: declared.pattern or declared.type)
def test_the_help_for_a_missing_value_works(declared: Input) -> None:
    made = replace(NUMBER, inputs=(declared,))
    several = ["push issues", "issues issue_comment workflow_dispatch", "push create", "schedule pull_request_review"]
    for events in (*sorted(EVENTS.keys() - {"workflow_dispatch", "workflow_call"}), *several):
        on = {event: NEEDED.get(event) for event in events.split()}
        (found,) = GithubBackend().emit(made, {"on": on}).diagnostics
        assert found.code == "RD534"
        example = re.search(r"\(for example `bind: (.*?)`\)", found.help)
        assert example or declared.pattern, found.help
        if example:
            done = GithubBackend().emit(made, {"on": on, "bind": yaml.safe_load(example[1])})
            assert {found.code for found in done.diagnostics} <= {"RD549"}


def test_the_help_for_a_missing_value_names_a_field_of_the_event() -> None:
    fields = {"push": "head_commit.message", "pull_request": "pull_request.title", "release": "release.tag_name"}
    for event, field in fields.items():
        (found,) = GithubBackend().emit(NATIVE, {"on": event}).diagnostics
        assert f"`bind: {{issue: event.{field}}}`" in found.help
    (found,) = GithubBackend().emit(NATIVE, {"on": ["push", "issues"]}).diagnostics
    assert "to a fixed value with the option `bind` (for example `bind: {issue: main}`)" in found.help


def test_only_fields_of_the_list_can_be_named() -> None:
    for value in ("event.issue.bodi", "event.issue", "event.", "event.pull_request.head.repo.x"):
        with pytest.raises(Exception, match="an input cannot be bound to"):
            GithubBackend().emit(NATIVE, {"bind": {"issue": value}})


def test_a_fixed_value_and_a_truth_value(tmp_path: Path) -> None:
    declared, shows = Input("DRY", type="boolean"), sh('echo "$DRY" >> "$FOLDER/shown"')
    made = program(node("1", shows, to(COMPLETE), variables=(Variable("DRY", "DRY"),)), inputs=[declared])
    on = ["workflow_dispatch", "pull_request"]
    workflow = compiled(made, {"on": on, "bind": {"DRY": "event.pull_request.draft"}})
    for number, draft in enumerate([True, False], 1):
        run(tmp_path, workflow, number, event="pull_request", payload={"pull_request": {"draft": draft}})
    run(tmp_path, workflow, 3, inputs={"DRY": "false"})
    run(tmp_path, compiled(made, {"on": "push", "bind": {"DRY": True}}), 4, event="push")
    assert bound(tmp_path) == "true\nfalse\nfalse\ntrue\n"


BY_A_FILE = 'echo "LD_LIBRARY_PATH=/forged" >> "${GITHUB_ENV:-/dev/null}"'
IN_ITS_OUTPUT = 'printf "%s\\n" "::warning::forged" "::set-output name=next::forged" >&2'


@pytest.mark.parametrize("made", [pytest.param(NATIVE, marks=pytest.mark.soak), CALLING], ids=["native", "routed"])
def test_a_command_that_gives_a_value_tells_the_runner_nothing(made: Program, tmp_path: Path) -> None:
    showing = bash(f'{SHOWS}; env > "$FOLDER/env"')
    nodes = tuple(replace(each, task=showing) if isinstance(each.task, Shell) else each for each in made.nodes)
    options = {**AGENT, "on": "push", "bind": {"issue": {"run": f"{BY_A_FILE}; {IN_ITS_OUTPUT}; echo given"}}}
    done = run(tmp_path, compiled(replace(made, nodes=nodes), options), event="push")
    assert (done.conclusion, bound(tmp_path)) == ("success", "given/none"), done.log
    assert "forged" not in (tmp_path / "env").read_text(encoding="utf-8")
    assert "forged" not in str([(job.annotations, [step.outputs for step in job.steps]) for job in done.jobs.values()])
