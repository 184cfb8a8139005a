"""Rule R1 for the Makefile: killed with all that it runs, at random moments, it walks as if nobody had disturbed it.

A step that was cut off is run again because `RERUN=yes` says so, or is taken for what it was, and only then. What comes
between two actions of the loop is tested by the driver `make-killed`.
"""

from __future__ import annotations

import random
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from compiler.driver import compile_file
from tests.equivalence.test_kill import (
    PATIENCE,
    RELEASE,
    SLOW,
    Kill,
    Place,
    Subject,
    Undisturbed,
    await_moment,
    kill_session,
    no_finished_command_ran_again,
    step,
)
from tests.equivalence.test_kill import SUBJECTS as OTHERS
from tests.support.makefiles import emitted, environment, kill_all

KILLS = 12
"""For each runbook."""

ASKED = ("## 3. Review", "### 4.3 Confirm", "## 6. Announce", "## 3. Ask")
PLAIN = [step("## 1. Build", "build", SLOW + "; true"), *(step(f"## {n}. Do {n}", f"do{n}") for n in range(2, 9))]
SUBJECTS = {
    **{name: replace(other, answers="", steps=other.commands) for name, other in OTHERS.items() if name != "prompts"},
    "retries": Subject({"main": RELEASE}, "", 10, 10),
    "plain": Subject({"main": PLAIN}, "", 8, 8),
}
"""With commands where others ask."""


class MakePlace(Place):
    """A folder in which make runs a Makefile."""

    def __init__(self, folder: Path, text: str) -> None:
        super().__init__(folder, "", "")
        (folder / "Makefile").write_text(text, encoding="utf-8")

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Begin a run, or go on with it, in a session of its own."""
        words = ["resume", *(more or [self.decision()])] if self.state.exists() else ["run"]
        with (self.folder / "said").open("ab") as said, (self.folder / "noise").open("ab") as noise:
            return subprocess.Popen(
                ["make", *words],
                cwd=self.folder,
                env=environment({}),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=noise,
                start_new_session=True,
            )

    @property
    def state(self) -> Path:
        """What a run is continued with."""
        return self.folder / ".rdc" / "main.make" / "run"

    @property
    def is_over(self) -> bool:
        """Whether no state is left of a run that has come to its end."""
        done = self._lines(".rdc/main.make/log")
        return not self.state.exists() and bool(done) and ", " in done[-1]

    def decision(self) -> str:
        """What an operator says who has seen whether the command has ended after the state was saved.

        Between the two the command takes its time, and at one tick of the clock it is the state that is newer.
        """
        path = self.folder / "log"
        last = self._lines("log")[-1] if path.exists() else ""
        if not last.startswith("end") or path.stat().st_mtime_ns <= self.state.stat().st_mtime_ns:
            return "RERUN=yes"
        return "ASSUME=pass" if last.endswith(": 0") else "ASSUME=fail"

    def log(self) -> list[str]:
        """What the commands have marked, without their outcomes."""
        return [mark.partition(":")[0] for mark in super().log()]

    def finished(self) -> list[str]:
        """The commands that have ended."""
        return [mark for mark in self.log() if mark.startswith("end ")]


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


def unasked(written: str) -> str:
    """A step; a command instead of a question."""
    header = written.split("\n", maxsplit=1)[0]
    return step(header, header.split()[-1].lower()) if header.startswith(ASKED) else written


@pytest.fixture(scope="module")
def makefile(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("documents")
    for name, steps in subject.documents.items():
        written = "\n".join([f"# {name}\n", *map(unasked, steps)])
        written = written.replace('echo "end $key" >>log', 'echo "end $key: $outcome" >>log')
        (folder / f"{name}.runbook.md").write_text(written, encoding="utf-8")
    compilation = compile_file(str(folder / "main.runbook.md"))
    assert compilation.program, compilation.diagnostics
    return emitted(compilation.program)


@pytest.fixture(scope="module")
def undisturbed(subject: Subject, makefile: str, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    place = MakePlace(tmp_path_factory.mktemp("run") / "undisturbed", makefile)
    end = (place.start().wait(PATIENCE), place.last_words())
    finished = place.finished()
    assert len(finished) >= 8, place.log()
    return Undisturbed(finished, [], [True] * len(finished), place.log(), end)


@pytest.mark.share(3)
def test_a_killed_run_of_make_walks_as_if_undisturbed(
    subject: Subject, makefile: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("without /proc the processes of a session are not known")
    moments, left, runs = random.Random(f"make {subject.steps}"), KILLS, 0
    while left:
        runs += 1
        place = MakePlace(tmp_path / str(runs), makefile)
        kills, end = torment(place, moments, left)
        left -= len(kills)
        assert end in (undisturbed.end, None)
        assert place.finished() == undisturbed.finished
        for kill in kills:
            assert kill.finished == undisturbed.finished[: len(kill.finished)], "what is finished stays so"
        no_finished_command_ran_again(place.log(), undisturbed, kills)


def torment(place: MakePlace, moments: random.Random, most: int) -> tuple[list[Kill], tuple[int, str] | None]:
    """Run make to its end, killing all of it at most so many times on the way; None if it was killed after its end."""
    kills: list[Kill] = []
    while True:
        process = place.start()
        if len(kills) < most:
            await_moment(place, process, moments)
        else:
            process.wait(PATIENCE)
        if process.poll() is not None:
            return kills, (process.returncode, place.last_words())
        kill(process)
        kills.append(Kill(place.finished(), len(place.log())))
        if place.is_over:
            return kills, None


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill make and all that it runs at once, whatever its session, and wait until all of it is gone."""
    kill_all(process.pid)
    process.wait(PATIENCE)
    kill_session(process.pid)


def test_a_step_that_was_cut_off_runs_again_only_if_one_says_so(
    makefile: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    place = MakePlace(tmp_path / "cut", makefile)
    process = place.start()
    await_mark(place, process)
    kill(process)
    marks = place.log()
    assert marks == undisturbed.marks[:1]
    assert place.start("STEP=").wait(PATIENCE)
    assert place.last_words().startswith("rdc: WAITING ")
    assert place.log() == marks
    place.start("RERUN=yes").wait(PATIENCE)
    assert place.log() == [marks[0], *undisturbed.marks]


def await_mark(place: MakePlace, process: subprocess.Popen[bytes]) -> None:
    """Wait until the first command has begun; it takes its time."""
    while not place.log():
        assert process.poll() is None, place.last_words()
