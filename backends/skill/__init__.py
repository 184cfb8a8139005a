"""The skill target: a SKILL.md that sends agents to the MCP server or to the program beside it (A-12)."""

import json
import re
import shlex
from typing import ClassVar

from pydantic import Field

from backends.base import Backend, Companion, Emission, about_option
from backends.common.command import canonical_command
from backends.common.remarks import hash_of, listed, printable, shells
from backends.options.model import Options
from backends.python import PythonBackend
from backends.skill.verify import MARKUP, NAME, page, program_of, verify_skill
from compiler.diagnostics.model import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.text.source import sha256_of
from compiler.version import __version__

LONGEST_NAME, LONGEST_DESCRIPTION = 64, 1024
CLOSING = "rdc runs the steps in order and asks the user."


class SkillOptions(Options):
    """The options of the skill target."""

    program: bool = Field(
        default=True, description="Whether to write the program, which works without the MCP server, beside SKILL.md."
    )
    description: str = Field(
        default="",
        description="What the skill does and when to use it, for agents that choose a skill. By default, it is the "
        "description of the document, or its title.",
    )


class SkillBackend(Backend[SkillOptions]):
    """A skill for agents, with the program that they call without the MCP server."""

    name: ClassVar[str] = "skill"
    summary: ClassVar[str] = "a skill for agents, which run the document step by step"
    suffix: ClassVar[str] = "/SKILL.md"
    options = SkillOptions
    named: ClassVar[bool] = True
    features: ClassVar[frozenset[Feature]] = frozenset(Feature)
    verify_output = staticmethod(verify_skill)

    def render(self, program: Program, options: SkillOptions) -> Emission:
        """Return SKILL.md and the program, or why the name or the description is not valid."""
        name = program.file or re.sub("[^a-z0-9]+", "-", program.name.lower()).strip("-")[:LONGEST_NAME] or "skill"
        source, description = program.sources[0].path, _description(program, options)
        command = canonical_command(self.name, program, options)
        if "---" in command:
            problem = f"agents read a skill only to the first `---`, but its header has {printable(command)}"
            remedy = "rename the document, or change the description"
            return Emission(None, (Diagnostic("RD551", source, None, problem, remedy),))
        if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
            problem = f"`{printable(name)}`, the name of the folder, can't be the name of a skill"
            remedy = "use a folder with lowercase letters, digits and single hyphens, at most 64: `-o deploy/SKILL.md`"
            return Emission(None, (Diagnostic("RD551", source, None, problem, remedy),))
        if len(description) > LONGEST_DESCRIPTION:
            problem = f"the description of the skill has {len(description):,} characters, and at most 1,024 are allowed"
            remedy = "set a short one: `-O description=TEXT`"
            return Emission(None, (about_option(program, ("description",), "RD551", problem, remedy),))
        backend = PythonBackend()
        python = backend.render(program.with_(file=name), backend.options.validated({"operator": "full"}))
        if python.text is None or not options.program:
            return python if python.text is None else Emission(self._page(program, options, name, description))
        beside = Companion(program_of(name), python.text, "program", executable=True)
        return Emission(self._page(program, options, name, description, python.text), companions=(beside,))

    def _page(self, program: Program, options: SkillOptions, name: str, description: str, python: str = "") -> str:
        required = {item.name: "…" for item in program.inputs if item.required and item.default is None}
        given: dict[str, object] = {"document": program.sources[0].path, **({"inputs": required} if required else {})}
        needs = f", or {listed(['Python 3.9', *shells(program)])} on Linux or macOS"
        return page(
            title=MARKUP.sub(r"\\\g<0>", printable(program.title).strip() or name),
            version=__version__,
            path=printable(program.sources[0].path),
            sha256=hash_of(program.sources),
            command=canonical_command(self.name, program, options),
            name=name,
            description=_quoted(description),
            needs=needs if python else "",
            source=_quoted(program.sources[0].path),
            program=program_of(name) if python else "",
            program_sha256=sha256_of(python),
            arguments=_code(_quoted(given)),
            opening="".join(f" --input {shlex.quote(one)}=VALUE" for one in required),
        )


def _description(program: Program, options: SkillOptions) -> str:
    """Return one line. Some hosts refuse angle brackets, and end the header at `---`."""
    written = options.description or program.description or program.title or program.name
    line = " ".join(re.sub("[<>]|-{3,}", " ", printable(written)).split())
    return f"{line}{'' if line.endswith(('.', '!', '?')) else '.'} {CLOSING}"


def _quoted(value: object) -> str:
    """Return a string of YAML, or a value of JSON, on one line with only visible characters."""
    return printable(json.dumps(value, ensure_ascii=False))


def _code(text: str) -> str:
    """Return a code span, which the text can't close."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if fence[1:] else f"`{text}`"
