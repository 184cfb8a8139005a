"""Versions of documents, their results, and the thread that checks them."""

import asyncio
import gc
import os
import threading
import tracemalloc
import weakref
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from benchmarks.document import runbook
from compiler.driver import Compilation, Opened, Settings, compile_opened
from compiler.frontends.playbook.parse.lines import Scanner
from compiler.frontends.rundown.parse import outline
from rdc.lsp import fixes
from rdc.lsp.checking import Checker
from rdc.lsp.documents import Documents, Result, Version, path_of
from rdc.lsp.question import Question
from rdc.rewrite import fixes as proofs
from tests.rdc.lsp.documents import BROKEN, FINE


def test_a_result_of_an_older_version_is_dropped(tmp_path: Path) -> None:
    documents, uri, other = Documents(), (tmp_path / "a.runbook.md").as_uri(), str(tmp_path / "b.runbook.md")
    old = documents.check(documents.change(uri, 1, BROKEN))
    new = documents.change(uri, 2, FINE)
    assert not documents.keep(old)
    assert documents.result(new) is None
    assert [*documents.readers(other)] == [uri], "a check that is not done may have read the file before it changed"
    found = documents.check(new)
    assert documents.keep(found)
    assert not [*documents.readers(other)]
    assert documents.result(new) is found
    documents.change(uri, 3, FINE)
    assert [*documents.readers(other)] == [uri]
    documents.close(uri)
    assert not documents.keep(found)
    assert (documents.results, documents.good) == ({}, {})


def test_an_answer_is_made_once_for_each_version(tmp_path: Path) -> None:
    made: list[str] = []

    def make() -> str:
        made.append("made")
        return "answer"

    one, other = (Version((tmp_path / "a.runbook.md").as_uri(), number, FINE) for number in (1, 2))
    assert [one.once("key", make), one.once("key", make), other.once("key", make)] == ["answer"] * 3
    assert len(made) == 2


def test_two_threads_that_make_an_answer_get_the_same_one(tmp_path: Path) -> None:
    """The check releases what it shares, so the answer in another thread must not stay behind."""
    version, both = Version((tmp_path / "a.runbook.md").as_uri(), 1, FINE), threading.Barrier(2, timeout=10)

    def make() -> object:
        both.wait()
        return object()

    with ThreadPoolExecutor(2) as threads:
        one, other = threads.map(lambda _: version.once("key", make), range(2))
    assert one is other


PARSERS = {
    "a.runbook.md": (outline, "_scan", FINE),
    "a.playbook.md": (Scanner, "scan", "# T\n\n## STEP 1: Sort\n\nSort it.\n"),
}


@pytest.mark.parametrize("name", PARSERS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_version_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, *, is_first: bool) -> None:
    """An answer before the check parses for both. After the check, nothing is shared: an answer parses again."""
    owner, function, text = PARSERS[name]
    parse, threads = getattr(owner, function), list[str]()

    def parsing(*given: object) -> object:
        threads.append(threading.current_thread().name.partition("_")[0])
        return parse(*given)

    monkeypatch.setattr(owner, function, parsing)
    documents = Documents()
    version = documents.change((tmp_path / name).as_uri(), 1, text)
    question = Question(documents, version, None, lsp.ClientCapabilities())
    if is_first:
        assert question.marks
    assert not documents.check(question.version).checked.diagnostics
    assert question.marks
    assert threads == (["parse"] if is_first else ["parse", "MainThread"])


def test_the_parts_of_an_old_version_are_forgotten_before_the_new_one_is_checked(tmp_path: Path) -> None:
    documents, uri = Documents(), (tmp_path / "a.runbook.md").as_uri()
    question = Question(documents, documents.change(uri, 1, FINE), None, lsp.ClientCapabilities())
    documents.keep(documents.check(question.version))
    marks, lines = question.marks, weakref.ref(question.lines)
    assert lines()
    assert question.marks is marks
    documents.change(uri, 2, BROKEN)
    assert lines() is None
    assert question.marks is not marks


def test_two_uris_of_one_file_have_their_own_texts_and_others_read_the_one_that_is_left(tmp_path: Path) -> None:
    documents, file, link = Documents(), tmp_path / "a.runbook.md", tmp_path / "b.runbook.md"
    link.symlink_to(file)
    other = documents.change((tmp_path / "c.runbook.md").as_uri(), 1, FINE)
    one = documents.change(file.as_uri(), 1, BROKEN)
    documents.change(link.as_uri(), 1, FINE)
    assert [found.code for found in documents.check(one).checked.diagnostics] == ["RD201"]
    documents.close(link.as_uri())
    assert documents.is_open(one.path)
    assert [found.code for found in documents.check(one).checked.diagnostics] == ["RD201"]
    assert documents.opened(other).project.disk.read(file).decode() == BROKEN
    documents.close(file.as_uri())
    assert not documents.is_open(one.path)


