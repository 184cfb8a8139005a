"""Verifies generated files: compiles the source again and compares, or examines the text. Nothing is executed."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from enum import IntEnum
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec import Struct

from backends.base import MARK, MARK_LINES, Companion
from backends.common.command import Command, read_command
from backends.common.remarks import listed
from backends.github.verify import verify_workflow
from backends.make.native import hash_of
from backends.make.verify import verify_caller, verify_loop
from backends.python.verify import LineIssue, first_difference, needed, shared_runtime, verify_program
from backends.registry import load, names
from compiler.diagnostics.issues import InvalidError
from compiler.driver import Compilation, Settings, compile_file
from compiler.frontends import FRONT_ENDS, all_options
from compiler.project.options import Level
from compiler.project.project import open_project, project_around
from compiler.text.files import FileIssue, is_below, read_source
from compiler.text.regex import Regex
from compiler.version import __version__
from rdc.draw.graphviz import HYPHENS, DrawingError, draw, without_layout
from rdc.output.generate import emitted
from rdc.output.layout import beside, placed_file
from rdc.output.paths import Output

_MARKED = Regex(rf"(?:#|//|%%|<!--) {MARK} (\d[0-9A-Za-z.+-]{{0,40}}) (from|for) ")
_COMMENT = Regex(r"(?:#|//|%%) ?(.*)|<!-- (.*) -->")
_HASH = Regex(r"\(sha256 ([0-9a-f]{64})\)")
_COMMANDS = ("  rdc compile ", "  rdc graph ")
_PROGRAMS = {"#!/usr/bin/env python3": "python", "#!/usr/bin/env -S uv run --script": "dbos"}
"""The target that writes a program, by its first line."""

_NOUNS = {"python": "a Python program", "dbos": "a worker"}


class VerifyStatus(IntEnum):
    """The verdict on a file. The number is the exit code."""

    PROVEN = 0
    CHANGED = 1
    UNKNOWN = 2
    SOURCE_MISSING = 3


class VerifyResult(NamedTuple):
    """The verdict on a file and its reason. `line` is 0 if no line is wrong."""

    status: VerifyStatus
    message: str
    line: int = 0


class _Header(Struct, frozen=True):
    """The content of a file's header. It is untrusted."""

    version: str
    is_runtime: bool
    command: Command | None
    hashes: tuple[str, ...]


def verify(path: str) -> VerifyResult:
    """Return the verdict on a file. Its source may be in its own project, or in that of the current folder."""
    source = read_source(Path(path), path, path)
    if isinstance(source, FileIssue):
        return VerifyResult(VerifyStatus.UNKNOWN, source.message)
    header = _header(source.text)
    if header is None:
        return VerifyResult(VerifyStatus.UNKNOWN, "it has no header from rdc")
    if header.version != __version__:
        reason = f"it was written by rdc {header.version}; verify it with that version (this is {__version__})"
        return VerifyResult(VerifyStatus.UNKNOWN, reason)
    if source.has_mark:
        return VerifyResult(VerifyStatus.CHANGED, "a byte-order mark was added", 1)
    if header.is_runtime:
        if found := shared_runtime(source.text):
            return VerifyResult(VerifyStatus.PROVEN, f"{found}, unchanged")
        return VerifyResult(VerifyStatus.CHANGED, "this is not a runtime of this rdc version", 1)
    if header.command is None:
        reason = "the command in the header is missing"
        return VerifyResult(VerifyStatus.CHANGED if _written_by(source.text) else VerifyStatus.UNKNOWN, reason)
    return _of_output(path, source.text, header, header.command)


def _of_output(path: str, text: str, header: _Header, command: Command) -> VerifyResult:
    if command.target not in names():
        return VerifyResult(VerifyStatus.CHANGED, f"the header names the target {command.target}, which does not exist")
    written_by = _written_by(text)
    if written_by not in ("", command.target):  # a program must not pass as something else
        reason = f"the header names the target {command.target}, but this is {_NOUNS[written_by]}"
        return VerifyResult(VerifyStatus.CHANGED, reason)
    missing, settings = "the source is not in this project", _settings(command)
    if settings is None:
        return VerifyResult(VerifyStatus.CHANGED, "the command in the header has an unknown option")
    for file in _sources(path, command.source):
        compilation = compile_file(str(file), settings)
        if compilation.program is None:
            missing = "the source does not compile here"
            continue
        sources = compilation.program.sources
        if header.hashes in (tuple(each.sha256 for each in sources), (hash_of(sources),)):  # of each, or of all
            return _compared(path, text, compilation, command)
        missing = "the source has changed"
    if command.target == "github":
        return _of_workflow(path, text, missing)
    return _unsourced(path, text, missing, is_program=command.target in _NOUNS)


