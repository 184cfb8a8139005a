"""Read the files of `@prompt(file:…)`, which must be in the playbook's folder (P12)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from msgspec import Struct

from compiler.diagnostic import Diagnostic
from compiler.files import Refusal
from compiler.frontends.playbook.placeholders import PLACEHOLDER, names_of
from compiler.frontends.playbook.syntax import Playbook, PromptRef, every_step
from compiler.project import Project
from compiler.source import Source, Span

LARGEST_PROMPT = 200_000
"""The largest prompt file in bytes, the same as for a playbook (P1)."""


class Linked(Struct, frozen=True):
    """The files of prompts by path as written, and the diagnostics for other files."""

    files: Mapping[str, Source]
    diagnostics: tuple[Diagnostic, ...]


def link(source: Source, playbook: Playbook, project: Project, *, must_exist: bool) -> Linked:
    """Read each file once; a missing file is an error only with `must_exist`."""
    names = names_of(playbook)
    files: dict[str, Source] = {}
    found: list[Diagnostic] = []
    for step in every_step(playbook):
        prompt = step.prompt
        if prompt is None or prompt.scheme != "file" or step.tool or prompt.id in files:
            continue
        file = _file(source, prompt, project)
        if isinstance(file, Source):
            files[prompt.id] = file
            found += _unresolved(file, names)
        elif must_exist or file.code != "RD741":
            found.append(Diagnostic(file.code, source.path, prompt.span, file.problem, file.remedy))
    return Linked(files, tuple(found))


def _file(source: Source, prompt: PromptRef, project: Project) -> Source | Refusal:
    located = project.find_below(source, prompt.id)
    if located is None:
        problem = f"there is no file `{prompt.id}` in the playbook's folder"
        return Refusal("RD741", problem, "fix the path, or create the file with the prompt's text")
    if isinstance(located, Refusal):
        return located
    file = located.read()
    if isinstance(file, Refusal):
        return Refusal("RD742", f"`{prompt.id}` cannot be a prompt: {file.problem}", file.remedy)
    if len(file.data) > LARGEST_PROMPT:
        problem = f"`{prompt.id}` is larger than {LARGEST_PROMPT:,} bytes"
        return Refusal("RD742", problem, "shorten it, because a prompt includes the whole file")
    return file


def _unresolved(file: Source, names: Collection[str]) -> Iterator[Diagnostic]:
    """Warn about placeholders in a file that match no input or output (P9)."""
    for number, line in enumerate(file.lines, 1):
        for place in PLACEHOLDER.finditer(line) if "{{" in line else ():
            if place[1] not in names and ":" not in (place[2] or ""):
                span = Span(number, place.start() + 1, number, place.end() + 1)
                problem = f"`{place[0]}` is not replaced: the playbook has no input or @output with this name"
                yield Diagnostic("RD721", file.path, span, problem, "fix the name, or declare it in the playbook")
