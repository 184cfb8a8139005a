"""Writes the page of a skill, and checks from its text that rdc wrote it. Nothing in it is executed."""

import re

from backends.base import MARK, OutputFile, VerifyResult, VerifyStatus
from backends.common.templates import render
from backends.python.verify import verify_called
from compiler.text.regex import Regex

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
