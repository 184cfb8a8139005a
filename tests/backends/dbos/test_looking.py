"""The runs of workers on a page: their list, records and logs by the database, and answers by the worker's program."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from benchmarks.workers.fleet import Fleet
from rdc.looking.database import NOT_SERVED, Worker, WorkerRuns
from tests.backends.dbos.documents import ASKS
from tests.backends.dbos.fleet import WarmFleet
from tests.support.cli import call
from tests.support.looking import Client, process_of, serving_runs

pytestmark = pytest.mark.tool


@contextmanager
def viewing(fleet: Fleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.chdir(fleet.folder)
    with serving_runs("job.runbook.md", partial(WorkerRuns, Worker(fleet.script.name, fleet.url))) as client:
        yield client


def named() -> str:
    return f"look-{uuid.uuid4().hex[:8]}"


def test_a_run_is_followed_answered_and_ends(serving: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    run = serving.start(named())
    serving.until(run, "waiting")
    with viewing(serving, monkeypatch) as client:
        entry = next(one for one in client.ask("/api/runs").json["runs"] if one["key"] == run)
        assert (entry["state"], entry["step"]) == ("waiting", "2")
        stream = client.stream(run)
        asked = stream.question()
        shown = [asked[name] for name in ("text", "replies", "form", "at")]
        assert shown == ["Is it fine?", ["yes", "no"], True, "1:2"]
        assert asked["commands"][0].endswith(f"worker.py answer {run} 2 yes")
        assert client.answer(run, step="2", at="1:2", reply="yes", by="a\0n").status == 409
        done = client.answer(run, step="2", at="1:2", reply="yes", by="ann", note="<i>ok</i>")
        assert (done.status, done.json["continues"]) == (200, True)
        second = client.answer(run, step="2", at="1:2", reply="no", by="bob")
        decided = second.json["decided"]
        assert (second.status, decided["by"], decided["note"]) == (409, "ann", "<i>ok</i>")
        working = stream.until("state", state="running", step="4")
        assert (working["total"], bool(working["worker"]), working["notice"]) == (3, True, "")
        (serving.folder / f"{run}.go").touch()
        assert stream.until("state", state="complete")["total"] == 5
        stream.close()
        log = client.ask(f"/api/runs/{run}/log/3")
        assert log.body == b"to the east\nno such host: \\e[31meast\n"
        (serving.folder / ".rdc" / "job" / run).rename(serving.folder / f"away-{run}")
        assert client.ask(f"/api/runs/{run}/log/3").body == log.body, "the end of it is in the record"
        assert client.ask(f"/api/runs/{run}/log/1").body == b""


def test_a_page_sees_all_legs_once(serving: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    run = serving.start(named())
    serving.until(run, "waiting")
    assert serving.call("answer", run, "2", "no").code == 0
    serving.until(run, "stop")
    with viewing(serving, monkeypatch) as client:
        stream = client.stream(run)
        visits = stream.until("visits")
        assert [(one["n"], one["step"], one["word"]) for one in visits["visits"]] == [(1, "1", "PASS"), (2, "2", "NO")]
        assert stream.until("state", state="stop")["message"] == "not fine"
        stream.close()
        assert client.answer(run, step="--adopt", at="2:2/STOP", reply="yes", by="ann").status == 409
        assert client.ask("/api/runs/nothing/events").status == 404


def test_a_run_without_a_worker_is_shown(queued: Fleet, monkeypatch: pytest.MonkeyPatch) -> None:
    with viewing(queued, monkeypatch) as client:
        stream = client.stream("r1")
        state = stream.until("state")
        assert (state["state"], state["notice"], state["step"]) == ("queued", NOT_SERVED, "1")
        stream.close()
        assert client.ask("/api/runs").json["chosen"] == "r1"


@pytest.mark.soak
@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_each_database_has_the_runs(fleet: WarmFleet, monkeypatch: pytest.MonkeyPatch) -> None:
    fleet.begun(ASKS, "waiting")
    with viewing(fleet, monkeypatch) as client:
        stream = client.stream("r1")
        assert client.answer("r1", step="2", at=stream.question()["at"], reply="yes", by="ann").status == 200
        assert stream.until("state", state="complete")["total"] == 3
        stream.close()


def test_the_command_takes_the_program_of_a_worker(queued: Fleet) -> None:
    with process_of(queued.folder, "worker.py", RDC_DATABASE=queued.url) as (_, client):
        assert client.ask("/api/document").json["title"] == "Retry"
        assert [one["key"] for one in client.ask("/api/runs").json["runs"]] == ["r1"]
    refused = call("view", "worker.py", "--database", "postgresql://me:secret@127.0.0.1:1/runs", cwd=queued.folder)
    assert (refused.code, "nothing answers there" in refused.err, "secret" in refused.err) == (2, True, False)
