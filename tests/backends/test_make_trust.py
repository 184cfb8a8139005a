"""What a Makefile does not believe: journals, what make is given, names that look alike; and texts byte for byte."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import cycle
from pathlib import Path

import pytest

from compiler.ir.edges import Add, Reset
from compiler.ir.program import Register, Variable
from tests.backends.makefiles import FLOW, PLAIN, Place, environment, last_line
from tests.backends.programs import Made, always, node, program, shell, when
from tests.backends.test_make_texts import said

pytestmark = pytest.mark.share(3)

EVIL = [
    "$(touch${IFS}canary)",
    "`touch${IFS}canary`",
    "x;touch${IFS}canary",
    "'$(touch${IFS}canary)'",
    "x}$(touch${IFS}canary)",
]
LINES = [
    "begin {} 1",
    "begin 2 {}",
    "begin 2 1 {}",
    "begin 2 1 {}=1",
    "begin 2 1 n={}",
    "begin 2 1 by {}",
    "begin 2 08 n=08",
    "begin 3 1",
    "end 1 {} 0 1",
    "end 1 pass {} 1",
    "end 1 pass 0 {}",
    "over {} {}",
    "run {} {} 2",
]


def counting(tmp_path: Path) -> Made:
    """A Makefile that counts, begun and killed."""
    whole = program(
        node("1", shell("exit 1"), when("pass", "done"), when("fail", "2", Add("n", 1))),
        node("2", shell("kill -9 $PPID"), always("1", Reset("s")), variables=(Variable("N", "n"),)),
        registers=(Register("n", "s"),),
    )
    made = Made(tmp_path, whole)
    made.make()
    return made


@pytest.mark.share(6)
@pytest.mark.parametrize("evil", EVIL)
def test_nothing_of_a_journal_is_evaluated(evil: str, tmp_path: Path) -> None:
    made = counting(tmp_path)
    path = made.state / "journal"
    whole = path.read_text(encoding="utf-8").splitlines()
    assert len(whole) == 4, whole
    verbs = ["status", "resume", "answer", "run"]
    for number, line in enumerate(LINES, EVIL.index(evil)):
        said = line.format(evil, evil)
        kept = whole[: {"e": 2, "o": 4}.get(said[0], 3)] if said[0] != "r" else []
        said = f"{len(kept) + 1} {said}"
        path.write_text("".join(f"{one}\n" for one in [*kept, f"{said} | {said}"]), encoding="utf-8")
        for words in ([verbs[number % 4]], ["resume", "ASSUME=fail"]):
            shutil.rmtree(made.state / "history", ignore_errors=True)
            made.make(*words)
            assert not list(tmp_path.rglob("canary*")), (said, words)
            if not path.exists() or not path.read_text(encoding="utf-8").endswith(f"{said} | {said}\n"):
                break


UNFIT = {
    4: [
        "begin 2 1 n=1",
        "begin 2 2",
        "begin 1 1",
        "begin 3 1",
        "begin 2",
        "end 1 pass 0 0",
        "end 2 pass 0 0",
        "over 0 STOP",
    ],
    5: [
        "begin 2 2",
        "end 1 pass 0 0",
        "end 2 maybe 0 0",
        "end 2 pass 08 0",
        "end 2 pass 0 x",
        "end 2 pass",
        "over 1 STOP",
    ],
}
"""Records that do not follow from those before them, by their numbers."""


def test_each_record_of_a_journal_has_to_fit_the_program(tmp_path: Path) -> None:
    made = counting(tmp_path)
    path = made.state / "journal"
    whole = path.read_text(encoding="utf-8").splitlines()
    assert whole[-1] == "4 begin 2 1 | 4 begin 2 1"
    verbs = cycle([["status"], ["resume", "RERUN=1"]])
    for number, records in UNFIT.items():
        for record in records:
            line = f"{number} {record}"
            text = "".join(f"{one}\n" for one in [*whole[: number - 1], f"{line} | {line}"])
            path.write_text(text, encoding="utf-8")
            assert f"journal:{number}: the journal is damaged" in made.end(*next(verbs)), record
            assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize(
    "text", ["AGENT:A;touch${IFS}canary", "AGENT:A}$(touch${IFS}canary)", "x;touch${IFS}canary:AGENT"]
)
def test_names_that_make_hands_over_are_not_evaluated(text: str, tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    for words, variables in (([f"RDC_GIVEN={text}"], {}), (["-e"], {"RDC_GIVEN": text})):
        place.make("status", *words, **variables)
        place.make("run", *words, **variables)
    assert not list(tmp_path.rglob("canary*"))


def test_names_that_differ_in_a_dot_or_a_dash_share_nothing(tmp_path: Path) -> None:
    names = ["a.b", "a_b", "a-b"]
    nodes = [
        node(name, shell(f"echo {name} >> log"), always(then))
        for name, then in zip(names, [*names[1:], "done"], strict=True)
    ]
    made = Made(tmp_path, program(*nodes))
    assert made.end() == "rdc: COMPLETE"
    assert made.read("log") == b"a.b\na_b\na-b\n"
    assert re.findall(r"^pass (\S+)", made.make("status").stdout.decode(), re.MULTILINE) == names
    journal = made.state / "journal"
    whole = journal.read_text(encoding="utf-8")
    journal.write_text(whole.splitlines()[0] + "\n2 begin a-b 1 | 2 begin a-b 1\n", encoding="utf-8")
    assert "the journal is damaged" in made.end("resume", "RERUN=1"), (
        "no step has this name, though one has its variables"
    )


def test_a_nul_in_a_journal_is_damage(tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    place.make()
    path = place.state / "journal"
    whole = path.read_bytes()
    ends, within = (whole + b"\0" * 9, 5), (whole.replace(b"pass", b"pas\0", 1), 3)
    for verb, (damaged, line) in zip(("status", "resume", "run"), (ends, within, (whole[:-1] + b"\0", 4)), strict=True):
        path.write_bytes(damaged)
        assert f"journal:{line}: the journal is damaged" in last_line(place.make(verb)), damaged
        assert path.read_bytes() == damaged
    assert place.lines("log") == ["build"]


@pytest.mark.parametrize("content", [b"yes\0\nyes\n", b"\0yes\nyes\n", b"2 yes\0no\nyes\n", b"2<<END\nyes\0\nEND\n"])
def test_a_nul_in_a_file_of_answers_is_refused(content: bytes, tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW)
    (tmp_path / "answers").write_bytes(content)
    assert last_line(place.make("ANSWERS=answers")).startswith("rdc: error: ")
    assert place.lines("log") == []


# --- State of others --------------------------------------------------------------------------------------------------


def test_a_journal_of_another_format_is_refused_with_what_to_do(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    place.make()
    path = place.state / "journal"
    first = path.read_text(encoding="utf-8").splitlines()[0].partition(" | ")[0].removesuffix(" 1") + " 2"
    path.write_text(f"{first} | {first}\n2 begin 1 1 | 2 begin 1 1\n", encoding="utf-8")
    for words in (["run"], ["resume"], ["status"]):
        refused = place.make(*words)
        assert refused.returncode
        assert re.match(r"rdc: error: .*make clean archives it$", last_line(refused)), words
    assert place.make("clean").returncode == 0
    assert place.make().returncode == 0


def test_a_finished_run_of_another_version_is_told_and_archived(tmp_path: Path) -> None:
    place = Place(tmp_path, PLAIN)
    place.make()
    before = (place.state / "journal").read_bytes()
    place.write(PLAIN.replace("echo ship", "echo send"), {})
    assert place.make("status").stdout == "over: COMPLETE, a run of another version of the Makefile\n"
    assert place.make("resume").returncode
    assert place.make().returncode == 0
    assert (place.state / "history" / "1" / "journal").read_bytes() == before
    assert place.lines("log") == ["build", "ship", "build", "send"]


@pytest.mark.parametrize("silent", [[], ["-s"], ["--no-print-directory"]], ids=["", "silent", "without folders"])
def test_hints_name_the_folder_that_make_was_told(silent: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "it's here"
    folder.mkdir()
    Place(folder, FLOW)
    words = ["make", *silent, "-C", str(folder)]
    done = subprocess.run(words, cwd=tmp_path, env=environment({}), capture_output=True, check=False, text=True)
    (hint,) = re.findall(r"to continue: (.*)", done.stderr)
    answer = re.findall(r"to answer: (.*yes)$", done.stderr, re.MULTILINE)
    for command in (*answer, hint):
        subprocess.run(["sh", "-c", command], cwd=tmp_path, env=environment({}), capture_output=True, check=False)
    stands = subprocess.run([*words, "-s", "status"], cwd=tmp_path, capture_output=True, check=False, text=True).stdout
    assert stands.splitlines()[-1] == "at 3 Look again"


# --- Commands byte for byte -------------------------------------------------------------------------------------------

EXACT = {
    "cr": "printf %s 'a\rb' > out\n#\r",
    "backslash": "printf %s a > out # \\",
    "backslashes": "printf %s 'a\\\\\\\nb' > out \\\\",
    "endef": "cat > out << 'X'\nendef\n endef # x\nX",
    "define": "cat > out << 'X'\ndefine do_1\n\tdefine x =\nX",
    "expansions": "printf %s '$(shell touch canary) $$@ ${x}' > out",
    "quotes": 'printf %s "it\'s \\"" > out\n',
    "blank lines": "\n\nprintf a > out\n\n\n",
    "others": "printf %s '\x01\x1b[2Jé\u202e' > out",
}


@pytest.mark.parametrize("command", EXACT.values(), ids=EXACT)
def test_a_command_is_run_byte_for_byte(command: str, tmp_path: Path) -> None:
    made = Made(tmp_path, program(node("1", shell(command, "bash"))))
    shim = tmp_path / "bin"
    shim.mkdir()
    (shim / "bash").write_text('#!/bin/sh\nprintf %s "$2" > given\n', encoding="utf-8")
    (shim / "bash").chmod(0o755)
    text = made.read("Makefile").decode()
    is_escaped = "define escaped_do_1\n" in text
    assert is_escaped == (re.search(r"endef|define|\r|\\$|\x1b", command) is not None)
    assert is_escaped != ("define do_1\n" in text)
    for words in ([], ["step-1"]):
        made.make(*words, PATH=f"{shim}:/usr/bin:/bin")
        assert made.read("given") == command.encode()
    assert not (tmp_path / "canary").exists()


# --- Shells and awks --------------------------------------------------------------------------------------------------

KILLED = "[ -e again ] || { touch again; kill -9 $PPID; }; echo build >> log"


def test_shells_and_awks_of_all_kinds_run_it(kind: dict[str, str], tmp_path: Path) -> None:
    place = Place(tmp_path, FLOW.replace("echo build >> log", KILLED))

    def make(*words: str) -> subprocess.CompletedProcess[str]:
        return place.make(kind["shell"], *words, PATH=kind["path"])

    assert "make step-4" in make("help").stdout
    assert make().returncode
    assert last_line(make("resume")) == "rdc: WAITING 1"
    assert last_line(make("status")).startswith("at 1 Build it")
    assert last_line(make("resume", "RERUN=1")) == "rdc: WAITING 2"
    with (place.state / "journal").open("a", encoding="utf-8") as journal:
        journal.write("6 en")
    assert make("answer", "STEP=2", "REPLY=yes").returncode == 0
    (tmp_path / "answers").write_text("3<<END\nyes\nEND\n", encoding="utf-8")
    done = make("resume", "ANSWERS=answers")
    assert last_line(done) == "rdc: COMPLETE Out it goes", done.stderr
    assert make("step-1").returncode == 0
    assert place.stands() == "pass 1\nyes 2\npass 3\npass 4\nover: COMPLETE\n"
    damaged = (place.state / "journal").read_text(encoding="utf-8").replace("end 2", "end 3", 1)
    (place.state / "journal").write_text(damaged, encoding="utf-8")
    assert "journal:6: the journal is damaged" in last_line(make("resume"))
    assert make("clean").returncode == make("unlock").returncode == 0


def test_shells_and_awks_of_all_kinds_carry_values(kind: dict[str, str], tmp_path: Path) -> None:
    made = Made(tmp_path, said())
    value = "it's $(touch x) \\ 100 %"
    assert made.end(kind["shell"], f"a={value}", PATH=kind["path"]) == "rdc: WAITING ask"
    assert made.make(kind["shell"], "answer", "STEP=ask", f"REPLY={value}", PATH=kind["path"]).returncode == 0
    assert made.end(kind["shell"], "resume", PATH=kind["path"]) == f"rdc: COMPLETE {value}|{value}"


def test_many_steps_are_left_to_the_driver(tmp_path: Path) -> None:
    steps = "".join(f"## {n}. Step {n}\n\n```sh\ntrue\n```\n\n" for n in range(1, 202))
    place = Place(tmp_path, f"# Many\n\n{steps}")
    assert "RDC_RULES" not in (tmp_path / "Makefile").read_text(encoding="utf-8")
    assert place.make("step-201").returncode == 0
