"""A Makefile that calls the program for everything: its targets, and comments on each step for reviewers (rule 1)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import quote

from msgspec import Struct

from backends.base import MARK, Emission, Reason
from backends.command import canonical_command
from backends.delegating import called
from backends.make.identifiers import FILTERS, comment, file_name, unlike, visible
from backends.make.native import state_of
from backends.make.options import MakeOptions
from backends.make.seen import of_contract, of_node
from backends.specification import Specification
from backends.templating import render
from compiler.ir.program import Node, Program, SourceFile
from compiler.ir.tasks import Branch, End, Gate
from compiler.regex import Regex
from compiler.version import __version__

_PART = Regex(r"(.+)/(?:prompt|elicit|tool|human)", re.DOTALL)
"""A node that belongs to a step of a playbook or workflow and has no separate name."""

_ODD = Regex("[^A-Za-z0-9_.-]+")
_LONGEST = 60
"""The most characters of a target."""


class Step(Struct, frozen=True):
    """A step of the document: its target ("" if it does nothing), its places, and the comments above it.

    Places are the arguments of the program's `step` command. Other characters are `%` and two digits.
    """

    target: str
    places: str
    remarks: tuple[str, ...]
    is_gated: bool


VERBS = ("open", "answer", "approve", "timeline", "outputs", "goto", "status", "steps", "history", "reset", "help")
"""The targets that a Makefile can have, besides steps and `clean`."""


def calling(program: Program, options: MakeOptions, reason: Reason) -> Emission:
    """Return the Makefile, with the program that it calls for a reason."""
    name = file_name(program)
    path = options.program or f"rdc/{name.lstrip('.-') or 'program'}.py"
    python = called(program, path, options.operator, "make")
    if python.edition == "commands":  # this edition cannot read make's variables
        python = called(program, path, "full", "make")
    text = page(
        program.sources,
        state_of(program, options),
        title=comment(visible(program.title or program.name)),
        version=__version__,
        command=canonical_command("make", program, options),
        program=python.path,
        sha256=python.sha256,
        clause=comment(visible(reason.clause)),
        start="".join(f" {item.name}=…" for item in program.inputs if item.required and item.default is None),
        verbs=" ".join(_verbs(program)),
        steps=_steps(program),
    )
    return Emission(text, companions=python.companions(), reason=reason)


def page(sources: Sequence[SourceFile], state: str, **facts: object) -> str:
    """Return the text of a Makefile."""
    where = "" if state.rpartition("/")[0] == ".rdc" else f" --state-dir={state}"
    return render("make/calling.mk", FILTERS, mark=MARK, sources=sources, state=state, state_dir=where, **facts)


def _verbs(program: Program) -> Iterator[str]:
    unknown = {"goto"} if program.contract is not None else {"timeline", "outputs"}
    if not any(isinstance(node.task, Gate) for node in program.nodes):
        unknown.add("approve")
    return (verb for verb in VERBS if verb not in unknown)


def _steps(program: Program) -> list[Step]:
    if program.contract is not None:
        return _of_contract(Specification(program))
    found: dict[str, list[Node]] = {}
    for node in program.nodes:
        if node.edges:  # an end without edges is shown at the transition to it
            found.setdefault(_step_of(program, node), []).append(node)
    nodes, doing = program.index(), [name for name, parts in found.items() if any(map(_does, parts))]
    targets = _targets((name, name) for name in doing)
    return [
        Step(
            targets.get(name, ""),
            _places(node.id for node in parts if _does(node)),
            tuple(line for node in parts for line in of_node(node, nodes)),
            any(isinstance(node.task, Gate) for node in parts),
        )
        for name, parts in found.items()
    ]


def _step_of(program: Program, node: Node) -> str:
    """Return the name of a node's step."""
    part = _PART.fullmatch(node.id) if program.kind in ("playbook", "workflow") else None
    return part[1] if part else node.id


def _does(node: Node) -> bool:
    return not isinstance(node.task, Branch | End)


def _places(names: Iterable[str]) -> str:
    return " ".join(quote(name, safe="/{}:@+") for name in names)


def _of_contract(contract: Specification) -> list[Step]:
    targets = _targets((name, name.removeprefix("step-")) for name in contract.steps)
    return [
        Step(targets[name], _places([name]), tuple(of_contract(contract, step)), bool(step.gates))
        for name, step in contract.steps.items()
    ]


def _targets(names: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the target of each step: `step-` and its name, as make and sh allow it."""
    return unlike((step, _ODD.sub("-", f"step-{name}")[:_LONGEST].strip(".-")) for step, name in names)
