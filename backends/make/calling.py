"""A Makefile that calls the program for everything: its targets, and comments on each step for reviewers (rule 1)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol
from urllib.parse import quote

from msgspec import Struct

from backends.base import MARK, Emission, Reason
from backends.command import canonical_command
from backends.delegating import called
from backends.make.identifiers import FILTERS, comment, file_name, names_for, visible
from backends.make.options import MakeOptions
from backends.make.seen import of_contract, of_node
from backends.python.facts import checkers
from backends.remarks import listed, shells
from backends.specification import Specification
from backends.templating import render
from compiler.ir.program import Node, Program
from compiler.ir.tasks import Branch, End, Gate, agents_of
from compiler.regex import Regex
from compiler.version import __version__

_PART = Regex(r"(.+)/(?:prompt|elicit|tool|human)", re.DOTALL)
"""A node that belongs to a step of a playbook or workflow and has no separate name."""


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


class Source(Protocol):
    """A document and its hash."""

    @property
    def path(self) -> str:
        """The path from the root of the project."""

    @property
    def sha256(self) -> str:
        """The hash."""


def calling(program: Program, options: MakeOptions, reason: Reason) -> Emission:
    """Return the Makefile, with the program that it calls for a reason."""
    name = file_name(program)
    path = options.program or f"rdc/{name.lstrip('.-') or 'program'}.py"
    python = called(program, path, options.operator, "make")
    if python.edition == "commands":  # this edition cannot read make's variables
        python = called(program, path, "full", "make")
    text = page(
        title=comment(visible(program.title or program.name)),
        version=__version__,
        command=canonical_command("make", program, options),
        sources=program.sources,
        program=python.path,
        sha256=python.sha256,
        needs=listed(["GNU make 3.81 or newer", "Python 3.9 or newer", *shells(program), *checkers(program)]),
        agents=any(agents_of(node.task) for node in program.nodes),
        folder=options.state_dir.rstrip("/") or "/",
        name=name,
        start="".join(f" {item.name}=…" for item in program.inputs if item.required and item.default is None),
        verbs=list(_verbs(program)),
        steps=_steps(program),
    )
    return Emission(text, companions=python.companions(), reason=reason)


def page(
    *,
    sources: Sequence[Source],
    folder: str,
    name: str,
    verbs: Sequence[str],
    steps: Sequence[Step],
    **facts: object,
) -> str:
    """Return the text of a Makefile."""
    return render(
        "make/calling.mk",
        FILTERS,
        mark=MARK,
        source=sources[0],
        included=sources[1:],
        state=f"{folder}/{name}",
        state_dir="" if folder == ".rdc" else f" --state-dir={folder}/{name}",
        verbs=" ".join(verbs),
        steps=steps,
        gates=any(step.is_gated for step in steps),
        **facts,
    )


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
    targets = names_for(f"step-{name}" for name in doing)
    return [
        Step(
            targets.get(f"step-{name}", ""),
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


def _places(names: Iterator[str]) -> str:
    return " ".join(quote(name, safe="/{}:@+") for name in names)


def _of_contract(contract: Specification) -> list[Step]:
    wished = {step: _wished(step, list(contract.steps)) for step in contract.steps}
    targets = names_for(wished.values())
    return [
        Step(targets[wished[step.id]], _places(iter([step.id])), tuple(of_contract(contract, step)), bool(step.gates))
        for step in contract.steps.values()
    ]


def _wished(step: str, taken: Sequence[str]) -> str:
    """Return the target of a step: its id after `step-`, different from all other ids."""
    name = step if step.startswith("step-") else f"step-{step}"
    while name != step and name in taken:
        name = f"step-{name}"
    return name
