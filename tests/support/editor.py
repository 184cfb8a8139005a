"""An editor that starts `rdc lsp`, by pytest-lsp: it opens documents, types, and waits for the server's messages."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from lsprotocol import types as lsp
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features

from tests.support.cli import environment
from tests.support.warm.forks import forking

CURSOR = "‸"
"""Where the cursor is in a text. It isn't part of the document."""

PATIENCE = 30.0


class Editor(LanguageClient):
    """A client with the capabilities of VS Code, which remembers what the server published."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.published: list[lsp.PublishDiagnosticsParams] = []
        self.watched: list[lsp.Registration] = []
        self.server = lsp.ServerCapabilities()
        self._news = asyncio.Condition()
        self._number = 0
        features = {
            **DEFAULT_CLIENT_FEATURES,
            lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: partial(self.publish),
            lsp.CLIENT_REGISTER_CAPABILITY: partial(self.register),
        }
        register_lsp_features(self, features)

    async def publish(self, params: lsp.PublishDiagnosticsParams) -> None:
        """Keep the diagnostics of a file."""
        async with self._news:
            self.published.append(params)
            self.diagnostics[params.uri] = params.diagnostics
            self._news.notify_all()

    async def register(self, params: lsp.RegistrationParams) -> None:
        """Keep what the server wants to watch."""
        self.watched += params.registrations

    async def until(
        self, holds: Callable[[lsp.PublishDiagnosticsParams], bool], since: int = 0
    ) -> lsp.PublishDiagnosticsParams:
        """Return the first message with diagnostics, also an earlier one, for which a condition holds."""

        def found() -> lsp.PublishDiagnosticsParams | None:
            return next(filter(holds, self.published[since:]), None)

        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: found() is not None)
        message = found()
        assert message
        return message

    async def open(self, path: Path | str, text: str, *, language: str = "markdown") -> str:
        """Open a document, and return its URI after its check."""
        uri = path if isinstance(path, str) else path.as_uri()
        self._number += 1
        self.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(uri, language, self._number, text))
        )
        await self.checked(uri)
        return uri

    async def type(self, uri: str, text: str) -> None:
        """Replace the text of a document, and wait for its check."""
        self.type_fast(uri, text)
        await self.checked(uri)

    def type_fast(self, uri: str, text: str) -> None:
        """Replace the text of a document."""
        self._number += 1
        identifier = lsp.VersionedTextDocumentIdentifier(self._number, uri)
        change = lsp.TextDocumentContentChangeWholeDocument(text)
        self.text_document_did_change(lsp.DidChangeTextDocumentParams(identifier, [change]))

    async def checked(self, uri: str) -> Sequence[lsp.Diagnostic]:
        """Wait for the check of the last version, and return its diagnostics."""
        number = self._number
        return (await self.until(lambda one: (one.uri, one.version) == (uri, number))).diagnostics

    def close(self, uri: str) -> None:
        """Close a document."""
        self.text_document_did_close(lsp.DidCloseTextDocumentParams(lsp.TextDocumentIdentifier(uri)))

    async def hover(self, uri: str, at: lsp.Position) -> tuple[str, lsp.Range | None]:
        """Return what the editor shows at a position, and for which range."""
        found = await self.text_document_hover_async(lsp.HoverParams(lsp.TextDocumentIdentifier(uri), at))
        assert found
        assert isinstance(found.contents, lsp.MarkupContent)
        return found.contents.value, found.range

    def codes(self, uri: str) -> list[object]:
        """Return the codes of the diagnostics that the editor shows for a file."""
        return [one.code for one in self.diagnostics.get(uri, ())]


@asynccontextmanager
async def editor(root: Path | None = None) -> AsyncIterator[Editor]:
    """An editor with its own server, for tests that end it or change its surroundings."""
    with forking():
        client = await CONFIGURATION.start()
    assert isinstance(client, Editor)
    client.server = (await begin(client, root)).capabilities
    try:
        yield client
        await client.shutdown_session()
    except BaseException:
        if client._server:
            client._server.kill()  # it would wait for the end of the session
        raise
    finally:
        await client.stop()  # type: ignore[no-untyped-call]


async def begin(client: Editor, root: Path | None = None) -> lsp.InitializeResult:
    """Start the session. Like some editors, this one would rather use another encoding than UTF-16."""
    capabilities = client_capabilities("visual-studio-code")
    assert capabilities.general
    encodings = lsp.PositionEncodingKind
    capabilities.general.position_encodings = [encodings.Utf8, encodings.Utf32, encodings.Utf16]
    uri = root.as_uri() if root else None
    return await client.initialize_session(lsp.InitializeParams(capabilities, root_uri=uri))


CONFIGURATION = ClientServerConfig([sys.executable, "-m", "rdc", "lsp"], Editor, environment())


def cursor(text: str) -> tuple[str, lsp.Position]:
    """Return a text without its mark, and the position of the mark in UTF-16."""
    before, _, after = text.partition(CURSOR)
    rows = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return before + after, lsp.Position(len(rows) - 1, len(rows[-1].encode("utf-16-le")) // 2)


def texts_at(text: str, ranges: Sequence[lsp.Range]) -> list[str]:
    """Return the text of ranges, as an editor finds it."""
    return [text[index(text, one.start) : index(text, one.end)] for one in ranges]


def index(text: str, position: lsp.Position) -> int:
    """Return the index of a position, as the protocol defines it."""
    start = 0
    for _ in range(position.line):
        ends = [end for end in (text.find("\n", start), text.find("\r", start)) if end >= 0]
        start = min(ends) + (2 if text[min(ends) :].startswith("\r\n") else 1)
    return start + len(text[start:].encode("utf-16-le")[: 2 * position.character].decode("utf-16-le"))


def edited(text: str, edits: Sequence[lsp.TextEdit]) -> str:
    """Return a text with edits, as an editor applies them."""
    places = [(index(text, one.range.start), index(text, one.range.end), one.new_text) for one in edits]
    for start, end, new in sorted(places, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def changed(edit: lsp.WorkspaceEdit | None) -> dict[str, list[lsp.TextEdit]]:
    """Return the edits of each document."""
    assert edit
    found: dict[str, list[lsp.TextEdit]] = {}
    for change in edit.document_changes or ():
        assert isinstance(change, lsp.TextDocumentEdit)
        found[change.text_document.uri] = [one for one in change.edits if isinstance(one, lsp.TextEdit)]
    return found
