"""The look of items, for every target that draws: kinds of boxes with their words, and colors on light and dark pages.

Color never has a meaning of its own: each kind of box has a shape, and each kind of arrow has a line, a sign or words.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from backends.picture.arrows import Arrow
from backends.picture.captions import Lines
from backends.picture.model import Box, Frame, Picture
from backends.picture.naming import free
from compiler.ir.edges import Origin
from compiler.ir.program import Node
from compiler.ir.tasks import End, Task
from compiler.ir.texts import Text
from compiler.text.source import Span

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
    """The colors of a theme: for the page, and for boxes, frames and arrows by class."""

    page: Colors
    boxes: dict[str, Colors]
    frames: dict[str, Colors]
    arrows: dict[str, str]


def _palette(page: Colors, colors: Mapping[str, Colors]) -> Palette:
    """Return the palette of the named colors. A marked frame has the usual fill, because it contains boxes."""
    marks = {mark: colors[mark] for mark in ("added", "removed", "changed")}
    frames = {name: colors[name] for name in ("frame", "cycle")}
    ends = {name: colors[name] for name in ("complete", "stop")}
    boxes = {
        **dict.fromkeys(("start", "command"), colors["gray"]),
        "person": colors["blue"],
        **dict.fromkeys(("check", "choice"), colors["yellow"]),
        **dict.fromkeys(("agent", "tool"), colors["purple"]),
        "unreachable": colors["unreachable"],
    }
    arrows = {"onward": colors["gray"].line, "back": colors["cycle"].text}
    return Palette(
        page,
        boxes | ends | marks,
        frames | {name: replace(mark, fill=colors["frame"].fill) for name, mark in marks.items()},
        arrows | {name: color.line for name, color in (ends | marks).items()},
    )


PALETTES: Mapping[Theme, Palette] = {
    "light": _palette(
        Colors("#57606a", "#ffffff", "#1f2328"),
        {
            "gray": Colors("#57606a", "#ffffff", "#1f2328"),
            "blue": Colors("#0969da", "#ddf4ff", "#0a3069"),
            "yellow": Colors("#9a6700", "#fff8c5", "#3b2300"),
            "purple": Colors("#8250df", "#fbefff", "#3e1f79"),
            "complete": Colors("#1a7f37", "#dafbe1", "#0f3d1c"),
            "stop": Colors("#cf222e", "#ffebe9", "#5c1116"),
            "unreachable": Colors("#8c959f", "#d8dee4", "#424a53"),
            "frame": Colors("#afb8c1", "#f6f8fa", "#424a53"),
            "cycle": Colors("#8250df", "#f6f8fa", "#6639ba"),
            "added": Colors("#bf3989", "#ffe3f1", "#4d0336"),
            "removed": Colors("#656d76", "#ffffff", "#656d76"),
            "changed": Colors("#bc4c00", "#fff1e5", "#471700"),
        },
    ),
    "dark": _palette(
        Colors("#8b949e", "#0d1117", "#e6edf3"),
        {
            "gray": Colors("#8b949e", "#21262d", "#e6edf3"),
            "blue": Colors("#58a6ff", "#0c2d6b", "#cae8ff"),
            "yellow": Colors("#d29922", "#3d2e00", "#f8e3a1"),
            "purple": Colors("#a371f7", "#271052", "#e2c5ff"),
            "complete": Colors("#3fb950", "#0f3d1c", "#aff5b4"),
            "stop": Colors("#f85149", "#4c1014", "#ffdcd7"),
            "unreachable": Colors("#6e7681", "#30363d", "#b1bac4"),
            "frame": Colors("#484f58", "#161b22", "#b1bac4"),
            "cycle": Colors("#a371f7", "#161b22", "#d2a8ff"),
            "added": Colors("#f778ba", "#5e103e", "#ffdaec"),
            "removed": Colors("#8b949e", "#0d1117", "#8b949e"),
            "changed": Colors("#f0883e", "#5a1e02", "#ffdfb6"),
        },
    ),
}


NOWHERE = Origin("", Span(1, 1, 1, 1))
"""The place of a sample, which is in no document."""

_ENDS = {
    ("complete", True): "this part succeeded",
    ("stop", True): "this part ended early",
    ("complete", False): "the run succeeded",
    ("stop", False): "the run ended early",
}
"""The words for ends: their result, and whether they are those of a nested runbook, whose run continues."""


def with_legend(drawn: Picture) -> Picture:
    """Return the picture with its legend, whose arrows lead from sample to sample."""
    frame = Frame(free("legend", {frame.id for frame in drawn.frames}), "Legend", "", is_loop=False, group=None)
    taken = {box.node.id for box in drawn.boxes}
    steps = [_sample(box, free(f"legend {kind}", taken), (words,), frame) for kind, box, words in _steps(drawn)]
    ends = {
        kind: _sample(box, free(f"legend {_ENDS[kind]}", taken), (kind[0].upper(), _ENDS[kind]), frame)
        for kind, box in _ends(drawn).items()
    }
    names = [sample.node.id for sample in steps]
    arrows = _arrows(drawn, names, {kind: sample.node.id for kind, sample in ends.items()}) if names else ()
    return replace(
        drawn,
        boxes=(*drawn.boxes, *steps, *ends.values()),
        frames=(*drawn.frames, frame),
        arrows=(*drawn.arrows, *arrows),
    )


def _steps(drawn: Picture) -> Iterator[tuple[str, Box, str]]:
    """Yield a box of each kind of step, with the words for all boxes of this kind, in the order of `KINDS`."""
    boxes = [(box, *kind_and_words(box.node.task)) for box in drawn.boxes if not isinstance(box.node.task, End)]
    for kind in dict.fromkeys(kind for kind, _ in KINDS.values()):
        if found := [(box, words) for box, other, words in boxes if other == kind]:
            yield kind, found[0][0], " or ".join(dict.fromkeys(words for _, words in found))


def _ends(drawn: Picture) -> dict[tuple[str, bool], Box]:
    ends = [box for box in drawn.boxes if isinstance(box.node.task, End)]
    found = {(look_of(box.node.task), bool(box.node.edges)): box for box in reversed(ends)}
    return {kind: found[kind] for kind in _ENDS if kind in found}


def _sample(box: Box, name: str, lines: Lines, frame: Frame) -> Box:
    return Box(Node(name, Text(), NOWHERE, box.node.task, box.node.edges), lines, frame.id, is_reached=True)


def _arrows(drawn: Picture, steps: Sequence[str], ends: Mapping[tuple[str, bool], str]) -> Iterator[Arrow]:
    """Yield arrows of each kind in use. An end of a nested runbook is between the steps and the end of the run."""
    is_passed = any(arrow.passes for arrow in drawn.arrows)
    is_back = any(arrow.leads == "back" for arrow in drawn.arrows)
    for place, (source, target) in enumerate(pairwise(steps)):
        passes = is_passed and not place
        yield Arrow(source, target, (_PASSES,) if passes else (), passes=passes)
    if is_passed and len(steps) == 1:
        yield Arrow(steps[0], steps[0], (_PASSES,), "back" if is_back else "onward", passes=True)
    elif is_back:
        yield Arrow(steps[0], steps[0], ("again, or back",), "back")
    for (result, is_part), name in ends.items():
        source = steps[-1] if is_part else ends.get((result, True), steps[-1])
        yield Arrow(source, name, (), "complete" if result == "complete" else "stop")


_PASSES = "passes its answer on"


def stylesheet(theme: Theme) -> str:
    """Return the theme as CSS for an SVG that Graphviz drew in any theme."""
    palette = PALETTES[theme]
    rules = [f".graph > polygon {{ fill: {palette.page.fill}; }}", f".graph > text {{ fill: {palette.page.text}; }}"]
    for kind, members in (("node", palette.boxes), ("cluster", palette.frames)):
        for name, colors in members.items():
            outline = ", ".join(f".{kind}.{name} {shape}" for shape in ("polygon", "path", "ellipse", "polyline"))
            rules.append(f"{outline} {{ fill: {colors.fill}; stroke: {colors.line}; }}")
            rules.append(f".{kind}.{name} text {{ fill: {colors.text}; }}")
    for name, color in palette.arrows.items():
        rules.append(f".edge.{name} path {{ stroke: {color}; }}")
        rules.append(f".edge.{name} polygon {{ fill: {color}; stroke: {color}; }}")
        rules.append(f".edge.{name} text {{ fill: {color}; }}")
    return "\n".join(rules)
