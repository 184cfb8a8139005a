"""A program as a picture: boxes in frames, with arrows. The drawing targets only write it down.

The picture omits nodes that no step leads to, arrows that no run can take, and branches without a choice. Steps that no
run reaches are drawn and marked, because they are part of the document.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from backends.picture.arrows import BACK, Arrow, Directions, Leads, Mark, arrows
from backends.picture.captions import Lines, caption, kept_texts, notes, stage_tooltip
from backends.picture.naming import Naming, free
from compiler.ir.edges import Add, CounterTest, Edge, OutcomeTest, output_names
from compiler.ir.graph import led_to, loop_regions, to_graph
from compiler.ir.program import Group, Node, Program, without_jumps
from compiler.ir.tasks import IDLE, UNREAD, Agent, Branch, End, Parallel
from compiler.ir.texts import Text
from compiler.passes import run_passes

Loops = Sequence[Collection[str]]
"""The ids of the nodes in each loop."""


class Placement(Struct):
    """The frame of each node and group ("" for none), and how loops are shown.

    `loops` are the added frames, each with the frame around it. `groups` are groups that are loops as a whole. A loop
    with only a part of a group has no frame.
    """

    nodes: dict[str, str]
    parents: dict[str, str]
    loops: dict[str, str] = field(default_factory=dict)
    groups: set[str] = field(default_factory=set)


def place(program: Program, loops: Loops) -> Placement:
    """Return the placement of all nodes and groups. A box with an arrow to itself needs no loop frame."""
    parents = program.parents
    placement = Placement({node.id: node.group for node in program.nodes}, dict(parents))
    total = _contents(program.nodes, parents)
    order = {node.id: index for index, node in enumerate(program.nodes)}
    for region in loops:
        if len(region) > 1:
            members = [program.nodes[index] for index in sorted(order[name] for name in region)]
            _place(placement, members, parents, total)
    return placement


def _place(placement: Placement, members: list[Node], parents: Mapping[str, str], total: Mapping[str, int]) -> None:
    within = _contents(members, parents)
    around = members[0].group
    while within[around] < len(members):
        around = parents[around]
    inner = [group for group in within if group and parents[group] == around]
    if any(within[group] < total[group] for group in inner):
        return
    if around and total[around] == len(members):
        placement.groups.add(around)
    else:
        frame = free(f"loop of {members[0].id}", placement.parents)
        placement.loops[frame] = around
        placement.parents.update(dict.fromkeys(inner, frame))
        placement.nodes.update((node.id, frame) for node in members if node.group == around)


def _contents(nodes: Collection[Node], parents: Mapping[str, str]) -> dict[str, int]:
    """Return how many of the nodes each group contains, at any depth; "" contains all."""
    counts = {"": len(nodes)}
    for inner, number in Counter(node.group for node in nodes).items():
        group = inner
        while group:
            counts[group] = counts.get(group, 0) + number
            group = parents[group]
    return counts


LOOP = f"{BACK} loop"
UNREACHABLE = "never reached"


class Box(Struct, frozen=True):
    """A node with its caption, in a frame ("" for none).

    `more` is the tooltip's text besides the node's task. `texts` are the caption lines with the slots that the node
    reads, writes and clears.
    """

    node: Node
    lines: Lines
    frame: str
    is_reached: bool
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

    `values` are the possible outputs of commands, which only a comparison shows.
    """

    entry: str
    boxes: tuple[Box, ...]
    frames: tuple[Frame, ...]
    arrows: tuple[Arrow, ...]
    notes: Lines = ()
    values: Lines = ()


def picture(program: Program, *, folds: bool = False) -> Picture:
    """Return the picture of a program. With `folds`, a step of a specification is one box, besides its gates."""
    folds = folds and program.stepspec is not None
    program = program if folds else joined_attempts(program)
    names = Naming(program, is_folded=folds)
    program = _drawn(folded_steps(program) if folds else program)
    reached = led_to(program, [program.entry])
    loops = list(loop_regions(to_graph(program)))
    placement = place(program, loops)
    if folds:
        program, placement.nodes = replace(program, groups=()), dict.fromkeys(placement.nodes, "")
    return Picture(
        program.entry,
        tuple(_box(node, names, placement, node.id in reached) for node in program.nodes),
        tuple(_frames(program, names, placement)),
        tuple(arrows(program.nodes, names, _directions(program, loops))),
        notes(program),
        tuple(f"value {name}" for name in output_names(edge for node in program.nodes for edge in node.edges)),
    )


def _directions(program: Program, loops: Loops) -> Directions:
    """Return where transitions lead. One that leads back has an earlier or the same node of its loop as its target."""
    ends = {node.id: node.task.result for node in program.nodes if isinstance(node.task, End)}
    order = {node.id: number for number, node in enumerate(program.nodes)}
    loop_of = {name: number for number, region in enumerate(loops) for name in region}

    def leads(source: str, target: str) -> Leads:
        if target in ends:
            return ends[target]
        is_inside = source in loop_of and loop_of[source] == loop_of.get(target)
        return "back" if source == target or (is_inside and order[target] < order[source]) else "onward"

    return leads


DEEPEST = 11
"""The largest depth of an outline. Frames can be nested without limit, but a file should not get too wide."""


