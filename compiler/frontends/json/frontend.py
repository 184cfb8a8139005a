"""The front end for programs as JSON. See `compiler/frontends/common/interface.py`."""

import posixpath
from collections.abc import Iterable

from msgspec.structs import replace

from compiler.analyses.warnings import Wording, flow_warnings
from compiler.diagnostics.model import DataPath
from compiler.frontends.common.interface import Formatted, Job, Result
from compiler.frontends.common.names import safe_name
from compiler.frontends.json import FORMAT
from compiler.frontends.json.check import check
from compiler.frontends.json.lower import Reader
from compiler.frontends.json.parse import parse
from compiler.frontends.json.syntax import Positions, key_path
from compiler.ir.edges import Edge, Origin
from compiler.ir.program import Program, SourceFile
from compiler.project.options import Options
from compiler.text.regex import Regex
from compiler.text.source import Source

WORDING = Wording(
    unreachable=("node {} is unreachable", "add an edge that leads to it, or remove it"),
    no_path_out=("a run that reaches node {} can never end", "add a path from it to an `end` node"),
    never_completes=(
        "no run of this program can complete",
        'add an edge that leads to an `end` node with "result": "complete"',
    ),
    never_fires=(
        "this edge is never taken: an earlier edge always matches, or no counter reaches this value",
        "remove it, or change its guard or an earlier one",
    ),
)


__all__ = ["compile_document", "format_document", "recognizes"]

_KEYS = tuple(Regex(rf'"{name}"[ \t\r\n]*:') for name in ("entry", "nodes"))


def recognizes(source: Source) -> bool:
    """Return whether a source looks like a JSON object with an entry and nodes. It isn't parsed."""
    return source.text.lstrip().startswith("{") and all(key.search(source.text) for key in _KEYS)


def compile_document(job: Job) -> Result:
    """Read, check and verify a program."""
    read = _Read(job.source)
    sources = {job.source.name: job.source}
    if read.program is None:
        return Result(None, tuple(read.found), sources, Options())
    placed = read.placed(read.program)
    written = dict.fromkeys(origin for node in placed.nodes for edge in node.edges for origin in edge.origins)
    return Result(read.program, tuple(flow_warnings(placed, written, sources, WORDING)), sources, Options())


def format_document(job: Job) -> Formatted:
    """Return the source unchanged: every editor formats JSON."""
    read = _Read(job.source)
    return Formatted(None, tuple(read.found)) if read.found else Formatted(job.source.text)


class _Read:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.program: Program | None = None
        self._places = Positions(source)
        value, self._layout, self.found = parse(source, self._places)
        if self.found:
            return
        reader = Reader(self._origin)
        name = safe_name(posixpath.basename(source.name).removesuffix(".json").removesuffix(".program"), FORMAT.noun)
        program = reader.program(value, {"name": name, "title": name, "sources": []})
        if program:  # this file is its first source
            own = SourceFile(self.source.name, self.source.sha256)
            others = (listed for listed in program.sources if listed.path != own.path)
            program = replace(program, name=safe_name(program.name, FORMAT.noun), sources=(own, *others))
        wrong = reader.issues if program is None else check(program)
        self.found += self._places.diagnostics(wrong)
        if not wrong:
            self.program = program

    def _origin(self, path: DataPath) -> Origin:
        places, at = self._layout.values, key_path(path)
        return Origin(self.source.name, places.get((*at, "id")) or places.get(at) or self._places.at(0))

    def placed(self, program: Program) -> Program:
        """Return the program with positions in this file, for warnings about it."""
        moved: dict[Origin, Origin] = {}
        places = ((node, ("nodes", number)) for number, node in enumerate(program.nodes))
        nodes = (
            replace(node, origin=self._origin(at), edges=self._placed(node.edges, at, moved)) for node, at in places
        )
        return replace(program, nodes=tuple(nodes))

    def _placed(self, edges: Iterable[Edge], path: DataPath, moved: dict[Origin, Origin]) -> tuple[Edge, ...]:
        """Move origins into this file. An origin that several edges share moves to the first of them."""
        placed: list[Edge] = []
        for number, edge in enumerate(edges):
            here = self._origin((*path, "edges", number))
            placed.append(replace(edge, origins=tuple(moved.setdefault(origin, here) for origin in edge.origins)))
        return tuple(placed)
