"""The generated workflow, run by act and by GitHub's own parser and expression engine.

Answers are given each in a continuation, or by an agent. How agents, tools and inputs are given is what the interface
of runs documents; gates outside of loops are environments, which the engine knows and act does not.
"""

import re
import subprocess
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from backends.github.workflow.inputs import input_names
from backends.scheduling.jobs import make_routes
from backends.scheduling.places import simplified
from compiler.ir.program import Program
from compiler.ir.tasks import Ask, Gate, Shell
from tests.differential.case import DifferenceError, Trace, same
from tests.differential.drivers.process import plain
from tests.differential.drivers.workspace import NEXT_ANSWER, Asked, Workspace, errors, prepare
from tests.support import actions_engine as engine
from tests.support.actions_engine import EngineRun
from tests.support.github import act
from tests.support.github.api import reviewed, stub
from tests.support.github.native import AGAIN, REVIEWERS
from tests.support.outputs import check_github

REFUSED, TOO_LARGE = "RD520", "RD521"
"""Codes of what a workflow cannot express whatever the features, and of one that is too large with its program."""

NOTES = {"RD527", "RD535", "RD536"}
"""Codes of what is noted of gates and of a matrix, and refuses nothing."""

NOTHING: Mapping[str, object] = {}
LONGEST_HEADING = 1_800
"""Characters of an end in the summary."""

AGENT = f"cat > /dev/null; {NEXT_ANSWER}"
ROW = re.compile(r"\| (\d+) \| (PASS|YES|FAIL|NO)(?: \(.*\))? \| (?:\d+ s)? \|$", re.MULTILINE)
REPORTED = re.compile(
    r"^\| [-\d: ]+ \| [^|]*?(?:, attempt (\d+))? \| \**(PASS|YES|FAIL|NO)\**(?:, [^|]*)? \| [^|]+ \| [^|]* \|$",
    re.MULTILINE,
)
"""A row of the report that a program writes."""

Ran = act.ActRun | EngineRun
"""What an engine tells of a run."""


class Run(Protocol):
    """Runs a workflow once, by its number; `decisions` are those of the gates that it comes to, in order."""

    def __call__(
        self, workspace: Workspace, text: str, inputs: Mapping[str, str], decisions: Sequence[str] = (), number: int = 1
    ) -> Ran:
        """Run it."""


class Prepared(NamedTuple):
    """A workflow, its declared inputs, and which of the replies decide gates that are jobs of their own."""

    text: str
    inputs: dict[str, str]
    gates: frozenset[str] = frozenset()

    def decisions(self, asked: Sequence[Asked]) -> list[str]:
        return [reply for step, reply in asked if step in self.gates]


def compare(workspace: Workspace, run: Run) -> bool:
    """Run a case. Act has no protected environments: a case whose gates are jobs is the second engine's."""
    prepared = _prepared(workspace)
    return prepared is not None and not (prepared.gates and run is by_act) and _in_pieces(workspace, prepared, run)


def compare_with_agent(workspace: Workspace, run: Run) -> bool:
    """Run a case whose prompts an agent answers."""
    prepared = _prepared(workspace, {"prompts": "agent", "agent": AGENT})
    return prepared is not None and _check(workspace, run(workspace, prepared.text, prepared.inputs))


def compare_in_environments(workspace: Workspace) -> bool:
    """Run a case whose commands have environments about which nobody decides: they are in jobs of their own."""
    text = _in_environments(workspace)
    return text is not None and _check(workspace, by_engine(workspace, text, _inputs(workspace)))


def _in_environments(workspace: Workspace) -> str | None:
    """The workflow whose commands have environments of their own, except for those in loops, which cannot.

    None where so many jobs and the program, which is in the workflow here, are too large together.
    """
    commands = [node.id for node in workspace.case.compiled.nodes if isinstance(node.task, Shell)]
    drawn = {name: zlib.crc32(name.encode()) % 4 for name in commands}
    steps = {name: {"environment": f"place-{number}"} for name, number in drawn.items() if number < 3}
    options = {**_options(workspace), "prompts": "agent", "agent": AGENT}
    while True:
        emission = workspace.emission("github", {**options, **({"steps": steps} if steps else {})})
        if emission.text is not None:
            return emission.text
        if {found.code for found in errors(emission)} == {TOO_LARGE}:
            return None
        same("why environments are refused", {found.code for found in errors(emission)}, {REFUSED})
        names = [found.message.partition(" cannot have")[0] for found in errors(emission)]
        refused = {
            name for name in steps for each in names if re.search(rf"(?:steps?|and) {re.escape(name)}(?: and |$)", each)
        }
        same("whether the refusal names a step", bool(refused), True)
        steps = {name: place for name, place in steps.items() if name not in refused}


