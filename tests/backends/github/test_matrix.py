"""Parallel steps whose agents are jobs of a matrix: they come to what they come to in one step, and nothing else."""

import json
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from backends.github import GithubBackend
from compiler.ir.edges import Keep
from compiler.ir.program import Program, Settings, Variable
from compiler.ir.tasks import Agent, Ask, End, Gate, Parallel, Reading
from compiler.ir.texts import text
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.changes import joined_entries, must_join
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, ref, to, words
from tests.backends.github.routed import AGENT, HOSTILE, INLINE, compiled, ended, log, run
from tests.backends.github.walking import Clean
from tests.support.github.compiling import parsed

pytestmark = pytest.mark.tool

READING = Reading(("OK", "BAD"))
MATRIX: Mapping[str, Any] = {"agent": AGENT, "parallel": "matrix"}
JOB = "entries_review"
SAID = {"draft": ["A draft."], "review_0": ["Fine: OK"], "review_1": ["So so: OK"]}


def reviewed(*agents: Agent, check: Any = "all", first: Any = None, **settings: Any) -> Program:
    """A draft that agents review at the same time, and a command that notes what they say."""
    entries = agents or (Agent("editor", words("Edit: ", ref("draft")), READING), Agent("", text("Read"), READING))
    failing = ("BAD",) if any(entry.reading.keywords for entry in entries) else ()
    both = Parallel(tuple(entries), check, failing)
    end, said = node("failed", End("stop", words("Not well: ", ref("said")))), [Keep("said")]
    passed, shows = "OK" if failing else "pass", bash('printf "%s" "$SAID" > "$FOLDER/said"; ls > "$FOLDER/files"')
    first = first or node("draft", Agent("", text("Draft")), to("review", "pass", do=[Keep("draft")]), to(STOP))
    return program(
        first,
        node("review", both, to("note", passed, do=said), to("failed", do=said), **settings),
        node("note", shows, to(COMPLETE), variables=(Variable("SAID", "said"),)),
        end,
        slots=["draft", "said"],
    )


def artifact(folder: Path, index: int, job: str = JOB, number: int = 1) -> Path:
    return folder / "history" / str(number) / "artifacts" / f"rdc-{job}-{index}" / "entry"


def asked(folder: Path) -> list[str]:
    return [step for step, *_ in log(folder)]


def test_each_entry_is_a_job_with_an_artifact_of_its_own() -> None:
    workflow = compiled(reviewed(), {**MATRIX, **INLINE})
    assert "# Saves only the answer. The agent's changes in the workspace are lost." in workflow
    jobs = parsed(workflow)["jobs"]
    assert list(jobs) == ["part_1", JOB, "part_2"]
    job = jobs[JOB]
    include = [{"entry": 0, "agent": "editor"}, {"entry": 1, "agent": "inline"}]
    assert job["strategy"] == {"fail-fast": False, "matrix": {"include": include}}
    assert job["name"] == "review Step review ${{ matrix.entry }} (${{ matrix.agent }})"
    assert (job["needs"], "permissions" in job) == (["part_1"], False)
    _, again, *_, entry, keep = job["steps"]
    artifact = "rdc-entries_review-${{ matrix.entry }}"
    assert again["with"] == {"pattern": artifact, "path": "${{ runner.temp }}/rdc-entry", "merge-multiple": True}
    assert "continue-on-error" not in again, "it would look lost, and what comes after it would be repeated"
    assert entry["timeout-minutes"] == 31
    assert entry["env"] == {
        "CALL": "entry review",
        "PROMPT": "editor:\n  Edit: {{draft}}\nagent:\n  Read\n",
        "RDC_ENTRY": "${{ matrix.entry }}",
        "RDC_OPTIONS": f"--agent={AGENT}",
    }
    assert (keep["with"]["name"], keep["with"]["overwrite"]) == (artifact, True)
    assert (keep["if"], jobs["part_2"]["needs"]) == ("steps.review.outputs.kept", ["part_1", JOB])


