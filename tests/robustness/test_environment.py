"""Programs that are called where something is missing: shells, variables, streams, descriptors, the folder itself."""

import os
import re
import shutil
from pathlib import Path

import pytest

from tests.robustness.places import FLOW, PATIENCE, PLAIN, CommandResult, Place, environment, run_words
from tests.support import warm

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

TARGETS = pytest.mark.parametrize(("target", "document"), [("python", FLOW), ("make", PLAIN)], ids=["python", "make"])
BOTH = pytest.mark.parametrize("target", ["python", "make"])
TOOLS = (
    *("sh", "cat", "date", "env", "ln", "make", "mkdir", "mv", "ps", "readlink", "rm", "setsid", "sleep", "tail"),
    "uname",
)
REAL_MAKE = shutil.which("make") or "make"


def through_shell(place: Place, before: str, *words: str, after: str = "", **variables: str) -> CommandResult:
    """Call the program from a shell that first does something to its own process."""
    command = [REAL_MAKE, "--no-print-directory"] if place.target == "make" else place.command
    called = ["/bin/sh", "-c", f'{before}\n"$@" {after}', "sh", *command, *words]
    done = warm.run(called, cwd=place.folder, env=environment(**variables), timeout=PATIENCE)
    return CommandResult(done.returncode, done.stdout.decode(), done.stderr.decode())


def words_of(place: Place) -> list[str]:
    """The words that begin a run, with answers where some are needed."""
    return ["run"] if place.target == "make" else run_words(place, "run")


MISSING = {
    "HOME": "unset HOME",
    "PATH": "unset PATH",
    "TERM": "unset TERM",
    "TZ": "unset TZ",
    "strange TZ": "TZ=Mars/Olympus; export TZ",
    "strange locale": "LC_ALL=xx_YY.zz LANG=C; export LC_ALL LANG",
    "everything": 'set -- env -i "$@"',
    "descriptors": "ulimit -n 16",
    "names of files": "umask 777",
    "stdin": "exec <&-",
    "stdout": "exec >&-",
    "stderr": "exec 2>&-",
    "all streams": "exec <&- >&- 2>&-",
}


@pytest.mark.share(3)
@TARGETS
@pytest.mark.parametrize("what", MISSING)
def test_a_run_comes_to_its_end_without(what: str, target: str, document: str, tmp_path: Path) -> None:
    if target == "make" and what in ("PATH", "everything", "stdout", "all streams"):
        pytest.skip("make itself finds no shell, or nowhere to write")
    if what == "names of files" and os.geteuid():
        pytest.skip("only root can read files that nobody may read")
    place = Place(tmp_path, document, target)
    done = through_shell(place, MISSING[what], *words_of(place)).exits(0)
    assert "Traceback" not in done.err
    assert "rror" not in done.err
    assert place.log() == ["one", "three"]
    assert "Traceback" not in through_shell(place, MISSING[what], "status").exits(0).err


@TARGETS
@pytest.mark.parametrize("after", ["> /dev/full", "2> /dev/full", "| true", "2>&1 | true", "> /dev/full 2>&1"])
def test_a_run_does_not_depend_on_its_readers(after: str, target: str, document: str, tmp_path: Path) -> None:
    if target == "make" and not after.startswith("2> "):
        pytest.skip("make itself ends where it cannot write")
    place = Place(tmp_path, document, target)
    assert "Traceback" not in through_shell(place, ":", *words_of(place), after=after).exits(0).err
    assert place.log() == ["one", "three"]
    assert "COMPLETE" in place.call("status").out.upper()


@BOTH
def test_a_status_that_cannot_be_written_is_told(target: str, tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN, target)
    place.call("run")
    done = through_shell(place, ":", "status", after="> /dev/full")
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert re.search("No space left|I/O error", done.err)  # the second one is of dash


@TARGETS
def test_a_shell_that_is_not_there_is_a_failure_with_a_line(target: str, document: str, tmp_path: Path) -> None:
    """M2: the outcome is FAIL."""
    place = Place(tmp_path / "place", document.replace("```sh\n", "```bash\n"), target)
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in TOOLS:
        if found := shutil.which(name):
            (tools / name).symlink_to(found)
    done = through_shell(place, ":", *words_of(place), PATH=str(tools))
    assert (done.code, "rdc: STOP" in done.out + done.err) == ((2 if target == "make" else 1), True), done
    assert re.search("cannot find bash on PATH|bash: No such file|bash was not found", done.err)
    assert place.log() == []


@pytest.mark.parametrize("path", ["", "/nowhere"])
@BOTH
def test_without_any_tools_the_reason_is_told(path: str, target: str, tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN, target)
    done = through_shell(place, f"PATH={path}; export PATH", *words_of(place))
    patterns = {"make": "not found", "python": "(ba)?sh was not found"}
    assert done.code == {"make": 2, "python": 1}[target]
    assert re.search(patterns[target], done.out + done.err)
    assert place.log() == []


@BOTH
def test_a_long_environment_is_no_obstacle(target: str, tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN, target)
    large = {f"LARGE_{number}": "x" * 100_000 for number in range(8)}
    assert place.call(*words_of(place), **large).code == 0
    assert place.log() == ["one", "three"]


@BOTH
def test_an_environment_that_leaves_no_room_for_a_command_is_told(target: str, tmp_path: Path) -> None:
    """The system refuses to start the command. The Python program can tell that from a failure of the command."""
    place = Place(tmp_path, PLAIN.replace("echo one", f": {'y' * 60_000}; echo one"), target)
    large = {f"LARGE_{number}": "x" * 120_000 for number in range(17)}
    try:
        done = place.call("run", **large)
    except OSError:
        pytest.skip("not even the program itself can be started with so much")
    if place.log() == ["one"]:
        pytest.skip("this system has room for it")
    assert done.code == 2
    assert re.search("Argument list too long|too long", done.err + done.out)
    if target == "python":
        assert re.search(r"shrink the environment \([\d,]{9} bytes\) or free resources, then: .* resume", done.err)
        assert place.call("resume").code == 0
        assert place.log() == ["one", "three"]


@pytest.mark.parametrize("verb", ["run", "status", "resume"])
@BOTH
def test_in_a_folder_that_was_deleted_nothing_is_done(verb: str, target: str, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW, target)
    gone = tmp_path / "gone"
    gone.mkdir()
    words = ["-f", str(place.script), verb] if target == "make" else [verb]
    done = through_shell(place, "cd gone && rmdir ../gone", *words)
    assert "Traceback" not in done.err
    if target == "python":
        assert (done.code, done.last) == (2, "rdc: error: the current directory: No such file or directory")
    elif verb == "run":
        assert (done.code, "rdc: error: cannot create .rdc/main.make" in done.out) == (2, True)
    assert place.log() == []


def test_the_journal_never_becomes_the_output_of_a_command(tmp_path: Path) -> None:
    """A file that is opened takes the number of a stream that is closed, if nothing else has it."""
    place = Place(tmp_path, FLOW.replace("echo one", "echo loud; echo loud >&2; echo one"), "python")
    for closed in ("exec >&-", "exec 2>&-", "exec <&- >&- 2>&-"):
        shutil.rmtree(place.state, ignore_errors=True)
        through_shell(place, closed, *words_of(place))
        assert b"\nloud" not in place.journal.read_bytes()
        assert place.call("status").code == 0
