"""The look of items on a light and a dark background. Color never carries meaning by itself.

Each item has a class, which Graphviz writes to SVG files. With `stylesheet`, a picture in the light theme gets the dark
theme's colors on dark pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.captions import look_of
from backends.picture.picture import Box, Frame
from compiler.ir.tasks import End, Verdict

Theme = Literal["light", "dark"]


class Colors(Struct, frozen=True):
    """The colors of a class."""

    line: str
    fill: str
    text: str


class Palette(Struct, frozen=True):
    """The colors of a theme: for the page, for boxes, frames and arrows by class, and for marks."""

    page: Colors
    boxes: Mapping[str, Colors]
    frames: Mapping[str, Colors]
    arrows: Mapping[str, str]
    marks: Mapping[str, Colors]

    def of_box(self, box: Box) -> Colors:
        """Return the colors of a box."""
        return self.marks[box.mark] if box.mark else self.boxes[class_of(box)]

    def of_frame(self, frame: Frame) -> Colors:
        """Return the colors of a frame. A marked frame has the usual fill, because it contains boxes."""
        return self.marked_frames[frame.mark] if frame.mark else self.frames[class_of(frame)]

    @property
    def marked_frames(self) -> Mapping[str, Colors]:
        """The colors of frames by their mark."""
        return {mark: replace(colors, fill=self.frames["frame"].fill) for mark, colors in self.marks.items()}

    def of_arrow(self, arrow: Arrow) -> str:
        """Return the color of an arrow and its label."""
        return self.marks[arrow.mark].line if arrow.mark else self.arrows[class_of(arrow)]


def _boxes(
    gray: Colors, blue: Colors, yellow: Colors, purple: Colors, complete: Colors, stop: Colors, unreachable: Colors
) -> dict[str, Colors]:
    return {
        "start": Colors(gray.line, gray.line, gray.line),
        "shell": gray,
        "ask": blue,
        "branch": yellow,
        **dict.fromkeys(("agent", "tool", "parallel", "gate"), purple),
        **dict.fromkeys(("inputs", "context"), gray),
        "execute": blue,
        **dict.fromkeys(("guardrails", "validation"), yellow),
        "outputs": gray,
        "complete": complete,
        "stop": stop,
        "unreachable": unreachable,
    }


PALETTES: Mapping[Theme, Palette] = {
    "light": Palette(
        Colors("#57606a", "#ffffff", "#1f2328"),
        _boxes(
            gray=Colors("#57606a", "#ffffff", "#1f2328"),
            blue=Colors("#0969da", "#ddf4ff", "#0a3069"),
            yellow=Colors("#9a6700", "#fff8c5", "#3b2300"),
            purple=Colors("#8250df", "#fbefff", "#3e1f79"),
            complete=Colors("#1a7f37", "#dafbe1", "#0f3d1c"),
            stop=Colors("#cf222e", "#ffebe9", "#5c1116"),
            unreachable=Colors("#8c959f", "#d8dee4", "#424a53"),
        ),
        {"frame": Colors("#afb8c1", "#f6f8fa", "#424a53"), "cycle": Colors("#8250df", "#f6f8fa", "#6639ba")},
        {"pass": "#1a7f37", "fail": "#cf222e", "both": "#57606a", "data": "#656d76"},
        {
            "added": Colors("#bf3989", "#ffe3f1", "#4d0336"),
            "removed": Colors("#656d76", "#ffffff", "#656d76"),
            "changed": Colors("#bc4c00", "#fff1e5", "#471700"),
        },
    ),
    "dark": Palette(
        Colors("#8b949e", "#0d1117", "#e6edf3"),
        _boxes(
            gray=Colors("#8b949e", "#21262d", "#e6edf3"),
            blue=Colors("#58a6ff", "#0c2d6b", "#cae8ff"),
            yellow=Colors("#d29922", "#3d2e00", "#f8e3a1"),
            purple=Colors("#a371f7", "#271052", "#e2c5ff"),
            complete=Colors("#3fb950", "#0f3d1c", "#aff5b4"),
            stop=Colors("#f85149", "#4c1014", "#ffdcd7"),
            unreachable=Colors("#6e7681", "#30363d", "#b1bac4"),
        ),
        {"frame": Colors("#484f58", "#161b22", "#b1bac4"), "cycle": Colors("#a371f7", "#161b22", "#d2a8ff")},
        {"pass": "#3fb950", "fail": "#f85149", "both": "#8b949e", "data": "#848d97"},
        {
            "added": Colors("#f778ba", "#5e103e", "#ffdaec"),
            "removed": Colors("#8b949e", "#0d1117", "#8b949e"),
            "changed": Colors("#f0883e", "#5a1e02", "#ffdfb6"),
        },
    ),
}

_SLANTED = {"margin": '"0.04,0.03"'}
"""Graphviz leaves too much space around text in slanted shapes."""

SHAPES: Mapping[str, Mapping[str, str]] = {
    "shell": {"shape": "box"},
    "ask": {"shape": "hexagon", **_SLANTED},
    "branch": {"shape": "diamond", **_SLANTED},
    "end": {"shape": "box"},
    "agent": {"shape": "octagon", **_SLANTED},
    "tool": {"shape": "component"},
    "parallel": {"shape": "record"},
    "gate": {"shape": "trapezium", **_SLANTED},
    "inputs": {"shape": "parallelogram", **_SLANTED},
    "context": {"shape": "cylinder"},
    "execute": {"shape": "octagon", **_SLANTED},
    "guardrails": {"shape": "invhouse", **_SLANTED},
    "validation": {"shape": "hexagon", **_SLANTED},
    "outputs": {"shape": "note"},
}
"""The shape of each kind of task and stage. Ends are rounded."""

ARROWS: Mapping[Verdict | None, str] = {Verdict.PASS: "pass", Verdict.FAIL: "fail", None: "both"}


def class_of(item: Box | Frame | Arrow) -> str:
    """Return the class of an item."""
    match item:
        case Box(mark=mark) | Frame(mark=mark) | Arrow(mark=mark) if mark:
            return mark
        case Box(is_reached=False):
            return "unreachable"
        case Box(node=node):
            return node.task.result if isinstance(node.task, End) else look_of(node.task)
        case Frame(is_loop=is_loop):
            return "cycle" if is_loop else "frame"
        case Arrow(verdict=verdict):
            return ARROWS[verdict]


def stylesheet(theme: Theme, *, has_marks: bool = False) -> str:
    """Return the theme as CSS for an SVG that Graphviz drew in any theme."""
    palette = PALETTES[theme]
    if has_marks:
        lines = {mark: colors.line for mark, colors in palette.marks.items()}
        palette = replace(
            palette,
            boxes={**palette.boxes, **palette.marks},
            frames={**palette.frames, **palette.marked_frames},
            arrows={**palette.arrows, **lines},
        )
    return "\n".join(_rules(palette))


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
