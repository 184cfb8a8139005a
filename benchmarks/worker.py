"""A process that does one piece of work on a document and prints the seconds that it took, imports left out.

`python -m benchmarks.worker WORK FILE`, with a work of `WORKS`. For `compile`, `check` and `playbook` the process is
set up by `rdc.__main__.start`, as that of the command `rdc` is, and only what that calls in the end is exchanged; the
others are plain Python programs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from backends.registry import BACKENDS
from rdc.__main__ import start


def prepare_compile(path: str) -> Callable[[], object]:
    """Parse, check, lower and emit, as `rdc compile --to python` does between its imports and its writing."""
    from backends.registry import load  # noqa: PLC0415 (after the process is set up, as in rdc itself)
    from compiler.driver import Settings, open_file  # noqa: PLC0415
    from compiler.frontends import FRONT_ENDS  # noqa: PLC0415
    from rdc.output.generate import generate  # noqa: PLC0415

    backend, settings = load("python"), Settings(front_end="rundown")
    FRONT_ENDS["rundown"].load()

    def work() -> object:
        made = generate([open_file(path)], settings, backend, {})
        if made.diagnostics:
            raise ValueError(f"the document should have no findings: {made.diagnostics[0]}")
        return made

    return work


def prepare_blocks(path: str) -> Callable[[], object]:
    """The bare block parse: what any tool pays that reads Markdown with markdown-it-py."""
    from markdown_it import MarkdownIt  # noqa: PLC0415 (after the process is set up)

    markdown = MarkdownIt("commonmark")
    markdown.core.ruler.enableOnly(["normalize", "block"])
    return lambda: markdown.parse(Path(path).read_text(encoding="utf-8"))


def prepare_playbook(path: str) -> Callable[[], object]:
    """Parse and check a playbook, with the places of everything in it."""
    from compiler.frontends.playbook.check.rules import read  # noqa: PLC0415
    from compiler.frontends.playbook.parse.lines import patterns  # noqa: PLC0415 (after the process is set up, as in rdc)
    from compiler.text.source import Source  # noqa: PLC0415

    patterns()

    def work() -> object:
        made = read(Source.from_text(path, Path(path).read_text(encoding="utf-8")))
        if made.found:
            raise ValueError(f"the playbook should have no findings: {made.found[0]}")
        return made

    return work


def prepare_reference(path: str) -> Callable[[], object]:
    """Parse a playbook as the parser of its specification does."""
    from playbook_md import parse_playbook  # noqa: PLC0415 (after the process is set up)

    return lambda: parse_playbook(Path(path).read_text(encoding="utf-8"))


def prepare_check(path: str) -> Callable[[], object]:
    """Check a document of any format, as `rdc check` does between its imports and its report."""
    from compiler.driver import Settings, compile_file  # noqa: PLC0415 (after the process is set up, as in rdc)
    from compiler.frontends import FRONT_ENDS  # noqa: PLC0415
    from compiler.reading.yaml import read_mapping  # noqa: PLC0415

    next(form for form in FRONT_ENDS.values() if form.has(path)).load()
    read_mapping("a: b")  # imports what reads YAML

    def work() -> object:
        made = compile_file(path, Settings(link=False))
        if made.diagnostics:
            raise ValueError(f"the document should have no findings: {made.diagnostics[0]}")
        return made

    return work


def prepare_emit(target: str, path: str) -> Callable[[], object]:
    """Check a runbook and compile it for a target, as `rdc compile` does between its imports and its writing."""
    from backends.registry import load  # noqa: PLC0415 (after the process is set up, as in rdc itself)

    backend = load(target)
    check: Callable[[], Any] = prepare_check(path)

    def work() -> object:
        made = check()
        return backend.emit(made.program, {})

    return work


def prepare_compose(path: str) -> Callable[[], object]:
    """The bare tree of a YAML document: what any tool pays that keeps the places of what it reads."""
    import yaml  # noqa: PLC0415 (after the process is set up)

    return lambda: yaml.compose(Path(path).read_text(encoding="utf-8"), yaml.CSafeLoader)


WORKS: dict[str, Callable[[str], Callable[[], object]]] = {
    "compile": prepare_compile,
    "blocks": prepare_blocks,
    "playbook": prepare_playbook,
    "reference": prepare_reference,
    "check": prepare_check,
    "compose": prepare_compose,
    **{f"emit-{target}": partial(prepare_emit, target) for target in BACKENDS},
}

PLAIN = ("blocks", "reference", "compose")
"""What is done as by a plain Python program."""


def main() -> int:
    """Do the work that the command line names."""
    name, path = sys.argv[1:]
    work = WORKS[name](path)
    begun = time.perf_counter()
    made = work()
    seconds = time.perf_counter() - begun
    print(seconds)
    del made  # it lives until the time is taken: what clears it up is not part of the work
    return 0


class Stand(ModuleType):
    """Stands in for the module of the command line, whose `main` the set-up calls."""

    main = staticmethod(main)


if __name__ == "__main__":
    if sys.argv[1] in PLAIN:
        sys.exit(main())
    sys.modules["rdc.cli"] = Stand("rdc.cli")
    start()
