"""The state of a Makefile's run: read word by word, never executed, and refused where it is not what the loop wrote."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.backends.make.loops import RUN, code, ending
from tests.support.makefiles import FLOW, PATIENCE, PLAIN, SLOW, Place, kill_all
from tests.support.runbooks import command, question

pytestmark = [pytest.mark.process, pytest.mark.share(3)]

STATE = ".rdc/main.make"
ASKS = (
    "# Shelves\n\n"
    "## {N}. Shelf\n\n"
    + command("### {N}.1 Look", 'echo "look {N}" >> log', shell="sh")
    + question("### {N}.2 More", "More shelves than {N}?", "YES: GOTO NEXT {N}", 'NO: COMPLETE "{N} shelves"')
    + command("Other Do something else", "echo other >> log", shell="sh")
)
EVIL = [
    "$(touch canary)", "`touch canary`", "x;touch canary", "'$(touch canary)'", "x}$(touch canary)",
    "a[$(touch canary)]",
]  # fmt: skip
NUMBERS = ["", "-1", "+1", "0x1", "08", "1 1", "1.5", "999999999999999", "1" * 400, "*", "?", "N", *EVIL]
STEPS = ["", "1", "{N}", "{N}.1 {N}.2", "*", "{N}.*", "[{]N}.2", "other", "Other Other", "../x", "-n", *EVIL]


@pytest.fixture(scope="module")
def shelves(tmp_path_factory: pytest.TempPathFactory) -> Place:
    place = Place(tmp_path_factory.mktemp("shelves"), ASKS)
    assert (code(place.make()), ending(place.make("REPLY=yes"))) == (75, (75, "rdc: WAITING {N}.2"))
    return place


def is_refused(place: Place) -> None:
    before, log = (place.folder / RUN).read_bytes(), place.lines("log")
    for words in (["resume", "REPLY=yes"], ["run"]):
        done = place.make(*words)
        assert (code(done), done.stdout.splitlines()[-1][:12]) == (2, "rdc: error: "), (before, words, done)
        assert ((place.folder / RUN).read_bytes(), place.lines("log")) == (before, log), words
    if b"canary" in before:
        for word in ("status", "help", "-n"):
            place.make(word)
    assert not list(place.folder.rglob("canary*")), before


def forged(place: Place, *texts: str | bytes) -> None:
    path = place.folder / RUN
    whole, log = path.read_bytes(), place.lines("log")
    for text in texts[:-1]:
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = place.make("resume", "REPLY=yes")
        assert (code(done), done.stdout.splitlines()[-1][:12]) == (2, "rdc: error: "), (text, done)
        assert place.lines("log") == log, text
    path.write_bytes(texts[-1] if isinstance(texts[-1], bytes) else texts[-1].encode())
    is_refused(place)
    path.write_bytes(whole)


def lines_of(place: Place) -> dict[str, str]:
    return dict(line.split(" ", 1) for line in (place.folder / RUN).read_text(encoding="utf-8").splitlines())


def with_line(place: Place, name: str, value: str) -> str:
    return "".join(f"{each} {value if each == name else old}\n" for each, old in lines_of(place).items())


def test_it_has_a_line_for_the_program_the_run_the_step_and_each_counter(shelves: Place) -> None:
    lines = lines_of(shelves)
    assert list(lines) == ["id", "run", "at", "tries", "N"]
    assert (lines["at"], lines["tries"], lines["N"]) == ("{N}.2", "0", "2")


@pytest.mark.parametrize(
    ("name", "values"), [("run", NUMBERS), ("tries", NUMBERS), ("N", NUMBERS), ("at", STEPS), ("id", EVIL)]
)
def test_a_line_with_another_value_is_refused(name: str, values: list[str], shelves: Place) -> None:
    forged(shelves, *(with_line(shelves, name, value) for value in values))
    assert not list(shelves.folder.rglob("canary*"))


def test_lines_that_are_missing_doubled_swapped_or_added_are_refused(shelves: Place) -> None:
    lines = (shelves.folder / RUN).read_text(encoding="utf-8").splitlines(keepends=True)
    texts: list[list[str]] = []
    for number, line in enumerate(lines):
        before, rest = lines[:number], lines[number + 1 :]
        word, value = line.split()
        texts += [[*before, *rest], [*before, line, line, *rest]]
        texts.append([*before, *rest[:1], line, *rest[1:]] if rest else [lines[-1], *lines[:-1]])
        added = ["PATH /tmp\n", "\n"][number % 2]
        texts += [[*before, added, line, *rest], [*before, f"x{line}", *rest], [*before, f"{word} {value} x\n", *rest]]
        cut = len(word) // 2 or 1
        texts += [[*before, f"{word[:cut]} 7 {word[cut:]}\n", *rest]] * (len(word) > 1)
    texts += [[*lines, added] for added in ("end COMPLETE\n", "code 0\n", "N 1\n", "\n", "x", "$(touch canary) 1\n")]
    forged(shelves, *map("".join, texts))


def test_bytes_that_the_loop_does_not_write_are_refused(shelves: Place) -> None:
    whole = (shelves.folder / RUN).read_bytes()
    changed = [whole.replace(b"\n", b"\r\n"), whole.replace(b"id ", b"id \0x", 1), whole + b"N 1\n" * 20_000]
    forged(shelves, *changed, b"", whole[:-9])


def test_a_number_that_fits_is_taken_as_it_is(tmp_path: Path) -> None:
    place = Place(tmp_path, ASKS)
    place.make()
    (tmp_path / RUN).write_text(with_line(place, "N", "7"), encoding="utf-8")
    assert ending(place.make("REPLY=no")) == (0, "rdc: COMPLETE 7 shelves")


CHANGES = {
    "a command": FLOW.replace("echo build", "echo make"),
    "a comment": FLOW + "\n<!-- more -->\n",
    "another document": "# Other\n\n## 1. Ask\n\nIs it?\n",
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_state_of_another_version_is_refused_with_what_to_do(change: str, flow: Place) -> None:
    flow.make()
    flow.write(CHANGES[change], {})
    is_refused(flow)
    assert "make clean" in flow.make().stdout
    assert (flow.make("clean").returncode, code(flow.make())) == (0, 75)


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A run that was killed with its second step, which would be quick now."""
    place = Place(tmp_path_factory.mktemp("cut"), SLOW)
    process = place.start()
    kill_all(process.pid)
    process.communicate(timeout=PATIENCE)
    (place.folder / "quick").touch()
    return place