def test_what_surrounds_an_entry_is_that_of_other_jobs() -> None:
    """The steps of the option `setup` take as long as they take, and the limit of the entry leaves them time."""
    options: Mapping[str, Any] = {"environment": "agents", "permissions": {"models": "read"}, "timeout-minutes": 500}
    made = reviewed(settings=Settings(timeout=120))
    job = parsed(compiled(made, {**MATRIX, **options, "setup": [{"run": "make tools"}]}))["jobs"][JOB]
    assert {name: job[name] for name in options} == {**options, "permissions": {"contents": "read", "models": "read"}}
    *_, setup, entry, _ = job["steps"]
    assert (setup["run"], entry["timeout-minutes"]) == ("make tools", 3)


def test_a_job_that_only_joins_answers_keeps_them_for_people() -> None:
    parallel = Parallel((Agent("", text("Read"), READING),), "all", ("BAD",))
    last = program(node("review", parallel, to(COMPLETE, "OK", do=[Keep("said")]), to(STOP)), slots=["said"])
    steps = parsed(compiled(last, MATRIX))["jobs"]["part_2"]["steps"]
    assert "Save prompts and answers" in [step["name"] for step in steps]


def test_one_step_is_the_usual_form() -> None:
    made = reviewed()
    assert compiled(made, {"agent": AGENT}) == compiled(made, {"agent": AGENT, "parallel": "step"})
    assert list(parsed(compiled(made, {"agent": AGENT}))["jobs"]) == ["runbook"]


def test_a_job_has_the_secrets_of_its_entry_alone() -> None:
    options = {
        "secrets": ["ALL", "EDITORS"],
        "agent": {"run": AGENT, "secrets": ["ALL"]},
        "agents": {"editor": {"run": AGENT, "secrets": ["ALL", "EDITORS"]}},
        "parallel": "matrix",
    }
    *_, entry, _ = parsed(compiled(reviewed(), options))["jobs"][JOB]["steps"]
    assert entry["env"]["ALL"] == "${{ secrets.ALL }}"
    assert entry["env"]["EDITORS"] == "${{ contains(fromJSON('[0]'), matrix.entry) && secrets.EDITORS || '' }}"


def test_what_is_dropped_is_said_and_a_loop_stays_one_step() -> None:
    again = reviewed(first=node("draft", Agent("", text("Draft")), to("review", do=[Keep("draft")])))
    loop = program(node("review", again.nodes[1].task, to(COMPLETE, "OK"), to("review")), slots=["draft"], limit=9)
    (dropped,) = GithubBackend().emit(again, MATRIX).diagnostics
    (stays,) = GithubBackend().emit(loop, MATRIX).diagnostics
    assert (dropped.code, stays.code) == ("RD535", "RD536")
    assert dropped.span == stays.span == again.nodes[1].origin.span
    assert "its changes are lost" in dropped.message
    assert list(parsed(compiled(loop, MATRIX))["jobs"]) == ["runbook"]
    assert GithubBackend().emit(again, {"agent": AGENT}).diagnostics == ()


def test_more_jobs_than_a_matrix_takes_are_refused() -> None:
    made = reviewed(*[Agent("", text("?"))] * 257)
    assert [found.code for found in GithubBackend().emit(made, MATRIX).diagnostics] == ["RD521"]


@pytest.mark.share(3)
@pytest.mark.parametrize(("decision", "steps"), [("rejected", ["end"]), ("approved", ["two_0", "end"])])
def test_a_matrix_may_be_first_and_be_passed_over(decision: str, steps: list[str], tmp_path: Path) -> None:
    entries = (Agent("", text("Review")),)
    made = program(
        node("one", Parallel(entries), to("gate", "pass"), to(STOP)),
        node("gate", Gate("gate"), to("two", "approved"), to("end")),
        node("two", Parallel(entries), to("end", "pass"), to(STOP)),
        node("end", Agent("", text("End")), to(COMPLETE)),
    )
    workflow = compiled(made, MATRIX)
    jobs = "part_1 entries_one part_2 approve_gate part_3 entries_two part_4"
    assert list(parsed(workflow)["jobs"]) == jobs.split()
    done = run(tmp_path, workflow, {}, environments={"approval": [decision]})
    assert (ended(done), asked(tmp_path)) == ("COMPLETE", ["one_0", *steps])
    outcomes = {step.name: step.outcome for step in done.jobs["part_4"].steps}
    expected = "success" if "two_0" in steps else "skipped"
    assert done.jobs["entries_two"].result == outcomes["Load the answer of two 0"] == expected


