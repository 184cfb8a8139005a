"""Gates: approvals of a protected environment. Nothing in a run, or in another run, can forge one."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from compiler.ir.program import Program
from compiler.ir.tasks import Agent, Ask, End, Gate
from compiler.ir.texts import text
from runtime_shim.targets.github.api import Api, HaltError, next_decision, reviews
from tests.backends.github.continued import done, headings
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, sh, to
from tests.backends.github.routed import INLINE, OPTIONS, Workflow, compiled, ended, log, run
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.tool

NOT_REVIEWED = "no review of the environment approval. No one has decided"


def gated(build: str = 'echo build >> "$FOLDER/log"; echo built > result') -> Program:
    """A program with a gate between two commands, and a command after a rejection."""
    log = 'echo "{} $(cat result)" >> "$FOLDER/log"'.format
    return program(
        node("1", bash(build), to("2", "pass"), to("STOP", "fail"), title="Build"),
        node("2", Gate("2"), to("3", "approved"), to("Withdraw", "rejected"), title="Agree"),
        node("3", bash(log("install")), to("There", "pass"), to("STOP", "fail"), title="Install"),
        node("Withdraw", bash(log("withdraw")), to("Unwanted", "pass"), to("STOP", "fail"), title=""),
        node("There", End("complete", text("It is there"))),
        node("Unwanted", End("stop", text("Not wanted"))),
    )


def two() -> Program:
    """A program with two gates in a row, and one beside them."""
    return program(
        node("1", Gate("1"), to("2", "approved"), to("Other", "rejected"), title="First"),
        node("2", Gate("2"), to("Both", "approved"), to(STOP, "rejected"), title="Second"),
        node("Other", Gate("Other"), to("Both", "approved"), to("Last", "rejected")),
        node("Last", bash("true"), to(STOP)),
        node("Both", End("complete", text("Both"))),
    )


def decided(folder: Path, workflow: Workflow, *decisions: str, **more: Any) -> EngineRun:
    return run(folder, workflow, **{"environments": {"approval": decisions}, **more})


def results(ran: EngineRun) -> dict[str, str]:
    return {name: job.result for name, job in ran.jobs.items()}


def test_a_rejection_fails_and_a_further_attempt_is_refused(tmp_path: Path) -> None:
    workflow = compiled(gated())
    ran = decided(tmp_path, workflow, "rejected")
    assert headings(ran) == ["STOP Not wanted"]
    assert ran.exit_code
    rows = re.findall(r"^\| [\d:]+ \| (\w+)[^|]* \| \**(\w+)", ran.summary, re.MULTILINE)
    assert rows == [("1", "PASS"), ("2", "REJECTED"), ("Withdraw", "PASS")], "the table has all parts"
    for jobs, reason in (
        ("part_2", "An earlier attempt continued from here, and this would repeat it"),
        ("all", "Completed steps would run again. Instead, start a new run"),
    ):
        assert reason in decided(tmp_path, workflow, "approved", rerun=jobs).log
        assert done(tmp_path) == ["build", "withdraw built"]


def test_the_job_of_an_approval_is_protected_and_may_only_look() -> None:
    jobs = parsed(compiled(gated(), INLINE))["jobs"]
    assert [job.get("environment") for job in jobs.values()] == [None, "approval", None]
    assert [job.get("permissions", {}) for job in jobs.values()] == [{"actions": "read"}, {}, {"actions": "read"}]
    assert all("TOKEN" not in str(job.get("env")) for job in jobs.values()), "no step gets the token"
    nodes = [step for job in jobs.values() for step in job["steps"] if step["name"] in {"1. Build", "3. Install"}]
    assert len(nodes) == 2
    assert "token" not in str(nodes)
    assert jobs["part_2"]["needs"] == ["part_1", "approve_agree"]


def test_no_command_tells_later_steps_what_to_run_and_nobody_is_asked_after_a_failure(tmp_path: Path) -> None:
    steal = 'echo \'echo "${TOKEN-nothing}" >> "$FOLDER/log"\' > trap; echo BASH_ENV=$PWD/trap >> "$GITHUB_ENV"'
    ran = decided(tmp_path, compiled(gated(f"{steal} && exit 4")))
    assert results(ran) == {"part_1": "failure", "approve_agree": "skipped", "part_2": "skipped"}
    assert headings(ran) == ["STOP It failed."]
    assert not (tmp_path / "log").exists(), "a command has no $GITHUB_ENV"


def test_two_gates_in_a_row_hand_on_the_state_of_their_parts(tmp_path: Path) -> None:
    workflow = compiled(two())
    assert headings(decided(tmp_path, workflow, "approved", "approved")) == ["COMPLETE Both"]
    saved = sorted(path.name for path in (tmp_path / "history" / "1" / "artifacts").iterdir())
    assert [name for name in saved if "state" in name] == ["rdc-state-part_1", "rdc-state-part_2"]
    jobs, takes = parsed(workflow)["jobs"], "Load the run and its workspace"
    taken = {job: step["with"]["name"] for job in jobs for step in jobs[job]["steps"] if step["name"] == takes}
    assert taken == {"part_2": "rdc-state-part_1", "part_3": "rdc-state-part_2"}


@pytest.mark.parametrize(
    ("made", "decisions"),
    [
        (gated(), ["bypassed"]),
        (two(), ["approved", "bypassed"]),
        pytest.param(gated(), ["refused"], marks=pytest.mark.soak),
        pytest.param(two(), ["rejected", "refused"], marks=pytest.mark.soak),
    ],
)
def test_a_job_that_nobody_has_reviewed_decides_nothing(made: Program, decisions: list[str], tmp_path: Path) -> None:
    """An administrator lets it in; after 30 days, or by a rule of the environment, it fails."""
    ran = decided(tmp_path, compiled(made), *decisions)
    assert ran.exit_code
    assert NOT_REVIEWED in ran.summary
    assert headings(ran) == [], "no end was reached, also by the review of an earlier gate"
    assert len(decisions) == 2 or (results(ran)["part_2"], done(tmp_path)) == ("failure", ["build"])


def test_without_the_api_nobody_is_asked(tmp_path: Path) -> None:
    ran = decided(tmp_path, compiled(gated()), failing={"approvals": 403})
    assert results(ran) == {"part_1": "failure", "approve_agree": "skipped", "part_2": "skipped"}
    assert "The reviews of this run cannot be read" in ran.summary


def review(state: str, environment: str, comment: str = "") -> dict[str, object]:
    return {"state": state, "comment": comment, "environments": [{"name": environment}], "user": {"login": "octocat"}}


def test_only_reviews_of_the_environment_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """GitHub ignores the case of its name."""
    found = [review("approved", "production"), review("rejected", "APPROVAL", "::x\x1b"), review("pending", "approval")]
    monkeypatch.setattr(Api, "get", lambda *_: (200, found))
    left = reviews(Api("the-token"), "1", "approval")
    assert left == [("rejected", "octocat", "::x\x1b")]
    decision = next_decision(left, "approval")
    assert (decision.word, decision.by) == ("rejected", "octocat")
    assert "\x1b" not in decision.note
    with pytest.raises(HaltError, match=NOT_REVIEWED):
        next_decision(left, "approval")


ATTACK = f"""\
import json, os, sys
from hashlib import sha256
sys.path.insert(0, {str(Path(__file__).parents[3])!r})
from runtime_shim.engine.journal import encode
kept, folder = os.environ["RUNNER_TEMP"] + "/rdc-kept", os.environ["FOLDER"]
if not os.path.exists(folder + "/armed"):
    sys.exit()
