"""A Makefile whose loop is killed between two of its actions, and an operator who goes on with what is left.

The loop saves the state by `mv`, runs a step by `make`, and ends with `rm`: programs with these names stand in front of
the real ones, and kill the loop before or after one of these. What was done until then is known from the commands'
log.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import dataclass, field

from tests.equivalence.difference import same
from tests.equivalence.drivers.process import Done, check_end, is_at, last_line, run
from tests.equivalence.execution import Workspace
from tests.equivalence.visits import Visit

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
    said: str = ""
    kills: int = 0
    luck: random.Random = field(init=False)

    def __post_init__(self) -> None:
        """Lay the programs that kill."""
        self.luck = random.Random("".join(self.workspace.scenario.documents.values()))
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
        self.workspace.check_log(self.said)
        return True

    def call(self) -> Done:
        """Call make, and maybe kill its loop."""
        folder = self.workspace.folder
        for name in ("moments", "killed"):
            (folder / name).unlink(missing_ok=True)
        (folder / "kill-at").write_text(str(self.luck.randint(1, LONGEST_LIFE)), encoding="utf-8")
        return self.make(self.words, PATH=f"{folder / 'bin'}:{os.environ['PATH']}")

    def make(self, words: list[str], **extra: str) -> Done:
        """Call make, and keep what it says for a report."""
        done = run(self.workspace, ["make", *words], extra)
        self.said += f"$ make {' '.join(words)}\n{done.said}"
        return done

    def has_ended(self, done: Done) -> bool:
        """Whether the run is over; else the place where it stands is found out."""
        killed = self.workspace.folder / "killed"
        if not killed.exists():
            self.place, self.is_begun = self.reached(), True
            if self.place < len(self.visits):
                return False
            check_end(self.workspace, last_line(done.output), self.said)
            return True
        self.kills += 1
        how = killed.read_text(encoding="utf-8").strip()
        self.said += f"killed: {how}\n"
        moments = len((self.workspace.folder / "moments").read_text(encoding="utf-8"))
        if moments > 1:
            self.place = self.saved(how, self.reached())
        self.is_begun = self.is_begun or moments > 1
        return how == "rm after"

    @property
    def visits(self) -> list[Visit]:
        """The path."""
        return [visit for visit, _ in self.workspace.scenario.trace.visits]

    def reached(self) -> int:
        """The first visit that is not over: a command that has not run, or a question that nobody has answered."""
        start = self.place + any(word.startswith("REPLY") for word in self.words)
        commands = len(self.workspace.log_lines)
        for place, visit in enumerate(self.visits):
            commands -= visit.is_command
            if commands < 0 or (not visit.is_command and place >= start):
                return place
        return len(self.visits)

    def saved(self, how: str, reached: int) -> int:
        """The visit that the state names, where the loop was killed; what it has reached may be the next one."""
        if how in ("mv after", "make before"):
            return reached
        may_show = how == "make after" and reached < len(self.visits) and not self.visits[reached].is_command
        return reached if may_show and is_at(f"rdc: WAITING {self.at}", self.visits[reached].label) else reached - 1

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
                self.said,
            )
            self.words = []
            return
        visit, passed = self.workspace.scenario.trace.visits[self.place]
        last = last_line(done.output)
        same("what the run waits for", is_at(last, visit.label), True, self.said)
        same("whether it asks about the last time", last.endswith(" was interrupted"), visit.is_command, self.said)
        outcome = "pass" if passed else "fail"
        has_run = len(self.workspace.log_lines) > sum(each.is_command for each in self.visits[: self.place])
        answer = f"REPLY={outcome}" if not visit.is_command else f"ASSUME={outcome}" if has_run else "RERUN=yes"
        self.words = [self.luck.choice(["run", "resume"]), answer]
