"""What a person who is asked sees of the step before: the end of its output, on a terminal and elsewhere."""

import json
from pathlib import Path
from typing import Any

import pytest

from runtime_shim.operator.logs import last_lines
from tests.runtime_shim.operator import at_terminal, codes, facts_of, logs, talk
from tests.support.process import Place, ask, kill, program, shell, wait_until

pytestmark = pytest.mark.process

JUDGED = {
    "1": shell("seq 1 30; printf '\\033[31mred\\033[0m\\n'; exit 3", "3", "2"),
    "2": ask("3"),
    "3": shell("true", "COMPLETE"),
}


def test_a_question_shows_the_end_of_the_output_before_it(tmp_path: Path) -> None:
    place = Place(tmp_path, program(JUDGED))
    done = place.run("run", "--logs")
    shown = [f"    | {number}" for number in range(12, 31)]
    assert "\n".join([*shown, "    | red", "    Look at it."]) in done.err
    assert "    | 11\n" not in done.err
    status = place.run("status").out
    assert "        exit code 3\n" in status
    assert "        | 30\n        | red\n" in status
    assert ("| 12\n" in status, "| 11\n" in status) == (True, False)
    assert "\033" not in done.err + status
    assert facts_of(place)["output"].splitlines()[-2:] == ["30", "red"]


def test_logs_are_kept_and_shown_if_the_operator_or_the_program_says_so(tmp_path: Path) -> None:
    place = Place(tmp_path, program(JUDGED))
    assert "    | " not in place.run("run").err
    assert facts_of(place)["output"] == ""
    assert not (place.journal.parent / "logs").exists()
    place.write(program(JUDGED, logs=True))
    assert place.run("reset").code == 0
    assert "    | red\n" in place.run("run").err


def test_logs_stay_for_the_rest_of_a_run(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": shell("echo late", "3"), "3": ask("COMPLETE")}))
    place.run("run", "--logs")
    place.run("answer", "1", "pass")
    resumed = place.run("resume")
    assert "    | late\n" in resumed.err
    assert "--logs" not in resumed.err, "later calls need no option"
    place.run("answer", "3", "pass")
    place.run("resume")
    place.run("run")
    place.run("answer", "1", "pass")
    assert "    | late\n" not in place.run("resume").err, "another run has its own setting"


def test_a_command_keeps_its_terminal_only_as_long_as_there_is_one(tmp_path: Path) -> None:
    steps = {"1": shell("test -t 1 && test -t 2 && stty size <&1; exit 0", "2"), "2": ask("COMPLETE")}
    place = Place(tmp_path, program(steps))
    screen = at_terminal(place, "run", "--logs")
    screen.expect(r"1 Work\S*\n[0-9]+ [0-9]+\n")
    screen.expect(r"    \| [0-9]+ [0-9]+\n    Look at it\.")
    talk(screen, r"\[pass/fail\] ", "p\n")
    assert screen.close() == 0
    assert logs(place)["001-1.log"].split() == screen.seen.split("1 Work")[1].split()[1:3]
    assert "\r" not in logs(place)["001-1.log"]
    assert place.run("run", "--logs").out == "", "a pipe is a pipe"


def test_a_killed_run_keeps_its_setting_and_its_output(tmp_path: Path) -> None:
    command = "echo here; test -e begun || { touch begun; exec sleep 60; }"
    place = Place(tmp_path, program({"1": ask("2"), "2": shell(command, "3"), "3": ask("COMPLETE")}))
    place.run("run", "--logs")
    place.run("answer", "1", "pass")
    process = place.start("resume")
    wait_until(lambda: (tmp_path / "begun").exists() and "here\n" in logs(place).values())
    kill(process)
    assert "    | here\n    | here\n" in place.run("resume", "--rerun-interrupted").err
    assert place.walk() == ["1 pass", "2 pass"]


def test_output_is_shown_as_a_terminal_leaves_it() -> None:
    for output, shown in {
        "": "",
        "a\rb\rdone\n": "done",
        "one\r\ntwo\r\n": "one\ntwo",
        "\033]0;title\007text \033]8;;http://x\033\\link": "text link",
        "a\u202eb\033[2J\033Pq\033\\": "a?b?Pq?\\",
        "x" * 300: "x" * 200,
        "\n".join(map(str, range(99))): "\n".join(map(str, range(79, 99))),
    }.items():
        assert last_lines(output) == shown


def test_a_secret_that_a_color_cuts_is_masked(tmp_path: Path) -> None:
    steps = {"1": shell("printf 'hun\\033[31mter2\\n'; exit 1", "STOP", "2"), "2": ask("COMPLETE")}
    place = Place(tmp_path, program(steps, secrets=["TOKEN"]))
    assert "    | ***\n" in place.run("run", "--logs", TOKEN="hunter2").err
    assert "    | ***\n" in place.run("status", TOKEN="hunter2").out
    report = place.run("report", TOKEN="hunter2").out
    assert "\n***\n" in report
    assert "hunter2" not in report + place.run("report", "--json", TOKEN="hunter2").out


def test_the_log_of_a_step_survives_its_new_name(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo built", "2"), "2": ask("COMPLETE")}))
    place.run("run", "--logs")
    place.write(program({"build": shell("echo built", "2"), "2": ask("COMPLETE")}))
    assert "    | built\n" in place.run("resume", "--adopt").err
    assert "        | built\n" in place.run("status").out


def test_an_archived_run_has_its_logs(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("cat said; exit 1", "COMPLETE")}))
    (tmp_path / "said").write_text("before\n")
    assert place.run("run", "--logs").code == 1
    (tmp_path / "said").write_text("now\n")
    first = place.records()[0]["run"]
    assert place.run("run", "--logs").code == 1
    assert "        | before\n" in place.run("history", first).out
    assert "        | now\n" in place.run("status").out


