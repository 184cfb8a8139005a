"""`rdc view`: its address, its private file, its end, and what it refuses."""

import signal
import socket
import stat
from pathlib import Path

import pytest

from benchmarks.workers.fleet import until
from tests.support.cli import GOOD, call, document, spawn
from tests.support.looking import SOON, process_of

pytestmark = pytest.mark.process

NAME = "deploy.runbook.md"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    document(tmp_path, NAME, GOOD)
    (tmp_path / "rdc.toml").touch()
    return tmp_path


def test_it_prints_its_address_and_ends_with_ctrl_c(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        refused = call("view", NAME, "--port", str(port), cwd=folder)
        assert (refused.code, refused.out) == (2, "")
        assert f"cannot use port {port}" in refused.err
        assert "choose another one with --port" in refused.err
    with process_of(folder, NAME, "--port", str(port)) as (process, client):
        assert client.port == port
        assert client.ask("/api/document").json["title"] == "Deploy"
        page = client.ask("/")
        assert (page.status, b"<" in page.body) == (200, True)
        process.send_signal(signal.SIGINT)
        assert process.wait(SOON) == 130
    assert (folder / "err").read_text() == ""
    assert (folder / "out").read_text().count("\n") == 1


def test_the_token_is_in_no_log_and_in_no_word_of_a_process(folder: Path) -> None:
    with process_of(folder, NAME) as (process, client):
        for path, more in (("/", {}), ("/api/document", {}), ("/api/runs/x/events", {}), ("/", {"Host": "evil"})):
            client.ask(path, **more)
        client.raw(f"GET /{client.token} HTTP/1.1\r\nHost: {client.host}\r\n\r\n".encode())
        client.raw(f"{client.token}\r\n\r\n".encode())
        for name in ("cmdline", "environ"):
            assert client.token.encode() not in Path(f"/proc/{process.pid}/{name}").read_bytes()
        process.send_signal(signal.SIGTERM)
        process.wait(SOON)
    assert client.token not in (folder / "err").read_text()
    assert (folder / "out").read_text().count(client.token) == 1


BROWSER = """#!/bin/sh
path="${1#file://}"
ps -o args= -p $$ > seen
stat -c '%a %U' "$path" >> seen
cp "$path" opened.html
printf %s "$path" > path
"""


def test_it_opens_the_page_by_a_private_file(folder: Path) -> None:
    """Everyone can read the words of the browser's process."""
    browser = document(folder, "browser", BROWSER)
    browser.chmod(0o755)
    with process_of(folder, NAME, "--open", BROWSER=f"{browser} %s", TMPDIR=str(folder)) as (process, client):
        path = Path(until(lambda: (folder / "path").read_text() if (folder / "path").exists() else "", SOON))
        seen, opened = (folder / "seen").read_text(), (folder / "opened.html").read_text()
        assert client.token not in seen
        assert seen.splitlines()[-1].split()[0] == "600"
        assert f'url=http://{client.host}/#{client.token}"' in opened
        assert client.ask("/").status == 200
        assert client.ask("/api/document", Authorization=None).status == 401
        assert path.exists(), "the page has not loaded yet"
        assert client.ask("/api/document").status == 200
        until(lambda: not path.exists(), SOON)
        assert process.poll() is None


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_private_file_does_not_stay(folder: Path, number: signal.Signals) -> None:
    with process_of(folder, NAME, "--open", BROWSER="true", TMPDIR=str(folder)) as (process, _):
        made = until(lambda: [*folder.glob("rdc-*.html")], SOON)
        assert stat.S_IMODE(made[0].stat().st_mode) == 0o600
        process.send_signal(number)
        assert process.wait(SOON) == 130
        assert not made[0].exists()


def test_a_wrong_call_is_refused(folder: Path) -> None:
    assert call("compile", NAME, "--to", "python", cwd=folder).code == 0
    document(folder, "mine.py", "print()\n")
    for words, message in (
        (["no.runbook.md"], "no.runbook.md does not exist"),
        (["--port", "70000", NAME], "is not in the range"),
        (["--host", "0.0.0.0", NAME], "no such option --host"),
        (["--run", "nope", NAME], "unknown run 'nope' (see 'rdc status')"),
        (["--database", "sqlite:///a", NAME], "--database needs the program of a worker, such as deploy_worker.py"),
        ([], "no document has runs here; name a FILE"),
        (["deploy.py"], f"deploy.py is not a worker's program; name its document {NAME}"),
        (["mine.py"], "mine.py is not a worker's program"),
    ):
        refused = call("view", *words, cwd=folder)
        assert (refused.code, refused.out, message in refused.err) == (2, "", True), refused.err


def test_without_a_file_it_takes_the_only_document_with_runs_and_a_run_by_its_name_or_id(folder: Path) -> None:
    for name in ("a", "b"):
        spawn("run", NAME, "--as", name, cwd=folder)
    with process_of(folder, "--run", "deploy@a") as (_, client):
        assert client.ask("/api/document").json["file"] == NAME
        found = client.ask("/api/runs").json
        assert found["chosen"] == "deploy@a"
        ids = {one["key"]: one["id"] for one in found["runs"]}
    with process_of(folder, NAME, "--run", ids["deploy@b"]) as (_, client):
        assert client.ask("/api/runs").json["chosen"] == "deploy@b"
    document(folder, "other.runbook.md", GOOD)
    spawn("run", "other.runbook.md", cwd=folder)
    assert f"several documents have runs here; name one: {NAME}, other.runbook.md" in call("view", cwd=folder).err
