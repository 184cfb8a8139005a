"""Settings of units, put on the nodes of a program: the nearest wins for each key (E3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import EVERY, UnitSettings
from compiler.frontends.rundown.beyond.units import full_id
from compiler.frontends.rundown.beyond.unknown import unknown_unit
from compiler.frontends.rundown.names import Frame
from compiler.ir.program import Constant, Node, Program, Settings
from compiler.ir.tasks import Branch, End, Shell
from compiler.options import Place

_RUNBOOK = re.compile(r"\.runbook\.md(~[0-9]+)?$")
"""The end of the id of a nested runbook; a unit with such an id is one that was not linked (`check --no-link`)."""


class Said(NamedTuple):
    """Something that is said of a unit: a value, where it stands, and of which unit or group it is said."""

    value: int
    place: Place
    unit: str


class SaidText(NamedTuple):
    """The text of an environment variable, as `Said`."""

    value: str
    place: Place
    unit: str


@dataclass(frozen=True)
class Effective:
    """What holds for a unit, with what is said of everything around it."""

    numbers: Mapping[str, Said] = field(default_factory=dict)
    env: Mapping[str, SaidText] = field(default_factory=dict)

    def within(self, unit: str, settings: Iterable[UnitSettings]) -> Effective:
        """What holds for a unit of which more is said; of two documents the one that includes the other counts."""
        numbers: dict[str, Said] = {}
        env: dict[str, SaidText] = {}
        for said in settings:
            own = {"timeout": said.timeout, "retry-delay": said.delay, "retry-backoff": said.backoff}
            for key, value in own.items():
                if value is not None:
                    numbers.setdefault(key, Said(value, said.place(key), unit))
            for name, text in said.env.items():
                env.setdefault(name, SaidText(text, said.place("env", name), unit))
        return Effective({**self.numbers, **numbers}, {**self.env, **env})


def apply_settings(program: Program, frames: Iterable[Frame]) -> tuple[Program, list[Diagnostic]]:
    """The program with what its documents say of units, and what is wrong with that."""
    said = _by_id(frames)
    if not said:
        return program, []
    found = list(_unknown(program, said))
    effective = _of_groups(program, said)
    nodes: list[Node] = []
    for node in program.nodes:
        holds = effective[node.group]
        if node.id in said and not isinstance(node.task, Branch | End):
            holds = holds.within(node.id, said[node.id])
        found += _misplaced(node, holds)
        nodes.append(_with(node, holds))
    found += _never_waited(program, effective)
    return replace(program, nodes=tuple(nodes)), list(dict.fromkeys(found))


def _by_id(frames: Iterable[Frame]) -> dict[str, list[UnitSettings]]:
    """What is said, by the ids in the program; "" stands for all of it."""
    found: dict[str, list[UnitSettings]] = {}
    for frame in frames:
        for settings in frame.document.runbook.declared.units:
            name = full_id(frame.scope, settings.unit)
            found.setdefault("" if name == EVERY else name, []).append(settings)
    return found


def _of_groups(program: Program, said: Mapping[str, list[UnitSettings]]) -> dict[str, Effective]:
    """What holds in each group; each stands after the one around it."""
    found = {"": Effective().within("", said.get("", ()))}
    for group in program.groups:
        found[group.id] = found[group.parent].within(group.id, said.get(group.id, ()))
    return found


def _with(node: Node, holds: Effective) -> Node:
    numbers = holds.numbers
    is_command = isinstance(node.task, Shell)
    timeout = numbers["timeout"].value if is_command and "timeout" in numbers else None
    delay = numbers["retry-delay"].value if node.retries and "retry-delay" in numbers else 0
    backoff = numbers["retry-backoff"].value if delay and "retry-backoff" in numbers else 1
    constants = tuple(Constant(name, text.value) for name, text in holds.env.items()) if is_command else ()
    return replace(node, settings=Settings(timeout, delay, backoff), constants=constants)


# --- What is wrong ---------------------------------------------------------------------------------------------------


def _unknown(program: Program, said: Mapping[str, list[UnitSettings]]) -> Iterator[Diagnostic]:
    """What is said of units that there are not."""
    known = [node.id for node in program.nodes if not isinstance(node.task, Branch | End)]
    unlinked = tuple(f"{unit}/" for unit in known if _RUNBOOK.search(unit))
    known += [group.id for group in program.groups]
    names = {"", *known}
    for name, settings in said.items():
        if name in names or name.startswith(unlinked):
            continue
        for item in settings:
            inclusion = name.removesuffix(item.unit)
            own = [unit.removeprefix(inclusion) for unit in known if unit.startswith(inclusion)]
            yield unknown_unit(item, own)


def _misplaced(node: Node, holds: Effective) -> Iterator[Diagnostic]:
    """What is said of this unit itself and means nothing for it, and variables that it has already."""
    if isinstance(node.task, Branch | End):
        return
    yield from _doubled(node, holds) if isinstance(node.task, Shell) else _without_command(node, holds)
    yield from _without_retry(node, {key: item for key, item in holds.numbers.items() if item.unit == node.id}, holds)


def _doubled(node: Node, holds: Effective) -> Iterator[Diagnostic]:
    seen = {variable.name for variable in node.variables}
    for name, text in holds.env.items():
        if name in seen:
            problem = f"`env` sets `{name}` for unit {node.id}, which has an input or value of that name"
            yield text.place.finding(problem, "give one of the two another name")


def _without_command(node: Node, holds: Effective) -> Iterator[Diagnostic]:
    remedy = "say it of a unit with a `bash` or `sh` block"
    timeout = holds.numbers.get("timeout")
    if timeout and timeout.unit == node.id:
        yield timeout.place.finding(f"unit {node.id} runs no command that `timeout` could end", remedy)
    for name, text in holds.env.items():
        if text.unit == node.id:
            yield text.place.finding(f"unit {node.id} runs no command that could see `{name}`", remedy)


def _without_retry(node: Node, own: Mapping[str, Said], holds: Effective) -> Iterator[Diagnostic]:
    for key in ("retry-delay", "retry-backoff"):
        if key in own and not node.retries:
            problem = f"unit {node.id} has no RETRY that `{key}` could delay"
            yield own[key].place.finding(problem, "add a RETRY to the unit, or remove the setting")
    delay = holds.numbers.get("retry-delay")
    if "retry-backoff" in own and node.retries and not (delay and delay.value):
        problem = f"`retry-backoff` of unit {node.id} has no delay to multiply"
        yield own["retry-backoff"].place.finding(problem, "say `retry-delay` too, such as `retry-delay: 10s`")


def _never_waited(program: Program, effective: Mapping[str, Effective]) -> Iterator[Diagnostic]:
    """RETRYs of steps with children, before which no delay is waited: a step begins again with its first child."""
    again = [register.unit for register in program.registers if register.role == "retries"]
    leaves = {node.id for node in program.nodes if node.retries}
    for unit in again:
        delay = effective[unit].numbers.get("retry-delay") if unit not in leaves and unit in effective else None
        if delay and delay.value:
            problem = f"`retry-delay` is not waited when step {unit} runs again: a step begins again at its first child"
            remedy = "wait in a command there (`sleep 30`), or put the RETRY on a unit without children"
            yield Diagnostic("RD015", delay.place.path, delay.place.span, problem, remedy)
