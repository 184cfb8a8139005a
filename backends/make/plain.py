"""The form `plain`: a rule with a stamp file for each step, for runbooks without branches (T-16)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property

from msgspec import Struct

from backends.base import MARK, Emission
from backends.common.command import canonical_command
from backends.common.remarks import listed, remarks
from backends.common.templates import quoted, render
from backends.make.escaping import EMPTY, assigned, block, definitions, escaped, prints, recipe, usual
from backends.make.flow import own_retries, retries_of
from backends.make.names import FILTERS, comment, unlike, visible
from backends.make.native import state_of
from backends.make.options import MakeOptions
from backends.python.delegate import DOES
from compiler.diagnostics.model import Diagnostic
from compiler.ir.edges import Edge, Effect, Reset, Set, may_follow
from compiler.ir.features import Feature, uses_beyond
from compiler.ir.program import Node, Program, scope_members
from compiler.ir.tasks import PASS_OR_FAIL, Branch, End, Shell
from compiler.passes import optimize
from compiler.version import __version__

_OF_A_RUN = ("RDC_RUN_ID", "RDC_TITLE")
"""Environment variables that commands in other Makefiles have."""


def plain(program: Program, options: MakeOptions) -> Emission:
    """Return the Makefile, or one finding with all reasons why there is none."""
    line = line_of(optimize(program, jumps=False))
    reasons = list(_reasons(program, line))
    if reasons or not isinstance(line, Line):
        problem = f"a Makefile of the form `plain` cannot express this document: {'; '.join(reasons)}"
        about = next((node.origin for node in program.nodes if f"step {node.id}," in problem), None)
        path, span = (about.path, about.span) if about else (program.sources[0].path, None)
        return Emission(None, (Diagnostic("RD502", path, span, problem, "remove `form: plain`"),))
    stamps = unlike((step.node.id, _stamp(step.node)) for step in line.steps)
    used = [step.interpreter for step in line.steps]
    # A variable of a rule holds for all rules before it: with several shells, each rule names its own.
    lines = list(_rules(line.steps, stamps, used[0] if len(set(used)) == 1 else ""))
    text = render(
        "make/plain.mk",
        FILTERS,
        title=comment(visible(program.title or program.name)),
        mark=MARK,
        command=canonical_command("make", program, options),
        version=__version__,
        source=program.sources[0],
        state=f"{state_of(program, options)}.make",
        shell=usual(used),
        stamps=" ".join(stamps.values()),
        last=stamps[line.steps[-1].node.id],
        message=_word(line.message) if line.message else "",
        steps=lines,
        has_blocks=any("RDC_DO" in each for each in lines),
        has_retries=any(step.retries for step in line.steps),
        has_attempts=any("RDC_ATTEMPT" in step.command for step in line.steps),
        definitions=definitions(lines),
    )
    return Emission(text)


def _reasons(program: Program, line: Line | dict[str, str]) -> Iterator[str]:
    """Yield clauses about what cannot be a rule with a stamp file: each with the steps that it is about."""
    steps: dict[str, list[str]] = {}
    for feature, node in uses_beyond(program, frozenset({Feature.COMMANDS})):
        if node is None:
            yield f"the document {DOES[feature]}"
        else:
            steps.setdefault(f"which {DOES[feature]}", []).append(node.id)
    named = {name for names in steps.values() for name in names}
    unfit = {step.node.id: _unfit(step) for step in line.steps} if isinstance(line, Line) else line
    for name, clause in unfit.items():
        if clause and name not in named:
            steps.setdefault(clause, []).append(name)
    for clause, names in steps.items():
        each = "each of " if clause.startswith("which ") else ""
        yield f"steps {listed(names)}, {each}{clause}" if names[1:] else f"step {names[0]}, {clause}"


def _unfit(step: Step) -> str:
    """Return why a step cannot be a rule, as the end of a sentence; "" if it can."""
    if name := next((name for name in _OF_A_RUN if name in step.command), ""):
        return f"whose command uses {name}, which only a run has"
    return "" if prints(step.command.replace("\r", "")) else "whose command has an invisible character"


def _stamp(node: Node) -> str:
    words = (re.sub("[^a-z0-9]+", "-", text.lower())[:60].strip("-") for text in (str(node.title), node.id))
    return next(filter(None, words), "step")


def _rules(steps: Iterable[Step], stamps: Mapping[str, str], shell: str) -> Iterator[str]:
    """Yield the lines of all rules. `shell` is the one of all steps, or "" if each rule names its own."""
    before = "$(DONE)"
    for step in steps:
        stamp = f"$(DONE)/{stamps[step.node.id]}"
        yield ""
        yield from _rule(step, stamp, before, shell)
        before = stamp


def _word(message: str) -> str:
    """Return a message as a shell word for a recipe. make would run a line with `$(MAKE)` even under `-n`."""
    return re.sub(r"\$\$(?=[({]MAKE)", f"$${EMPTY}", escaped(quoted(visible(message))))


def _rule(step: Step, stamp: str, before: str, shell: str) -> Iterator[str]:
    """Yield the lines of a step: its title and prose, a block unless the command is a recipe, and the rule."""
    node, ignore = step.node, "-" if step.stop is None else ""
    yield f"# {comment(visible(f'{node.id} {node.title}'))}"
    yield from (f"# {comment(line.strip())}" for line in remarks(node))
    if step.interpreter != shell:
        yield f"{stamp}: SHELL := {step.interpreter}"
    if "RDC_STEP" in step.command:
        yield f"{stamp}: export RDC_STEP = {assigned(escaped(visible(node.id)))}"
    command = escaped(step.command)
    lines = None if step.retries or step.stop else recipe(command)
    if lines is None:
        yield from block(f"do-{stamp.removeprefix('$(DONE)/')}", command)
        tries = " ".join(map(str, range(1, step.retries + 2)))
        done = f"$(call RDC_TRY,{tries})" if step.retries else "$(RDC_DO)"
        message = _word(step.stop or "")
        lines = [f"\t{done}" + (f" || {{ printf '%s\\n' {message} >&2; exit 1; }}" if step.stop else "")]
    yield f"{stamp}: | {before}"
    yield f"\t{ignore}{lines[0][1:]}"
    yield from lines[1:]
    yield "\t@touch $@"


class Step(Struct, frozen=True):
    """A command: how often it may be retried, and the message if it stops the run; None if the run continues."""

    node: Node
    interpreter: str
    command: str
    retries: int
    stop: str | None


class Line(Struct, frozen=True):
    """The steps in order, and the message when the run completes."""

    steps: tuple[Step, ...]
    message: str


class _BendError(Exception):
    def __init__(self, node: Node, clause: str) -> None:
        super().__init__(clause)
        self.node, self.clause = node, clause


def line_of(program: Program) -> Line | dict[str, str]:
    """Return the steps of an optimized program, or for each step that does not fit the end of a sentence about it."""
    path, bends = _Path(program), dict[str, str]()
    for node in program.nodes:
        try:
            if not isinstance(node.task, Branch | End):
                path.step(node)
        except _BendError as bend:
            bends.setdefault(bend.node.id, bend.clause)
    try:
        return bends or path.line()
    except _BendError as bend:
        return {bend.node.id: bend.clause}


class _Path(Struct, frozen=True, dict=True):
    program: Program

    @cached_property
    def _nodes(self) -> Mapping[str, Node]:
        return self.program.index()

    @cached_property
    def _own(self) -> Mapping[str, str]:
        return own_retries(self.program)

    @cached_property
    def _nested(self) -> frozenset[str]:
        return frozenset(group.id for group in self.program.groups if group.kind != "step")

    def line(self) -> Line:
        """Return the steps; raises `_BendError`."""
        steps: dict[str, Step] = {}
        last = node = self._resolved(self.program.entry)
        while not isinstance(node.task, End):
            if node.id in steps:
                raise _BendError(last, f"which leads back to step {node.id}")
            steps[node.id], following = self.step(node)
            last, node = node, following
        if not steps:
            raise _BendError(node, "which is the only step and does nothing")
        return Line(tuple(steps.values()), str(node.task.message))

    def step(self, node: Node) -> tuple[Step, Node]:
        """Return a step, and the next node if it passes; raises `_BendError`."""
        task = node.task
        if not isinstance(task, Shell):
            raise _BendError(node, "which is not a command")
        if not self._nested.isdisjoint(self.program.around(node.group)):
            raise _BendError(node, "which is in a nested document")
        if node.variables:
            raise _BendError(node, "which is a dynamic step")
        if not task.command.is_plain:
            raise _BendError(node, "whose command contains an instance number")
        passes, fails = (tuple(edge for edge in node.edges if may_follow(edge, word)) for word in PASS_OR_FAIL)
        limit = retries_of(fails[0], self._own.get(node.id, "")) if len(fails) > 1 else None
        retries, rest = (0, fails) if limit is None else (limit, fails[1:])
        following, failing = self._target(node, passes, "PASS"), self._target(node, rest, "FAIL")
        if isinstance(following.task, End) and following.task.result != "complete":
            raise _BendError(node, "which stops the run if it passes")
        return Step(node, task.interpreter, str(task.command), retries, _stop(node, following, failing)), following

    def _target(self, node: Node, edges: tuple[Edge, ...], outcome: str) -> Node:
        """Return the next node after an outcome, which must have only one transition."""
        if len(edges) != 1 or any(self._counts(node, effect) for effect in edges[0].effects):
            raise _BendError(node, f"whose transition for {outcome} depends on earlier steps or attempts")
        return self._resolved(edges[0].target)

    def _counts(self, node: Node, effect: Effect) -> bool:
        """Return whether an effect changes more than the retries of a single step."""
        own = set(self._own.values())
        if isinstance(effect, Reset):
            members = scope_members(self.program.counters).get(effect.scope, ())
            return any(member.name not in own for member in members)
        return effect != Set(self._own.get(node.id, ""), 0)

    def _resolved(self, name: str) -> Node:
        node = self._nodes[name]
        if node.is_passed:
            raise _BendError(node, "where the run decides without an outcome")
        return node


def _stop(node: Node, following: Node, failing: Node) -> str | None:
    """Return the message of a failing step that stops the run, or None if the run continues as after a pass."""
    if failing is following:
        return None
    if not isinstance(failing.task, End):
        raise _BendError(node, f"which leads to step {failing.id} if it fails")
    if failing.task.result == "stop":
        return str(failing.task.message)
    if not isinstance(following.task, End) or failing.task.message != following.task.message:
        raise _BendError(node, "which completes the run if it fails")
    return None
