"""Settings of steps: the nearest wins for each key; what is wrong with them, and how nodes get them (E3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostic import Diagnostic
from compiler.frontends.rundown.beyond.declarations import StepSettings
from compiler.frontends.rundown.beyond.outline import Leaf, Outline
from compiler.frontends.rundown.beyond.unknown import unknown_step
from compiler.ir.program import Constant, Node, Program, Settings
from compiler.ir.tasks import Shell
from compiler.options import Place


class Said(Struct, frozen=True):
    """A setting: its value, where it stands, and the step or group that it is for."""

    value: int
    place: Place
    step: str


class SaidText(Struct, frozen=True):
    """The text of an environment variable, as `Said`."""

    value: str
    place: Place
    step: str


class Effective(Struct, frozen=True):
    """What holds for a step, with what is said of everything around it."""

    numbers: Mapping[str, Said] = field(default_factory=dict)
    env: Mapping[str, SaidText] = field(default_factory=dict)

    def within(self, step: str, settings: Iterable[StepSettings]) -> Effective:
        """What holds for a step of which more is said; of two documents the one that includes the other counts."""
        numbers: dict[str, Said] = {}
        env: dict[str, SaidText] = {}
        for said in settings:
            own = {"timeout": said.timeout, "retry-delay": said.delay, "retry-backoff": said.backoff}
            for key, value in own.items():
                if value is not None:
                    numbers.setdefault(key, Said(value, said.place(key), step))
            for name, text in said.env.items():
                env.setdefault(name, SaidText(text, said.place("env", name), step))
        return Effective({**self.numbers, **numbers}, {**self.env, **env})


def held_against(outline: Outline) -> tuple[dict[str, Effective], list[Diagnostic]]:
    """What holds for each step, by its id, and what is wrong with what is said of steps."""
    found = list(_unknown(outline))
    groups = _of_groups(outline)
    effective: dict[str, Effective] = {}
    for leaf in outline.leaves if outline.said else ():
        holds = groups[leaf.group].within(leaf.id, outline.said.get(leaf.id, ()))
        effective[leaf.id] = holds
        found += _misplaced(leaf, holds)
    found += _never_waited(outline, groups)
    return effective, list(dict.fromkeys(found))


def _of_groups(outline: Outline) -> dict[str, Effective]:
    """What holds in each group."""
    found = {"": Effective().within("", outline.said.get("", ()))}
    for group, parent in outline.parents.items():
        found[group] = found[parent].within(group, outline.said.get(group, ()))
    return found


def with_settings(program: Program, effective: Mapping[str, Effective]) -> Program:
    """The program whose steps have what holds for each."""
    if not effective:
        return program
    nodes = (_with(node, effective[node.id]) if node.id in effective else node for node in program.nodes)
    return replace(program, nodes=tuple(nodes))


def _with(node: Node, holds: Effective) -> Node:
    numbers = holds.numbers
    is_command = isinstance(node.task, Shell)
    timeout = numbers["timeout"].value if is_command and "timeout" in numbers else None
    delay = numbers["retry-delay"].value if node.retries and "retry-delay" in numbers else 0
    backoff = numbers["retry-backoff"].value if delay and "retry-backoff" in numbers else 1
    constants = tuple(Constant(name, text.value) for name, text in holds.env.items()) if is_command else ()
    return replace(node, settings=Settings(timeout, delay, backoff), constants=constants)


# --- What is wrong ---------------------------------------------------------------------------------------------------


def _unknown(outline: Outline) -> Iterator[Diagnostic]:
    """What is said of steps that there are not; what is in a runbook that is not linked cannot be known."""
    known = [*(leaf.id for leaf in outline.leaves), *outline.parents]
    names, unlinked = {"", *known}, tuple(f"{name}/" for name in outline.unlinked)
    for name, settings in outline.said.items():
        if name in names or name.startswith(unlinked):
            continue
        for item in settings:
            inclusion = name.removesuffix(item.step)
            own = [step.removeprefix(inclusion) for step in known if step.startswith(inclusion)]
            yield unknown_step(item, own)


def _misplaced(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    """What is said of this step itself and means nothing for it, and variables that it has already."""
    yield from _doubled(leaf, holds) if leaf.is_command else _without_command(leaf, holds)
    yield from _without_retry(leaf, {key: item for key, item in holds.numbers.items() if item.step == leaf.id}, holds)


def _doubled(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    for name, text in holds.env.items():
        if name in leaf.seen:
            problem = f"`env` sets `{name}` for step {leaf.id}, which has an input or output of that name"
            yield text.place.finding(problem, "give one of the two another name")


def _without_command(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    remedy = "say it of a step with a `bash` or `sh` block"
    timeout = holds.numbers.get("timeout")
    if timeout and timeout.step == leaf.id:
        yield timeout.place.finding(f"step {leaf.id} runs no command that `timeout` could end", remedy)
    for name, text in holds.env.items():
        if text.step == leaf.id:
            yield text.place.finding(f"step {leaf.id} runs no command that could see `{name}`", remedy)


def _without_retry(leaf: Leaf, own: Mapping[str, Said], holds: Effective) -> Iterator[Diagnostic]:
    for key in ("retry-delay", "retry-backoff"):
        if key in own and not leaf.has_retry:
            problem = f"step {leaf.id} has no RETRY that `{key}` could delay"
            yield own[key].place.finding(problem, "add a RETRY to the step, or remove the setting")
    delay = holds.numbers.get("retry-delay")
    if "retry-backoff" in own and leaf.has_retry and not (delay and delay.value):
        problem = f"`retry-backoff` of step {leaf.id} has no delay to multiply"
        yield own["retry-backoff"].place.finding(problem, "say `retry-delay` too, such as `retry-delay: 10s`")


def _never_waited(outline: Outline, groups: Mapping[str, Effective]) -> Iterator[Diagnostic]:
    """RETRYs of steps with children, before which no delay is waited: a step begins again with its first child."""
    for step in outline.repeated:
        delay = groups[step].numbers.get("retry-delay")
        if delay and delay.value:
            problem = f"`retry-delay` is not waited when step {step} runs again: it starts with its first child"
            remedy = "wait in a command there (`sleep 30`), or put the RETRY on a step without children"
            yield Diagnostic("RD015", delay.place.path, delay.place.span, problem, remedy)
