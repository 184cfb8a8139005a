"""The spans of a run's records: results, reasons, times, and what a damaged or old journal gives."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runtime_shim.engine.journal import to_json
from runtime_shim.targets.traces import Collector, RunSpans, document, pairs_of, parent_in
from tests.support.collector import parsed, values

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
BEGIN = datetime(2026, 11, 29, 8, 0, tzinfo=UTC)
STEPS = [
    ["1", "shell", "Install {{VERSION}}", "0"],
    ["2", "ask", "Fine?", "0"],
    ["3", "gate", "Approve", "0"],
    ["4", "agent", "Review", "0"],
    ["5", "shell", "", "0"],
]


def at(seconds: float) -> str:
    return (BEGIN + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def begin(**more: Any) -> dict[str, Any]:
    about = {"kind": "begin", "run": "r1", "name": "pay", "condition": "running", "steps": STEPS, "time": at(0)}
    return {**about, **more}


def done(node: str, seconds: float, outcome: str = "pass", how: str = "", **more: Any) -> dict[str, Any]:
    about = {"kind": "done", "node": node, "title": "with a value", "attempt": 1, "outcome": outcome, "how": how}
    return {**about, "says": "CONTINUE", "seconds": 1.0, "condition": "running", "time": at(seconds), **more}


def spans_of(*records: dict[str, Any]) -> list[Any]:
    """The spans of records, as a collector reads them."""
    reader = RunSpans(records[0])
    found = [to_json(span) for record in records for span in reader.add(record)]
    request = parsed(document(records[0], found, "1", {}).encode())
    return [span for part in request.resource_spans for scope in part.scope_spans for span in scope.spans]


@pytest.mark.parametrize(
    ("record", "result", "error", "message"),
    [
        (done("1", 1), "success", None, ""),
        (done("1", 1, "fail", "exit code 7"), "failure", "exit_code", "exit code 7"),
        (done("1", 1, "fail", "killed by SIGRTMIN+1"), "failure", "signal", "killed by SIGRTMIN+1"),
        (done("1", 1, "fail", "killed by signal 63"), "failure", "signal", "killed by signal 63"),
        (done("1", 1, "fail", "timeout after 1 min 2 s"), "timeout", "timeout", "timeout after 1 min 2 s"),
        (done("1", 1, "fail", "bash was not found"), "failure", "_OTHER", ""),
        (done("1", 1, "fail", "exit code 7, secret"), "failure", "_OTHER", ""),
        (done("1", 1, "fail", "as assumed", by="ann"), "failure", "_OTHER", ""),
        (done("2", 1, "fail", "answered", by="ann"), "success", None, ""),
        (done("2", 1, "fail", "exit code 3"), "failure", "exit_code", "exit code 3"),
        (done("2", 1, "fail", "expired after 2 h 3 min", by="rdc"), "timeout", "timeout", "expired after 2 h 3 min"),
        (done("3", 1, "rejected", "answered", by="ann"), "success", None, ""),
        (done("3", 1, "rejected", "expired after 1.0 s", by="rdc"), "timeout", "timeout", "expired after 1.0 s"),
        (done("4", 1, "OK", "answered by ann"), "success", None, ""),
        (done("4", 1, "failed", "out of time"), "timeout", "timeout", "out of time"),
        (done("4", 1, "invalid", "private words"), "failure", "_OTHER", ""),
        (done("4", 1, "none", "private words"), "failure", "_OTHER", ""),
        (done("4", 1, "failed", "exit code 3"), "failure", "exit_code", "exit code 3"),
        (done("4", 1, "failed", "killed by SIGKILL"), "failure", "signal", "killed by SIGKILL"),
        (done("2", 1, "goto", "moved to 4", by="ann"), "cancellation", None, ""),
        (done("2", 1, "canceled", "canceled", by="ann"), "cancellation", None, ""),
    ],
)
def test_the_result_of_a_step(record: dict[str, Any], result: str, error: str | None, message: str) -> None:
    [step] = spans_of(begin(), record)
    found = values(step)
    assert (found["cicd.pipeline.task.run.result"], found.get("error.type")) == (result, error)
    assert (step.status.code, step.status.message) == (2 if error else 0, message)
    assert "with a value" not in str(step)


def test_the_result_of_a_run() -> None:
    for more, result, error, code in (
        ({"condition": "complete"}, "success", None, 0),
        ({"condition": "stop", "message": "private"}, "failure", "stop", 2),
        ({"condition": "stop", "limited": 3}, "failure", "limit", 2),
        ({"condition": "stop", "spent": True}, "failure", "limit", 2),
        ({"condition": "stop", "outcome": "canceled"}, "cancellation", None, 0),
    ):
        _, run = spans_of(begin(), done("1", 1, **more))
        assert (values(run)["cicd.pipeline.result"], values(run).get("error.type")) == (result, error)
        assert (run.status.code, run.status.message, run.name) == (code, "", "RUN pay")
    [run] = spans_of(begin(condition="complete"))
    assert (run.name, run.start_time_unix_nano) == ("RUN pay", run.end_time_unix_nano), "it ended at its start"


def test_times_are_those_of_the_records() -> None:
    step, answer, run = spans_of(begin(), done("1", 5.25), done("2", 65.5, by="ann", condition="stop"))
    zero = int(BEGIN.timestamp()) * 10**9
    assert (step.start_time_unix_nano - zero, step.end_time_unix_nano - zero) == (4_250_000_000, 5_250_000_000)
    assert (answer.start_time_unix_nano, answer.end_time_unix_nano - zero) == (step.end_time_unix_nano, 65_500_000_000)
    assert (run.start_time_unix_nano - zero, run.end_time_unix_nano - zero) == (0, 65_500_000_000)


def test_steps_of_an_old_journal_follow_each_other() -> None:
    def without_times(*records: dict[str, Any]) -> list[Any]:
        return spans_of(begin(), *({key: one[key] for key in one if key != "time"} for one in records))

    first, second, run = without_times(done("1", 0), done("5", 0, condition="complete"))
    zero = int(BEGIN.timestamp()) * 10**9
    assert (first.start_time_unix_nano - zero, first.end_time_unix_nano - zero) == (0, 10**9)
    assert (second.start_time_unix_nano - zero, run.end_time_unix_nano - zero) == (10**9, 2 * 10**9)
    ended = done("1", 0, "fail", "exit code 1", condition="stop")
    _, stop, _, complete = without_times(
        ended, done("1", 0, "retry", condition="ready"), done("1", 0, condition="complete")
    )
    assert complete.start_time_unix_nano == stop.end_time_unix_nano, "a retry starts when the run ended"


def test_a_clock_that_was_set_back_gives_no_negative_time() -> None:
    for record in (done("1", -3600), done("2", -3600, by="ann")):
        for span in spans_of(begin(), {**record, "condition": "stop"}):
            assert span.start_time_unix_nano <= span.end_time_unix_nano


def test_a_span_has_the_name_or_title_without_what_could_hide_something() -> None:
    [step] = spans_of(begin(), done("5", 1))
    assert (step.name, values(step)["cicd.pipeline.task.name"]) == ("5", "5")
    [step] = spans_of(begin(steps=[["1", "shell", "a\x1b[31m\ud800\u202eb\nc", "0"]]), done("1", 1, says="GOTO \x00"))
    assert (step.name, values(step)["rdc.transition"]) == ("1 a?[31m??b c", "GOTO ?")


def test_a_retry_starts_another_part_of_the_run() -> None:
    records = [begin(), done("1", 1, "fail", "exit code 1", condition="stop"), done("1", 9, "retry", condition="ready")]
    records += [done("1", 11, condition="complete", says="COMPLETE")]
    first, stop, again, complete = spans_of(*records)
    assert (first.parent_span_id, again.parent_span_id) == (stop.span_id, complete.span_id)
    assert len({one.span_id for one in (first, stop, again, complete)}) == 4
    assert [values(one)["cicd.pipeline.result"] for one in (stop, complete)] == ["failure", "success"]
    assert complete.start_time_unix_nano - stop.end_time_unix_nano == 8 * 10**9
    assert values(again)["cicd.pipeline.task.run.id"] == "3", "as in the names of logs"


def test_a_raised_limit_starts_another_part_of_the_run() -> None:
    again = {"kind": "again", "condition": "ready", "time": at(5)}
    records = [begin(), done("1", 1, condition="stop", limited=1), again, done("2", 7, by="ann", condition="complete")]
    *_, second, run = spans_of(*records)
    assert (second.name, second.parent_span_id) == ("2 Fine?", run.span_id)


def test_an_adopted_run_has_the_titles_of_its_time() -> None:
    adopt = {"kind": "adopt", "condition": "ready", "steps": [["1", "ask", "New", "0"]], "time": at(3)}
    old, new = spans_of(begin(), done("1", 1), adopt, done("1", 4, by="ann"))
    assert (old.name, new.name, values(new)["rdc.step.kind"]) == ("1 Install {{VERSION}}", "1 New", "ask")


@given(st.text(), st.text().filter(str.split), st.text(), st.integers(1, 9))
def test_any_text_gives_a_valid_request(title: str, node: str, transition: str, number: int) -> None:
    steps = [[node, "shell", title, "0"]]
    assert len(spans_of(begin(steps=steps), *(done(node, at, says=transition) for at in range(number)))) == number


@given(st.text())
def test_a_parent_is_valid_or_empty(text: str) -> None:
    assert parent_in(text) == ""


def test_a_parent_that_is_not_valid_is_none() -> None:
    wrong = ["", "x", PARENT[:-1], f"{PARENT}0", f"{PARENT}-00", PARENT.upper(), f"ff{PARENT[2:]}"]
    wrong += [f"00-{'0' * 32}-b7ad6b7169203331-01", f"{PARENT[:36]}{'0' * 16}-01", PARENT.replace("0af7", "0äf7")]
    assert [parent_in(text) for text in wrong] == [""] * len(wrong)
    assert parent_in(PARENT) == parent_in(f"cc{PARENT[2:]}-what-ever") == PARENT, "also of a later version"


@given(st.dictionaries(st.text("abc-_.", min_size=1), st.text("abc %2C/+=é", min_size=0)))
def test_pairs_are_read_as_they_are_written(pairs: dict[str, str]) -> None:
    written = ",".join(f"{name}={value.replace('%', '%25').replace(',', '%2C')}" for name, value in pairs.items())
    assert pairs_of("X", {"X": written}) == {name: value.strip() for name, value in pairs.items()}


@pytest.mark.parametrize(
    "address",
    [
        *(
            "collector",
            "collector:4318",
            "http://",
            "http:///v1",
            "http://:4318",
            "ftp://127.0.0.1",
            "file:///etc/passwd",
        ),
        *("http://127.0.0.1:99999", "http://127.0.0.1:x", "http://[::1", "http://ann:hunter2@127.0.0.1:4318"),
        *("http://127.0.0.1:4318\r\nX-Injected: hunter2", "http://127.0.0.1/a b", "http://127.0.0.1/\x1b[31m"),
        "http://kö.example",
    ],
)
def test_a_wrong_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"^OTEL_EXPORTER_OTLP_ENDPOINT must be like http://HOST:4318$"):
        Collector({"OTEL_EXPORTER_OTLP_ENDPOINT": address})


@pytest.mark.parametrize("variable", ["OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS"])
def test_a_wrong_header_is_refused_without_its_value(variable: str) -> None:
    given = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
    for value in ("x=hunter2%0d%0aInjected: 1", "x%0d%0aInjected: 1=hunter2", "hunter2", "=hunter2", "x=hunter2%00"):
        with pytest.raises(ValueError, match=f"^{variable} must be like NAME=VALUE,NAME=VALUE$"):
            Collector({**given, variable: value})
    for name in ("a b", "a:b", "kö", "Host", "content-length", "Transfer-Encoding"):
        with pytest.raises(ValueError, match=f"^{variable} has a header that cannot be sent$"):
            Collector({**given, variable: f"{name}=hunter2"})
