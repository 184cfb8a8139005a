"""Traces: each finished step of a run becomes a span, sent to the collector that OpenTelemetry's variables name.

A span has titles and transitions as the document has them. It has no values, output, notes or names of people.
"""

import os
import re
import signal
import time
from collections.abc import Mapping, Sequence
from contextlib import closing, suppress
from typing import Any

from runtime_shim.cli.command_line import Execute
from runtime_shim.engine.display import Display
from runtime_shim.engine.journal import Record, to_json
from runtime_shim.engine.outcomes import Host
from runtime_shim.engine.program import Table, UsageError
from runtime_shim.engine.session import NOT_PASSED, Extension, Kinds, Session
from runtime_shim.engine.state import ENDED, MOVES, State, digest
from runtime_shim.engine.texts import one_line
from runtime_shim.engine.times import moment, timed_step

OTLP, SCHEMA = "OTEL_EXPORTER_OTLP_", "https://opentelemetry.io/schemas/1.44.0"
SENDS_EVERY, ANSWERS_WITHIN, ENDS_WITHIN = 5.0, 10.0, 2.0  # seconds
BUSY, TRIES, BUSY_PAUSE = (429, 502, 503, 504), 3, 0.2  # statuses after which to try again, and in how many seconds
SPANS_AT_ONCE = 500
PARENT = r"(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]([0-9a-f])(-.*)?"
LINKED_KINDS = ("adopt", "done", "resume", "again", "agreed")  # records that keep the parent of a later call
LEG_ENDED = "leg_ended"
HEADER = r"(?!(host|connection|content-length|transfer-encoding)$)[a-z0-9!#$%&'*+.^_`|~-]+"
QUESTION_TASKS = ("ask", "value", "confirm", "input", "select", "gate")  # any reply to these is a success
ENDED_BY_PEOPLE = (*MOVES, "canceled")  # outcomes of steps that did not end by themselves
TROUBLES = {  # by the type of the error; other reasons may contain values
    "exit_code": "exit code [0-9]+(: SIGPIPE, a pipeline's reader ended early)?",
    "signal": "killed by (SIG[A-Z0-9+]+|signal [0-9]+)",
    "timeout": "(timeout|expired) after [0-9][0-9a-z. ]*|out of time",
}


def parent_in(given: str) -> str:
    """Return a TRACEPARENT in the form of version 00; "" if it is not valid."""
    found = re.fullmatch(PARENT, given.strip())
    if not found or (found[1] == "00" and found[5]):
        return ""
    return f"00-{found[2]}-{found[3]}-0{int(found[4], 16) & 1}"


def state_in(given: str) -> str:
    """Return a TRACESTATE; "" if it is not valid."""
    return given if re.fullmatch("[ -~]{1,512}", given) else ""


def nanoseconds(stamp: object) -> int:
    """Return a record's time in nanoseconds since 1970."""
    since = moment(stamp) - moment("1970-01-01T00:00:00Z")
    return int((since.days * 86400 + since.seconds) * 10**9 + since.microseconds * 1000)


def attributes(values: Mapping[str, object]) -> list[Table]:
    """Return the values that are set, in the form of OTLP."""
    kinds = ((key, "intValue" if isinstance(value, int) else "stringValue") for key, value in values.items())
    return [{"key": key, "value": {kind: one_line(str(values[key]))}} for key, kind in kinds if values[key] != ""]


