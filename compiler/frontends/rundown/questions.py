"""Warnings about steps that become questions although a command was probably meant (M3)."""

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
"""The languages of scripts, in lowercase letters, and the command that runs one from standard input."""

TO_COMMANDS = "tag it `bash` and keep only the commands, without `$` in front and without output"

TRANSCRIPTS = frozenset({"console", "terminal", "shell-session", "shellsession", "sh-session", "bash-session"})
"""The languages of what is typed into a terminal, together with what it says."""


def check_languages(source: Source, runbook: Runbook) -> Iterator[Diagnostic]:
    """A block in a language that people expect to be run is only shown; a step that asks for YES or NO means it so."""
    for step in all_steps(runbook):
        code = step.code
        if code is None or code.interpreter or code.prompt or _asks(step.transitions):
            continue
        language = code.language.lower()
        command = PROGRAMS.get(language)
        if command or language in TRANSCRIPTS:
            problem = f"a block tagged `{code.language}` is shown, not run: whoever runs this answers PASS or FAIL"
            how = f"call it from a `bash` block: `{command} <<'END'`" if command else TO_COMMANDS
            remedy = f"to run it, {how}; if it is only to be shown, write `{code.language} prompt`"
            yield Diagnostic("RD050", source.path, code.span, problem, remedy)


def _asks(transitions: Iterable[Transition]) -> bool:
    return any(transition.word in {Word.YES, Word.NO} for transition in transitions)


def empty_steps(source: Source, blocks: Iterable[Block]) -> Iterator[Diagnostic]:
    """A warning for each step that has nothing but a header and transitions, unless these are a question themselves.

    The blocks are asked and not the tree, which lacks what stands in the wrong place.
    """
    header: Block | None = None
    for block in (*blocks, Block("STEP", 0, 0, 0)):
        if block.type == "PROSE" or (block.type == "TRANSITION" and not block.text.startswith(("YES", "NO"))):
            continue
        is_header = block.type in {"STEP", "SUBSTEP"}
        if header and is_header and (header.type, block.type) != ("STEP", "SUBSTEP") and "?" not in header.text:
            problem = "this step has neither a text nor a command: whoever runs this is asked about its title alone"
            remedy = "add the command or what is to be done; a title that is the question itself ends with `?`"
            yield Diagnostic("RD118", source.path, header.span, problem, remedy)
        header = block if is_header else None
