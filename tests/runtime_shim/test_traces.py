"""Traces: what a run sends to a collector of OpenTelemetry, when, and what it never sends."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from opentelemetry.proto.trace.v1.trace_pb2 import Status as Unset
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags, TraceState

from compiler.driver import Settings, compile_file
from compiler.ir.tasks import Parallel, Tool
from compiler.ir.texts import text
from rdc.runs.process import Ended
from rdc.runs.tables import table_of
from runtime_shim.editions import main
from runtime_shim.engine.outcomes import Done, Waiting
from runtime_shim.engine.session import Extension, Performer
from runtime_shim.engine.texts import words_of
from runtime_shim.targets.traces import SENDS_EVERY
from tests.runtime_shim.stepspec.stages import EXECUTE, compiled
from tests.support import warm
from tests.support.cli import Result, call, ended, environment, fork, spawn
from tests.support.collector import Collector, Reply, collecting, parsed, raw_spans, values
from tests.support.interpreters import end_of_support
from tests.support.process import ROOT, Screen, Table, wait_until
from tests.support.runtime_programs import Compiled, agent, edge, node, program
from tests.support.warm.started import Started

pytestmark = pytest.mark.process

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
OTHER = "00-1bf7651916cd43dd8448eb211c80319c-c8ad6b7169203331-01"
WORK = """\
---
name: pay
rdc:
  inputs:
    AMOUNT: {default: "1"}
---

# Pay

## 1. Count {{AMOUNT}}

```bash
echo "$TRACEPARENT $TRACESTATE" >> seen
```

- PASS: CONTINUE
- FAIL: CONTINUE

## 2. Is it right?

- YES: CONTINUE
- NO: STOP

## 3. Send

```bash
echo "$TRACEPARENT $TRACESTATE" >> seen
[ -e slow ] && touch started && sleep 20
[ ! -e broken ]
```

