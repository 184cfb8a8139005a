"""Checks from its text what a Python program does. Nothing in it is executed.

A program has a header of comments, the imports of its edition, the author's part, which is one function of calls with
literals, and the modules of the edition. This version can write everything but the header and the author's part again.
"""

import ast
import re
from collections.abc import Iterator
from itertools import chain
from typing import get_args

from backends.base import OutputFile, VerifyResult, VerifyStatus, changed_beside, first_difference
from backends.python.calls import WORDS
from backends.python.edition import (
    BEGIN,
    END,
    RUNTIME,
    SHARED_OPENING,
    TRACED,
    TRACES,
    WORKER,
    opening,
    shared_files,
    word_of_part,
)
from backends.python.program import METADATA, checks, tail
from compiler.ir.program import Noun
from compiler.text.regex import Regex
from runtime_shim.editions import CALLERS, EDITIONS

RULER = "# " + "-" * 117
"""The line above and below the line with the edition's name."""

KNOWN = frozenset({*WORDS, "ask", "confirm", "input", "select", "value", "agent", "tool", "parallel", "gate", "stage"})
"""All functions that a document may call."""

_PLAIN = (ast.arguments, ast.arg, ast.Expr, ast.Load, ast.List, ast.USub)
"""Syntax that a document may have anywhere."""

_BOUNDARY = f"\n\n\n{RULER}\n# The runtime of rdc "
_EDITION = Regex(r"(?P<version>(?:(?!, edition ).){1,40}), edition (?P<name>[a-z]{1,20}) \(sha256 [0-9a-f]{64}\)\.\n")
_FIRST = "#!/usr/bin/env python3\n#\n"
_FIRST_OF_WORKERS = "#!/usr/bin/env -S uv run --script\n#\n"
_HEADER = Regex(r"(?:#.*\n)*\n")
_AT_VERSION = len(_BOUNDARY) - len("\n\n\n")
"""Where the rest of a program has the version."""

_BESIDE = sorted(name for name in CALLERS if not word_of_part(name))  # whose parts are files beside a program


def split(text: str) -> tuple[str, str] | None:
    """Return the author's part, and the rest from the line above the edition; None without an edition."""
    before, boundary, after = text.rpartition(_BOUNDARY)
    return (before + "\n\n\n", boundary[3:] + after) if boundary else None


def runtime_in(name: str, text: str) -> str:
    """Return the runtime in a program of any version, or the whole text if it has none.

    `name` is that of an edition, or of a part below it.
    """
    word = word_of_part(name) or RUNTIME
    return "".join(re.findall(rf"^{BEGIN} {word}\n.*?^{END} {word}\n", text, re.MULTILINE | re.DOTALL)) or text


def verify_text(text: str) -> str | VerifyResult:
    """Return the edition of a program of this version with only calls above it, or the first problem."""
    parts = split(text)
    if parts is None:
        return VerifyResult.changed(1, "the line that starts the runtime is missing")
    head, rest = parts
    is_worker = head.startswith(_FIRST_OF_WORKERS)
    found = _EDITION.match(rest, _AT_VERSION)
    line = head.count("\n") + 1
    if found is None or (edition := found["name"]) not in EDITIONS:
        return VerifyResult.changed(line + 1, "this version of rdc does not have this edition")
    header = _HEADER.match(head)
    start = header.end() if header else 0
    is_shared = not is_worker and head.startswith(SHARED_OPENING, start)
    above = SHARED_OPENING if is_shared else opening(edition)
    if not head.startswith(above, start):
        line = head.count("\n", 0, start) + first_difference(head[start:], above)
        return VerifyResult.changed(line, f"this line differs from edition {edition}")
    in_file = WORKER if is_worker else TRACES * (f"\n{BEGIN} {TRACED}\n" in rest)
    if not is_shared and f"\n{checks(edition, in_file)}" not in head[:start]:
        return VerifyResult.changed(1, "the commands in the header that check the runtime were changed")
    function = _author_part(head, start + len(above))
    if isinstance(function, VerifyResult):
        return function
    callers = ["", *_BESIDE] if is_shared else [in_file]
    wanted = [tail(edition, function.name, is_shared=is_shared, caller=caller) for caller in callers]
    if rest in wanted:
        return edition
    closest = max(first_difference(rest, each) for each in wanted)
    return VerifyResult.changed(line + closest - 1, f"this line differs from edition {edition}")


