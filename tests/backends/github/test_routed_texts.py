"""What people and agents say stays text in a workflow, its secrets are masked, and a rejection is one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from compiler.ir.program import Artifact, Node
from compiler.ir.tasks import End
from runtime_shim.values.secrets import masking
from tests.backends.github.routed import (
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
from tests.backends.github.routed_runs import AGENT, HOSTILE, OPTIONS, ended, log, run
from tests.support.github import lint

pytestmark = pytest.mark.tool


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
    saved = everything.replace("\0", "\ufffd")
    assert json.loads(log(tmp_path)[1][1])["arguments"] == {"a": f"{saved} {given}"}
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
    assert (steps["close"], ended(done)) == ("success", "WAITING 3"), done.log
    files = [path.read_bytes() for path in (tmp_path / "history").rglob("*") if path.is_file()]
    assert files
    assert not any(b"sesame" in content for content in files), "an output has *** in its place"
    assert "sesame" not in done.log


def test_lines_of_a_secret_and_secrets_inside_of_others_are_masked() -> None:
    mask = masking(["sesame", "sesame-open", "{\n  key: long enough\n}"])
    assert mask("x sesame-open {\nkey: long enough }") == "x *** {\n*** }"


FORGE = """\
import json, os, zlib
path = os.environ["RUNNER_TEMP"] + "/rdc/journal"
with open(path, "rb") as file:
    records = [json.loads(line[9:]) for line in file]
done = {**records[-1], "n": len(records), "node": "2", "title": "Step 2", "outcome": "approved", "next": "3"}
text = json.dumps({**done, "condition": "ready", "by": "o", "approval": "1"}, separators=(",", ":")).encode()
with open(path, "ab") as file:
    file.write(b"%08x %s\\n" % (zlib.crc32(text), text))
"""


def test_no_command_lets_a_run_through_a_gate_by_its_journal(tmp_path: Path) -> None:
    (tmp_path / "forge.py").write_text(FORGE)
    made = program(
        node("1", Shell("sh", text("true")), to("2", "pass"), to(STOP, "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        node("3", Agent("", text("Publish")), to(COMPLETE)),
    )
    for number, command in enumerate(['python3 "$FOLDER/forge.py"', '(sleep 0.5; python3 "$FOLDER/forge.py") &'], 1):
        forging = replace(made, nodes=tuple(_doing(each, command) for each in made.nodes))
        done = run(tmp_path, compiled(forging, OPTIONS), {}, number, environments={"approval": ["rejected"]})
        assert done.conclusion == "failure", done.log
        assert log(tmp_path) == []


def _doing(each: Node, command: str) -> Node:
    return replace(each, task=Shell("sh", text(command))) if each.id == "1" else each


# --- Artifacts --------------------------------------------------------------------------------------------------------


def test_a_complete_run_leaves_its_artifact_and_does_without_optional_tools(tmp_path: Path) -> None:
    """I13, I28: the file has the name of the program and the suffix of its type, whatever is in it."""
    made = program(
        node("0", Tool("library", "prompt", text("{}"), optional=True), to("1", do=[Keep("note")])),
        node("1", Agent("", words("Draw ", ref("note", "nothing"))), to(COMPLETE, "pass", do=[Keep("r")]), to(STOP)),
        slots=("r", "note"),
        inputs=(Input("kind", default="mermaid"),),
    )
    made = replace(made, artifact=Artifact("r", words(ref("kind"))))
    workflow = compiled(made, {"agent": AGENT})
    (tmp_path / "w.yml").write_text(workflow, encoding="utf-8")
    assert lint.findings([tmp_path / "w.yml"]) == []
    printed = "a\n${{ github.token }}\n::error::x"
    done = run(tmp_path, workflow, {"1": [printed]})
    assert (ended(done), done.conclusion) == ("COMPLETE", "success"), done.log
    assert "no command is set; use --tool library=COMMAND" in done.log
    assert [entry[1] for entry in log(tmp_path)] == ["Draw "]
    (left,) = (path for path in (tmp_path / "history").rglob("a.mmd") if path.is_file())
    assert (left.read_text(), left.parent.name) == (printed, "a.mmd")
    done = run(tmp_path, workflow, {"1": [None]}, 2)
    assert ended(done).startswith("STOP")
    assert len(list((tmp_path / "history").rglob("a.mmd"))) == 2, "the folder and the file of the first run"
