"""The program that a workflow calls, its companion files, and the loader in each step (T-31)."""

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from backends.base import Companion
from backends.github.options.model import GithubOptions
from backends.github.yaml.model import PLAIN_SHELL, Step
from backends.github.yaml.scalar import OPEN
from backends.python.delegate import Called, called
from backends.python.edition import publisher
from compiler.ir.program import Program
from compiler.text.regex import Regex
from compiler.text.source import sha256_of
from runtime_shim.targets.github.script import words_of_places

WORKFLOWS = ".github/workflows"
"""GitHub's folder of workflows. The program's path is relative to it."""

PROGRAMS = ".github/rdc"
"""The folder of the program in the repository, unless an option sets its path."""

INLINE = "rdc-kept/program"
"""The folder of an inline program, below the runner's temporary folder."""

_OLD_COMMAND = Regex("::(?=(?:set|save|add)-)")


def publish_name() -> str:
    """Return the name of the publishing script beside a program."""
    return f"rdc_publish_{sha256_of(publisher())[:8]}.py"


def loader(python: str, path: str, sha256: str, argument: str = "") -> str:
    """Return the script of each step that calls a program.

    It reads the file once, so it runs exactly the bytes that it checked. Only rdc's variables can hold a whole
    program: one that is exported would be too large. `exec` lets Python get the signal when GitHub cancels a run.
    """
    where = f'"{path}"' if "$" in path else path
    problem = f"{posixpath.basename(path)} is missing or was changed. Compile the document again and commit all files"
    hashed = """$(printf '%s\\n' "$RDC_PROGRAM" | /usr/bin/env -i /usr/bin/shasum -a 256)"""
    return (
        f"RDC_PROGRAM=$(< {where})\n"
        f"""[ "{hashed}" = '{sha256}  -' ] ||\n"""
        f"""  {{ echo '::error title=Altered::{problem}'; exit 2; }}\n"""
        f"""exec {python} -I - {argument or where} < <(printf '%s\\n' "$RDC_PROGRAM")\n"""
    )


def plain_name(name: str) -> str:
    """Return a program's name as a file and artifact name that GitHub accepts."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", name).strip("-.") or "output"


class Calling(Struct, frozen=True, dict=True):
    """The files beside a workflow, and the calls of the program."""

    program: Program
    options: GithubOptions

    @cached_property
    def table(self) -> dict[str, Any]:
        """What the program's calls build."""
        return self.called.calls.built()

    @cached_property
    def words(self) -> Mapping[str, str]:
        """The names of places in conditions."""
        return words_of_places(self.table)

    @cached_property
    def called(self) -> Called:
        """The program and its runtime, by their paths from the workflow."""
        name = plain_name(posixpath.basename(self.options.program or self.program.name).removesuffix(".py"))
        path = self.options.program or f"../rdc/{name}.py"
        # An agent that answers people's questions may need all commands of the operator.
        is_full = self.options.prompts == "agent" and self.program.stepspec is None
        return called(replace(self.program, name=name), path, "full" if is_full else "basic", "github")

    @property
    def companions(self) -> tuple[Companion, ...]:
        """The files beside the workflow."""
        if self.is_inline:
            return ()
        home = "" if self.options.program else WORKFLOWS
        found = [*self.called.companions(home=home)]
        if self.publishes or self.options.notify_issue:
            path = posixpath.join(posixpath.dirname(self.called.path), publish_name())
            found.append(Companion(path, publisher(), "program", home=home))
        return tuple(found)

    @property
    def publishes(self) -> bool:
        """Whether a job publishes the run's output."""
        return any(kind != "artifact" for kind in self.options.publish)

    @property
    def place(self) -> str:
        """The path of the program in the repository."""
        return posixpath.normpath(posixpath.join(WORKFLOWS, self.called.path))

    @cached_property
    def files(self) -> tuple[tuple[str, str], ...]:
        """The program and its companion files, by their paths from a job's working folder."""
        folder = INLINE if self.is_inline else posixpath.dirname(self.place)
        text = _as_script(self.called.text) if self.is_inline else self.called.text
        found = [(self.place, text), *self.called.files.items()]
        return tuple((posixpath.join(folder, posixpath.basename(path)), text) for path, text in found)

    @property
    def is_inline(self) -> bool:
        """Whether the workflow itself contains the program."""
        return self.options.runtime == "inline"

    def written(self) -> Iterator[Step]:
        """Yield the step that writes the program, if the workflow contains it."""
        if self.is_inline:
            yield self.writing(self.files)

    def publisher_written(self) -> Step:
        """Return the step that writes the publishing script."""
        return self.writing([(posixpath.join(INLINE, publish_name()), publisher())])

    @staticmethod
    def writing(files: Sequence[tuple[str, str]]) -> Step:
        """Return the step that writes files, by their paths below the runner's temporary folder."""
        lines = [f'mkdir -p "$RUNNER_TEMP/{INLINE}" && cd "$RUNNER_TEMP" || exit']
        for path, text in files:
            word = f"RDC_{sha256_of(text)[:16]}"
            lines += [f"cat > {path} <<'{word}' || exit", text.rstrip("\n"), word]
        label = "Writes the program and the runtime of rdc. Each step checks them before it runs them."
        return Step("Write the program", comments=(label,), shell=PLAIN_SHELL, run="\n".join(lines) + "\n")

    @property
    def loader(self) -> str:
        """The script of the steps."""
        program, text = self.files[0]
        return loader(self.options.python, f"{self._home}{program}", sha256_of(text))

    def publish_loader(self, kind: str) -> str:
        """Return the script of the step that publishes."""
        place = posixpath.join(INLINE if self.is_inline else posixpath.dirname(self.place), publish_name())
        return loader(self.options.python, f"{self._home}{place}", sha256_of(publisher()), kind)

    @property
    def _home(self) -> str:
        return "$RUNNER_TEMP/" if self.is_inline else ""


def _as_script(text: str) -> str:
    """Return Python code without expressions and old workflow commands: escapes replace their first characters."""
    raw = re.compile(r"""\br(\"{3}|'{3})(?:\\.|.)*?\1""", re.DOTALL)  # a block of prose: has no escapes
    text = raw.sub(_without_raw, text)
    return _OLD_COMMAND.sub(r":\\x3a", text.replace(OPEN, "$\\x7b{"))


def _without_raw(found: re.Match[str]) -> str:
    has_either = OPEN in found[0] or _OLD_COMMAND.search(found[0])
    return repr(ast.literal_eval(found[0])) if has_either else found[0]
