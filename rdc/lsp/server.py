"""The server: an editor starts it and calls its features over standard input and output."""

import asyncio
import gc
import logging
import os
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from lsprotocol import types as lsp
from msgspec import to_builtins
from msgspec.json import encode
from pygls.exceptions import FeatureRequestError, JsonRpcContentModified
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol
from pygls.protocol.language_server import lsp_method

from compiler.version import __version__
from rdc.lsp import completion, fixes, hover, navigation
from rdc.lsp.checking import Checker
from rdc.lsp.diagnostics import Shown, diagnostics_of
from rdc.lsp.documents import Documents, Result, path_of
from rdc.lsp.question import Question

FEATURES: dict[str, tuple[Callable[[Question], Any], Any]] = {
    lsp.TEXT_DOCUMENT_CODE_ACTION: (fixes.actions, fixes.OPTIONS),
    lsp.CODE_ACTION_RESOLVE: (fixes.resolved, None),
    lsp.TEXT_DOCUMENT_FORMATTING: (fixes.formatted, None),
    lsp.TEXT_DOCUMENT_DEFINITION: (navigation.definition, None),
    lsp.TEXT_DOCUMENT_REFERENCES: (navigation.references, None),
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: (navigation.highlights, None),
    lsp.TEXT_DOCUMENT_DOCUMENT_LINK: (navigation.links, None),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: (navigation.symbols, None),
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: (navigation.folding, None),
    lsp.TEXT_DOCUMENT_PREPARE_RENAME: (navigation.prepare_rename, None),
    lsp.TEXT_DOCUMENT_RENAME: (navigation.renamed, lsp.RenameOptions(prepare_provider=True)),
    lsp.TEXT_DOCUMENT_CODE_LENS: (hover.lenses, None),
    lsp.TEXT_DOCUMENT_HOVER: (hover.hover, None),
    lsp.TEXT_DOCUMENT_COMPLETION: (completion.complete, completion.OPTIONS),
}

WATCHED = "**/*.{md,yaml,yml,json,toml}"
"""The files that documents read."""


class Protocol(LanguageServerProtocol):
    """The protocol with positions in UTF-16, which every editor supports."""

    @lsp_method(lsp.INITIALIZE)
    def lsp_initialize(self, params: lsp.InitializeParams) -> Any:  # noqa: ANN401 (a generator of pygls)
        """Start the session, without asking the editor for its favorite encoding."""
        if params.capabilities.general:
            params.capabilities.general.position_encodings = None
        return (yield from super().lsp_initialize(params))

    def _send_data(self, data: Any) -> None:  # noqa: ANN401 (any message)
        """Send a message. `json` takes five times as long for an outline, and many times its size in memory."""
        content = self._converter.unstructure(data)
        try:
            body = encode(content)
            for part in (b"Content-Length: %d\r\n\r\n" % len(body), body):
                self.writer.write(part)  # type: ignore[union-attr]
        except ValueError:  # half of a pair of surrogates, which only `json` escapes; or the output is closed
            super()._send_data(to_builtins(content))