- PASS: COMPLETE
- FAIL: STOP "no {{AMOUNT}}"
"""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as found:
        yield found


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "pay.runbook.md").write_text(WORK, encoding="utf-8")
    return tmp_path


def traced(place: Path, url: str | Collector, *words: str, **variables: str) -> Result:
    """Run the document with a collector."""
    address = url if isinstance(url, str) else url.url
    return spawn("run", "pay.runbook.md", *words, cwd=place, OTEL_EXPORTER_OTLP_ENDPOINT=address, **variables)


def whole(place: Path, url: str | Collector, **variables: str) -> Result:
    """Run the document to its end."""
    (place / "answers").write_text("2 yes\n")
    return traced(place, url, "run", "--answers", "answers", **variables)


def journal(place: Path) -> list[dict[str, Any]]:
    lines = (place / ".rdc" / "pay" / "journal").read_text(encoding="utf-8").splitlines()
    return [json.loads(line.split(" ", 1)[1]) for line in lines]


def test_a_run_sends_its_steps_and_itself(place: Path, collector: Collector) -> None:
    assert traced(place, collector).code == 75
    assert collector.names == ["1 Count {{AMOUNT}}"], "a run that waits has not ended"
    assert traced(place, collector, "answer", "2", "no", "--by", "ann").code == 0
    assert collector.names == ["1 Count {{AMOUNT}}", "2 Is it right?", "RUN pay"], "the answer ends the run"
    first, second, run = collector.spans
    assert {one.trace_id for one in collector.spans} == {run.trace_id}
    assert (first.parent_span_id, second.parent_span_id, run.parent_span_id) == (run.span_id, run.span_id, b"")
    assert (first.kind, run.kind) == (Span.SPAN_KIND_INTERNAL, Span.SPAN_KIND_SERVER)
    assert first.end_time_unix_nano == second.start_time_unix_nano, "a question waits from the end of the step before"
    assert values(first) == {
        "cicd.pipeline.task.name": "Count {{AMOUNT}}",
        "cicd.pipeline.task.run.id": "1",
        "cicd.pipeline.task.run.result": "success",
        "rdc.step": "1",
        "rdc.step.kind": "shell",
        "rdc.attempt": 1,
        "rdc.outcome": "pass",
        "rdc.transition": "CONTINUE",
    }
    assert values(second)["cicd.pipeline.task.run.result"] == "success", "for any reply"
    assert values(run) == {
        "cicd.pipeline.action.name": "RUN", "cicd.pipeline.result": "failure", "error.type": "stop",
    }  # fmt: skip
    assert (run.status.code, run.status.message) == (2, "")
    [resource] = {json.dumps(values(one.resource)) for one in collector.resources}
    assert json.loads(resource) == {
        "service.name": "rdc",
        "service.version": "0.1.0",
        "cicd.pipeline.name": "pay",
        "cicd.pipeline.run.id": journal(place)[0]["run"],
    }
    assert {one.schema_url for one in collector.resources} == {"https://opentelemetry.io/schemas/1.44.0"}
    assert {one.path for one in collector.posted} == {"/v1/traces"}


def test_a_trace_in_a_report_has_the_same_bytes(place: Path, collector: Collector) -> None:
    (place / "broken").touch()
    assert whole(place, collector, TRACEPARENT=PARENT, TRACESTATE="a=1").code == 1
    *_, failed, run = collector.spans
    assert (failed.status.code, failed.status.message, values(failed)["error.type"]) == (2, "exit code 1", "exit_code")
    assert values(failed)["rdc.transition"] == "STOP", "it has no message"
    assert (run.status.code, run.status.message, values(run)["error.type"]) == (2, "", "stop")
    (place / "broken").unlink()
    assert traced(place, collector, "retry", TRACEPARENT=OTHER).code == 0
    assert collector.names[3:] == ["RUN pay", "3 Send", "RUN pay"]
    printed = call("report", "--format", "otlp", cwd=place).out
    assert raw_spans(printed) == collector.raw_spans
    assert len({span.span_id for span in collector.spans}) == 6, "a retry has its own span of the run"


def test_each_part_of_a_long_run_is_sent_while_it_works(place: Path, collector: Collector) -> None:
    (place / "slow").touch()
    process = started(place, collector)
    wait_until((place / "started").exists)
    begun = time.monotonic()
    wait_until(lambda: collector.names == ["1 Count {{AMOUNT}}", "2 Is it right?"], SENDS_EVERY + 5)
    assert time.monotonic() - begun > 1
    for thread in Path(f"/proc/{process.pid}/task").glob("*"):
        if thread.name != str(process.pid):
            blocked = re.findall(r"^SigBlk:\s+(\w+)$", (thread / "status").read_text(), re.MULTILINE)
            assert [int(mask, 16) >> signal.SIGTERM - 1 & 1 for mask in blocked] == [1], "signals are for the run"
    process.send_signal(signal.SIGINT)
    assert process.wait(20) == 130


def started(place: Path, collector: Collector, *words: str) -> Started:
    """Start the document in its own process, which a test can kill."""
    (place / "answers").write_text("2 yes\n")
    words = words or ("run", "--answers", "answers")
    variables = environment(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    return warm.start([sys.executable, "-m", "rdc", "run", "pay.runbook.md", *words], cwd=place, env=variables)


def test_a_killed_run_sends_the_rest_after_it_is_resumed(place: Path, collector: Collector) -> None:
    assert traced(place, collector).code == 75
    assert collector.names == ["1 Count {{AMOUNT}}"]
    (place / "slow").touch()
    process = started(place, collector, "resume", "--answers", "answers")
    wait_until((place / "started").exists)
    process.kill()
    process.wait()
    assert collector.names == ["1 Count {{AMOUNT}}"], "the answer is recorded, but not sent"
    (place / "slow").unlink()
    traced(place, collector, "resume", "--rerun-interrupted")
    assert collector.names == ["1 Count {{AMOUNT}}", "2 Is it right?", "3 Send", "RUN pay"]
    assert raw_spans(call("report", "--format", "otlp", cwd=place).out) == collector.raw_spans
    assert (place / ".rdc" / "pay" / "traces").read_text() == f"{journal(place)[0]['run']} 4\n"
    traced(place, collector, "resume")
    assert len(collector.spans) == 4, "nothing is sent twice"
    (place / ".rdc" / "pay" / "traces").unlink()
    traced(place, collector, "resume")
    assert collector.raw_spans[4:] == collector.raw_spans[:4], "at least once: again the same spans"


def test_a_run_that_could_not_send_does_so_later(place: Path, collector: Collector) -> None:
    collector.replies = [Reply(500)]
    assert "rdc: traces were not sent: 127.0.0.1" in whole(place, collector).err
    collector.replies = [Reply()]
    assert traced(place, collector, "resume").code == 0
    assert collector.names == ["1 Count {{AMOUNT}}", "2 Is it right?", "3 Send", "RUN pay"]
    whole(place, collector)
    assert collector.names[4:] == collector.names[:4]
    assert len({one.trace_id for one in collector.spans}) == 2, "a new run starts its own trace"


def by_sdk(one: Span, resource: Resource, scope: InstrumentationScope) -> ReadableSpan:
    """The span that the SDK would have made."""
    pairs = (pair.partition("=") for pair in one.trace_state.split(",") if pair)
    state = TraceState([(key, value) for key, _, value in pairs])

    def placed(trace: bytes, span: bytes) -> SpanContext:
        ids = (int.from_bytes(trace, "big"), int.from_bytes(span, "big"))
        return SpanContext(*ids, is_remote=True, trace_flags=TraceFlags(1), trace_state=state)

    kinds = {Span.SPAN_KIND_INTERNAL: SpanKind.INTERNAL, Span.SPAN_KIND_SERVER: SpanKind.SERVER}
    codes = {0: StatusCode.UNSET, 2: StatusCode.ERROR}
    return ReadableSpan(
        one.name,
        context=placed(one.trace_id, one.span_id),
        parent=placed(one.trace_id, one.parent_span_id) if one.parent_span_id else None,
        resource=resource,
        attributes=values(one),  # type: ignore[arg-type]
        links=[Link(placed(each.trace_id, each.span_id)) for each in one.links],
        kind=kinds[one.kind],
        status=Status(codes[one.status.code], one.status.message or None),
        start_time=one.start_time_unix_nano,
        end_time=one.end_time_unix_nano,
        instrumentation_scope=scope,
    )


def meaning(collector: Collector, first: int) -> list[object]:
    """All that the requests from a number on mean, without the order of attributes and without what is optional."""
    found: list[object] = []
    for part in collector.resources[first:]:
        found.append((values(part.resource), part.schema_url))
        for scope in part.scope_spans:
            found.append((scope.scope.name, scope.scope.version))
            for span in scope.spans:
                shown = Span()
                shown.CopyFrom(span)
                shown.ClearField("attributes")
                shown.ClearField("flags")
                if span.status == Unset():
                    shown.ClearField("status")
                for link in shown.links:
                    link.ClearField("flags")
                    link.ClearField("trace_state")
                found.append((shown.SerializeToString(deterministic=True), values(span)))
    return found


def test_the_sdk_sends_a_trace_with_the_same_meaning(place: Path, collector: Collector) -> None:
    (place / "broken").touch()
    traced(place, collector, TRACEPARENT=PARENT, TRACESTATE="a=1,b=2")
    (place / "answers").write_text("2 yes\n")
    for _ in range(2):
        traced(place, collector, "resume", "--answers", "answers", TRACEPARENT=OTHER, TRACESTATE="z=9")
    run = collector.spans[-1]
    assert {one.trace_id.hex() for one in collector.spans} == {PARENT[3:35]}
    assert [(link.trace_id.hex(), link.span_id.hex()) for link in run.links] == [(OTHER[3:35], OTHER[36:52])]
    assert (place / "seen").read_text().splitlines()[1].endswith(f"{collector.spans[2].span_id.hex()}-01 a=1,b=2")
    ours = [posted.found.resource_spans[0] for posted in collector.posted]
    assert sum(len(span.links) for part in ours for span in part.scope_spans[0].spans) == 1
    exporter = OTLPSpanExporter(f"{collector.url}/v1/traces")
    for part in ours:
        resource = Resource(values(part.resource), part.schema_url)  # type: ignore[arg-type]
        [scope] = part.scope_spans
        known = InstrumentationScope(scope.scope.name, scope.scope.version)
        exporter.export([by_sdk(span, resource, known) for span in scope.spans])
    sent = len(ours)
    assert [posted.headers["content-type"] for posted in collector.posted[:sent]] == ["application/json"] * sent
    assert len(collector.posted) == 2 * sent
    assert meaning(collector, sent) == meaning(collector, 0)[: len(meaning(collector, sent))]


def test_a_run_is_a_part_of_the_trace_of_its_caller(place: Path, collector: Collector) -> None:
    whole(place, collector, TRACEPARENT=PARENT, TRACESTATE="a=1,b=2")
    first, _, third, run = collector.spans
    assert {one.trace_id.hex() for one in collector.spans} == {PARENT[3:35]}
    assert run.parent_span_id.hex() == PARENT[36:52]
    seen = (place / "seen").read_text().splitlines()
    assert seen == [f"00-{PARENT[3:35]}-{one.span_id.hex()}-01 a=1,b=2" for one in (first, third)]
    assert {one.trace_state for one in collector.spans} == {"a=1,b=2"}
    assert journal(place)[0]["traceparent"] == PARENT


def test_a_resume_without_a_parent_continues_the_trace(place: Path, collector: Collector) -> None:
    traced(place, collector, TRACEPARENT=PARENT)
    traced(place, collector, "answer", "2", "yes")
    assert traced(place, collector, "resume").code == 0
    assert {one.trace_id.hex() for one in collector.spans} == {PARENT[3:35]}
    assert [len(one.links) for one in collector.spans] == [0] * 4


@pytest.mark.parametrize("flags", ["00", "02"])
def test_a_trace_that_is_not_sampled_sends_nothing(flags: str, place: Path, collector: Collector) -> None:
    done = whole(place, collector, TRACEPARENT=f"{PARENT[:-2]}{flags}")
    assert (done.code, collector.tried, "traces" in done.err) == (0, 0, False)
    assert (place / "seen").read_text().split()[0].startswith(PARENT[:36])
    assert {line.strip()[-3:] for line in (place / "seen").read_text().splitlines()} == {"-00"}
    traced(place, collector, "resume", TRACEPARENT=OTHER)
    assert collector.tried == 0, "its caller has decided that at the start"


def test_a_parent_that_is_not_valid_is_ignored(place: Path, collector: Collector) -> None:
    assert whole(place, collector, TRACEPARENT=f"{PARENT}-00", TRACESTATE="a=1").code == 0
    assert collector.spans[-1].parent_span_id == b""
    assert "traceparent" not in journal(place)[0]


def test_traces_can_be_off(place: Path, collector: Collector) -> None:
    done = whole(place, collector, OTEL_SDK_DISABLED="True", TRACEPARENT=PARENT)
    assert (done.code, collector.tried) == (0, 0)
    assert (place / "seen").read_text().split() == [PARENT] * 2, "the commands get it as before"
    assert whole(place, "", TRACEPARENT=PARENT).code == 0
    assert not (place / ".rdc" / "pay" / "traces").exists()
    assert "traceparent" not in journal(place)[0]


def test_status_and_a_dry_run_send_nothing(place: Path, collector: Collector) -> None:
    for words in (["run", "--dry-run"], ["steps"], ["run", "--help"]):
        assert traced(place, collector, *words).code == 0
    traced(place, "")
    for words in (["status"], ["history"], ["report"]):
        assert traced(place, collector, *words).code in (0, 75)
    assert collector.tried == 0


def test_the_variables_of_opentelemetry_count(place: Path, collector: Collector) -> None:
    given = {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.url}/here?key=1",
        "OTEL_EXPORTER_OTLP_HEADERS": "Api-Key=top%20secret, x-two = 2 ,",
        "OTEL_RESOURCE_ATTRIBUTES": "team=pay%2Cments,service.name=x,cicd.pipeline.name=wrong",
        "OTEL_SERVICE_NAME": "deployments",
    }
    assert whole(place, "http://127.0.0.1:9", **given).code == 0
    [posted] = collector.posted
    assert posted.path == "/here?key=1"
    headers = {name.lower(): value for name, value in posted.headers.items()}
    assert (headers["api-key"], headers["x-two"]) == ("top secret", "2")
    about = values(collector.resources[0].resource)
    assert (about["team"], about["service.name"], about["cicd.pipeline.name"]) == ("pay,ments", "deployments", "pay")
    whole(place, collector, OTEL_EXPORTER_OTLP_HEADERS="a=1", OTEL_EXPORTER_OTLP_TRACES_HEADERS="b=2")
    assert {"a", "b"} & {name.lower() for name in collector.posted[1].headers} == {"b"}


@pytest.mark.parametrize(
    ("variable", "value", "notice"),
    [
        ("EXPORTER_OTLP_ENDPOINT", "http://ann:hunter2@127.0.0.1:4318", "must be like http://HOST:4318"),
        ("EXPORTER_OTLP_HEADERS", "x=hunter2%0d%0aInjected: 1", "must be like NAME=VALUE,NAME=VALUE"),
        ("EXPORTER_OTLP_HEADERS", "Host=hunter2", "has a header that cannot be sent"),
        ("EXPORTER_OTLP_HEADERS", "a=hunter2€", ""),
        ("RESOURCE_ATTRIBUTES", "team", "must be like NAME=VALUE,NAME=VALUE"),
        ("RESOURCE_ATTRIBUTES", "team=%1b[31m", "must be like NAME=VALUE,NAME=VALUE"),
    ],
)
def test_a_wrong_variable_is_one_notice_without_its_value(
    variable: str, value: str, notice: str, place: Path, collector: Collector
) -> None:
    (place / "answers").write_text("2 yes\n")
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, f"OTEL_{variable}": value}
    done = spawn("run", "pay.runbook.md", "run", "--answers", "answers", cwd=place, **given)
    assert (done.code, collector.tried, "hunter2" in done.err) == (0, 0, False)
    expected = f"OTEL_{variable} {notice}" if notice else f"127.0.0.1:{collector.port}: UnicodeEncodeError"
    assert [line for line in done.err.splitlines() if "traces" in line] == [f"rdc: traces were not sent: {expected}"]
    assert done.err.splitlines()[-2:] == ["rdc: COMPLETE", f"rdc: traces were not sent: {expected}"]


def test_a_busy_collector_is_tried_three_times(place: Path, collector: Collector) -> None:
    for status in (429, 502, 503, 504):
        collector.tried, collector.replies = 0, [Reply(status), Reply(status), Reply()]
        done = whole(place, collector)
        assert (done.code, collector.tried, "traces" in done.err) == (0, 3, False)
    collector.tried, collector.replies = 0, [Reply(503)]
    done = whole(place, collector)
    assert (done.code, collector.tried) == (0, 3)
    assert done.err.splitlines()[-1] == f"rdc: traces were not sent: 127.0.0.1:{collector.port}: HTTP 503"


@pytest.mark.share(3)
@pytest.mark.parametrize("status", [300, 307, 400, 401, 404, 413, 500])
def test_other_statuses_are_one_notice(status: int, place: Path, collector: Collector) -> None:
    collector.replies = [Reply(status)]
    done = whole(place, collector)
    assert (done.code, collector.tried) == (0, 1)
    assert [line for line in done.err.splitlines() if "traces" in line] == [
        f"rdc: traces were not sent: 127.0.0.1:{collector.port}: HTTP {status}"
    ]


def test_no_redirect_is_followed(place: Path, collector: Collector) -> None:
    with collecting() as other:
        collector.replies = [Reply(307, headers=(("location", f"{other.url}/v1/traces"),))]
        assert whole(place, collector, OTEL_EXPORTER_OTLP_HEADERS="api-key=hunter2").code == 0
        assert other.tried == 0


@pytest.mark.share(2)
@pytest.mark.parametrize(
    "reply",
    [
        Reply(raw=b"\0\1\2"),
        Reply(raw=b"HTTP/1.1 xyz\r\n\r\n"),
        Reply(raw=b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 1000 + b"\r\n"),
        Reply(raw=b"HTTP/1.1 503 Busy\r\nretry-after: 99999999999999999999\r\n\r\n"),
        Reply(raw=b"HTTP/1.1 \x1b[31m\r\n\r\n"),
        Reply(200, b'{"partialSuccess": {"rejectedSpans": "3", "errorMessage": "\x1b[31mno"}}'),
    ],
)
def test_a_broken_collector_is_one_notice(reply: Reply, place: Path, collector: Collector) -> None:
    collector.replies = [reply]
    done = whole(place, collector)
    assert done.code == 0
    [notice] = [line for line in done.err.splitlines() if "traces were not sent" in line]
    assert "\x1b" not in done.err
    assert b"rejected" not in reply.body or notice.endswith(f": 127.0.0.1:{collector.port} rejected 3")


@contextmanager
def silent() -> Iterator[str]:
    """An address that takes connections and never answers."""
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


def test_a_collector_that_never_answers_costs_two_seconds(place: Path) -> None:
    begun = time.monotonic()
    assert whole(place, "").code == 0
    usual, begun = time.monotonic() - begun, time.monotonic()
    with silent() as address:
        done = whole(place, address)
    assert done.code == 0
    assert done.err.splitlines()[-1] == f"rdc: traces were not sent: {address[7:]} takes too long"
    took = time.monotonic() - begun
    assert (took > 1.9, took - usual < 6) == (True, True), (took, usual)


def test_no_collector_or_one_without_a_certificate_is_one_notice(place: Path, collector: Collector) -> None:
    with silent() as address:
        pass
    done = whole(place, address)
    notice = f"rdc: traces were not sent: {address[7:]}: Connection refused"
    assert (done.code, done.err.splitlines()[-1]) == (0, notice)
    done = whole(place, f"https://127.0.0.1:{collector.port}")
    assert (done.code, collector.tried) == (0, 0)
    assert done.err.splitlines()[-1].startswith(f"rdc: traces were not sent: 127.0.0.1:{collector.port}: [SSL")


def test_an_answer_from_elsewhere_is_sent_once(place: Path, collector: Collector) -> None:
    variables = environment(OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    screen = Screen([sys.executable, "-m", "rdc", "run", "pay.runbook.md"], place, variables)
    screen.expect(r"Is it right\?")
    screen.expect("yes/no")
    assert traced(place, collector, "answer", "2", "yes").code == 0
    screen.expect("COMPLETE")
    assert screen.close() == 0
    assert sorted(collector.names) == ["1 Count {{AMOUNT}}", "2 Is it right?", "3 Send", "RUN pay"]


def test_a_file_that_cannot_be_kept_does_not_matter(place: Path, collector: Collector) -> None:
    traced(place, collector)
    path = place / ".rdc" / "pay" / "traces"
    for mark in ("", "x", f"{journal(place)[0]['run']} 999999999999\n", "\0" * 5000):
        path.write_text(mark)
        done = traced(place, collector, "resume")
        assert (done.code, "traces" in done.err) == (75, False)
    path.unlink()
    path.hardlink_to(place / "pay.runbook.md")
    assert traced(place, collector, "resume").code == 75
    assert (place / "pay.runbook.md").read_text(encoding="utf-8") == WORK
    assert {*collector.names} == {"1 Count {{AMOUNT}}"}


PRIVATE = """\
---
name: pay
rdc:
  inputs:
    AMOUNT: {default: value-of-input}
  outputs: [ID]
  secrets: [TOKEN]
