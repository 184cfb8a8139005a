r"""A picture as a DOT graph. Quoted strings are the only path of a document's strings into it.

Only a quote ends a quoted DOT string, unless a backslash precedes it. In labels, tooltips and addresses, Graphviz also
replaces escapes (`\N` is the node's name, `\n` a line break) and entities (`&amp;`), so backslashes and ampersands are
escaped too. No label is in angle brackets, which would make it HTML.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct
from msgspec.structs import replace

from backends.common.remarks import printable
from backends.common.specification import shown
from backends.picture.arrows import Arrow, Mark
from backends.picture.captions import Lines
from backends.picture.looks import PALETTES, Colors, Theme, class_of, look_of
from backends.picture.model import UNREACHABLE, Box, Frame, Picture, outline
from backends.picture.naming import free, one_line
from backends.picture.sheet import source_link
from compiler.ir.program import Group, Node
from compiler.ir.tasks import End, Task, task_texts
from compiler.ir.texts import Text

START = "start of the run"
"""The name of the box where a run starts, unless a box has it."""

WIDTH_OF_ADDED = "3.5"
WIDTH_OF_CHANGED = "2.5"
"""The line widths of marked items."""

_FONT = '"Helvetica,Arial,sans-serif"'

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


class Graph(Struct, frozen=True, dict=True):
    """Writes a picture as DOT. With `link_base`, which ends with a slash, items link to their source lines.

    `notes` are lines below the title. If it `is_numbered`, boxes and arrows have ids: `box0` is the first box.
    """

    drawn: Picture
    title: str
    notes: Lines = ()
    theme: Theme = "light"
    link_base: str = ""
    is_numbered: bool = False

    def lines(self) -> Iterator[str]:
        """Yield all lines, from `digraph` to the last brace."""
        yield f"digraph {name(self.title)} {{"
        yield from self._defaults()
        start = free(START, self._order)
        names = {box.node.id: name(box.node.id) for box in self.drawn.boxes}
        colors = _colored(PALETTES[self.theme].boxes["start"])
        look = {"label": '"Start"', "class": "start", **SHAPES["start"], "height": "0.3", **colors}
        yield f"  {name(start)} {attributes(look)}"
        for depth, item in outline(self.drawn):
            indent = "  " * (depth + 1)
            if isinstance(item, Box):
                yield f"{indent}{names[item.node.id]} {self._box(item)}"
            elif isinstance(item, Frame):
                yield f"{indent}subgraph {name(f'cluster {item.id}')} {{"
                yield f"{indent}  graph {self._frame(item)}"
            else:
                yield f"{indent}}}"
        yield f"  {name(start)} -> {name(self.drawn.entry)} [weight=8]"
        for number, arrow in enumerate(self.drawn.arrows):
            yield f"  {names[arrow.source]} -> {names[arrow.target]} {self._arrow(arrow, number)}"
        yield "}"

    def _defaults(self) -> Iterator[str]:
        palette = PALETTES[self.theme]
        text = {"fontname": _FONT, "fontcolor": f'"{palette.page.text}"'}
        page = {"label": label([one_line(self.title), *self.notes]), "labelloc": "t", "fontsize": "18", **text}
        fill = f'"{palette.page.fill}"'
        space = {"bgcolor": fill, "pad": "0.3", "nodesep": "0.35", "ranksep": "0.4", "newrank": "true"}
        yield f"  graph {attributes({**page, **space})}"
        box = {"style": "filled", "fontname": _FONT, "fontsize": "12", "margin": '"0.16,0.09"'}
        yield f"  node {attributes(box)}"
        color = f'"{palette.arrows["onward"]}"'
        line = {"fontname": _FONT, "fontsize": "10", "penwidth": "1.4", "arrowsize": "0.7"}
        yield f"  edge {attributes({**line, 'class': 'onward', 'color': color, 'fontcolor': color})}"

    def _box(self, box: Box) -> str:
        name = class_of(box)
        style = {"class": name, **SHAPES[look_of(box.node.task)], **_border(box)}
        colors = _colored(PALETTES[self.theme].boxes[name])
        reference = self._reference(box.node, box.more, is_there=box.mark != "removed")
        number = self._id("box", self._order[box.node.id])
        return attributes({"label": label(box.lines), **style, **colors, **reference, **number})

    def _frame(self, frame: Frame) -> str:
        """Return all attributes of a frame, because a frame inherits missing ones from the frame around it."""
        found = {"label": label([frame.title]), "labeljust": "r", "fontsize": "12", "class": class_of(frame)}
        found |= {"style": '"rounded,filled,dashed"' if frame.is_loop else '"rounded,filled"'}
        width = WIDTH_OF_CHANGED if frame.mark else "2" if frame.is_loop else "1"
        found |= {"penwidth": width, **_colored(PALETTES[self.theme].frames[class_of(frame)])}
        loop = {"tooltip": label([frame.title]), "URL": '""'}
        return attributes(found | (self._reference(frame.group) if frame.group else loop))

    def _reference(self, shown: Node | Group, more: Lines = (), *, is_there: bool = True) -> dict[str, str]:
        """Return the place of an item in the source, with a link unless the item was removed."""
        if not shown.origin.path:  # a sample in the legend
            return {"tooltip": '"Legend"'}
        found = {"tooltip": label(tooltip(shown, more))}
        if self.link_base and is_there:
            found |= {"URL": label([source_link(self.link_base, shown.origin)]), "target": '"_blank"'}
        return found

    def _arrow(self, arrow: Arrow, number: int) -> str:
        color = f'"{PALETTES[self.theme].arrows[class_of(arrow)]}"'
        # The spaces keep the words away from the line.
        lines = arrow.lines
        found = {"label": label([f" {line} " for line in lines])} if lines else {}
        found |= {"class": class_of(arrow), "color": color, "fontcolor": color}
        found |= {"penwidth": WIDTH_OF_ADDED} if arrow.mark == "added" else {}
        found |= {"dir": "both", "arrowtail": "dot"} if arrow.passes else {}
        if arrow.mark == "removed" or arrow.leads == "stop":
            found["style"] = "dotted" if arrow.mark == "removed" else "dashed"
        elif self._first.get(arrow.source) is arrow:
            found["weight"] = "8"  # these arrows form the straight line of the picture
        return attributes(found | self._id("arrow", number))

    def _id(self, kind: str, number: int) -> dict[str, str]:
        return {"id": f"{kind}{number}"} if self.is_numbered else {}

    @cached_property
    def _order(self) -> dict[str, int]:
        return {box.node.id: number for number, box in enumerate(self.drawn.boxes)}

    @cached_property
    def _first(self) -> dict[str, Arrow]:
        """The first arrow of each box to a later step or to COMPLETE, unless the box is STOP."""
        found: dict[str, Arrow] = {}
        stops = {box.node.id for box in self.drawn.boxes if look_of(box.node.task) == "stop"}
        for arrow in sorted(self.drawn.arrows, key=lambda arrow: arrow.leads != "onward"):
            is_later = self._order[arrow.source] < self._order[arrow.target]
            if arrow.leads != "stop" and is_later and arrow.source not in stops:
                found.setdefault(arrow.source, arrow)
        return found


def _border(box: Box) -> dict[str, str]:
    is_end = isinstance(box.node.task, End)
    rounded = ",rounded" if is_end or look_of(box.node.task) == "agent" else ""
    if box.mark == "removed":
        return {"style": f'"filled{rounded},dotted"', "penwidth": "1.5"}
    if box.mark:
        width = WIDTH_OF_ADDED if box.mark == "added" else WIDTH_OF_CHANGED
        return {"style": f'"filled{rounded}"', "penwidth": width}
    if not box.is_reached:
        return {"style": f'"filled{rounded},dotted"'}
    if is_end and box.node.edges:
        return {"style": '"filled,rounded,dashed"'}
    if is_end:
        return {"style": '"filled,rounded"', "penwidth": "2.5"}
    return {}


def _colored(colors: Colors) -> dict[str, str]:
    return {"color": f'"{colors.line}"', "fillcolor": f'"{colors.fill}"', "fontcolor": f'"{colors.text}"'}


MOST_SHARED = 4  # the most arrows to an end with a message; an end without a message is not worth a long arrow


def spread_ends(drawn: Picture) -> Picture:
    """Return the picture without ends that too many arrows lead to."""
    arriving = Counter(arrow.target for arrow in drawn.arrows)
    crowded: dict[str, Box] = {}
    for box in drawn.boxes:
        task, count = box.node.task, arriving[box.node.id]
        if isinstance(task, End) and not box.node.edges and count > (MOST_SHARED if task.message else 1):
            crowded[box.node.id] = box
    crowded.pop(drawn.entry, None)
    sources = {box.node.id: box for box in drawn.boxes}
    copies: dict[str, dict[str, Box]] = {}
    arrows: list[Arrow] = []
    for arrow in drawn.arrows:
        if end := crowded.get(arrow.target):
            copy = _copy(end, sources[arrow.source], arrow.mark, sources)
            own = copies.setdefault(arrow.source, {})
            is_other = copy.node.id in own and own[copy.node.id].mark != copy.mark
            own[copy.node.id] = replace(copy, mark="") if is_other else copy
            arrows.append(replace(arrow, target=copy.node.id))
        else:
            arrows.append(arrow)
    boxes: list[Box] = []
    for box in drawn.boxes:
        if box.node.id not in crowded:
            boxes.append(box)
        if box.node.id in copies:
            boxes += copies[box.node.id].values()
    return replace(drawn, boxes=tuple(boxes), arrows=tuple(arrows))


def _copy(end: Box, source: Box, mark: Mark, taken: Container[str]) -> Box:
    """Return the copy of an end for one step. It is reachable only if the step is."""
    node = replace(end.node, id=free(f"{source.node.id} → {end.node.id}", taken))
    lost = (UNREACHABLE,) if end.is_reached and not source.is_reached else ()
    return replace(end, node=node, lines=end.lines + lost, is_reached=source.is_reached, mark=end.mark or mark)


TOOLTIP_LINES = 12  # the most lines of the task in a tooltip, below the place

TOOLTIP_WIDTH = 100  # in characters; longer lines are truncated


def tooltip(place: Node | Group, more: Lines = ()) -> Lines:
    """Return the tooltip of a node or group. `more` replaces the node's task."""
    texts = _texts(place.task) if isinstance(place, Node) else (place.prompt,)
    content = "\n".join(more or [shown(text) for text in texts if text.parts]).strip()
    origin = place.origin
    lines = [f"{origin.path}:{origin.span.line}", *(content.split("\n") if content else ())]
    if len(lines) > TOOLTIP_LINES + 1:
        lines[TOOLTIP_LINES:] = "…"
    # Most lines are short and visible. A call for each would be slow.
    return tuple([line.rstrip() if len(line) <= TOOLTIP_WIDTH and line.isprintable() else _cut(line) for line in lines])


