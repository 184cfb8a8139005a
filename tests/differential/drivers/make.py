"""The generated Makefile, run by GNU make: with all answers at once, one by one, by hand, by rules, and killed.

A Makefile walks programs of commands and plain questions by itself, and asks one question after the other. For others,
and wherever an operator does something, it calls the program.
"""

import json
import os
import random
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from tests.differential.case import Visit, same
from tests.differential.drivers.process import (
    Done,
    Operated,
    check_end,
    in_pieces,
    is_at,
    last_line,
    prompted,
    run,
    through_kills,
)
from tests.differential.drivers.retry import check_retry
from tests.differential.drivers.workspace import Stop, Workspace, errors

LONGEST_WORD = 50_000
"""Of make's command line: what it is given travels in one variable of at most 128 KiB."""

NEWLINE = "\n"


def compare(workspace: Workspace) -> bool:
    """Run a case to its end."""
    make = Make(workspace, workspace.either("basic", "full"))
    make.check(make.run("run", make.answers()) if make.calls else make.answered())
    words = make.words("retry") if make.calls else ["make", "retry"]
    check_retry(workspace, words, make.environment, jumps=make.calls)
    return True


def compare_in_pieces(workspace: Workspace) -> bool:
    """Run a case without answers."""
    make = Make(workspace, "full" if workspace.trace.jumps else workspace.either("basic", "full"))
    return in_pieces(make) if make.calls else make.check(make.answered(is_patient=True))


def compare_killed(workspace: Workspace) -> bool:
    """Run a case and kill it at random moments; a Makefile that runs by itself between any two of its actions."""
    make = Make(workspace, "basic")
    return through_kills(make, make.answers()) if make.calls else Killed(workspace).compare()


def compare_prompted(workspace: Workspace) -> bool:
    """Run a case in which nothing is executed."""
    return prompted(Make(workspace, "full"))


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


class Make(Operated):
    """The Makefile of a workspace, and how make is called."""

    verbs: ClassVar[Mapping[str, Sequence[str]]] = {
        "run": ["run"],
        "resume": ["resume"],
        "rerun": ["resume", "RERUN=1"],
        "retry": ["retry"],
        "prompted": ["PROMPTED=1"],
    }
    code = bool  # make has its own

    def __init__(self, workspace: Workspace, operator: str) -> None:
        super().__init__(workspace)
        self.calls = workspace.lay("make", "Makefile", workspace.with_operator(operator))
        tools = "".join(f"{name}={command}\n" for name, command in workspace.tools.items())
        (workspace.folder / "tools").write_text(tools, encoding="utf-8")

    def words(self, verb: str, answers: str = "") -> list[str]:
        """A call that runs steps: with tools, and the agent where it is the only one, and no question is its own."""
        workspace, words = self.workspace, ["make", *self.verbs[verb]]
        words += _inputs(workspace) if verb in ("run", "prompted") else []
        words += [f"ANSWERS={answers}"] if answers else []
        words += ["EVENTS=events", *(["TOOLS=tools"] if workspace.tools else [])]
        is_only = list(workspace.agents) == [""] and not workspace.asked
        return [*words, f"AGENT={workspace.agents['']}"] if is_only else words

    def answers(self) -> str:
        """The name of a file of all answers."""
        return self.workspace.write_answers().name

    def goto(self, step: str, by: str = "") -> Done:
        return self.call("goto", f"STEP={step}", *([f"BY={by}"] if by else []))

    def answer(self, stop: Stop) -> Done:
        """Record an answer, and the values that a command would write."""
        values = [f"VALUE={stop.output.removesuffix(NEWLINE)}"] if stop.values else []
        return self.call("answer", f"STEP={stop.waiting}", f"REPLY={stop.reply}", *values, *["ALL=1"][: stop.has_list])

    def call(self, *words: str) -> Done:
        """Call make for something that runs no steps."""
        return run(self.workspace, ["make", *words, "EVENTS=events"])

    def last(self, done: Done) -> str:
        """The last line; a command whose output has no line end stands before it."""
        line = (re.split("\n", done.output)[:-1] or [""])[-1]
        return line[max(line.rfind("rdc: "), 0) :]

    @property
    def environment(self) -> dict[str, str]:
        """The agents by their types, and the common one."""
        agents, listed = self.workspace.agents, self.workspace.folder / "agents"
        listed.write_text("".join(f"{name}={command}\n" for name, command in agents.items() if name))
        found = {"RDC_AGENTS": str(listed)} if any(agents) else {}
        return {**found, "RDC_AGENT": agents[""]} if "" in agents else found

    def answered(self, *, is_patient: bool = False) -> Done:
        """Call make, and once more for each question that it waits at; what is no answer changes nothing."""
        done = run(self.workspace, ["make", *(["-s"] if is_patient else [])])
        for number, (step, reply) in enumerate(self.workspace.asked):
            same("what a run waits for", is_at(self.last(done), step), True, done.printed)
            named = [f"STEP={self.last(done).split()[2]}"] if number % 3 else []
            for wrong in (["REPLY=perhaps"], ["STEP=nowhere", f"REPLY={reply}"], ["ASSUME=pass"], []) * is_patient:
                again = run(self.workspace, ["make", "resume", *wrong])
                line = "rdc: error: " if wrong else "rdc: WAITING"
                same("what no answer leads to", self.last(again)[: len(line)], line, again.printed)
            done = run(self.workspace, ["make", ["resume", "run"][number % 2], *named, f"REPLY={reply}"])
        return done


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
            is_refused = last_line(done.output).startswith("rdc: error: there is no run")
            same("resume without a run", is_refused, True, self.printed)
            self.words = []
            return
        same("whether the run may go on", self.place < len(self.visits), True, self.printed)
        visit, last = self.visits[self.place], last_line(done.output)
        same("what the run waits for", is_at(last, visit.step), True, self.printed)
        same("whether it asks about the last time", last.endswith(" was interrupted"), bool(visit.calls), self.printed)
        has_run = len(self.workspace.lines()) > sum(bool(each.calls) for each in self.visits[: self.place])
        answer = f"REPLY={visit.word}" if not bool(visit.calls) else f"ASSUME={visit.word}" if has_run else "RERUN=yes"
        self.words = [self.luck.choice(["run", "resume"]), answer]