@pytest.mark.parametrize("apart", [Parallel((Agent("", text("Review")),) * 2), Gate("gate")])
def test_a_run_that_leaves_the_job_passes_over_what_comes_after(apart: Any) -> None:
    """Found by random programs: that all ways behind the place lead to STOP says nothing of the steps beside it."""
    made = program(
        node("1", Agent("", text("?"), Reading(("YES", "NO"))), to("2", "YES"), to("3", "NO"), to(STOP)),
        node("2", apart, to(STOP)),
        node("3", Agent("", text("!")), to(COMPLETE)),
    )
    steps = {step["name"]: step for step in parsed(compiled(made, MATRIX))["jobs"]["part_1"]["steps"]}
    assert steps["3. Step 3"]["if"] == "steps.s1.outputs.next == '3'"


@pytest.mark.share(3)
@pytest.mark.parametrize("way", [["ask", "review", "note"], ["review", "ask", "note", "again"]])
def test_a_run_that_waits_before_or_behind_a_matrix_goes_on(way: list[str], tmp_path: Path) -> None:
    onward = dict(pairwise([*way, COMPLETE]))
    tasks: Mapping[str, Any] = {
        "review": (Parallel((Agent("", text("Review")),)), "pass", [Keep("said")]),
        "again": (Parallel((Agent("", text("Review")),)), "pass", []),
        "ask": (Ask("confirm", text("Go on?")), "yes", []),
        "note": (bash('printf "%s" "$SAID" > "$FOLDER/said"'), "pass", []),
    }
    nodes = [node(name, tasks[name][0], to(onward[name], tasks[name][1], do=tasks[name][2]), to(STOP)) for name in way]
    noting = [replace(made, variables=(Variable("SAID", "said"),)) if made.id == "note" else made for made in nodes]
    workflow = compiled(program(*noting, slots=["said"]), MATRIX)
    assert ended(run(tmp_path, workflow, {})) == "WAITING ask"
    done = run(tmp_path, workflow, {}, 2, inputs={"resume": "1", "answers": "ask yes"})
    assert (ended(done), (tmp_path / "said").read_text()) == ("COMPLETE", "done")
    assert asked(tmp_path) == [f"{name}_0" for name in way if name in {"review", "again"}]
    assert {env["RDC_RUN_ID"] for *_, env in log(tmp_path)} == {"1"}


DIES = '[ "$RDC_STEP" != review_1 ] || [ -e "$FOLDER/alive" ] || { kill -9 "$PPID"; exit 1; }; '
GONE_ON = "::error title=Re-run::All entries answered in an earlier attempt, which may have continued from here"


