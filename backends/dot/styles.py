"""How things look, on a light and on a dark background. Colour is never alone in what it says.

What is drawn has a class, which Graphviz writes into an SVG: so `stylesheet` can give a picture that was drawn in the
light theme the colours of the dark one where the reader's page is dark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.picture import Box, Frame
from backends.picture.stages import look_of
from compiler.ir.tasks import End, Verdict

Theme = Literal["light", "dark"]


class Colours(Struct, frozen=True):
    """What a class is drawn in."""

    line: str
    fill: str
    text: str


class Palette(Struct, frozen=True):
    """The colours of a theme: of the page, of boxes, frames and arrows by class, and of what is marked by its mark."""

    page: Colours
    boxes: Mapping[str, Colours]
    frames: Mapping[str, Colours]
    arrows: Mapping[str, str]
    marks: Mapping[str, Colours]

    def of_box(self, box: Box) -> Colours:
        """The colours of a box."""
        return self.marks[box.mark] if box.mark else self.boxes[class_of(box)]

    def of_frame(self, frame: Frame) -> Colours:
        """The colours of a frame. One that is marked is filled as all are, since boxes stand in it."""
        return self.marked_frames[frame.mark] if frame.mark else self.frames[class_of(frame)]

    @property
    def marked_frames(self) -> Mapping[str, Colours]:
        """The colours of frames by their mark."""
        return {mark: replace(colours, fill=self.frames["frame"].fill) for mark, colours in self.marks.items()}

    def of_arrow(self, arrow: Arrow) -> str:
        """The colour of an arrow and its label."""
        return self.marks[arrow.mark].line if arrow.mark else self.arrows[class_of(arrow)]


_PURPLE = Colours("#8250df", "#fbefff", "#3e1f79")
_LILAC = Colours("#a371f7", "#271052", "#e2c5ff")

_STAGES = {
    "inputs": Colours("#57606a", "#ffffff", "#1f2328"),
    "context": Colours("#57606a", "#ffffff", "#1f2328"),
    "execute": Colours("#0969da", "#ddf4ff", "#0a3069"),
    "guardrails": Colours("#9a6700", "#fff8c5", "#3b2300"),
    "validation": Colours("#9a6700", "#fff8c5", "#3b2300"),
    "outputs": Colours("#57606a", "#ffffff", "#1f2328"),
}
_DARK_STAGES = {
    "inputs": Colours("#8b949e", "#21262d", "#e6edf3"),
    "context": Colours("#8b949e", "#21262d", "#e6edf3"),
    "execute": Colours("#58a6ff", "#0c2d6b", "#cae8ff"),
    "guardrails": Colours("#d29922", "#3d2e00", "#f8e3a1"),
    "validation": Colours("#d29922", "#3d2e00", "#f8e3a1"),
    "outputs": Colours("#8b949e", "#21262d", "#e6edf3"),
}

PALETTES: Mapping[Theme, Palette] = {
    "light": Palette(
        Colours("#57606a", "#ffffff", "#1f2328"),
        {
            "start": Colours("#57606a", "#57606a", "#57606a"),
            "shell": Colours("#57606a", "#ffffff", "#1f2328"),
            "ask": Colours("#0969da", "#ddf4ff", "#0a3069"),
            "branch": Colours("#9a6700", "#fff8c5", "#3b2300"),
            "agent": _PURPLE,
            "tool": _PURPLE,
            "parallel": _PURPLE,
            "gate": _PURPLE,
            **_STAGES,
            "complete": Colours("#1a7f37", "#dafbe1", "#0f3d1c"),
            "stop": Colours("#cf222e", "#ffebe9", "#5c1116"),
            "unreachable": Colours("#8c959f", "#d8dee4", "#424a53"),
        },
        {"frame": Colours("#afb8c1", "#f6f8fa", "#424a53"), "cycle": Colours("#8250df", "#f6f8fa", "#6639ba")},
        {"pass": "#1a7f37", "fail": "#cf222e", "both": "#57606a", "data": "#656d76"},
        {
            "added": Colours("#bf3989", "#ffe3f1", "#4d0336"),
            "removed": Colours("#656d76", "#ffffff", "#656d76"),
            "changed": Colours("#bc4c00", "#fff1e5", "#471700"),
        },
    ),
    "dark": Palette(
        Colours("#8b949e", "#0d1117", "#e6edf3"),
        {
            "start": Colours("#8b949e", "#8b949e", "#8b949e"),
            "shell": Colours("#8b949e", "#21262d", "#e6edf3"),
            "ask": Colours("#58a6ff", "#0c2d6b", "#cae8ff"),
            "branch": Colours("#d29922", "#3d2e00", "#f8e3a1"),
            "agent": _LILAC,
            "tool": _LILAC,
            "parallel": _LILAC,
            "gate": _LILAC,
            **_DARK_STAGES,
            "complete": Colours("#3fb950", "#0f3d1c", "#aff5b4"),
            "stop": Colours("#f85149", "#4c1014", "#ffdcd7"),
            "unreachable": Colours("#6e7681", "#30363d", "#b1bac4"),
        },
        {"frame": Colours("#484f58", "#161b22", "#b1bac4"), "cycle": Colours("#a371f7", "#161b22", "#d2a8ff")},
        {"pass": "#3fb950", "fail": "#f85149", "both": "#8b949e", "data": "#848d97"},
        {
            "added": Colours("#f778ba", "#5e103e", "#ffdaec"),
            "removed": Colours("#8b949e", "#0d1117", "#8b949e"),
            "changed": Colours("#f0883e", "#5a1e02", "#ffdfb6"),
        },
    ),
}

_SLANTED = {"margin": '"0.04,0.03"'}
"""Graphviz leaves more room than it takes to put a text into slanted lines."""

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
"""The outline of each kind of task and stage; ends are rounded."""

ARROWS: Mapping[Verdict | None, str] = {Verdict.PASS: "pass", Verdict.FAIL: "fail", None: "both"}


def class_of(item: Box | Frame | Arrow) -> str:
    """The class of what is drawn."""
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
    """The theme as CSS for an SVG that Graphviz drew, whatever the theme that it was drawn in."""
    palette = PALETTES[theme]
    if has_marks:
        lines = {mark: colours.line for mark, colours in palette.marks.items()}
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
        for name, colours in members.items():
            outline = ", ".join(f".{kind}.{name} {shape}" for shape in ("polygon", "path", "ellipse", "polyline"))
            yield f"{outline} {{ fill: {colours.fill}; stroke: {colours.line}; }}"
            yield f".{kind}.{name} text {{ fill: {colours.text}; }}"
    for name, colour in palette.arrows.items():
        yield f".edge.{name} path {{ stroke: {colour}; }}"
        yield f".edge.{name} polygon {{ fill: {colour}; stroke: {colour}; }}"
        yield f".edge.{name} text {{ fill: {colour}; }}"
