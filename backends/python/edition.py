"""The editions of the runtime as text, and the choice of a program's edition."""

import re
from collections.abc import Collection, Sequence
from functools import cache
from itertools import starmap
from pathlib import Path
from textwrap import wrap

from backends.base import MARK
from compiler.ir.features import Feature, features_of
from compiler.ir.program import Program
from compiler.passes import optimize
from compiler.text.regex import Regex
from compiler.text.source import sha256_of
from compiler.version import __version__
from runtime_shim.editions import CALLERS, EDITIONS, MOVED, PUBLISH

SIMPLE = frozenset({Feature.COMMANDS, Feature.QUESTIONS})
"""The features of the editions `script` and `commands`."""

_OF_AGENTS = {
    *(Feature.AGENTS, Feature.TOOLS, Feature.PARALLEL),
    *(Feature.ARTIFACTS, Feature.CONTEXTS, Feature.REPORTS, Feature.NOTICES),
}


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
    if program.stepspec is not None:
        return "stepspec"
    found = features_of(program)
    if is_full or found & _OF_AGENTS:
        return "agents"
    return "commands" if found <= SIMPLE else "values"


def has_jumps(edition: str) -> bool:
    """Return whether an edition lets operators move a run to another step."""
    return set(MOVED) <= set(EDITIONS[edition].extensions)


# A future import would run a `__future__.py` beside the program, so runtime modules have none.
GUARD = """\
import sys

if __name__ == "__main__" and not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    del sys.path[0]  # import nothing from the folder of this file

"""
"""The first lines of a program below its header."""

SHARED_OPENING = f"""{GUARD}\
import hashlib
import os
from importlib.machinery import SourceFileLoader
from types import ModuleType
"""
"""The lines above the document in a program whose runtime is beside it."""


BEGIN, END = "# BEGIN", "# END"
"""The start of the lines around a part of a program that has a hash. No other line of a program starts like them."""

RUNTIME, WORKERS, TRACED = "RUNTIME", "WORKER", "TRACES"
"""The rest of these lines: around the two parts of an edition, and around the parts for workers and for traces."""


def word_of_part(name: str) -> str:
    """Return the word in the lines around a part below an edition, or "" for a file beside it."""
    return WORKERS if name.startswith(f"{WORKER}-") else TRACED if name == TRACES else ""


def part(word: str, text: str) -> str:
    """Return a text between the lines around a part."""
    return f"{BEGIN} {word}\n{text}{END} {word}\n"


@cache
def opening(name: str) -> str:
    """Return the first part of an edition: the guard and the import block. They are above the document."""
    imports = _import_block(_imports(EDITIONS[name].modules) - {("", "sys")})
    return part(RUNTIME, f"# {MARK} {__version__} for its programs: edition {name}.\n\n{GUARD}{imports}\n")


@cache
def modules(name: str) -> str:
    """Return the second part of an edition: the modules and the extensions. They are below the document."""
    edition = EDITIONS[name]
    classes = ", ".join(each.rpartition(".")[2] for each in edition.extensions)
    listed = "\n".join(wrap(classes, 112, initial_indent="    ", subsequent_indent="    "))
    extensions = f"\n\nEXTENSIONS = (\n{listed},\n)  # in the order in which they run\n" if listed else ""
    return part(RUNTIME, joined(edition.modules) + extensions)


@cache
def runtime(name: str) -> str:
    """Return the text of an edition: its two parts."""
    return opening(name) + modules(name)


@cache
def runtime_for(caller: str) -> str:
    """Return the text of a part that is added to an edition: a file beside it, or a part below it in the program."""
    called = CALLERS[caller]
    found = _imports(called.modules)
    what = "for traces" if TRACES in caller else f"that {caller} calls"
    head = f"# {MARK} {__version__} for its programs: the part {what}.\n\n"
    if word := word_of_part(caller):  # the edition above it has these imports and names
        names = [caller.removeprefix(f"{WORKER}-")] if word == WORKERS else [*{*EDITIONS} - {"script"}]
        above = frozenset.intersection(*(_imports(EDITIONS[name].modules) for name in names))
        found = frozenset(pair for pair in found - above if pair[0] != LOADED)
        return part(word, f"{head}{_import_block(found)}\n{joined(called.modules)}")
    classes = "".join(f", {each.rpartition('.')[2]}" for each in called.extensions)
    if classes:
        found |= {(LOADED, "EXTENSIONS")}
    extensions = f"\n\nEXTENSIONS = (*EXTENSIONS{classes})\n" if classes else ""
    return f"{head}{_import_block(found)}\n{joined(called.modules)}{extensions}"


WORKER, TRACES = "dbos", "traces"
"""The parts below an edition in a file: for workers, such as `dbos-values`, and for traces."""