def _texts(task: Task) -> tuple[Text, ...]:
    if task.kind == "shell":
        return (task.command,)
    return (task.prompt, task.block or Text()) if task.kind == "ask" else task_texts(task)


def _cut(line: str) -> str:
    """Return a line without invisible characters. Spaces at its start have a meaning in commands, so they stay."""
    shown = printable(line[: TOOLTIP_WIDTH + 1]).rstrip()
    return shown if len(shown) <= TOOLTIP_WIDTH else shown[: TOOLTIP_WIDTH - 1] + "…"


def name(text: str) -> str:
    """Return a string as the name of a node, cluster or graph. Graphviz takes it unchanged."""
    return f'"{_quoted(printable(text))}"'


def label(lines: Iterable[str]) -> str:
    """Return lines as a label or tooltip."""
    return '"' + _quoted("\n".join(map(printable, lines))).replace("&", "&amp;").replace("\n", "\\n") + '"'


def attributes(values: Mapping[str, str]) -> str:
    """Return attributes in brackets. Values are quoted strings, words or numbers."""
    return f"[{', '.join([f'{key}={value}' for key, value in values.items()])}]"


def _quoted(text: str) -> str:
    """Return a string for use in quotes. This is ten times as fast as `translate`."""
    return text.replace("\\", "\\\\").replace('"', '\\"')