class RunSpans:
    """Turns the records of a run into spans. The IDs come from the run, so that a span can be sent twice."""

    def __init__(self, first: Record) -> None:
        self.first = self._last = first
        self.number = self._part = 0  # of finished steps, and of the part of the run: each retry starts another
        self.parents = [parent_in(first.get("traceparent", ""))]
        parent = self.parents[0] or f"00-{self._id('trace', 32)}--01"
        self._at, (_, self.trace, self._above, self.flags) = nanoseconds(first["time"]), parent.split("-")
        self._since, self._is_over, self._steps = self._at, False, dict[str, Sequence[str]]()
        self.state = state_in(first.get("tracestate", ""))

    def _id(self, what: object, size: int = 16) -> str:
        return digest(f"{self.first['run']}\0{what}")[:size]

    def now(self) -> str:
        """Return the TRACEPARENT for the processes of the current step."""
        return f"00-{self.trace}-{self._id(self.number + 1)}-{self.flags}"

    def add(self, record: Record) -> list[Table]:
        """Read the next record, and return the spans that it completes."""
        found, was_over, state = [], self._is_over, record.get("condition")
        self._steps.update((step[0], step[1:3]) for step in record.get("steps", ()))
        self._is_over = state in ENDED if state else was_over
        if was_over and not self._is_over:
            self._since = nanoseconds(record["time"]) if "time" in record else self._at
            self._part, self.parents = self._part + 1, self.parents[:1]
        if parent_in(record.get("traceparent", "")) not in ("", *self.parents):
            self.parents.append(parent_in(record["traceparent"]))
        if record["kind"] == "done":
            self.number += 1
            found = [] if was_over else [self._step(record)]
            self._last = record
        return [*found, self._run(record)] if self._is_over and not was_over else found

    def _step(self, record: Record) -> Table:
        name, outcome, one = record["node"], record["outcome"], timed_step(self._last, record)
        kind, title = self._steps.get(name, ("", ""))
        start = nanoseconds(one["started"]) if "started" in one else self._at
        self._at = nanoseconds(record["time"]) if "started" in one else start + int(one["took"] * 10**9)
        is_failed = outcome in (*NOT_PASSED, "rejected")
        trouble = [key for key, known in TROUBLES.items() if is_failed and re.fullmatch(known, record["how"])]
        is_failure = trouble or (is_failed and kind not in QUESTION_TASKS)
        result = "timeout" if "timeout" in trouble else "failure" if is_failure else "success"
        own = {"step": name, "step.kind": kind, "attempt": record["attempt"], "outcome": outcome}
        own["transition"] = record["says"]
        values = {
            "cicd.pipeline.task.name": title or name,
            "cicd.pipeline.task.run.id": str(self.number),
            "cicd.pipeline.task.run.result": "cancellation" if outcome in ENDED_BY_PEOPLE else result,
            "error.type": [*trouble, "_OTHER"][0] if is_failure else "",
            **{f"rdc.{key}": value for key, value in own.items()},
        }
        about = {"parentSpanId": self._id(f"run {self._part}"), "name": one_line(f"{name} {title}"), "kind": 1}
        return self._span(self.number, about, (start, values), record["how"] if trouble else "")

    def _run(self, record: Record) -> Table:
        is_limit, is_canceled = not {"limited", "spent"}.isdisjoint(record), record.get("outcome") == "canceled"
        result = "success" if record["condition"] == "complete" else "cancellation" if is_canceled else "failure"
        error = ("limit" if is_limit else "stop") if result == "failure" else ""
        values = {"cicd.pipeline.action.name": "RUN", "cicd.pipeline.result": result, "error.type": error}
        links = [{"traceId": one[3:35], "spanId": one[36:52]} for one in self.parents[1:]]
        about = {"parentSpanId": self._above, "name": one_line(f"RUN {self.first['name']}"), "kind": 2, "links": links}
        return self._span(f"run {self._part}", about, (self._since, values))

    def _span(self, what: object, about: Table, found: tuple[int, Mapping[str, object]], why: str = "") -> Table:
        start, values = found
        ids = {"traceId": self.trace, "spanId": self._id(what), "traceState": self.state}
        times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(max(start, self._at))}
        status = {"code": 2, **({"message": why} if why else {})} if values["error.type"] else {}
        whole = {**ids, **about, **times, "attributes": attributes(values), "status": status}
        return {key: value for key, value in whole.items() if value}


def pairs_of(variable: str, environment: Mapping[str, str]) -> dict[str, str]:
    """Return the pairs of a variable such as `NAME=VALUE,NAME=VALUE`; raise ValueError if it is not like that."""
    import urllib.parse  # slow to import

    parts = [part.partition("=") for part in environment.get(variable, "").split(",") if part.strip()]
    found = {urllib.parse.unquote(name).strip(): urllib.parse.unquote(value).strip() for name, _, value in parts}
    is_whole = "" not in found and all(equals for _, equals, _ in parts)
    if not (is_whole and "".join([*found, *found.values()]).isprintable()):  # a line break would start a header
        raise ValueError(f"{variable} must be like NAME=VALUE,NAME=VALUE")
    return found