TRACES_BESIDE = "shared_traces"
"""The same part for traces in a file beside the program."""

LOADED = "rdc_runtime"
"""The module that the files beside a program make up."""

PUBLISHER = "publish"
"""The name of the script that publishes a run's output on GitHub. It is not part of programs."""


@cache
def publisher() -> str:
    """Return the script that publishes a run's last output, or the agents' changes."""
    head = f"# {MARK} {__version__} for its workflows: the part that publishes.\n\n"
    return f"{head}{_import_block(_imports(PUBLISH))}\n{joined(PUBLISH)}"


def text_of(name: str) -> str:
    """Return the text of an edition, of a caller's part, or of the publishing script."""
    if name == PUBLISHER:
        return publisher()
    return runtime(name) if name in EDITIONS else runtime_for(name)


def shared_files(edition: str, caller: str = "") -> dict[str, str]:
    """Return the files beside a program, in order. Each name contains a hash of the content."""
    return {f"rdc_{name}_{sha256_of_text(part)[:8]}.py": text_of(part) for name, part in _shared(edition, caller)}


def shared_hashes(edition: str, caller: str = "") -> dict[str, str]:
    """Return the hash of each file beside a program, by its name."""
    hashes = {name: sha256_of_text(part) for name, part in _shared(edition, caller)}
    return {f"rdc_{name}_{sha256[:8]}.py": sha256 for name, sha256 in hashes.items()}


def _shared(edition: str, caller: str) -> list[tuple[str, str]]:
    return [(f"runtime_{edition}", edition), *((name, name) for name in (caller,) if name)]


@cache
def sha256_of_text(name: str) -> str:
    """Return the hash of the text of an edition, or of a caller's part."""
    return sha256_of(text_of(name))


_SHIM = Path(__file__).parents[2] / "runtime_shim"
_HEAD = Regex(
    r'(?P<docstring>"""[\s\S]*?"""\n)'
    r"(?P<imports>(?:\n|import .+\n|from \S+ import (?:\([^)]*\)|.+)\n|if TYPE_CHECKING:\n(?: {4}.+\n)+)*)"
)
_IMPORT = Regex(r"^import (\S+)$|^from (\S+) import (?:\(([^)]*)\)|(.+))$", re.MULTILINE)


def joined(names: Sequence[str]) -> str:
    """Return the text of modules of `runtime_shim`, without their imports, each below a line with its path."""
    return "\n\n".join(map(_in_file, dict.fromkeys(names)))


@cache
def _in_file(name: str) -> str:
    docstring, imports, body = _parts_of(name)
    gap = "\n" * (len(imports) - len(imports.rstrip("\n")) - 1)
    return f"# --- {_path_of(name)}\n{docstring}{gap}{body}"


@cache
def _parts_of(name: str) -> tuple[str, str, str]:
    text = (_SHIM.parent / _path_of(name)).read_text(encoding="utf-8")
    head = _HEAD.match(text)
    assert head, name  # noqa: S101 (a test reads each module)
    return head["docstring"], head["imports"], text[head.end() :]


def _path_of(name: str) -> str:
    return f"{_SHIM.name}/{name.replace('.', '/')}.py"


def _imports(names: Sequence[str]) -> frozenset[tuple[str, str]]:
    left_out = {f"{_SHIM.name}.{name}" for name in names}
    found = set[tuple[str, str]]()
    for name in names:
        _, imports, body = _parts_of(name)
        for plain, source, several, one in _IMPORT.findall(imports):
            if source not in left_out:
                from_ = LOADED if source.startswith(_SHIM.name) else source
                words = [plain] if plain else re.findall(r"\w+", several or one)
                found |= {(from_, each) for each in words if each != "TYPE_CHECKING" or each in body}
    return frozenset(found)


def _import_block(found: Collection[tuple[str, str]]) -> str:
    plain = [f"import {name}\n" for source, name in sorted(found) if not source]
    named: dict[str, list[str]] = {}
    for source, name in sorted(found, key=lambda pair: (pair[0] == LOADED, pair[0], *_rank(pair[1]))):
        if source:
            named.setdefault(source, []).append(name)
    loaded = named.pop(LOADED, [])
    below = [*plain, *starmap(_statement, named.items())]
    return "".join([*below, "\n" * bool(below and loaded), _statement(LOADED, loaded) if loaded else ""])


def _rank(name: str) -> tuple[bool, bool, str]:
    """Return the sort key of an imported name: constants first, then classes, then functions."""
    return not (name.isupper() and len(name) > 1), not name[0].isupper(), name.lower()


def _statement(source: str, names: Sequence[str]) -> str:
    line = f"from {source} import {', '.join(names)}\n"
    if len(line) <= 89:
        return line
    return f"from {source} import (\n" + "".join(f"    {name},\n" for name in names) + ")\n"
