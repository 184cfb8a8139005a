"""Runs of workflows of programs made by hand, whose agents a stub answers."""

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from backends.base import Emission
from backends.github import GithubBackend
from compiler.ir.edges import Clear, Keep, SlotTest
from compiler.ir.program import Input, Program, Variable
from compiler.ir.tasks import Agent, Branch, Gate, Parallel, Reading, Tool
from compiler.ir.texts import text
from tests.backends.github.made import COMPLETE, STOP, bash, node, program, ref, to, words
from tests.support import actions_engine as engine
from tests.support.github.compiling import beside


class Workflow(str):
    """A workflow, and all that the target made of its program."""

    __slots__ = ("made",)
    made: Emission


INLINE: Mapping[str, object] = {"checkout": False, "runtime": "inline"}
"""The options of a workflow that has its program in itself."""


def compiled(made: Program, options: Mapping[str, object] | None = None) -> Workflow:
    found = GithubBackend().emit(made, options or {})
    assert found.text, found.diagnostics
    workflow, workflow.made = Workflow(found.text), found
    return workflow


AGENT = 'python3 -IS "$FOLDER/agent.py"'
OPTIONS = {"agent": AGENT, "tools": {"tracker": AGENT}}
HOSTILE = (
    "$(touch x)", "'; touch x; '", "`touch x`", "${{ github.token }}", "a\nnext=s9", "next<<E\ns9\nE",
    "::set-output name=next::s9", "::add-mask::a", "##[add-mask]a", "::stop-commands::a", "]]]",
    "\u202eright to left", "\x1b]0;title\x07", "{{issue}}", "<script>alert(1)</script> @everyone",
)  # fmt: skip


def run(
    folder: Path, workflow: str, answers: Mapping[str, object] | None = None, number: int = 1, **more: Any
) -> engine.EngineRun:
    """Run a workflow whose agents answer by a list for each step, and note what they were given.

    What belongs to the stub is in the repository, or beside one that is given as `repository`.
    """
    if answers is not None:
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
    (folder / "agent.py").write_text(STUB, encoding="utf-8")
    env = {"FOLDER": str(folder), "PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    place = more.pop("repository", folder / "repository")
    place.mkdir(exist_ok=True)
    if isinstance(workflow, Workflow):
        beside(place, workflow.made)
    return engine.run(place, workflow, history=folder / "history", env=env, run_id=number, **more)


STUB = """
import json, os, sys
folder, step = os.environ["FOLDER"], os.environ["RDC_STEP"]
given = sys.stdin.buffer.read().decode()
with open(folder + "/log", "a") as log:
    log.write(json.dumps([step, given, dict(os.environ)]) + "\\n")
with open(folder + "/answers.json") as file:
    answers = json.load(file).get(step, ["done"])
with open(folder + "/calls_" + step, "a") as calls:
    calls.write(".")
    number = calls.tell() - 1
said = answers[min(number, len(answers) - 1)]
if said is None:
    sys.exit(3)
sys.stdout.buffer.write(said.encode("utf-8", "surrogatepass"))
"""


def log(folder: Path) -> list[list[Any]]:
    """What the agents were given: the step, the text, the environment."""
    path = folder / "log"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def ended(done: engine.EngineRun) -> str:
    return str(re.findall(r"^rdc: (.*)$", done.log, re.MULTILINE)[-1])


def triage(**more: Any) -> Program:
    """An agent whose answer decides among branches, a command that gives a value, a tool, a parallel loop, a gate."""
    review, classify = Reading(("OK", "BAD")), Agent("", words("Classify: ", ref("issue")))
    notes = bash('printf "%s" "$ISSUE" > "$FOLDER/issue"\necho "note=from 2a" >> "$RDC_OUTPUT"')
    noted, issue = [Keep("note", "output", "note")], (Variable("ISSUE", "issue"),)
    both = Parallel((Agent("", words("A ", ref("note"))), Agent("", text("B"))))
    return program(
        node("1", classify, to("2", "pass", do=[Keep("kind", extract="kind")]), to(STOP, "fail")),
        node("2", Branch(), to("2a", SlotTest("kind", "==", "bug")), to("2b")),
        node("2a", notes, to("3", "pass", do=noted), to(STOP, "fail"), variables=issue),
        node("2b", Tool("tracker", "close", words('{"issue": "', ref("issue"), '"}')), to("3", do=[Keep("note")])),
        node("3", both, to("4", "pass", do=[Keep("said")]), to("3b", "fail")),
        node("3b", Agent("", text("Again"), review), to("3", "OK", do=[Clear("note")]), to(STOP)),
        node(
            "4", Gate("production", words("Sure about ", ref("kind"), "?")), to("5", "approved"), to(STOP, "rejected")
        ),
        node("5", Agent("", words("Publish ", ref("said"))), to(COMPLETE, "pass"), to(STOP, "fail")),
        slots=("kind", "note", "said"),
        inputs=(Input("issue", "text"),),
        **more,
    )
