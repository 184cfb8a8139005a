"""Who gets what from the server of `rdc view`: requests that another site, another user or a broken client sends."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import chdir

import pytest

from rdc.looking import security
from rdc.looking.server import PATIENCE, Handler
from tests.support.cli import GOOD
from tests.support.looking import Client, serving

DATA = ("/api/document", "/api/picture", "/api/runs", "/api/runs/deploy/events", "/api/runs/deploy/log/1")
FIXED = ("/", "/page.js", "/page.css")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A page about a document without runs."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "rdc.toml").touch()
    (folder / "deploy.runbook.md").write_text(GOOD, encoding="utf-8")
    with chdir(folder), serving("deploy.runbook.md") as found:
        yield found


def status(answer: bytes) -> int:
    return int(answer.split(b" ", 2)[1])


@pytest.mark.parametrize("path", [*FIXED, "/api/document"])
def test_another_host_is_misdirected(client: Client, path: str) -> None:
    """A name of another site that leads here by DNS (rebinding) is another host."""
    for host in ("localhost:{}", "127.0.0.1", "evil.example:{}", "127.0.0.1:1", "", "127.0.0.1:{}."):
        found = client.ask(path, Host=host.format(client.port))
        assert (found.status, b"Deploy" in found.body) == (421, False)
    head = f"GET / HTTP/1.1\r\nHost: {client.host}\r\n".encode()
    assert status(client.raw(head + b"Connection: close\r\n\r\n")) == 200
    assert status(client.raw(head + b"Host: evil.example\r\n\r\n")) == 421
    assert status(client.raw(b"GET / HTTP/1.1\r\n\r\n")) == 421


def test_another_origin_gets_nothing(client: Client) -> None:
    for path in (*FIXED, "/api/document"):
        for origin in ("http://evil.example", "null", "http://localhost:{}", "https://127.0.0.1:{}"):
            assert client.ask(path, Origin=origin.format(client.port)).status == 403
        assert client.ask(path, Origin=f"http://{client.host}").status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_only_the_page_itself_opens_from_elsewhere(client: Client, site: str) -> None:
    """Browsers call the redirect of a private file cross-site. The page has no data."""
    opened = client.ask("/", Authorization=None, Sec_Fetch_Site=site, Sec_Fetch_Mode="navigate")
    assert opened.status == 200
    assert client.token.encode() not in opened.body
    for path in (*FIXED[1:], *DATA):
        assert client.ask(path, Sec_Fetch_Site=site).status == 403, path
    for mine in ("same-origin", "none"):
        assert client.ask("/api/document", Sec_Fetch_Site=mine).status == 200


@pytest.mark.parametrize("path", DATA)
def test_data_needs_the_token(client: Client, path: str) -> None:
    token = client.token
    wrong = (None, "", "Bearer", f"Bearer {token[:-1]}", f"Bearer {token}x", f"bearer {token}", token, "Bearer \xff")
    for given in wrong:
        found = client.ask(path, Authorization=given)
        assert (found.status, found.json["error"][:11]) == (401, "wrong token"), given
    assert client.ask(f"{path}?token={token}", Authorization=None, Cookie=f"token={token}").status == 401
    assert client.ask("/api/runs/deploy/answer", "POST", {"step": "1"}, Authorization=None).status == 401


def test_the_token_is_random_and_compared_in_constant_time(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = security.Door(1), security.Door(1)
    assert len(first.token) == 32
    assert first.token != second.token
    assert first.address == f"http://127.0.0.1:1/#{first.token}", "a browser sends no fragment"
    one = f"Authorization: Bearer {client.token}\r\n"
    head = f"GET /api/document HTTP/1.1\r\nHost: {client.host}\r\nConnection: close\r\n"
    assert status(client.raw((head + one + "\r\n").encode())) == 200
    assert status(client.raw((head + one + one + "\r\n").encode())) == 401, "two tokens are none"
    compared = list[tuple[bytes, bytes]]()

    def compare(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return False

    monkeypatch.setattr("rdc.looking.security.hmac.compare_digest", compare)
    assert client.ask("/api/document").status == 401
    assert compared == [(f"Bearer {client.token}".encode(),) * 2]


def test_each_answer_has_the_headers(client: Client) -> None:
    own = dict.fromkeys(("script-src", "style-src", "connect-src"), "'self'")
    none = dict.fromkeys(("default-src", "base-uri", "form-action", "frame-ancestors"), "'none'")
    trusted = {"require-trusted-types-for": "'script'", "trusted-types": "'none'"}
    for path, headers in (
        *((path, {}) for path in (*FIXED, "/api/document", "/api/runs", "/api/runs/deploy/log/1", "/nothing")),
        ("/", {"Host": "evil.example"}),
        ("/", {"Origin": "http://evil.example"}),
        ("/api/runs", {"Authorization": ""}),
    ):
        found = client.ask(path, **headers).headers
        policy = dict(part.split(" ", 1) for part in found["Content-Security-Policy"].split("; "))
        assert policy == {**none, **own, **trusted}
        assert (found["X-Content-Type-Options"], found["Cache-Control"]) == ("nosniff", "no-store")
        assert found["Referrer-Policy"] == "no-referrer"
        assert not [name for name in found if name.lower().startswith("access-control")]
        assert found["Server"] == "rdc", "a version helps only attackers"
    stream = client.stream("deploy")
    assert stream.response.headers["Content-Type"] == "text/event-stream"
    assert stream.response.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in stream.response.headers["Content-Security-Policy"]


def test_other_methods_get_nothing(client: Client) -> None:
    for method in ("OPTIONS", "PUT", "DELETE", "HEAD", "TRACE", "CONNECT", "get", "X" * 100):
        head = f"{method} /api/document HTTP/1.1\r\nHost: {client.host}\r\nOrigin: http://evil.example\r\n"
        answer = client.raw(f"{head}Access-Control-Request-Method: POST\r\n\r\n".encode())
        assert (status(answer), b"access-control" in answer.lower()) == (501, False)
        assert b"Content-Security-Policy" in answer
    for path in ("/", "/api/runs/deploy/events"):
        assert client.ask(path, "POST", REPLY).status == 405, "only an answer is posted"
    assert client.ask("/api/runs/deploy/answer").status == 405


REPLY = {"step": "1", "at": "0:1", "reply": "yes", "by": "ann"}


def posted(client: Client, *lines: str, body: bytes = b"") -> bytes:
    """Post bytes with these headers, and one more request behind them."""
    first = (f"POST /api/runs/deploy/answer HTTP/1.1\r\nHost: {client.host}", f"Authorization: Bearer {client.token}")
    head = "\r\n".join([*first, "Content-Type: application/json", *lines, "", ""])
    return client.raw(head.encode() + body + f"GET / HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())


@pytest.mark.parametrize(
    ("lines", "code"),
    [
        *(((f"Content-Length: {number}",), 413) for number in ("1048577", "99999999999999999999")),
        *(((f"Content-Length: {number}",), 400) for number in ("-1", "+2", "0x2", "²", "{0}, {0}")),
        *((("Content-Length: {0}", line), 400) for line in ("Content-Length: 30", "Content-Length: {0}")),
        (("Transfer-Encoding: chunked",), 400),
        (("Content-Length: {0}", "Transfer-Encoding: chunked"), 400),
        (("Content-Length : {0}",), 400),
        ((), 400),
    ],
)
def test_a_length_with_two_meanings_ends_the_connection(client: Client, lines: tuple[str, ...], code: int) -> None:
    body = json.dumps(REPLY).encode()
    answer = posted(client, *(line.format(len(body)) for line in lines), body=body)
    assert status(answer) == code
    assert answer.count(b"HTTP/1.1 ") == 1, "the body is not read as the next request"


def test_a_read_has_no_body(client: Client) -> None:
    head = f"GET /api/runs HTTP/1.1\r\nHost: {client.host}\r\nAuthorization: Bearer {client.token}\r\n"
    answer = client.raw(f"{head}Content-Length: 5\r\n\r\nGET /".encode())
    assert (status(answer), answer.count(b"HTTP/1.1 ")) == (400, 1)


def test_a_body_is_an_answer(client: Client) -> None:
    more = b'{"step":"1","at":"","reply":"","by":"","more":1}'
    for body in (b"", b"{", b"[]", b"\xff", b"null", b'{"step": 1}', b"[" * 100_000, more):
        assert client.ask("/api/runs/deploy/answer", "POST", body).status == 400, body[:99]


def test_a_form_of_another_site_could_not_send_this(client: Client) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded", "application/json; charset=utf-8", "", None):
        assert client.ask("/api/runs/deploy/answer", "POST", b"{}", **{"Content-Type": kind}).status == 415


PATHS = [
    *("/page.html", "/../page.html", "/page/../../model.py", "//evil.example/api/document"),
    *("http://evil.example/api/document", "/api", "/api/", "/api/document/", "/api/runs/../document"),
    *("/%61pi/document", "/api/runs/..%2f..%2fetc%2fpasswd/log/1", "/api/runs/%2e%2e/log/1"),
    *("/api/runs/deploy%00/log/1", "/api/runs/deploy/log/0", "/api/runs/deploy/log/-1"),
    *("/api/runs/deploy/log/999999999", "/api/runs/deploy/log/1/..", "/api/runs/deploy/log/..%2f1"),
    *("/api/runs/deploy/log/\u0661".encode().decode("latin-1"), "/api/runs//log/1", "/api/runs/deploy/log/"),
]


def test_no_other_path_gives_anything(client: Client) -> None:
    for path in PATHS:
        head = f"GET {path} HTTP/1.1\r\nHost: {client.host}\r\nAuthorization: Bearer {client.token}\r\n\r\n"
        answer = client.raw(head.encode("latin-1"))
        assert (status(answer), b"root:" in answer) == (404, False), answer
    for path in ("/api/runs/deploy/events?after=x", "/api/runs/deploy/log/1?from=-5"):
        assert client.ask(path).status == 400


@pytest.mark.parametrize(
    ("data", "codes"),
    [
        (b"GET /" + b"a" * 70_000 + b" HTTP/1.1\r\n\r\n", {414}),
        (b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 200 + b"\r\n", {431}),
        (b"GET / HTTP/1.1\r\nA: " + b"b" * 70_000 + b"\r\n\r\n", {431}),
        (b"GET / HTTP/9.9\r\n\r\n", {505}),
        (b"GET /  HTTP/1.1\r\n\r\n", {400, 421}),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", {400}),
        (b"GET\r\n\r\n", {400}),
        (b"GET /\r\n", {421}),  # HTTP/0.9 has no headers, so it has no host
        (b"GET /api/document\r\n", {421}),
    ],
)
def test_broken_requests_are_refused(client: Client, data: bytes, codes: set[int]) -> None:
    answer = client.raw(data)
    assert status(answer) in codes, answer
    assert b"Traceback" not in answer
    assert client.ask("/api/document").status == 200


def test_slow_clients_keep_no_one_waiting_nor_a_silent_one(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = [socket.create_connection(("127.0.0.1", client.port)) for _ in range(40)]
    try:
        for number, one in enumerate(slow):
            one.sendall([b"", b"GET / HT", b"POST /api/runs/deploy/answer HTTP/1.1\r\nContent-Le"][number % 3])
        began = time.monotonic()
        assert client.ask("/api/document").status == 200
        assert time.monotonic() - began < 5
    finally:
        for one in slow:
            one.close()
    assert PATIENCE == Handler.timeout <= 10
    monkeypatch.setattr(Handler, "timeout", 0.2)
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", client.port), timeout=10) as one:
        one.sendall(b"GET / HTTP/1.1\r\nHost: ")
        assert one.recv(100) == b""
    assert time.monotonic() - began < 5


def test_only_this_machine_is_served(client: Client) -> None:
    for address, is_served in (("127.0.0.1", True), ("127.0.0.2", False)):
        with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
            one.settimeout(2)
            assert (one.connect_ex((address, client.port)) == 0) == is_served, "only one address of this machine"