@pytest.mark.parametrize("pid", ["$(touch canary)", "", "1 2", "-1", "0", "x", "1", "9" * 30])
def test_the_number_of_a_process_is_neither_executed_nor_signaled(pid: str, cut_off: Place, tmp_path: Path) -> None:
    shutil.copytree(cut_off.folder, tmp_path, symlinks=True, dirs_exist_ok=True)
    (tmp_path / STATE / "pid").write_text(f"{pid}\n", encoding="utf-8")
    place = Place(tmp_path, SLOW)
    done = place.make("resume", "RERUN=yes")
    assert ("still runs" in done.stdout) == (pid in ("0", "1")), done
    assert place.lines("log") == (["build"] if pid in ("0", "1") else ["build", "ship"])
    assert not list(tmp_path.rglob("canary*"))


def contents(path: Path) -> dict[Path, bytes]:
    """The files in a folder, or the one file."""
    return {each: each.read_bytes() for each in (path, *path.rglob("*")) if each.is_file()}


@pytest.mark.parametrize("name", ["", "run", "run.new", "log", "pid", ".gitignore"])
@pytest.mark.parametrize("target", ["file", "nothing"])
def test_a_link_in_the_state_is_refused(name: str, target: str, flow: Place) -> None:
    flow.make()
    link, elsewhere = flow.folder / STATE / name, flow.folder / "elsewhere"
    if link.exists():
        link.rename(elsewhere)
    elif target == "file":
        elsewhere.write_text("mine\n")
    if target == "nothing":
        subprocess.run(["rm", "-rf", str(elsewhere)], check=True)
    link.symlink_to(elsewhere)
    before = contents(elsewhere)
    for words in (["resume", "REPLY=yes"], []):
        refused = flow.make(*words)
        assert (code(refused), "is a link" in refused.stdout) == (2, True), refused
        assert contents(elsewhere) == before
    flow.make("clean")
    assert flow.lines("log") == ["build"]


