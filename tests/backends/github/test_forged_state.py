"""Nothing of a saved state is run or believed, even if somebody has written all of it, with its checksums."""

import io
import json
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from backends.python.step_calls import author_calls
from compiler.passes import optimize
from runtime_shim.engine.journal import encode, read_journal
from runtime_shim.engine.state import State
from runtime_shim.targets.github.api import HaltError
from runtime_shim.targets.github.journal_check import check_records
from runtime_shim.targets.github.saved_run import check_kept, take_over, unpack
from runtime_shim.values.limits import expires_at
from runtime_shim.values.settings import agreed
from tests.backends.github.continued import Run, ending
from tests.support.documents import program_at
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

DOCUMENT = (
    "# Deploy\n\n"
    + command("1. Build", 'echo build >> "$LOG"')
    + command("2. Count", 'echo "count $RDC_ATTEMPT" >> "$LOG"', "FAIL: RETRY 2 STOP")
    + question("3. Again?", "Once more?", "YES: GOTO 2", "NO: CONTINUE")
    + command("4. Install", 'echo install >> "$LOG"')
)
DONE = ["build", "count 1", "count 1"]
Records = list[dict[str, Any]]
Change = Callable[[Records], object]


@pytest.fixture(scope="module")
def waiting(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run that waits a second time."""
    run = Run(tmp_path_factory.mktemp("waiting"), DOCUMENT)
    run()
    assert (ending(run(resume="1", answers="yes")), run.done()) == ("WAITING 3", DONE)
    return run


@pytest.fixture
def run(waiting: Run, tmp_path: Path) -> Run:
    return waiting.copy(tmp_path)


def forge(run: Run, name: str, content: bytes) -> None:
    """Put a file into what a run has saved, with a hash that fits."""
    path = run.saved(2) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    about = json.loads((run.saved(2) / "about.json").read_text())
    about["files"][name] = sha256(content).hexdigest()
    (run.saved(2) / "about.json").write_text(json.dumps(about))


@pytest.mark.parametrize("name", ["state/lock", "state/history/x", "state/output", "run", "program/x.sh"])
def test_a_file_that_does_not_belong_there_is_refused(run: Run, name: str) -> None:
    forge(run, name, b"touch canary\n")
    with pytest.raises(HaltError, match=r"is damaged or incomplete\. No step ran"):
        check_kept(str(run.saved(2)))


def archive(folder: Path, *members: tuple[str, bytes, str, int]) -> Path:
    """An archive with members, each by its name, type, target and size, beside an empty workspace."""
    with tarfile.open(folder / "workspace.tar.gz", "w:gz") as tar:
        for name, kind, target, size in members:
            info = tarfile.TarInfo(name)
            info.type, info.linkname, info.size = kind, target, size
            tar.addfile(info, io.BytesIO(bytes(size)))
    (folder / "workspace").mkdir()
    return folder / "workspace.tar.gz"


@pytest.mark.parametrize(
    "member",
    [
        ("../out", tarfile.REGTYPE, ""), ("/tmp/out", tarfile.REGTYPE, ""), ("a/../../out", tarfile.REGTYPE, ""),
        ("device", tarfile.CHRTYPE, ""), ("hard", tarfile.LNKTYPE, "/etc/passwd"), ("pipe", tarfile.FIFOTYPE, ""),
    ],
)  # fmt: skip
def test_an_archive_has_only_files_folders_and_links(tmp_path: Path, member: tuple[str, bytes, str]) -> None:
    found = archive(tmp_path, (*member, 0))
    with pytest.raises(ValueError, match=member[0].rpartition("/")[2]):
        unpack(str(found), str(tmp_path / "workspace"))
    assert list((tmp_path / "workspace").iterdir()) == []


def test_no_file_is_written_through_a_link_of_the_archive(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    found = archive(tmp_path, ("link", tarfile.SYMTYPE, str(outside), 0), ("link/file", tarfile.REGTYPE, "", 1))
    with pytest.raises(OSError, match="link/file"):
        unpack(str(found), str(tmp_path / "workspace"))
    assert list(outside.iterdir()) == []


def test_an_archive_that_is_cut_off_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = archive(tmp_path, ("file", tarfile.REGTYPE, "", 100_000))
    (tmp_path / "state").mkdir()
    content = found.read_bytes()
    found.write_bytes(content[: len(content) // 2])
    monkeypatch.setenv("RUNNER_TEMP", str(tmp_path))
    monkeypatch.chdir(tmp_path / "workspace")
    with pytest.raises(HaltError, match="could not be put into the workspace"):
        take_over(str(tmp_path), str(tmp_path / "kept"), str(tmp_path / "answers"), [])


@pytest.fixture(scope="module")
def journal(waiting: Run) -> tuple[dict[str, Any], Records]:
    """The table of the program, and the records of a run that waits."""
    program = program_at(waiting.place / "repository" / "deploy.runbook.md")
    return author_calls(optimize(program)).built(), read_journal(waiting.saved(2) / "state" / "journal")[0]


def test_a_saved_state_as_it_was_written_is_taken(waiting: Run, journal: tuple[dict[str, Any], Records]) -> None:
    assert check_kept(str(waiting.saved(2)))["run"] == "2"
    check_records(*journal)


def _done(records: Records) -> list[dict[str, Any]]:
    return [record for record in records if record["kind"] == "done"]


CHANGES: dict[str, Change] = {
    "a step is left for another one": lambda records: _done(records)[0].update(next="4"),
    "a step is left out": lambda records: records.remove(_done(records)[1]),
    "the run is at another step": lambda records: records[0].update(node="4"),
    "an outcome that the step cannot have": lambda records: _done(records)[0].update(outcome="approved"),
    "an outcome that leads elsewhere": lambda records: _done(records)[1].update(outcome="fail"),
    "a jump of an operator": lambda records: _done(records)[0].update(outcome="goto", next="4"),
    "a record of another kind": lambda records: records.append({"kind": "adopt", "registers": {}}),
    "a condition that there is not": lambda records: _done(records)[-1].update(condition="done"),
    "an end that was not come to": lambda records: _done(records)[-1].update(condition="complete"),
    "a counter that is not a number": lambda records: records[0]["registers"].update({"2 retries": "1"}),
    "a counter that the program does not have": lambda records: records[0]["registers"].update(other=0),
    "a counter that the step does not change": lambda records: _done(records)[0].update(changed={"2 retries": 1}),
    "another format": lambda records: records[0].update(format=2),
    "a mode of another program": lambda records: records[0].update(mode="prompted"),
    "a name of the run that leads elsewhere": lambda records: records[0].update(run="../x"),
    "no beginning": lambda records: records.pop(0),
    "a failed run that goes on": lambda records: _done(records)[-1].update(outcome="resumed"),
    "a note that is none": lambda records: records.append({"kind": "rest", "condition": "complete"}),
    "steps of another program": lambda records: records[0]["steps"].pop(),
    "steps that are not lists": lambda records: records[0].update(steps=[None, 3]),
    "a file of answers without a digest": lambda records: records[1].update(brought={"answers": []}),
    "files of answers that are a text": lambda records: records[0].update(brought="answers"),
    "a time that is none": lambda records: records[0].update(expire=[1]),
    "a time that no clock has": lambda records: records[0].update(expire=float("nan")),
    "a number that is no float": lambda records: records[0].update(expire=10**400),
    "new names of steps": lambda records: _done(records)[0].update(renamed={"1": "4"}),
    "names that are a text": lambda records: records[0].update(renamed="x"),
    "a wait without its time": lambda records: records.append({"kind": "waits"}),
    "a command for notices": lambda records: records[1].update(notify="touch canary"),
    "a record that is not an object": lambda records: records.append([]),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_journal_that_no_run_has_written_is_refused(journal: tuple[dict[str, Any], Records], change: Change) -> None:
    program, records = journal
    forged: Records = json.loads(json.dumps(records))
    change(forged)
    with pytest.raises(HaltError, match="is damaged or incomplete"):
        check_records(program, forged)


HOSTILE: tuple[object, ...] = (None, True, -1, 10**400, float("nan"), "", "x", [], ["x"], [[]], {}, {"x": []}, {"": 0})


def test_no_value_of_a_journal_makes_a_traceback(journal: tuple[dict[str, Any], Records]) -> None:
    """Each value is refused, or what reads it understands it."""
    program, records = journal
    refused = 0
    for number, record in enumerate(records):
        for key in (*record, "steps", "brought", "expire", "renamed", "answers", "agreed", "remarks", "found"):
            for value in HOSTILE:
                forged: Records = json.loads(json.dumps(records))
                forged[number][key] = value
                try:
                    check_records(program, forged)
                except HaltError:
                    refused += 1
                    continue
                state = State(forged)
                assert expires_at(program, state) >= 0
                assert isinstance(agreed(state), dict)
                assert [one["how"].lower() for one in state.finished]
    assert refused > 1000


@pytest.mark.parametrize("is_text", [False, True])
def test_a_forged_journal_is_refused_before_anything_runs(run: Run, tmp_path: Path, is_text: bool) -> None:
    records = read_journal(run.saved(2) / "state" / "journal")[0]
    _done(records)[-1].update(next="4", condition="ready")
    canary = tmp_path / "canary"
    content = b"".join(encode({**record, "n": number}) for number, record in enumerate(records))
    forge(run, "state/journal", f"$(touch {canary})\n".encode() if is_text else content)
    ran = run(resume="2", answers="no")
    assert ran.exit_code
    assert "is damaged or incomplete. No step ran" in ran.summary
    assert run.done() == DONE
    assert not canary.exists()
