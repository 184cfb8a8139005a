"""How to make a playbook that shows a difference smaller: each result has a part less, or a simpler one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.playbooks.model import Book, Branch, Row, Step, Told


def smaller(told: Told) -> Iterator[Told]:
    """All that are one step smaller."""
    for book in _books(told.book):
        yield replace(told, book=book)
    for name in told.inputs:
        if told.inputs[name] != "x" and any(item.name == name and item.type == "text" for item in told.book.inputs):
            yield replace(told, inputs={**told.inputs, name: "x"})
    for step, reply in told.replies.items():
        if "answer" in reply and reply["answer"] != "x":
            yield replace(told, replies={**told.replies, step: {**reply, "answer": "x"}})


def _books(book: Book) -> Iterator[Book]:
    for place in range(len(book.steps)):
        if len(book.steps) > 1:
            yield replace(book, steps=book.steps[:place] + book.steps[place + 1 :])
    for place, step in enumerate(book.steps):
        for other in _steps(step):
            yield replace(book, steps=(*book.steps[:place], other, *book.steps[place + 1 :]))
    if book.system:
        yield replace(book, system=())
    if book.artifact:
        yield replace(book, artifact="")


def _steps(step: Step) -> Iterator[Step]:
    if step.branches:
        yield replace(step, branches=())
    without = (
        replace(step, output=None),
        replace(step, elicit=None),
        replace(step, prompt=None),
        replace(step, tool=None),
    )
    yield from (other for other in without if other != step)
    yield from (replace(step, content=content) for content in _rows(step.content))
    for place, branch in enumerate(step.branches):
        before, after = step.branches[:place], step.branches[place + 1 :]
        if len(step.branches) > 1 and branch.condition is None:
            yield replace(step, branches=before)
        yield from (replace(step, branches=(*before, other, *after)) for other in _branches(branch))


def _branches(branch: Branch) -> Iterator[Branch]:
    for place, step in enumerate(branch.steps):
        if len(branch.steps) > 1:
            yield replace(branch, steps=branch.steps[:place] + branch.steps[place + 1 :])
        for other in _steps(step):
            if other.label or other.content:
                yield replace(branch, steps=(*branch.steps[:place], other, *branch.steps[place + 1 :]))


def _rows(row: Row) -> Iterator[Row]:
    if len(row) > 1:
        yield ("x",)
        yield from (row[:place] + row[place + 1 :] for place in range(1, len(row) - 1))
