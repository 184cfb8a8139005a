"""`rdc view`: shows a document and its runs in the browser."""

import os
import secrets
import signal
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from html import escape
from pathlib import Path
from threading import Thread

import click

from rdc.commands.report import runs_like
from rdc.looking.model import Document
from rdc.looking.runs import LocalRuns, documents_here
from rdc.looking.server import Server
from rdc.looking.watching import Watch
from rdc.output.verify import origin_of
from rdc.terminal.output import PointingError, put
from runtime_shim.engine.program import UsageError

LOADING = 60.0
"""How many seconds a browser has to load the page."""

OPENED = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
"""


@click.command(name="view")
@click.argument("file", required=False, type=click.Path())
@click.option("--run", metavar="RUN", default="", shell_complete=runs_like, help="The run to show, by name or id.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="The port. By default, a free one.")
@click.option("--open", "opens", is_flag=True, help="Open the page in the browser.")
@click.option("--continue", "continues", is_flag=True, help="Continue the run after each answer on the page.")
@click.option("--database", metavar="URL", default="", help="The database of the workers of FILE.")
def command(file: str | None, run: str, port: int, database: str, *, opens: bool, continues: bool) -> int:
    """Show a document and its runs in the browser.

    The page shows the flow of FILE while you edit it, and its runs while they work. It answers questions, but never
    starts, moves or deletes a run. Without FILE, it shows the only document with runs here. Only this machine and the
    printed address reach the page.

    Exit codes: 2 usage error, 130 interrupted.
    """
    watch = _watch(file, database, continues=continues)
    if run and not watch.listed(run).chosen:
        raise PointingError(f"unknown run {run!a}", "rdc status")
    try:
        server = Server(port, watch, run)
    except OSError as error:
        raise click.UsageError(f"cannot use port {port}: {error.strerror}; choose another one with --port") from None
    with server:
        put(server.door.address)
        for number in (signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup sets it
                signal.signal(number, signal.default_int_handler)
        with _opened(server) if opens else server:
            server.serve_forever()
    return 0


def _watch(file: str | None, database: str, *, continues: bool) -> Watch:
    """Return a document and its runs, here or at workers."""
    chosen = _document(file)
    target, document = origin_of(chosen) if chosen.endswith(".py") else ("", chosen)
    if target == "dbos" and document:
        from rdc.looking.database import Worker, WorkerRuns  # noqa: PLC0415 (only workers need these modules)

        worker = Worker(chosen, database or os.environ.get("RDC_DATABASE", ""))
        about = Document("", "", 0, continues=True, database=worker.shown)
        try:
            return Watch(document, about, partial(WorkerRuns, worker))
        except UsageError as error:
            raise click.UsageError(str(error.args[-1])) from None
    if target or not document:
        raise click.UsageError(f"{chosen} is not a worker's program; name its document {document}".rstrip())
    if database:
        raise click.UsageError("--database needs the program of a worker, such as deploy_worker.py")
    return Watch(document, Document("", "", 0, continues=continues), LocalRuns)


def _document(file: str | None) -> str:
    """Return the document, or the only one with runs here."""
    if file is not None:
        if not Path(file).is_file():
            raise click.UsageError(f"{file} does not exist")
        return file
    found = documents_here()
    if len(found) != 1:
        several = f"several documents have runs here; name one: {', '.join(found)}"
        raise click.UsageError(several if found else "no document has runs here; name a FILE")
    return found[0]


@contextmanager
def _opened(server: Server) -> Iterator[None]:
    """Open the page by a private file: other users can see the words of the browser's command, but not read this."""
    # The file is removed when the page has loaded.
    page = Path(tempfile.gettempdir(), f"rdc-{secrets.token_hex(8)}.html")

    def remove() -> None:
        server.used.wait(LOADING)
        page.unlink(missing_ok=True)

    try:
        number = os.open(page, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "w", encoding="utf-8") as file:  # noqa: PTH123 (an open file)
            file.write(OPENED.format(address=escape(server.door.address)))
        for act in (remove, lambda: webbrowser.open(page.as_uri())):
            Thread(target=act, daemon=True).start()
        yield
    finally:
        page.unlink(missing_ok=True)
