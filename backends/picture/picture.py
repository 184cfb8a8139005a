"""A program as a picture: boxes in frames, with arrows. The drawing targets only write it down.

The picture omits nodes that no step leads to, arrows that no run can take, and branches without a choice. Steps that no
run reaches are drawn and marked, because they are part of the document.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from backends.picture.arrows import Arrow, Mark, arrows
from backends.picture.captions import Lines, caption, kept_texts, notes
from backends.picture.loops import Placement, place
from backends.picture.naming import Naming, free
from backends.picture.stages import stage_tooltip
from backends.picture.streams import Stream, streams
from compiler.ir.edges import Add, CounterTest, Edge, OutcomeTest, output_names
from compiler.ir.program import Group, Node, Program, without_jumps
from compiler.ir.tasks import IDLE, UNREAD, Agent, Branch, End, Parallel
from compiler.ir.texts import Text
from compiler.passes.remove_impossible_edges import remove_impossible_edges
from compiler.passes.thread_jumps import thread_jumps

LOOP = "↻ loop"
UNREACHABLE = "unreachable"


class Box(Struct, frozen=True):
    """A node with its caption, in a frame ("" for none).

    `more` is the tooltip's text besides the node's task. `texts` are the caption lines with the slots that the node
    reads, writes and clears. `is_in_loop` is for loops without a frame.
    """

    node: Node
    lines: Lines
    frame: str
    is_reached: bool
    is_in_loop: bool
    texts: Lines = ()
    mark: Mark = ""
    more: Lines = ()


class Frame(Struct, frozen=True):
    """A step with children, a nested runbook, or a loop (without a `group`), in a frame ("" for none)."""

    id: str
    title: str
    parent: str
    is_loop: bool
    group: Group | None
    mark: Mark = ""


class Picture(Struct, frozen=True):
    """Boxes and frames in document order, the first box of a run, and notes on the whole program.

    `values` are the possible outputs of commands, which only a comparison shows. `streams` are the answers that flow
    between boxes.
    """

    entry: str
    boxes: tuple[Box, ...]
    frames: tuple[Frame, ...]
    arrows: tuple[Arrow, ...]
    notes: Lines = ()
    values: Lines = ()
    streams: tuple[Stream, ...] = ()


def picture(program: Program) -> Picture:
    """Return the picture of a program."""
    program = joined_attempts(program)
    names = Naming(program)
    program = _drawn(program)
    reached = _led_to(program, [program.entry])
    placement = place(program)
    return Picture(
        program.entry,
        tuple(_box(node, names, placement, node.id in reached) for node in program.nodes),
        tuple(_frames(program, names, placement)),
        tuple(arrows(program.nodes, names)),
        notes(program),
        tuple(f"value {name}" for name in output_names(edge for node in program.nodes for edge in node.edges)),
        tuple(streams(program)),
    )


def outline(drawn: Picture) -> Iterator[tuple[int, Box | Frame | None]]:
    """Yield nested boxes and frames with their depth; None at the end of a frame.

    There is no recursion, because documents can be nested without limit.
    """
    inside = _inside(drawn)
    pending: list[tuple[int, Box | Frame | None]] = [(0, item) for item in reversed(inside[""])]
    while pending:
        depth, item = pending.pop()
        yield depth, item
        if item is not None and not isinstance(item, Box):
            pending.append((depth, None))
            pending.extend((depth + 1, inner) for inner in reversed(inside[item.id]))


def _inside(drawn: Picture) -> Mapping[str, list[Box | Frame]]:
    """Return the content of each frame, in the order of the boxes."""
    frames = {frame.id: frame for frame in drawn.frames}
    inside: dict[str, list[Box | Frame]] = {"": []}
    for box in drawn.boxes:
        item: Box | Frame = box
        around = box.frame
        while around and around not in inside:
            inside[around] = [item]
            item, around = frames[around], frames[around].parent
        inside[around].append(item)
    return inside


def _drawn(program: Program) -> Program:
    """Return the program with only the nodes that are drawn."""
    program = joined_breakdowns(thread_jumps(remove_impossible_edges(without_jumps(program))))
    first = program.index()[program.entry]
    entry = first.edges[0].target if first.task.kind == "branch" and not first.edges[0].guard else first.id
    nodes = [node.id for node in program.nodes if type(node.task) not in IDLE]
    kept = _led_to(program, [entry, *nodes])
    return replace(program, entry=entry, nodes=tuple(node for node in program.nodes if node.id in kept))


def _led_to(program: Program, starts: Iterable[str]) -> set[str]:
    """Return the nodes that transitions lead to from one of the starts, including the starts."""
    index = program.index()
    pending = list(starts)
    found = set(pending)
    while pending:
        for edge in index[pending.pop()].edges:
            if edge.target not in found:
                found.add(edge.target)
                pending.append(edge.target)
    return found


def _box(node: Node, names: Naming, placement: Placement, is_reached: bool) -> Box:
    lines = caption(node, names)
    lines += (LOOP,) if node.id in placement.heads else ()
    lines += () if is_reached else (UNREACHABLE,)
    is_in_loop = node.id in placement.boxes
    texts = tuple(kept_texts(node, names)) if names.slots else ()
    more = tuple(stage_tooltip(node, names.contract)) if names.contract.steps else ()
    return Box(node, lines, placement.nodes[node.id], is_reached, is_in_loop, texts, more=more)


def _frames(program: Program, names: Naming, placement: Placement) -> Iterator[Frame]:
    for group in program.groups:
        is_loop = group.id in placement.groups
        title = names.frame(group) + f" · {LOOP}" * is_loop
        yield Frame(group.id, title, placement.parents[group.id], is_loop, group)
    for name, parent in placement.loops.items():
        yield Frame(name, LOOP, parent, is_loop=True, group=None)


_FAIL = OutcomeTest("fail")


def joined_attempts(program: Program) -> Program:
    """Return the program with a branch for each retried step, instead of a retry count in each stage."""
    ids = {node.id for node in program.nodes}
    branches: dict[tuple[Edge, ...], Node] = {}
    for node in program.nodes:
        failures = _failures(node)
        if failures and failures not in branches:
            name = free(f"{node.group}/again", ids)
            ids.add(name)
            branches[failures] = Node(name, node.title, node.origin, Branch(), failures, group=node.group)
    if not branches:
        return program
    nodes: list[Node] = []
    last = {key: max(index for index, node in enumerate(program.nodes) if _failures(node) == key) for key in branches}
    for index, node in enumerate(program.nodes):
        found = branches.get(_failures(node))
        nodes.append(node if found is None else _leading_to(node, found.id))
        nodes += [branch for key, branch in branches.items() if last[key] == index]
    return replace(program, nodes=tuple(nodes))


def _failures(node: Node) -> tuple[Edge, ...]:
    """Return the edges of a stage's failure that may retry the step, without their outcome test."""
    if node.task.kind != "stage":
        return ()
    failing = [edge for edge in node.edges if _FAIL in edge.guard]
    if not any(_counts(edge) for edge in failing):
        return ()
    return tuple(replace(edge, guard=tuple(test for test in edge.guard if test != _FAIL)) for edge in failing)