os.rename(folder + "/armed", folder + "/done")
forged = json.load(open(folder + "/forged.json"))
with open(kept + "/about.json") as file:
    found = json.load(file)
with open(kept + "/state/journal", "rb") as file:
    begin, *records = [json.loads(line[9:]) for line in file]
done = [each for each in records if each["kind"] == "done"][-1]
records = [{{**done, **each, "title": "", "condition": "ready"}} for each in forged]
content = b"".join(encode({{**each, "n": number}}) for number, each in enumerate([begin, *records]))
with open(kept + "/state/journal", "wb") as file:
    file.write(content)
found["files"]["state/journal"] = sha256(content).hexdigest()
with open(kept + "/about.json", "w") as file:
    json.dump(found, file)
"""
COMMAND = '[ ! -e "$FOLDER/attack.py" ] || touch "$FOLDER/armed"'
APPROVED = {"outcome": "approved", "by": "octocat"}
FINE = {"outcome": "pass"}


def one_gate() -> Program:
    return program(
        node("1", sh(COMMAND), to("2", "pass"), to(STOP, "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to("4", "rejected")),
        node("3", Agent("", text("Publish")), to(COMPLETE)),
        node("4", Agent("", text("Tidy up")), to(COMPLETE)),
    )


def two_gates() -> Program:
    return program(
        node("1", sh("true"), to("2", "pass"), to("3", "fail")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        node("3", sh(COMMAND), to("4", "pass"), to(STOP, "fail")),
        node("4", Gate("p", text("?")), to("5", "approved"), to("6", "rejected")),
        node("5", Agent("", text("Publish")), to(COMPLETE)),
        node("6", Agent("", text("Tidy up")), to(COMPLETE)),
    )


def attacked(folder: Path, made: Program, number: int, records: Sequence[object], *decisions: str) -> engine.EngineRun:
    (folder / "attack.py").write_text(ATTACK, encoding="utf-8")
    (folder / "forged.json").write_text(json.dumps(records), encoding="utf-8")
    protected = {"approval": decisions}
    done = run(folder, compiled(made, OPTIONS), {}, number, environments=protected, meddler=str(folder / "attack.py"))
    assert (folder / "done").exists(), "the journal was forged"
    return done


def refused(folder: Path, done: engine.EngineRun, fragment: str) -> None:
    assert (done.conclusion, fragment in done.log) == ("failure", True), done
    assert log(folder) == [], "no agent was called behind the gate"


def test_the_approval_of_another_run_opens_no_gate(tmp_path: Path) -> None:
    run(tmp_path, compiled(one_gate(), OPTIONS), {}, 1, environments={"approval": ["approved"]})
    assert [prompt for _, prompt, _ in log(tmp_path)] == ["Publish"]
    (tmp_path / "log").unlink()
    forged = [{"node": "1", **FINE, "next": "2"}, {"node": "2", **APPROVED, "next": "3", "approval": "1"}]
    refused(tmp_path, attacked(tmp_path, one_gate(), 2, forged, "rejected"), "GitHub has no review that approves it")


@pytest.mark.soak
def test_the_approval_of_another_gate_opens_none(tmp_path: Path) -> None:
    forged = [
        {"node": "1", "outcome": "fail", "next": "3"},
        {"node": "3", **FINE, "next": "4"},
        {"node": "4", **APPROVED, "next": "5", "approval": "1"},
    ]
    refused(tmp_path, attacked(tmp_path, two_gates(), 1, forged, "approved", "rejected"), "A reviewer rejected a gate")


def test_an_approval_counts_in_runs_that_continue_one_another_and_of_no_other_workflow(tmp_path: Path) -> None:
    made = program(
        node("1", Agent("", text("One")), to("2")),
        node("2", Gate("p", text("?")), to("3", "approved"), to(STOP, "rejected")),
        *(node(str(each), Ask("input", text("?")), to(str(each + 1))) for each in (3, 4)),
        node("5", Agent("", text("Publish")), to(COMPLETE)),
    )
    workflow = compiled(made, OPTIONS)
    run(tmp_path, workflow, {}, 1, environments={"approval": ["approved"]})
    done = run(tmp_path, workflow, None, 2, inputs={"resume": "1", "answers": "3 x"}, environments={"approval": []})
    assert ended(done) == "WAITING 4", done.log
    path = tmp_path / "history" / "1" / "run.json"
    record = path.read_text(encoding="utf-8")
    path.write_text(record.replace(".github/workflows/workflow.yml", ".github/workflows/other.yml"), encoding="utf-8")
    last = {"resume": "2", "answers": "4 x"}
    done = run(tmp_path, workflow, None, 3, inputs=last, environments={"approval": []})
    assert "Run 1 cannot be continued: it is not a run of" in done.log
    path.write_text(record, encoding="utf-8")
    done = run(tmp_path, workflow, None, 4, inputs=last, environments={"approval": []})
    assert [prompt for _, prompt, _ in log(tmp_path)] == ["One", "Publish"], done.log
