"""Who and why, several runs and their archives, secrets, and what generated files can do of all that."""

import json
import os
import shutil
from pathlib import Path

import pytest

from compiler.ir.edges import Keep
from compiler.ir.program import Constant
from compiler.ir.tasks import Ask
from compiler.ir.texts import text
from tests.runtime_shim.operator import TWO, at_terminal, codes, talk, unchanged, waiting
from tests.support.process import Place, ask, program, shell, wait_until
from tests.support.runtime_programs import Compiled, edge, node, sh
from tests.support.runtime_programs import program as compiled

pytestmark = [pytest.mark.process, pytest.mark.share(3)]


def test_an_answer_says_who_gave_it(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    assert place.run("answer", "2", "pass", "--note", "looks fine", LOGNAME="bob").code == 0
    assert {key: place.records()[3][key] for key in ("by", "note")} == {"by": "bob", "note": "looks fine"}
    assert "        by bob: looks fine\n" in place.run("status").out
    assert json.loads(place.run("status", "--json").out)["finished"][1]["by"] == "bob"


@pytest.mark.parametrize(("how", "kind"), [(("--rerun-interrupted",), "resume"), (("--assume", "pass"), "done")])
def test_a_decision_about_an_interrupted_step_is_signed_once(how: tuple[str, ...], kind: str, tmp_path: Path) -> None:
    command = "[ -e again ] || { touch again; kill -KILL $PPID; sleep 0.2; }"
    place = Place(tmp_path, program({"1": shell(command, "2"), "2": shell("true", "COMPLETE")}))
    place.run("run")
    wait_until(lambda: "--assume pass" in place.run("status").out)
    assert place.run("resume", *how, "--by", "eve").code == 0
    assert [record["kind"] for record in place.records() if "by" in record] == [kind]
    assert "by eve" in place.run("status").out


def test_who_and_why_are_a_line_each(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    bad = {"--by": ["a\nb", "\x1b[31mred", "", "x" * 201], "--note": ["a\tb", "a\nb", "", "x" * 2001, "\u202e"]}
    with unchanged(place):
        for option, text in ((option, text) for option, texts in bad.items() for text in texts):
            for call in (("goto", "3"), ("answer", "2", "pass"), ("retry",)):
                refused = place.run(*call, option, text)
                assert (refused.code, option in refused.last, "\x1b" in refused.err) == (2, True, False)


def test_a_signature_without_a_decision_is_refused(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    with unchanged(place):
        for words in (("--by", "ann"), ("--note", "why")):
            refused = place.run("resume", *words)
            assert (refused.code, f"{words[0]} signs a decision" in refused.last) == (2, True)


def test_an_answer_at_the_terminal_says_whose_it_is(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": ask("COMPLETE")}))
    screen = at_terminal(place, LOGNAME="ann")
    talk(screen, r"pass\? \[pass/fail\]", "p\n", r"pass\? \[pass/fail\]", "\x04")
    assert screen.close() == 75
    screen = at_terminal(place, "resume", "--by", "bob", LOGNAME="ann")
    talk(screen, r"pass\? \[pass/fail\]", "p\n")
    assert screen.close() == 0
    assert [record["by"] for record in place.records() if record["kind"] == "done"] == ["ann", "bob"]


def test_runs_with_names_stand_beside_each_other(tmp_path: Path) -> None:
    place = waiting(tmp_path)
    other = place.run("run", "--as", "blue")
    assert other.code == 75
    assert "answer 2 pass --as blue" in other.err
    place.run("answer", "2", "pass", "--as", "blue")
    assert place.run("resume", "--as", "blue").code == 0
    listed = place.run("status", "--all").out.splitlines()
    assert [line.split()[:2] for line in listed] == [["-", "WAITING"], ["blue", "COMPLETE"]]
    assert {path.name for path in (tmp_path / ".rdc").iterdir()} == {"deploy", "deploy@blue"}


def test_the_name_of_a_run_is_no_path(tmp_path: Path) -> None:
    place = Place(tmp_path, TWO)
    for name in ("..", "a/b", "", ".hidden", "a b", "x" * 65, "-x", "a\nb"):
        assert place.run("run", f"--as={name}").code == 2
    assert not (tmp_path / ".rdc").exists()


def test_history_lists_and_prunes_what_is_archived_alone(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell('exit "${BAD:-0}"', "COMPLETE")}))
    for bad in ("0", "1", "0"):
        place.run("run", "--logs", BAD=bad)
    history = place.journal.parent / "history"
    (first,) = (path for path in history.iterdir() if path.is_file() and b"all done" in path.read_bytes())
    os.utime(first, (0, 0))
    listed = place.run("history").out
    assert [line.split()[3] for line in listed.splitlines()] == ["COMPLETE", "STOP", "COMPLETE"]
    assert listed.count("this version") == 3
    assert place.run("history", "--prune", "99999h").out == "Deleted 1 of 2 archived runs.\n"
    assert place.run("history", "--prune", "many").code == 2
    live = place.journal.read_bytes()
    assert place.run("history", "--prune", "0").out == "Deleted 1 of 1 archived runs.\n"
    assert list(history.iterdir()) == [], "what belonged to them goes too"
    assert place.journal.read_bytes() == live


def test_prune_deletes_no_file_that_is_no_archive_and_follows_no_link(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("true", "COMPLETE")}))
    assert codes(place, "run --logs", "run") == [0, 0]
    history = place.journal.parent / "history"
    (history / "notes.txt").write_text("mine")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "log").write_text("mine")
    (journal,) = (path for path in history.iterdir() if path.suffix == "" and path.is_file())
    (logs_,) = history.glob("*.logs")
    shutil.rmtree(logs_)
    logs_.symlink_to(tmp_path / "elsewhere")
    assert len(place.run("history").out.splitlines()) == 2
    history.rename(tmp_path / "moved")
    history.symlink_to(tmp_path / "moved")
    refused = place.run("history", "--prune", "0")
    assert (refused.code, "history is a link" in refused.last) == (2, True)
    assert len(list((tmp_path / "moved").iterdir())) == 3
    history.unlink()
    (tmp_path / "moved").rename(history)
    assert place.run("history", "--prune", "0").out == "Deleted 1 of 1 archived runs.\n"
    assert not journal.exists()
    assert (history / "notes.txt").exists()
    assert (tmp_path / "elsewhere" / "log").exists()


