"""Warn about steps that become questions although they were probably meant as commands (M3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from compiler.diagnostics.model import Diagnostic
from compiler.frontends.rundown.parse.blocks import Block
from compiler.text.regex import Regex
from compiler.text.source import Source

TASK = Regex(r"\s*(?:[-*+]|\d{1,9}[.)])\s+\[[ xX]\]\s")
"""Matches an item of a task list."""

_QUESTION = Regex(
    r"(?:\A|\n|[.!?:][*_)\"']*\s)\s*(?:(?:[-*+]|\d+[.)])\s+(?:\[[ xX]\]\s+)?)?"
    r"(?P<asked>(?:[^.!?:\n]|[.:](?=\w)|\n(?!\s*(?:[-*+]|\d+[.)])\s))*+\?)[*_)\"']*\Z"
)
"""Matches a question at the end of a paragraph."""

_CHOICES = Regex(r"[\[(](?:y|yes) ?/ ?(?:n|no)[\])][*_]*\Z", re.IGNORECASE)
"""Matches the answers after a question: `Proceed with it? [y/N]`."""

_MANY, _MOST = 4, 12
"""From how many empty steps on there is one warning for all, and how many it names; also the most splits at once."""

_LONGEST = 2000
"""The longest end of a prompt that is searched for a question."""


def question_in(prompt: str) -> tuple[str, str]:
    """Return a prompt's last sentence if it is a question, and the text before it."""
    text = prompt.rstrip()
    if choices := _CHOICES.search(text[-20:]):
        text = text[: len(text) - len(choices[0])].rstrip()
    last = text[text.rfind("\n\n") + 1 :][-_LONGEST:]
    match = _QUESTION.search(last) if text.rstrip("*_)\"'").endswith("?") else None
    asked = " ".join(match["asked"].split()).lstrip("*_ ") if match else ""
    if not match or last.lstrip()[:1] in "<>|#" or "://" in asked.split()[-1]:
        return "", prompt.rstrip()
    return asked, text[: len(text) - len(last) + match.start("asked")].rstrip("*_-+ \t\n")


def empty_steps(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Warn about steps with only a header and transitions, unless they are a question; one warning for many of them.

    This reads the blocks instead of the tree, because the tree lacks misplaced blocks.
    """
    found = list(_empty(blocks))
    for header in found if len(found) < _MANY else found[:1]:
        problem = "this step has neither text nor a command, so the run only asks a person about its title"
        remedy = "add a command or instructions; if the title is the question, end it with `?`"
        if len(found) >= _MANY:
            problem = (
                f"{len(found)} steps have neither text nor a command, so the run only asks a person about their titles"
            )
            lines = ", ".join(str(each.line) for each in found[1:_MOST])
            more = f" and {len(found) - _MOST} more" if len(found) > _MOST else ""
            remedy = f"{remedy}; the others are at lines {lines}{more}"
        yield Diagnostic("RD118", source.path, header.span, problem, remedy)


def _empty(blocks: Iterable[Block]) -> Iterator[Block]:
    """Yield the headers of empty steps."""
    header: Block | None = None
    for block in (*blocks, Block("STEP", 0, 0, 0)):
        if block.type == "PROSE" or (block.type == "TRANSITION" and not block.text.startswith(("YES", "NO"))):
            continue
        is_header = block.type in {"STEP", "SUBSTEP"}
        if header and is_header and (header.type, block.type) != ("STEP", "SUBSTEP") and "?" not in header.text:
            yield header
        header = block if is_header else None
