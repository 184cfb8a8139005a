"""The commands of a compiled specification: steps one by one, records elsewhere, outputs, a run that has failed."""

import json
import resource
from pathlib import Path
from typing import Any

import pytest

from runtime_shim.stepspec.records import timeline
from tests.differential.stepspec import read_records
from tests.support.specifications import CommandResult, Place, compiled_to

pytestmark = pytest.mark.process

GATE = "m:w:b:hitl"
DOCUMENT: dict[str, Any] = {
    "workflow": {"module": "m", "workflow": "w"},
    "config": {
        "variables": {"output_folder": "out"},
        "executor": "test -e allowed || exit 3; echo made >> out/$RDC_STEP.md",
    },
    "step_specs": [
        {"id": "a", "outputs": ["{output_folder}/a.md"], "retries": {"max": 1, "backoff_seconds": 0}},
        {"id": "b", "outputs": ["{output_folder}/b.md"], "human_gate": "required"},
    ],
}


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled_to(tmp_path_factory.mktemp("program"), DOCUMENT)


@pytest.fixture
def place(tmp_path: Path, program: Path) -> Place:
    (tmp_path / "out").mkdir()
    (tmp_path / "allowed").touch()
    return Place(tmp_path, program)


def test_steps_are_done_one_by_one(place: Place) -> None:
    def has(*statuses: str) -> None:
        """The status tells what the records tell."""
        shown = [step["status"] for step in json.loads(place("status", "--json").out)["steps"]]
        assert place.statuses() == shown == [*statuses]

    assert place("open").code == 0
    has("pending", "pending")
    assert "cannot run yet" in place("step", "b").err
    for _ in range(2):
        assert place("step", "a").code == 0
        has("completed", "blocked")
    assert "  completed  a" in place("status").out
    assert place("step", "b").code == 75
    assert place("approve", "--gate", GATE, "--by", "alice", "--note", "fine").code == 0
    assert place("step", "b").code == 0
    has("completed", "completed")
    assert (place.folder / "out/a.md").read_text() == "made\n"
    assert place.record("manifest")["status"] == "completed"
    (approval,) = place.record("approvals")
    assert (approval["gate_id"], approval["approved_by"], approval["note"]) == (GATE, "alice", "fine")


def test_a_gate_shows_the_output_of_the_executor_before_it(place: Place) -> None:
    command = "echo wrote $RDC_STEP; echo carefully >&2; echo made >> out/$RDC_STEP.md"
    waits = place("run", "--logs", "--executor", command)
    assert (waits.code, "    | wrote a\n    | carefully\n" in waits.err) == (75, True), waits.err
    assert json.loads(place("status", "--json").out)["output"] == "wrote a\ncarefully"
    assert place("approve", "--gate", GATE).code == 0
    assert "wrote b\n" in place("resume", "--executor", command).out


def test_an_executor_approves_no_gate_in_a_file_of_answers(place: Place) -> None:
    answers = place.folder / "answers"
    answers.touch()
    executor = f"echo '{GATE} approved' >> answers; echo made >> out/$RDC_STEP.md"
    assert place("run", "--answers", "answers", "--executor", executor).code == 75
    done = place("resume", "--answers", "answers", "--executor", executor)
    assert (done.code, "answers has changed since this run first used it" in done.err) == (75, True), done
    assert place.statuses() == ["completed", "blocked"]
    assert place.record("approvals") == []
    assert place("reset").code == 0
    assert place("run", "--answers", "answers").code == 0
    (approval,) = place.record("approvals")
    assert approval["approved_by"] == "line 1 of answers", "and of no person"


def test_a_failed_run_goes_on_at_the_step_that_failed(place: Place) -> None:
    (place.folder / "allowed").unlink()
    *_, hint, _, last = place("run").err.splitlines()
    assert hint.startswith("rdc: to run the failed step again: ")
    assert last == "rdc: STOP step a failed"
    assert [call.split()[-1] for call in json.loads(place("status", "--json").out)["next"]] == ["retry", "run"]
    assert place.record("manifest")["steps"][0]["error"] == "executor: exit code 3"
    assert place.statuses() == ["failed", "pending"]
    next_calls = [line.split()[-1] for line in place("status").out.partition("What to do next:\n")[2].splitlines()]
    assert next_calls == ["retry", "run"]
    assert [place("resume").code for _ in range(5)] == [1] * 5
    lines = [line.strip() for line in place("status").out.splitlines()]
    steps = lines.index("failed     a")
    assert (lines[steps + 1], "earlier steps" in lines[steps + 3]) == ("pending    b", True)
    (place.folder / "allowed").touch()
    assert place("resume").code == 75
    step = place.record("manifest")["steps"][0]
    assert (step["status"], step["attempts"], step["error"]) == ("completed", 13, None)
    kinds = [event["event_type"] for event in place.record("events")]
    assert (kinds.count("WorkflowStepFailed"), kinds.count("WorkflowResumed")) == (6, 6)


