"""Warn about steps that become questions although they were probably meant as commands (M3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.syntax import AnyStep, Runbook, Word, all_steps
from compiler.regex import Regex
from compiler.source import Source, Span

PROGRAMS = {
    **dict.fromkeys(("python", "python3", "py"), "python3 -"),
    **dict.fromkeys(("javascript", "js", "node"), "node -"),
    **dict.fromkeys(("ruby", "rb"), "ruby"),
    **dict.fromkeys(("perl", "pl"), "perl"),
    **dict.fromkeys(("powershell", "pwsh", "ps1"), "pwsh -Command -"),
    "php": "php",
    "lua": "lua -",
    "zsh": "zsh",
    "ksh": "ksh",
    "dash": "dash",
    "fish": "fish",
}
"""Script languages in lowercase, with the command that runs a script from standard input."""

TO_COMMANDS = "tag it `bash` and keep only the commands, without the `$` and the output"

TRANSCRIPTS = frozenset({"console", "terminal", "shell-session", "shellsession", "sh-session", "bash-session"})
"""Languages of terminal sessions, which have both input and output."""

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


def check_languages(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about blocks in a language that people expect to run, except in steps that ask YES or NO."""
    for step in all_steps(runbook):
        code = step.code
        asks = any(transition.word in {Word.YES, Word.NO} for transition in step.transitions)
        if code is None or code.interpreter or code.prompt or asks:
            continue
        language = code.language.lower()
        command = PROGRAMS.get(language)
        if command or language in TRANSCRIPTS:
            problem = f"a block tagged `{code.language}` is shown, not run: the step asks a person for PASS or FAIL"
            how = f"call it from a `bash` block: `{command} <<'END'`" if command else TO_COMMANDS
            remedy = f"to run it, {how}; to only show it, write `{code.language} prompt`"
            yield Diagnostic("RD050", source.path, code.span, problem, remedy)


class _Beside(NamedTuple):
    """A question beside a command; `asks_first` if it belongs before the command."""

    step: AnyStep
    span: Span
    problem: str
    asks_first: bool = False


def check_questions(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about questions beside a command, which decides by its exit code without asking."""
    for number, one in enumerate(_beside_commands(source, runbook)):
        from compiler.frontends.rundown.splitting import split  # noqa: PLC0415 (few documents need it)

        where, kind = ("before", "list") if one.asks_first else ("after", "question")
        remedy = f"put the {kind} into its own step, {where} the command"
        fix = split(source, runbook, one.step, asks_first=one.asks_first) if number < _MOST else None
        yield Diagnostic("RD121", source.path, one.span, one.problem, remedy, fix=fix)


def _beside_commands(source: Source, runbook: Runbook) -> Iterator[_Beside]:
    for step in all_steps(runbook):
        if step.code is None or not step.code.interpreter:
            continue
        below = range(step.span.line + 1, step.code.span.line)
        asking = next((item for item in step.transitions if item.word in {Word.YES, Word.NO}), None)
        if asking:
            yield _Beside(
                step, asking.span, "YES and NO come from the exit code of this step's command: no one is asked"
            )
        elif not step.transitions and "?" in step.prompt and " " in question_in(step.prompt)[0]:
            last = step.prompt.splitlines()[-1]
            line = next((number for number in reversed(below) if source.lines[number - 1].rstrip() == last), 0)
            span = source.line_span(line) if line else step.span
            yield _Beside(step, span, "this step has a command, whose exit code decides: no one is asked this question")
        if "]" in step.prompt and (line := next((n for n in below if TASK.match(source.lines[n - 1])), 0)):
            problem = "this step has a command, whose exit code decides: no one confirms this list"
            yield _Beside(step, source.line_span(line), problem, asks_first=True)


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
