"""Read the limits of steps in all formats: how often a run visits a step, and how long it waits for a person there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSources
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.ir.program import Node, Program
from compiler.ir.tasks import IDLE, Ask, Gate
from compiler.ir.visits import VisitLimit, most_visits, with_visit_limits
from compiler.text.durations import duration_remedy, read_duration
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, nearest
from compiler.text.suggestions import did_you_mean

Settings = Mapping[str, Any]
MAX_VISITS, THEN, EXPIRE = KEYS = ("max-visits", "then", "expire")
MOST_VISITS = 1_000_000

_STOP = Regex(r'STOP(?:[ \t]+"((?:[^"\\]|\\.)*)")?')
_ESCAPED = Regex(r"\\(.)")


class Limits(Struct, frozen=True):
    """The limits of a step, and the places of its settings. 0 for `expire` means no limit."""

    step: str
    visits: VisitLimit | None
    expire: int
    places: OptionSources

    def finding(self, key: str, problem: str, remedy: str) -> Diagnostic:
        """Return an error about one of the limits."""
        return (nearest(self.places, (self.step, key)) or self.places[()]).finding(problem, remedy)

    @property
    def meaning(self) -> tuple[object, ...]:
        """The limits without the step and places."""
        return self.expire, self.visits and (self.visits.most, self.visits.message)


def limit_issues(
    inside: str, settings: Mapping[str, Any], path: KeyPath = (), most: str = MAX_VISITS
) -> Iterator[Issue]:
    """Yield the issues of the limits in a step's settings. `most` is the key of the most visits."""
    if most in settings and number_of(settings[most]) is None:
        problem = f"{inside}: `{most}` must be a whole number from 1 to {MOST_VISITS:,}"
        yield Issue((*path, most), problem, f"write the most visits of the step, for example `{most}: 3`")
    then = settings.get(THEN, "STOP")
    if not isinstance(then, str) or not then.isprintable() or not _STOP.fullmatch(then):
        problem = f"{inside}: `{THEN}` must be STOP, with or without a message in quotes"
        yield Issue((*path, THEN), problem, f'write `{THEN}: STOP` or `{THEN}: STOP "three reviews failed"`')
    if THEN in settings and most not in settings:
        problem = f"{inside}: `{THEN}` has no effect without `{most}`"
        yield Issue((*path, THEN), problem, f"add `{most}: 3`, or remove `{THEN}`")
    if EXPIRE in settings and not read_duration(settings[EXPIRE]):
        problem = f"{inside}: `{EXPIRE}` must be a duration from a second to a year"
        yield Issue((*path, EXPIRE), problem, duration_remedy(settings[EXPIRE]))


def number_of(value: object) -> int | None:
    """Return the most visits in a value, which may be a string as written, or None."""
    written = "" if isinstance(value, bool) else str(value)
    is_short = written.isascii() and written.isdigit() and len(written) < 9
    return int(written) if is_short and 1 <= int(written) <= MOST_VISITS else None


def limits_of(step: str, settings: Settings, places: OptionSources, most: str = MAX_VISITS) -> Limits:
    """Return the limits in a step's settings without issues."""
    number, then = number_of(settings.get(most)), _STOP.fullmatch(settings.get(THEN) or "")
    visits = VisitLimit(step, number, _ESCAPED.sub(r"\1", (then and then[1]) or "")) if number else None
    return Limits(step, visits, read_duration(settings.get(EXPIRE)) or 0, places)


def with_limits(program: Program, limits: Iterable[Limits]) -> tuple[Program, list[Diagnostic]]:
    """Return the program with these limits, and the diagnostics for those without effect."""
    steps, known, found = [node.id for node in program.nodes if type(node.task) not in IDLE], [], []
    for item in limits:
        if item.step in steps:
            known.append(item)
        else:
            problem = f"unknown step `{item.step}`{did_you_mean(item.step, steps)}"
            found.append(item.finding("", problem, "use the id of a step"))
    nodes = {node.id: node for node in program.nodes}
    for item in known if not found else ():
        waiting = [name for name, node in nodes.items() if _waits(node, item.step)] if item.expire else []
        for name in waiting:
            nodes[name] = replace(nodes[name], settings=replace(nodes[name].settings, expire=item.expire))
        if item.expire and not waiting:
            problem = f"`{EXPIRE}` has no effect on step {item.step}: it asks no person"
            found.append(item.finding(EXPIRE, problem, "move it to a step with a question or a gate"))
    program, useless = with_visits(replace(program, nodes=tuple(nodes.values())), known)
    return program, found + useless


def _waits(node: Node, step: str) -> bool:
    """Return whether a person answers a node of a step: the step itself, or its question or gate."""
    return isinstance(node.task, Ask | Gate) and (step in (node.id, node.group) or node.id.startswith(f"{step}/"))


def with_visits(program: Program, limits: Iterable[Limits]) -> tuple[Program, list[Diagnostic]]:
    """Return the program with limits of visits, and diagnostics for those out of reach or already set."""
    items, before = {item.visits.step: (item.visits, item) for item in limits if item.visits}, most_visits(program)
    twice = "step {} has two limits of visits: {} beside its other keys, and {} here"
    for step, (visits, item) in items.items():
        if step in before:
            return program, [item.finding(MAX_VISITS, twice.format(step, before[step], visits.most), "remove one")]
    program, useless = with_visit_limits(program, [visits for visits, _ in items.values()])
    problem = "the limit of visits has no effect on step {}: no transition leads back to it"
    remedy = "remove it, or set it for a step of a loop"
    found = (items[step][1].finding(MAX_VISITS, problem.format(step), remedy) for step in sorted(useless))
    return program, [replace(each, code="RD412") for each in found]
