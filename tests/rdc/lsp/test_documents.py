"""Versions of documents, their results, and the thread that checks them."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from lsprotocol import types as lsp

from rdc.lsp import fixes
from rdc.lsp.checking import Checker
from rdc.lsp.documents import Documents, Result, Version
from rdc.lsp.question import Question

BROKEN = "# T\n\n## 1. Build\n\nDo it.\n\n- FAIL: GOTO Rolback\n\n## Rollback\n\nUndo it.\n"
FINE = BROKEN.replace("Rolback", "Rollback")


def test_a_result_of_an_older_version_is_dropped(tmp_path: Path) -> None:
    documents, uri = Documents(), (tmp_path / "a.runbook.md").as_uri()
    old = documents.check(documents.change(uri, 1, BROKEN))
    new = documents.change(uri, 2, FINE)
    assert not documents.keep(old)
    assert documents.result(new) is None
    found = documents.check(new)
    assert documents.keep(found)
    assert documents.result(new) is found
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


@pytest.mark.parametrize("is_proved", [True, False])
def test_a_fix_is_offered_only_with_its_proof(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_proved: bool
) -> None:
    monkeypatch.setattr(fixes, "proved", lambda *_: is_proved)
    documents = Documents()
    version = documents.change((tmp_path / "a.runbook.md").as_uri(), 1, BROKEN)
    documents.keep(documents.check(version))
    where = lsp.Range(lsp.Position(6, 0), lsp.Position(6, 1))
    params = lsp.CodeActionParams(lsp.TextDocumentIdentifier(version.uri), where, lsp.CodeActionContext([]))
    found = fixes.actions(Question(documents, version, params, lsp.ClientCapabilities()))
    assert len(found) == is_proved
