"""What to say about a header or a transition that does not follow its grammar."""

from __future__ import annotations

from difflib import get_close_matches

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.blocks import Block
from compiler.frontends.rundown.lines import COUNT, RESERVED, LineError
from compiler.source import Source, Span

FORMS = {
    "step": "a step header is `## 1. Title`, `## {N}. Title` or `## Name title`",
    "substep": "a substep header is `### 1.1 Title`, `### 1.{n} Title` or `### 1.Name title`, with its step's number",
}

ACTIONS = ("CONTINUE", "COMPLETE", "STOP", "GOTO", "RETRY")

WORDS = {
    "CHILD_ID": "a substep's identifier",
    "INTEGER": "a number",
    "NAME": "a message in one word",
    "STEP_ID": "a step's identifier",
    "STRING": 'a message in double quotes ("…")',
    "MODIFIER": "ALL or ANY",
    "COLON": "a colon",
    "$END": "the end of the line",
    "<END-OF-FILE>": "the end of the line",
}


def header_problem(source: Source, block: Block, error: LineError, kind: str) -> Diagnostic:
    """The diagnostic for a heading that is no header (D6)."""
    span = _span(block, error)
    if error.code == "RD037":
        return _too_large(source, span, error)
    if error.code == "RD035":
        problem = f"`{error.word}` is a reserved word and cannot be a name"
        remedy = f"choose another name; `{error.word.capitalize()}` would do, since words are matched exactly"
        return Diagnostic("RD035", source.path, span, problem, remedy)
    problem = f"this heading is no {kind} header"
    if error.word and error.column:
        problem += f": `{error.word}` cannot follow `{block.text[: error.column].rstrip()}`"
    return Diagnostic("RD032", source.path, span, problem, FORMS[kind])


def transition_problem(source: Source, block: Block, error: LineError) -> Diagnostic:
    """The diagnostic for a list item that begins as a transition and does not go on as one (G2)."""
    span = _span(block, error)
    if error.code == "RD037":
        return _too_large(source, span, error)
    if error.code == "RD041":
        problem = "a RETRY inside a RETRY"
        return Diagnostic("RD041", source.path, span, problem, "give one count: `RETRY 3 STOP`")  # G3
    expected = _expected(error)
    if error.code == "RD035":
        problem = f"`{error.word}` is a reserved word and cannot be a name or a bare message"
        return Diagnostic("RD035", source.path, span, problem, f'expected {expected}; quote a message: "{error.word}"')
    found = f"`{error.word}`" if error.word else "the end of the line"
    remedy = f"expected {expected}" + _hint(block, error)
    return Diagnostic("RD040", source.path, span, f"unexpected {found} in a transition", remedy)


def _hint(block: Block, error: LineError) -> str:
    """What was probably meant: a message of several words, or an action that is misspelt."""
    before = block.text[: error.column].split()
    if before[-2:-1] in (["STOP"], ["COMPLETE"]) and not before[-1].startswith('"'):
        return "; a message of several words stands in double quotes"
    close = get_close_matches(error.word.upper(), ACTIONS, 1)
    return f"; did you mean {close[0]}?" if close else ""


def _span(block: Block, error: LineError) -> Span:
    column = block.column + error.column
    return Span(block.line, column, block.line, column + max(len(error.word), 1))


def _too_large(source: Source, span: Span, error: LineError) -> Diagnostic:
    problem = f"the number has {len(error.word)} digits"
    return Diagnostic("RD037", source.path, span, problem, "numbers have nine digits at most")


def _expected(error: LineError) -> str:
    """The kinds of token that could stand there, in words: actions first, blanks left out."""
    keywords = [name for name in error.expected if name in RESERVED and name != "NEXT"]
    others = [WORDS[name] for name in error.expected if name in WORDS]
    literal = [name for name in error.expected if name == COUNT]
    words = list(dict.fromkeys(literal + keywords + others)) or ["a blank, or the end of the line"]
    return words[0] if len(words) == 1 else ", ".join(words[:-1]) + " or " + words[-1]
