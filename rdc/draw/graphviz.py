"""Draw pictures with Graphviz: `dot` from the path, otherwise the one in the package pygraphviz.

It runs in a separate process, so that a graph that is too large only costs the time limit.
"""

import os
import shutil
import struct
import subprocess
import sys
import zlib
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal
from xml.sax.saxutils import escape

from msgspec.structs import replace

from backends.common.command import drawing_command, read_command
from backends.picture.looks import stylesheet
from compiler.frontends import endings
from compiler.text.regex import Regex
from compiler.text.source import without_ending

Form = Literal["svg", "png"]

_COMMENT = "// "


def draw(graph: str, form: Form, theme: str | None = None) -> bytes:
    """Return the picture of a graph from the dot target; raises `DrawingError`.

    The comments at its start are copied to the picture, with the command that draws it. Without a theme, an SVG uses
    dark colors on dark pages.
    """
    head = takewhile(lambda line: line.startswith(_COMMENT), graph.split("\n"))
    notes = [line.removeprefix(_COMMENT) for line in head]
    if command := read_command(notes[-1]):
        options = command.options | ({"theme": theme} if theme else {})
        theme = options.get("theme")
        usual = f"{without_ending(command.source, endings())}.{form}"
        command = replace(command, options=options, out="" if command.out == usual else command.out)
        notes[-1] = f"  {drawing_command(command, form)}"
    picture = render(graph, form)
    if form == "png":
        return finished_png(picture, [note.removeprefix(_CHECK) for note in notes])
    return finished_svg(picture, notes, "" if theme else stylesheet("dark"))


_CHECK = "To check this file, run `rdc verify FILE`. "
"""A sentence of the header that isn't true for a PNG."""

_LAYOUT = Regex(r' (?:d|points|x|y|cx|cy|rx|ry|width|height|viewBox|transform)="[^"]*"')


def without_layout(svg: str) -> str:
    """Return an SVG without places and sizes, which depend on the version of Graphviz and on fonts."""
    return _LAYOUT.sub("", svg)


TIME_LIMIT = 120  # in seconds

RESOLUTION = 144  # of a PNG, in dots per inch; graphviz lowers it for pictures wider than 32,767 dots

FONT_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts")
"""The folders that may have fonts. Some machines have none."""

_HERE = Path(__file__).parent

FONT = _HERE / "fonts" / "DejaVuSans.ttf"


class DrawingError(Exception):
    """Graphviz is missing or failed. The first argument is the problem, `advice` the help."""

    def __init__(self, problem: str, advice: str) -> None:
        super().__init__(problem)
        self.advice = advice


def render(graph: str, form: str) -> bytes:
    """Return Graphviz's picture of a graph; raises `DrawingError`."""
    command = _command(form)
    try:
        with TemporaryDirectory(prefix="rdc-") as folder:
            done = subprocess.run(  # noqa: S603 (a program that was looked up, and words of ours)
                command,
                input=graph.encode(),
                capture_output=True,
                env=_environment(Path(folder)),
                timeout=TIME_LIMIT,
                check=False,
            )
    except subprocess.TimeoutExpired:
        raise DrawingError(f"Graphviz took longer than {TIME_LIMIT} seconds", _ELSEWHERE) from None
    except OSError as error:
        raise DrawingError(f"cannot run {command[0]}: {error.strerror}", _ELSEWHERE) from None
    output = done.stderr.decode(errors="replace").strip().split("\n")
    errors = [line for line in output if line.startswith("Error:")]  # Graphviz may still draw the rest
    if done.returncode or errors or not done.stdout:
        reason = (errors or output)[-1] or f"exit code {done.returncode}"
        raise DrawingError(f"Graphviz failed: {reason}", _ELSEWHERE)
    return done.stdout


_ELSEWHERE = "use --format dot with another drawing tool, or use --format mermaid"


def _command(form: str) -> list[str]:
    if dot := shutil.which("dot"):
        return [dot, f"-T{form}", f"-Gdpi={RESOLUTION if form == 'png' else 72}"]
    if find_spec("pygraphviz"):
        # With -P, Python doesn't import a pygraphviz.py in the current folder.
        return [sys.executable, "-P", str(_HERE / "bundled.py"), form, str(RESOLUTION if form == "png" else 72)]
    advice = (
        "install Graphviz, or rdc with its extra `graph` (in a checkout of rdc: `uv tool install '.[graph]'`), "
        "or use --format dot or mermaid"
    )
    raise DrawingError("Graphviz is not installed", advice)


def _environment(folder: Path) -> dict[str, str]:
    """Return the environment of Graphviz. A machine without fonts, such as a slim container, gets our font."""
    # The font is linked from a temporary folder, because fontconfig writes files next to fonts.
    folders = (Path(os.path.expanduser(folder)) for folder in FONT_FOLDERS)  # noqa: PTH111 (there may be no home)
    if sys.platform in ("darwin", "win32") or any(True for folder in folders for _ in folder.rglob("*.[ot]t[cf]")):
        return dict(os.environ)
    theirs = escape(os.environ.get("FONTCONFIG_FILE", "/etc/fonts/fonts.conf"))
    (folder / FONT.name).symlink_to(FONT)
    configuration = folder / "fonts.conf"
    configuration.write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE fontconfig SYSTEM "fonts.dtd">\n<fontconfig>\n'
        f"<cachedir>{escape(str(folder))}</cachedir>\n<dir>{escape(str(folder))}</dir>\n"
        f'<include ignore_missing="yes">{theirs}</include>\n</fontconfig>\n',
        encoding="utf-8",
    )
    return {**os.environ, "FONTCONFIG_FILE": str(configuration)}


HYPHENS = "-%2D"
"""Two hyphens, which no comment in an SVG may have."""

PNG = b"\x89PNG\r\n\x1a\n"
"""The signature of PNG files."""

_HEAD = len(PNG) + 25
"""The signature and the first chunk: a length, a kind, 13 bytes and a checksum."""


def finished_svg(picture: bytes, notes: Sequence[str], dark: str) -> bytes:
    """Return an SVG with comments, and with CSS for dark pages if given.

    Graphviz's own header is removed: its version depends on the machine, and some readers fetch the DOCTYPE.
    """
    _, _, text = picture.decode().partition("<svg")
    attributes, _, body = text.partition(">")
    comments = "".join(f"<!-- {note.replace('--', HYPHENS)} -->\n" for note in notes)
    style = f"\n<style>\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>" if dark else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{comments}<svg{attributes}>{style}{body}'.encode()


def finished_png(picture: bytes, notes: Sequence[str]) -> bytes:
    """Return a PNG with a comment after its first chunk."""
    kind = b"iTXt"
    content = b"Comment\0\0\0\0\0" + " ".join(notes).encode()
    chunk = struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return picture[:_HEAD] + chunk + picture[_HEAD:]