---

# Pay

## 1. Take {{AMOUNT}}

```bash
echo "output $TOKEN" >&2
echo "ID=value-of-output" >> "$RDC_OUTPUT"
```

- PASS: CONTINUE
- FAIL: STOP

## 2. Is {{ID}} right?

Look at {{ID}} of {{AMOUNT}}.

- YES: CONTINUE
- NO: CONTINUE

## 3. Give {{ID}}

```bash
echo "output $TOKEN" >&2
exit 1
```

- PASS: COMPLETE "paid {{ID}}"
- FAIL: STOP "lost {{ID}} of {{AMOUNT}}"
"""


def test_no_value_output_note_or_name_is_sent(place: Path, collector: Collector) -> None:
    (place / "pay.runbook.md").write_text(PRIVATE, encoding="utf-8")
    secret = {"TOKEN": "secret-of-run"}
    signed = ("--by", "ann-of-team", "--note", "note-of-ann")
    assert traced(place, collector, **secret).code == 75
    assert traced(place, collector, "answer", "2", "no", *signed, **secret).code == 0
    assert traced(place, collector, "resume", "--logs", **secret).code == 1
    assert traced(place, collector, "retry", *signed, **secret).code == 1
    recorded = (place / ".rdc" / "pay" / "journal").read_text(encoding="utf-8")
    hidden = ["value-of-input", "value-of-output", "ann-of-team", "note-of-ann", "lost "]
    assert [text for text in hidden if text not in recorded] == []
    sent = "".join(one.body.decode() for one in collector.posted) + str([one.headers for one in collector.posted])
    hidden += ["secret-of-run", "output", "Look at", "exit 1", str(place), os.uname().nodename]
    assert [text for text in hidden if text in sent] == []
    assert [name for name in collector.names if name[0].isdigit()] == [
        "1 Take {{AMOUNT}}", "2 Is {{ID}} right?", "3 Give {{ID}}", "3 Give {{ID}}",
    ]  # fmt: skip


def test_all_agents_of_a_parallel_step_and_tools_continue_the_trace(tmp_path: Path, collector: Collector) -> None:
    made = program(
        node("write", agent("Write it."), edge("review", "pass"), edge("STOP")),
        node(
            "review",
            Parallel((agent("a", "OK"), agent("b", "OK"), agent("c", "OK")), "all"),
            edge("look", "OK"),
            edge("STOP"),
        ),
        node("look", Tool("files", "read", text("{}")), edge("COMPLETE", "pass"), edge("STOP")),
    )
    place = Compiled(tmp_path, made)
    tell = 'cat > /dev/null; echo "$RDC_STEP $TRACEPARENT" >> seen; echo OK'
    done = place.run("run", "--agent", tell, "--tool", f"files={tell}", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert done.code == 0, done.err
    assert collector.names == ["write Step write", "review Step review", "look Step look", "RUN deploy"]
    assert [values(one)["rdc.step.kind"] for one in collector.spans[:3]] == ["agent", "parallel", "tool"]
    ids = {values(one)["rdc.step"]: one.span_id.hex() for one in collector.spans[:3]}
    seen = dict(line.split(" ") for line in place.text("seen").splitlines())
    assert {*seen} == {"write", "review_0", "review_1", "review_2", "look"}
    for name, parent in seen.items():
        assert parent == f"00-{collector.spans[0].trace_id.hex()}-{ids[name.partition('_')[0]]}-01"


def test_the_executor_of_a_specification_continues_the_trace(tmp_path: Path, collector: Collector) -> None:
    place = compiled(tmp_path, EXECUTE, config={"executor": 'cat > /dev/null; echo "$TRACEPARENT" > seen'})
    assert place.run("run", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, TRACEPARENT=PARENT).code == 0
    assert [values(one).get("rdc.step") for one in collector.spans] == ["draft", None]
    step = collector.spans[0]
    assert values(step)["rdc.step.kind"] == "stage"
    assert place.text("seen") == f"{PARENT[:36]}{step.span_id.hex()}-01\n"


@pytest.mark.parametrize(("runtime", "which"), [("bundled", "oldest"), ("shared", "newest")])
def test_a_program_sends_its_trace_without_rdc(runtime: str, which: str, place: Path, collector: Collector) -> None:
    options = ("-O", "traces=true", "-O", f"runtime={runtime}")
    assert call("compile", "pay.runbook.md", "--to", "python", *options, cwd=place).code == 0
    (place / "answers").write_text("2 yes\n")
    variables = {"PATH": os.environ["PATH"], "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "TRACEPARENT": PARENT}
    command = [end_of_support(which), "-I", "-W", "error", "pay.py", "run", "--answers", "answers"]
    done = subprocess.run(command, cwd=place, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert collector.names == ["1 Count {{AMOUNT}}", "2 Is it right?", "3 Send", "RUN pay"]
    assert {one.trace_id.hex() for one in collector.spans} == {PARENT[3:35]}
    assert raw_spans(call("report", "--format", "otlp", cwd=place).out) == collector.raw_spans
    [resource] = collector.resources
    assert values(resource.resource)["service.version"] == "0.1.0"


def loaded_by(place: Path, file: str, **variables: str) -> set[str]:
    """The modules that a program imports in a run."""
    (place / "answers").write_text("2 yes\n")
    command = [sys.executable, "-I", "-X", "importtime", file, "run", "--answers", "answers"]
    given = {"PATH": os.environ["PATH"], **variables}
    done = subprocess.run(command, cwd=place, env=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}


def test_a_program_without_a_collector_loads_nothing(place: Path, collector: Collector) -> None:
    call("compile", "pay.runbook.md", "--to", "python", "-O", "traces=true", "-o", "with.py", cwd=place)
    call("compile", "pay.runbook.md", "--to", "python", "-o", "without.py", cwd=place)
    plain = loaded_by(place, "without.py", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert collector.tried == 0, "without the option it sends nothing"
    assert loaded_by(place, "with.py") == plain
    more = loaded_by(place, "with.py", OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    assert {"http.client", "threading"} <= more - plain
    assert "traceparent" not in journal(place)[0]


def test_rdc_run_loads_nothing_without_a_collector(place: Path) -> None:
    names = "import sys, rdc.cli; rdc.cli.main(['run', 'pay.runbook.md']); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", names], cwd=place, env=environment(), capture_output=True, text=True, check=False
    )
    assert not {"runtime_shim.targets.traces", "http.client"} & {*done.stdout.split()}, done.stderr


def test_tests_of_a_document_send_nothing(place: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    text_of_it = '# Pay\n\n## 1. Work\n\n```bash\ntest -z "$OTEL_EXPORTER_OTLP_ENDPOINT"\n```\n\n- PASS: COMPLETE\n'
    (place / "pay.runbook.md").write_text(text_of_it, encoding="utf-8")
    (place / "pay.scenarios.yaml").write_text(
        "works:\n  commands: [rd run pay.runbook.md]\n  result: COMPLETE\n", encoding="utf-8"
    )
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    done = call("test", "pay.runbook.md", "--on", "python", cwd=place)
    assert (done.code, collector.tried) == (0, 0), done.err


EXAMPLES = sorted(
    path
    for path in (ROOT / "examples").rglob("*.*")
    if re.search(r"\.(runbook|playbook)\.md$|\.(workflow|stepspec)\.(yaml|json)$", path.name)
)


class Assumed(Performer):
    """Gives a step each of its outcomes in turn, and runs nothing."""

    recovers = False

    def perform(self, name: str, node: Table) -> Done:
        """Return the next outcome."""
        done = [one["node"] for one in self.session.state.finished]
        if len(done) >= 60:
            raise Waiting("enough")
        words = words_of(node)
        return Done(words[done.count(name) % len(words)], "exit code 1")


@pytest.mark.share(4)
@pytest.mark.parametrize("path", EXAMPLES, ids=[path.name for path in EXAMPLES])
def test_the_trace_of_an_example_is_accepted(
    path: Path, tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(EXAMPLES) > 35
    compilation = compile_file(str(path), Settings())
    assert compilation.program is not None
    table = table_of(compilation.program)
    tasks = {each["task"] for each in table["nodes"].values()}
    table["inputs"] = [{**item, "type": "text", "pattern": None} for item in table.get("inputs", ())]
    given = [item["name"] for item in table["inputs"] if item["required"] and item.get("default") is None]
    words = ["run", *(word for name in given for word in ("--input", f"{name}=1"))]
    words += ["--executor", "true"] if "stepspec" in table else []
    assuming = type("Assuming", (Extension,), {"performers": dict.fromkeys(tasks - {"stage"}, Assumed)})
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
    monkeypatch.setattr("rdc.runs.reports.run_process", lambda *_: Ended(2))
    for name in table.get("secrets", ()):
        monkeypatch.setenv(name, "secret")
    monkeypatch.chdir(tmp_path)
    code = ended(fork(lambda: main(table, words, more=(assuming,), version="0.1.0")))
    assert code in (0, 1, 75)
    assert len(collector.spans) > (code != 75)
    assert all(values(one)["rdc.step"] in table["nodes"] for one in collector.spans if one.kind == 1)
    printed = call("report", "--format", "otlp", cwd=tmp_path).out
    assert raw_spans(printed) == collector.raw_spans
    parsed(printed.encode())