def document(first: Record, spans: Sequence[str], version: str, environment: Mapping[str, str]) -> str:
    """Return spans of a run as a request in OTLP/JSON. Raise ValueError if a variable for the resource is wrong."""
    ours = {"cicd.pipeline.name": first["name"], "cicd.pipeline.run.id": first["run"]}
    named = {"service.name": environment["OTEL_SERVICE_NAME"]} if environment.get("OTEL_SERVICE_NAME") else {}
    given = pairs_of("OTEL_RESOURCE_ATTRIBUTES", environment)
    resource = {"attributes": attributes({"service.name": "rdc", "service.version": version, **given, **named, **ours})}
    scope = f'{{"scope":{to_json({"name": "rdc", "version": version})},"spans":[{",".join(spans)}]}}'
    head = f'{{"resourceSpans":[{{"resource":{to_json(resource)},"schemaUrl":"{SCHEMA}"'
    return f'{head},"scopeSpans":[{scope}]}}]}}'


def address_in(environment: Mapping[str, str]) -> str:
    """Return the address that traces go to; "" without one, or if they are off."""
    if environment.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return ""
    base, own = (environment.get(f"{OTLP}{name}ENDPOINT", "").strip() for name in ("", "TRACES_"))
    return own or (base and f"{base.rstrip('/')}/v1/traces")


class Collector:
    """The collector that an environment names. The constructor raises ValueError if a variable is wrong."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        import urllib.parse

        address, variable = address_in(environment), f"{OTLP}TRACES_HEADERS"
        variable = variable if environment.get(variable) else f"{OTLP}HEADERS"
        self._headers = {name.lower(): value for name, value in pairs_of(variable, environment).items()}
        if not all(re.fullmatch(HEADER, name) for name in self._headers):
            raise ValueError(f"{variable} has a header that cannot be sent")
        try:
            parts = urllib.parse.urlsplit(address if re.fullmatch("[!-~]+", address) else "")
            self._host, self._port = parts.hostname or "", parts.port
        except ValueError:
            parts, self._host, self._port = urllib.parse.urlsplit(""), "", None
        if not self._host or parts.scheme not in ("http", "https") or "@" in parts.netloc:  # it may have a password
            raise ValueError(f"{OTLP}ENDPOINT must be like http://HOST:4318")
        self._path = f"{parts.path or '/'}{'?' * bool(parts.query)}{parts.query}"
        self._is_safe, self.place = parts.scheme == "https", parts.netloc

    def post(self, body: str, version: str) -> tuple[int, str, bytes]:
        """Send a request, and return the status, the pause that the collector asks for, and the start of its answer.

        Without an answer, return 0 and the reason. No redirect is followed.
        """
        import http.client  # slow to import

        headers = {**self._headers, "content-type": "application/json", "user-agent": f"rdc/{version}"}
        kind = http.client.HTTPSConnection if self._is_safe else http.client.HTTPConnection
        try:
            with closing(kind(self._host, self._port, timeout=ANSWERS_WITHIN)) as connection:
                connection.request("POST", self._path, body.encode(), headers)
                answer = connection.getresponse()
                return answer.status, answer.getheader("retry-after", ""), answer.read(65536)
        except (OSError, ValueError, http.client.HTTPException) as error:
            return 0, getattr(error, "strerror", None) or type(error).__name__, b""


class Sender:
    """Sends the spans of one call in a thread. The file `traces` of the run keeps how many were sent."""

    def __init__(self, version: str, parent: str) -> None:
        self.version, self.parent, self.problem = version, parent, ""
        self.reader: RunSpans | None = None
        self._due: list[str] = []
        self._first, self._rejected, self._file = 0, 0, -1  # how many spans came before these; the open file
        self._thread: Any = None
        self._has_folder = False

    def start(self, session: Session, records: Sequence[Record]) -> None:
        """Read the records so far, and start the thread, unless the caller's trace is not sampled."""
        import threading  # slow to import

        self.reader, self._has_folder = RunSpans(records[0]), bool(session.store.within)
        for record in records:
            self.add(record)
        if self.reader.flags == "00":
            return
        try:
            self._collector = Collector(os.environ)
            document(self.reader.first, (), "", os.environ)
        except ValueError as error:
            self.problem = str(error)
            return
        with suppress(OSError, UsageError):  # without the file, spans are sent again
            self._file = session.store.within.open("traces", os.O_RDWR | os.O_CREAT) if self._has_folder else -1
        self._over, self._thread = threading.Event(), threading.Thread(target=self._work, daemon=True)
        before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())  # they are for the main thread
        self._thread.start()
        signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def add(self, record: Record) -> None:
        """Take the spans that a record completes. A worker sends those of an operator's command, except `cancel`."""
        spans = self.reader.add(record) if self.reader else ()
        if self._has_folder or (self._thread and record.get("outcome") == "canceled"):
            self._due += map(to_json, spans)

    def finish(self, display: Display) -> None:
        """Send the rest, wait a short time for that, and show why something was not sent."""
        if self._thread:
            self._over.set()
            self._thread.join(ENDS_WITHIN)
            if self._thread.is_alive():
                self.problem = self.problem or f"{self._collector.place} takes too long"
        if self.problem:
            display.rule(f"traces were not sent: {one_line(self.problem)}")
        self.problem, self._thread = "", None

    def _work(self) -> None:
        while not self._over.wait(SENDS_EVERY):
            self._send()
        self._send()

    def _send(self) -> None:
        """Send the spans. Another call about this run may have sent some of them."""
        run = self.reader.first["run"] if self.reader else ""
        while True:
            mark = os.pread(self._file, 250, 0).decode(errors="replace") if self._file >= 0 else ""
            found = re.fullmatch(f"{re.escape(run)} ([0-9]{{1,9}})\n", mark)
            self._forget(int(found[1]) if found else 0)
            spans = self._due[:SPANS_AT_ONCE]
            if not (self.reader and spans and self._is_taken(self.reader.first, spans)):
                return
            self._forget(self._first + len(spans))
            with suppress(OSError):  # without a file, or if the disk is full
                os.ftruncate(self._file, os.pwrite(self._file, f"{run} {self._first}\n".encode(), 0))

    def _forget(self, sent: int) -> None:
        gone = min(max(sent - self._first, 0), len(self._due))
        del self._due[:gone]
        self._first += gone

    def _is_taken(self, first: Record, spans: Sequence[str]) -> bool:
        """Send spans, again if the collector is busy, and return whether it took them."""
        body, place, asked = document(first, spans, self.version, os.environ), self._collector.place, ""
        for attempt in range(TRIES):
            time.sleep(min(int(asked), SENDS_EVERY) if re.fullmatch("[0-9]{1,3}", asked) else BUSY_PAUSE * attempt)
            status, asked, answer = self._collector.post(body, self.version)
            if 200 <= status < 300:
                found = re.search(rb'"rejectedSpans"\s*:\s*"?([1-9][0-9]{0,8})', answer)
                self._rejected += int(found[1]) if found else 0
                self.problem = f"{place} rejected {self._rejected}" if self._rejected else ""
                return True
            self.problem = f"{place}: {f'HTTP {status}' if status else asked}"
            if status not in BUSY:
                return False
        return False


