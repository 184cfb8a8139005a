"""Verifies generated files: compiles the source again and compares, or examines the text. Nothing is executed."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from backends.base import (
    MARK,
    MARK_LINES,
    Backend,
    Companion,
    Emission,
    OutputFile,
    VerifyResult,
    VerifyStatus,
    changed_beside,
    first_difference,
)
from backends.common.command import Command, read_command
from backends.common.remarks import hash_of, listed
from backends.registry import BACKENDS, load, names
from compiler.diagnostics.issues import InvalidError
from compiler.driver import Compilation, Settings, compile_file
from compiler.frontends import FRONT_ENDS, all_options
from compiler.ir.program import Program
from compiler.project.options import Level, Making
from compiler.project.project import open_project, project_around
from compiler.text.files import FileIssue, is_below, read_source
from compiler.text.regex import Regex
from compiler.version import __version__
from rdc.draw.graphviz import HYPHENS, DrawingError, draw, without_layout
from rdc.output.generate import emitted
from rdc.output.layout import placed, placed_file
from rdc.output.paths import Output

_MARKED = Regex(rf"([^\w\s]{{1,4}}) {MARK} (\d[0-9A-Za-z.+-]{{0,40}}) (from|for) ")
"""The mark after a comment sign, which each target chooses."""

_CLOSING = {"<!--": " -->", "/*": " */"}
_HASH = Regex(r"\(sha256 ([0-9a-f]{64})\)")
_COMMANDS = ("  rdc compile ", "  rdc graph ")


class _File(OutputFile, frozen=True):
    """A file on the disk."""

    def beside(self, path: str, home: str = "") -> OutputFile:
        """Read the file at a path from this one; if this one is not in `home`, the file of that name next to it."""
        return _read(placed(Output(self.path, self.path), path, home))


def _read(path: str) -> _File:
    source = read_source(Path(path), path, path)
    if isinstance(source, FileIssue):
        return _File(path, message=source.message)
    return _File(path, source.text, source.sha256)


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
        return VerifyResult.changed(1, "a byte-order mark was added")
    if header.is_runtime:
        known = (name for each in map(load, BACKENDS) for name, text in each.runtimes().items() if text == source.text)
        if name := next(known, ""):
            return VerifyResult(VerifyStatus.PROVEN, f"the text of `rdc runtime {name}`, unchanged")
        return VerifyResult.changed(1, "this is not a runtime of this rdc version")
    if header.command is None:
        reason = "the command in the header is missing"
        return VerifyResult(VerifyStatus.CHANGED if _writer(source.text) else VerifyStatus.UNKNOWN, reason)
    return _of_output(path, source.text, header, header.command)


def origin_of(path: str) -> tuple[str, str]:
    """Return the target of a generated file and the path of its document, each "" if it is unknown."""
    source = read_source(Path(path), path, path)
    header = None if isinstance(source, FileIssue) else _header(source.text)
    if header is None or header.command is None:
        return "", ""
    found = next(_sources(path, header.command.source), None)
    return header.command.target, "" if found is None else os.path.relpath(found)


def _of_output(path: str, text: str, header: _Header, command: Command) -> VerifyResult:
    if command.target not in names():
        return VerifyResult(VerifyStatus.CHANGED, f"the header names the target {command.target}, which does not exist")
    writer = _writer(text)
    if writer and writer.name != command.target:  # a program must not pass as something else
        reason = f"the header names the target {command.target}, but this is {writer.noun}"
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
    return load(command.target).verify_output(_File(path, text), missing)


def _writer(text: str) -> Backend[Any] | None:
    """Return the target that alone writes files with this first line, or None."""
    first = text.partition("\n")[0]
    return next((one for one in map(load, BACKENDS) if one.first_line and one.first_line == first), None)


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
    backend = load(command.target)

    def emit(program: Program, options: Mapping[str, object], making: Making) -> Emission:
        return backend.emit(program, options, replace(making, out=command.out))

    try:
        made = emitted(compilation, backend, backend.options.from_words(command.options), emit, command.out or path)
    except InvalidError as error:
        return VerifyResult(VerifyStatus.CHANGED, f"the command in the header is not valid: {error}")
    product = made.products[0]
    if product is None:
        return VerifyResult(VerifyStatus.CHANGED, "the command in the header does not compile")
    wanted = product.data.decode()
    if command.is_drawn:
        return _of_drawing(text, wanted, command)
    if wanted == text:
        message = f"matches {command.source}, compiled with rdc {__version__}"
        return _beside(Output(command.source, path), product.companions, message)
    return VerifyResult.changed(first_difference(text, wanted), f"differs from the output of {command.source}")


def _of_drawing(text: str, graph: str, command: Command) -> VerifyResult:
    try:
        wanted = draw(graph, "svg", command.options.get("theme")).decode()
    except DrawingError as error:
        return VerifyResult(VerifyStatus.UNKNOWN, f"rdc can't draw it again: {error}")
    if wanted == text:
        return VerifyResult(VerifyStatus.PROVEN, f"matches {command.source}, drawn with rdc {__version__}")
    if without_layout(wanted) == without_layout(text):
        elsewhere = "laid out by another version of Graphviz, with other fonts, or by hand"
        message = f"has the boxes, arrows and words of {command.source}, but was {elsewhere}"
        return VerifyResult(VerifyStatus.UNKNOWN, message)
    return VerifyResult.changed(first_difference(text, wanted), f"differs from the picture of {command.source}")


def _beside(main: Output, companions: tuple[Companion, ...], message: str) -> VerifyResult:
    """Compare the companion files of a proven file with their expected content."""
    names = [placed_file(main, companion).output.path for companion in companions]
    for path, companion in zip(names, companions, strict=True):
        if changed := changed_beside(_read(path), companion.text):
            return changed
    so = f", and so {'do' if names[1:] else 'does'} {listed(names)}" if names else ""
    return VerifyResult(VerifyStatus.PROVEN, f"{message}{so}")


def _sources(path: str, named: str) -> Iterator[Path]:
    """Yield the files that may be the source: its path relative to a project's root, in that project."""
    pure = PurePosixPath(named)
    if pure.is_absolute() or ".." in pure.parts or not pure.parts:
        return
    for root in dict.fromkeys((open_project(path).root, project_around(os.path.realpath(".")).root)):
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
    comments = list(_comments(lines[at:], match[1]))
    place = next((place for place, line in enumerate(comments) if line.startswith(_COMMANDS)), None)
    command = None if place is None else read_command(comments[place])
    return _Header(match[2], match[3] == "for", command, tuple(_HASH.findall("\n".join(comments[:place]))))


def _comments(lines: list[str], sign: str) -> Iterator[str]:
    end = _CLOSING.get(sign, "")
    for line in lines:
        if not (line.startswith(sign) and line.endswith(end)):
            return
        comment = line[len(sign) : len(line) - len(end)].removeprefix(" ")
        yield comment.replace(HYPHENS, "--") if end else comment


def worst(findings: Mapping[str, VerifyResult]) -> int:
    """Return the exit code for several files. CHANGED overrides UNKNOWN, which overrides SOURCE_MISSING."""
    statuses = {found.status for found in findings.values()}
    order = (VerifyStatus.CHANGED, VerifyStatus.UNKNOWN, VerifyStatus.SOURCE_MISSING)
    return int(next((status for status in order if status in statuses), VerifyStatus.PROVEN))
