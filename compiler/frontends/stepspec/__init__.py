"""The step specification format (docs/formats/stepspec.md). `frontend.py` reads it."""

from typing import Any

from compiler.diagnostics.issues import InvalidError, OptionSources
from compiler.diagnostics.model import Issue
from compiler.frontends.common.interface import Format
from compiler.frontends.common.names import OPERATING, SECRETS, STEPS
from compiler.project.options import Level, Option
from compiler.text.regex import Regex

_PAIR = Regex(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)")


def _read_variables(content: object, _: OptionSources) -> dict[str, str]:
    """Read NAME=VALUE words. The last value of a name counts."""
    pairs = [(word, _PAIR.fullmatch(word)) for word in content] if isinstance(content, tuple) else []
    if wrong := [word for word, pair in pairs if pair is None or not word.isprintable()]:
        remedy = "write `--var output_folder=docs`"
        raise InvalidError(Issue((), f"{wrong[0]!r} is not NAME=VALUE on one line", remedy))
    return {pair[1]: pair[2] for _, pair in pairs if pair}


VARIABLES = Option(
    "var",
    "Value of a placeholder in a step specification.",
    _read_variables,
    levels=(Level.COMMAND_LINE,),
    is_repeated=True,
    metavar="NAME=VALUE",
)
"""Values of placeholders from the command line (B3)."""

OPTIONS: tuple[Option[Any], ...] = (SECRETS, STEPS, VARIABLES, *OPERATING)


FORMAT = Format(
    name="stepspec",
    noun="specification",
    summary="step specifications (YAML or JSON steps with a contract)",
    suffixes=(".stepspec.yaml", ".stepspec.yml", ".stepspec.json"),
    module="compiler.frontends.stepspec.frontend",
    marks="compiler.frontends.stepspec.marks",
    schema="compiler.frontends.stepspec.syntax",
    drafts="compiler.frontends.common.drafts",
    options=OPTIONS,
)