def test_the_help_names_each_command_and_its_own_options(place: Place) -> None:
    assert "  timeline  show what happened" in place("--help").out
    assert "--events" in place("run", "--help").out
    assert "--json" not in place("step", "--help").out
    place("run")
    lines = place("timeline", "--markdown").out.splitlines()
    assert lines[:2] == ["| Time | Event | Step | Details |", "| --- | --- | --- | --- |"]
    assert any("HumanGateRequired" in line for line in lines)
    assert "WorkflowBlocked" in place("timeline").out
    refused = place("goto", "a").err
    assert refused.startswith("rdc: error: goto cannot skip stages of a specification; to continue the run: ")
    assert place("resume").code == 75


def test_a_rejected_gate_fails_the_step_and_is_asked_again(place: Place) -> None:
    place("run")
    place("answer", GATE, "rejected", "--by", "bob")
    assert place.statuses() == ["completed", "failed"]
    assert "STOP" in place("status").out
    assert place.record("gates")[0]["status"] == "rejected"
    assert place("resume").code == 75
    assert place.statuses() == ["completed", "blocked"]
    (gate,) = place.record("gates")
    assert gate["status"] == "pending"
    assert [(one["status"], one["rejected_by"]) for one in gate["earlier"]] == [("rejected", "bob")]
    place("answer", GATE, "rejected", "--by", "eve")
    place("resume")
    assert [one["rejected_by"] for one in place.record("gates")[0]["earlier"]] == ["bob", "eve"]


def test_a_retry_reopens_the_failed_step_and_names_who_did(place: Place) -> None:
    (place.folder / "allowed").unlink()
    assert place("run").code == 1
    (place.folder / "allowed").touch()
    again = place("retry", "--by", "alice", "--note", "made it")
    assert again.code == 75
    assert again.err.startswith("rdc: running a again after FAIL of a, executor: exit code 3\n")
    assert "by alice: made it" in place("status").out
    kinds = [event["event_type"] for event in place.record("events")]
    assert (kinds.count("WorkflowStepFailed"), kinds.count("WorkflowResumed")) == (1, 1)
    refused = place("retry")
    assert (refused.code, refused.err.split()[-1]) == (2, "resume")


def test_records_lie_where_the_operator_says(place: Place) -> None:
    folder = place.folder / "records"
    assert place("run", "--run-dir", "records").code == 75
    first = read_records(folder)["manifest"]["run_id"]
    place("approve", "--gate", GATE, "--by", "alice")
    assert place("resume").code == 0
    assert read_records(folder)["manifest"]["status"] == "completed"
    assert place("run", "--run-dir", "records").code == 75
    assert read_records(folder)["manifest"]["run_id"] != first
    assert read_records(folder / "history" / first)["manifest"]["status"] == "completed"


def test_records_of_others_are_not_written_over_and_those_of_the_last_run_are_archived(place: Place) -> None:
    (place.folder / "manifest.json").write_text("[]", encoding="utf-8")
    for folder in ("allowed", "allowed/x", "."):
        done = place("run", "--run-dir", folder)
        assert (done.code, "--run-dir" in done.err or folder != ".") == (2, True)
        assert "No run has started here." in place("status").out
    place("run")
    assert place("resume", "--run-dir", ".").code == 2
    assert (place.folder / "manifest.json").read_text() == "[]"
    run = place.record("manifest")["run_id"]
    place("reset")
    assert place("run").code == 75
    (archive,) = place.folder.glob(".rdc/*/history/*.files")
    assert read_records(archive)["manifest"]["run_id"] == run
    assert run in place("history").out
    assert place("history", "--prune", "0").out == "Deleted 1 of 1 archived runs.\n"
    assert list(place.folder.glob(".rdc/*/history/*")) == []


def test_outputs_are_copied_as_they_were_indexed(place: Place) -> None:
    """Also those behind links within the project, and none behind others."""
    place("run", "--executor", "echo x > real.md; ln -sf ../real.md out/$RDC_STEP.md")
    output = place.folder / "out/a.md"
    assert place("outputs", "--to", "copies").code == 0
    assert (place.folder / "copies/out/a.md").read_text() == "x\n"
    output.unlink()
    assert place("outputs", "--from", "copies").code == 0
    assert output.read_text() == "x\n"
    output.write_text("altered")
    assert "has changed" in place("outputs", "--to", "again").err
    output.unlink()
    (place.folder / "out").rmdir()
    (place.folder / "out").symlink_to("/tmp")
    assert "output out/a.md is outside the project" in place("outputs", "--from", "copies").err


def begun_with(place: Place, executor: str) -> CommandResult:
    """Begin a run whose first step's executor does something to the records."""
    lines = "mkdir -p out; echo x > out/$RDC_STEP.md; cd .rdc/*/run-*"
    return place("run", "--human", "--executor", f'{lines}; [ "$RDC_STEP" = b ] || {{ {executor}; }}')