def verify_program(file: OutputFile, missing: str) -> VerifyResult:
    """Verify a program without its source, and its runtime if that is in separate files."""
    found = verify_text(file.text)
    if isinstance(found, VerifyResult):
        return found
    _, rest = split(file.text) or ("", "")
    files = {name: each for caller in ("", *_BESIDE) for name, each in shared_files(found, caller).items()}
    for name, text in files.items():
        if f'\n    "{name}": "' in rest[:2000] and (changed := changed_beside(file.beside(name), text)):
            return changed
    return VerifyResult(VerifyStatus.SOURCE_MISSING, f"edition {found} unchanged, source not compared: {missing}")


def verify_called(program: OutputFile, sha256: str, missing: str) -> VerifyResult:
    """Verify a program that another file calls by its hash."""
    if program.message:
        return VerifyResult.changed(0, f"cannot read {program.path}, which it calls: {program.message}")
    if program.sha256 != sha256:
        return VerifyResult.changed(0, f"it calls {program.path}, which was changed")
    found = verify_program(program, missing)
    return found._replace(message=f"{program.path}: {found.message}", line=0)


def _author_part(head: str, start: int) -> ast.FunctionDef | VerifyResult:
    """Return the document's function, which starts at a place, or the first problem in it or in the header."""
    is_worker = head.startswith(_FIRST_OF_WORKERS)
    if not is_worker and not head.startswith(_FIRST):
        return VerifyResult.changed(
            1, "the first two lines are not the ones that rdc writes"
        )  # the second could be `coding: utf-7`
    for number, text in enumerate(head.split("\n"), 1):
        if not text.replace("\t", "").isprintable():
            return VerifyResult.changed(number, "this line has an invisible character")
    try:
        body = ast.parse("\n" * head.count("\n", 0, start) + head[start:], feature_version=(3, 9)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return VerifyResult.changed(getattr(error, "lineno", None) or 1, "this is not a function with only calls")
    metadata = next((text for text in METADATA.values() if text in head), METADATA[()]) if is_worker else ""
    problem = next(chain(_other_packages(head, metadata), _issues(body)), None)
    if problem:
        return problem
    (function,) = body
    assert isinstance(function, ast.FunctionDef)  # noqa: S101 (for mypy)
    return function


def _other_packages(head: str, metadata: str) -> Iterator[VerifyResult]:
    """Yield a line that could start inline script metadata that rdc does not write: `uv run` would install packages."""
    rest = head.replace(metadata, "\n" * metadata.count("\n"), 1)
    found = next((number for number, line in enumerate(rest.split("\n"), 1) if line.startswith("# ///")), 0)
    if found or metadata not in head:
        yield VerifyResult.changed(found or 1, "the packages for `uv run` were changed")


def _issues(body: list[ast.stmt]) -> Iterator[VerifyResult]:
    if not body:
        yield VerifyResult.changed(1, "the function is missing")
        return
    function = body[0]
    if not isinstance(function, ast.FunctionDef) or function.name not in get_args(Noun):
        yield VerifyResult.changed(function.lineno, "this is not a document's function")
        return
    if function.decorator_list:
        yield VerifyResult.changed(function.decorator_list[0].lineno, "the function has a decorator")
    names = [argument.arg for argument in function.args.args]
    if ast.unparse(function.args) != ", ".join(names) or function.returns or not KNOWN.issuperset(names):
        yield VerifyResult.changed(function.lineno, "the function has parameters that rdc does not write")
    for statement in function.body:
        if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
            yield VerifyResult.changed(statement.lineno, "this is not a call")
    yield from _strange(function, frozenset(names))
    yield from (VerifyResult.changed(other.lineno, "there is more than one function") for other in body[1:])


def _strange(function: ast.FunctionDef, names: frozenset[str]) -> Iterator[VerifyResult]:
    line = function.lineno
    for node in ast.walk(function):
        line = getattr(node, "lineno", line)
        match node:
            case ast.Name(name):
                is_good = name in names
            case ast.keyword(word):
                is_good = word is not None
            case ast.Dict(keys):
                is_good = None not in keys
            case ast.Constant(value):
                is_good = value is None or type(value) in (str, int, float, bool)
            case ast.Call(ast.Name()) | ast.UnaryOp(ast.USub(), ast.Constant()):
                is_good = True
            case _:
                is_good = node is function or isinstance(node, _PLAIN)
        if not is_good:
            yield VerifyResult.changed(line, "this is not a call of rdc's functions or a literal")