def outline(drawn: Picture) -> Iterator[tuple[int, Box | Frame | None]]:
    """Yield nested boxes and frames with their depth, and None at the end of a frame. It doesn't recurse."""
    inside = _inside(drawn)
    pending: list[tuple[int, Box | Frame | None]] = [(0, item) for item in reversed(inside[""])]
    while pending:
        depth, item = pending.pop()
        yield min(depth, DEEPEST), item
        if item is not None and not isinstance(item, Box):
            pending.append((depth, None))
            pending.extend((depth + 1, inner) for inner in reversed(inside[item.id]))


def _inside(drawn: Picture) -> Mapping[str, list[Box | Frame]]:
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
    program = joined_breakdowns(run_passes(without_jumps(program), "remove-impossible-edges", "thread-jumps"))
    first = program.index()[program.entry]
    entry = first.edges[0].target if first.task.kind == "branch" and not first.edges[0].guard else first.id
    stored = led_to(program, [entry, *[node.id for node in program.nodes if type(node.task) not in IDLE]])
    return replace(program, entry=entry, nodes=tuple(node for node in program.nodes if node.id in stored))


def _box(node: Node, names: Naming, placement: Placement, is_reached: bool) -> Box:
    texts = tuple(kept_texts(node, names))
    lines = caption(node, names) + (() if is_reached else (UNREACHABLE,))
    more = tuple(stage_tooltip(node, names.stepspec)) if names.stepspec.steps else ()
    return Box(node, lines, placement.nodes[node.id], is_reached, texts, more=more)


def _frames(program: Program, names: Naming, placement: Placement) -> Iterator[Frame]:
    for group in program.groups:
        is_loop = group.id in placement.groups
        yield Frame(group.id, names.frame(group) + f" · {LOOP}" * is_loop, placement.parents[group.id], is_loop, group)
    for name, parent in placement.loops.items():
        yield Frame(name, LOOP, parent, is_loop=True, group=None)


# --- Nodes that are shown as one: attempts at a step of a specification (I32), its stages, broken answers -------------

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
        if found is not None:
            stored = (edge for edge in node.edges if _FAIL not in edge.guard)
            node = replace(node, edges=(*stored, Edge((_FAIL,), (), found.id)))  # noqa: PLW2901 (a changed copy)
        nodes.append(node)
        nodes += [branch for key, branch in branches.items() if last[key] == index]
    return replace(program, nodes=tuple(nodes))


def _failures(node: Node) -> tuple[Edge, ...]:
    if node.task.kind != "stage":
        return ()
    failing = [edge for edge in node.edges if _FAIL in edge.guard]
    if not any(_counts(edge) for edge in failing):
        return ()
    return tuple(replace(edge, guard=tuple(test for test in edge.guard if test != _FAIL)) for edge in failing)


def _counts(edge: Edge) -> bool:
    added = {effect.register for effect in edge.effects if isinstance(effect, Add)}
    return any(isinstance(test, CounterTest) and test.register in added for test in edge.guard)


def folded_steps(program: Program) -> Program:
    """Return the program with one node, without a frame, for all stages of a step of a specification."""
    stages: dict[str, list[Node]] = {}
    for node in program.nodes:
        if node.task.kind == "stage":
            stages.setdefault(node.group, []).append(node)
    home = {node.id: name for name, found in stages.items() for node in found}
    nodes = []
    for node in program.nodes:
        if node.id not in home:
            nodes.append(_joined(node, home))
        elif node.id == home[node.id]:  # the work itself; every step has it
            nodes.append(_folded(node, stages[node.group], home))
    return replace(program, entry=home.get(program.entry, program.entry), nodes=tuple(nodes))


def _folded(node: Node, stages: list[Node], home: Mapping[str, str]) -> Node:
    edges = (edge for stage in stages for edge in stage.edges)
    leaving = (edge for edge in edges if home.get(edge.target) != node.id or _counts(edge))
    found = dict.fromkeys(replace(edge, target=home.get(edge.target, edge.target)) for edge in leaving)
    # Success comes first, then retries, other failures, and the transition for all other outcomes.
    order = sorted(found, key=lambda edge: (not edge.guard, _FAIL in edge.guard, not _counts(edge)))
    return replace(node, edges=tuple(order))


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
    stored = (node for node in program.nodes if instead.get(node.id, node.id) == node.id)
    return replace(program, nodes=tuple(_joined(node, instead) for node in stored))


def _without_verdict(node: Node) -> list[str]:
    """Return the destinations of answers without a verdict. The last edge may be for these and all others."""
    if type(node.task) not in (Agent, Parallel):
        return []
    known = [{test.word if isinstance(test, OutcomeTest) else "" for test in edge.guard} for edge in node.edges]
    edges = (edge for edge, words in zip(node.edges, known, strict=True) if words <= set(UNREAD))
    return list(dict.fromkeys(edge.target for edge in edges))


def _is_own_stop(node: Node, arriving: Counter[str]) -> bool:
    task = node.task
    return isinstance(task, End) and task.result == "stop" and not node.edges and arriving[node.id] == 1


def _joined(node: Node, instead: dict[str, str]) -> Node:
    edges = tuple(replace(edge, target=instead.get(edge.target, edge.target)) for edge in node.edges)
    if node.id in instead and isinstance(node.task, End):
        return replace(node, task=replace(node.task, message=Text()))
    return replace(node, edges=edges)
