"""The options of step specifications: secrets, what targets know of steps, values of placeholders."""

from __future__ import annotations

from typing import Any

from compiler.frontends.call_steps import STEPS
from compiler.frontends.name_lists import SECRETS
from compiler.options import Level, Option, Places, Wrong
from compiler.regex import Regex

_PAIR = Regex(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def _read_variables(content: object, _: Places) -> dict[str, str] | Wrong:
    """Reads words NAME=VALUE; of two for one name the last one counts."""
    pairs = [(word, _PAIR.fullmatch(word)) for word in content] if isinstance(content, tuple) else []
    if wrong := [word for word, pair in pairs if pair is None or not word.isprintable()]:
        return Wrong(f"{wrong[0]!r} is not NAME=VALUE on one line", "write `--var output_folder=docs`")
    return {pair[1]: pair[2] for _, pair in pairs if pair}


VARIABLES = Option(
    "var",
    "The value of a placeholder of a step specification.",
    _read_variables,
    levels=(Level.COMMAND_LINE,),
    is_repeated=True,
    metavar="NAME=VALUE",
)
"""Values of placeholders that are given when a document is compiled (B3)."""

OPTIONS: tuple[Option[Any], ...] = (SECRETS, STEPS, VARIABLES)
