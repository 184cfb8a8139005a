"""The runs of a document on a page: what a stream sends while a run works, waits, is answered and ends."""

import errno
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest

from benchmarks.workers.fleet import until
from runtime_shim.engine.journal import encode
from tests.conftest import ROOT
from tests.support.cli import document, environment, spawn
from tests.support.looking import DEPLOY, NAME, Client, serving, until_document
from tests.support.process import Screen
from tests.support.runbooks import command

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run of the document that waits for the answer to its question."""
    folder = tmp_path_factory.mktemp("begun")
    (folder / "rdc.toml").touch()
    document(folder, NAME, DEPLOY)
    run(cwd=folder)
    return folder


@pytest.fixture
def page(folder: Path, begun: Path) -> Iterator[Client]:
    """That run in the current folder; its commands would run in the other one."""
    shutil.copytree(begun, folder, dirs_exist_ok=True)
    with serving(NAME) as found:
        yield found


def run(*words: str, cwd: Path, given: str = "") -> None:
    spawn("run", NAME, *words, cwd=cwd, given=given)


def test_a_stream_has_the_state_the_question_and_all_visits(page: Client, folder: Path) -> None:
    stream = page.stream("deploy")
    state = stream.until("state")
    assert (state["state"], state["step"], state["title"]) == ("waiting", "2", "Does it look right?")
    assert (state["total"], state["is_same"], state["has_logs"]) == (2, True, False)
    asked = page.stream("deploy").question()
    assert (asked["step"], asked["at"], asked["kind"], asked["form"]) == ("2", "2:2", "ask", True)
    assert (asked["text"], asked["replies"]) == ("Open the page.\n\nThen the other.", ["yes", "no"])
    assert asked["commands"][0] == f"rdc run {NAME} answer 2 yes"
    visits = stream.until("visits")
    assert (visits["after"], visits["run"]) == (0, state["run"])
    facts = [(one["n"], one["step"], one["attempt"], one["count"], one["word"]) for one in visits["visits"]]
    assert facts == [(1, "1", 1, 1, "FAIL"), (2, "1", 2, 2, "PASS")]
    ends = [(one["how"], one["transition"], one["next"]) for one in visits["visits"]]
    assert ends == [("exit code 1", "RETRY 2", "1"), ("", "", "2")]


def test_visits_have_the_times_of_the_report(page: Client, folder: Path) -> None:
    """Page and report are one reading of the journal."""
    run("answer", "2", "no", "--by", "ann", "--note", "It is *red*", cwd=folder)
    stream = page.stream("deploy")
    visits = stream.until("visits")["visits"]
    report = json.loads(spawn("report", "--format", "json", cwd=folder).out)["steps"]
    keys = {"node": "step", "started": "started", "took": "took", "time": "ended", "word": "word", "says": "transition"}
    reported = [{keys[key]: one[key] for key in keys} for one in report]
    assert reported == [{name: one[name] for name in keys.values()} for one in visits]
    answered = visits[-1]
    assert (answered["by"], answered["note"], answered["is_decision"]) == ("ann", "It is *red*", True)
    assert answered["took"] > 0, "how long the question waited"


def test_visits_come_to_several_pages_while_a_run_works(client: Client, folder: Path) -> None:
    streams = [client.stream("deploy") for _ in range(4)]
    assert streams[0].until("state")["state"] == "none"
    run(cwd=folder)
    states = [stream.until("state", state="waiting") for stream in streams]
    assert all(state == states[0] for state in states)
    run("answer", "2", "yes", cwd=folder)
    (folder / "go").touch()
    run("resume", cwd=folder)
    assert streams[0].until("state", state="complete", total=4)["step"] == "COMPLETE"
    assert streams[0].until("visits")["after"] >= 2


EXAMPLES = [
    ("code-review.runbook.md", ("--answers", "answers/code-review.txt"), "complete"),
    ("playbooks/change-review.playbook.md", ("--input", "change=1"), "complete"),
    ("workflows/security-audit.workflow.yaml", (), "complete"),
    ("specifications/hello-steps.stepspec.json", (), "complete"),
    ("programs/review-loop.program.json", (), "stop"),
]


@pytest.mark.parametrize(("example", "words", "end"), EXAMPLES)
def test_a_run_of_each_format_is_followed_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: str, words: tuple[str, ...], end: str
) -> None:
    folder, name = (tmp_path / example).parent, Path(example).name
    shutil.copytree((ROOT / "examples" / example).parent, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    with serving(name) as client:
        (entry,) = client.ask("/api/runs").json["runs"]
        stream, visits = client.stream(entry["key"]), list[dict[str, object]]()
        spawn("run", name, *words, cwd=folder, RDC_AGENT="echo PASSED", RDC_EXECUTOR="echo PASSED")
        (journal,) = folder.glob(".rdc/*/journal")
        records = [json.loads(line.partition(" ")[2]) for line in journal.read_text().splitlines()]
        done = [one["node"] for one in records if one["kind"] == "done"]
        total = -1
        for kind, data in stream.events():
            visits += data["visits"] if kind == "visits" else ()
            total = data["total"] if kind == "state" and data["state"] == end else total
            if total == len(visits) >= len(done):  # a state may be newer than the visits that came before
                break
    assert [one["step"] for one in visits] == done != []


def test_a_stream_continues_after_the_visits_that_a_page_has(page: Client, folder: Path) -> None:
    identity = page.ask("/api/runs").json["runs"][0]["id"]
    mine = f"&run={identity}"
    for more, after in ((f"?after=1{mine}", 1), ("?after=1&run=another", 0), ("?after=1", 0), (f"?after=9{mine}", 0)):
        assert page.stream("deploy", more).until("visits")["after"] == after, more


def test_a_new_run_takes_the_place_of_one_that_is_over(page: Client, folder: Path) -> None:
    run("answer", "2", "no", cwd=folder)
    stream = page.stream("deploy")
    old = stream.until("state", state="stop")["run"]
    run(cwd=folder)
    visits = next(data for kind, data in stream.events() if kind == "visits" and data["run"] != old)
    assert visits["after"] == 0
    runs = page.ask("/api/runs").json["runs"]
    found = [(one["key"], one["is_archived"], one["state"]) for one in runs]
    assert found == [("deploy", False, "waiting"), (f"deploy:{old}", True, "stop")]
    archived = page.stream(f"deploy:{old}")
    state = archived.until("state")
    assert (state["run"], state["state"], state["message"]) == (old, "stop", "Not deployed")
    assert len(archived.until("visits")["visits"]) == 3
    refused = page.answer(f"deploy:{old}", step="2", at="1:2", reply="yes", by="ann")  # where the current run is
    assert refused.status == 409


def test_steps_with_new_names_are_sent_again(page: Client, folder: Path) -> None:
    stream = page.stream("deploy")
    stream.until("visits")
    first, rest = DEPLOY.index("## 1."), DEPLOY.index("## 2.")
    shorter = DEPLOY[:first] + DEPLOY[rest:].replace("## 2.", "## 1.").replace("## 3.", "## 2.")
    document(folder, NAME, shorter)
    assert stream.until("state", is_same=False)["step"] == "2"
    run("resume", "--adopt", cwd=folder)
    assert [one["step"] for one in stream.until("visits", after=0)["visits"]] == ["1 (removed)"] * 2


def test_a_named_run_and_one_elsewhere_are_in_the_list(client: Client, folder: Path) -> None:
    run("--as", "blue", cwd=folder)
    run("--state-dir", ".rdc/mine", cwd=folder)
    document(folder, "other.runbook.md", DEPLOY)
    spawn("run", "other.runbook.md", cwd=folder)
    found = client.ask("/api/runs").json
    states = sorted((one["key"], one["state"]) for one in found["runs"])
    assert states == [("deploy", "none"), ("deploy@blue", "waiting"), ("mine", "waiting")]
    assert found["chosen"] in ("deploy@blue", "mine"), "one that has started"
    for key in ("deploy@blue", "mine"):
        stream = client.stream(key)
        asked = stream.question()
        done = client.answer(key, step="2", at=asked["at"], reply="no", by="ann")
        assert done.status == 200, done.body
        assert stream.until("state", state="stop")


def journal(folder: Path) -> Path:
    return folder / ".rdc" / "deploy" / "journal"


def test_a_record_that_is_being_written_is_not_damage(page: Client, folder: Path) -> None:
    stream = page.stream("deploy")
    stream.until("visits")
    lines = journal(folder).read_bytes().splitlines()
    line = encode({**json.loads(lines[-1][9:]), "n": len(lines)})
    with journal(folder).open("ab") as file:
        for part in (line[:30], line[30:-1], b"\n"):
            file.write(part)
            file.flush()
            time.sleep(0.2)
    assert stream.until("visits")["after"] == 2


def test_a_repaired_journal_is_read_again(page: Client, folder: Path) -> None:
    stream = page.stream("deploy")
    stream.until("visits")
    whole = journal(folder).read_bytes()
    damaged = journal(folder).with_name("damaged")
    damaged.write_bytes(whole + b"00000000 {}\n")
    damaged.replace(journal(folder))
    stream.until("state", state="unreadable")
    with journal(folder).open("r+b") as file:
        file.truncate(len(whole))
    assert stream.until("state", state="waiting")["total"] == 2
    assert len(stream.until("visits", after=0)["visits"]) == 2


def test_another_journal_replaces_it(page: Client, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    stream = page.stream("deploy")
    first = stream.until("visits")["run"]
    away = tmp_path_factory.mktemp("away")
    shutil.copy(NAME, away)
    (away / "rdc.toml").touch()
    for words in ((), ("answer", "2", "no")):
        run(*words, cwd=away)
    journal(away).replace(journal(folder))
    state = stream.until("state", state="stop")
    assert (state["total"], state["run"] != first) == (3, True)
    assert len(stream.until("visits", after=0)["visits"]) == 3


@pytest.mark.parametrize("damage", [b"00000000 {}\n", b"\xff\n", b'"'])
def test_an_altered_record_is_damage(page: Client, folder: Path, damage: bytes) -> None:
    stream = page.stream("deploy")
    stream.until("visits")
    whole = journal(folder).read_bytes()
    journal(folder).write_bytes(whole.replace(b'"Build"', b'"Built"', 1) if damage == b'"' else whole + damage)
    if damage == b'"':  # the same size: only another reader sees it
        stream.close()
        journal(folder).rename(journal(folder).with_suffix(".old"))
        shutil.copy(journal(folder).with_suffix(".old"), journal(folder))
        stream = page.stream("deploy")
    assert stream.until("state", state="unreadable")["message"]
    journal(folder).unlink()
    assert stream.until("state", state="none")["total"] == 0


DAMAGED = [
    *((0, "run", None), (0, "time", 5), (0, "steps", 5), (-1, "next", ["2"]), (-1, "time", {})),
    *((-1, "seconds", 10**400), (-1, "seconds", float("nan")), (-1, "title", "\udcff")),
    (-1, "message", json.loads("[" * 500 + "]" * 500)),
]


def test_the_page_outlives_every_record(page: Client, folder: Path) -> None:
    """Anyone who can write a journal can also write its checksums."""
    stream = page.stream("deploy")
    stream.until("visits")
    whole, other = journal(folder).read_bytes(), journal(folder).with_name("other")
    for number, field, value in DAMAGED:
        records = [json.loads(line[9:]) for line in whole.splitlines()]
        records[number][field] = value
        if value is None:
            del records[number][field]
        other.write_bytes(b"".join(map(encode, records)))
        other.replace(journal(folder))
        stream.until("visits")
        assert page.ask("/api/runs").json["runs"][0]["key"] == "deploy", field
        other.write_bytes(whole)
        other.replace(journal(folder))
        assert [one["title"] for one in stream.until("visits")["visits"]] == ["Build", "Build"], field


def test_a_moment_without_free_files_passes(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user can use them up with connections."""

    def refusing(path: str, _flags: int) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE), path)

    run(cwd=folder)
    with monkeypatch.context() as patch:
        patch.setattr("rdc.looking.runs.at_once", refusing)
        stream = client.stream("deploy")
        assert "Too many open files" in stream.until("state", state="unreadable")["message"]
    assert stream.until("state", state="waiting")["total"] == 2


