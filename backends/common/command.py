"""The canonical command that a generated file shows. It is the same for every way to compile the document."""

import shlex
from collections.abc import Iterator
from itertools import chain

from msgspec import Struct

from backends.options.model import Options
from compiler.ir.program import Program


class Command(Struct, frozen=True):
    """A canonical command: the source relative to the project's root, the target, and its options as strings.

    `read_by` are the options for reading the source, each with its value. `out` is the file relative to the root, or ""
    for the usual one. With `is_drawn`, Graphviz draws the output.
    """

    source: str
    target: str
    options: dict[str, str]
    read_by: tuple[tuple[str, str], ...] = ()
    is_drawn: bool = False
    out: str = ""


def canonical_command(target: str, program: Program, options: Options) -> str:
    """Return the command that writes a file, to run in the project's root, with sorted options.

    The target comes last, so the line never ends with a backslash, which would continue a comment in a Makefile.
    """
    source = program.sources[0].path
    source = f"./{source}" if source.startswith("-") else source
    line = shlex.join(["rdc", "compile", source, *program.sources[0].read_by, *options.command_words(), "--to", target])
    return line if line.isprintable() else f"rdc compile (a path with invisible characters) --to {target}"


_FLAGS = {"--no-legend": "legend=false", "--steps": "boxes=steps"}
"""The flags of `rdc graph` for options of the target dot. Its other options have the same names."""


def drawing_command(command: Command, form: str) -> str:
    """Return the `rdc graph` command that draws the output of a command for the target dot."""
    flags = {option: flag for flag, option in _FLAGS.items()}
    words = [*chain(*command.read_by), *(["-o", command.out] if command.out else [])]
    for name, value in sorted(command.options.items()):
        words += [flags[f"{name}={value}"]] if f"{name}={value}" in flags else [f"--{name}", value]
    return shlex.join(["rdc", "graph", command.source, *words, *(["--format", form] if form != "svg" else [])])


def _compiling(words: list[str]) -> Iterator[str]:
    given = iter(words[2:])
    yield from ("rdc", "compile")
    for word in given:
        if word in _FLAGS:
            yield from ("-O", _FLAGS[word])
        elif word in ("--theme", "--link-base"):
            yield from ("-O", f"{word[2:]}={next(given, '')}")
        else:
            yield word
    yield from ("--to", "dot")


def read_command(line: str) -> Command | None:
    """Return the canonical command in a line, or None if it isn't one."""
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    is_drawn = words[:2] == ["rdc", "graph"]
    words = list(_compiling(words)) if is_drawn else words
    if len(words) < 5 or words[:2] != ["rdc", "compile"] or words[-2] != "--to" or len(words) % 2 == 0:
        return None
    flags = tuple(zip(words[3:-2:2], words[4:-2:2], strict=True))
    pairs = [word.partition("=") for flag, word in flags if flag == "-O"]
    if not all(flag.startswith("-") for flag, _ in flags) or not all(equals for _, equals, _ in pairs):
        return None
    options = {name: value for name, _, value in pairs}
    read_by, out = tuple(pair for pair in flags if pair[0] not in ("-O", "-o")), dict(flags).get("-o", "")
    return Command(words[2], words[-1], options, read_by, is_drawn, out)