def test_what_an_executor_does_to_the_records_is_undone_and_no_link_is_followed(place: Place) -> None:
    assert begun_with(place, 'echo "[]" > artifacts.json; rm drrs.json; echo "{" | tee tool_results.json').code == 0
    assert [one["path"] for one in place.record("artifacts")] == ["out/a.md", "out/b.md"]
    assert (place.record("drrs"), place.record("tool_results")) == ([], [])
    (place.folder / "elsewhere").mkdir()
    assert place("reset").code == 0
    assert begun_with(place, 'd=$PWD; cd ..; rm -r "$d"; ln -s ../../elsewhere "$d"').code == 0
    assert list((place.folder / "elsewhere").iterdir()) == []
    assert place.record("manifest")["status"] == "completed"


def test_what_is_in_the_driver_of_the_records_is_named_and_nothing_is_left_undecided(place: Place) -> None:
    done = begun_with(place, "rm artifacts.json; mkdir -p artifacts.json/x")
    assert (done.code, "artifacts.json: " in done.err) == (2, True)
    assert "READY" in place("status").out
    (driver,) = place.folder.glob(".rdc/*/run-*/artifacts.json")
    (driver / "x").rmdir()
    driver.rmdir()
    assert place("resume").code == 75  # the gate waits: no step was interrupted
    assert place.statuses() == ["completed", "blocked"]


def test_an_output_out_of_the_project_begins_no_run_and_calls_no_executor(place: Place) -> None:
    for folder in ("..", "/tmp", "", "a/../../b"):
        done = place("run", "--var", f"output_folder={folder}")
        assert (done.code, "a.md of step a is outside the project" in done.err) == (2, True)
    assert "No run has started here." in place("status").out
    (place.folder / "link").symlink_to("/tmp")
    done = place("run", "--var", "output_folder=link", "--executor", "touch called")
    assert "output link/a.md is outside the project" in done.err
    assert not (place.folder / "called").exists()


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="no limit of the size of files here")
def test_a_run_whose_records_cannot_be_written_goes_on_as_soon_as_they_can(place: Place) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1500, before[1]))
    try:
        done = place("run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.code == 2
    assert "File too large; when it is writable again: " in done.err
    assert "READY" in place("status").out
    assert place("resume").code == 75
    assert place.statuses() == ["completed", "blocked"]


def another(place: Place, **changes: Any) -> Place:
    """The same folder with another version of the program, whose steps differ."""
    steps = [{**step, **changes.get(step["id"], {})} for step in DOCUMENT["step_specs"]]
    first = [{"id": "new"}] if "new" in changes else []
    return Place(place.folder, compiled_to(place.folder, {**DOCUMENT, "step_specs": first + steps}))


def test_another_version_skips_no_step_and_no_gate(place: Place) -> None:
    place("run", "--human", "--executor", "[ $RDC_STEP = a ] && echo x > out/a.md")
    for changes, why in (
        ({"b": {"id": "c"}}, "has no b, which failed"),
        ({"new": {}}, "but the run did not pass it; start over"),
        ({"a": {"human_gate": "required"}}, "but the run did not pass it; start over"),
    ):
        done = another(place, **changes)("resume", "--adopt")
        assert (done.code, why in done.err) == (2, True)
        assert place.statuses() == ["completed", "failed"]
    assert another(place, b={"tools": [{"name": "listFiles", "gate": "look"}]})("resume", "--adopt").code == 75
    assert [gate["status"] for gate in place.record("gates")] == ["approved", "pending"]


def test_the_timeline_is_in_the_order_of_time_to_the_fraction_of_a_second() -> None:
    times = [f"2026-01-01T12:00:0{seconds}Z" for seconds in ("0", "0.000001", "0.500000", "1")]
    evidence = [{"date": time, "step_id": "a"} for time in reversed(times)]
    found: dict[str, list[dict[str, Any]]] = {"tool_results": [], "artifacts": [], "evidence": evidence, "drrs": []}
    assert [entry["timestamp"] for entry in timeline("run", times[-1], [], [], found)["entries"]] == times


def test_evidence_that_a_step_does_not_record_is_told(tmp_path: Path) -> None:
    document = {"config": {"executor": "echo {} > $RDC_EVIDENCE_FILE"}, "step_specs": [{"id": "a"}]}
    done = Place(tmp_path, compiled_to(tmp_path, document))("run")
    assert done.code == 0
    assert "its evidence is not recorded" in done.err


CHECKS_ANOTHER: dict[str, Any] = {
    "workflow": {"module": "m", "workflow": "w"},
    "config": {"variables": {"output_folder": "out"}, "executor": "mkdir -p out; echo '{' > out/a.json"},
    "step_specs": [
        {"id": "a", "outputs": ["{output_folder}/a.json"]},
        {"id": "b", "validation": "Format validation", "retries": {"max": 0},
         "inputs": {"validation_targets": ["{output_folder}/a.json"]}},
    ],
}  # fmt: skip


def test_a_check_reads_an_earlier_output_where_the_run_started(tmp_path: Path) -> None:
    """A file with the same path at the project's root is another one."""
    (tmp_path / "rdc.toml").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a.json").write_text("{}", encoding="utf-8")
    (tmp_path / "below").mkdir()
    place = Place(tmp_path / "below", compiled_to(tmp_path, CHECKS_ANOTHER))
    done = place("run")
    assert done.code == 1
    assert "out/a.json: parses:" in done.err
