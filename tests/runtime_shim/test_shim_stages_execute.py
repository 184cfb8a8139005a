"""The executor of a step: what it gets, what it hands over, and what happens without one (B7, B13)."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from tests.runtime_shim.shim_stages import EXECUTE, compiled, found, stage

ALL = (
    stage("inputs", "in.md"),
    stage("context"),
    stage("tool", subject="getCurrentTime"),
    stage("tool", subject="count", place=1),
    EXECUTE,
    stage("guardrails"),
    stage("validation", "out/prd.json", checks=("exists", "parses")),
    stage("outputs", "out/prd.json", subject="L1"),
)
CONFIG = {
    "context": "cat > context.json; echo '{\"known\": [1]}'",
    "guardrails": {"input": {"blocklist": ["secret"]}, "output": {"patterns": ["TODO"]}},
    "tools": {"count": {"command": "cat"}},
    "executor": "cat > request.json; mkdir out; echo {} > out/prd.json; env | grep ^RDC_ | sort | sed s/=.*// > env",
}
TOOLS = [{"name": "getCurrentTime", "args": {"timezone": "UTC"}}, {"name": "count", "args": {"of": "words"}}]


def test_all_stages_do_their_work_in_one_file_too(tmp_path: Path) -> None:
    (tmp_path / "in.md").write_text("Say it.")
    place = compiled(tmp_path, *ALL, config=CONFIG, tools=TOOLS, outputs=["out/prd.json"], inputs={"telis_query": "q"})
    place.bundle()
    result = place.run("run", PYTHONPATH="")
    assert result.code == 0, result.err
    assert found(place, "draft/inputs")[0]["guardrails"]["status"] == "passed"
    assert found(place, "draft/context") == [{"telis_context": {"known": [1]}}]
    assert json.loads(place.text("context.json"))["telis"] == {"telis_query": "q"}
    clock, count = found(place, "draft/getCurrentTime")[0]["tool"], found(place, "draft/count")[0]["tool"]
    assert (clock["status"], clock["result"][-6:]) == ("completed", "+00:00")
    assert (clock["required"], clock["risk"], clock["args"]) == (False, "low", {"timezone": "UTC"})
    assert count["result"] == {"tool": "count", "arguments": {"of": "words"}}
    request = json.loads(place.text("request.json"))
    assert request["tools"] == [clock, count]
    assert (request["telis_context"], request["attempt"], request["step"]["id"]) == ({"known": [1]}, 1, "draft")
    assert place.text("env").split() == [
        "RDC_ATTEMPT", "RDC_DRR_FILE", "RDC_EVIDENCE_FILE", "RDC_RUN_ID", "RDC_TITLE", "RDC_UNIT",
    ]  # fmt: skip
    assert found(place, "draft") == [{"exit_code": 0}]
    assert found(place, "draft/guardrails")[0]["guardrails"]["violations"] == []
    assert [one["status"] for one in found(place, "draft/validation")[0]["validation"]["checks"]] == ["passed"] * 2
    outputs = found(place, "draft/outputs")[0]
    (artifact,), (record,) = outputs["artifacts"], outputs["evidence"]
    assert artifact["sha256"] == hashlib.sha256(b"{}\n").hexdigest()
    assert artifact["evidence_ids"] == [record["id"]] == ["ev-draft-1"]
    assert (record["claim"], record["source"], record["carrier_ref"]) == ("Write the draft", "draft", "out/prd.json")
    assert (record["congruence"], record["reliability"], record["wlnk"]) == ("CL1", 0, 0)


def test_dry_run_says_what_each_stage_would_do(tmp_path: Path) -> None:
    place = compiled(tmp_path, *ALL, config=CONFIG, tools=TOOLS, outputs=["out/prd.json"])
    told = place.run("run", "--dry-run").out
    for line in (
        "check the inputs: in.md", "call the tool getCurrentTime: built in", "call the tool count: cat",
        "call the executor: cat > request.json", "check exists, parses: out/prd.json",
        "index out/prd.json and record evidence L1", "The run would end: COMPLETE",
    ):  # fmt: skip
        assert line in told
    assert not place.journal.exists()
