"""The program that a workflow calls, the texts beside it, and the loader in the shell of each job (rules 2 and 4)."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Self

from backends.base import MARK
from backends.companions import Companion
from backends.delegating import Called, called
from backends.github.options import GithubOptions
from backends.github.scalar import OPEN
from backends.github.step import PLAIN_SHELL, Step
from backends.python.edition import edition_of, has_jumps, joined
from backends.python.table import Table, table
from compiler.ir.program import Program
from compiler.passes import optimise
from compiler.version import __version__

WORKFLOWS = ".github/workflows"
"""Where GitHub looks for workflows, and so where the path of the program leads from."""

INLINE = "rdc-kept/program"
"""Where the program is below the folder of the job that is not the workspace, if the workflow itself holds it."""

_AROUND = ("api", "says", "shown", "strict", "kept", "gates", "replies", "relay", "page", "changes", "entries")
_MODULES = ("data.secrets", *(f"targets.github.{name}" for name in (*_AROUND, "extension", "calls", "steps")))
_PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")


@cache
def fixed_text() -> str:
    """What the steps of every workflow call around the program: a text with its own hash, and of no document."""
    return f"# {MARK} {__version__} for its workflows: rdc_github.\n{joined(_MODULES)}"


@cache
def fixed_sha256() -> str:
    """The hash of that text."""
    return _hash(fixed_text())


def fixed_name() -> str:
    """The file of that text beside a program: its name tells what it holds, so another one is never in its place."""
    return f"rdc_github_{fixed_sha256()[:8]}.py"


_PUBLISHERS = ("publisher", "publisher_changes", "publisher_comment", "publisher_pull", "publisher_summary", "kinds")


@cache
def publish_text() -> str:
    """What publishes the last output of a run, or what was changed: a text with its own hash, and of no document."""
    modules = [f"publish.{name}" for name in _PUBLISHERS]
    return f"# {MARK} {__version__} for its workflows: rdc_publish.\n{joined(modules)}"


def publish_name() -> str:
    """The file of that text beside a program."""
    return f"rdc_publish_{_hash(publish_text())[:8]}.py"


def publish_loader(calling: Calling, kind: str) -> Loader:
    """The shell of a job that publishes: it executes just those bytes that it has hashed."""
    home = "os.environ['RUNNER_TEMP'] + '/' + " if calling.is_inline else ""
    place = posixpath.join(INLINE, publish_name()) if calling.is_inline else calling.publisher
    return Loader(
        [
            f"{calling.options.python} -I -c \"import hashlib, os, sys; path = {home}'{place}';",
            f"code = open(path, 'rb').read(); sha256 = '{_hash(publish_text())}';",
            "hashlib.sha256(code).hexdigest() == sha256 or",
            "(print('::error title=Altered::' + path + ' was altered'), sys.exit(2));",
            "own = dict(__name__='rdc'); exec(compile(code, path, 'exec'), own);",
            f"sys.exit(own['published']('{kind}'))\" {{0}}",
        ]
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def plain_name(name: str) -> str:
    """The name of a program as that of a file and an artifact, which GitHub takes."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "output"


def problem_with_path(path: str) -> str:
    """What is wrong with the path of a program in the shell of a job, "" if nothing is."""
    return (
        "" if _PLAIN_PATH.fullmatch(path) else "the path of the program has a character other than A-Z a-z 0-9 _ . / -"
    )


