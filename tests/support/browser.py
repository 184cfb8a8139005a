"""The page of `rdc view` in a real browser: documents with runs, the server as a process, and Chromium."""

import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, ConsoleMessage, Dialog, Page, Route, sync_playwright

from rdc.looking.model import State, Visit, Visits
from rdc.looking.watching import event
from tests.support.cli import Result, environment, spawn
from tools.screens import INCIDENT, choose

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium")
NO_CHROMIUM = "there is no chromium; on Debian, `make browser` installs it"


def run(folder: Path, file: str, *words: str, **variables: str) -> Result:
    """Call `rdc run` without a terminal."""
    return spawn("run", file, *words, cwd=folder, **variables)


def incidents(folder: Path) -> Path:
    """Write the incident with three runs: one waits, `stopped` has rolled back, and `healthy` is complete."""
    (folder / "payments.runbook.md").write_text(INCIDENT, encoding="utf-8")
    reply = ("answer", "2", "yes", "--by", "alice", "--note", "40 idle connections")
    for name, release in (("healthy", "good"), ("stopped", "bad")):
        run(folder, "payments.runbook.md", "--as", name, "--logs")
        run(folder, "payments.runbook.md", *reply, "--as", name)
        run(folder, "payments.runbook.md", "resume", "--as", name, "--logs", RELEASE=release)
    run(folder, "payments.runbook.md", "--logs")
    return folder


@contextmanager
def view(folder: Path, *words: str) -> Iterator[str]:
    """Start `rdc view` and give the address that it prints."""
    command = [sys.executable, "-P", "-m", "rdc", "view", *words]
    server = subprocess.Popen(
        command, cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with server:
        try:
            assert server.stdout
            yield server.stdout.readline().strip()
        finally:
            server.send_signal(signal.SIGINT)


@contextmanager
def started(folder: Path, file: str, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `rdc run` while the block does something else, and end it."""
    command = [sys.executable, "-P", "-m", "rdc", "run", file, *words]
    with subprocess.Popen(command, cwd=folder, env=environment(), stdin=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start Debian's Chromium without a window."""
    with sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


class Visitor:
    """A person with a browser of their own. Everything that a page must not do is in `problems`."""

    def __init__(self, browser: Browser, **options: Any) -> None:
        self.context = browser.new_context(**{"reduced_motion": "reduce", **options})
        self.context.set_default_timeout(8_000)
        self.requests: list[str] = []
        self.problems: list[str] = []
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("console", self._hear)
        self.context.on("weberror", lambda error: self.problems.append(str(error.error)))
        self.context.on("dialog", self._close)

    def look(self, address: str, name: str = "", forged: Sequence[Any] | None = None, *, is_live: bool = True) -> Page:
        """Open the page and wait for its run. `name` chooses another one.

        `forged` is a state and visits, which replace those of the server at each connection.
        """
        page = self.context.new_page()
        if forged:
            page.route("**/api/runs/*/events*", lambda route: _forge(route, *forged))
        page.goto(address)
        page.locator("#state:not(:empty)" if is_live else "#live").wait_for()
        if name:
            choose(page, "r", name)
        return page

    def _hear(self, message: ConsoleMessage) -> None:
        is_refusal = "status of 409" in message.text  # the page shows it
        if message.type in ("error", "warning") and not is_refusal:
            self.problems.append(message.text)

    def _close(self, dialog: Dialog) -> None:
        self.problems.append(f"dialog: {dialog.message}")
        dialog.dismiss()


def _forge(route: Route, state: State, visits: Sequence[Visit]) -> None:
    parts = [event("state", state), *(event("visits", Visits(state.run, 0, tuple(visits))) for _ in visits[:1])]
    route.fulfill(content_type="text/event-stream", body=b"".join(parts))
