"""Read the limits of steps in all formats: how often a run visits a step, and how long it waits for a person there."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource, OptionSources
from compiler.diagnostics.model import Diagnostic, Issue
from compiler.ir.program import Node, Program
from compiler.ir.tasks import IDLE, Ask, Gate
from compiler.ir.visits import VisitLimit, with_visit_limits
from compiler.text.durations import duration_remedy, read_duration
from compiler.text.regex import Regex
from compiler.text.source import KeyPath, nearest
from compiler.text.suggestions import did_you_mean

MAX_VISITS, THEN, EXPIRE = KEYS = ("max-visits", "then", "expire")
MOST_VISITS = 1_000_000

_STOP = Regex(r'STOP(?:[ \t]+"((?:[^"\\]|\\.)*)")?')
_ESCAPED = Regex(r"\\(.)")


class Limits(Struct, frozen=True):
    """The limits of a step, and the place of each."""

    step: str
    visits: VisitLimit | None = None
    expire: int | None = None
    places: tuple[OptionSource | None, OptionSource | None] = (None, None)


def limit_issues(inside: str, said: Mapping[str, Any], path: KeyPath = (), most: str = MAX_VISITS) -> Iterator[Issue]:
    """Yield the issues of the limits in a step's settings. `most` is the key of the most visits."""
    if most in said and number_of(said[most]) is None:
        problem = f"{inside}: `{most}` must be a whole number from 1 to {MOST_VISITS:,}"
        yield Issue((*path, most), problem, f"write the most visits of the step, for example `{most}: 3`")
    if THEN in said:
        found = _STOP.fullmatch(said[THEN]) if isinstance(said[THEN], str) else None
        if found is None or not said[THEN].isprintable():
            problem = f"{inside}: `{THEN}` must be STOP, with or without a message in quotes"
            yield Issue((*path, THEN), problem, f'write `{THEN}: STOP` or `{THEN}: STOP "three reviews failed"`')
        if most not in said:
            problem = f"{inside}: `{THEN}` has no effect without `{most}`"
            yield Issue((*path, THEN), problem, f"add `{most}: 3`, or remove `{THEN}`")
    if EXPIRE in said and not read_duration(said[EXPIRE]):
        problem = f"{inside}: `{EXPIRE}` must be a duration from a second to a year"
        yield Issue((*path, EXPIRE), problem, duration_remedy(said[EXPIRE]))


def number_of(value: object) -> int | None:
    """Return the most visits in a value, which may be a string as written, or None."""
    written = "" if isinstance(value, bool) else str(value)
    is_short = written.isascii() and written.isdigit() and len(written) < 9
    return int(written) if is_short and 1 <= int(written) <= MOST_VISITS else None


def visits_of(step: str, most: object, then: object) -> VisitLimit | None:
    """Return the limit of a step's visits from values without issues."""
    found, number = _STOP.fullmatch(str(then or "STOP")), number_of(most)
    message = _ESCAPED.sub(r"\1", found[1] or "") if found else ""
    return None if number is None else VisitLimit(step, number, message)


def limits_of(step: str, said: Mapping[str, Any], places: OptionSources) -> Limits:
    """Return the limits in a step's settings without issues."""
    at = (nearest(places, (step, MAX_VISITS)), nearest(places, (step, EXPIRE)))
    visits = visits_of(step, said.get(MAX_VISITS), said.get(THEN))
    return Limits(step, visits, read_duration(said.get(EXPIRE)), at)


def with_limits(program: Program, limits: Iterable[Limits]) -> tuple[Program, list[Diagnostic]]:
    """Return the program with these limits, and the diagnostics for those without effect."""
    found: list[Diagnostic] = []
    limits, steps = tuple(limits), [node.id for node in program.nodes if type(node.task) not in IDLE]
    known = tuple(item for item in limits if item.step in steps)
    for item in limits:
        place = item.places[item.visits is None]
        if item.step not in steps and place:
            found.append(
                place.finding(f"there is no step `{item.step}`{did_you_mean(item.step, steps)}", "fix the name")
            )
    seconds = {item.step: item.expire for item in known if item.expire is not None}
    for item in known:
        if item.step in seconds and item.places[1] and not any(waits(node, item.step) for node in program.nodes):
            problem = f"`{EXPIRE}` has no effect on step {item.step}: it asks no person"
            found.append(item.places[1].finding(problem, "move it to a step with a question or a gate"))
    program, useless = with_visit_limits(program, [item.visits for item in known if item.visits])
    found += [not_repeated(item.step, item.places[0]) for item in known if item.step in useless and item.places[0]]
    return with_expiry(program, seconds), found


def waits(node: Node, step: str) -> bool:
    """Return whether a person answers a node of a step: the step itself, or its question or gate."""
    return isinstance(node.task, Ask | Gate) and (step in (node.id, node.group) or node.id.startswith(f"{step}/"))


def with_expiry(program: Program, seconds: Mapping[str, int]) -> Program:
    """Return the program with the times that steps wait for a person."""
    if not seconds:
        return program

    def limited(node: Node) -> Node:
        found = next((time for step, time in seconds.items() if waits(node, step)), None)
        return node if found is None else replace(node, settings=replace(node.settings, expire=found))

    return replace(program, nodes=tuple(map(limited, program.nodes)))


def not_repeated(step: str, place: OptionSource) -> Diagnostic:
    """Return the warning about a limit of visits that no run can reach."""
    problem = f"the limit of visits has no effect on step {step}: no transition leads back to it"
    return Diagnostic("RD412", place.path, place.span, problem, "remove it, or set it for a step of a loop")
