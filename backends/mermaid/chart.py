r"""The flowchart of a program, and GitHub's size limits. Labels are the only path of a document's strings into it.

A label is in double quotes. Mermaid's lexer and preprocessor still interpret entity codes (`#35;`), directives (`%%{`)
and even statements (`direction LR`) in it. So anything that could start one of these becomes an entity code. This
includes the dollar of `${{ }}`, which GitHub would replace in a workflow.

When it draws, Mermaid decodes the codes and interprets the result again: formulas (`$$`), icons (`fa:fa-x`), line
breaks (`\n`) and, at least up to version 11.9, Markdown, which it replaces with `Unsupported markdown: link`. A space
of zero width breaks up anything that could start one of these. Colors never carry meaning by themselves.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import count

from backends.picture.arrows import Arrow, Leads, Mark
from backends.picture.captions import Lines
from backends.picture.looks import PALETTES, look_of
from backends.picture.model import Box, Frame, Picture, outline, picture
from backends.picture.sheet import source_link
from compiler.ir.edges import Origin
from compiler.ir.program import Program
from compiler.text.regex import Regex

MOST_CHARACTERS = 50_000
MOST_ARROWS = 500  # GitHub's limits, which are the defaults of Mermaid's `maxTextSize` and `maxEdges`

SHAPES = {
    "command": ("[", "]"),
    "check": ("[", "]"),
    "agent": ("(", ")"),
    "tool": ("[[", "]]"),
    "person": ("{{", "}}"),
    "choice": ("{", "}"),
    "complete": ("([", "])"),
    "stop": ("([", "])"),
}
"""The characters around the label of each kind of box."""

NOTES = "notes"
"""The id of the box with the notes."""

_ARROW = Regex(r"^ *\w+ (?:-->|-\.->|==>)", re.MULTILINE)


def is_too_big(text: str) -> bool:
    """Return whether a chart is too large for GitHub, which counts characters as JavaScript does."""
    return len(text.encode("utf-16-le")) // 2 > MOST_CHARACTERS or len(_ARROW.findall(text)) > MOST_ARROWS


def chart(program: Program, ids: Mapping[str, str]) -> str:
    """Return the flowchart of a program, from `flowchart TD` to the last style.

    Callers can add lines such as `class s1,s2 passed`. `ids` has the names of the nodes that these lines use: letters
    and digits, but not `end` or `start`.
    """
    drawn = picture(program)
    return "\n".join(Chart(drawn, ids, notes=drawn.notes).lines()) + "\n"


class Chart:
    """A picture with the Mermaid ids of its boxes and frames.

    `document` is the path of the main document. `notes` are the lines of a separate box.
    """

    def __init__(self, drawn: Picture, ids: Mapping[str, str], document: str = "", notes: Lines = ()) -> None:
        self.drawn = drawn
        self.document = document
        self.notes = notes
        taken = set(ids.values())
        boxes, frames = _numbered("n", taken), _numbered("f", taken)
        self.boxes = {box.node.id: ids.get(box.node.id) or next(boxes) for box in drawn.boxes}
        self.frames = {frame.id: next(frames) for frame in drawn.frames}

    def lines(self, link_base: str = "", *, source_lines: bool = False) -> Iterator[str]:
        """Yield all lines of the diagram.

        With `source_lines`, comments show the source line of each step. With `link_base`, which ends with a slash,
        boxes link to it, except for removed ones.
        """
        yield "flowchart TD"
        if self.notes:
            yield f"  {NOTES}[{label(self.notes)}]"
        yield '  start(["Start"])'
        yield from self._nested(source_lines)
        yield f"  start --> {self.boxes[self.drawn.entry]}"
        for arrow in self.drawn.arrows:
            lines = arrow.lines
            words = f"|{label(lines)}|" if lines else ""
            yield f"  {self.boxes[arrow.source]} {line_of(arrow)}{words} {self.boxes[arrow.target]}"
        for box in self.drawn.boxes if link_base else ():
            if box.mark != "removed" and box.node.origin.path:  # in the document, unlike samples of the legend
                place = label([f"{box.node.origin.path}:{box.node.origin.span.line}"])
                address = source_link(link_base, box.node.origin)
                yield f'  click {self.boxes[box.node.id]} href "{address}" {place} _blank'
        yield from (f"  {line}" for line in declarations(self._members()))
        yield from (f"  {line}" for line in links(self.drawn.arrows))

    def _nested(self, source_lines: bool) -> Iterator[str]:
        for depth, item in outline(self.drawn):
            indent = "  " * (depth + 1)
            if isinstance(item, Box):
                if source_lines and item.node.origin.path:
                    yield f"{indent}%% {'was ' if item.mark == 'removed' else ''}{self._place(item.node.origin)}"
                before, after = SHAPES[look_of(item.node.task)]
                yield f"{indent}{self.boxes[item.node.id]}{before}{label(item.lines)}{after}"
            elif isinstance(item, Frame):
                yield f"{indent}subgraph {self.frames[item.id]}[{label([item.title])}]"
                if not (item.group or item.is_loop):  # a legend is a column like the flow
                    yield f"{indent}  direction TB"
            else:
                yield f"{indent}end"

    def _place(self, origin: Origin) -> str:
        line = f"line {origin.span.line}"
        return line if origin.path == self.document else f"{escaped(origin.path)}, {line}"

    def _members(self) -> dict[str, list[str]]:
        members = {"frame": [NOTES]} if self.notes else {}
        for box in self.drawn.boxes:
            for name in of_box(box):
                members.setdefault(name, []).append(self.boxes[box.node.id])
        for frame in self.drawn.frames:
            kind = "cycle" if frame.is_loop else "frame"
            for name in (kind, "altered") if frame.mark else (kind,):
                members.setdefault(name, []).append(self.frames[frame.id])
        return members


def _numbered(letter: str, taken: Iterable[str]) -> Iterator[str]:
    return (name for number in count(1) if (name := f"{letter}{number}") not in taken)


CARRYING = "==>"
"""The line of an arrow that passes an answer on."""

COLORS: Mapping[Leads | Mark, str] = {
    "onward": "#848d97",
    "complete": "#2da44e",
    "stop": "#e5534b",
    "back": "#8957e5",
    "added": "#d63d95",
    "removed": "#848d97",
}

_BOXES = {
    **dict.fromkeys(("person", "tool", "check", "choice"), ""),
    "agent": ",rx:14px,ry:14px",
    **dict.fromkeys(("complete", "stop", "changed"), ",stroke-width:3px"),
    "unreachable": ",stroke-dasharray:2 4",
    "added": ",stroke-width:4px",
    "removed": ",stroke-width:2px,stroke-dasharray:2 4",
}
"""The lines around boxes with a color, and rounder corners than Mermaid draws."""

CLASSES = {
    **{name: PALETTES["light"].boxes[name].css + line for name, line in _BOXES.items()},
    "inner": "stroke-width:1px,stroke-dasharray:3 3",
    "frame": "fill:none,stroke:#848d97",
    "cycle": "fill:none,stroke:#848d97,stroke-width:2px,stroke-dasharray:7 4",
    "altered": "fill:none,stroke:#bc4c00,stroke-width:3px",
    "passed": "fill:#1a7f37,stroke:#1a7f37,color:#ffffff",
    "failed": "fill:#cf222e,stroke:#cf222e,color:#ffffff",
}
"""The classes. Later ones override earlier ones. `passed` and `failed` are for displays of a run."""

ALWAYS = ("passed", "failed")


def of_box(box: Box) -> Iterator[str]:
    """Yield the classes of a box."""
    if look_of(box.node.task) in CLASSES:
        yield look_of(box.node.task)
    if box.node.task.kind == "end" and box.node.edges:
        yield "inner"
    if not box.is_reached:
        yield "unreachable"
    if box.mark:
        yield box.mark


def line_of(arrow: Arrow) -> str:
    """Return the line of an arrow. A thick one passes an answer on."""
    if arrow.passes and arrow.mark != "removed":
        return CARRYING
    return "-.->" if arrow.mark == "removed" or arrow.leads == "stop" else "-->"


def declarations(members: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the lines that declare classes and assign their members."""
    for name, style in CLASSES.items():
        if name in members or name in ALWAYS:
            yield f"classDef {name} {style}"
    for name in CLASSES:
        if name in members:
            yield f"class {','.join(members[name])} {name}"


