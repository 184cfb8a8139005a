"""Warn about unreachable steps, steps without a path to an end, and transitions that never fire.

A command that is too long for a shell on any target is an error.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from compiler.analyses.exploration import explore
from compiler.diagnostics.model import Diagnostic
from compiler.ir.edges import Origin
from compiler.ir.graph import led_to, with_path_out
from compiler.ir.program import Node, Program, without_jumps
from compiler.ir.tasks import Branch, End, Shell
from compiler.text.source import Source, Span

Message = tuple[str, str]
"""The problem and the remedy."""


class Wording(Struct, frozen=True):
    """The warnings in the terms of a format; the first two have `{}` for a node's id."""

    unreachable: Message
    no_path_out: Message
    never_completes: Message
    never_fires: Message


def flow_warnings(
    program: Program, written: Iterable[Origin], sources: Mapping[str, Source], wording: Wording
) -> Iterator[Diagnostic]:
    """Yield the warnings for a program; `written` has every transition's place, `sources` are by name."""
    found = explore(without_jumps(program))
    if not found.is_complete:
        problem = (
            "this document has too many counters to analyze, so warnings about impossible transitions may be missing"
        )
        yield Diagnostic("RD411", sources[program.sources[0].path].path, None, problem, "use fewer counters in a step")
    program = replace(program, nodes=tuple(map(found.left, program.nodes))) if found.edges else program
    reached, leaving = led_to(program, [program.entry]), with_path_out(program)
    shown: set[tuple[str, Span]] = set()
    for node in program.nodes:
        if node.id in reached and node.id in leaving:
            continue
        warning = _node_warning(node, reached, wording)
        place = (node.origin.path, node.origin.span)
        if warning and place not in shown:
            shown.add(place)
            yield Diagnostic(warning[0], sources[node.origin.path].path, node.origin.span, *warning[1:])
    ends = (node.task for node in program.nodes if node.is_end and node.id in reached)
    if not any(isinstance(end, End) and end.result == "complete" for end in ends):
        entry = program.index()[program.entry].origin
        yield Diagnostic("RD403", sources[entry.path].path, entry.span, *wording.never_completes)
    for origin in _never_firing(program, reached, written):
        yield Diagnostic("RD404", sources[origin.path].path, origin.span, *wording.never_fires)


def _node_warning(node: Node, reached: Collection[str], wording: Wording) -> tuple[str, str, str] | None:
    if isinstance(node.task, Branch | End):
        return None
    if node.id not in reached:
        return "RD401", wording.unreachable[0].format(node.id), wording.unreachable[1]
    return "RD402", wording.no_path_out[0].format(node.id), wording.no_path_out[1]


def _never_firing(program: Program, reached: Collection[str], written: Iterable[Origin]) -> list[Origin]:
    """Return the transitions without a reachable edge, except in steps that are unreachable themselves."""
    fired = {origin for node in program.nodes if node.id in reached for edge in node.edges for origin in edge.origins}
    silent = [origin for origin in written if origin not in fired]
    if not silent:
        return []
    live_groups = {node.group for node in program.nodes if node.id in reached}
    unreached = {
        origin
        for node in program.nodes
        if node.id not in reached and not (isinstance(node.task, Branch) and node.group in live_groups)
        for edge in node.edges
        for origin in edge.origins
    }
    return [origin for origin in silent if origin not in unreached]


LONGEST = 127 * 1024
"""The longest command in bytes: Linux accepts 131,071 per argument, and some targets add a name."""

LONGEST_NUMBER = 20  # the most digits of an instance's number, which replaces a reference to it


def commands_too_long(program: Program, sources: Mapping[str, Source]) -> Iterator[Diagnostic]:
    """Report each step whose command is too long for a shell; `sources` are by name in the program."""
    found = {(node.origin.path, node.origin.span): node for node in program.nodes if _size(node) > LONGEST}
    for node in found.values():  # the steps of a document that is included twice appear twice
        problem = (
            f"the command of step {node.id} can reach {_size(node):,} bytes when it runs; the limit is {LONGEST:,}"
        )
        remedy = "move it into a script file of the repository, and call that file here"
        source = sources.get(node.origin.path)  # missing if the program's document is elsewhere
        yield Diagnostic("RD407", source.path if source else node.origin.path, node.origin.span, problem, remedy)


def _size(node: Node) -> int:
    """Return a command's bytes, with the longest numbers for references to counters."""
    if not isinstance(node.task, Shell):
        return 0
    parts = node.task.command.parts
    return sum(len(part.encode()) if isinstance(part, str) else LONGEST_NUMBER for part in parts)
