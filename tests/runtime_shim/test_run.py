"""Runs as an operator sees them: commands, prompts, state, exit codes."""

import json
import re
from pathlib import Path

import pytest

from runtime_shim.editions import main
from runtime_shim.engine.outcomes import Host
from runtime_shim.engine.state import Store
from tests.runtime_shim.operator import facts_of, waiting
from tests.support.process import LOOP, Place, ask, end, program, shell

pytestmark = pytest.mark.process

REVIEW = program({"1": shell("echo one >> log", "2"), "2": ask("3"), "3": shell("echo three >> log", "COMPLETE")})


def test_complete_and_stop_without_message(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": shell("echo out; echo err >&2", "COMPLETE")}))
    result = place.run("run")
    assert (result.code, result.out, result.last) == (0, "out\n", "rdc: COMPLETE all done")
    for shown in (r"err\n", r"\[1/1\] 1 Work\n", r"1 step run in \d+\.\d s\n"):
        assert re.search(shown, result.err)
    assert "\033" not in result.err
    table = program({"1": shell("exit 7", "COMPLETE")})
    table["nodes"]["STOP"]["message"] = ""
    place.write(table)
    result = place.run("run")
    assert (result.code, result.last) == (1, "rdc: STOP")
    assert "FAIL  exit code 7" in result.err


def test_outcome_of_commands(tmp_path: Path) -> None:
    for command, shell_name, outcome in (
        ("false; true", "bash", "pass"),
        ("kill -9 $$", "bash", "fail"),
        ("true", "no-such-shell", "fail"),
        ("[[ -n $BASH_VERSION ]]", "bash", "pass"),
        ("exit 255", "sh", "fail"),
        ('echo ok | cat; test -z "$-" || case $- in *e*) exit 1;; esac', "sh", "pass"),
        ("yes | head -1 > /dev/null; test ${PIPESTATUS[0]} = 141", "bash", "pass"),
        ("test \"$(ps -o pgid= -p $$ | tr -d ' ')\" = $$", "bash", "pass"),
    ):
        place = Place(tmp_path, program({"1": shell(command, "COMPLETE", shell=shell_name)}))
        result = place.run("run")
        assert (result.code, place.walk()) == (0 if outcome == "pass" else 1, [f"1 {outcome}"]), result.err


def test_environment_and_placeholders(tmp_path: Path) -> None:
    step = shell(
        "echo {1.1} ${N} $RDC_ATTEMPT $RDC_STEP_INSTANCE $MINE é >> log; echo $RDC_RUN_ID >> log; pwd >> log;"
        ' echo "$RDC_STEP|$RDC_TITLE" >> log',
        "COMPLETE", title='Item "{1.1}"', variables={"RDC_STEP_INSTANCE": "N"}, placeholders={"{1.1}": "N"},
    )  # fmt: skip
    table = program({"{N}": step}, {"N": 3})
    table["nodes"]["COMPLETE"].update(message="did {N}", placeholders={"{N}": "N"})
    place = Place(tmp_path, table)
    result = place.run("run", MINE="kept", N="shell", LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert result.last == "rdc: COMPLETE did 3"
    first, run_id, cwd, step_and_title = place.text("log").splitlines()
    assert step_and_title == '{N}|Item "3"'
    assert first == "3 shell 1 3 kept é"
    assert run_id == place.records()[0]["run"]
    assert Path(cwd).resolve() == tmp_path.resolve()
    assert re.search(r'\{N\} Item "3" \S+ instance 3', result.err)


def test_waits_answers_and_goes_on(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    waiting = place.run("run")
    assert (waiting.code, waiting.last) == (75, "rdc: WAITING 2 Review")
    assert f"{place.script} answer 2 pass" in waiting.err
    assert place.run("resume").code == 75
    for words, message in (
        (("answer", "1", "pass"), "1 is not waiting for an answer; 2 is"),
        (("answer", "2", "maybe"), "expected"),
        (("answer", "2"), "REPLY"),
    ):
        refused = place.run(*words)
        assert refused.code == 2
        assert message in refused.err
        assert len(refused.err.splitlines()) == 1
    answered = place.run("answer", "2", "YES")
    assert answered.code == 0
    assert f"{place.script} resume" in answered.last
    assert place.text("log") == "one\n", "an answer does not go on by itself"
    assert place.run("answer", "2", "pass").code == 2
    assert "READY at 3 Work" in place.run("status").out
    done = place.run("resume")
    assert (done.code, done.last) == (0, "rdc: COMPLETE all done")
    assert place.text("log") == "one\nthree\n"
    assert place.walk() == ["1 pass", "2 pass", "3 pass"]


def test_attempts_count_and_an_end_is_shown_again_until_its_run_is_archived(tmp_path: Path) -> None:
    place = Place(tmp_path, LOOP)
    result = place.run("run", "--events", "events")
    assert (result.code, place.text("log")) == (1, "1\n2\n3\n")
    assert "attempt 3" in result.err
    assert place.walk() == ["1 fail"] * 3
    events = [json.loads(line) for line in place.text("events").splitlines()]
    assert [event["attempt"] for event in events if "attempt" in event] == [1, 1, 2, 2, 3, 3]
    first, run = place.journal.read_bytes(), place.records()[0]["run"]
    again = place.run("resume")
    assert (again.code, again.last) == (1, "rdc: STOP gave up")
    assert place.journal.read_bytes() == first
    place.run("run")
    assert (tmp_path / ".rdc/deploy/history" / run).read_bytes() == first
    assert place.journal.read_bytes() != first


def test_unfinished_run_is_not_begun_anew(tmp_path: Path) -> None:
    place = waiting(tmp_path, REVIEW)
    before = place.journal.read_bytes()
    for words in ((), ("--assume", "fail"), ("--rerun-interrupted",)):
        result = place.run("run", *words)
        assert (result.code, result.last) == (2, "rdc: error: an unfinished run is at step 2")
        assert "deploy.py resume\n" in result.err
        assert "deploy.py reset" in result.err
    assert place.run("resume", "--assume", "pass").code == 75, "an assumption is no answer"
    assert place.journal.read_bytes() == before
    assert place.run("reset").code == 0
    assert not place.journal.exists()
    assert [path.read_bytes() for path in (tmp_path / ".rdc/deploy/history").iterdir()] == [before]
    assert place.run("run").code == 75


def test_wrong_use_and_help_begin_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    for command in (("resume",), ("answer", "1", "pass"), ("reset",)):
        refused = place.run(*command)
        assert (refused.code, "no run has started here" in refused.err) == (2, True)
    for words in (("walk",), ("run", "--assume", "perhaps"), ("run", "--stat", "x"), ("run", "extra"),
                  ("run", "two\nlines"), ("steps", "--dry-run")):  # fmt: skip
        refused = place.run(*words)
        assert (refused.code, len(refused.err.splitlines())) == (2, 1)
        assert refused.last.startswith("rdc: error: ")
    alone = place.run()
    assert (alone.code, alone.out) == (2, place.run("--help").out)
    assert re.fullmatch(r"rdc: error: missing subcommand; to start a run: .* run", alone.last)
    for called, usage in {"--help": "COMMAND", "run --help": "run", "run --dry-run -h": "run", "goto -h": "goto STEP",
                         "answer -h": "answer STEP REPLY", "history -h": "history [RUN]"}.items():  # fmt: skip
        shown = place.run(*called.split())
        assert (shown.code, shown.err) == (0, "")
        assert re.match(rf"usage: .*deploy.py {re.escape(usage)} \[OPTION\]\.\.\.\n", shown.out)
    assert not (tmp_path / ".rdc").exists()


def test_state_dir_and_start_directory(tmp_path: Path) -> None:
    place = Place(tmp_path, program({"1": ask("2"), "2": shell("pwd > log", "COMPLETE")}))
    other = tmp_path / "other"
    other.mkdir()
    assert "answer 1 pass --state-dir 'my state'" in place.run("run", "--state-dir", "my state").err
    assert not (tmp_path / ".rdc").exists()
    (tmp_path / "answers").write_text("pass\n")
    words = ("resume", "--state-dir", "../my state", "--answers", "../answers")
    assert place.run(*words, cwd=other).code == 0
    assert Path(place.text("log").strip()).resolve() == tmp_path.resolve()
    assert "COMPLETE" in place.run("status", "--state-dir", "my state").out


def test_status_and_steps(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    nothing = place.run("status").out
    assert "No run has started" in nothing
    assert "\n\n\n" not in nothing
    place.run("run")
    text = place.run("status")
    assert text.code == 0
    for shown in (
        "Deploy the service (deploy.runbook.md)",
        "WAITING at 2 Review",
        "PASS  1 Work",
        "deploy.py answer 2 pass",
    ):
        assert shown in text.out
    facts = facts_of(place)
    assert (facts["state"], facts["step"], facts["step_title"]) == ("waiting", "2", "Review")
    assert [(step["step"], step["outcome"], step["attempt"]) for step in facts["finished"]] == [("1", "pass", 1)]
    assert [line.split() for line in place.run("steps").out.splitlines()] == [
        ["STEP", "KIND", "TITLE", "SOURCE"],
        ["1", "shell", "Work", "deploy.runbook.md:3"],
        ["2", "ask", "Review", "deploy.runbook.md:9"],
        ["3", "shell", "Work", "deploy.runbook.md:3"],
    ]


def test_transitions_passed_on_the_way_are_told(tmp_path: Path) -> None:
    branch = {"title": "", "at": "x:1", "task": "branch", "edges": [{"go": "STOP", "says": "1 FAIL: STOP"}]}
    name = "1/release/lint.runbook.md/STOP"
    nested = end("stop", "lint {x} failed", placeholders={"{x}": "x"}, edges=[{"go": "1.1", "says": ""}])
    steps = {"0": shell("false", "1.1", name), name: nested, "1.1": shell("true", "1"), "1": branch}
    place = Place(tmp_path, program(steps, {"x": 4}))
    result = place.run("run", "--events", "events")
    assert f"    {name} lint 4 failed\n" in result.err, "a nested end goes on"
    assert re.search(r"PASS .*, CONTINUE, 1 FAIL: STOP\n", result.err)
    assert place.records()[-1]["says"] == "CONTINUE, 1 FAIL: STOP"
    assert '"says":"CONTINUE, 1 FAIL: STOP"' in place.text("events")
    assert "CONTINUE, 1 FAIL: STOP" in place.run("run", "--dry-run").out


def test_texts_are_cleaned(tmp_path: Path) -> None:
    nasty = "a\x1b[2Jb\x07c\x9bd\u202ee"
    table = program({"1": ask("COMPLETE", title=nasty, prompt=f"x\n\ty{nasty}", block=nasty)}, title=nasty)
    table["nodes"]["COMPLETE"]["message"] = f"{nasty}\nrdc: STOP"
    place = Place(tmp_path, table)
    outputs = [place.run("run"), place.run("status"), place.run("steps"), place.run("run", "--dry-run")]
    outputs += [place.run("answer", "1", "pass"), place.run("resume"), place.run("status"), place.run("--help")]
    for output in outputs:
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", output.out + output.err)
    assert "    x\n    \ty" in outputs[0].err
    assert outputs[5].last == "rdc: COMPLETE a?[2Jb?c?d?e rdc: STOP"


def test_ascii_streams(tmp_path: Path) -> None:
    table = program({"1": shell("true", "COMPLETE", title="Größe → ok")}, {"N": 1}, title="Straße")
    table["nodes"]["1"]["variables"] = {"RDC_STEP_INSTANCE": "N"}
    place = Place(tmp_path, table)
    for words in (("run",), ("status",), ("steps",)):
        result = place.run(*words, PYTHONIOENCODING="ascii")
        assert result.code == 0, result.err
        assert (result.out + result.err).isascii()


def test_events(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    place.run("run", "--events", "events")
    place.run("answer", "2", "pass", "--events", "events")
    place.run("resume", "--events", "events")
    place.run("resume", "--events", "events")
    events = [json.loads(line) for line in place.text("events").splitlines()]
    assert [(event["event"], event.get("step")) for event in events] == [
        ("run_started", None), ("step_started", "1"), ("step_finished", "1"), ("step_started", "2"),
        ("run_waiting", "2"), ("step_finished", "2"),
        ("run_started", None), ("step_started", "3"), ("step_finished", "3"), ("run_finished", None),
        ("run_started", None), ("run_finished", None),
    ]  # fmt: skip
    assert {event["run"] for event in events} == {place.records()[0]["run"]}
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", event["time"]) for event in events)
    finished = events[2]
    assert {key: finished[key] for key in ("title", "attempt", "instances", "outcome", "says", "next")} == {
        "title": "Work", "attempt": 1, "instances": {}, "outcome": "pass", "says": "CONTINUE", "next": "2",
    }  # fmt: skip
    assert (events[-1]["result"], events[-1]["message"]) == ("complete", "all done")


def test_dry_run_does_nothing(tmp_path: Path) -> None:
    place = Place(tmp_path, REVIEW)
    (tmp_path / "answers").write_text("fail\n")
    good = place.run("run", "--dry-run", "--events", "events")
    bad = place.run("run", "--dry-run", "--answers", "answers")
    assert (good.code, bad.code) == (0, 0)
    assert "echo three" in good.out
    assert good.out.endswith("The run would end: COMPLETE all done\n")
    assert "echo three" not in bad.out
    assert bad.out.endswith("The run would end: STOP gave up\n")
    assert place.text("log") == ""
    assert not (tmp_path / ".rdc").exists()
    assert not (tmp_path / "events").exists()


def test_dry_run_of_a_loop_ends(tmp_path: Path) -> None:
    loop = shell("true", "1", edges=[{"do": [["N", "+", 1]], "go": "1", "says": "GOTO NEXT"}])
    for step in (loop, {**loop, "variables": {"RDC_STEP_INSTANCE": "N"}}):
        shown = Place(tmp_path, program({"1": step}, {"N": 1})).run("run", "--dry-run").out
        assert shown.endswith("1 Work would repeat again. The dry run ends here.\n")
    asking = ask("COMPLETE", block='{"a": 1}', edges=[{"go": "COMPLETE", "says": ""}])
    out = Place(tmp_path, program({"1": asking})).run("run", "--dry-run").out
    assert out.startswith('1 Review\n    Look at it.\n    {"a": 1}\n  PASS (assumed)\n'), "what a step asks about"


def test_reader_that_goes_away(tmp_path: Path) -> None:
    place = Place(
        tmp_path,
        program({str(n): shell(f"echo {n} >> log", str(n + 1) if n < 30 else "COMPLETE") for n in range(1, 31)}),
    )
    process = place.start("run")
    assert process.stderr
    process.stderr.close()
    assert process.wait(20) == 0, "a log that nobody reads does not stop a run"
    assert place.text("log").count("\n") == 30
    assert process.stdout
    process.stdout.close()
    steps = place.start("steps")
    assert steps.stdout
    steps.stdout.close()
    assert steps.wait(20) in (0, 2)
    assert steps.stderr
    assert "Traceback" not in steps.stderr.read()
    steps.stderr.close()


@pytest.mark.parametrize(
    ("hook", "message", "hint"),
    [
        (
            'os.environ["BIG"] = "x" * 200_000',
            "Argument list too long",
            r"shrink the environment \(20\d,\d{3} bytes\) or free resources, then: ",
        ),
        (
            "def busy(*a, **k): raise OSError(11, 'Resource temporarily unavailable')\nos.posix_spawnp = busy",
            "Resource temporarily unavailable",
            r"shrink the environment \(\d,\d{3} bytes\) or free resources, then: ",
        ),
    ],
)
def test_a_command_that_cannot_be_started_has_no_outcome(tmp_path: Path, hook: str, message: str, hint: str) -> None:
    place = Place(tmp_path, program({"1": shell("echo one >> log", "2"), "2": shell("echo two >> log", "COMPLETE")}))
    script = place.script.read_text()
    place.hook(f"import os\n{hook}")
    result = place.run("run", USUAL="x" * 2_000)
    assert result.code == 2
    assert result.last == f"rdc: error: 1 Work was not started: {message}"
    assert re.fullmatch(f"rdc: {hint}.*deploy.py resume", result.err.splitlines()[-2])
    place.script.write_text(script)
    assert "READY at 1" in place.run("status").out
    assert place.run("resume").code == 0
    assert place.text("log") == "one\ntwo\n"


@pytest.mark.parametrize(("word", "outcome"), [("YES", "pass"), ("NO", "fail")])
def test_a_question_is_shown_with_the_answer_that_was_given(tmp_path: Path, word: str, outcome: str) -> None:
    place = Place(tmp_path, program({"1": ask("2", "2", question="yes/no"), "2": ask("COMPLETE", "COMPLETE")}))
    (tmp_path / "answers").write_text(f"1 {outcome}\n2 {outcome}\n")
    assert f"\n  {word} (answered" in place.run("run", "--dry-run", "--answers", "answers").out
    result = place.run("run", "--answers", "answers", "--events", "events")
    assert [line.split()[0] for line in result.err.splitlines() if "answered by" in line] == [word, outcome.upper()]
    assert place.walk() == [f"1 {outcome}", f"2 {outcome}"]
    events = [json.loads(line) for line in place.text("events").splitlines()]
    assert [event["outcome"] for event in events if "outcome" in event] == [outcome, outcome]
    status = place.run("status").out.splitlines()
    assert [line.split()[0] for line in status if "Review" in line] == [word, outcome.upper()]
    assert json.loads(place.run("status", "--json").out)["finished"][0]["outcome"] == outcome


def test_run_that_ends_while_its_status_is_read_was_not_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    table = program({"1": shell("true", "COMPLETE")})
    place = Place(tmp_path, table)
    assert place.run("run").code == 0
    whole = place.journal.read_bytes()
    place.journal.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))
    monkeypatch.setattr(Store, "is_busy", lambda _store: not place.journal.write_bytes(whole))
    monkeypatch.chdir(tmp_path)
    assert main(table, ["status", "--json"], Host("deploy.py")) == 0
    assert json.loads(capfd.readouterr().out)["state"] == "complete"
