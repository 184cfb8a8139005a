"""Loads the Lark grammars of the folder `grammars/`, and keeps them compiled in the user's cache."""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.lexer import Lexer, LexerState, Token


class NoLexer(Lexer):
    """For grammars over blocks: the tokens are made elsewhere and fed to the parser one by one."""

    def __init__(self, _configuration: object) -> None:
        """Lark hands its lexer configuration over; there is nothing to configure."""

    def lex(self, _lexer_state: LexerState, _parser_state: object) -> Iterator[Token]:
        """No tokens."""
        return iter(())


def load(name: str, start: Sequence[str], lexer: Any = "contextual") -> Lark:  # noqa: ANN401 (as Lark has it)
    """The LALR parser of a grammar file with its start symbols; `lexer` is Lark's option of that name.

    Building the tables takes longer than checking a small document, so they are kept in the user's cache folder under
    a name that changes with everything they depend on. Without a writable cache they are built each time.
    """
    text = resources.files("grammars").joinpath(name).read_text(encoding="utf-8")
    key = repr((text, list(start), str(lexer), lark.__version__, sys.version_info))
    folder = _cache_folder()
    file = folder / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:16]}" if folder else None
    if file:
        try:
            with file.open("rb") as stream:
                return Lark.load(stream)
        except Exception:  # noqa: BLE001, S110 (whatever is wrong with a kept file, the tables can be built anew)
            pass
    parser = Lark(text, parser="lalr", start=list(start), maybe_placeholders=True, lexer=lexer)
    if file:
        with contextlib.suppress(OSError):
            _keep(parser, file)
    return parser


def _cache_folder() -> Path | None:
    """Where the user's programs keep what can be made again; None if there is no such place."""
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.environ.get("HOME", ""), ".cache")  # noqa: PTH118
    return Path(base) / "rdc" if os.path.isabs(base) else None  # noqa: PTH117 (as the XDG specification wants it)


def _keep(parser: Lark, file: Path) -> None:
    """Writes the tables beside and renames, so that no process ever reads half of them."""
    import tempfile  # noqa: PLC0415 (needed once for each grammar)

    file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, temporary = tempfile.mkstemp(dir=file.parent)
    with os.fdopen(descriptor, "wb") as stream:
        parser.save(stream)
    Path(temporary).replace(file)
