"""A stand-in for a collector of OpenTelemetry: it reads each request strictly, and answers as a test wants."""

import base64
import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}
"""The fields that OTLP/JSON writes as hexadecimal digits instead of base64, and their bytes."""


class Reply(NamedTuple):
    """An answer of the collector."""

    status: int = 200
    body: bytes = b"{}"
    headers: tuple[tuple[str, str], ...] = ()
    seconds: float = 0.0
    raw: bytes = b""  # instead of an answer in HTTP


class Posted(NamedTuple):
    """A request: its path, headers and body, and its spans if it was read."""

    path: str
    headers: dict[str, str]
    body: bytes
    found: ExportTraceServiceRequest


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = [key for key, _ in pairs]
    assert len({*keys}) == len(keys), f"a key is there twice: {keys}"
    assert all(re.fullmatch("[a-z][A-Za-z]*", key) for key in keys), f"not in lowerCamelCase: {keys}"
    return dict(pairs)


def _with_base64(value: Any) -> Any:
    """A value of OTLP/JSON as the JSON of protobuf."""
    if isinstance(value, list):
        return [_with_base64(one) for one in value]
    if not isinstance(value, dict):
        return value
    for key in IDS.keys() & value.keys():
        assert re.fullmatch(f"[0-9a-f]{{{2 * IDS[key]}}}", value[key]), f"{key} is {value[key]}"
        assert set(value[key]) != {"0"}, key
    whole = {key: _with_base64(one) for key, one in value.items() if key not in IDS}
    return whole | {key: base64.b64encode(bytes.fromhex(value[key])).decode() for key in IDS.keys() & value.keys()}


def parsed(body: bytes, kind: str = "application/json") -> ExportTraceServiceRequest:
    """The request that a body has, read strictly."""
    found = ExportTraceServiceRequest()
    if kind == "application/x-protobuf":
        found.ParseFromString(body)
        return found
    assert kind == "application/json", kind
    json_format.ParseDict(_with_base64(json.loads(body, object_pairs_hook=_once)), found, ignore_unknown_fields=False)
    for one in (span for part in found.resource_spans for scope in part.scope_spans for span in scope.spans):
        assert 0 < one.start_time_unix_nano <= one.end_time_unix_nano, one
        assert all((one.trace_id, one.span_id, one.name)), one
    return found


class Collector:
    """What a collector got. `replies` are its next answers; the last one stays."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.replies = [Reply()]
        self.posted: list[Posted] = []
        self.wrong: list[str] = []
        self.tried = 0

    @property
    def url(self) -> str:
        """The address for `OTEL_EXPORTER_OTLP_ENDPOINT`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def resources(self) -> list[ResourceSpans]:
        """The resources of all requests."""
        assert self.wrong == []
        return [part for one in self.posted for part in one.found.resource_spans]

    @property
    def spans(self) -> list[Span]:
        """The spans of all requests that it took, in the order in which they came."""
        return [span for part in self.resources for scope in part.scope_spans for span in scope.spans]

    @property
    def names(self) -> list[str]:
        """The names of the spans."""
        return [span.name for span in self.spans]

    @property
    def raw_spans(self) -> list[str]:
        """The spans in JSON, without the requests around them."""
        return [one for posted in self.posted for one in raw_spans(posted.body.decode())]


def raw_spans(body: str) -> list[str]:
    """The spans of a request, each as its JSON without spaces."""
    parts = (part for resource in json.loads(body)["resourceSpans"] for part in resource["scopeSpans"])
    found = [json.dumps(span, separators=(",", ":")) for part in parts for span in part["spans"]]
    assert ",".join(found) in body
    return found


def values(one: Any) -> dict[str, object]:
    """The attributes of a span or a resource."""
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in one.attributes}


class _Handler(BaseHTTPRequestHandler):
    collector: Collector

    def do_POST(self) -> None:
        """Read a request, and give the next answer."""
        collector = self.collector
        collector.tried += 1
        body = self.rfile.read(int(self.headers["content-length"]))
        reply = collector.replies.pop(0) if collector.replies[1:] else collector.replies[0]
        kind = self.headers["content-type"]
        if 200 <= reply.status < 300 and not reply.raw:
            try:
                found = parsed(body, kind)
                collector.posted.append(Posted(self.path, dict(self.headers), body, found))
            except Exception as error:  # noqa: BLE001 (the test shows it)
                collector.wrong.append(f"{type(error).__name__}: {error} in {body!r}")
        time.sleep(reply.seconds)
        if reply.raw:
            self.wfile.write(reply.raw)
            return
        answer = reply.body if kind == "application/json" else ExportTraceServiceResponse().SerializeToString()
        self.send_response(reply.status)
        for name, value in (("content-length", str(len(answer))), ("content-type", kind), *reply.headers):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        """Show nothing."""


@contextmanager
def collecting() -> Iterator[Collector]:
    """A collector that listens until the end."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    collector = Collector(server.server_address[1])
    server.RequestHandlerClass = type("Handler", (_Handler,), {"collector": collector})
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
