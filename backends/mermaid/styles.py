"""How things look: colors that can be read on a light and on a dark page, and never alone in what they say.

Steps have the colors of the page's theme. Each class that fills a box gives the color of its text too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backends.picture.arrows import Arrow, Mark
from backends.picture.picture import Box, Frame
from compiler.ir.tasks import Verdict

ARROWS: Mapping[Verdict | None, str] = {Verdict.PASS: "-->", Verdict.FAIL: "-.->", None: "-->"}

CARRYING = "==>"
"""The line of an arrow that carries an answer along."""

DATA = "-.->"
"""The line of what flows between boxes."""

FAINT = "stroke:#848d97,stroke-width:1px,stroke-dasharray:1 4"
"""How it looks."""

COLORS: Mapping[Verdict | Mark | None, str] = {
    Verdict.PASS: "#2da44e",
    Verdict.FAIL: "#e5534b",
    None: "#848d97",
    "added": "#d63d95",
    "removed": "#848d97",
}

WIDTHS: Mapping[Verdict | Mark | None, int] = {"added": 4}
"""Of arrows in pixels, where it is not 2."""

CLASSES = {
    "start": "fill:#848d97,stroke:#848d97,color:#848d97",
    "complete": "fill:#dafbe1,stroke:#1a7f37,color:#0f3d1c,stroke-width:3px",
    "stop": "fill:#ffebe9,stroke:#cf222e,color:#5c1116,stroke-width:3px",
    "inner": "stroke-width:1px,stroke-dasharray:3 3",
    "loop": "stroke-width:2px,stroke-dasharray:7 4",
    "unreachable": "fill:#d8dee4,stroke:#6e7781,color:#424a53,stroke-dasharray:2 4",
    "added": "fill:#ffe3f1,stroke:#bf3989,color:#4d0336,stroke-width:4px",
    "removed": "fill:#ffffff,stroke:#6e7781,color:#57606a,stroke-width:2px,stroke-dasharray:2 4",
    "changed": "fill:#fff1e5,stroke:#bc4c00,color:#471700,stroke-width:3px",
    "frame": "fill:none,stroke:#848d97",
    "cycle": "fill:none,stroke:#848d97,stroke-width:2px,stroke-dasharray:7 4",
    "altered": "fill:none,stroke:#bc4c00,stroke-width:3px",
    "passed": "fill:#1a7f37,stroke:#1a7f37,color:#ffffff",
    "failed": "fill:#cf222e,stroke:#cf222e,color:#ffffff",
}
"""The classes in the order in which they win over each other. `passed` and `failed` are for whoever shows a run."""

ALWAYS = ("start", "passed", "failed")


def of_box(box: Box) -> Iterator[str]:
    """The classes of a box."""
    task = box.node.task
    if task.kind == "end":
        yield task.result
        if box.node.edges:
            yield "inner"
    if box.is_in_loop:
        yield "loop"
    if not box.is_reached:
        yield "unreachable"
    if box.mark:
        yield box.mark


def line_of(arrow: Arrow) -> str:
    """The line of an arrow; a thick one carries an answer along."""
    if arrow.carries and arrow.mark != "removed":
        return CARRYING
    return ARROWS[Verdict.FAIL] if arrow.mark == "removed" else ARROWS[arrow.verdict]


def of_frame(frame: Frame) -> Iterator[str]:
    """The classes of a frame."""
    yield "cycle" if frame.is_loop else "frame"
    if frame.mark:
        yield "altered"


def declarations(members: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """The lines that declare classes and give them to their members."""
    for name, style in CLASSES.items():
        if name in members or name in ALWAYS:
            yield f"classDef {name} {style}"
    for name in CLASSES:
        if name in members:
            yield f"class {','.join(members[name])} {name}"


def links(arrows: Sequence[Arrow], streams: int) -> Iterator[str]:
    """The lines that color arrows, which Mermaid knows by their numbers; number 0 leads from the start.

    Behind the arrows stand so many lines of what flows between boxes.
    """
    numbers: dict[Verdict | Mark | None, list[str]] = {None: ["0"]}
    for number, arrow in enumerate(arrows, 1):
        numbers.setdefault(arrow.mark or arrow.verdict, []).append(str(number))
    for kind, members in numbers.items():
        yield f"linkStyle {','.join(members)} stroke:{COLORS[kind]},stroke-width:{WIDTHS.get(kind, 2)}px"
    if streams:
        members = [str(number) for number in range(len(arrows) + 1, len(arrows) + 1 + streams)]
        yield f"linkStyle {','.join(members)} {FAINT}"