def _in_pieces(workspace: Workspace, prepared: Prepared, run: Run) -> bool:
    decisions = prepared.decisions(workspace.asked)
    ran = run(workspace, prepared.text, prepared.inputs, decisions)
    number = 1
    for place, (step, reply) in enumerate(workspace.asked):
        if step in prepared.gates:
            continue
        same("what a run waits for", _ended(workspace, ran.summary), f"WAITING {step}", ran.log)
        same("whether a run that waits fails", bool(ran.exit_code), True, ran.log)
        number += 1
        of_document = workspace.case.documents
        line = (
            workspace.answer_lines[place].removesuffix("\n")
            if of_document and workspace.asks_yes_or_no
            else f"{step} {reply}"
        )
        inputs = {**({} if of_document else prepared.inputs), "resume": str(number - 1), "answers": line}
        decisions = prepared.decisions(workspace.asked[place:])
        ran = run(workspace, prepared.text, inputs, decisions, number)
    return _check(workspace, ran, decisions)


def _check(workspace: Workspace, ran: Ran, decisions: Sequence[str] = ()) -> bool:
    """Compare the calls, the end, the rows of the summary, and that the run fails where it must.

    `decisions` are those of the gates of the last run: one that was rejected before that run has failed another.
    """
    workspace.printed.extend([ran.log, ran.summary])
    workspace.check_calls(ran.log)
    transcripts = sorted(
        workspace.folder.glob("history/*/artifacts/rdc-transcript*/"), key=lambda path: _place(str(path))
    )
    for folder in transcripts[-1:]:
        workspace.check_reports(folder / "reports", ran.log)
    ended = _ended(workspace, ran.summary)
    if not (decisions[-1:] == ["rejected"] and _is_left(workspace, ended)):
        _check_end(workspace, ended, ran)
    # GitHub itself fails a run in which somebody has rejected a job.
    same("whether the run fails", bool(ran.exit_code), bool(workspace.exit_code) or "rejected" in decisions, ran.log)
    workspace.check_secrets(ran.log, ran.summary)
    if workspace.case.documents and _has_summary(workspace):
        found = ROW.findall(ran.summary) or REPORTED.findall(ran.summary)
        rows = [(int(attempt or 1), word in {"PASS", "YES"}) for attempt, word in found]
        same("the summary", rows, [(visit.attempt, visit.word == "pass") for visit in workspace.trace.visits], ran.log)
    return True


def _check_end(workspace: Workspace, ended: str, ran: Ran) -> None:
    """The end and its message; where there is no summary, a message alone is written."""
    if not ended and workspace.case.documents and not _has_summary(workspace):
        same("the end", "STOP" if ran.exit_code else "COMPLETE", workspace.end, ran.log)
    elif workspace.case.documents:
        same("the end", ended, workspace.end[:LONGEST_HEADING], ran.log)
    else:
        same("the end", _plain(ended), _plain(workspace.end), ran.log)


def _place(transcript: str) -> tuple[int, int]:
    """The run, and the part of it, that has left a transcript: the last one has all reports."""
    *_, run, _, name = transcript.rstrip("/").split("/")
    return int(run), int(name.rpartition("_")[2]) if "_" in name else 0


def _is_left(workspace: Workspace, ended: str) -> bool:
    """Whether a run that stops since a gate was rejected is left at that gate: GitHub itself tells the rest."""
    return workspace.end.startswith("STOP") and ended == f"WAITING {workspace.trace.visits[-1].step}"


def workflow(workspace: Workspace, options: Mapping[str, object] = NOTHING) -> str | None:
    """The workflow of a workspace; None where GitHub could not run one."""
    emission = workspace.emission("github", {**_options(workspace), **options})
    refusals = {TOO_LARGE} if workspace.case.documents else {TOO_LARGE, REFUSED}
    if emission.text is None and {found.code for found in emission.diagnostics} <= refusals | NOTES:
        return None
    found = errors(emission) if workspace.case.documents else emission.diagnostics
    same("why the github target refuses", [each.message for each in found if each.code not in NOTES], [])
    if emission.text:
        check_github(workspace.case.compiled, emission.text)
    return emission.text


def _prepared(workspace: Workspace, options: Mapping[str, object] = NOTHING) -> Prepared | None:
    text = workflow(workspace, options)
    return None if text is None else Prepared(text, _inputs(workspace), _gates(workspace.case.compiled))


