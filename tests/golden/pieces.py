"""What generated files have in common: parts of a runtime or a driver, each kept once in `golden/shared`.

A module of the runtime is in `runtime_shim` already.

A golden file has one line instead of each; together they are byte for byte what was emitted. A piece is
a part of a runtime, the driver of Makefiles, or the script of a step that rdc knows by its name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import NamedTuple

from backends.python.edition import joined
from tests.conftest import ROOT

SHIM = ROOT / "runtime_shim"
SHARED = "shared"
"""The folder in `golden` with what is in several files."""


@dataclass(frozen=True)
class Form:
    """How files of a kind say where a piece begins, by the group `title`, and where the last one ends.

    Lines of a piece stand behind `indent` spaces, or are empty.
    """

    begins: re.Pattern[str]
    indent: int = 0
    after: str = ""


FORMS: Mapping[str, Form] = {
    "py": Form(re.compile(r"(?m)^# --- (?P<title>runtime_shim/\S+)\n"), after="\n# The runtime of rdc "),
    "mk": Form(re.compile(r"(?m)^\n# --- The (?P<title>driver): .*? -+\n")),
    "yml": Form(re.compile(r"(?!)"), 10, after="\n      - name: Write the program\n"),
}
"""By the ends of the names of files."""


STEPS = ("Check the secrets", "Prepare the time limits", "Prepare the outputs", "Prepare the loops")
"""The steps of workflows whose scripts say nothing of a document."""

_SCRIPTS = {
    "yml": re.compile(
        rf"(?m)^ {{6}}- name: (?P<title>{'|'.join(STEPS)})\n(?: {{8}}(?!run: ).*\n| {{10}}.*\n)*? {{8}}run: \|\n"
        r"(?P<script>(?: {10}.*\n|\n)+)"
    ),
}
"""Scripts of steps that say nothing of a document."""


BETWEEN = "\n\n"
"""Between two modules of a runtime. Golden files have it only where more follows than the next module."""


class Part(NamedTuple):
    """Some of a file; `title` is that of a piece, "" for what is the file's own."""

    title: str
    text: str


def parts(suffix: str, text: str) -> Iterator[Part]:
    """The parts of a generated file in order."""
    for part in _runtime(suffix, text):
        if suffix in _SCRIPTS and not part.title:
            yield from _scripts(_SCRIPTS[suffix], part.text)
        else:
            yield part


def _scripts(form: re.Pattern[str], text: str) -> Iterator[Part]:
    """What is between scripts that say nothing of a document, and these scripts."""
    done = 0
    for match in form.finditer(text):
        yield Part("", text[done : match.start("script")])
        yield Part(match["title"], match["script"])
        done = match.end("script")
    yield Part("", text[done:])


def _runtime(suffix: str, text: str) -> Iterator[Part]:
    """What is not of the runtime or driver, and the parts of that."""
    form = FORMS.get(suffix)
    start = text.find(form.after) if form else -1
    found = [match for match in form.begins.finditer(text) if match.start() > start] if form and start >= 0 else []
    if not form or not found:
        yield Part("", text)
        return
    yield Part("", text[: found[0].start()])
    ends = [*(match.start() for match in found[1:]), _end(form, text, found[-1].start())]
    for match, end in zip(found, ends, strict=True):
        module = _modules().get(match["title"])
        close = match.start() + len(module) if module and text.startswith(module, match.start()) else end
        yield Part(match["title"], text[match.start() : close])
        if text[close:end] != BETWEEN:
            yield Part("", text[close:end])
    yield Part("", text[ends[-1] :])


def _end(form: Form, text: str, start: int) -> int:
    """Where the last piece ends: before the line that is not indented as it is, else with the file."""
    if not form.indent:
        return len(text)
    closing = re.compile(rf"(?m)^(?: {{{form.indent}}}RDC_\w+$|(?! {{{form.indent}}}|$))").search(text, start)
    assert closing
    return closing.start()


class Shared:
    """The pieces of many files: those with one title and different texts are told apart by numbers."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}

    def own(self, suffix: str, text: str) -> str:
        """A file with a line instead of each piece, which is kept."""
        return "".join(self._shown(suffix, part) for part in parts(suffix, text))

    def _shown(self, suffix: str, part: Part) -> str:
        if not part.title:
            return part.text
        is_module = _modules().get(part.title) == part.text
        name = part.title if is_module else f"golden/{self._kept(suffix, part)}"
        return f"{' ' * FORMS[suffix].indent}# --- {name}\n"

    def _kept(self, suffix: str, part: Part) -> str:
        names = _names(suffix, part.title)
        return next(name for name in names if self.files.setdefault(name, part.text) == part.text)


@cache
def _modules() -> Mapping[str, str]:
    """The modules of the runtime as they are in programs, by their paths."""
    paths = (path.relative_to(SHIM).with_suffix("").parts for path in SHIM.rglob("*/*.py") if path.stem != "__init__")
    return {f"runtime_shim/{'/'.join(parts)}.py": joined([".".join(parts)]) for parts in sorted(paths)}


def _names(suffix: str, title: str) -> Iterator[str]:
    stem = "-".join(re.findall(r"[a-z0-9]+", re.split(r"[:,.(]", title.lower())[0]))
    yield f"{SHARED}/{suffix}/{stem}.{suffix}"
    yield from (f"{SHARED}/{suffix}/{stem}.{number}.{suffix}" for number in count(2))


def whole(suffix: str, own: str, files: Mapping[str, str]) -> str:
    """The generated file again, from what is its own and the pieces that it names."""
    if suffix not in FORMS:
        return own
    texts = {**_modules(), **{f"golden/{name}": text for name, text in files.items()}}
    line = re.compile(
        rf"(?m)^ {{{FORMS[suffix].indent}}}# --- ((?:golden|runtime_shim)/\S+)\n(?=(# --- runtime_shim/)?)"
    )
    return line.sub(lambda match: texts[match[1]] + BETWEEN * bool(match[2]), own)


def taken_apart(outputs: Mapping[str, str]) -> dict[str, str]:
    """From the texts of generated files, by path, the golden files: what is their own, and the pieces."""
    shared = Shared()
    own = {path: shared.own(_suffix(path), text) for path, text in outputs.items()}
    assert all(whole(_suffix(path), own[path], shared.files) == text for path, text in outputs.items())
    return own | shared.files


def _suffix(path: str) -> str:
    return path.rpartition(".")[2]