def _written_by(text: str) -> str:
    """Return the target that writes programs with this first line, or "" for other files."""
    return _PROGRAMS.get(text.partition("\n")[0], "")


def _settings(command: Command) -> Settings | None:
    """Return the settings from the command for reading its source, or None if they are not valid."""
    formats = {form.word: form.name for form in FRONT_ENDS.values()}
    known = {option.name: option for option in all_options() if Level.COMMAND_LINE in option.levels}
    front_end, words = None, dict[str, str | tuple[str, ...]]()
    for flag, word in command.read_by:
        option, before = known.get(flag.removeprefix("--")), words.get(flag.removeprefix("--"), ())
        if flag == "--from" and word in formats:
            front_end = formats[word]
        elif option is None:
            return None
        else:
            try:
                option.read((word,) if option.is_repeated else word, {})
            except InvalidError:
                return None
            words[option.name] = (*before, word) if option.is_repeated else word
    return Settings(front_end, words)


def _compared(path: str, text: str, compilation: Compilation, command: Command) -> VerifyResult:
    """Compare the file with the output of its source."""
    backend = load(command.target)
    try:
        made = emitted(compilation, backend, backend.options.from_words(command.options), backend.emit, path)
    except InvalidError as error:
        return VerifyResult(VerifyStatus.CHANGED, f"the command in the header is not valid: {error}")
    product = made.products[0]
    if product is None:
        return VerifyResult(VerifyStatus.CHANGED, "the command in the header does not compile")
    wanted = product.data.decode()
    if command.is_drawn:
        return _of_drawing(text, wanted, command)
    if wanted == text:
        told = f"matches {command.source}, compiled with rdc {__version__}"
        return _beside(Output(command.source, path), product.companions, told)
    return VerifyResult(
        VerifyStatus.CHANGED, f"differs from the output of {command.source}", first_difference(text, wanted)
    )


def _of_drawing(text: str, graph: str, command: Command) -> VerifyResult:
    """Compare an SVG with the drawing of its graph."""
    try:
        wanted = draw(graph, "svg", command.options.get("theme")).decode()
    except DrawingError as error:
        return VerifyResult(VerifyStatus.UNKNOWN, f"rdc can't draw it again: {error}")
    if wanted == text:
        return VerifyResult(VerifyStatus.PROVEN, f"matches {command.source}, drawn with rdc {__version__}")
    if without_layout(wanted) == without_layout(text):
        elsewhere = "laid out by another version of Graphviz, with other fonts, or by hand"
        return VerifyResult(
            VerifyStatus.UNKNOWN, f"has the boxes, arrows and words of {command.source}, but was {elsewhere}"
        )
    return VerifyResult(
        VerifyStatus.CHANGED, f"differs from the picture of {command.source}", first_difference(text, wanted)
    )


def _beside(main: Output, companions: tuple[Companion, ...], told: str) -> VerifyResult:
    """Compare the companion files of a proven file with their expected content."""
    for companion in companions:
        if wrong := _other(placed_file(main, companion).output.path, companion.text):
            return wrong
    names = [placed_file(main, companion).output.path for companion in companions]
    return VerifyResult(
        VerifyStatus.PROVEN, f"{told}, and so {'do' if names[1:] else 'does'} {listed(names)}" if names else told
    )


def _other(path: str, text: str) -> VerifyResult | None:
    """Report a companion file without the expected content, or return None."""
    found = read_source(Path(path), path, path)
    if isinstance(found, FileIssue):
        return VerifyResult(VerifyStatus.CHANGED, f"cannot read its companion file {path}: {found.message}")
    if found.text != text or found.has_mark:
        return VerifyResult(VerifyStatus.CHANGED, f"its companion file {path} was changed")
    return None


