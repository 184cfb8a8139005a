"""Places divided into jobs: at gates and matrices, which other jobs decide, and at changes of environment.

Each place comes after everything that leads to it. A job continues the run where the job before it left off.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from backends.scheduling.places import Place, find_places
from compiler.ir.edges import may_follow
from compiler.ir.graph import reached_from
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Ask, End, Gate, Parallel
from compiler.ir.visits import limits_of

BEGIN = ""
"""Stands for the step that starts a job, instead of a place's name."""


class Routes(Struct, frozen=True):
    """The possible paths from each place of a called program. The exits of a place have names.

    A step reports the name of the run's current node. Only the program knows counters and slots, so no condition
    compares strings from people or agents.

    `exits` has the nodes outside of each place where a run may be next. `start` has the nodes where it may start.
    `home` has the place of each node that a run doesn't just pass, and `limits` the branches that limit visits.
    """

    program: Program
    places: tuple[Place, ...]
    start: frozenset[str]
    exits: Mapping[str, frozenset[str]]
    home: Mapping[str, Place]
    nodes: Mapping[str, Node]
    limits: AbstractSet[str]

    def may_ask(self, node: Node) -> bool:
        """Return whether a node asks. A gate outside of loops is a job that waits for an approval instead."""
        return isinstance(node.task, Ask) or (isinstance(node.task, Gate) and self.home[node.id].kind == "loop")


def make_routes(program: Program) -> Routes:
    """Return the routes of a program."""
    index = program.index()
    found = find_places(program, repeats=False)
    places = tuple(place for place in found if place.kind == "loop" or not place.node.is_passed)
    exits = {}
    for place in places:
        own = {node.id for node in place.nodes}
        exits[place.name] = _settled(index, set().union(*map(_targets, place.nodes)) - own) - own
    home = {node.id: place for place in places for node in place.nodes}
    return Routes(program, places, _settled(index, [program.entry]), exits, home, index, limits_of(program).keys())


def _settled(index: Mapping[str, Node], names: Iterable[str]) -> frozenset[str]:
    found = reached_from(names, lambda name: _targets(index[name]) if index[name].is_passed else ())
    return frozenset(name for name in found if not index[name].is_passed)


def _targets(node: Node) -> set[str]:
    return {edge.target for edge in node.edges}


class Part(Struct, frozen=True):
    """The places of one job, in order.

    Separate jobs decide about some places after it: people about `questions`, agents about `matrices`. A non-empty
    `environment` overrides the options.
    """

    level: int
    places: tuple[Place, ...]
    questions: tuple[Place, ...]
    matrices: tuple[Place, ...]
    environment: str

    @property
    def apart(self) -> tuple[Place, ...]:
        """The places that separate jobs decide about."""
        return (*self.questions, *self.matrices)

    @property
    def own(self) -> tuple[Place, ...]:
        """The places that are steps of this job."""
        return tuple(place for place in self.places if place not in self.apart and place.kind != "end")