def _counts(edge: Edge) -> bool:
    added = {effect.register for effect in edge.effects if isinstance(effect, Add)}
    return any(isinstance(test, CounterTest) and test.register in added for test in edge.guard)


def _leading_to(node: Node, target: str) -> Node:
    kept: Sequence[Edge] = [edge for edge in node.edges if _FAIL not in edge.guard]
    return replace(node, edges=(*kept, Edge((_FAIL,), (), target)))


def joined_breakdowns(program: Program) -> Program:
    """Return the program with one end, without a message, for all broken answers of a step."""
    several = [found for node in program.nodes if len(found := _without_verdict(node)) > 1]
    if not several:  # true for most programs
        return program
    index = program.index()
    arriving = Counter(target for node in program.nodes for target in {edge.target for edge in node.edges})
    instead: dict[str, str] = {}
    for targets in several:
        ends = [name for name in targets if _is_own_stop(index[name], arriving)]
        if len(ends) > 1:
            instead |= dict.fromkeys(ends, ends[0])
    if not instead:
        return program
    kept = (node for node in program.nodes if instead.get(node.id, node.id) == node.id)
    return replace(program, nodes=tuple(_joined(node, instead) for node in kept))


def _without_verdict(node: Node) -> list[str]:
    """Return the destinations of answers without a verdict. The last edge may be for these and all others."""
    if type(node.task) not in (Agent, Parallel):
        return []
    edges = (edge for edge in node.edges if not edge.guard or _words(edge) <= set(UNREAD))
    return list(dict.fromkeys(edge.target for edge in edges))


def _words(edge: Edge) -> set[str]:
    """Return the words of an edge. An edge with other tests is for none of these words."""
    return {test.word if isinstance(test, OutcomeTest) else "" for test in edge.guard}


def _is_own_stop(node: Node, arriving: Counter[str]) -> bool:
    task = node.task
    return isinstance(task, End) and task.result == "stop" and not node.edges and arriving[node.id] == 1


def _joined(node: Node, instead: dict[str, str]) -> Node:
    edges = tuple(replace(edge, target=instead.get(edge.target, edge.target)) for edge in node.edges)
    if node.id in instead and isinstance(node.task, End):
        return replace(node, task=replace(node.task, message=Text()))
    return replace(node, edges=edges)
