"""The generated Makefile, run by GNU make: with all answers at once, one by one, by hand, by rules, and killed.

A Makefile walks programs of commands and plain questions by itself, and asks one question after the other. For others,
and wherever an operator does something, it calls the program.
"""

from __future__ import annotations

import json
import os
import random
import re
import shutil
from dataclasses import dataclass, field

from tests.differential.case import Visit, same
from tests.differential.drivers import python
from tests.differential.drivers.process import Done, check_end, is_at, killed, last_line, run
from tests.differential.drivers.retry import check_retry
from tests.differential.drivers.workspace import Workspace, answer_lines, drop_repeated, errors, go_back_to, is_plain

KILLS = 4
LONGEST_WORD = 50_000
"""Of make's command line: what it is given travels in one variable of at most 128 KiB."""

NEWLINE = "\n"


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    make = Make(workspace, workspace.either("basic", "full"))
    if make.calls:
        workspace.write_answers()
    make.check(make.run("run", *_inputs(workspace), "ANSWERS=answers") if make.calls else make.answered())
    words = make.words("retry") if make.calls else ["make", "retry"]
    check_retry(workspace, words, _environment(workspace), jumps=make.calls)
    return True


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers; each is recorded before another make goes on, or brought by that one.

    The operator jumps where the run waits, or has ended by STOP.
    """
    make = Make(workspace, "full" if workspace.trace.jumps else workspace.either("basic", "full"))
    if not make.calls:
        return make.check(make.answered(is_patient=True))
    done = make.run("run", *_inputs(workspace))
    for number, stop in enumerate(workspace.stops()):
        _check_stop(done, stop.waiting)
        brought: list[str] = []
        if stop.jump:
            moved = make.call("goto", f"STEP={stop.jump}", "BY=me")
            same("the exit code of a jump", moved.code, 0, moved.printed)
        elif is_plain(stop.reply) and number % 2 == 0:
            answered = make.call("answer", f"STEP={stop.waiting}", f"REPLY={stop.reply}")
            same("the exit code of an answer", answered.code, 0, answered.printed)
        else:
            file = workspace.folder / f"answer-{number}"
            file.write_bytes(("\n" * number + answer_lines(stop.waiting, stop.reply)).encode())
            brought = [f"ANSWERS={file.name}"]
        done = make.run("resume", *brought)
    return make.check(done)


def compare_killed(workspace: Workspace) -> bool:
    """Run a case and kill all of it at random moments, a call among them; no step that has finished is done again.

    A Makefile that walks by itself is killed between any two of its actions.
    """
    moments = random.Random(workspace.case.text)
    make = Make(workspace, "basic")
    if not make.calls:
        return Killed(workspace).compare()
    workspace.write_answers()
    words = make.words("run", *_inputs(workspace), "ANSWERS=answers")
    done: Done | None = None
    for _ in range(KILLS):
        done = killed(workspace, words, moments, _environment(workspace))
        if done is not None:
            break
        count = python.finished(workspace)
        go_back_to(workspace, count or 0, python.answered_entries(workspace))
        if count is not None:
            words = make.words("resume", "RERUN=1", "ANSWERS=answers")
    done = done or run(workspace, words, _environment(workspace))
    drop_repeated(workspace)
    return make.check(done, is_whole=False)


def compare_prompted(workspace: Workspace) -> bool:
    """Run a case in which nothing is executed: a person gives what came of each command, and what it would write."""
    make = Make(workspace, "full")
    done = make.run("PROMPTED=1", *_inputs(workspace))
    for stop in workspace.stops(is_prompted=True):
        _check_stop(done, stop.waiting)
        if stop.jump:
            done = make.call("goto", f"STEP={stop.jump}")
        else:
            values = [f"VALUE={stop.output.removesuffix(NEWLINE)}"] if stop.values else []
            done = make.call("answer", f"STEP={stop.waiting}", f"REPLY={stop.reply}", *values)
        same("the exit code of an answer or a jump", done.code, 0, done.printed)
        done = make.run("resume")
    return make.check(done, is_prompted=True)


def compare_plain(workspace: Workspace) -> bool:
    """Run a case whose flow is a line by rules with stamp files; of a finished run, a second call runs nothing."""
    emission = workspace.emission("make", {"form": "plain"})
    if emission.text is None:
        same("why there are no rules", {found.code for found in errors(emission)}, {"RD502"})
        return False
    (workspace.folder / "Makefile").write_bytes(emission.text.encode())
    shown = run(workspace, ["make", "-n"])
    same("what `make -n` runs", (shown.code, workspace.lines()), (0, []), shown.printed)
    done = run(workspace, ["make", "-s"])
    workspace.check_calls(done.printed, is_run=False)
    result, _, message = workspace.end.partition(" ")
    same("whether make fails", bool(done.code), result == "STOP", done.printed)
    if message and result == "STOP":  # an error, before make's own line
        lines = [line for line in done.printed.split("\n") if not line.startswith("make: ")]
        same("the message", last_line("\n".join(lines)), message, done.printed)
    elif message:
        same("the message", last_line(done.output), message, done.printed)
    if result == "COMPLETE":
        again = run(workspace, ["make", "-s"])
        same("what a finished run prints again", (again.code, again.output), (0, f"{message}\n" if message else ""))
        workspace.check_calls(again.printed, is_run=False)
    return True


class Make:
    """The Makefile of a workspace, and how make is called."""

    def __init__(self, workspace: Workspace, operator: str) -> None:
        self._workspace = workspace
        self.calls = workspace.lay("make", "Makefile", workspace.with_operator(operator))
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

    def answered(self, *, is_patient: bool = False) -> Done:
        """Call make, and once more for each question that it waits at; what is no answer changes nothing."""
        done = run(self._workspace, ["make", *(["-s"] if is_patient else [])])
        for number, (step, reply) in enumerate(self._workspace.asked):
            same("what a run waits for", is_at(_last(done), step), True, done.printed)
            named = [f"STEP={_last(done).split()[2]}"] if number % 3 else []
            for wrong in (["REPLY=perhaps"], ["STEP=nowhere", f"REPLY={reply}"], ["ASSUME=pass"], []) * is_patient:
                again = run(self._workspace, ["make", "resume", *wrong])
                line = "rdc: error: " if wrong else "rdc: WAITING"
                same("what no answer leads to", _last(again)[: len(line)], line, again.printed)
            done = run(self._workspace, ["make", ["resume", "run"][number % 2], *named, f"REPLY={reply}"])
        return done

    def check(self, done: Done, *, is_whole: bool = True, is_prompted: bool = False) -> bool:
        """Compare the calls, the end and its message, what is left, and that make fails where it must."""
        workspace = self._workspace
        if is_prompted:
            same("what a prompted run executes", workspace.lines(), [], done.printed)
        else:
            workspace.check_calls(done.printed)
        workspace.check_reports(workspace.state / "reports", done.printed)
        check_end(workspace, _last(done), done.printed)
        workspace.check_artifact(workspace.state, done.printed)
        same("whether make fails", bool(done.code), bool(workspace.exit_code), done.printed)
        if self.calls:
            python.check_events(workspace, done, is_whole=is_whole)
        workspace.check_secrets(done.printed)
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
        is_fit = value.isprintable() and value == value.strip() and len(value) <= LONGEST_WORD
        if is_fit and (len(value) % 3 or not workspace.case.documents):
            words.append(f"{name}={value}")
        else:
            rest[name] = value
    (workspace.folder / "inputs").write_text(json.dumps(rest), encoding="utf-8")
    return [*words, "INPUTS=inputs"] if rest else words


def _check_stop(done: Done, waiting: str) -> None:
    """Compare where a run stops: with a step that waits, or after a STOP."""
    line = f"{_last(done)} "
    is_there = line.startswith(f"rdc: WAITING {waiting} ") if waiting else line.startswith("rdc: STOP")
    same("what a run waits for", is_there, True, done.printed)
    same("whether make fails where a run waits", bool(done.code), True, done.printed)


def _last(done: Done) -> str:
    """The last line; a command whose output has no line end stands before it."""
    line = (re.split("\n", done.output)[:-1] or [""])[-1]
    return line[max(line.rfind("rdc: "), 0) :]


LONGEST_LIFE = 9
"""How many moments a loop lives at most: most paths are short."""

SHIM = """\
#!/bin/bash
name={name}
moment() {{
  echo >> "$YARDSTICK/moments"
  [ "$(wc -l < "$YARDSTICK/moments")" -ne "$(cat "$YARDSTICK/kill-at")" ] && return
  echo "$name $1" > "$YARDSTICK/killed"
  kill -9 "$PPID"
  exit 1
}}
case "$*" in {meant}) ;; *) exec -a {name} {real} "$@" ;; esac
case "$*" in *step-*\\ -n*) name=check ;; esac
moment before
(exec -a {name} {real} "$@")
code=$?
moment after
exit $code
"""
MEANT = {"mv": "*/run.new*/run", "make": "*step-*", "rm": "*/run"}
"""What a program is called with, where the loop calls it."""


@dataclass
class Killed:
    """The run of a Makefile, and the visit of its path that the state names."""

    workspace: Workspace
    place: int = 0
    is_begun: bool = False
    words: list[str] = field(default_factory=list)
    printed: str = ""
    kills: int = 0
    luck: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Lay the programs that kill."""
        self.luck = random.Random(self.workspace.case.text)
        folder = self.workspace.folder / "bin"
        folder.mkdir()
        for name, meant in MEANT.items():
            script = SHIM.format(name=name, meant=meant, real=shutil.which(name))
            (folder / name).write_text(script, encoding="utf-8")
            (folder / name).chmod(0o755)

    def compare(self) -> bool:
        """Go on until the end."""
        while not self.has_ended(self.call()):
            self.look()
        self.workspace.check_calls(self.printed)
        return True

    def call(self) -> Done:
        """Call make, and maybe kill its loop."""
        folder = self.workspace.folder
        for name in ("moments", "killed"):
            (folder / name).unlink(missing_ok=True)
        (folder / "kill-at").write_text(str(self.luck.randint(1, LONGEST_LIFE)), encoding="utf-8")
        return self.make(self.words, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")

    def make(self, words: list[str], **extra: str) -> Done:
        """Call make, and keep what it prints for a report."""
        done = run(self.workspace, ["make", *words], extra)
        self.printed += f"$ make {' '.join(words)}\n{done.printed}"
        return done

    def has_ended(self, done: Done) -> bool:
        """Whether the run is over; else the place where it stands is found out."""
        killed = self.workspace.folder / "killed"
        if not killed.exists():
            self.place, self.is_begun = self.reached(), True
            if self.place < len(self.visits):
                return False
            check_end(self.workspace, last_line(done.output), self.printed)
            return True
        self.kills += 1
        how = killed.read_text(encoding="utf-8").strip()
        self.printed += f"killed: {how}\n"
        moments = len((self.workspace.folder / "moments").read_text(encoding="utf-8"))
        if moments > 1:
            self.place = self.saved(how, self.reached())
        self.is_begun = self.is_begun or moments > 1
        return how == "rm after"

    @property
    def visits(self) -> list[Visit]:
        """The path."""
        return list(self.workspace.trace.visits)

    def reached(self) -> int:
        """The first visit that is not over: a command that has not run, or a question that nobody has answered."""
        start = self.place + any(word.startswith("REPLY") for word in self.words)
        commands = len(self.workspace.lines())
        for place, visit in enumerate(self.visits):
            commands -= bool(visit.calls)
            if commands < 0 or (not bool(visit.calls) and place >= start):
                return place
        return len(self.visits)

    def saved(self, how: str, reached: int) -> int:
        """The visit that the state names, where the loop was killed; what it has reached may be the next one."""
        if how in ("mv after", "make before"):
            return reached
        may_show = how == "make after" and reached < len(self.visits) and not self.visits[reached].calls
        return reached if may_show and is_at(f"rdc: WAITING {self.at}", self.visits[reached].step) else reached - 1

    @property
    def at(self) -> str:
        """The step that the state names."""
        (path,) = (self.workspace.folder / ".rdc").glob("*.make/run")
        lines = path.read_text(encoding="utf-8").splitlines()
        return next(line.removeprefix("at ") for line in lines if line.startswith("at "))

    def look(self) -> None:
        """See how the run waits, which changes nothing, and choose how to go on."""
        done = self.make(["resume"])
        if not self.is_begun:
            same(
                "resume without a run",
                last_line(done.output).startswith("rdc: error: there is no run"),
                True,
                self.printed,
            )
            self.words = []
            return
        visit = self.visits[self.place]
        last = last_line(done.output)
        same("what the run waits for", is_at(last, visit.step), True, self.printed)
        same("whether it asks about the last time", last.endswith(" was interrupted"), bool(visit.calls), self.printed)
        has_run = len(self.workspace.lines()) > sum(bool(each.calls) for each in self.visits[: self.place])
        answer = f"REPLY={visit.word}" if not bool(visit.calls) else f"ASSUME={visit.word}" if has_run else "RERUN=yes"
        self.words = [self.luck.choice(["run", "resume"]), answer]
