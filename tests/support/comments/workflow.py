"""A workflow with all that its comments may speak of, and its comments one by one."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import yaml

from backends.base import Emission
from backends.github import GithubBackend
from backends.github.options.model import GithubOptions
from compiler.ir.program import Node, Program, texts_of
from compiler.ir.texts import Text
from runtime_shim.targets.naming import name_in_words
from tests.support.github.compiling import LOADER

Step = Mapping[str, Any]


@dataclass(frozen=True)
class Comment:
    """A comment: its text, the code before it on its line, and the job and step that it is in or above."""

    text: str
    code: str
    line: int
    job: str
    step: int


def comments_of(text: str) -> Iterator[Comment]:
    """Yield the comments of a workflow in order. A `#` in a scalar starts none."""
    inside = [
        (token.start_mark.index, token.end_mark.index)
        for token in yaml.scan(text, LOADER)
        if isinstance(token, yaml.ScalarToken)
    ]
    place, job, step, at = 0, "", -1, 0
    for number, line in enumerate(text.splitlines(), 1):
        if re.fullmatch(r"  \w+:", line) and "\njobs:\n" in text[:at]:
            job, step = line.strip(" :"), -1
        step = -1 if line == "    steps:" else step
        while place < len(inside) and inside[place][1] <= at:
            place += 1
        ends = [(start - at, end - at) for start, end in inside[place : place + 8]]
        first = next(
            (
                found.start()
                for found in re.finditer(r"(?:^|(?<= ))#", line)
                if not any(start <= found.start() < end for start, end in ends)
            ),
            None,
        )
        if line.startswith("      - ") and not any(start < 0 < end for start, end in ends):
            step += 1
        if first is not None:
            code = line[:first].strip()
            above = not code and line.startswith("      #")
            yield Comment(line[first + 1 :].removeprefix(" "), code, number, job, step + 1 if above else step)
        at += len(line) + 1


@dataclass(frozen=True)
class Workflow:
    """A compiled workflow with everything that its comments may speak of."""

    program: Program
    given: Mapping[str, object]
    emission: Emission
    options: GithubOptions

    @classmethod
    def of(cls, program: Program, given: Mapping[str, object]) -> Workflow:
        backend = GithubBackend()
        return cls(program, given, backend.emit(program, given), backend.options.validated(given))

    @cached_property
    def text(self) -> str:
        assert self.emission.text is not None
        return self.emission.text

    @cached_property
    def values(self) -> dict[str, Any]:
        found = yaml.load(self.text, LOADER)
        return {"on" if key is True else str(key): value for key, value in found.items()}

    @cached_property
    def jobs(self) -> dict[str, Any]:
        return dict(self.values["jobs"])

    @cached_property
    def nodes(self) -> dict[str, Node]:
        return self.program.index()

    @cached_property
    def titles(self) -> dict[str, Node]:
        """The nodes by their names for people."""
        return {
            " ".join(name_in_words(node.id, shown(node.title)).split()): node for node in reversed(self.program.nodes)
        }

    @cached_property
    def prose(self) -> set[str]:
        """The lines of all texts of the document, without their values."""
        texts = [shown(text) for node in self.program.nodes for text in texts_of(node)]
        texts += [shown(text) for group in self.program.groups for text in (group.title, group.prompt)]
        return {bare(line) for text in texts for line in text.splitlines()} | {bare(text) for text in texts}

    def step(self, comment: Comment) -> Step:
        found: Step = self.jobs[comment.job]["steps"][comment.step]
        return found

    def continues(self) -> bool:
        inputs = (self.values["on"].get("workflow_dispatch") or {}).get("inputs") or {}
        return "resume" in inputs

    def strings(self, *, where: object = None) -> Iterator[str]:
        """Yield all strings of the jobs."""
        pending = [self.jobs if where is None else where]
        while pending:
            item = pending.pop()
            if isinstance(item, dict):
                pending += item.values()
            elif isinstance(item, list):
                pending += item
            elif isinstance(item, str):
                yield item


def shown(text: Text) -> str:
    return "".join(part if isinstance(part, str) else part.written or f"{{{part.register}}}" for part in text.parts)


def bare(line: str) -> str:
    """A line without values and ends, because comments show these in other ways."""
    words = re.sub(r"\{+[^{}]*\}+", "", line.replace("$ {{", "${{"))
    return " ".join("".join(char if char.isprintable() else " " for char in words).split())


def check(workflow: Workflow, text: str, kinds: Sequence[Kind]) -> None:
    """Compare a comment by the first kind that matches."""
    for pattern, checker in kinds:
        if found := pattern.fullmatch(text):
            checker(workflow, found)
            return
    raise AssertionError(f"unknown comment: {text!r}")


Check = Callable[[Workflow, "re.Match[str]"], None]
Kind = tuple["re.Pattern[str]", Check]