def test_a_buffer_without_a_file_reads_no_files(tmp_path: Path) -> None:
    (tmp_path / "a.runbook.md").write_text(FINE, encoding="utf-8")
    documents, named = Documents(), str(tmp_path / "a.runbook.md").removeprefix("/")
    version = documents.change("untitled:Untitled-1", 1, f"# T\n\n## 1. Build\n\n- {named}\n")
    found = documents.check(version).checked
    assert [one.code for one in found.diagnostics] == ["RD301"]
    assert [*found.sources] == [version.name]


def test_the_path_of_a_uri(tmp_path: Path) -> None:
    file = tmp_path / "a b-é.runbook.md"
    assert path_of(file.as_uri()) == os.path.realpath(file)
    without = ("untitled:Untitled-1", "file://server/share/a.runbook.md", "file://[a/a.runbook.md", "git:/a.runbook.md")
    for uri in (*without, "file:///\ud800.runbook.md", "file:///%00.runbook.md", ""):
        assert path_of(uri) == "", uri


def test_older_versions_need_no_memory(tmp_path: Path) -> None:
    documents, uri, text = Documents(), (tmp_path / "a.runbook.md").as_uri(), runbook(60)

    def size(number: int) -> int:
        documents.keep(documents.check(documents.change(uri, number, text.replace("Every", f"Every {number}", 1))))
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        first = [size(number) for number in range(2)][-1]
        last = [size(number) for number in range(2, 6)][-1]
    finally:
        tracemalloc.stop()
    assert last - first < 2 * len(text)  # a version has its text, its lines and its program


def test_a_new_file_may_change_a_result(tmp_path: Path) -> None:
    documents, uri = Documents(), (tmp_path / "a.runbook.md").as_uri()
    documents.keep(documents.check(documents.change(uri, 1, FINE)))
    reads = {"rdc.toml": 1, "pyproject.toml": 1, "a.scenarios.yaml": 1, "below/a.scenarios.yaml": 0, "b.runbook.md": 0}
    for name, count in reads.items():
        assert [*documents.readers(path_of((tmp_path / name).as_uri()))] == [uri] * count, name


class Waiting(Documents):
    """Documents whose first check waits until it may go on."""

    def __init__(self) -> None:
        super().__init__()
        self.begun, self.free = threading.Event(), threading.Event()
        self.checked: list[int | None] = []

    def check(self, version: Version) -> Result:
        self.checked.append(version.number)
        self.begun.set()
        self.free.wait(10)
        return super().check(version)


def test_versions_that_wait_for_the_thread_are_not_checked_if_they_are_old(tmp_path: Path) -> None:
    documents, shown, uri = Waiting(), list[Result](), (tmp_path / "a.runbook.md").as_uri()

    async def type_on() -> None:
        checker = Checker(documents, shown.append, lambda error: pytest.fail(str(error)))
        for number in range(1, 6):
            documents.change(uri, number, FINE)
            checker.soon(uri, 0)
            await asyncio.sleep(0.01)
        assert documents.begun.is_set()
        documents.free.set()
        while not shown:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(type_on(), 20))
    assert documents.checked == [1, 5]
    assert [one.version.number for one in shown] == [5]


def test_a_defect_is_reported_and_the_next_version_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    documents, shown, uri = Documents(), list[Result](), (tmp_path / "a.runbook.md").as_uri()
    reported: list[Exception] = []

    async def type_on() -> None:
        checker = Checker(documents, shown.append, reported.append)
        with monkeypatch.context() as broken:
            broken.setattr(documents, "check", lambda _: 1 / 0)
            documents.change(uri, 1, FINE)
            checker.soon(uri, 0)
            while not reported:
                await asyncio.sleep(0.01)
        documents.change(uri, 2, FINE)
        checker.soon(uri, 0)
        while not shown:
            await asyncio.sleep(0.01)

    asyncio.run(asyncio.wait_for(type_on(), 20))
    assert [type(one) for one in reported] == [ZeroDivisionError]


def fixing(folder: Path, text: str) -> Question:
    """Ask for all fixes of a document that was checked."""
    documents = Documents()
    version = documents.change((folder / "a.runbook.md").as_uri(), 1, text)
    documents.keep(documents.check(version))
    where = lsp.Range(lsp.Position(0, 0), lsp.Position(11, 0))
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(version.uri), where, lsp.CodeActionContext([]))
    return Question(documents, version, params, lsp.ClientCapabilities())


@pytest.mark.parametrize("is_proved", [True, False])
def test_a_fix_is_offered_with_its_proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_proved: bool) -> None:
    monkeypatch.setattr(fixes, "proved", lambda *_: is_proved)
    assert len(fixes.actions(fixing(tmp_path, BROKEN))) == is_proved


def test_fixes_of_an_answer_are_proved_against_one_compilation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []

    def counted(opened: Opened, settings: Settings) -> Compilation:
        compiled.append(opened.path)
        return compile_opened(opened, settings)

    for module in (fixes, proofs):
        monkeypatch.setattr(module, "compile_opened", counted)
    text = BROKEN.replace("- FAIL: GOTO Rolback\n", "- PASS: GOTO Rolback\n- FAIL: GOTO Rollbak\n")
    question = fixing(tmp_path, text)
    for _ in range(2):
        assert len(fixes.actions(question)) == 2
        assert len(compiled) == 3  # the document, and the document with each fix