@dataclass(frozen=True)
class Calling:
    """The files beside a workflow, and how its steps call them."""

    program: Program
    options: GithubOptions

    @cached_property
    def table(self) -> Table:
        """The table that the program builds."""
        plain = table(optimise(self.program))
        return table(optimise(self.program, jumps=has_jumps(edition_of(plain, is_full=self._is_full))))

    @property
    def _is_full(self) -> bool:
        """Whether an agent answers what people would be asked: that is among what operators may want."""
        return self.options.prompts == "agent" and self.program.contract is None

    @cached_property
    def called(self) -> Called:
        """The program and its runtime, by their paths from the workflow."""
        name = plain_name(self.program.name)
        path = self.options.program or f"../rdc/{name}.py"
        return called(replace(self.program, name=name), path, "full" if self._is_full else "basic")

    @property
    def publisher(self) -> str:
        """Where the text that publishes is in the repository."""
        return posixpath.join(posixpath.dirname(self.place), publish_name())

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The files beside the workflow."""
        if self.is_inline:
            return ()
        home = "" if self.options.program else WORKFLOWS
        fixed = posixpath.join(posixpath.dirname(self.called.path), fixed_name())
        found = [*self.called.companions(home=home), Companion(fixed, fixed_text(), "program", home=home)]
        if self.publishes:
            path = posixpath.join(posixpath.dirname(self.called.path), publish_name())
            found.append(Companion(path, publish_text(), "program", home=home))
        return tuple(found)

    @property
    def publishes(self) -> bool:
        """Whether a job publishes what a run leaves."""
        return any(kind != "artifact" for kind in self.options.publish)

    @property
    def place(self) -> str:
        """Where the program is in the repository."""
        return posixpath.normpath(posixpath.join(WORKFLOWS, self.called.path))

    @cached_property
    def files(self) -> tuple[tuple[str, str], ...]:
        """The program, what steps call around it, and its runtime, by their paths from where a job runs."""
        folder = INLINE if self.is_inline else posixpath.dirname(self.place)
        found = [
            (posixpath.basename(self.place), self.called.text),
            (fixed_name(), fixed_text()),
            (posixpath.basename(self.called.runtime_path), self.called.runtime),
        ]
        written = _as_script if self.is_inline else str
        return tuple((posixpath.join(folder, name), written(text)) for name, text in found)

    @property
    def is_inline(self) -> bool:
        """Whether the workflow itself holds the program."""
        return self.options.runtime == "inline"

    def written(self) -> Iterator[Step]:
        """The step that writes the program, where the workflow itself holds it."""
        if self.is_inline:
            yield self.writing(self.files)

    def publisher_written(self) -> Step:
        """The step that writes what publishes."""
        return self.writing([(posixpath.join(INLINE, publish_name()), publish_text())])

    @staticmethod
    def writing(files: Sequence[tuple[str, str]]) -> Step:
        """The step that writes files by their paths from the folder of the job that is not the workspace."""
        lines = [f'mkdir -p "$RUNNER_TEMP/{INLINE}" && cd "$RUNNER_TEMP" || exit']
        for path, text in files:
            word = f"RDC_{_hash(text)[:16]}"
            lines += [f"cat > {path} <<'{word}' || exit", text.rstrip("\n"), word]
        says = (
            "The program, what steps call around it, and the runtime of rdc: the loader checks each before it runs it."
        )
        run = "\n".join(lines) + "\n"
        return Step("Write the program", comments=(says,), shell=PLAIN_SHELL, run=run)

    @property
    def loader(self) -> Loader:
        """The shell of the steps: it executes just those bytes that it has hashed."""
        (program, text), (fixed, around), _ = self.files
        home = "os.environ['RUNNER_TEMP'] + '/' + " if self.is_inline else ""
        return Loader(
            [
                f'{self.options.python} -I -c "import hashlib, {"os, " if home else ""}sys;',
                f"files = (({home}'{program}', '{_hash(text)}'),",
                f"({home}'{fixed}', '{_hash(around)}'));",
                "codes = [(path, open(path, 'rb').read(), sha256) for path, sha256 in files];",
                "altered = [path for path, code, sha256 in codes if hashlib.sha256(code).hexdigest() != sha256];",
                "altered and (print('::error title=Altered::' + altered[0] + ' was altered'), sys.exit(2));",
                "own = dict(__name__='rdc', __file__=files[0][0]); exec(compile(codes[0][1], 'program', 'exec'), own);",
                "here = dict(own); exec(compile(codes[1][1], 'rdc_github', 'exec'), here);",
                f"sys.exit(here['on_github'](own, own['{self.program.kind}'], sys.argv[1]))\" {{0}}",
            ]
        )


def _as_script(text: str) -> str:
    """A text of Python without expressions and old commands: what begins one in a string is written with an escape."""
    return re.sub("::(?=(?:set|save|add)-)", r":\\x3a", text.replace(OPEN, "$\\x7b{"))


class Loader(str):
    """A shell that is written on several lines."""

    __slots__ = ("lines",)

    lines: Sequence[str]

    def __new__(cls, lines: Sequence[str]) -> Self:
        """Join the lines as YAML does."""
        made = super().__new__(cls, " ".join(lines))
        made.lines = tuple(lines)
        return made
