"""Finish a picture from Graphviz: add comments about its source, and dark colors to an SVG."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

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
    comments = "".join(f"<!-- {note.replace('--', '-%2D')} -->\n" for note in notes)
    style = f"\n<style>\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>" if dark else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{comments}<svg{attributes}>{style}{body}'.encode()


def finished_png(picture: bytes, notes: Sequence[str]) -> bytes:
    """Return a PNG with a comment after its first chunk."""
    kind = b"iTXt"
    content = b"Comment\0\0\0\0\0" + " ".join(notes).encode()
    chunk = struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return picture[:_HEAD] + chunk + picture[_HEAD:]