SECRET = compiled(
    node("0", sh('echo "$TOKEN $KEY" | tr a-z A-Z; echo "out=$TOKEN" > "$RDC_OUTPUT"; exit 1'),
         edge("1", None, Keep("out", "output", "out"))),
    node("1", sh('printf "%s" "$MODE" > mode; echo "$KEY" ; false'), edge("STOP"),
         constants=(Constant("MODE", "a 'b'\n$x"),)),
    secrets=("TOKEN", "KEY"), slots=("out",),
)  # fmt: skip


def test_secrets_are_kept_nowhere(tmp_path: Path) -> None:
    place = Compiled(tmp_path, SECRET)
    place.bundle(operator="full")
    refused = place.run("run", TOKEN="")
    remedy = "set these environment variables to at least four characters, then run again"
    assert refused.last == f"rdc: error: secrets are missing: TOKEN, KEY; {remedy}"
    assert (refused.code, place.journal.exists()) == (2, False), "nothing begins"
    values = {"TOKEN": "hunter2", "KEY": "first line\nhunter22"}
    place.run("run", "--logs", "--events", "events", "--notify", "cat > notices", cwd=None, **values)
    assert place.text("mode") == "a 'b'\n$x"
    assert place.slots()["out"] == "***"
    stored = "".join(path.read_text() for path in place.journal.parent.rglob("*") if path.is_file())
    stored += place.text("events") + place.text("notices") + place.run("status").out + place.run("status", "--json").out
    assert "***" in stored
    for secret in ("hunter2", "first line"):
        assert secret not in stored
    assert place.run("goto", "0", "--note", "it was hunter22", cwd=None, **values).code == 0
    assert place.records()[-1]["note"] == "it was ***"
    missing = place.run("resume", TOKEN="x").last
    assert missing.startswith("rdc: error: secrets are missing: KEY; set these environment variables ")
    assert missing.endswith(", then resume again")
    assert "hunter2" not in place.run("resume", "--logs", TOKEN="a", KEY="b").err


@pytest.mark.parametrize("runtime", ["bundled", "shared"])
def test_generated_files_can_do_it_too(runtime: str, tmp_path: Path) -> None:
    commands = compiled(node("1", sh("touch x; exit 3"), edge("2", "pass"), edge("STOP")), node("2", sh("touch y")))
    place = Compiled(tmp_path, commands)
    place.bundle(runtime=runtime, operator="full")
    assert place.run("run", "--logs", "--notify", "true", "--as", "a").code == 1
    assert "exit code 3" in place.run("status", "--as", "a").out
    assert codes(place, "goto 2 --as a", "resume --as a", "run --prompted") == [0, 0, 75]
    (tmp_path / "answers").write_text("1 pass\npass\n")
    assert place.run("resume", "--answers", "answers").code == 0
    assert "COMPLETE" in place.run("status", "--all").out
    assert place.run("history", "--as", "b").out == "No run has ended here.\n"
    assert " COMPLETE " in place.run("history").out
    assert "# " in place.run("report").out
    for command in ("goto", "answer", "history"):
        assert "--as NAME" in place.run(command, "--help").out
    assert "goto" in place.run("--help").out


@pytest.mark.parametrize("runtime", ["bundled", "shared"])
def test_a_basic_program_has_none_of_it(runtime: str, tmp_path: Path) -> None:
    place = Compiled(tmp_path, compiled(node("1", sh("exit 1"))))
    place.bundle(runtime=runtime, operator="basic")
    assert place.run("run", "--notify", "true").last.startswith("rdc: error: unknown argument --notify")
    assert place.run("run", "--as", "x").last.startswith("rdc: error: unknown argument --as")
    assert codes(place, "run", "status") == [0, 0]


def test_a_run_continues_with_another_edition_and_says_so(tmp_path: Path) -> None:
    place = Compiled(tmp_path, compiled(node("1", Ask("pass_fail", text("Well?")))))
    place.bundle()
    assert place.run("run").code == 75
    place.bundle(operator="full")
    assert place.run("answer", "1", "pass").code == 0
    done = place.run("resume")
    assert done.code == 0
    assert "rdc: started with edition commands " in done.err
    assert ", continues with agents " in done.err
    assert "--agent COMMAND" in place.run("run", "--help").out, "whose questions an agent can answer"
    assert place.run("run", "--agent", "cat >&2; echo thinking; sleep 0.1; echo PASS").code == 0
    assert place.text(".rdc/deploy/answers/1.1") == "thinking\nPASS"