class Traces(Extension):
    """Lets a run be traced. A subclass has the sender of a call."""

    sender: Sender

    def before_run(self, state: "State | None") -> None:
        """Take the records of an earlier call."""
        self._records = list(self.session.store.records()) if state and not self.sender.reader else []

    def open(self) -> None:
        """Start to send."""
        if self.sender.reader is None:
            self.sender.start(self.session, self._records or [self.session.state.begin])

    def record(self, record: Record) -> Record:
        """Add the parent of the run to its first record, and the parent of a later call to that call's next record."""
        reader, parent, state = self.sender.reader, self.sender.parent, state_in(os.environ.get("TRACESTATE", ""))
        if parent and reader is None and record.get("kind") == "begin":
            return {**record, "traceparent": parent, **({"tracestate": state} if state else {})}
        is_new = reader and parent not in ("", *reader.parents) and record.get("kind") in LINKED_KINDS
        return {**record, "traceparent": parent} if is_new else record

    def written(self, record: Record) -> None:
        """Take the spans that the record completes."""
        self.sender.add(record)

    def variables(self, _node: Table, _registers: Any) -> dict[str, str]:
        """Return the variables that let a process continue the trace below its step."""
        reader = self.sender.reader
        found = {"TRACEPARENT": reader.now(), "TRACESTATE": reader.state} if reader else {}
        return {key: value for key, value in found.items() if value}

    def event(self, event: str, _fields: Record) -> None:
        """Send the rest at the end of a worker's leg, whose process ends without returning."""
        if event == LEG_ENDED:
            self.sender.finish(self.session.display)


def traced(execute: Execute, version: str) -> Execute:
    """Return how to run a subcommand with traces, or the same if the environment names no collector."""
    if not address_in(os.environ):
        return execute

    def run(program: Table, argv: list[str], host: Host, display: Display, kinds: Kinds) -> int:
        is_worker = argv[:1] == ["worker"]  # its runs have other parents
        sender = Sender(version, "" if is_worker else parent_in(os.environ.get("TRACEPARENT", "")))
        try:
            return execute(program, argv, host, display, [*kinds, type("Traced", (Traces,), {"sender": sender})])
        finally:
            sender.finish(display)

    return run
