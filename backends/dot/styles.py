"""The shapes of boxes in Graphviz, and the CSS of an SVG.

Each item has a class, which Graphviz writes to SVG files. With `stylesheet`, a picture in the light theme gets the dark
theme's colors on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from backends.picture.looks import PALETTES, Palette, Theme

_SLANTED = {"margin": '"0.04,0.03"'}
"""Graphviz leaves too much space around text in slanted shapes."""

_ROUNDED = {"shape": "box", "style": '"filled,rounded"'}

SHAPES: Mapping[str, Mapping[str, str]] = {
    "start": _ROUNDED,
    "command": {"shape": "box"},
    "check": {"shape": "box"},
    "agent": _ROUNDED,
    "tool": {"shape": "component"},
    "person": {"shape": "hexagon", **_SLANTED},
    "choice": {"shape": "diamond", **_SLANTED},
    "complete": {"shape": "box"},
    "stop": {"shape": "box"},
}
"""The shape of each kind of box. Ends are rounded, with a heavy line."""


def stylesheet(theme: Theme) -> str:
    """Return the theme as CSS for an SVG that Graphviz drew in any theme."""
    return "\n".join(_rules(PALETTES[theme]))


def _rules(palette: Palette) -> Iterator[str]:
    page = palette.page
    yield f".graph > polygon {{ fill: {page.fill}; }}"
    yield f".graph > text {{ fill: {page.text}; }}"
    for kind, members in (("node", palette.boxes), ("cluster", palette.frames)):
        for name, colors in members.items():
            outline = ", ".join(f".{kind}.{name} {shape}" for shape in ("polygon", "path", "ellipse", "polyline"))
            yield f"{outline} {{ fill: {colors.fill}; stroke: {colors.line}; }}"
            yield f".{kind}.{name} text {{ fill: {colors.text}; }}"
    for name, color in palette.arrows.items():
        yield f".edge.{name} path {{ stroke: {color}; }}"
        yield f".edge.{name} polygon {{ fill: {color}; stroke: {color}; }}"
        yield f".edge.{name} text {{ fill: {color}; }}"
