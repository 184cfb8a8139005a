"""Warn about steps that become questions although they were probably meant as commands (M3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.syntax import Runbook, Transition, Word, all_steps
from compiler.source import Source

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


def check_languages(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """Warn about blocks in a language that people expect to run, except in steps that ask YES or NO."""
    for step in all_steps(runbook):
        code = step.code
        if code is None or code.interpreter or code.prompt or _asks(step.transitions):
            continue
        language = code.language.lower()
        command = PROGRAMS.get(language)
        if command or language in TRANSCRIPTS:
            problem = f"a block tagged `{code.language}` is shown, not run: the step asks a person for PASS or FAIL"
            how = f"call it from a `bash` block: `{command} <<'END'`" if command else TO_COMMANDS
            remedy = f"to run it, {how}; to only show it, write `{code.language} prompt`"
            yield Diagnostic("RD050", source.path, code.span, problem, remedy)


def _asks(transitions: Iterable[Transition]) -> bool:
    return any(transition.word in {Word.YES, Word.NO} for transition in transitions)


def empty_steps(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """Warn about each step with only a header and transitions, unless they are a question.

    This reads the blocks instead of the tree, because the tree lacks misplaced blocks.
    """
    header: Block | None = None
    for block in (*blocks, Block("STEP", 0, 0, 0)):
        if block.type == "PROSE" or (block.type == "TRANSITION" and not block.text.startswith(("YES", "NO"))):
            continue
        is_header = block.type in {"STEP", "SUBSTEP"}
        if header and is_header and (header.type, block.type) != ("STEP", "SUBSTEP") and "?" not in header.text:
            problem = "this step has neither text nor a command, so the run only asks a person about its title"
            remedy = "add a command or instructions; if the title is the question, end it with `?`"
            yield Diagnostic("RD118", source.path, header.span, problem, remedy)
        header = block if is_header else None
