"""The page that lists all diagnostics."""

from __future__ import annotations

from itertools import pairwise

from compiler.diagnostics.issues import page as explanation
from compiler.diagnostics.model import CODES
from tools.reference.markdown import page, table

INTRODUCTION = """\
`rdc check` reports each problem with a code. Follow the code to its page, or run `rdc explain CODE`: both show why the
problem matters, an example and the fix.

An error stops the compilation. A warning fails the command only with `--strict`. A note never does."""


def diagnostics() -> str:
    """Return the page: for each code its name, severity and the first sentence of its explanation."""
    rows = [
        (
            f"[{code}](../../compiler/diagnostics/explanations/{code}.md)",
            known.name,
            known.severity.value,
            first_sentence(code),
        )
        for code, known in CODES.items()
    ]
    return page("Diagnostics", INTRODUCTION, table(("code", "name", "severity", "meaning"), rows))


def first_sentence(code: str) -> str:
    """Return the first sentence of a code's explanation below its title."""
    lines = [line for line in explanation(code).split("\n")[1:] if not line.startswith("#")]
    words = "\n".join(lines).strip().split("\n\n")[0].split()
    for number, (word, following) in enumerate(pairwise([*words, ""]), 1):
        if word.endswith((".", ".)")) and not following[:1].islower():
            return " ".join(words[:number])
    return f"{' '.join(words).rstrip(':')}."