def links(arrows: Sequence[Arrow]) -> Iterator[str]:
    """Yield the lines that color arrows, by their numbers in Mermaid. Number 0 leads from the start."""
    numbers: dict[Leads | Mark, list[str]] = {"onward": ["0"]}
    for number, arrow in enumerate(arrows, 1):
        numbers.setdefault(arrow.mark or arrow.leads, []).append(str(number))
    for kind, members in numbers.items():
        yield f"linkStyle {','.join(members)} stroke:{COLORS[kind]},stroke-width:{4 if kind == 'added' else 2}px"


_LOOKALIKES = str.maketrans("`~", "'∼")
"""Replacements for two characters that Markdown interprets in pairs."""

_PARTED = Regex(
    r"""
      \$(?=\$) | ﬂ(?=°)                               # formulas; what Mermaid itself makes of entity codes
    | \\(?=\S) | :(?=\S)                              # \n, escapes; icons, addresses
    | @(?=\S) | www(?=\.) | \](?=\()                  # addresses, links
    | ^[-+*]+(?=\s) | ^\#+(?=\s) | ^[0-9]+[.)](?=\s)  # lists, headings
    """,
    re.VERBOSE,
)

_UNSAFE = Regex(r'["#$%&*;:<>@\[\\\]^`|~ﬂ¶\u200b]|(?<=direction)\s')
"""All characters with a meaning. Mermaid itself writes ﬂ and ¶ for the # and ; of an entity code."""


def escaped(text: str) -> str:
    """Return a string without line breaks for use in quotes, and in a comment."""
    if _is_plain(text):
        return text
    return _UNSAFE.sub(lambda found: f"#{ord(found[0])};", text)


def label(lines: Iterable[str]) -> str:
    """Return a label of several lines, with quotes."""

    def parted(line: str) -> str:
        return _PARTED.sub("\\g<0>\u200b", line.translate(_LOOKALIKES))

    return '"' + "<br/>".join([line if _is_plain(line) else escaped(parted(line)) for line in lines]) + '"'


def _is_plain(text: str) -> bool:
    """Return whether a string has only words and numbers, as most titles do, and needs no escapes."""
    return text.isascii() and text.replace(" ", "").isalnum() and "direction" not in text
