"""The skill target: a SKILL.md that sends agents to the MCP server or to the program beside it."""

import json
import re
import shlex
from typing import ClassVar

from pydantic import Field

from backends.base import MARK, Backend, Companion, Emission, OutputFile, VerifyResult, VerifyStatus
from backends.common.command import canonical_command
from backends.common.remarks import hash_of, listed, printable, shells
from backends.common.templates import render
from backends.options.model import Options
from backends.python import PythonBackend
from backends.python.verify import verify_called
from compiler.diagnostics.model import Diagnostic
from compiler.ir.features import Feature
from compiler.ir.program import Program
from compiler.text.regex import Regex
from compiler.text.source import sha256_of
from compiler.version import __version__

NAME, LONGEST_NAME = Regex(r"[a-z0-9]+(?:-[a-z0-9]+)*"), 64
PROGRAM = "scripts/{}.py"

MARKUP = Regex(r"[\\`*_\[\]<>#|~&!$]")
"""The characters that have a meaning in a line of Markdown."""

_STRING = r'"(?:[^"\\\n]|\\.)*"'
_INPUT = f'{_STRING}: "…"'
_INPUTS = rf'(?:, "inputs": \{{{_INPUT}(?:, {_INPUT})*\}})?'
_FACTS = {
    **dict.fromkeys(("path", "command"), ".*"),
    **dict.fromkeys(("sha256", "program_sha256"), "[0-9a-f]{64}"),
    **dict.fromkeys(("description", "source"), _STRING),
    "title": rf"(?:(?!{MARKUP.pattern}).|\\.)+",
    "version": r"\S+",
    "name": NAME.pattern,
    "needs": r"Python 3\.9[a-z, ]*",
    "program": r"scripts/(?P=name)\.py",
    "arguments": rf'(?P<fence>`+) ?\{{"document": {_STRING}{_INPUTS}\}} ?(?P=fence)',
    "opening": r"(?: --input \S+=VALUE)*",
}
"""The facts in a page, each with a pattern for its text."""

LONGEST_DESCRIPTION = 1024
CLOSING = "rdc runs the steps in order and asks the user."


def page(**facts: str) -> str:
    """Return the text of a skill. Its facts are escaped for their places."""
    return render("skill/SKILL.md", mark=MARK, **facts)


def verify_skill(file: OutputFile, missing: str) -> VerifyResult:
    """Verify a skill without its source, and the program that it calls."""
    lines = patterns(has_program="\n  program-sha256: " in file.text)
    if found := re.fullmatch("\n".join(lines), file.text):
        facts = found.groupdict()
        if "program" in facts:
            return verify_called(file.beside(PROGRAM.format(facts["name"])), facts["program_sha256"], missing)
        return VerifyResult(VerifyStatus.SOURCE_MISSING, f"unchanged text, source not compared: {missing}")
    known = (re.match("\n".join(lines[:number]) + "(?:\n|$)", file.text) for number in range(1, len(lines) + 1))
    line = next((number for number, match in enumerate(known, 1) if not match), len(lines))
    return VerifyResult.changed(line, "this is not a line that rdc writes")


def patterns(*, has_program: bool) -> list[str]:
    """Return a pattern for each line of a page. Each fact is a group, and is the same everywhere."""
    marks = {name: f"\0{name}\0" for name in _FACTS}
    text = re.escape(page(**(marks if has_program else {**marks, "program": ""}))).replace("\\\n", "\n")
    for name, pattern in _FACTS.items():
        text = text.replace(marks[name], f"(?P<{name}>{pattern})", 1).replace(marks[name], f"(?P={name})")
    return text.split("\n")


class SkillOptions(Options):
    """The options of the skill target."""

    program: bool = Field(default=True, description="Whether the skill has a program, for agents without the server.")
    description: str = Field(
        default="",
        description="The purpose of the skill, and when to use it. By default, the document's description or title.",
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
        """Return SKILL.md and the program, or why no agent would read the skill."""
        name = program.file or re.sub("[^a-z0-9]+", "-", program.name.lower()).strip("-")[:LONGEST_NAME] or "skill"
        path, command = program.sources[0].path, canonical_command(self.name, program, options)
        about = _description(options.description or program.description or program.title or program.name)
        if refused := _refused(name, about, command):
            return Emission(None, (Diagnostic("RD551", path, None, *refused),))
        backend = PythonBackend()
        python = backend.render(program.with_(file=name), backend.options.validated({"operator": "full"}))
        if python.text is None:
            return python
        required = {item.name: "…" for item in program.inputs if item.required and item.default is None}
        text = page(
            title=MARKUP.sub(r"\\\g<0>", printable(program.title).strip() or name),
            version=__version__,
            path=printable(path),
            sha256=hash_of(program.sources),
            command=command,
            name=name,
            description=_quoted(about),
            needs=listed(["Python 3.9", *shells(program)]),
            source=_quoted(path),
            program=PROGRAM.format(name) if options.program else "",
            program_sha256=sha256_of(python.text),
            arguments=_code(_quoted({"document": path, **({"inputs": required} if required else {})})),
            opening="".join(f" --input {shlex.quote(one)}=VALUE" for one in required),
        )
        beside = Companion(PROGRAM.format(name), python.text, "program", executable=True)
        return Emission(text, companions=(beside,) if options.program else ())


def _description(written: str) -> str:
    """Return one line. Some hosts refuse angle brackets, and end the header at `---`."""
    line = " ".join(re.sub("[<>]|-{3,}", " ", printable(written)).split())
    return f"{line}{'' if line.endswith(('.', '!', '?')) else '.'} {CLOSING}"


def _refused(name: str, description: str, command: str) -> tuple[str, str] | None:
    if not NAME.fullmatch(name) or len(name) > LONGEST_NAME:
        remedy = "use a folder with lowercase letters, digits and single hyphens, at most 64: `-o deploy/SKILL.md`"
        return f"`{printable(name)}`, the name of the folder, can't be the name of a skill", remedy
    if len(description) > LONGEST_DESCRIPTION:
        problem = f"the description of the skill has {len(description):,} characters, and at most 1,024 are allowed"
        return problem, "set a short one: `-O description=TEXT`"
    if "---" in command:
        problem = f"agents read the header of a skill to the first `---`, but this one has {printable(command)}"
        return problem, "rename the document, or change the description"
    return None


def _quoted(value: object) -> str:
    """Return a string of YAML, or a value of JSON, on one line with only visible characters."""
    return printable(json.dumps(value, ensure_ascii=False))


def _code(text: str) -> str:
    """Return a code span, which the text can't close."""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}" if fence[1:] else f"`{text}`"
