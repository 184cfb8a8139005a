"""`rdc explain`: shows the meaning of a diagnostic, why it matters, an example and its fix."""

import shutil
import sys

import click
from click.shell_completion import CompletionItem

from compiler.diagnostics.issues import page, page_of
from compiler.diagnostics.model import CODES
from rdc.commands.common.reporter import docs_url
from rdc.terminal.output import UnknownWordError, color, put


def _known_code(_: click.Context, __: click.Parameter, word: str | None) -> str | None:
    if word is None:
        return None
    if word.upper() in CODES:
        return word.upper()
    if code := next((code for code, known in CODES.items() if known.name == word.lower()), None):
        return code
    known = CODES if word.upper().startswith("RD") else [code.name for code in CODES.values()]
    raise UnknownWordError("diagnostic code", word, known, "rdc explain --list")


def _codes_like(_: click.Context, __: click.Parameter, typed: str) -> list[CompletionItem]:
    codes = [code for code in CODES if code.startswith(typed.upper())]
    return [CompletionItem(code, help=CODES[code].name) for code in codes]


@click.command(name="explain")
@click.argument("code", required=False, callback=_known_code, shell_complete=_codes_like)
@click.option("--list", "listing", is_flag=True, help="List all codes with their severity and name.")
def command(code: str | None, *, listing: bool) -> int:
    """Explain a diagnostic CODE, such as RD201 or unknown-target."""
    if listing:
        put("\n".join(f"{code}  {known.severity:7}  {known.name}" for code, known in CODES.items()))
        return 0
    if code is None:
        raise click.UsageError("missing argument 'CODE'; to list all codes, run 'rdc explain --list'")
    address = docs_url()
    text = _headings_in_bold(page(code)) + (f"\n\n{page_of(address, code)}" if address else "")
    if sys.stdout.isatty() and text.count("\n") >= shutil.get_terminal_size().lines - 1:
        click.echo_via_pager(text, color=color())
    else:
        put(text)
    return 0


def _headings_in_bold(markdown: str) -> str:
    """Return the page with its headings in bold. Lines with `#` in code blocks stay unchanged."""
    lines, fence = [], ""
    for line in markdown.split("\n"):
        if fence and line.startswith(fence):
            fence = ""
        elif not fence and line.startswith(("```", "~~~")):
            fence = line[: len(line) - len(line.lstrip(line[0]))]
        heading = line.startswith("#") and not fence
        lines.append(click.style(line, bold=True) if heading else line)
    return "\n".join(lines)
