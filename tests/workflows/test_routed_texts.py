"""What people and agents say stays text in a workflow, its secrets are masked, and a rejection is one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from compiler.ir.tasks import End
from runtime_shim.legacy.runner_calls import masked
from tests.workflows.routed import (
    COMPLETE,
    STOP,
    Agent,
    Ask,
    Branch,
    Gate,
    Input,
    Keep,
    Shell,
    SlotTest,
    Tool,
    Variable,
    compiled,
    node,
    program,
    ref,
    text,
    to,
    words,
)
from tests.workflows.routed_runs import HOSTILE, OPTIONS, ended, log, run


def test_texts_of_people_and_agents_stay_texts(tmp_path: Path) -> None:
    everything = "\n".join(HOSTILE) + "\0" + "x" * 100
    made = program(
        node("1", Agent("", words("P ", ref("issue"))), to("2", do=[Keep("said")])),
        node("2", Branch(), to(STOP, SlotTest("said", "==", "")), to("3")),
        node(
            "3",
            Shell("bash", text('printf "%s\\n" "$SAID"; printf "x<<EOF\\n%s\\nEOF\\n" "$SAID" > "$RDC_OUTPUT"')),
            to("4", do=[Keep("value", "output", "x")]),
            variables=(Variable("SAID", "said"),),
        ),
        node(
            "4",
            Tool("tracker", "t", words('{"a": "', ref("value"), " ", ref("issue"), '"}')),
            to("end", do=[Keep("value")]),
        ),
        node("end", End("stop", words("It was ", ref("said")))),
        slots=("said", "value"),
        inputs=(Input("issue", "text"),),
    )
    workflow = compiled(made, OPTIONS)
    given = everything.replace("\0", "")
    done = run(tmp_path, workflow, {"1": [everything], "4": [everything]}, inputs={"issue": given})
    assert ended(done).startswith("STOP It was"), done.log
    assert not list(tmp_path.rglob("x"))
    outputs = [value for job in done.jobs.values() for step in job.steps for value in step.outputs.values()]
    assert outputs
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+", value) for value in outputs)
    assert log(tmp_path)[0][1] == f"P {given}"
    kept = everything.replace("\0", "\ufffd")
    assert json.loads(log(tmp_path)[1][1])["arguments"] == {"a": f"{kept} {given}"}
    assert "\u202e" not in done.summary
    assert "\x1b" not in done.summary


def test_a_megabyte_is_an_answer_and_more_is_none(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2", "pass", do=[Keep("x")]), to(STOP, "fail")),
        node("2", Agent("", words(ref("x"))), to(STOP, "pass"), to(COMPLETE, "fail")),
        slots=("x",),
    )
    large = "y" * (1 << 20)
    done = run(tmp_path, compiled(made, OPTIONS), {"1": [large], "2": [large + "y"]})
    assert ended(done) == "COMPLETE", done.log[-2000:]
    assert log(tmp_path)[1][1] == large


def test_agents_get_nothing_that_the_runner_believes(tmp_path: Path) -> None:
    made = program(node("1", Agent("type", text("One")), to(COMPLETE)), node("2", Gate("p"), to(COMPLETE)))
    done = run(tmp_path, compiled(made, {**OPTIONS, "env": {"OWN": "1"}}), {})
    assert ended(done) == "COMPLETE"
    (_, _, env) = log(tmp_path)[0]
    assert {name: env[name] for name in env if name.startswith("RDC_")} == {
        "RDC_STEP": "1",
        "RDC_TITLE": "Step 1",
        "RDC_RUN_ID": "1",
        "RDC_ATTEMPT": "1",
        "RDC_AGENT_TYPE": "type",
    }
    assert env["OWN"] == "1"
    forbidden = {"TOKEN", "OUTPUT", "ENV", "PATH", "STEP_SUMMARY", "STATE"}
    assert not {f"GITHUB_{name}" for name in forbidden} & set(env)


def test_secrets_are_masked_in_answers_and_never_saved(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2", do=[Keep("x")])),
        node("2", Shell("sh", text('echo "v=$KEY" > "$RDC_OUTPUT"')), to("3", do=[Keep("v", "output", "v")])),
        node("3", Ask("input", text("?")), to(COMPLETE)),
        slots=("x", "v"),
    )
    options = {**OPTIONS, "secrets": ["KEY"]}
    done = run(tmp_path, compiled(made, options), {"1": ["the key is sesame-open"]}, secrets={"KEY": "sesame-open"})
    steps = {step.id: step.outcome for step in done.jobs["runbook"].steps}
    assert (steps["saved"], steps["kept"]) == ("failure", "skipped"), done.log
    assert "the text v holds a secret" in done.log
    assert "the text x" not in done.log


def test_lines_of_a_secret_and_secrets_inside_of_others_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    values = {"A": "sesame", "B": "sesame-open", "C": "{\n  key: long enough\n}", "RDC_SECRETS": "A B C"}
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    assert masked("x sesame-open {\nkey: long enough }") == "x *** {\n*** }"


def test_a_rejection_stays_one_whatever_an_agent_makes_of_the_state(tmp_path: Path) -> None:
    forge = "import json,os,pathlib as p; f=p.Path(os.environ['RUNNER_TEMP'],'rdc','state')"
    forged = f"{forge}; s=json.loads(f.read_text()); f.write_text(json.dumps(s | {{'node': '3'}}))"
    made = program(
        node("1", Shell("sh", text("true")), to("2", "pass"), to(STOP, "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        node("3", Agent("", text("Publish")), to(COMPLETE)),
    )
    workflow = compiled(made, OPTIONS)
    save = 'python3 -I "$RUNNER_TEMP/rdc/rdc.py" save'
    assert workflow.count(save) == 1
    workflow = workflow.replace(save, f'python3 -c "{forged}"; {save}')
    done = run(tmp_path, workflow, {}, environments={"approval": ["rejected"]})
    assert ended(done) == "error people were asked about s2, and the run stands elsewhere. Begin a new run", done.log
    assert log(tmp_path) == []