def _options(workspace: Workspace) -> dict[str, object]:
    agents = workspace.agents
    common: dict[str, object] = {"checkout": False, "runtime": "inline", "summary": _has_summary(workspace)}
    named = {name: command for name, command in agents.items() if name}
    agent = {"agent": agents[""]} if "" in agents else {}
    if workspace.case.documents:
        return {**common, "prompts": "answers", **agent}
    parallel = workspace.either("step", "matrix")  # the case chooses where the agents of parallel steps run
    return {**common, "agents": named, "tools": workspace.tools, **agent, "parallel": parallel}


def _has_summary(workspace: Workspace) -> bool:
    """Whether a workflow has a summary: that of every other document, and of those whose messages may show values."""
    case = workspace.case
    return not case.documents or bool(case.program.get("slots")) or workspace.either("", "summary") != ""


def _inputs(workspace: Workspace) -> dict[str, str]:
    """The inputs by the names that they have on GitHub."""
    names = input_names(workspace.case.compiled.inputs)
    return {names[name]: value for name, value in workspace.case.inputs.items() if name in names}


def _gates(program: Program) -> frozenset[str]:
    """The gates outside of loops, each of which is a job."""
    places = make_routes(simplified(program)).places
    steps = (node for place in places if place.kind == "step" for node in place.nodes)
    return frozenset(node.id for node in steps if isinstance(node.task, Gate))


def by_act(
    workspace: Workspace, text: str, inputs: Mapping[str, str], decisions: Sequence[str] = (), number: int = 1
) -> Ran:
    del decisions  # act runs a job in an environment at once
    env = {**workspace.yardstick, "ARTIFACTS": str(workspace.folder / "artifacts")}
    secrets = {**act.TOKEN, **workspace.case.secrets}
    try:
        return act.run(workspace.folder, text, inputs=inputs, env=env, secrets=secrets, run_id=number)
    except subprocess.TimeoutExpired as late:
        raise DifferenceError(f"act after {late.timeout} s", "still running", "an end") from late


def by_engine(
    workspace: Workspace, text: str, inputs: Mapping[str, str], decisions: Sequence[str] = (), number: int = 1
) -> Ran:
    return walked(workspace, text, inputs=inputs, environments={"approval": decisions}, run_id=number)


def walked(workspace: Workspace, text: str, **given: object) -> EngineRun:
    history = workspace.folder / "history"
    try:
        return engine.run(
            workspace.folder,
            text,
            history=history,
            env=workspace.yardstick,
            secrets=workspace.case.secrets,
            **{"inputs": _inputs(workspace), **given},  # type: ignore[arg-type] # passed on
        )
    except engine.RejectedError as refused:
        raise DifferenceError("what the engine answers", str(refused), "a path") from refused


def _ended(workspace: Workspace, summary: str) -> str:
    """How the run ended, by the last heading of the summary: each part of a workflow has one.

    What the runner would take for a command there has spaces in it.
    """
    pattern = r"^(?:### )?((?:WAITING|COMPLETE|STOP)\b.*)$" if workspace.case.documents else r"^### (.*)$"
    headings = re.findall(pattern, summary, re.MULTILINE)
    return re.sub(r"\\(.)", r"\1", headings[-1]).replace("# # [", "##[") if headings else ""


def _plain(text: str) -> str:
    """A message without spaces, and without what Markdown or a terminal does not show as it is."""
    return "".join(character for character in plain(text) if character not in "\\#")


USUAL, OTHER = "approval", "production"
DECISION = f"{NEXT_ANSWER} | sed 's/pass/approved/; s/fail/rejected/'"


def compare_reviewed(workspace: Workspace) -> bool:
    """Run a case by the second engine, again, and without reviews."""
    text = _reviewed_workflow(workspace, _places(workspace))
    if text is None:
        return False
    _check_reviewed(workspace, walked(workspace, text, environments=_decisions(workspace)))
    _again(workspace, text)
    _without_reviews(workspace, text)
    return True


def compare_reviewed_by_act(workspace: Workspace) -> bool:
    """Run a case by act, which has no environments: who reviews is asked at the beginning of the job."""
    text = _reviewed_workflow(workspace, {})
    if text is None:
        return False
    decided = reviewed(text, DECISION) if "environment: " in text else text
    with stub() as reviews:
        env = {**workspace.yardstick, "ARTIFACTS": str(workspace.folder / "artifacts")}
        inputs, secrets = _inputs(workspace), {**act.TOKEN, **workspace.case.secrets}
        ran = act.run(workspace.folder, decided, inputs=inputs, env=env, secrets=secrets, api_url=reviews.url)
        _check_reviewed(workspace, ran)
    return True


