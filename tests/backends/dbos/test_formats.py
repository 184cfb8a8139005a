"""Programs of all formats at workers, texts that databases find difficult, and random specifications."""

import json
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from backends.registry import load
from benchmarks.workers.fleet import group_is_gone, until
from tests.backends.dbos.fleet import WarmFleet
from tests.conftest import ROOT
from tests.differential.drivers.dbos import DATABASE, RUN, missing, settled, working
from tests.differential.drivers.process import Done
from tests.differential.stepspec import check_records, read_records
from tests.support import warm
from tests.support.makefiles import children
from tests.support.runbooks import command, limited, question
from tests.support.stepspec_drives import EXECUTOR, MOST_CALLS, drive_of

pytestmark = pytest.mark.process

AGENT = """\
cat > /dev/null
echo "$RDC_AGENT_TYPE ${RDC_STEP:-} $$" >> calls
if test -e hold; then echo $$ >> holding; while test -e hold; do sleep 0.02; done; fi
echo "APPROVE
because it is small
<summary>Fine by all</summary>"
"""


def agent(folder: Path, text: str = AGENT) -> str:
    path = folder / "agent.sh"
    path.write_text(text)
    return f"sh {path}"


@pytest.mark.soak
def test_a_killed_worker_leaves_no_parallel_agent_and_repeats_no_finished_one(fleet: WarmFleet, tmp_path: Path) -> None:
    text = AGENT.replace("if test -e hold", 'if test -e hold && test "$RDC_AGENT_TYPE" = style')
    fleet.compile_file(ROOT / "examples" / "programs" / "parallel-review.program.json")
    (tmp_path / "hold").touch()
    worker = fleet.worker("--agent", agent(tmp_path, text))
    fleet.start("r1")
    (group,) = map(int, until(lambda: fleet.lines("holding")))
    until(lambda: len(fleet.lines("calls")) == 2)
    time.sleep(1)  # the other agent's answer is recorded
    worker.kill()
    until(lambda: group_is_gone(group) and not fleet.left(), 4)
    (tmp_path / "hold").unlink()
    fleet.worker("--agent", f"sh {tmp_path}/agent.sh", "--interrupted", "rerun")
    fleet.until("r1", "waiting", seconds=15)
    kinds = [line.split()[0] for line in fleet.lines("calls")]
    assert kinds.count("style") == 2, kinds
    assert kinds.count("security") == 1, kinds


PAUSES = '---\nrdc:\n  steps:\n    "1": {retry-delay: 3s}\n---\n# Pauses\n\n' + command(
    "1. Try", 'echo try >> "tries-$RDC_RUN_ID"; test -e fine', "PASS: COMPLETE", "FAIL: RETRY 2 STOP"
)


@pytest.mark.soak
def test_a_pause_takes_no_thread_and_no_helper(fleet: WarmFleet) -> None:
    fleet.compile(PAUSES)
    worker = fleet.worker()
    task = Path(f"/proc/{worker.process.pid}/task")
    fleet.start("warm-up")
    fleet.until("warm-up", "paused")
    threads = len(list(task.iterdir()))
    for number in range(5):
        fleet.start(f"r{number}")
        fleet.until(f"r{number}", "paused")
    assert len(list(task.iterdir())) <= threads + 4  # those of four runs at once
    (server,) = children(worker.process.pid)
    assert children(server) == []
    fleet.expect(3, "PAUSED", "status", "r4")
    fleet.expect(2, "pauses", "goto", "r4", "1")
    (fleet.folder / "fine").touch()
    for number in range(5):
        fleet.until(f"r{number}", "complete")


VALUES = (
    "---\nrdc:\n  inputs:\n    REGION: {type: choice, options: [eu, us], default: eu}\n"
    "  secrets: [DEPLOY_TOKEN]\n  outputs: [ADDRESS]\n---\n# Values in {{REGION}}\n\n"
    + command("1. Find", 'echo "token: $DEPLOY_TOKEN"\necho "ADDRESS=$REGION.example.org" >> "$RDC_OUTPUT"')
    + question("2. Is {{ADDRESS}} right?", "", "YES: CONTINUE", 'NO: STOP "{{ADDRESS}} is wrong"')
    + command("3. Use {{ADDRESS}}", 'echo "$ADDRESS" > used; test "$DEPLOY_TOKEN" = topsecretvalue')
)


@pytest.mark.soak
def test_values_travel_in_the_database_and_secrets_do_not(sqlite_fleet: WarmFleet, tmp_path: Path) -> None:
    fleet = sqlite_fleet
    fleet.compile(VALUES)
    missing = fleet.worker(ready=False)
    assert (missing.process.wait(20), "DEPLOY_TOKEN" in missing.text) == (2, True), missing
    worker = fleet.worker(DEPLOY_TOKEN="topsecretvalue")
    fleet.expect(2, "REGION", "start", "--input", "REGION=mars")
    fleet.expect(75, "", "start", "--id", "r1", "--input", "REGION=us", "--wait")
    assert "2 Is us.example.org right?" in fleet.call("status", "r1").out
    assert fleet.call("answer", "r1", "2", "yes").code == 0
    fleet.until("r1", "complete")
    assert fleet.lines("used") == ["us.example.org"]
    assert json.loads(fleet.call("status", "r1", "--json").out)["finished"][0]["output"] == "token: ***\n"
    worker.stop()
    for path in (*tmp_path.glob("runs.sqlite*"), *(tmp_path / ".rdc").rglob("*")):
        assert path.is_dir() or b"topsecretvalue" not in path.read_bytes(), path


