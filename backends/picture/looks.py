"""The look of items, for every target that draws: kinds of boxes with their words, and colors on light and dark pages.

Color never carries meaning by itself: each kind of box has a shape, and each kind of arrow has a line, a sign or words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.picture import Box, Frame
from compiler.ir.tasks import End, Task

Theme = Literal["light", "dark"]

KINDS: Mapping[str, tuple[str, str]] = {
    "shell": ("command", "a command"),
    "context": ("command", "a command"),
    "inputs": ("check", "a check"),
    "guardrails": ("check", "a check"),
    "validation": ("check", "a check"),
    "outputs": ("check", "a check"),
    "execute": ("agent", "the executor works"),
    "agent": ("agent", "an AI agent works"),
    "parallel": ("agent", "an AI agent works"),
    "tool": ("tool", "a tool is used"),
    "ask": ("person", "a person decides"),
    "gate": ("person", "a person decides"),
    "branch": ("choice", "a choice"),
}
"""The kind of each task and stage, which decides its shape and color, and what a legend calls it."""


def look_of(task: Task) -> str:
    """Return the kind of a task or stage, or the result of an end."""
    return task.result if isinstance(task, End) else kind_and_words(task)[0]


def kind_and_words(task: Task) -> tuple[str, str]:
    """Return the kind of a task that isn't an end, and what a legend calls it."""
    return KINDS[task.stage if task.kind == "stage" else task.kind]


def class_of(item: Box | Frame | Arrow) -> str:
    """Return the class of an item."""
    match item:
        case Box(mark=mark) | Frame(mark=mark) | Arrow(mark=mark) if mark:
            return mark
        case Box(is_reached=False):
            return "unreachable"
        case Box(node=node):
            return look_of(node.task)
        case Frame(is_loop=is_loop):
            return "cycle" if is_loop else "frame"
        case Arrow(leads=leads):
            return leads


class Colors(Struct, frozen=True):
    """The colors of a class."""

    line: str
    fill: str
    text: str

    @property
    def css(self) -> str:
        """The colors as CSS of a Mermaid class."""
        return f"fill:{self.fill},stroke:{self.line},color:{self.text}"


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
        "start": gray,
        "command": gray,
        "person": blue,
        **dict.fromkeys(("check", "choice"), yellow),
        **dict.fromkeys(("agent", "tool"), purple),
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
        {"onward": "#57606a", "complete": "#1a7f37", "stop": "#cf222e", "back": "#6639ba", "data": "#656d76"},
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
        {"onward": "#8b949e", "complete": "#3fb950", "stop": "#f85149", "back": "#d2a8ff", "data": "#848d97"},
        {
            "added": Colors("#f778ba", "#5e103e", "#ffdaec"),
            "removed": Colors("#8b949e", "#0d1117", "#8b949e"),
            "changed": Colors("#f0883e", "#5a1e02", "#ffdfb6"),
        },
    ),
}