def test_the_answer_of_an_agent_is_its_output(tmp_path: Path) -> None:
    agent: dict[str, Any] = {"task": "agent", "agent": "", "prompt": "Say it.", "words": ["pass", "fail"]}
    place = Place(tmp_path, program({"1": {**shell("", "2"), **agent}, "2": ask("COMPLETE")}))
    done = place.run("run", "--logs", RDC_AGENT="cat > given; echo pass; echo loud >&2")
    assert "    | pass\n    Look at it." in done.err
    assert logs(place) == {"001-1.log": "pass\n"}


def test_a_notice_stays_for_the_rest_of_a_run(tmp_path: Path) -> None:
    steps = {"1": ask("2"), "2": ask("3"), "3": ask("4"), "4": ask("COMPLETE")}
    place = Place(tmp_path, program(steps, notify="cat >> document"))
    assert codes(place, "run", "answer 1 pass --resume") == [75, 75]
    assert place.text("document").count("\n") == 2
    assert '"notify"' not in place.journal.read_text(), "that of a document is not the operator's own"
    place.run("answer", "2", "pass")
    place.run("resume", "--notify", "cat >> mine")
    assert codes(place, "answer 3 pass", "resume") == [0, 75]
    answered = place.run("answer", "4", "pass", "--events", "events")
    assert (answered.last, "resume" in answered.err) == ("rdc: COMPLETE all done", False)
    told = [json.loads(line)["event"] for name in ("mine", "events") for line in place.text(name).splitlines()]
    assert told == ["run_waiting", "run_waiting", "run_finished", "step_finished", "run_finished"]
    place.run("resume")
    assert (place.text("document").count("\n"), place.text("mine").count("\n")) == (2, 3), "the end is told once"


def test_a_notice_of_an_earlier_call_is_shown_before_it_runs(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": ask("COMPLETE")}))
    shown = "    notify: cat >> '?[2J' (kept from an earlier call)\n"
    words = ("--notify", "cat >>\n '\033[2J'")
    assert "kept from" not in place.run("run", *words).err
    assert place.run("answer", "1", "pass", "--resume").err.count(shown) == 1
    place.run("answer", "2", "pass")
    assert "kept from" not in place.run("resume", *words).err


def test_a_notice_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("COMPLETE")}, secrets=["TOKEN"]))
    place.run("run", "--notify", "echo hunter2 >> noticed", TOKEN="hunter2")
    assert place.text("noticed") == "hunter2\n"
    assert "hunter2" not in place.journal.read_text()
