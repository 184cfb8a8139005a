"""Apply step settings to nodes and report the ones that have no effect; for each key, the nearest setting wins."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from msgspec import Struct, field
from msgspec.structs import replace

from compiler.diagnostics.issues import OptionSource
from compiler.diagnostics.model import Diagnostic
from compiler.frontends.common.limits import EXPIRE, MAX_VISITS, Limits, with_visits
from compiler.frontends.rundown.declarations.steps import full_id
from compiler.frontends.rundown.link import Document, Linked
from compiler.frontends.rundown.lower.document import LARGEST_PROGRAM
from compiler.frontends.rundown.lower.frames import Frame, StepRef, step_ref, step_refs, visible
from compiler.frontends.rundown.lower.values import unknown_step
from compiler.frontends.rundown.syntax import EVERY, UNKNOWN, StepSettings, all_steps
from compiler.ir.program import Constant, Node, Program, Settings, check_of
from compiler.ir.tasks import Ask, Shell

Value = TypeVar("Value", int, str)


class AppliedSetting(Struct, Generic[Value], frozen=True):
    """A setting: its value, its place, and the step or group it is set for."""

    value: Value
    place: OptionSource
    step: str


class Effective(Struct, frozen=True):
    """The settings that apply to a step, including those of its surrounding groups; `limits` are only its own."""

    numbers: Mapping[str, AppliedSetting[int]] = field(default_factory=dict)
    env: Mapping[str, AppliedSetting[str]] = field(default_factory=dict)
    limits: Limits | None = None

    def within(self, step: str, settings: Iterable[StepSettings]) -> Effective:
        """Return the settings within an inner step. Of two documents, the one that includes the other wins."""
        numbers: dict[str, AppliedSetting[int]] = {}
        env: dict[str, AppliedSetting[str]] = {}
        limits: Limits | None = None
        for each in settings:
            own = {"timeout": each.timeout, "retry-delay": each.delay, "retry-backoff": each.backoff}
            if each.limits:
                own[EXPIRE] = each.limits.expire or None
                if each.limits.visits and not limits:
                    limits = replace(each.limits, visits=replace(each.limits.visits, step=step))
            for key, value in own.items():
                if value is not None:
                    numbers.setdefault(key, AppliedSetting(value, each.place(key), step))
            for name, text in each.env.items():
                env.setdefault(name, AppliedSetting(text, each.place("env", name), step))
        return Effective({**self.numbers, **numbers}, {**self.env, **env}, limits)


def held_against(outline: Outline) -> tuple[dict[str, Effective], list[Diagnostic]]:
    """Return the effective settings by step id, and the diagnostics for settings that have no effect."""
    found = list(_unknown(outline))
    groups = {"": Effective().within("", outline.said.get("", ()))}
    for group, parent in outline.parents.items():
        groups[group] = groups[parent].within(group, outline.said.get(group, ()))
    effective: dict[str, Effective] = {}
    for leaf in outline.leaves if outline.said else ():
        holds = groups[leaf.group].within(leaf.id, outline.said.get(leaf.id, ()))
        effective[leaf.id] = holds
        found += _doubled(leaf, holds) if leaf.is_command else _without_command(leaf, holds)
        found += _without_person(leaf, holds)
        found += _without_retry(leaf, holds)
    found += _never_waited(outline, groups)
    found += (_of_group(step, holds.limits) for step, holds in groups.items() if step and holds.limits)
    return effective, list(dict.fromkeys(found))


def with_settings(program: Program, effective: Mapping[str, Effective]) -> tuple[Program, list[Diagnostic]]:
    """Return the program with the effective settings on its nodes, and warnings about limits without effect."""
    if not effective:
        return program, []
    checks = set(filter(None, map(check_of, program.nodes)))
    nodes = (
        _with(node, holds, is_check=node.id in checks) if (holds := effective.get(check_of(node) or node.id)) else node
        for node in program.nodes
    )
    limits = (holds.limits for holds in effective.values() if holds.limits)
    return with_visits(replace(program, nodes=tuple(nodes)), limits)


def _with(node: Node, holds: Effective, *, is_check: bool) -> Node:
    """Return a node with its settings. The retry of an agent's work waits before the work, not before its check."""
    numbers = holds.numbers
    is_command = isinstance(node.task, Shell)
    timeout = numbers["timeout"].value if is_command and "timeout" in numbers else None
    delay = numbers["retry-delay"].value if node.retries and "retry-delay" in numbers and not is_check else 0
    backoff = numbers["retry-backoff"].value if delay and "retry-backoff" in numbers else 1
    constants = tuple(Constant(name, text.value) for name, text in holds.env.items()) if is_command else ()
    expire = numbers[EXPIRE].value if isinstance(node.task, Ask) and EXPIRE in numbers else 0
    return replace(node, settings=Settings(timeout, delay, backoff, expire), constants=constants)


def _unknown(outline: Outline) -> Iterator[Diagnostic]:
    """Report settings for unknown steps, except for steps in runbooks that are not linked."""
    known = [*(leaf.id for leaf in outline.leaves), *outline.parents]
    names, unlinked = {"", *known}, tuple(f"{name}/" for name in outline.unlinked)
    for name, settings in outline.said.items():
        if name in names or name.startswith(unlinked):
            continue
        for item in settings:
            inclusion = name.removesuffix(item.step)
            own = [step.removeprefix(inclusion) for step in known if step.startswith(inclusion)]
            yield unknown_step(item, own)