@pytest.mark.share(3)
@pytest.mark.parametrize("jobs", ["failed", "all"])
def test_a_further_attempt_does_its_jobs_again(jobs: str, tmp_path: Path) -> None:
    """A lost entry is done alone, and what comes after the entries once, unless all of it is done again."""
    workflow = compiled(reviewed(), {**MATRIX, "agent": DIES + AGENT})
    done = run(tmp_path, workflow, SAID)
    results = {name: job.result for name, job in done.jobs.items()}
    assert results == {"part_1": "success", JOB: "failure", "part_2": "failure"}
    reason = "entry 1 of review has no answer: its job kept nothing. Re-run the failed jobs"
    assert f"::error title=Lost entry::{reason}" in done.log
    assert "has no result" not in done.log
    assert not (tmp_path / "said").exists()

    (tmp_path / "alive").touch()
    if jobs == "all":
        assert ended(run(tmp_path, workflow, github={"run_attempt": "2"})) == "COMPLETE"
        assert asked(tmp_path) == ["draft", "review_0", "draft", "review_0", "review_1"]
        return
    done = run(tmp_path, workflow, **again(2))
    assert (ended(done), (tmp_path / "said").read_text()) == ("COMPLETE", "Fine: OK\n\nSo so: OK")
    assert asked(tmp_path) == ["draft", "review_0", "review_1"]

    (tmp_path / "said").unlink()
    fail_entry(tmp_path, 0)
    done = run(tmp_path, workflow, **again(3))
    assert "This was done in an earlier attempt." in done.jobs[JOB].matrix[0].log
    assert (done.jobs[JOB].matrix[0].steps[-1].outcome, GONE_ON in done.log) == ("skipped", True), done
    done = run(tmp_path, workflow, **again(4))
    assert GONE_ON in done.log
    assert not (tmp_path / "said").exists()
    assert asked(tmp_path) == ["draft", "review_0", "review_1"]


def again(attempt: int) -> dict[str, Any]:
    """How the jobs that have failed, and what needs them, are run again."""
    return {"rerun": True, "github": {"run_attempt": str(attempt)}}


def fail_entry(folder: Path, index: int) -> None:
    """Have the job of an entry look failed, as if people had chosen it to be run again by itself."""
    path = folder / "history" / "1" / "jobs.json"
    jobs = json.loads(path.read_text())
    jobs[JOB]["result"] = jobs[JOB]["matrix"][index]["result"] = "failure"
    path.write_text(json.dumps(jobs))


WHOLE = {"run": "7", "node": "review", "entry": 1, "attempt": 2, "answer": "So so: OK"}
Change = Callable[[dict[str, Any]], object]
FORGED: Mapping[str, Change] = {
    "no JSON": lambda _: b"{",
    "no UTF-8": lambda _: b"\xff",
    "a list": lambda _: [],
    "deep": lambda _: b"[" * 200_000,
    "a field more": lambda whole: whole | {"more": 1},
    "a field less": lambda whole: {name: value for name, value in whole.items() if name != "attempt"},
    "another run": lambda whole: whole | {"run": "8"},
    "another step": lambda whole: whole | {"node": "draft"},
    "another entry": lambda whole: whole | {"entry": 0},
    "an entry that is a truth": lambda whole: whole | {"entry": True},
    "an attempt to come": lambda whole: whole | {"attempt": 3},
    "an attempt before": lambda whole: whole | {"attempt": 0},
    "an attempt in words": lambda whole: whole | {"attempt": "2"},
    "an attempt that is none": lambda whole: whole | {"attempt": None},
    "an attempt without end": lambda whole: json.dumps(whole).replace(": 2", ": Infinity").encode(),
    "an answer that is none": lambda whole: whole | {"answer": ["OK"]},
    "an answer with NUL": lambda whole: whole | {"answer": "OK\0"},
    "an answer of half characters": lambda whole: whole | {"answer": "OK\ud800"},
    "an answer that is too long": lambda whole: whole | {"answer": "OK " + "a" * (1 << 20)},
    "a file that is too long": lambda whole: json.dumps(whole).encode() + b" " * (8 << 20),
}

Join = Callable[[], list[str | None]]
NODE = {"entries": [{"agent": ""}] * 2}


@pytest.fixture
def joining(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Join:
    """Joins the entries of a run, of which the first is whole; the second is for the test."""
    keep(tmp_path, 0, {**WHOLE, "entry": 0, "attempt": 1, "answer": "Fine: OK"})
    for name, value in {"GITHUB_RUN_ID": "7", "GITHUB_RUN_ATTEMPT": "2"}.items():
        monkeypatch.setenv(name, value)
    return lambda: joined_entries(str(tmp_path / "rdc-entries"), "review", NODE, "failure", 1)


def keep(folder: Path, index: int, content: object) -> None:
    """Put what an entry has kept, or somebody in its name, where the next job takes it over."""
    path = folder / "rdc-entries" / str(index) / "entry"
    path.parent.mkdir(parents=True)
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())


