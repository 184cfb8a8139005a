"""What is done to a picture that Graphviz drew: it says where it comes from, and an SVG knows dark pages."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence

PNG = b"\x89PNG\r\n\x1a\n"
"""What every PNG begins with."""

_HEAD = len(PNG) + 25
"""The signature and the first chunk, which has a length, a kind, 13 bytes and a checksum."""


def finished_svg(picture: bytes, notes: Sequence[str], dark: str) -> bytes:
    """An SVG below comments, with the CSS for dark pages if there is any.

    Graphviz's own head goes: its version would differ from machine to machine, and some readers fetch a DOCTYPE.
    """
    _, _, text = picture.decode().partition("<svg")
    attributes, _, body = text.partition(">")
    comments = "".join(f"<!-- {note.replace('--', '-%2D')} -->\n" for note in notes)
    style = f"\n<style>\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>" if dark else ""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{comments}<svg{attributes}>{style}{body}'.encode()


def finished_png(picture: bytes, notes: Sequence[str]) -> bytes:
    """A PNG with a comment, right after the chunk that must be the first."""
    kind = b"iTXt"
    content = b"Comment\0\0\0\0\0" + " ".join(notes).encode()
    chunk = struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    return picture[:_HEAD] + chunk + picture[_HEAD:]
