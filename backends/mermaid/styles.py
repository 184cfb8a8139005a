"""The look of items: colors that work on light and dark pages, and never carry meaning by themselves.

Steps have the colors of the page's theme. Each class that fills a box also sets its text color.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from backends.picture.arrows import Arrow, Mark
from backends.picture.picture import Box, Frame
from compiler.ir.tasks import Verdict

ARROWS: Mapping[Verdict | None, str] = {Verdict.PASS: "-->", Verdict.FAIL: "-.->", None: "-->"}

CARRYING = "==>"
"""The line of an arrow that passes an answer on."""

DATA = "-.->"
"""The line of data that flows between boxes."""

FAINT = "stroke:#848d97,stroke-width:1px,stroke-dasharray:1 4"
"""The style of that line."""

COLORS: Mapping[Verdict | Mark | None, str] = {
    Verdict.PASS: "#2da44e",
    Verdict.FAIL: "#e5534b",
    None: "#848d97",
    "added": "#d63d95",
    "removed": "#848d97",
}

WIDTHS: Mapping[Verdict | Mark | None, int] = {"added": 4}
"""Widths of arrows in pixels, if not 2."""

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
"""The classes. Later ones override earlier ones. `passed` and `failed` are for displays of a run."""

ALWAYS = ("start", "passed", "failed")


def of_box(box: Box) -> Iterator[str]:
    """Yield the classes of a box."""
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
    """Return the line of an arrow. A thick one passes an answer on."""
    if arrow.carries and arrow.mark != "removed":
        return CARRYING
    return ARROWS[Verdict.FAIL] if arrow.mark == "removed" else ARROWS[arrow.verdict]


def of_frame(frame: Frame) -> Iterator[str]:
    """Yield the classes of a frame."""
    yield "cycle" if frame.is_loop else "frame"
    if frame.mark:
        yield "altered"


def declarations(members: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the lines that declare classes and assign their members."""
    for name, style in CLASSES.items():
        if name in members or name in ALWAYS:
            yield f"classDef {name} {style}"
    for name in CLASSES:
        if name in members:
            yield f"class {','.join(members[name])} {name}"


def links(arrows: Sequence[Arrow], streams: int) -> Iterator[str]:
    """Yield the lines that color arrows, by their numbers in Mermaid. Number 0 leads from the start.

    `streams` is the number of data lines after the arrows.
    """
    numbers: dict[Verdict | Mark | None, list[str]] = {None: ["0"]}
    for number, arrow in enumerate(arrows, 1):
        numbers.setdefault(arrow.mark or arrow.verdict, []).append(str(number))
    for kind, members in numbers.items():
        yield f"linkStyle {','.join(members)} stroke:{COLORS[kind]},stroke-width:{WIDTHS.get(kind, 2)}px"
    if streams:
        members = [str(number) for number in range(len(arrows) + 1, len(arrows) + 1 + streams)]
        yield f"linkStyle {','.join(members)} {FAINT}"