@pytest.mark.parametrize("how", FORGED)
def test_what_no_entry_has_written_is_refused(how: str, joining: Join, tmp_path: Path) -> None:
    keep(tmp_path, 1, FORGED[how](dict(WHOLE)))
    with pytest.raises(HaltError) as refused:
        joining()
    why = "entry 1 of review has no answer: its file is damaged or from an earlier attempt. Re-run its job"
    assert refused.value.args == ("Lost entry", why)


def test_what_entries_have_written_is_joined_by_their_numbers(joining: Join, tmp_path: Path) -> None:
    keep(tmp_path, 1, WHOLE)
    assert joining() == ["Fine: OK", "So so: OK"]


def test_entries_of_a_run_that_is_elsewhere_are_refused() -> None:
    assert must_join("review", "review", "success")
    assert not must_join("end", "review", "skipped")
    for name, result in (("review", "skipped"), ("end", "success")):
        with pytest.raises(HaltError, match="its jobs left it elsewhere"):
            must_join(name, "review", result)


HOSTILE_TITLE = "${{ github.token }} ' \" # : {{x}}"


def test_hostile_names_of_agents_and_titles_stay_texts(tmp_path: Path, clean: Clean) -> None:
    workflow = compiled(reviewed(*[Agent(name, text("?"), READING) for name in HOSTILE], title=HOSTILE_TITLE), MATRIX)
    clean(workflow)
    shown = [row["agent"] for row in parsed(workflow)["jobs"][JOB]["strategy"]["matrix"]["include"]]
    visible = ["".join(c if c.isprintable() else " " for c in name) for name in HOSTILE]
    assert shown == [" ".join(name.split()).replace("${{", "$ {{") for name in visible]


def test_of_an_entry_its_answer_is_kept_alone_as_a_text(tmp_path: Path) -> None:
    """Not what it has changed in its workspace, no secret, and nothing that it says to the runner or a terminal."""
    first = node("draft", Agent("", text("Draft")), to("review", do=[Keep("draft")]))
    agents = [Agent(name, text("?"), READING) for name in (HOSTILE[3], "editor")]
    agent = f'test "$RDC_STEP" = draft && touch drafted || {{ test -f drafted && touch "$RDC_STEP"; }} && {AGENT}'
    options = {
        "secrets": ["KEY", "OTHER"],
        "agent": {"run": agent, "secrets": ["OTHER"]},
        "agents": {"editor": {"run": agent, "secrets": ["KEY"]}},
        "parallel": "matrix",
    }
    reply = "\n".join(HOSTILE).encode("utf-8", "replace").decode().strip()
    secrets = {"KEY": "the-secret-key", "OTHER": "the-other-key"}
    answers = {"review_0": [reply + "\nOK"], "review_1": ["the-secret-key OK"]}
    workflow = compiled(reviewed(*agents, title=HOSTILE_TITLE, first=first), options)
    done = run(tmp_path, workflow, answers, secrets=secrets)
    assert (ended(done), (tmp_path / "said").read_text()) == ("COMPLETE", reply + "\nOK\n\n*** OK")
    assert json.loads(artifact(tmp_path, 1).read_text())["answer"] == "*** OK"
    assert (tmp_path / "files").read_text() == "drafted\n"
    assert not list(tmp_path.rglob("x"))
    given = {own: {name for name in secrets if env.get(name)} for own, _, env in log(tmp_path)}
    assert given == {"draft": {"OTHER"}, "review_0": {"OTHER"}, "review_1": {"KEY"}}
    for job in done.jobs[JOB].matrix:
        assert (job.outcomes["review"], "\x1b" in job.log) == ("success", False)
        assert "\u202e" not in job.log
        assert [step.outputs for step in job.steps if step.id == "review"] == [{"kept": "true"}]
    title = "review $ {{ github.token }} ' \" # : {{x}}"
    names = [job.name for job in done.jobs[JOB].matrix]
    assert names == [f"{title} 0 ($ {{{{ github.token }}}})", f"{title} 1 (editor)"]
