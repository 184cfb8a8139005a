"""What limits a command to a case or a person, and which command in a sentence someone runs."""

from collections.abc import Sequence

from msgspec.structs import replace

from compiler.importers import words
from compiler.importers.commands import Block, is_command_span
from compiler.importers.markdown import Piece
from compiler.importers.placeholders import find
from compiler.text.regex import Regex

CODE_SPAN = Regex(r"(?<!`)`([^`\n]+)`(?!`)")
_ASKS_TO_RUN = Regex(r"(?i)\b(?:run|running|execute|type|enter|use|issue|invoke|start|call)\b")
_BY_MEANS = Regex(r"(?i)\b(?:using|with|via|by):?\s+`")
_LAST = Regex(r"(?:^\*\*[^*\n]+\*\*|:)\s+`[^`\n]+`\.?(?=\s*(?:\n|$|[→—–]|[-=]>))")
_ONLY = Regex(r"(?:\W*\w+(?: \w+){0,2}\W*:\W*)?`[^`\n]+`\.?")
_FORBIDS = Regex(r"(?i)\b(?:never|avoid|instead of|rather than|(?:do|must|should)(?: not|n['’]t))\b[^.;:]{0,80}`")
_EXPLAINED = Regex(r"`[^`\n]+` (?:also )?[a-z]+s\b")
COMMENT = Regex(r"(?m)(?:^[ \t]*#+[ \t]*|(?<=[ \t])#+[ \t]+)([^\n]+)")
_BRANCHES = Regex(r"(?m)^[ \t]*(?:if|for|while|until|case|select)[ \t]")
_RETURNS = Regex(
    r"&\s*$|\b(?:systemctl|service|launchctl|brew|kubectl|oc|helm|minikube|kind|vagrant|pm2|nohup)\b"
    r"|(?<!\S)(?:-d|--detach|--daemon\w*|--background)(?!\S)"
)
"""Matches a command that starts something and ends."""
_ENDLESS = "the text is about a command that doesn't end"


def limited(block: Block, near: Sequence[str], heading: str) -> Block:
    """Return a block, only shown if the text above it, its heading or its comments let it not run."""
    why = _why_shown(near, heading, block.code) if block.kind == "run" else ""
    return replace(block, kind="show", why=why) if why else block


def _why_shown(near: Sequence[str], heading: str, code: str) -> str:
    """Return why the text above a command, its heading or its comments let it not run, or ""."""
    if words.is_endless(heading, is_heading=True) and not _RETURNS.search(code):
        return _ENDLESS
    comments = COMMENT.findall(code)
    if why := next(filter(None, (why_limited(one, code) for one in (*near, *comments))), ""):
        return why
    names_case = not _BRANCHES.search(code) and any(map(words.names_case, comments))
    return "a comment in it names a case, an example or a task" if names_case else ""


def why_limited(text: str, code: str) -> str:
    """Return why a text beside a command lets it not run, or ""."""
    if words.is_endless(text) and not _RETURNS.search(code):
        return _ENDLESS
    if words.is_for_others(text):
        return "the text is about another person or machine"
    if words.asks_to_replace(text) and not (found := find(code, ())).names and not found.reads:
        return "the text asks to replace a part of it"
    return "the text limits the command, or expects it to fail" if words.is_limited(text) else ""


def runs_span(piece: Piece) -> bool:
    """Return whether a text or an item asks to run the one command in its sentence."""
    if piece.kind == "item":
        return len(piece.pieces) == 1 and runs_span(piece.pieces[0])
    is_text = piece.kind == "text" and piece.info == "Paragraph" and piece.text[:1] != "|"
    if not is_text or _FORBIDS.search(piece.text) or words.is_automatic(piece.plain) or _EXPLAINED.match(piece.text):
        return False
    if _ONLY.fullmatch(piece.text) and is_command_span(piece.plain.rpartition(": ")[2]):
        return True
    around = CODE_SPAN.sub("", piece.text)
    is_end = _LAST.search(piece.text) is not None and not words.is_fact(piece.plain)
    is_means = words.imperative(piece.plain) and _BY_MEANS.search(piece.text)
    if not (_ASKS_TO_RUN.search(around) or is_end or is_means):
        return False
    return len([code for code in CODE_SPAN.findall(piece.text) if is_command_span(code)]) == 1