def _doubled(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    for name, text in holds.env.items():
        if name in leaf.seen:
            problem = f"`env` sets `{name}` for step {leaf.id}, which has an input or output of that name"
            yield text.place.finding(problem, "rename one of the two")


def _without_command(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    remedy = "move it to a step with a `bash` or `sh` block"
    timeout = holds.numbers.get("timeout")
    if timeout and timeout.step == leaf.id:
        yield timeout.place.finding(f"`timeout` has no effect on step {leaf.id}: the step runs no command", remedy)
    for name, text in holds.env.items():
        if text.step == leaf.id:
            yield text.place.finding(f"`{name}` has no effect on step {leaf.id}: the step runs no command", remedy)


def _without_person(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    expire = holds.numbers.get(EXPIRE)
    if leaf.is_command and expire and expire.step == leaf.id:
        problem = f"`expire` has no effect on step {leaf.id}: the step asks no person"
        yield expire.place.finding(problem, "move it to a step with a question")


def _of_group(step: str, limits: Limits) -> Diagnostic:
    problem = f"`{MAX_VISITS}` has no effect on step {step}: a run visits the steps inside it"
    return limits.finding(MAX_VISITS, problem, "set it for the first step inside it")


def _without_retry(leaf: Leaf, holds: Effective) -> Iterator[Diagnostic]:
    own = {key: item for key, item in holds.numbers.items() if item.step == leaf.id}
    for key in ("retry-delay", "retry-backoff"):
        if key in own and not leaf.has_retry:
            problem = f"`{key}` has no effect on step {leaf.id}: the step has no RETRY"
            yield own[key].place.finding(problem, "add a RETRY to the step, or remove the setting")
    delay = holds.numbers.get("retry-delay")
    if "retry-backoff" in own and leaf.has_retry and not (delay and delay.value):
        problem = f"`retry-backoff` has no effect on step {leaf.id}: there is no delay to multiply"
        yield own["retry-backoff"].place.finding(problem, "set `retry-delay` too, for example `retry-delay: 10s`")


def _never_waited(outline: Outline, groups: Mapping[str, Effective]) -> Iterator[Diagnostic]:
    """Report delays on steps with children: their RETRY starts again with the first child, without a delay."""
    for step in outline.repeated:
        delay = groups[step].numbers.get("retry-delay")
        if delay and delay.value:
            problem = (
                f"`retry-delay` has no effect on step {step}: a retry starts with its first child, without a delay"
            )
            remedy = "wait in a command there (`sleep 30`), or move the RETRY to a step without children"
            yield Diagnostic("RD015", delay.place.path, delay.place.span, problem, remedy)


class Leaf(Struct, frozen=True):
    """A leaf step and its group; `seen` are the inputs and outputs that its command can read."""

    id: str
    group: str
    is_command: bool
    has_retry: bool
    seen: Collection[str]


class Outline(Struct, frozen=True):
    """The steps and groups of a program with their settings; the id of the whole program is "".

    `parents` maps each group to the group around it, outer groups first. `repeated` are the groups with a RETRY, and
    `unlinked` the groups whose document is missing.
    """

    leaves: list[Leaf] = field(default_factory=list)
    parents: dict[str, str] = field(default_factory=dict)
    repeated: list[str] = field(default_factory=list)
    unlinked: list[str] = field(default_factory=list)
    said: dict[str, list[StepSettings]] = field(default_factory=dict)


def outline(main: Document, linked: Linked) -> Outline:
    """Return the program's outline; empty if no step has settings or if some steps are unknown."""
    documents = linked.documents.values()
    found = Outline()
    if linked.is_endless or not any(document.runbook.declared.steps for document in documents):
        return found
    steps = (step for document in documents for step in all_steps(document.runbook))
    if not all(document.is_whole for document in documents) or any(step.id == UNKNOWN for step in steps):
        return found
    pending = [Frame(main, visible=visible(main.runbook.declared))]
    while pending:
        frame = pending.pop()
        if frame.scope:
            found.parents[frame.scope] = frame.outer_group
        for settings in frame.document.runbook.declared.steps:
            name = full_id(frame.scope, settings.step)
            found.said.setdefault("" if name == EVERY else name, []).append(settings)
        pending += [inner for ref in step_refs(frame.steps) for inner in _add_step(found, frame, ref, linked)]
        if len(found.leaves) > LARGEST_PROGRAM:
            return Outline()
    return found


def _add_step(found: Outline, frame: Frame, ref: StepRef, linked: Linked) -> Iterator[Frame]:
    own, group = frame.id(ref), frame.id(step_ref(ref.step)) if ref.substep else frame.scope
    if ref.is_leaf:
        is_command = bool(ref.syntax.code and ref.syntax.code.interpreter)
        found.leaves.append(Leaf(own, group, is_command, ref.has_retry, frame.visible.slots))
        return
    found.parents[own] = group
    if ref.has_retry:
        found.repeated.append(own)
    if not ref.syntax.runbooks:
        return
    for name, reference in zip(frame.runbook_ids[ref.label], ref.syntax.runbooks, strict=False):
        document = linked.documents.get(frame.document.includes.get(reference.path, ""))
        if document is None:
            found.parents[name] = own
            found.unlinked.append(name)
            continue
        seen = visible(document.runbook.declared, frame.visible, name + "/")
        yield Frame(document, name + "/", name, outer_group=own, visible=seen)
