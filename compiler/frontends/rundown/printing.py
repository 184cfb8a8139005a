"""Print the parts of runbooks: headings, blocks and steps."""

from collections.abc import Sequence

from compiler.text.regex import Regex

_CLOSING = Regex(r"(^|[ \t])#+$")
"""Matches closing marks of a Markdown heading."""

_FENCE = Regex(r"(`{3,}|~{3,})")


def heading(step: int | str, title: str = "", child: int | str = "") -> str:
    """Return the heading of a step, or of its substep `child`; an identifier is a number or a name."""
    last = step if child == "" else child
    if child == "":
        marks, label, joint = "##", f"{step}", ". " if isinstance(last, int) else ": "
    else:
        marks, label, joint = "###", f"{step}.{child}", " " if isinstance(last, int) else ": "
    return marked(marks, f"{label}{joint}{title}" if title else label)


def marked(marks: str, text: str) -> str:
    """Return a heading. After a title that ends with `#`, marks close the heading, so that Markdown keeps that end."""
    return f"{marks} {text} {marks}" if _CLOSING.search(text) else f"{marks} {text}".rstrip()


def fenced(text: str, info: str = "") -> str:
    """Return a block whose fence is longer than each fence in the text."""
    fence = "`" * (max((len(found[1]) for found in _FENCE.finditer(text)), default=2) + 1)
    return f"{fence}{info}\n{text}{'' if not text or text.endswith(chr(10)) else chr(10)}{fence}"


def section(header: str, prompt: str, code: str, transitions: Sequence[str], *, after_header: bool = False) -> str:
    """Return a step in a document's order of parts, below a header if there is one; transitions are whole lines."""
    listed = "\n".join(transitions)
    parts = (listed, prompt, code) if after_header else (prompt, code, listed)
    return "\n\n".join(filter(None, (header, *parts)))