class Server(LanguageServer):
    """A language server that answers from memory, and checks documents beside it."""

    def __init__(self) -> None:
        super().__init__("rdc", __version__, lsp.TextDocumentSyncKind.Full, protocol_cls=Protocol, max_workers=1)
        self.documents = Documents()
        self.is_shut_down = False
        self._shown = Shown(self.documents)
        self._checker = Checker(self.documents, self._show, self._defect)
        self._answers = ThreadPoolExecutor(1, "answer")
        for method, (answer, options) in FEATURES.items():
            self.feature(method, options)(self._answering(answer))
        notifications: dict[str, Callable[[Any], None]] = {
            lsp.INITIALIZED: self._initialized,
            lsp.SHUTDOWN: self._shut_down,
            lsp.TEXT_DOCUMENT_DID_OPEN: self._opened,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self._changed,
            lsp.TEXT_DOCUMENT_DID_CLOSE: self._closed,
            lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: self._files_changed,
        }
        for method, act in notifications.items():
            self.feature(method)(partial(act))  # a method can't have the attributes that pygls sets

    def report_server_error(self, error: Exception, source: object) -> None:
        """Log an error of the editor or of the server, without a window. A question has its own answer."""
        if source is not FeatureRequestError:
            self._defect(error)

    def _defect(self, error: Exception) -> None:
        problem = f"{type(error).__name__}: {error}"[:1000]
        self.window_log_message(lsp.LogMessageParams(lsp.MessageType.Error, f"rdc: {problem}"))

    def _answering(self, answer: Callable[[Question], Any]) -> Callable[[Any], Awaitable[Any]]:
        """Return the handler of a feature. Another thread answers, so that a long answer doesn't stop the others."""

        async def handle(params: Any) -> Any:  # noqa: ANN401 (each feature has its own types)
            version = self.documents.versions.get(fixes.uri_in(params))
            if version is None:
                return None
            question = Question(self.documents, version, params, self.client_capabilities)

            def answered() -> Any:  # noqa: ANN401
                if self.documents.versions.get(version.uri) is not version:
                    raise JsonRpcContentModified
                return answer(question)

            return await asyncio.get_running_loop().run_in_executor(self._answers, answered)

        return handle

    def _initialized(self, _params: lsp.InitializedParams) -> None:
        workspace = self.client_capabilities.workspace
        watching = workspace and workspace.did_change_watched_files
        if watching and watching.dynamic_registration:
            options = lsp.DidChangeWatchedFilesRegistrationOptions([lsp.FileSystemWatcher(WATCHED)])
            files = lsp.Registration("files", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, options)
            self.client_register_capability(lsp.RegistrationParams([files]))

    def _shut_down(self, _params: object) -> None:
        self.is_shut_down = True

    def _opened(self, params: lsp.DidOpenTextDocumentParams) -> None:
        one = params.text_document
        version = self.documents.change(one.uri, one.version, one.text)
        self._checker.soon(one.uri, 0)
        self._check_readers([version.path])

    def _changed(self, params: lsp.DidChangeTextDocumentParams) -> None:
        one = params.text_document
        version = self.documents.change(one.uri, one.version, self.workspace.get_text_document(one.uri).source)
        self._checker.soon(one.uri)
        self._check_readers([version.path])

    def _closed(self, params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._checker.forget(uri)
        path = self.documents.close(uri)
        self._publish(self._shown.update(uri, {}))
        self._check_readers([path])

    def _files_changed(self, params: lsp.DidChangeWatchedFilesParams) -> None:
        paths = map(path_of, dict.fromkeys(event.uri for event in params.changes))
        self._check_readers(path for path in paths if not self.documents.is_open(path))

    def _check_readers(self, paths: Iterable[str]) -> None:
        for path in filter(None, paths):
            for uri in self.documents.readers(path):
                self.documents.versions[uri].forget()
                self._checker.soon(uri)

    def _show(self, result: Result) -> None:
        self._publish(self._shown.update(result.version.uri, diagnostics_of(result, self.documents)))

    def _publish(self, messages: Iterable[lsp.PublishDiagnosticsParams]) -> None:
        for message in messages:
            self.text_document_publish_diagnostics(message)


def serve() -> int:
    """Serve an editor until it disconnects. Return the exit code: 1 without a request to shut down."""
    logging.getLogger("pygls").setLevel(logging.CRITICAL)  # it would repeat whole documents on standard error
    os.chdir("/")  # the folder that the server started in may vanish
    server = Server()
    gc.collect()
    gc.freeze()
    gc.disable()
    with os.fdopen(os.dup(0), "rb") as questions, os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # nothing else reads the questions
        os.dup2(2, 1)  # or writes between the answers
        server.start_io(questions, answers)
    return int(not server.is_shut_down)
