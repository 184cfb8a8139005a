"""The generated Python program, and the same runtime in place: at once, step by step, by hand, and killed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from typing import ClassVar

from tests.differential.case import same
from tests.differential.drivers.process import Done, Operated, check_end, in_pieces, prompted, run, through_kills
from tests.differential.drivers.retry import check_retry
from tests.differential.drivers.workspace import Stop, Workspace, errors, is_plain
from tests.support.process import ROOT

UNFINISHED = ("ready", "waiting")
LONGEST_WORD = 100_000
"""Of a command line, about."""


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    program = Python(workspace, workspace.either("basic", "full"))
    program.check(program.run("run", answers(workspace)))
    check_retry(workspace, [*program.called, "retry", *given(workspace)], program.environment)
    return True


def compare_script(workspace: Workspace) -> bool:
    """Run a case to its end by a program that keeps nothing, where it is not refused; False if it is."""
    emission = workspace.emission("python", {"runtime": "script"})
    if emission.text is None:
        same("why a script is refused", {one.code for one in errors(emission)}, {"RD502"})
        return False
    script = workspace.folder / "script.py"
    script.write_bytes(emission.text.encode())
    done = run(workspace, [sys.executable, str(script), "--answers", str(workspace.write_answers())])
    workspace.check_calls(done.printed)
    same("the exit code", done.code, workspace.exit_code, done.printed)
    check_end(workspace, done.last, done.printed)
    return True


def compare_in_pieces(workspace: Workspace) -> bool:
    return in_pieces(Python(workspace))


def compare_prompted(workspace: Workspace) -> bool:
    return prompted(Python(workspace))


def compare_killed(workspace: Workspace) -> bool:
    return through_kills(Python(workspace), answers(workspace))


def compare_by_steps(workspace: Workspace) -> bool:
    """Run a case as a target does that calls the program: `open`, then a `step` for where the run stands."""
    program, replies = Python(workspace, "basic"), ["--answers", answers(workspace)]
    done = run(workspace, [*program.called, "open", *_events(workspace), *inputs(workspace)])
    while (facts := _facts(program))["state"] in UNFINISHED:
        words = [*program.called, "step", str(facts["step"]), *given(workspace), *replies]
        done, after = run(workspace, words, program.environment), _facts(program)
        if after["state"] in UNFINISHED:
            same("the exit code of a step", done.code, 0, done.printed)
            same("whether a run has left its place", after["step"] == facts["step"], False, done.printed)
    return program.check(done)


def _facts(program: Python) -> dict[str, object]:
    found: dict[str, object] = json.loads(run(program.workspace, [*program.called, "status", "--json"]).output)
    return found


def compare_in_place(workspace: Workspace) -> bool:
    """Run the document by `rdc run`."""
    for path, text in workspace.case.documents.items():
        (workspace.folder / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.folder / path).write_bytes(text.encode())
    program = Python(workspace)
    main = next(iter(workspace.case.documents))
    words = [sys.executable, "-m", "rdc", "run", f"./{main}", *program.words("run", answers(workspace))[3:]]
    path = f"{ROOT}{os.pathsep}{workspace.environment.get('PYTHONPATH', '')}"
    return program.check(run(workspace, words, {**program.environment, "PYTHONPATH": path}))


class Python(Operated):
    """The program of a workspace."""

    verbs: ClassVar[Mapping[str, Sequence[str]]] = {
        "run": ["run"],
        "resume": ["resume"],
        "rerun": ["resume", "--rerun-interrupted"],
        "prompted": ["run", "--prompted"],
    }

    def __init__(self, workspace: Workspace, operator: str = "full") -> None:
        super().__init__(workspace)
        script = workspace.folder / "program.py"
        script.write_bytes(workspace.emitted("python", workspace.with_operator(operator)).encode())
        self.called = [sys.executable, str(script)]

    def words(self, verb: str, answers: str = "") -> list[str]:
        """A call that runs steps."""
        words = [*self.called, *self.verbs[verb], *given(self.workspace)]
        words += inputs(self.workspace) if verb in ("run", "prompted") else []
        return [*words, *(["--answers", answers] if answers else [])]

    def goto(self, step: str, by: str = "") -> Done:
        return run(
            self.workspace, [*self.called, "goto", *_events(self.workspace), step, *(["--by", by] if by else [])]
        )

    def answer(self, stop: Stop) -> Done:
        """Record an answer; one that no word can be comes by standard input."""
        word, text = (stop.reply, "") if is_plain(stop.reply) else ("-", f"{stop.reply}\n")
        values = [word for name, value in stop.values.items() for word in ("--value", f"{name}={value}")]
        values += ["--all"][: stop.has_list]
        words = [*self.called, "answer", *_events(self.workspace), stop.waiting, word, *values]
        return run(self.workspace, words, given=text)

    @property
    def environment(self) -> dict[str, str]:
        """The common agent."""
        return environment(self.workspace)


def answers(workspace: Workspace) -> str:
    return str(workspace.write_answers(as_json=not all(is_plain(reply) for _, reply in workspace.asked)))


def given(workspace: Workspace) -> list[str]:
    """The words that name agents and tools."""
    words = _events(workspace)
    words += [
        word for name, command in workspace.agents.items() if name for word in ("--agent-for", f"{name}={command}")
    ]
    return words + [word for name, command in workspace.tools.items() for word in ("--tool", f"{name}={command}")]


def _events(workspace: Workspace) -> list[str]:
    return ["--events", str(workspace.folder / "events")]


def environment(workspace: Workspace) -> dict[str, str]:
    """The common agent is not given on the command line: there it would answer questions too."""
    return {"RDC_AGENT": workspace.agents[""]} if "" in workspace.agents else {}


def inputs(workspace: Workspace) -> list[str]:
    """The inputs: on the command line, each in a file of its own, or in one for all that are left."""
    words, rest = [], {}
    for number, (name, value) in enumerate(workspace.case.inputs.items()):
        path = workspace.folder / f"input {name}"
        path.write_bytes(value.encode())
        by_file = value.startswith("@") or "\0" in value or len(value) > LONGEST_WORD
        if (kind := (number + len(value)) % 3) == 2 and not by_file:
            rest[name] = value
        else:
            words += ["--input", f"{name}={value}" if kind and not by_file else f"{name}=@{path}"]
    (workspace.folder / "inputs.json").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "--inputs", str(workspace.folder / "inputs.json")] if rest else words
