"""The generated Makefile, run by GNU make: with all answers at once, one by one, and killed again and again.

Most Makefiles call the program; those of commands and plain questions walk by themselves and take one answer per call.
These are killed in `tests.equivalence`.
"""

from __future__ import annotations

import json
import random

from tests.equivalence.difference import same
from tests.programs.drivers import python
from tests.programs.drivers.process import Done, killed, run
from tests.programs.workspace import Workspace, answer_lines, drop_repeated, go_back_to, is_plain

KILLS = 4
LONGEST_WORD = 50_000
"""Of make's command line: what it is given travels in one variable of at most 128 KiB."""


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    make = Make(workspace)
    if not make.calls:
        return make.check(make.answered())
    workspace.write_answers()
    return make.check(make.run("run", *_inputs(workspace), "ANSWERS=answers"))


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each is recorded before another make goes on, or brought by that one."""
    make = Make(workspace)
    if not make.calls:
        return make.check(make.answered())
    done = make.run("run", *_inputs(workspace))
    for number, (step, reply) in enumerate(workspace.asked):
        same("what a run waits for", _last(done).startswith(f"rdc: WAITING {step}"), True, done.said)
        brought: list[str] = []
        if is_plain(reply):
            answered = make.call("answer", f"STEP={step}", f"REPLY={reply}")
            same("the exit code of an answer", answered.code, 0, answered.said)
        else:
            file = workspace.folder / f"answer-{number}"
            file.write_bytes(("\n" * number + answer_lines(step, reply)).encode())
            brought = [f"ANSWERS={file.name}"]
        done = make.run("resume", *brought)
    return make.check(done)


def compare_killed(workspace: Workspace) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again."""
    moments = random.Random(workspace.case.text)
    make = Make(workspace)
    if not make.calls:
        return False
    workspace.write_answers()
    words = make.words("run", *_inputs(workspace), "ANSWERS=answers")
    done: Done | None = None
    for _ in range(KILLS):
        done = killed(workspace, words, moments, _environment(workspace))
        if done is not None:
            break
        count = python.finished(workspace)
        go_back_to(workspace, count or 0, python.answered(workspace))
        if count is not None:
            words = make.words("resume", "RERUN=1", "ANSWERS=answers")
    done = done or run(workspace, words, _environment(workspace))
    drop_repeated(workspace)
    return make.check(done, is_whole=False)


class Make:
    """The Makefile of a workspace, and how make is called."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.calls = workspace.lay("make", "Makefile")
        tools = "".join(f"{name}={command}\n" for name, command in workspace.tools.items())
        (workspace.folder / "tools").write_text(tools, encoding="utf-8")

    def words(self, *words: str) -> list[str]:
        """A call that runs steps: with tools, and the agent where it is the only one, and no question is its own."""
        workspace, given = self._workspace, ["EVENTS=events"]
        given += ["TOOLS=tools"] if workspace.tools else []
        given += [f"AGENT={workspace.agents['']}"] if list(workspace.agents) == [""] and not workspace.asked else []
        return ["make", *words, *given]

    def run(self, *words: str) -> Done:
        """Call make to run steps."""
        return run(self._workspace, self.words(*words), _environment(self._workspace))

    def call(self, *words: str) -> Done:
        """Call make for something else."""
        return run(self._workspace, ["make", *words, "EVENTS=events"])

    def answered(self) -> Done:
        """Call make, and once more for each question that it waits at."""
        done = run(self._workspace, ["make"])
        for step, reply in self._workspace.asked:
            same("what a run waits for", _last(done).startswith(f"rdc: WAITING {step}"), True, done.said)
            done = run(self._workspace, ["make", "resume", f"REPLY={reply}"])
        return done

    def check(self, done: Done, *, is_whole: bool = True) -> bool:
        """Compare the calls, the end and its message, and that make fails where it must."""
        workspace = self._workspace
        state = workspace.folder / ".rdc" / ("program" if self.calls else "program.make")
        workspace.check_calls(done.said)
        workspace.check_reports(state / "reports", done.said)
        same("the last line", _plain(_last(done)), _plain(f"rdc: {workspace.end}"), done.said)
        workspace.check_artifact(state, done.said)
        same("whether make fails", bool(done.code), not workspace.end.startswith("COMPLETE"), done.said)
        if self.calls:
            python.check_events(workspace, done, is_whole=is_whole)
        return True


def _environment(workspace: Workspace) -> dict[str, str]:
    """The agents by their types, and the common one."""
    agents = workspace.agents
    listed = workspace.folder / "agents"
    listed.write_text("".join(f"{name}={command}\n" for name, command in agents.items() if name))
    found = {"RDC_AGENTS": str(listed)} if any(agents) else {}
    return {**found, "RDC_AGENT": agents[""]} if "" in agents else found


def _inputs(workspace: Workspace) -> list[str]:
    """Values of one line as words of make's command line, others by a file: make takes spaces off their beginning."""
    words, rest = [], {}
    for name, value in workspace.case.inputs.items():
        if not value.isprintable() or value != value.strip() or len(value) > LONGEST_WORD:
            rest[name] = value
        else:
            words.append(f"{name}={value}")
    (workspace.folder / "inputs").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "INPUTS=inputs"] if rest else words


def _last(done: Done) -> str:
    """The last line; a command whose output has no line end stands before it."""
    line = (done.output.split("\n")[:-1] or [""])[-1]
    return line[max(line.rfind("rdc: "), 0) :]


def _plain(text: str) -> str:
    """A message without spaces, and without what no terminal shows as it is: a question mark stands for it."""
    return "".join(character for character in text if character.isprintable() and character not in " ?")
