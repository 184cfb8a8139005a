"""Traces of workers: each run sends its own, also if other workers take it over or someone cancels it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.workers.fleet import until
from tests.backends.dbos.documents import WAITS
from tests.backends.dbos.fleet import WarmFleet
from tests.support.collector import Collector, Reply, collecting, values
from tests.support.runbooks import command, question

pytestmark = pytest.mark.process

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OF_WORKER = "00-2cf7651916cd43dd8448eb211c80319c-d9ad6b7169203331-01"
TELLS = (
    "# Tell\n\n"
    + command("1. Before", 'echo "$TRACEPARENT $TRACESTATE" >> seen')
    + question("2. Check", "Is it fine?", "YES: CONTINUE", 'NO: STOP "not fine"')
    + command("3. After", 'echo "$TRACEPARENT $TRACESTATE" >> seen; exit 4', "PASS: COMPLETE", "FAIL: STOP")
)


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@pytest.mark.soak
def test_a_run_at_a_worker_sends_its_trace(fleet: WarmFleet, collector: Collector) -> None:
    fleet.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = collector.url
    fleet.compile(TELLS)
    fleet.worker(TRACEPARENT=OF_WORKER)
    fleet.call("start", "--id", "r1", TRACEPARENT=PARENT, TRACESTATE="a=1")
    fleet.until("r1", "waiting")
    assert collector.names == ["1 Before"]
    fleet.call("answer", "r1", "2", "yes", "--by", "ann")
    fleet.until("r1", "stop")
    assert collector.names == ["1 Before", "2 Check", "3 After", "RUN job"], "each once"
    run = collector.spans[-1]
    assert {one.trace_id.hex() for one in collector.spans} == {PARENT[3:35]}
    assert (run.parent_span_id.hex(), list(run.links)) == (PARENT[36:52], [])
    seen = [f"00-{PARENT[3:35]}-{collector.spans[at].span_id.hex()}-01 a=1" for at in (0, 2)]
    assert fleet.lines("seen") == seen, "the parent of the worker is not that of its runs"
    assert values(collector.resources[0].resource)["cicd.pipeline.run.id"] == "r1"
    assert b"ann" not in b"".join(one.body for one in collector.posted)
    assert "traces" not in fleet.workers[0].text


def test_runs_at_the_same_time_have_their_own_traces_also_of_their_end(
    sqlite_fleet: WarmFleet, collector: Collector, tmp_path: Path
) -> None:
    """The collector is broken when the last run begins."""
    fleet, fleet.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = sqlite_fleet, collector.url
    fleet.compile(TELLS)
    fleet.worker("--jobs", "4")
    for number in range(4):
        fleet.start(f"r{number}")
    for number in range(4):
        fleet.until(f"r{number}", "waiting")
    assert (collector.names, len({one.trace_id for one in collector.spans})) == (["1 Before"] * 4, 4)

    assert (fleet.call("cancel", "r1").code, collector.names[4:]) == (0, ["2 Check", "RUN job"])
    *_, step, run = collector.spans
    assert values(step)["cicd.pipeline.task.run.result"] == "cancellation"
    assert values(run)["cicd.pipeline.result"] == "cancellation"
    assert (step.status.code, run.status.code, "error.type" in values(run)) == (0, 0, False)

    collector.replies = [Reply(500)]
    fleet.start("r5")
    fleet.until("r5", "waiting")
    log = (tmp_path / ".rdc" / "job" / "r5" / "run.log").read_text()
    assert f"rdc: traces were not sent: 127.0.0.1:{collector.port}: HTTP 500\n" in log
    collector.replies = [Reply()]
    fleet.call("answer", "r5", "2", "no")
    fleet.until("r5", "stop")
    trace = collector.spans[-1].trace_id
    assert [one.name for one in collector.spans if one.trace_id == trace] == ["1 Before", "2 Check", "RUN job"]


def test_another_worker_sends_the_rest_of_a_killed_one(sqlite_fleet: WarmFleet, collector: Collector) -> None:
    fleet, fleet.environment["OTEL_EXPORTER_OTLP_ENDPOINT"] = sqlite_fleet, collector.url
    fleet.compile(WAITS)
    worker = fleet.worker()
    fleet.start("r1")
    until(lambda: "waits" in fleet.lines("steps"))
    worker.kill()
    (fleet.folder / "go").touch()
    fleet.worker("--interrupted", "rerun")
    fleet.until("r1", "complete")
    assert fleet.lines("steps") == ["before", "waits", "waits", "after"]
    until(lambda: collector.names[-1:] == ["RUN job"])  # it is sent after the end
    sent = [*dict.fromkeys(collector.names)]  # at least once
    assert sent == ["1 Before", "2 Waits", "3 After", "RUN job"]