class Jobs:
    """Routes divided into jobs.

    `matrices` says whether parallel steps get separate jobs. `waits` says whether a run may wait for a reply: another
    run then continues it, and its first job passes the run on to the waiting job.
    `environments` are the environments of nodes.
    """

    def __init__(self, routes: Routes, *, waits: bool, matrices: bool, environments: Mapping[str, str]) -> None:
        self.routes = routes
        self._matrices = matrices
        self.environments = environments
        self._of_level: dict[int, str] = {}
        self._leading: dict[str, list[str]] = {}
        for place in routes.places:
            for name in routes.exits[place.name]:
                self._leading.setdefault(name, []).append(place.name)
        self.levels = self._find_levels()
        self.is_cut = any(map(self.is_apart, routes.places)) or max(self.levels.values()) > 0
        self._level_of = {name: self.levels[place.name] for name, place in routes.home.items()}
        self._resumed = {name for name in routes.home if waits and routes.may_ask(routes.nodes[name])}
        self._arrivals: list[AbstractSet[str]] = []
        self._onward: list[AbstractSet[str]] = []
        self._completing: list[bool] = []
        last = max(self.levels.values())
        for level in range(last + 1):
            self._follow(level)
        self.parts: Sequence[Part] = [self._part(level) for level in range(last + 1)]
        self._certain = {name for part in self.parts for name in self._unavoidable(part)}

    def is_gate(self, place: Place) -> bool:
        """Return whether people approve a place."""
        return place.kind == "step" and isinstance(place.node.task, Gate)

    def is_matrix(self, place: Place) -> bool:
        """Return whether a place's agents have separate jobs. In a loop they can't, because a job runs only once."""
        return self._matrices and place.kind == "step" and isinstance(place.node.task, Parallel)

    def is_apart(self, place: Place) -> bool:
        """Return whether a separate job decides about a place between two parts."""
        return self.is_gate(place) or self.is_matrix(place)

    def _find_levels(self) -> dict[str, int]:
        """Return the level of each place: after the places that lead to it, and in a job with its environment."""
        levels: dict[str, int] = {}
        for place in self.routes.places:
            before = {name for node in place.nodes for name in self._leading.get(node.id, ())}
            level = max((levels[name] + self.is_apart(self.routes.home[name]) for name in before), default=0)
            while place.kind != "end" and not self._takes(level, place):  # an end has no step
                level += 1
            levels[place.name] = level
        return levels

    def _takes(self, level: int, place: Place) -> bool:
        """Return whether a place can be at a level. After a separate place, the run continues in the next level."""
        wanted = {level: self._environment(place)}
        if self.is_apart(place):
            going_on = (name for name in self.routes.exits[place.name] if not self.routes.nodes[name].is_end)
            found = {self._environment(self.routes.home[name]) for name in going_on}
            wanted = {level: "", level + 1: found.pop() if len(found) == 1 else ""}
        if any(self._of_level.get(number, output) != output for number, output in wanted.items()):
            return False
        self._of_level |= wanted
        return True

    def _environment(self, place: Place) -> str:
        is_own = place.kind == "step" and not self.is_apart(place)
        return self.environments.get(place.name, "") if is_own else ""

    def _at(self, level: int) -> tuple[Place, ...]:
        return tuple(place for place in self.routes.places if self.levels[place.name] == level)

    def _part(self, level: int) -> Part:
        places = self._at(level)
        questions, matrices = filter(self.is_gate, places), filter(self.is_matrix, places)
        return Part(level, places, tuple(questions), tuple(matrices), self._of_level.get(level, ""))

    def sources(self, part: Part, place: Place) -> list[tuple[str, str]]:
        """Return the places that may lead to a place (or BEGIN), each with the node that they name.

        The list is empty if the place is reached whenever its part is.
        """
        if place.name in self._certain:
            return []
        found: list[tuple[str, str]] = []
        for name in (node.id for node in place.nodes):
            found += [(BEGIN, name)] if name in self._arrivals[part.level] else []
            before = (other for other in self._leading.get(name, ()) if self.levels[other] == part.level)
            found += [(other, name) for other in before if not self.is_apart(self.routes.home[other])]
        return found

    def handed(self, part: Part) -> list[tuple[Part, str]]:
        """Return the earlier parts that may pass the run to a part, each with the node where they leave it."""
        found = []
        for earlier in self.parts[: part.level]:
            entered = [name for name in self.routes.home if name in self._onward[earlier.level]]
            found += [(earlier, name) for name in entered if self._level_of[name] == part.level]
        return found

    def onward(self, part: Part) -> list[str]:
        """Return the nodes at which a job may leave the run for later jobs, or for a decision."""
        found = {*self._onward[part.level], *(place.name for place in part.apart)}
        return [name for name in self.routes.home if name in found]

    def survives(self, place: Place) -> bool:
        """Return whether a run may continue after a rejection."""
        targets = {edge.target for edge in place.node.edges if may_follow(edge, "rejected")}
        return any(not _is_stop(self.routes.nodes[name]) for name in _settled(self.routes.nodes, targets))

    def completing(self) -> list[Part]:
        """Return the parts in which a run may complete."""
        found = [part for part, is_completing in zip(self.parts, self._completing, strict=True) if is_completing]
        return found or list(self.parts)

    def before(self, part: Part) -> Part | None:
        """Return the part before another one, or None."""
        return self.parts[part.level - 1] if part.level else None

    def _follow(self, level: int) -> None:
        """Record where a run may be when the job of a level starts, and where it may leave the job."""
        handed = {name for found in self._onward for name in found if self._level_of[name] == level}
        apart = [place for place in self._at(level - 1) if self.is_apart(place)]
        decided = {name for place in apart for name in self.routes.exits[place.name]}
        arrivals = {*handed, *decided} if level else set(self.routes.start)
        here = [place for place in self._at(level) if not self.is_apart(place)]
        left = {*arrivals, *(name for place in here for name in self.routes.exits[place.name]), *self._resumed}
        self._arrivals.append(arrivals)
        nodes = self.routes.nodes
        self._onward.append({name for name in left if self._level_of[name] > level and not nodes[name].is_end})
        self._completing.append(any(nodes[name].is_end and not _is_stop(nodes[name]) for name in left))

    def _unavoidable(self, part: Part) -> Iterator[str]:
        """Yield the places of a part that are on every path."""
        # STOP fails the job, so it needs no test. A run that reaches a separate place leaves the job.
        nodes = self.routes.nodes
        ahead = _ahead_of(self._arrivals[part.level], nodes)
        for place in part.places:
            if place.kind != "end":
                others = ahead - {node.id for node in place.nodes}
                if not others:
                    yield place.name
                if not self.is_apart(place):
                    ahead = others | _ahead_of(self.routes.exits[place.name], nodes)


def _ahead_of(found: AbstractSet[str], nodes: Mapping[str, Node]) -> set[str]:
    return {name for name in found if not _is_stop(nodes[name])}


def _is_stop(node: Node) -> bool:
    task = node.task
    return isinstance(task, End) and not node.edges and task.result == "stop"