def test_the_name_of_a_folder_is_no_option(page: Client, folder: Path) -> None:
    for name in ("-h", "--adopt", "$(id)"):
        shutil.copytree(journal(folder).parent, folder / ".rdc" / f"deploy@{name}")
        key = quote(f"deploy@{name}", safe="")
        stream = page.stream(key)
        states = (data["next"] for kind, data in stream.events() if kind == "state")
        place = shlex.join(["--state-dir", f".rdc/deploy@{name}"])
        assert next(filter(None, states))[0].endswith(f" answer 2 yes {place}")
        assert page.answer(key, step="2", at="2:2", reply="yes", by="ann").status == 200


def test_no_link_is_followed(client: Client, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    for words in ((), ("answer", "2", "no"), ()):
        run(*words, cwd=folder)
    away = tmp_path_factory.mktemp("away")
    journal(folder).rename(away / "journal")
    journal(folder).symlink_to(away / "journal")
    assert client.ask("/api/runs").json["runs"][0]["state"] == "unreadable"
    journal(folder).unlink()
    os.mkfifo(journal(folder))
    began = time.monotonic()
    assert client.ask("/api/runs").json["runs"][0]["state"] == "unreadable"
    assert time.monotonic() - began < 5
    journal(folder).unlink()
    (away / "journal").rename(journal(folder))
    journal(folder).parent.rename(away / "deploy")
    journal(folder).parent.symlink_to(away / "deploy")
    runs = client.ask("/api/runs").json["runs"]
    assert [one["state"] for one in runs] == ["unreadable", "unreadable"]
    for one in runs:
        assert "is a link" in client.stream(one["key"]).until("state", state="unreadable")["message"]


def test_a_long_record_has_its_state_in_the_list_and_a_damaged_run_of_another_document_is_not_there(
    page: Client, folder: Path
) -> None:
    records = [json.loads(line[9:]) for line in journal(folder).read_bytes().splitlines()]
    records[-1]["changed"]["long"] = "x" * 600_000
    journal(folder).write_bytes(b"".join(map(encode, records)))
    document(folder, ".rdc/other/journal", "00000000 {}\n")
    (folder / ".rdc" / "file").touch()
    (entry,) = page.ask("/api/runs").json["runs"]
    assert (entry["key"], entry["state"], entry["step"]) == ("deploy", "waiting", "2")


@pytest.mark.tool
def test_a_makefile_has_a_state_only(client: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def make(*words: str) -> None:
        subprocess.run(["make", *words], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, check=False)

    assert spawn("compile", NAME, "--to", "make", "-o", "Makefile", cwd=folder).code == 0
    make()
    entry = next(one for one in client.ask("/api/runs").json["runs"] if one["key"] == "deploy.make")
    assert (entry["state"], entry["step"]) == ("waiting", "2")
    stream = client.stream("deploy.make")
    state = stream.until("state")
    assert (state["state"], state["step"], state["total"]) == ("waiting", "2", 0)
    assert state["next"] == ["make STEP=2 REPLY=yes", "make STEP=2 REPLY=no", "make resume"]
    assert client.answer("deploy.make", step="2", at="1:2", reply="yes", by="ann").status == 409
    assert client.ask("/api/runs/deploy.make/log/1").body == b""
    with monkeypatch.context() as patch:
        patch.setattr("rdc.looking.runs.make_run", lambda folder: Path(folder, "lock").readlink())  # it just ended
        time.sleep(1.5)
    make("REPLY=no")
    assert stream.until("state", state="stop")


def test_the_second_person_sees_who_was_first(page: Client, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream = page.stream("deploy")
    at = stream.question()["at"]
    with monkeypatch.context() as agent:
        agent.setenv("CLAUDECODE", "1")
        refused = page.answer("deploy", step="2", at=at, reply="yes", by="ann")
    assert (refused.status, "this is for a person" in refused.json["error"]) == (409, True)
    first = page.answer("deploy", step="2", at=at, reply="yes", by="ann", note="<b>fine</b>")
    assert (first.status, first.json["continues"]) == (200, False)
    assert f"rdc run {NAME} resume" in first.json["next"]
    second = page.answer("deploy", step="2", at=at, reply="no", by="bob")
    assert second.status == 409
    decided = second.json["decided"]
    assert (decided["by"], decided["word"], decided["note"]) == ("ann", "YES", "<b>fine</b>")
    assert decided["ended"]
    assert stream.until("state", state="ready")["question"] is None


REFUSED = [
    ({"reply": "maybe"}, "expected pass, fail, yes or no"),
    ({"step": "9"}, "9 is not waiting for an answer"),
    ({"step": "--resume"}, "is not waiting for an answer"),
    ({"step": "--events=/tmp/x"}, "is not waiting for an answer"),
    ({"step": ""}, "is not waiting for an answer"),
    ({"at": "1:2"}, "1:2 is not the current step"),
    ({"by": "a\0b"}, "printable characters"),
    ({"by": "x" * 300}, ""),
    ({"note": "\udcff"}, ""),
]


def test_what_the_engine_refuses_changes_nothing(page: Client, folder: Path) -> None:
    before = journal(folder).read_bytes()
    for reply, message in REFUSED:
        given = {"step": "2", "at": "2:2", "reply": "yes", "by": "ann", **reply}
        refused = page.answer("deploy", **given)
        assert refused.status in (400, 409), refused.body
        assert message in refused.json["error"]
        assert journal(folder).read_bytes() == before
        assert not (folder / "tmp" / "x").exists()


def test_an_answer_continues_the_run_only_on_request(folder: Path) -> None:
    run(cwd=folder)
    with serving(NAME, continues=True) as client:
        assert client.ask("/api/document").json["continues"]
        done = client.answer("deploy", step="2", at="2:2", reply="yes", by="ann")
        assert (done.status, done.json["continues"]) == (200, True)
        stream = client.stream("deploy")
        assert stream.until("state", state="running", step="3")["holder"].startswith("pid ")
        (folder / "go").touch()
        assert stream.until("state", state="complete")["has_logs"]
        assert client.ask("/api/runs/deploy/log/4").body == b"shipped\n"


def test_a_terminal_takes_the_answer_of_a_page(client: Client, folder: Path) -> None:
    terminal = Screen([sys.executable, "-m", "rdc", "run", NAME], folder, environment(TERM="xterm", NO_COLOR="1"))
    terminal.expect(r"\[yes/no\] ")
    stream = client.stream("deploy")
    state = next(data for kind, data in stream.events() if kind == "state" and data["question"])
    assert (state["state"], state["question"]["form"]) == ("waiting", True)
    assert "pts" in state["holder"]
    done = client.answer("deploy", step="2", at=state["question"]["at"], reply="no", by="ann")
    assert (done.status, done.json["continues"]) == (200, False)
    terminal.expect("ann")
    assert terminal.close() == 1
    assert stream.until("state", state="stop")["message"] == "Not deployed"


def test_a_step_of_an_agent_shows_commands_only(folder: Path) -> None:
    document(folder, "pick.yaml", "name: pick\nsteps:\n  - {name: write, prompt: Write notes., end: true}\n")
    spawn("run", "pick.yaml", cwd=folder)
    with serving("pick.yaml") as client:
        asked = client.stream("pick").question()
    assert (asked["form"], asked["kind"]) == (False, "agent")
    assert "rdc run pick.yaml answer write" in asked["commands"][0]


PRINTS = "printf 'a\\n\\033[31mred\\033[0m é\\n\\033]0;title\\007b\\033[2Jc\\rd\\n'; printf '\\033[3'"


def test_a_log_is_the_text_of_a_file(folder: Path) -> None:
    document(folder, NAME, f"# Deploy\n\n{command('1. Print', PRINTS)}")
    for _ in range(2):
        run("--logs", cwd=folder)
    with serving(NAME) as client:
        found = client.ask("/api/runs/deploy/log/1")
        assert (found.headers["Content-Type"], found.body.decode()) == ("text/plain; charset=utf-8", "a\nred é\nd\n")
        start_of_a_code = int(found.headers["Log-Size"]) - int(found.headers["Log-Next"])
        assert start_of_a_code == 3, "it comes with its end"
        key = client.ask("/api/runs").json["runs"][1]["key"]
        assert client.ask(f"/api/runs/{key}/log/1").body.startswith(b"a\nred"), "that of the archived run"
        assert client.stream(key).until("state")["has_logs"]
        (log,) = (folder / ".rdc" / "deploy" / "logs").iterdir()
        for kind in ("link", "pipe", "folder"):
            log.unlink()
            if kind == "link":
                log.symlink_to(folder / NAME)
            elif kind == "pipe":
                os.mkfifo(log)
            else:
                log.mkdir()
            found = client.ask("/api/runs/deploy/log/1")
            assert (found.status, found.body) == (200, b"")


def test_a_log_comes_in_parts_of_64_kilobytes(folder: Path) -> None:
    script = "for n in {1..9000}; do printf '%08d \\033[32mé\\033[0m\\n' $n; done"
    document(folder, NAME, f"# Deploy\n\n{command('1. Print', script)}")
    run("--logs", cwd=folder)
    with serving(NAME) as client:
        text, start, size = "", 0, 1
        while start < size:
            part = client.ask(f"/api/runs/deploy/log/1?from={start}")
            assert int(part.headers["Log-From"]) == start
            assert len(part.body) <= 1 << 16
            text, start, size = text + part.body.decode(), int(part.headers["Log-Next"]), int(part.headers["Log-Size"])
        assert text == "".join(f"{number:08} é\n" for number in range(1, 9001))
        end = client.ask("/api/runs/deploy/log/1")
        assert int(end.headers["Log-From"]) == size - (1 << 16)
        assert text.endswith(end.body.decode().partition("\n")[2])
        again = client.ask(f"/api/runs/deploy/log/1?from={size + 1}")
        assert again.headers["Log-From"] == end.headers["Log-From"], "the log has become shorter"


def test_a_log_grows_while_the_step_runs(client: Client, folder: Path) -> None:
    slow = "echo one; until [ -e go ]; do sleep 0.02; done; echo two"
    document(folder, NAME, f"# Deploy\n\n{command('1. Work', slow)}")
    until_document(client, edition=2)
    stream = client.stream("deploy")
    words = [sys.executable, "-m", "rdc", "run", NAME, "--logs"]
    terminal = Screen(words, folder, environment(TERM="xterm", NO_COLOR="1"))
    stream.until("state", state="running")
    until(lambda: client.ask("/api/runs/deploy/log/1").body == b"one\n")
    (folder / "go").touch()
    assert stream.until("state", state="complete")
    assert client.ask("/api/runs/deploy/log/1?from=4").body == b"two\n"
    assert terminal.close() == 0
