"""Rule R1 for the Makefile: killed with all that it runs, at random moments, it walks as if nobody had disturbed it.

The runbooks are those of the test for Python. A step that was cut off is run again because `RERUN=1` says so, and only
then.
"""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from backends.make import MakeBackend
from compiler.driver import compile_file
from tests.backends.makefiles import kill_all

from .test_kill import (
    PATIENCE,
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
from .test_kill import SUBJECTS as OTHERS

KILLS = 16
"""For each runbook."""

# Commands alone, one after the other, are targets that need each other.
PLAIN = [step("## 1. Build", "build", SLOW + "; true"), *(step(f"## {n}. Do {n}", f"do{n}") for n in range(2, 9))]
SUBJECTS = {**OTHERS, "plain": Subject({"main": PLAIN}, "", 8, 8)}


class MakePlace(Place):
    """A folder in which make runs a Makefile."""

    def __init__(self, folder: Path, text: str, answers: str) -> None:
        super().__init__(folder, "", answers)
        (folder / "Makefile").write_text(text, encoding="utf-8")

    def start(self) -> subprocess.Popen[bytes]:
        """Begin a run, or go on with it, in a session of its own."""
        words = ["resume", "RERUN=1"] if self._journal() else ["run"]
        with (self.folder / "said").open("ab") as said, (self.folder / "noise").open("ab") as noise:
            return subprocess.Popen(
                ["make", *words, "ANSWERS=answers"],
                cwd=self.folder,
                env=environment(),
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=noise,
                start_new_session=True,
            )

    def finished(self) -> list[str]:
        """The steps that the journal says are done, with the numbers of their attempts, and their outcomes."""
        done, begun = [], ""
        for line in self._journal():
            record, _, _ = line.partition(" | ")
            _, kind, rest = record.split(" ", 2)
            if kind == "begin":
                begun = rest
            elif kind == "end":
                name, outcome = rest.split()[:2]
                assert begun.split()[0] == name
                done.append(f"{begun.split()[0]} {begun.split()[1]} {outcome}")
        return done

    def _journal(self) -> list[str]:
        return self._lines(".rdc/main.make/journal")


@pytest.fixture(scope="module", params=SUBJECTS)
def subject(request: pytest.FixtureRequest) -> Subject:
    return SUBJECTS[request.param]


@pytest.fixture(scope="module")
def makefile(subject: Subject, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("documents")
    for name, steps in subject.documents.items():
        (folder / f"{name}.runbook.md").write_text("\n".join([f"# {name}\n", *steps]), encoding="utf-8")
    compilation = compile_file(str(folder / "main.runbook.md"))
    assert compilation.program, compilation.diagnostics
    text = MakeBackend().emit(compilation.program, {}).text
    assert text
    return text


@pytest.fixture(scope="module")
def undisturbed(subject: Subject, makefile: str, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    place = MakePlace(tmp_path_factory.mktemp("run") / "undisturbed", makefile, subject.answers)
    end = (place.start().wait(PATIENCE), place.last_words())
    finished = place.finished()
    are_commands = [f"define do_{record.split()[0]}\n" in makefile for record in finished]
    whole = Undisturbed(finished, [], are_commands, place.log(), end)
    assert (len(finished), len(whole.visits)) == (subject.steps, subject.commands), place.last_words()
    assert sum(are_commands) == subject.commands
    return whole


@pytest.mark.share(3)
def test_a_killed_run_of_make_walks_as_if_undisturbed(
    subject: Subject, makefile: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("without /proc the processes of a session are not known")
    moments, left, runs = random.Random(f"make {subject.steps}"), KILLS, 0
    while left:
        runs += 1
        place = MakePlace(tmp_path / str(runs), makefile, subject.answers)
        kills, end = torment(place, moments, left)
        left -= len(kills)
        assert end == undisturbed.end
        assert place.finished() == undisturbed.finished
        for kill in kills:
            assert kill.finished == undisturbed.finished[: len(kill.finished)], "what is finished stays so"
        no_finished_command_ran_again(place.log(), undisturbed, kills)


def torment(place: MakePlace, moments: random.Random, most: int) -> tuple[list[Kill], tuple[int, str]]:
    """Run make to its end, killing all of it at most so many times on the way."""
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


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill make and all that it runs at once, whatever its session, and wait until all of it is gone."""
    kill_all(process.pid)
    process.wait(PATIENCE)
    kill_session(process.pid)


def test_a_step_that_was_cut_off_runs_again_only_if_one_says_so(
    subject: Subject, makefile: str, undisturbed: Undisturbed, tmp_path: Path
) -> None:
    place = MakePlace(tmp_path / "cut", makefile, subject.answers)
    process = place.start()
    await_mark(place, process)
    kill(process)
    marks = place.log()
    assert marks == undisturbed.marks[:1]
    done = subprocess.run(
        ["make", "resume", "ANSWERS=answers"],
        cwd=place.folder,
        env=environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
        encoding="utf-8",
    )
    assert done.returncode
    assert done.stdout.splitlines()[-1].startswith("rdc: WAITING ")
    assert place.log() == marks
    place.start().wait(PATIENCE)
    assert place.log() == [marks[0], *undisturbed.marks]


def environment() -> dict[str, str]:
    """The environment for make: this one without what make and rdc put there, since a make runs these tests."""
    hidden = ("RDC_", "MAKE", "MFLAGS")
    return {name: value for name, value in os.environ.items() if not name.startswith(hidden)}


def await_mark(place: MakePlace, process: subprocess.Popen[bytes]) -> None:
    """Wait until the first command has begun; it takes its time."""
    while not place.log():
        assert process.poll() is None, place.last_words()