@pytest.mark.soak
def test_the_helper_of_another_edition_has_all_commands(sqlite_fleet: WarmFleet) -> None:
    sqlite_fleet.compile("# Ends\n\n" + command("1. End", "true"), "job.runbook.md", "-O", "operator=full")
    sqlite_fleet.worker("--notify", "cat >> notices; echo >> notices")
    assert sqlite_fleet.call("start", "--id", "r1", "--wait").code == 0
    until(lambda: sqlite_fleet.lines("notices"))


SHOUTS = (
    "# Texts\n\n"
    + command(
        "1. Shout",
        'printf \'a\\0b \\355\\240\\200 \\377 \\342\\200\\250 "q" '
        "'\\''s'\\'' \\\\ \\\\u0000 %%s ? :name \\033[0m\\r\\n'\nexit 1",
        "PASS: CONTINUE",
        "FAIL: CONTINUE",
    )
    + question("2. Check", "Is it fine?", "YES: CONTINUE", "NO: STOP")
    + command("3. End", "true")
)
NOTE = "\\u0000 'q' \"Q\" %s ? :name \\ é ☃ 𝄞; DROP TABLE workflow_status --"


@pytest.mark.soak
def test_outputs_and_notes_survive(fleet: WarmFleet) -> None:
    fleet.begun(SHOUTS, "waiting")
    reply = fleet.call("answer", "r1", "2", "yes", "--by", "Ann 'O\" %s", "--note", NOTE)
    assert reply.code == 0, reply.text
    fleet.until("r1", "complete")
    done = json.loads(fleet.call("status", "r1", "--json").out)["finished"]
    assert done[0]["output"].startswith("a\0b ")
    assert "\"q\" 's' \\ \\u0000 %s ? :name \033[0m" in done[0]["output"]
    assert (done[1]["by"], done[1]["note"]) == ("Ann 'O\" %s", NOTE)
    assert not {"\033", "\0"} & {*fleet.call("status", "r1").out}


ELICITS = (
    '# Long\n\n## STEP 1: Text\n\n@elicit(input, "Which text?")\n@output(text)\n\n'
    "## STEP 2: Again\n\nSay this again: {{text}}\n"
)


@pytest.mark.soak
def test_a_long_answer_survives(fleet: WarmFleet, tmp_path: Path) -> None:
    agent = tmp_path / "agent.sh"
    agent.write_text("cat > prompt\nhead -c 700000 prompt | tail -c 600000\n")
    fleet.compile(ELICITS, "job.playbook.md")
    fleet.worker("--agent", f"sh {agent}")
    fleet.start("r1")
    fleet.until("r1", "waiting")
    text = ("'\"\\ ☃ %s \\u0000 " * 80_000).encode()[:1_000_000].decode(errors="ignore").strip()
    reply = fleet.call("answer", "r1", "1", "-", input=text.encode())
    assert reply.code == 0, reply.text[:2000]
    fleet.until("r1", "complete", seconds=30)
    assert text in (tmp_path / "prompt").read_text()
    assert fleet.call("status", "r1", "--json").code == 0


class Driven:
    """A folder with the worker of a random specification."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        program, self.gated, self.most = drive_of(folder, seed)
        (folder / "worker.py").write_text(load("dbos").emit(program, {}).text or "", encoding="utf-8")
        self.words = [sys.executable, "worker.py"]
        self.place = folder / ".rdc" / program.name / RUN

    def call(self, *words: str) -> Done:
        done = warm.run([*self.words, *words, *DATABASE], cwd=self.folder)
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def records(self) -> Path:
        """The folder of the records, whose name has their form whatever the run is called."""
        (found,) = self.place.glob("run-*")
        return found

    def facts(self) -> dict[str, Any]:
        """The status of the run when no worker has it; its records are checked then."""
        facts = settled(self.call)
        check_records(read_records(self.records()), self.gated, self.most)
        return facts

    def drive(self) -> str:
        self.call("start", "--id", RUN)
        facts = self.facts()
        for number in range(MOST_CALLS):
            if facts["state"] == "complete":
                break
            if facts["state"] == "waiting":
                assert self.call("approve", RUN, "--gate", "other").code == 2
                done = self.call("approve", RUN, "--gate", facts["step"], "--by", "alice")
            else:
                done = self.call("retry" if facts["state"] == "stop" and number % 2 else "resume", RUN)
            assert done.code == 0, done.printed
            facts = self.facts()
        return str(facts["state"])


@pytest.mark.share(12)
@pytest.mark.parametrize("seed", range(12))
def test_a_worker_drives_a_specification_to_its_end(seed: int, tmp_path: Path) -> None:
    if lacking := missing():
        pytest.skip(lacking)
    driven = Driven(tmp_path, seed)
    with working(driven.words, tmp_path, None, ("--executor", f": > by-option\n{EXECUTOR}")) as printed:
        assert driven.drive() == "complete"
    assert (tmp_path / "by-option").exists()
    assert "Traceback" not in "".join(printed)
    manifest = json.loads((driven.records() / "manifest.json").read_text(encoding="utf-8"))
    assert {step["status"] for step in manifest["steps"]} == {"completed"}


@pytest.mark.soak
def test_a_run_at_a_limit_of_visits_is_continued(fleet: WarmFleet) -> None:
    fleet.begun(limited(2), "waiting")
    for state in ("waiting", "stop"):
        fleet.until("r1", "waiting")
        assert fleet.call("answer", "r1", "1", "no").code == 0
        fleet.until("r1", state)
    assert "resume r1 --max-visits 3" in fleet.call("status", "r1").out
    for most, code in (("2", 2), ("3", 0)):
        assert fleet.call("resume", "r1", "--max-visits", most).code == code
    fleet.until("r1", "waiting")
    assert "unknown argument --max-visits" in fleet.call("worker", "--max-visits", "3").err