def _unsourced(path: str, text: str, missing: str, *, is_program: bool) -> VerifyResult:
    """Return the verdict without the source."""
    if is_program:
        return _of_program(path, text, missing)
    if isinstance(call := verify_caller(text) or verify_loop(text), LineIssue):
        return VerifyResult(VerifyStatus.CHANGED, call.message, call.line)
    if call is None:
        return VerifyResult(VerifyStatus.SOURCE_MISSING, f"{missing}; only the source proves this file")
    if isinstance(call, str):
        return VerifyResult(VerifyStatus.SOURCE_MISSING, f"{call}, source not compared: {missing}")
    return _of_pinned(beside(path, call.path), call.sha256, missing)


def _of_pinned(path: str, sha256: str, missing: str) -> VerifyResult:
    """Return the verdict on a program that another file calls by its hash."""
    program = read_source(Path(path), path, path)
    if isinstance(program, FileIssue):
        return VerifyResult(VerifyStatus.CHANGED, f"cannot read {path}, which it calls: {program.message}")
    if program.sha256 != sha256:
        return VerifyResult(VerifyStatus.CHANGED, f"it calls {path}, which was changed")
    found = _of_program(path, program.text, missing)
    return found._replace(message=f"{path}: {found.message}", line=0)


def _of_workflow(path: str, text: str, missing: str) -> VerifyResult:
    """Return the verdict on a workflow, with its program, runtime and publishing script."""
    called = verify_workflow(text)
    if isinstance(called, LineIssue):
        return VerifyResult(VerifyStatus.CHANGED, called.message, called.line)
    if called is None:
        return VerifyResult(VerifyStatus.SOURCE_MISSING, f"{missing}; only the source proves this file")
    main = Output(path, path)
    found = _beside(main, called.others, "")
    if found.status is VerifyStatus.PROVEN:
        found = _of_pinned(placed_file(main, called.program).output.path, called.sha256, missing)
    if found.status is not VerifyStatus.SOURCE_MISSING or called.is_known:
        return found
    others = "it has steps or settings that rdc does not write"
    return found._replace(message=f"{others}; only the source proves this file: {missing}")


def _of_program(path: str, text: str, missing: str) -> VerifyResult:
    """Return the verdict on a Python program, and on its runtime if that is a separate file."""
    found = verify_program(text)
    if isinstance(found, LineIssue):
        return VerifyResult(VerifyStatus.CHANGED, found.message, found.line)
    for base, wanted in needed(text, found).items():
        if wrong := _other(beside(path, base), wanted):
            return wrong
    return VerifyResult(VerifyStatus.SOURCE_MISSING, f"edition {found} unchanged, source not compared: {missing}")


def _sources(path: str, named: str) -> Iterator[Path]:
    """Yield the files that may be the source: its path relative to a project's root, in that project."""
    pure = PurePosixPath(named)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        return
    roots = (open_project(path).root, project_around(os.path.realpath(".")).root)
    for root in dict.fromkeys(roots):
        try:
            file = Path(os.path.realpath(Path(root) / named))
            if file.is_file() and is_below(str(file), root) and open_project(str(file)).root == root:
                yield file
        except (OSError, ValueError):
            continue


def _header(text: str) -> _Header | None:
    """Return the header from the last line with the mark in the right place: a title above it may look the same."""
    lines = text.split("\n")
    found = [(at, match) for at, line in enumerate(lines[:MARK_LINES]) if (match := _MARKED.match(line))]
    if not found:
        return None
    at, match = found[-1]
    comments = list(_comments(lines[at:]))
    place = next((place for place, line in enumerate(comments) if line.startswith(_COMMANDS)), None)
    command = None if place is None else read_command(comments[place])
    return _Header(match[1], match[2] == "for", command, tuple(_HASH.findall("\n".join(comments[:place]))))


def _comments(lines: list[str]) -> Iterator[str]:
    """Yield the comments at the start of a text."""
    for line in lines:
        match = _COMMENT.fullmatch(line)
        if match is None:
            return
        yield match[2].replace(HYPHENS, "--") if match[1] is None else match[1]


def worst(findings: Mapping[str, VerifyResult]) -> int:
    """Return the exit code for several files. CHANGED overrides UNKNOWN, which overrides SOURCE_MISSING."""
    statuses = {finding.status for finding in findings.values()}
    order = (VerifyStatus.CHANGED, VerifyStatus.UNKNOWN, VerifyStatus.SOURCE_MISSING)
    return int(next((status for status in order if status in statuses), VerifyStatus.PROVEN))