def _places(workspace: Workspace) -> Mapping[str, str]:
    """The environments of questions that are not in the usual one."""
    asks = [node.id for node in workspace.case.compiled.nodes if isinstance(node.task, Ask)]
    return {name: OTHER for name in asks if zlib.crc32(name.encode()) % 3 == 0}


def _decisions(workspace: Workspace) -> dict[str, list[str]]:
    """What reviewers decide about each environment, in order."""
    places, found = _places(workspace), dict[str, list[str]]({USUAL: [], OTHER: []})
    for step, answer in workspace.asked:
        found[places.get(step, USUAL)].append("approved" if answer == "pass" else "rejected")
    return found


def _reviewed_workflow(workspace: Workspace, places: Mapping[str, str]) -> str | None:
    """The workflow of a workspace; None where reviewers cannot answer."""
    steps = {name: {"approval-environment": place} for name, place in places.items()}
    options = {"checkout": False, "prompts": "environment", **({"steps": steps} if steps else {})}
    emission = workspace.emission("github", options)
    if emission.text is None:
        same("why reviewers cannot answer", {found.code for found in errors(emission)}, {REFUSED})
        return None
    same("the files beside the workflow", [found.path for found in emission.companions], [])
    return emission.text


def _check_reviewed(workspace: Workspace, ran: Ran) -> None:
    """Compare the commands, the end with its message, and whether the run fails."""
    workspace.check_calls(ran.log)
    shown, word = _last_end(ran.summary), "STOP" if ran.exit_code else "COMPLETE"
    same("the end", shown or word, workspace.end if shown else workspace.end.split(" ")[0], ran.log)
    same("whether a message is said", bool(shown) or " " not in workspace.end, True, ran.log)
    same("whether the run fails", bool(ran.exit_code), bool(workspace.exit_code), ran.log)


def _last_end(summary: str) -> str:
    """The end as the summary has it, in its last line."""
    last = (summary.splitlines() or [""])[-1]
    is_end = re.match(r"(COMPLETE|STOP)\b", last)
    return " ".join(re.sub(r"\\(.)", r"\1", last).split()) if is_end else ""


def _again(workspace: Workspace, text: str) -> None:
    """A further attempt runs nothing and fails."""
    if not any(isinstance(node.task, Ask) for node in workspace.case.compiled.nodes):
        return
    before = workspace.lines()
    ran = walked(workspace, text, environments={USUAL: ["approved"] * 9, OTHER: ["approved"] * 9}, rerun="all")
    same("what a further attempt runs", workspace.lines(), before, ran.log)
    same("how a further attempt ends", ran.conclusion, "failure", ran.log)
    same("whether it says why", AGAIN in _errors(ran), True, ran.log)


def _without_reviews(workspace: Workspace, text: str) -> None:
    """Where nobody has approved, the run ends at the question: neither YES nor NO."""
    for asked, kind in _kinds(workspace):
        stopped = prepare(Path(tempfile.mkdtemp(dir=workspace.folder)), workspace.case, _until(workspace, asked))
        ran = walked(stopped, text, **kind)
        stopped.check_calls(ran.log)
        same("how a run without an approval ends", ran.conclusion, "failure", ran.log)
        same("whether it says why", REVIEWERS in _errors(ran), True, ran.log)
        same("what it calls the end", _last_end(ran.summary), "", ran.log)
        no = [job.result for name, job in ran.jobs.items() if name.startswith("rejected_")]
        same("what becomes of NO", set(no), {"skipped"}, ran.log)


def _kinds(workspace: Workspace) -> Iterator[tuple[int, dict[str, Any]]]:
    """Runs without an approval, each with the number of the question at which it has to end."""
    decisions, places = _decisions(workspace), _places(workspace)
    if not workspace.asked:
        return
    approved = {place: ["approved"] * len(each) for place, each in decisions.items()}
    yield 0, {"environments": approved, "failing": {"approvals": (0, 200, 503)[len(workspace.asked) % 3]}}
    yield 0, {"environments": {}, "unprotected": [USUAL, OTHER], "failing": {"environments": 503}}
    last = len(workspace.asked) - 1
    place = places.get(workspace.asked[last][0], USUAL)
    yield last, {"environments": {**decisions, place: [*decisions[place][:-1], "bypassed"]}}


def _until(workspace: Workspace, asked: int) -> Trace:
    """The path up to a question."""
    visits = workspace.trace.visits
    questions = [index for index, visit in enumerate(visits) if visit.question]
    return replace(workspace.trace, visits=visits[: questions[asked]], end=None)


def _errors(ran: engine.EngineRun) -> str:
    return "\n".join(message for job in ran.jobs.values() for _, _, message in job.annotations)