@pytest.mark.parametrize("verb", ["run", "resume", "clean"])
def test_a_link_in_the_place_of_all_states_is_refused(verb: str, flow: Place) -> None:
    flow.make()
    (flow.folder / ".rdc").rename(flow.folder / "elsewhere")
    (flow.folder / ".rdc").symlink_to("elsewhere")
    before = contents(flow.folder / "elsewhere")
    flow.make(verb, "REPLY=yes")
    assert (contents(flow.folder / "elsewhere"), flow.lines("log")) == (before, ["build"])


def test_a_state_that_cannot_be_written_is_said_and_nothing_runs(flow: Place) -> None:
    (flow.folder / ".rdc").touch()  # where the folder should be
    assert (ending(flow.make()), flow.lines("log")) == ((2, f"rdc: error: cannot create {STATE}"), [])


@pytest.mark.parametrize(
    "command", ["rm -rf .rdc", "rm -rf .rdc; touch .rdc", "git init -q . && git clean -qfdx -e Makefile"]
)
def test_a_command_that_removes_the_state_ends_the_run(command: str, tmp_path: Path) -> None:
    place = Place(tmp_path, f"## 1. Clean\n\n```sh\n{command}\n```\n\n## 2. Ship\n\n```sh\necho ship >> log\n```\n")
    done = place.make()
    assert (code(done), done.stdout.splitlines()[-1][:11]) == (2, "rdc: error:"), done
    assert "step 1 ended with pass" in done.stdout
    assert place.lines("log") == []


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a file that nobody can change")
def test_a_full_disk_is_told_with_what_has_run(tmp_path: Path) -> None:
    blocks = f"echo build >> log; rm -f {STATE}/run.new; mkdir {STATE}/run.new"
    place = Place(tmp_path, PLAIN.replace("echo build >> log", blocks))
    done = place.make()
    advice = "run; step 1 ended with pass; if the disk is full, free some space, then: make"
    assert (code(done), done.stdout.endswith(f"{advice} ASSUME=pass\n"), place.lines("log")) == (2, True, ["build"]), (
        done
    )
    (tmp_path / STATE / "run.new").rmdir()
    assert ending(place.make("resume", "ASSUME=pass")) == (0, "rdc: COMPLETE")
    asking = Place(tmp_path, question("## 1. Ready", "Ready?", "YES: CONTINUE") + question("## 2. Sure", "Sure?"))
    assert code(asking.make()) == 75
    (tmp_path / STATE / "run.new").mkdir()
    again = f"{advice.removesuffix(': make')} answer it again: make\n"
    assert asking.make("REPLY=yes").stdout.endswith(again), "the answer is lost"


def test_git_takes_no_state_and_nobody_else_reads_it(flow: Place) -> None:
    subprocess.run(["git", "init", "-q", "."], cwd=flow.folder, check=True)
    flow.make()
    words = ["git", "status", "--porcelain", "--untracked-files=all"]
    shown = subprocess.run(words, cwd=flow.folder, capture_output=True, text=True, check=True).stdout
    assert "Makefile" in shown
    assert ".rdc" not in shown
    assert (flow.folder / STATE).stat().st_mode & 0o077 == 0
