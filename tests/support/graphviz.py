"""The real Graphviz, in this process, and what can be seen in an SVG that it drew."""

from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree as ET

from pygraphviz import AGraph

from backends.dot.graph import spread_ends
from backends.picture.looks import with_legend
from backends.picture.model import Picture, picture
from backends.registry import load
from compiler.ir.program import Program

SVG = "{http://www.w3.org/2000/svg}"
XLINK = "{http://www.w3.org/1999/xlink}"


class SeenItem(NamedTuple):
    """A box, a frame or an arrow in an SVG."""

    name: str
    label: str
    classes: list[str]
    tooltip: str
    link: str
    shapes: list[ET.Element]


class Seen(NamedTuple):
    """What is in an SVG."""

    boxes: list[SeenItem]
    arrows: list[SeenItem]
    frames: list[SeenItem]


def words(text: str) -> str:
    """A text as people read it, with all spaces the same."""
    return " ".join(text.split())


def drawn(graph: str) -> Seen:
    """What Graphviz draws of a graph that it must not refuse."""
    svg: bytes = AGraph(string=graph).draw(format="svg", prog="dot")
    return seen(svg)


def seen(svg: bytes) -> Seen:
    """What is in an SVG."""
    root = ET.fromstring(svg)
    return Seen(*(list(_items(root, kind)) for kind in ("node", "edge", "cluster")))


def emitted(shown: Program, **options: object) -> str:
    """Return the file of the target for a program."""
    text = load("dot").emit(shown, {name.replace("_", "-"): value for name, value in options.items()}).text
    assert text
    return text


def complete(shown: Program) -> Picture:
    """The whole picture of a program, with its legend."""
    return with_legend(spread_ends(picture(shown)))


def assert_same(found: Seen, shown: Picture) -> None:
    """What Graphviz draws is the picture: so many boxes, frames and arrows, with these labels, and nothing else."""
    assert sorted(box.label for box in found.boxes) == sorted(
        ["Start", *(words(" ".join(box.lines)) for box in shown.boxes)]
    )
    assert sorted(frame.label for frame in found.frames) == sorted(words(frame.title) for frame in shown.frames)
    labels = (words(" ".join(arrow.lines)) for arrow in shown.arrows)
    assert sorted(arrow.label for arrow in found.arrows) == sorted(["", *labels])


def _items(root: ET.Element, kind: str) -> Iterator[SeenItem]:
    for group in root.iter(f"{SVG}g"):
        classes = group.get("class", "").split()
        if kind in classes:
            link = next(group.iter(f"{SVG}a"), ET.Element("a"))
            yield SeenItem(
                group.findtext(f"{SVG}title") or "",
                words(" ".join(text.text or "" for text in group.iter(f"{SVG}text"))),
                [name for name in classes if name != kind],
                link.get(f"{XLINK}title", ""),
                link.get(f"{XLINK}href", ""),
                [part for part in group.iter() if part.tag in {f"{SVG}{shape}" for shape in ("polygon", "path")}],
            )
