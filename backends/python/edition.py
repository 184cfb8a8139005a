"""The editions of the runtime as text, and the choice of a program's edition (rule 2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cache
from itertools import chain
from pathlib import Path
from textwrap import wrap

from backends.base import MARK
from compiler.ir.program import Node, Program
from compiler.ir.tasks import IDLE, Agent, Parallel, Tool
from compiler.passes import optimize
from compiler.source import sha256_of
from compiler.version import __version__
from runtime_shim.editions import CALLERS, EDITIONS, PUBLISH


def optimized(program: Program, *, is_full: bool) -> tuple[str, Program]:
    """Return the smallest edition for a program, and the program after the passes, with jumps if the edition has them.

    Passes only remove things. So an edition without jumps that is enough before them is enough after them.
    """
    edition = edition_of(program, is_full=is_full)
    if has_jumps(edition):
        found = optimize(program)
        edition = edition_of(found, is_full=is_full)
        if has_jumps(edition):
            return edition, found
    return edition, optimize(program, jumps=False)


def edition_of(program: Program, *, is_full: bool) -> str:
    """Return the name of the smallest edition that a program needs."""
    if program.contract is not None:
        return "contract"
    has_agents = any(type(node.task) in _CALLED for node in program.nodes)
    if is_full or has_agents or program.artifact or program.folder or program.contexts:
        return "agents"
    is_more = program.slots or program.inputs or program.secrets or program.limit is not None
    return "values" if is_more or any(map(_needs_values, program.nodes)) else "commands"


_CALLED = (Agent, Tool, Parallel)


def _needs_values(node: Node) -> bool:
    """Return whether a step needs more than the edition `commands`: limits, variables, gates, other questions."""
    if node.settings.delay or node.settings.timeout is not None:
        return True
    task = node.task
    if task.kind == "shell":
        return bool(node.constants)
    if task.kind == "ask":
        return task.question not in ("pass_fail", "yes_no")
    return type(task) not in IDLE


def has_jumps(edition: str) -> bool:
    """Return whether an edition lets operators move a run to another step."""
    return "operator.moving.Moving" in EDITIONS[edition].extensions


@cache
def runtime(name: str) -> str:
    """Return the text of an edition: its modules and extensions."""
    edition = EDITIONS[name]
    classes = ", ".join(each.rpartition(".")[2] for each in edition.extensions)
    listed = "\n".join(wrap(classes, 112, initial_indent="    ", subsequent_indent="    "))
    extensions = f"\nEXTENSIONS = (\n{listed},\n)  # in the order in which they run\n" if listed else ""
    head = f"# {MARK} {__version__} for its programs: edition {name}.\n"
    return f"{head}{joined(edition.modules, known=_OF_TAIL)}{extensions}"


@cache
def runtime_for(caller: str) -> str:
    """Return the text of the file that a calling target needs beside a program's edition."""
    part = CALLERS[caller]
    classes = "".join(f", {each.rpartition('.')[2]}" for each in part.extensions)
    head = f"# {MARK} {__version__} for its programs: the part that {caller} calls.\n"
    known = imports(EDITIONS["values"].modules) if caller == "dbos" else frozenset[str]()  # all workers have these
    return f"{head}{joined(part.modules, known=known)}" + (
        f"\nEXTENSIONS = (*EXTENSIONS{classes})\n" if classes else ""
    )


PUBLISHER = "publish"
"""The name of the script that publishes a run's output on GitHub. It is not part of programs."""


@cache
def publisher() -> str:
    """Return the script that publishes a run's last output, or the agents' changes."""
    return f"# {MARK} {__version__} for its workflows: the part that publishes.\n{joined(PUBLISH)}"


def text_of(name: str) -> str:
    """Return the text of an edition, of a caller's part, or of the publishing script."""
    if name == PUBLISHER:
        return publisher()
    return runtime(name) if name in EDITIONS else runtime_for(name)


def shared_files(edition: str, caller: str = "") -> dict[str, str]:
    """Return the files beside a program, in order. Each name contains a hash of the content."""
    texts = {f"runtime_{edition}": runtime(edition)}
    if caller:
        texts[caller] = runtime_for(caller)
    return {f"rdc_{name}_{sha256_of(text)[:8]}.py": text for name, text in texts.items()}


@cache
def runtime_sha256(name: str) -> str:
    """Return the hash of an edition's text."""
    return sha256_of(runtime(name))


_OF_TAIL = frozenset(["import sys"])
"""The import that a program has above its edition."""


def joined(names: Sequence[str], known: Collection[str] = ()) -> str:
    """Return the joined text of modules of `runtime_shim`, without the imports in `known`, one name each.

    Each module may import only from those before it.
    """
    wanted = imports(names).difference(known)
    plain = sorted(line for line in wanted if line.startswith("import "))
    named: dict[str, list[str]] = {}
    for line in sorted(wanted.difference(plain)):
        module, _, name = line.removeprefix("from ").partition(" import ")
        named.setdefault(module, []).append(name)
    lines = [*plain, *(f"from {module} import {', '.join(each)}" for module, each in named.items())]
    bodies = (_parts_of(name)[1] for name in dict.fromkeys(names))
    return "\n".join(lines) + "\n\n" + "\n".join(bodies)


def imports(names: Sequence[str]) -> frozenset[str]:
    """Return the imports of modules of `runtime_shim`, one name each."""
    found = set()
    for line in chain.from_iterable(_parts_of(name)[0].splitlines() for name in names):
        start, separator, imported = line.rpartition(" import ")
        found |= {f"{start}{separator}{each}" for each in imported.split(", ")} if separator else {line}
    return frozenset(found)


def _parts_of(name: str) -> tuple[str, str]:
    """Return the imports and the body of a module."""
    imported, _, body = part_file(name).read_text(encoding="utf-8").partition("\n\n")
    return imported, body


def part_file(name: str) -> Path:
    """Return the file with a module's text, which `backends/python/bundler.py` writes."""
    return Path(__file__).parent / "parts" / f"{name}.txt"
